"""Chains over matrices with holes: what they find, threads, stops and resumes."""

from dataclasses import replace

import numpy as np
import pytest

from partita.inference.runner import Runner
from partita.models.matrices import blocked as svd_blocked
from partita.models.matrices import chains as svd_chains
from partita.models.matrices import scales as svd_scales
from partita.models.matrices import truncation as svd_truncation
from partita.models.matrices.chains import Settings, fit_chains
from partita.models.matrices.entries import Entries
from partita.models.matrices.features import Features
from partita.models.matrices.problem import Problem
from partita.models.matrices.start import blank


def low_rank(rng, n, m, rank, share, noise):
    truth = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m))
    cells = rng.permutation(n * m)[: int(share * n * m)]
    values = truth.ravel()[cells] + noise * rng.normal(size=len(cells))
    return truth, Entries.of(cells // m, cells % m, values, n, m)


def mean_of(draws, n, m):
    rows, columns = np.divmod(np.arange(n * m), m)
    return np.mean([draw.fitted(rows, columns) for draw in draws], axis=0).reshape(n, m)


@pytest.mark.parametrize("start", ["random", 50, "svd"])
def test_the_rank_does_not_depend_on_the_start(start):
    truth, entries = low_rank(np.random.default_rng(1), 100, 100, 3, 0.3, 0.1 * np.sqrt(3))
    problem = Problem.of(entries, offsets=False, unequal_noise=False, max_rank=50)
    fitted = fit_chains(problem, Settings(100, 150, 1, start), 7, Runner())
    assert np.bincount([draw.rank for draw in fitted.draws[0]]).argmax() == 3
    told = fit_chains(replace(problem, max_rank=3), Settings(100, 150), 7, Runner())  # one that is told the rank
    errors = [np.linalg.norm(mean_of(one.draws[0], 100, 100) - truth) for one in (fitted, told)]
    assert errors[0] < 1.1 * errors[1] < 0.1 * np.linalg.norm(truth)


@pytest.mark.parametrize("seed", range(3))
def test_components_that_the_data_do_not_hold_soon_shrink(seed, monkeypatch):
    """Given their factors scales hardly move: only moves of both together bring them down within some sweeps."""
    logs = {}
    for steps in (8, 0):
        monkeypatch.setitem(svd_scales.STEPS, "gaussian", (steps, 20.0))
        rng = np.random.default_rng(seed)
        _, entries = low_rank(rng, 60, 50, 1, 0.4, 0.5)
        problem = Problem.of(entries, max_rank=8)
        state = blank(problem, rng, 8)
        for _ in range(150):
            svd_blocked.step(problem, rng, state)
        logs[steps] = np.log10(np.sort(state.theta)[::-1])
    assert logs[8][-2] < -4.0 < logs[0][-2] and logs[8][0] > -0.5


def test_a_component_that_has_faded_makes_room_for_one_that_is_wanted():
    rng = np.random.default_rng(5)
    _, entries = low_rank(rng, 60, 50, 2, 0.5, 0.2)
    problem = Problem.of(entries, offsets=False, unequal_noise=False, max_rank=2)
    state = svd_blocked.init(problem, rng, 1)
    for _ in range(20):
        svd_blocked.step(problem, rng, state)
    svd_truncation.add_component(state, 1e-6 * rng.normal(size=60), 1e-6 * rng.normal(size=50), 1e-12)
    svd_blocked.adapt(problem, rng, state, births=True)
    assert state.n_components == 2 and state.theta.min() > svd_truncation.edge_scale(state)


def test_same_bytes_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("partita.models.matrices.pieces.PIECE_WORK", 2e4)
    _, entries = low_rank(np.random.default_rng(2), 40, 30, 2, 0.5, 0.2)
    problem = Problem.of(entries, max_rank=5)
    found = [fit_chains(problem, Settings(5, 10, 2), 3, Runner(n_jobs=jobs)) for jobs in (1, 2, 5)]
    for other in found[1:]:
        for a, b in zip(found[0].draws, other.draws):
            assert all(np.array_equal(x.U, y.U) and x.alpha == y.alpha for x, y in zip(a, b))


def test_a_resumed_run_gives_the_same_bytes(tmp_path):
    _, entries = low_rank(np.random.default_rng(3), 30, 20, 2, 0.5, 0.2)
    features = Features.of(30, [np.random.default_rng(0).normal(size=(30, 2)), np.eye(30)[:, :4]])
    problem = Problem.of(entries, max_rank=5, row_features=features)
    straight = fit_chains(problem, Settings(8, 8), 3, Runner(), "x")
    path = str(tmp_path / "c.partita")
    fit_chains(problem, Settings(2, 8), 3, Runner(checkpoint=path), "x")
    resumed = fit_chains(problem, Settings(8, 8), 3, Runner(checkpoint=path), "x")
    assert len(resumed.draws[0]) == len(straight.draws[0]) == 8
    for a, b in zip(straight.draws[0], resumed.draws[0]):
        assert np.array_equal(a.U, b.U) and np.array_equal(a.row_coefficients[0], b.row_coefficients[0])


def test_empty_rows_and_columns_are_drawn_from_the_prior():
    entries = Entries.of(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0]), 4, 5)
    fitted = fit_chains(Problem.of(entries, max_rank=3), Settings(5, 5), 1, Runner())
    assert np.isfinite(mean_of(fitted.draws[0], 4, 5)).all()


def test_large_matrices_keep_fewer_draws(monkeypatch):
    monkeypatch.setattr(svd_chains, "KEPT_BYTES", 4e3)
    _, entries = low_rank(np.random.default_rng(4), 30, 20, 1, 0.5, 0.1)
    fitted = fit_chains(Problem.of(entries, max_rank=2), Settings(20, 5), 1, Runner())
    assert 1 <= len(fitted.draws[0]) < 10


def test_chains_go_on_with_more_cells_rows_and_columns():
    rng = np.random.default_rng(6)
    truth, entries = low_rank(rng, 40, 30, 2, 0.5, 0.1)
    old = (entries.row < 35) & (entries.column < 25)
    few = Entries.of(entries.row[old], entries.column[old], entries.values[old], 35, 25)
    small = Problem.of(few, max_rank=5, row_features=Features.of(35, [rng.normal(size=(35, 2))]))
    fitted = fit_chains(small, Settings(5, 60), 3, Runner())
    before = fitted.states[0].U.copy()
    large = Problem.of(entries, max_rank=5, row_features=Features.of(40, [rng.normal(size=(40, 3))]))
    more = svd_chains.continue_chains(large, fitted.states, fitted.streams, Settings(30, 10), Runner())
    assert np.array_equal(fitted.states[0].U, before)  # the old model still answers
    error = np.linalg.norm(mean_of(more.draws[0], 40, 30) - truth) / np.linalg.norm(truth)
    assert error < 0.2


def test_all_chains_keep_one_number_of_components():
    _, entries = low_rank(np.random.default_rng(3), 40, 30, 2, 0.5, 1.0)
    fitted = fit_chains(Problem.of(entries, max_rank=20), Settings(5, 30, 4), 1, Runner())
    counts = fitted.infos["components"]
    assert len(set(counts[:, 15])) > 1  # each its own at first
    assert len(np.unique(counts[:, 20:])) == 1
    assert {draw.U.shape[1] for chain in fitted.draws for draw in chain} == {int(counts[0, -1])}
