"""Where a chain begins: of one group a grown chain is on the higher ground, of many groups a scattered one."""

import numpy as np
import pytest

from partita import CRPMixture
from partita.data import encode, learn_schema
from partita.datasets import make_coin_mixture
from partita.models.lens import plain_lens
from partita.models.mixtures import trial
from partita.models.mixtures.chains import settled
from partita.models.mixtures.mixture import log_joint
from partita.models.mixtures.problem import Problem, Settings, make_grids
from partita.models.mixtures.starts import grown, scattered
from partita.models.mixtures.trial import TRIAL_SWEEPS, try_starts


def problem_of(X):
    table = encode(X, learn_schema(X))
    lens = plain_lens(table)
    settings = Settings(grids=make_grids(len(X)))
    return Problem(lens.layout, lens.rows(table).listed(), np.zeros(len(X), np.int32), settings)


def test_a_grown_chain_seats_every_row_and_its_statistics_agree():
    X, _, _ = make_coin_mixture(300, 12, 4, missing=0.3, random_state=0)
    problem = problem_of(X)
    chain = grown(np.random.default_rng(0), problem)
    assert (chain.z >= 0).all()
    counts = np.bincount(chain.z[0], minlength=chain.used[0, 0])
    np.testing.assert_array_equal(counts, chain.size[0, 0, : chain.used[0, 0]])
    ones = np.array([np.nansum(X[chain.z[0] == g], axis=0) for g in range(chain.used[0, 0])])
    np.testing.assert_array_equal(chain.stats[0, : chain.used[0, 0], 0::2], ones)
    assert np.isfinite(log_joint(problem.layout, chain))


@pytest.mark.parametrize(("n_groups", "start"), [(1, grown), (30, scattered)])
def test_the_start_on_the_higher_ground_is_chosen(n_groups, start):
    X, _, _ = make_coin_mixture(600, 50, n_groups, missing=0.2, random_state=1)
    streams = [np.random.default_rng(k) for k in range(2)]
    chosen, begun = try_starts(streams, problem_of(X))
    assert chosen is start
    assert begun.streams[0] is streams[start is grown] and begun.steps_done == [TRIAL_SWEEPS]
    assert begun.infos["n_groups"].shape == (1, TRIAL_SWEEPS)


@pytest.mark.parametrize(("ahead", "start"), [(-50.0, scattered), (11.9, scattered), (12.1, grown)])
def test_starts_that_are_level_count_as_scattered(monkeypatch, ahead, start):
    X, _, _ = make_coin_mixture(36, 5, 2, random_state=1)  # level: within twice the square root of 36
    reached = iter([-100.0, -100.0 + ahead])
    monkeypatch.setattr(trial, "log_joint", lambda layout, chain: next(reached))
    assert try_starts([np.random.default_rng(k) for k in range(2)], problem_of(X))[0] is start


@pytest.mark.parametrize("n_groups", [1, 3, 10])
def test_the_number_of_groups_is_found(n_groups):
    """On most tables: a restaurant process splits a group by chance now and then, also when its chains have settled."""
    modes, means = [], []
    for seed in range(16):
        X, _, _ = make_coin_mixture(400, 40, n_groups, random_state=seed)
        model = CRPMixture(random_state=0).fit(X)
        posterior = model.n_components_posterior_
        assert sum(posterior.values()) == pytest.approx(1.0)
        modes.append(model.n_components_)
        means.append(sum(size * p for size, p in posterior.items()))
    assert modes.count(n_groups) >= 12 and np.median(modes) == n_groups
    assert n_groups - 0.5 < np.mean(means) < n_groups + 0.6


def test_a_drifting_trace_and_disagreeing_chains_have_not_settled():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(4, 40))
    assert settled(20 + noise)
    assert not settled(20 - 0.5 * np.arange(40) + noise)
    assert not settled(20 + 10 * np.arange(4)[:, None] + noise)
