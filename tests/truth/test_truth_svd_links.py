"""Links of the Bayesian SVD: every move of ordinal and binomial cells keeps the joint law of state and cells."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from svd_worlds import HYPER, LIMIT, Move, World, changes, full_fit, together, worst

from partita.models.matrices import binomial as svd_binomial
from partita.models.matrices import binomial_gains as svd_binomial_gains
from partita.models.matrices import blocked as svd_blocked
from partita.models.matrices import coordinate as svd_coordinate
from partita.models.matrices import coordinate_counts as svd_coordinate_counts
from partita.models.matrices import gains as svd_gains
from partita.models.matrices import ordinal as svd_ordinal
from partita.models.matrices import row_cuts as svd_row_cuts
from partita.models.matrices.problem import Problem
from partita.models.matrices.sides import COLUMNS, ROWS, SIDES, Side
from partita.models.matrices.state import State

ORDINAL = {
    "four levels": World(link="ordinal", unequal_noise=True, features=True),
    "two levels": World(link="ordinal", n_levels=2),
    "no offsets": World(link="ordinal", offsets=False, n_levels=3),
    "rows' own cuts": World(link="ordinal", unequal_noise=True, row_cuts=True, n_levels=5),
}
BINOMIAL = {
    "offsets": World(link="binomial", features=True),
    "no offsets": World(link="binomial", offsets=False),
    "offsets alone": World(link="binomial", n_components=0),
    "small scales": World(link="binomial", n_components=3, hyper=replace(HYPER, theta_most=0.4)),
}
PAPER = {
    "binomial": World(link="binomial", prior="paper", n_components=3),
    "one binomial candidate": World(link="binomial", prior="paper", offsets=False, n_components=1),
    "ordinal": World(link="ordinal", prior="paper", n_components=3),
    "ordinal, coordinate": World(link="ordinal", prior="paper", sampler="coordinate", features=True, n_components=3),
    "counts, coordinate": World(link="binomial", prior="paper", sampler="coordinate", features=True, n_components=3),
    "counts, one candidate": World(link="binomial", prior="paper", sampler="coordinate", offsets=False, n_components=1),
}
Alone = Callable[[World], Move]


def at_cells(world: World, state: State) -> np.ndarray:
    return full_fit(world, state)[world.cells()]


def ordinal_move(which: str) -> Alone:
    def of(world: World) -> Move:
        def move(rng: np.random.Generator, problem: Problem, state: State) -> State:
            fitted, scale = at_cells(world, state), svd_ordinal.noise_scale(problem, state)
            if which == "everything":
                svd_ordinal.move_latents(problem, rng, state, fitted)
            elif which == "shift":
                svd_ordinal.shift(problem, rng, state, ROWS)
                svd_ordinal.shift(problem, rng, state, COLUMNS)
            else:  # latents follow the cut points, which have integrated them out
                if which == "cuts":
                    own = state.row_stretch.shape[1]
                    move = svd_row_cuts.move_row_cuts if own else svd_ordinal.move_cuts
                    move(problem, rng, state, fitted, scale)
                svd_ordinal.draw_latents(problem, rng, state, fitted, scale)
            return state

        return move

    return of


def binomial_move(which: str) -> Alone:
    def of(world: World) -> Move:
        def move(rng: np.random.Generator, problem: Problem, state: State) -> State:
            if which == "mean":
                svd_binomial.move_mean(problem, rng, state, at_cells(world, state))
            elif which == "scales":
                svd_binomial.move_scales(problem, rng, state, at_cells(world, state))
            elif which == "gains":
                svd_binomial_gains.move_gains(problem, rng, state, at_cells(world, state))
            elif which == "rescaling":
                svd_gains.rescale(problem, rng, state)
            else:
                svd_binomial.move_rows(problem, rng, state, ROWS if which == "rows" else COLUMNS)
            return state

        return move

    return of


def coordinate_move(world: World) -> Move:
    def move(rng: np.random.Generator, problem: Problem, state: State) -> State:
        svd_coordinate.draw_levels(problem, rng, state)
        return state

    return move


def counts_move(side: Side) -> Alone:
    def of(world: World) -> Move:
        def move(rng: np.random.Generator, problem: Problem, state: State) -> State:
            svd_coordinate.move_side(svd_coordinate.Sweep.begin(problem, rng, state), side)
            return state

        return move

    return of


def sweep(world: World) -> Move:
    sampler = svd_coordinate if world.sampler == "coordinate" else svd_blocked
    return lambda rng, problem, state: sampler.step(problem, rng, state)[0]


CASES = [
    *((ORDINAL[name], ordinal_move(move)) for name in ORDINAL for move in ("latents", "cuts", "everything")),
    (ORDINAL["four levels"], ordinal_move("shift")),
    *((BINOMIAL[name], binomial_move(move)) for name in BINOMIAL for move in ("rows", "columns")),
    *((BINOMIAL["offsets"], binomial_move(move)) for move in ("mean", "scales")),
    (BINOMIAL["small scales"], binomial_move("scales")),
    *((PAPER[name], binomial_move("gains")) for name in PAPER if "binomial" in name),
    *((PAPER["binomial"], binomial_move(move)) for move in ("rows", "columns", "rescaling")),
    (PAPER["ordinal, coordinate"], coordinate_move),
    *((PAPER["counts, coordinate"], counts_move(side)) for side in SIDES),
    *((world, sweep) for world in (*ORDINAL.values(), *BINOMIAL.values(), *PAPER.values())),
]
NAMES = [
    *(f"{move}, ordinal, {name}" for name in ORDINAL for move in ("latents", "cuts", "everything")),
    "shift, ordinal, four levels",
    *(f"{move}, binomial, {name}" for name in BINOMIAL for move in ("rows", "columns")),
    *(f"{move}, binomial, offsets" for move in ("mean", "scales")),
    "scales, binomial, small scales",
    *(f"gains, paper, {name}" for name in PAPER if "binomial" in name),
    *(f"{move}, paper, binomial" for move in ("rows", "columns", "rescaling")),
    "levels, paper, coordinate",
    *(f"{side.name}s number by number, paper" for side in SIDES),
    *(f"sweep, ordinal, {name}" for name in ORDINAL),
    *(f"sweep, binomial, {name}" for name in BINOMIAL),
    *(f"sweep, paper, {name}" for name in PAPER),
]


@pytest.mark.parametrize("world, move", CASES, ids=NAMES)
def test_a_move_keeps_the_joint_law(world, move):
    z, key = worst(changes(world, move(world), 200))
    assert z < LIMIT, key


@pytest.mark.parametrize(
    "world",
    [ORDINAL["four levels"], BINOMIAL["offsets"], PAPER["binomial"], PAPER["counts, coordinate"]],
    ids=["ordinal", "binomial", "binomial, paper", "binomial, coordinate"],
)
def test_all_moves_keep_the_joint_law(world):
    z, key = worst(together(world, sweep(world), 400))
    assert z < LIMIT, key


@pytest.mark.slow
@pytest.mark.parametrize(
    "world",
    [*ORDINAL.values(), *BINOMIAL.values(), *PAPER.values()],
    ids=[*ORDINAL, *(f"{b} " for b in BINOMIAL), *(f"paper, {p}" for p in PAPER)],
)
def test_all_moves_keep_the_joint_law_in_a_long_run(world):
    z, key = worst(together(world, sweep(world), 12_000))
    assert z < LIMIT, key


@pytest.mark.slow
@pytest.mark.parametrize("world, move", CASES, ids=NAMES)
def test_a_move_keeps_the_joint_law_in_a_long_run(world, move):
    z, key = worst(changes(world, move(world), 6000, seed=3))
    assert z < LIMIT, key


def broken(monkeypatch: pytest.MonkeyPatch, what: str) -> tuple[World, Move]:
    """A world and a move with one mistake."""
    if what == "no way back":  # every proposal accepted
        right = svd_binomial.BinomialRows

        def accepting(*arguments):
            return right(*arguments[:9], np.full(len(arguments[9]), 1e-300), *arguments[10:])

        monkeypatch.setattr(svd_binomial, "BinomialRows", accepting)
        return BINOMIAL["offsets"], binomial_move("rows")(BINOMIAL["offsets"])
    if what == "cut points without their cells":
        monkeypatch.setattr(svd_ordinal, "evidence", lambda problem, fitted, scale, cuts: np.zeros(problem.n_levels))
        return ORDINAL["four levels"], ordinal_move("cuts")(ORDINAL["four levels"])
    if what == "gaps without their cells":
        monkeypatch.setattr(svd_row_cuts, "log_masses", lambda problem, *_: np.zeros(len(problem.entries)))
        return ORDINAL["rows' own cuts"], ordinal_move("cuts")(ORDINAL["rows' own cuts"])
    if what == "equal noise":
        monkeypatch.setattr(svd_ordinal, "noise_scale", lambda problem, state: np.full(len(problem.entries), 1.5))
        return ORDINAL["four levels"], ordinal_move("latents")(ORDINAL["four levels"])
    if what == "numbers without their way back":
        monkeypatch.setattr(svd_coordinate_counts.Step, "log_proposal", lambda step, x: 0.0 * x)
        world = PAPER["counts, coordinate"]
        return world, counts_move(ROWS)(world)
    if what == "components on for nothing":
        monkeypatch.setattr(svd_binomial_gains, "log_likelihood", lambda problem, f: np.zeros(3))
        return PAPER["binomial"], binomial_move("gains")(PAPER["binomial"])
    right_sums = svd_binomial.log_likelihood
    monkeypatch.setattr(svd_binomial, "log_likelihood", lambda *given: 6.0 * right_sums(*given))
    return BINOMIAL["offsets"], binomial_move("mean")(BINOMIAL["offsets"])


MISTAKES = [
    "no way back", "numbers without their way back", "cut points without their cells", "equal noise",
    "gaps without their cells",
    "components on for nothing", "trials counted six times",
]  # fmt: skip


@pytest.mark.parametrize("what", MISTAKES)
def test_a_broken_move_is_caught(monkeypatch, what):
    world, move = broken(monkeypatch, what)

    def repeated(rng: np.random.Generator, problem: Problem, state: State) -> State:
        for _ in range(10):
            state = move(rng, problem, state)
        return state

    assert worst(changes(world, repeated, 700))[0] > 1.2 * LIMIT
