"""Where a chain begins: of one group a grown chain is on the higher ground, of many groups a scattered one."""

from dataclasses import replace

import numpy as np
import pytest

from partita import CRPMixture
from partita.data import encode, learn_schema
from partita.datasets import make_coin_mixture
from partita.inference.runner import Runner
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
    streams, scouts = some_streams(3), some_streams(3)
    chosen, begun = try_starts(streams, scouts, problem_of(X), Runner())
    assert chosen is start
    assert begun.streams[0] is (scouts if start is grown else streams)[0] and begun.steps_done == [TRIAL_SWEEPS]
    assert begun.infos["n_groups"].shape == (1, TRIAL_SWEEPS)


def some_streams(n):
    return [np.random.default_rng(k) for k in range(n)]


@pytest.mark.parametrize(
    ("ahead", "start", "n_pairs"),
    [
        ([-50.0], scattered, 1),
        ([12.1], grown, 1),
        ([11.9, -20.0], scattered, 3),
        ([11.9, -11.9, 0.0], scattered, 3),
        ([11.9, 6.0], grown, 2),  # two pairs: their mean is level within 12 / sqrt(2)
        ([0.0, 0.0, 21.0], grown, 3),
    ],
)
def test_starts_that_are_level_are_tried_again_and_count_as_scattered(monkeypatch, ahead, start, n_pairs):
    X, _, _ = make_coin_mixture(36, 5, 2, random_state=1)  # level: within twice the square root of 36
    reached = iter(np.ravel([[-100.0, -100.0 + a] for a in [*ahead, 0.0, 0.0]]))
    monkeypatch.setattr(trial, "log_joint", lambda layout, chain: next(reached))
    different = iter(range(1, 100))  # numbers of groups are never alike

    def numbered(rng, walker, problem):
        walker.chain.used[0, 0] = next(different) // TRIAL_SWEEPS + 1
        return walker, {"n_groups": 1.0}

    monkeypatch.setattr(trial, "advance", numbered)
    streams, scouts = some_streams(3), some_streams(3)
    chosen, begun = try_starts(streams, scouts, problem_of(X), Runner())
    assert chosen is start
    assert begun.streams == (scouts if start is grown else streams)[:n_pairs]
    assert begun.infos["n_groups"].shape == (n_pairs, TRIAL_SWEEPS)


def test_starts_that_are_level_with_as_many_groups_are_tried_once(monkeypatch):
    X, _, _ = make_coin_mixture(36, 5, 2, random_state=1)
    monkeypatch.setattr(trial, "log_joint", lambda layout, chain: -100.0)
    monkeypatch.setattr(trial, "advance", lambda rng, walker, problem: (walker, {"n_groups": 1.0}))
    one_each = replace(problem_of(X), settings=Settings(start=1, grids=make_grids(36)))
    chosen, begun = try_starts(some_streams(3), some_streams(3), one_each, Runner())
    assert chosen is scattered and len(begun.states) == 1


def test_one_lucky_scattered_chain_does_not_decide():
    """Of these rows of one group the first scattered chain ends level with the grown one, the others with dozens of
    groups far below."""
    X, _, _ = make_coin_mixture(1000, 50, 1, random_state=np.random.SeedSequence([4, 1, 3]))
    model = CRPMixture(random_state=3, column_kinds=["binary"] * 50).fit(X[:250])
    assert sum(k * p for k, p in model.n_components_posterior_.items()) < 1.5  # 5.5 by the first pair alone


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
