"""Simulation-based calibration of the Bayesian SVD (Talts et al. 2018): truths drawn from the prior, cells from the
truth, a chain from elsewhere. The share of predictive mass below the true value of an unseen cell must be uniform,
so intervals hold what they say."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import kstest
from svd_worlds import World, draw_joint, draw_state, full_fit

from partita.models.matrices import blocked as svd_blocked
from partita.models.matrices import coordinate as svd_coordinate
from partita.models.matrices.problem import Problem
from partita.models.matrices.state import State

SMALL = {"shape": (7, 6), "holes": "last"}
WORLDS = {
    "ard": World(**SMALL),
    "ard, unequal noise": World(unequal_noise=True, **SMALL),
    "paper, blocked": World(prior="paper", **SMALL),
    "paper, coordinate": World(prior="paper", sampler="coordinate", **SMALL),
    "ordinal": World(link="ordinal", **SMALL),
    "binomial": World(link="binomial", **SMALL),
    "ordinal, paper, coordinate": World(link="ordinal", prior="paper", sampler="coordinate", **SMALL),
    "binomial, paper": World(link="binomial", prior="paper", **SMALL),
}


def unseen_value(rng: np.random.Generator, world: World, state: State) -> float:
    """What the last cell, which is not among the observed ones, would have shown; the probit itself for binomial."""
    fit, noise = full_fit(world, state)[-1, -1], state.alpha * state.row_noise[-1] * state.column_noise[-1]
    if world.link == "binomial":
        return float(fit)
    x = fit + rng.standard_normal() / np.sqrt(noise)
    return float(x if world.link == "gaussian" else (x > state.cuts).sum())


Kept = tuple[float, float, np.ndarray]  # fit and precision of the cell, cut points


def share_below(rng: np.random.Generator, world: World, states: list[Kept], y: float) -> float:
    """Predictive mass below y, averaged over draws; within a level or a step by chance."""
    fit, noise = (np.array([draw[k] for draw in states]) for k in (0, 1))
    if world.link == "gaussian":
        return float(ndtr((y - fit) * np.sqrt(noise)).mean())
    if world.link == "binomial":
        return float((np.sum(fit < y) + rng.random()) / (len(fit) + 1))
    edges = np.array([np.concatenate([[-np.inf], draw[2], [np.inf]]) for draw in states])
    low, high = (ndtr((edges[:, int(y) + k] - fit) * np.sqrt(noise)).mean() for k in (0, 1))
    return float(low + rng.random() * (high - low))


def one_share(rng: np.random.Generator, world: World, burn_in: int, n_draws: int, thin: int) -> float:
    problem: Problem
    problem, truth = draw_joint(rng, world)
    y = unseen_value(rng, world, truth)
    state = draw_state(rng, world)
    step = (svd_coordinate if world.sampler == "coordinate" else svd_blocked).step
    kept = []
    for sweep in range(burn_in + n_draws * thin):
        state, _ = step(problem, rng, state)
        if sweep >= burn_in and sweep % thin == 0:
            noise = state.alpha * state.row_noise[-1] * state.column_noise[-1]
            cuts = np.zeros(0) if state.cuts is None else state.cuts.copy()
            kept.append((float(full_fit(world, state)[-1, -1]), float(noise), cuts))
    return share_below(rng, world, kept, y)


def shares(world: World, n: int, burn_in: int, n_draws: int, thin: int) -> np.ndarray:
    rng = np.random.default_rng(4)
    return np.array([one_share(rng, world, burn_in, n_draws, thin) for _ in range(n)])


@pytest.mark.parametrize("name", ["ard, unequal noise", "paper, coordinate", "ordinal", "binomial"])
def test_intervals_hold_what_they_say(name):
    found = shares(WORLDS[name], 40, 40, 20, 2)
    assert kstest(found, "uniform").pvalue > 1e-4
    inside = np.mean(np.abs(found - 0.5) < 0.4)
    assert abs(inside - 0.8) < 4.2 * np.sqrt(0.16 / len(found))


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_intervals_hold_what_they_say_in_a_long_run(name):
    found = shares(WORLDS[name], 300, 100, 60, 3)
    assert kstest(found, "uniform").pvalue > 1e-4
    for coverage in (0.5, 0.8, 0.9):
        inside = np.mean(np.abs(found - 0.5) < coverage / 2)
        assert abs(inside - coverage) < 4.2 * np.sqrt(coverage * (1 - coverage) / len(found)), coverage
