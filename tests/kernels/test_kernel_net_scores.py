"""Scores of discrete networks: native, plain and by hand."""

import numpy as np
import pytest
from scipy.special import gammaln

from partita.kernels import reference
from partita.kernels.net_contract import NO_SCORE, NetData


def table(n_rows, levels, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, k, n_rows) for k in levels], 1).astype(np.int32)
    codes[:, 1] = (codes[:, 0] + (rng.random(n_rows) < 0.3)) % levels[1]
    return codes, np.array(levels, np.int32)


def by_hand(codes, levels, child, parents, bdeu, pseudo):
    shape = [levels[p] for p in parents] + [levels[child]]
    counts = np.zeros(shape)
    np.add.at(counts, tuple(codes[:, [*parents, child]].T), 1)
    cell = pseudo / counts.size if bdeu else pseudo
    value = (gammaln(counts + cell) - gammaln(cell)).sum()
    rows = counts.sum(-1)
    return value + (gammaln(cell * shape[-1]) - gammaln(cell * shape[-1] + rows)).sum()


@pytest.mark.parametrize("n_rows", [0, 1, 64, 75, 700])
@pytest.mark.parametrize(("bdeu", "pseudo"), [(False, 0.5), (True, 10.0)])
def test_scores_are_those_of_full_tables(native, n_rows, bdeu, pseudo):
    codes, levels = table(n_rows, [2, 3, 2, 4, 2, 5])
    data = NetData.of(codes, levels, bdeu, pseudo)
    sets = [(0, []), (1, [0]), (3, [0, 2]), (2, [0, 1, 3]), (5, [0, 1, 2, 3, 4]), (4, [5, 3])]
    child = np.array([c for c, _ in sets], np.int32)
    first = np.concatenate([[0], np.cumsum([len(p) for _, p in sets])]).astype(np.int64)
    parents = np.array([i for _, p in sets for i in p], np.int32)
    expected = [by_hand(codes, levels, c, p, bdeu, pseudo) for c, p in sets]
    for kernels in (reference, native):
        out = np.zeros(len(sets))
        kernels.net_scores(data, child, first, parents, out)
        np.testing.assert_allclose(out, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("bdeu", [False, True])
def test_tables_of_all_sets(native, bdeu):
    codes, levels = table(130, [2, 3, 2, 2, 4])
    data = NetData.of(codes, levels, bdeu, 0.7)
    for most in (2, 4):
        mine, theirs = np.zeros(32), np.zeros(32)
        reference.net_score_table(data, 2, most, mine)
        native.net_score_table(data, 2, most, theirs)
        np.testing.assert_allclose(mine, theirs, atol=1e-9)
        assert theirs[0b00100] == NO_SCORE and (theirs[0b11011] == NO_SCORE) == (most == 2)
    candidates = np.array([0, 1, 3, 4], np.int32)
    mine, theirs = np.zeros(15), np.zeros(15)
    assert reference.net_score_sets(data, 2, candidates, 3, mine) == native.net_score_sets(
        data, 2, candidates, 3, theirs
    )
    np.testing.assert_allclose(mine, theirs, atol=1e-9)


@pytest.mark.parametrize("bdeu", [False, True])
@pytest.mark.parametrize("child", range(6))
def test_columns_of_one_to_six_levels(native, bdeu, child):
    """Tables are counted but for their last levels; some levels and parts are never seen."""
    levels = np.array([1, 2, 3, 4, 5, 6], np.int32)
    rng = np.random.default_rng(2)
    codes = np.stack([rng.choice(k, 900, p=rng.dirichlet(np.full(k, 0.3))) for k in levels], 1).astype(np.int32)
    codes[:, 3] = np.where(codes[:, 2] == 1, 0, codes[:, 3])
    data = NetData.of(codes, levels, bdeu, 2.0)
    candidates = np.array([i for i in range(6) if i != child], np.int32)
    mine, theirs = np.zeros(26), np.zeros(26)
    assert reference.net_score_sets(data, child, candidates, 3, mine) == 26
    native.net_score_sets(data, child, candidates, 3, theirs)
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-9)


def test_many_levels_and_wide_nodes(native):
    """A column that names its rows, and more configurations than rows: the rows are counted, not the configurations."""
    rng = np.random.default_rng(1)
    levels = np.array([90, 2, 30, 30, 30, 3], np.int32)
    codes = np.stack([rng.integers(0, k, 90) for k in levels], 1).astype(np.int32)
    codes[:, 0] = np.arange(90)
    for bdeu in (False, True):
        data = NetData.of(codes, levels, bdeu, 1.5)
        mine, theirs = np.zeros(64), np.zeros(64)
        reference.net_score_table(data, 5, 5, mine)
        native.net_score_table(data, 5, 5, theirs)
        np.testing.assert_allclose(mine, theirs, atol=1e-9)
