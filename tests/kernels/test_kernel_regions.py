"""Kernels of Kikuchi-Bayes regions: native and twin agree, and both with a plain computation."""

import itertools

import numpy as np
import pytest

from partita.kernels import reference
from partita.kernels.contract import CodedRows, Moments, Regions

native = pytest.importorskip("partita.kernels._native")


def make(order, levels=(2, 3, 2, 4, 1), n=300, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    levels = np.array(levels, np.int32)
    rows = CodedRows(np.array([rng.integers(0, k, n) for k in levels], np.int32), levels)
    members = np.array(list(itertools.combinations(range(len(levels)), order)), np.int32)
    sizes = levels[members].astype(np.int64).prod(axis=1)
    regions = Regions(members, np.concatenate([[0], np.cumsum(sizes)]))
    proba = rng.dirichlet(np.ones(n_classes), n)
    return rows, regions, proba, rng


def both(name, arguments, shape):
    out = [np.full(shape, 7.0), np.full(shape, -7.0)]
    for module, to in zip((native, reference), out, strict=True):
        getattr(module, name)(*arguments, to)
    np.testing.assert_allclose(out[0], out[1], rtol=1e-11, atol=1e-10)
    return out[0]


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("width", [1, 3])
def test_sums(order, width):
    rows, regions, _, rng = make(order)
    vectors = rng.normal(size=(300, width))
    out = both("region_sums", (rows, regions, vectors), (regions.offset[-1], width))
    for j in range(len(regions)):
        table = out[regions.offset[j] : regions.offset[j + 1]]
        np.testing.assert_allclose(table.sum(axis=0), vectors.sum(axis=0), atol=1e-10)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_sums_of_moments_are_the_sums(order):
    rows, regions, _, rng = make(order)
    vectors = rng.normal(size=(300, 2))
    first = np.concatenate([[0], np.cumsum(rows.levels - 1)]).astype(np.int32)
    z = np.array([rows.codes[j] == k for j in range(5) for k in range(1, rows.levels[j])], float)
    one, two = vectors.T @ z.T, np.einsum("nv,an,bn->vab", vectors, z, z)
    for start in range(5):
        mine = np.flatnonzero(regions.members[:, 0] == start)
        if not len(mine):
            continue
        sizes = np.diff(regions.offset)[mine]
        part = Regions(np.ascontiguousarray(regions.members[mine]), np.concatenate([[0], np.cumsum(sizes)]))
        own = z[first[start] : first[start + 1]]
        three = np.ascontiguousarray(np.einsum("nv,an,bn,cn->vabc", vectors, own, z, z))
        moments = Moments(first, vectors.sum(axis=0), np.ascontiguousarray(one), np.ascontiguousarray(two), three)
        out = both("region_sums_of_moments", (rows, part, moments), (part.offset[-1], 2))
        plain = np.empty_like(out)
        reference.region_sums(rows, part, vectors, plain)
        np.testing.assert_allclose(out, plain, atol=1e-10)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_potentials(order):
    rows, regions, _, rng = make(order)
    counts = rng.integers(0, 4, (regions.offset[-1], 3)).astype(float)
    whole = (1 << (1 << order)) - 1
    for fresh in (whole, whole ^ 1, 1 << ((1 << order) - 1), 0):
        mask = np.full(len(regions), fresh, np.uint32)
        out = both("region_potentials", (rows, regions, mask, counts, 0.3), (regions.offset[-1], 2))
        if fresh == whole:  # everything is new: the product is the submodel of the whole region
            logs = np.concatenate([
                np.log(t + 0.3 / t.size) for t in np.split(counts, regions.offset[1:-1])
            ])  # fmt: skip
            np.testing.assert_allclose(out, logs[:, :-1] - logs[:, -1:], atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("scale", [1.0, 30.0, 400.0])
@pytest.mark.parametrize("even", [True, False])
def test_normalisers(n_classes, scale, even):
    rows, regions, proba, rng = make(3, n_classes=n_classes)
    weight = np.ones(300) if even else rng.random(300) * 3
    potentials = scale * rng.normal(size=(regions.offset[-1], n_classes - 1))
    both("region_normalisers", (rows, weight, proba, regions, potentials), len(regions))


def test_a_wrong_dtype_is_refused():
    rows, regions, _, _ = make(2)
    wrong = CodedRows(rows.codes.astype(np.int64), rows.levels)
    with pytest.raises(ValueError, match="codes"):
        native.region_sums(wrong, regions, np.ones((300, 1)), np.ones((9, 1)))
