"""Moves of rows against all 4,140 partitions of eight rows, every kind of column, a quarter of the cells missing."""

from functools import cache

import numpy as np
import pytest
from enumeration import Exact, co_assignment, exact_posterior
from small_tables import TABLES, chain_of, clustered_table, fixed_hyper, one_class

from partita.models.mixtures import mixture

ALPHA, SEED = 1.0, 1
MOVES = {
    "gibbs": (mixture.sweep_rows,),
    "split-merge": (mixture.split_and_merge,),
    "both": (mixture.sweep_rows, mixture.split_and_merge),
}


@cache
def exact(name: str, alpha: float = ALPHA, cap: int | None = None, discount: float = 0.0) -> Exact:
    layout, rows = clustered_table(name, SEED)
    return exact_posterior(layout, rows, fixed_hyper(layout), alpha, cap, discount)


def run(
    name: str, moves: str, draws: int, *, alpha: float = ALPHA, cap: int = 50, proposals: int = 8, discount: float = 0.0
) -> np.ndarray:
    """Groups (draws, rows) of a chain with fixed concentration and hyper-parameters, after a short burn-in."""
    layout, rows = clustered_table(name, SEED)
    problem = one_class(layout, rows, alpha=alpha, cap=cap, split_merge=proposals)
    chain = chain_of(problem, hyper=fixed_hyper(layout))
    chain.discount[:] = discount
    rng, z, burn_in = np.random.default_rng(0), np.empty((draws, len(rows)), int), 200
    for t in range(-burn_in, draws):
        for move in MOVES[moves]:
            move(rng, problem, chain)
        if t >= 0:
            z[t] = chain.z[0]
    return z


def assert_close(truth: Exact, z: np.ndarray, limit: float, coarse: float) -> None:
    """Partitions within `limit` in total variation; pairs of rows, where less noise hides an error, within `coarse`."""
    assert truth.distance(z) < limit
    expected = co_assignment(truth.partitions, truth.probability)
    found = co_assignment(truth.partitions, truth.frequencies(z))
    assert np.abs(expected - found).max() < coarse


@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("name", TABLES)
def test_chain_has_the_exact_posterior(name, moves):
    draws = 30_000
    assert_close(exact(name), run(name, moves, draws), exact(name).tolerance(draws), 0.025)


@pytest.mark.slow
@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("name", TABLES)
def test_chain_has_the_exact_posterior_in_a_long_run(name, moves):
    draws = 400_000
    assert_close(exact(name), run(name, moves, draws), exact(name).tolerance(draws), 0.01)


@pytest.mark.parametrize("cap", [2, 3])
@pytest.mark.parametrize("moves", ["gibbs", "both"])
@pytest.mark.parametrize("name", ["binary", "mixed"])
def test_capped_chain_has_the_law_cut_off_at_the_cap(name, moves, cap):
    draws = 15_000
    z = run(name, moves, draws, cap=cap)
    assert_close(exact(name, cap=cap), z, exact(name, cap=cap).tolerance(draws), 0.03)
    assert exact(name).distance(z) > 1.5 * exact(name, cap=cap).distance(z)  # the cap matters here


@pytest.mark.parametrize(("places", "gamma"), [(3, 0.5), (5, 4.0)])
@pytest.mark.parametrize("moves", MOVES)
@pytest.mark.parametrize("name", ["binary", "mixed"])
def test_finite_mixtures_have_the_exact_posterior(name, moves, places, gamma):
    """A finite mixture of so many places with Dirichlet(gamma) shares; no more groups than places."""
    draws, truth = 30_000, exact(name, alpha=places * gamma, discount=-gamma)
    z = run(name, moves, draws, alpha=places * gamma, discount=-gamma)
    assert_close(truth, z, truth.tolerance(draws), 0.025)
    assert exact(name, alpha=places * gamma).distance(z) > 1.5 * truth.distance(z)  # the discount matters here


@pytest.mark.parametrize("moves", MOVES)
def test_a_wrong_concentration_is_seen(moves):
    """The control: a chain run at one and a half times the concentration is told apart by the same draws and limits."""
    draws, truth = 30_000, exact("mixed")
    z = run("mixed", moves, draws, alpha=1.5 * ALPHA)
    assert truth.distance(z) > truth.tolerance(draws)
    with pytest.raises(AssertionError):
        assert_close(truth, z, 1.0, 0.025)
