"""Samplers of the Bayesian SVD against exact posteriors of 2 x 2 and 3 x 3 matrices (`svd_importance`).

Both samplers of the paper's prior are compared with the same truth, so they agree in law.
"""

import numpy as np
import pytest
from svd_importance import answers, exact
from svd_worlds import LIMIT, World, draw_joint, full_fit

from partita.models.matrices import blocked as svd_blocked
from partita.models.matrices import coordinate as svd_coordinate

BATCHES = 25
TWO, THREE = (2, 2), (3, 3)
WORLDS = {
    "coordinate, 2 x 2": World(prior="paper", sampler="coordinate", offsets=False, shape=TWO, holes="last"),
    "coordinate, 3 x 3, offsets": World(prior="paper", sampler="coordinate", shape=THREE, holes="last"),
    "paper, blocked, 2 x 2": World(prior="paper", offsets=False, shape=TWO, holes="last"),
    "paper, blocked, 3 x 3, offsets": World(prior="paper", shape=THREE, holes="last"),
    "ard, 2 x 2": World(offsets=False, shape=TWO, holes="last"),
    "ard, 3 x 3, unequal noise": World(unequal_noise=True, shape=THREE, holes="last", n_components=1),
    "ordinal, 2 x 2": World(link="ordinal", shape=TWO, holes="last", n_levels=3, n_components=1),
    "ordinal, 3 x 3, unequal noise": World(
        link="ordinal", unequal_noise=True, shape=THREE, holes="last", n_levels=3, n_components=1
    ),
    "ordinal, paper, 2 x 2": World(link="ordinal", prior="paper", offsets=False, shape=TWO, holes="last", n_levels=3),
    "ordinal, coordinate, 2 x 2": World(
        link="ordinal", prior="paper", sampler="coordinate", offsets=False, shape=TWO, holes="last", n_levels=3
    ),
    "binomial, paper, 2 x 2": World(link="binomial", prior="paper", offsets=False, shape=TWO, holes="last"),
    "binomial, 2 x 2": World(link="binomial", offsets=False, shape=TWO, holes="last"),
    "binomial, 3 x 3, offsets": World(link="binomial", shape=THREE, holes="last", n_components=1),
}


def sampled(world: World, n_sweeps: int, seed: int) -> tuple[dict[str, np.ndarray], tuple]:
    """What is compared, of every sweep of a chain that begins with a draw of the prior; and the cells."""
    rng = np.random.default_rng(seed)
    problem, _ = draw_joint(np.random.default_rng(77), world)
    _, state = draw_joint(rng, world)
    step = (svd_coordinate if world.sampler == "coordinate" else svd_blocked).step
    fits, kept = [], []
    for number in range(n_sweeps + n_sweeps // 10):
        state, _ = step(problem, rng, state)
        if number >= n_sweeps // 10:
            fits.append(full_fit(world, state))
            rank = 0.0 if state.z is None else state.z.sum()
            kept.append([state.alpha, rank, np.log(state.alpha_s), *(state.cuts if state.cuts is not None else [])])
    trace = np.array(kept).T
    draws = {"alpha": trace[0], "cuts": trace[3:].T}
    if world.prior == "paper":
        draws |= {"rank": trace[1], "log alpha_s": trace[2]}
    return answers(world, np.array(fits), draws), (problem.entries.values, problem.entries.trials)


def compare(world: World, n_sweeps: int, n_exact: int) -> tuple[float, str]:
    """The largest gap between chain and truth, in standard errors."""
    chain, cells = sampled(world, n_sweeps, 5)
    truth = exact(np.random.default_rng(6), world, *cells, n_exact)
    gaps = {}
    for name, (mean, error) in truth.items():
        means = chain[name].reshape(BATCHES, -1).mean(axis=1)
        spread = np.hypot(error, means.std(ddof=1) / np.sqrt(BATCHES))
        gaps[name] = abs(means.mean() - mean) / spread
    name = max(gaps, key=lambda key: gaps[key])
    return gaps[name], name


@pytest.mark.parametrize("name", WORLDS)
def test_a_chain_meets_the_exact_posterior(name):
    gap, what = compare(WORLDS[name], 1500, 300_000)
    assert gap < LIMIT, what


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_a_long_chain_meets_the_exact_posterior(name):
    gap, what = compare(WORLDS[name], 20_000, 2_000_000)
    assert gap < LIMIT, what


def test_a_wrong_prior_is_seen():
    """The same comparison with a sampler that believes in less noise."""
    world = WORLDS["coordinate, 3 x 3, offsets"]
    chain, cells = sampled(world, 1500, 5)
    other = World(**{**vars(world), "hyper": world.hyper.__class__(**{**vars(world.hyper), "d": 0.3})})
    mean, error = exact(np.random.default_rng(6), other, *cells, 300_000)["log alpha"]
    means = chain["log alpha"].reshape(BATCHES, -1).mean(axis=1)
    assert abs(means.mean() - mean) > LIMIT * np.hypot(error, means.std(ddof=1) / np.sqrt(BATCHES))


@pytest.mark.slow
def test_both_samplers_of_the_paper_agree_on_a_larger_matrix():
    """12 x 10 with holes and four candidates: too many numbers for `exact`, but the two laws must be one."""
    worlds = [
        World(prior="paper", sampler=sampler, shape=(12, 10), n_components=4) for sampler in ("coordinate", "blocked")
    ]
    found = [sampled(world, 20_000, seed)[0] for seed, world in enumerate(worlds)]
    for name in found[0]:
        means = [chain[name].reshape(BATCHES, -1).mean(axis=1) for chain in found]
        error = np.sqrt(sum(each.var(ddof=1) for each in means) / BATCHES)
        assert abs(means[0].mean() - means[1].mean()) < LIMIT * error, name
