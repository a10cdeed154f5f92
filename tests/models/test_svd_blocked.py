"""Chains over matrices with holes: what they find, threads, stops and resumes."""

from dataclasses import replace

import numpy as np
import pytest

from partita.inference.runner import Runner
from partita.models import svd_chains
from partita.models.svd_chains import Settings, fit_chains
from partita.models.svd_entries import Entries
from partita.models.svd_missingness import side_features
from partita.models.svd_problem import Problem
from partita.models.svd_sides import COLUMNS, ROWS


def low_rank(rng, n, m, rank, share, noise):
    truth = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m))
    cells = rng.permutation(n * m)[: int(share * n * m)]
    values = truth.ravel()[cells] + noise * rng.normal(size=len(cells))
    return truth, Entries.of(cells // m, cells % m, values, n, m)


def mean_of(draws, n, m):
    rows, columns = np.divmod(np.arange(n * m), m)
    return np.mean([draw.fitted(rows, columns) for draw in draws], axis=0).reshape(n, m)


@pytest.mark.parametrize("start", ["random", 20, "svd"])
def test_the_rank_does_not_depend_on_the_start(start):
    truth, entries = low_rank(np.random.default_rng(1), 60, 50, 3, 0.4, 0.2)
    problem = Problem.of(entries, offsets=False, unequal_noise=False, max_rank=20)
    fitted = fit_chains(problem, Settings(60, 120, 1, start), 7, Runner())
    ranks = np.array([draw.rank for draw in fitted.draws[0]])
    assert np.bincount(ranks).argmax() == 3 and ranks.mean() < 3.5
    told = fit_chains(replace(problem, max_rank=3), Settings(60, 120), 7, Runner())  # one that is told the rank
    errors = [np.linalg.norm(mean_of(one.draws[0], 60, 50) - truth) for one in (fitted, told)]
    assert errors[0] < 1.1 * errors[1] < 0.12 * np.linalg.norm(truth)


def test_same_bytes_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("partita.models.svd_pieces.PIECE_WORK", 2e4)
    _, entries = low_rank(np.random.default_rng(2), 40, 30, 2, 0.5, 0.2)
    problem = Problem.of(entries, max_rank=5)
    found = [fit_chains(problem, Settings(5, 10, 2), 3, Runner(n_jobs=jobs)) for jobs in (1, 2, 5)]
    for other in found[1:]:
        for a, b in zip(found[0].draws, other.draws):
            assert all(np.array_equal(x.U, y.U) and x.alpha == y.alpha for x, y in zip(a, b))


def test_a_resumed_run_gives_the_same_bytes(tmp_path):
    _, entries = low_rank(np.random.default_rng(3), 30, 20, 2, 0.5, 0.2)
    features = side_features(entries, ROWS, np.random.default_rng(0).normal(size=(30, 2)), 3)
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


def test_features_of_the_mask_are_there_where_it_has_structure():
    rng = np.random.default_rng(5)
    n, m = 120, 90
    taste = rng.random((n, m)) < np.where((np.arange(n)[:, None] % 2) == (np.arange(m) % 2), 0.5, 0.1)
    chance = rng.random((n, m)) < 0.3
    for mask, structured in ((taste, True), (chance, False)):
        rows, columns = np.nonzero(mask)
        entries = Entries.of(rows, columns, np.zeros(len(rows)), n, m)
        for side in (ROWS, COLUMNS):
            features = side_features(entries, side)
            assert bool(features.blocks) == structured
            assert side_features(entries, side, missingness=0).blocks == ()
            assert [len(block) for block in side_features(entries, side, missingness=4).blocks] == [2, 4]
    given = side_features(entries, ROWS, rng.normal(size=(n, 3)), 0)
    assert [len(block) for block in given.blocks] == [4]
