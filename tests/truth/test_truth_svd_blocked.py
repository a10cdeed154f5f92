"""The blocked sampler of matrices with holes: every move keeps the joint law of state and cells (Geweke 2004).

State and cells are drawn from the joint prior, the move is made, and no statistic may have changed on average; since a
draw is compared with its own past, few are needed. All moves together: a chain that alternates a sweep with fresh cells
against independent draws."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from svd_worlds import HYPER, LIMIT, World, changes, together, worst
from svd_worlds import Move as MoveOfWorld

from partita.models.matrices import blocked as svd_blocked
from partita.models.matrices import gains as svd_gains
from partita.models.matrices import gauge as svd_gauge
from partita.models.matrices import noise as svd_noise
from partita.models.matrices import offsets as svd_offsets
from partita.models.matrices import regression as svd_regression
from partita.models.matrices import rows as svd_rows
from partita.models.matrices import scales as svd_scales
from partita.models.matrices.problem import Problem
from partita.models.matrices.sides import COLUMNS, ROWS, SIDES
from partita.models.matrices.state import State

Move = Callable[[Problem, np.random.Generator, State], None]


def rows(problem, rng, state):
    svd_rows.draw_rows(problem, rng, state, ROWS)


def columns(problem, rng, state):
    svd_rows.draw_rows(problem, rng, state, COLUMNS)


def regression(problem, rng, state):
    for side in SIDES:
        svd_regression.draw_regression(problem, rng, state, side)


def offsets(problem, rng, state):
    svd_offsets.draw_offsets(problem, rng, state)


def noise(problem, rng, state):
    svd_noise.draw_noise(problem, rng, state)


def gauge(problem, rng, state):
    svd_gauge.draw_gauge(problem, rng, state)


def share_of_noise(problem, rng, state):
    svd_noise.share_noise(problem, rng, state)


def noise_from_rows(problem, rng, state):
    """As in a sweep: the precisions of a side follow its rows, whose draw leaves their sums behind; then alpha."""
    for side in SIDES:
        squares, _ = svd_rows.draw_rows(problem, rng, state, side)
        total = svd_noise.draw_side_noise(problem, rng, state, side, squares)
    svd_noise.end_noise(problem, rng, state, total)


def scales(problem, rng, state):
    """With the rows and the columns, whose draws leave the sums behind, and alpha from what is left over."""
    for side in SIDES:
        _, sums = svd_rows.draw_rows(problem, rng, state, side, with_sums=True)
        total = svd_scales.move_scales(problem, rng, state, sums)
    svd_noise.end_noise(problem, rng, state, total)


def gains(problem, rng, state):
    """With the columns, whose draw leaves the sums behind."""
    _, sums = svd_rows.draw_rows(problem, rng, state, COLUMNS, with_sums=True)
    svd_gains.draw_gains(problem, rng, state, sums)


def gains_and_alpha(problem, rng, state):
    _, sums = svd_rows.draw_rows(problem, rng, state, COLUMNS, with_sums=True)
    state.alpha = svd_noise.draw_alpha(problem, rng, svd_gains.draw_gains(problem, rng, state, sums))


def rescale(problem, rng, state):
    svd_gains.rescale(problem, rng, state)


def sweep(problem, rng, state):
    svd_blocked.step(problem, rng, state)


ARD = World(unequal_noise=True, features=True)
PAPER = World(prior="paper", features=True, n_components=3)
TIGHT = replace(HYPER, theta_most=0.4)  # six of ten scales would lie above
BOUNDED = World(link="ordinal", unequal_noise=True, features=True, n_components=3, hyper=TIGHT)
CASES: dict[str, tuple[World, Move]] = {
    "rows": (ARD, rows),
    "columns": (ARD, columns),
    "regression": (ARD, regression),
    "offsets": (ARD, offsets),
    "noise": (ARD, noise),
    "share of the noise": (ARD, share_of_noise),
    "noise from rows": (ARD, noise_from_rows),
    "equal noise from rows": (World(), noise_from_rows),
    "equal noise": (World(), noise),
    "scales": (ARD, scales),
    "gauge": (ARD, gauge),
    "gauge without features": (World(unequal_noise=True, n_components=3), gauge),
    "bounded scales": (BOUNDED, scales),
    "bounded gauge": (BOUNDED, gauge),
    "bounded gauge of counts": (World(link="binomial", n_components=3, hyper=TIGHT), gauge),
    "sweep": (ARD, sweep),
    "sweep of the bare model": (World(offsets=False), sweep),
    "paper, rows": (PAPER, rows),
    "paper, regression": (PAPER, regression),
    "paper, gains": (PAPER, gains),
    "paper, gains and noise": (PAPER, gains_and_alpha),
    "paper, rescaling": (PAPER, rescale),
    "paper, sweep": (PAPER, sweep),
    "paper, unequal noise": (replace(PAPER, unequal_noise=True), sweep),
}


def of_world(move: Move) -> MoveOfWorld:
    def moved(rng: np.random.Generator, problem: Problem, state: State) -> State:
        move(problem, rng, state)
        return state

    return moved


@pytest.mark.parametrize("case", CASES)
def test_a_move_keeps_the_joint_law(case):
    world, move = CASES[case]
    z, key = worst(changes(world, of_world(move), 800))
    assert z < LIMIT, key


def test_scales_of_another_prior_are_caught():
    def wrong(problem, rng, state):
        scales(replace(problem, hyper=replace(problem.hyper, theta_shape=1.0)), rng, state)

    assert worst(changes(ARD, of_world(wrong), 800))[0] > 1.2 * LIMIT


def test_rotations_that_forget_the_bound_are_caught(monkeypatch):
    monkeypatch.setattr(svd_gauge, "log_share", lambda problem, squares, count: np.zeros(np.shape(squares)))

    def wrong(problem, rng, state):
        for _ in range(4):
            gauge(problem, rng, state)

    assert worst(changes(BOUNDED, of_world(wrong), 3000))[0] > 1.2 * LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_move_keeps_the_joint_law_in_many_draws(case):
    world, move = CASES[case]
    z, key = worst(changes(world, of_world(move), 30_000, seed=2))
    assert z < LIMIT, key


@pytest.mark.slow
@pytest.mark.parametrize("world", [ARD, PAPER, World(unequal_noise=True)], ids=["ard", "paper", "no features"])
def test_a_chain_of_sweeps_and_fresh_cells_has_the_prior_as_its_law(world):
    z, key = worst(together(world, of_world(sweep), 20_000, seed=3))
    assert z < LIMIT, key
