"""Statistics of columns and counts of pairs, class by class: native and plain alike."""

import numpy as np

from partita.kernels import reference


def coded(rng, levels, n=2500, n_classes=3):
    codes = np.ascontiguousarray(np.stack([rng.integers(-1, k, n) for k in levels], 1), dtype=np.int32)
    return codes, rng.integers(-1, n_classes, n).astype(np.int32), rng.integers(1, 4, n).astype(float)


def test_statistics_are_summed_alike(native):
    rng = np.random.default_rng(0)
    levels = np.array([2, 5, 3], np.int32)
    codes, label, weight = coded(rng, levels)
    reals = rng.normal(size=(2500, 2))
    reals[rng.random(reals.shape) < 0.2] = np.nan
    first = np.concatenate([[0], np.cumsum(levels * 3)[:-1]]).astype(np.int64)
    found = []
    for kernels in (reference, native):
        counts, sums = np.ones(levels.sum() * 3), np.ones((3, 2, 3))
        kernels.class_statistics(codes, reals, label, weight, 3, first, counts, sums)
        found.append((counts, sums))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-12)
    rows = (label == 2) & ~np.isnan(reals[:, 1])
    w, x = weight[rows], reals[rows, 1]
    np.testing.assert_allclose(found[1][1][2, 1] - 1, [w.sum(), w @ x, w @ x**2], rtol=1e-12, atol=1e-12)


def test_pairs_are_counted_alike(native):
    rng = np.random.default_rng(0)
    levels = np.array([2, 5, 3, 1], np.int32)
    codes, label, weight = coded(rng, levels)
    pairs = np.array([(0, 1), (1, 2), (3, 1), (2, 2)], np.int32)
    sizes = levels[pairs].prod(axis=1) * 3
    first = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    mine, theirs = np.zeros(sizes.sum()), np.zeros(sizes.sum())
    reference.pair_counts(codes, levels, label, weight, 3, pairs, first, mine)
    native.pair_counts(codes, levels, label, weight, 3, pairs, first, theirs)
    np.testing.assert_array_equal(mine, theirs)
    cell = mine[first[1] : first[2]].reshape(5, 3, 3)
    assert cell[4, 0, 2] == weight[(codes[:, 1] == 4) & (codes[:, 2] == 0) & (label == 2)].sum()
