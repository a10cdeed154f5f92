"""Cut points: native and plain alike, and as a plain quadratic search finds them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.kernels import BACKEND, kernel, reference


def cuts_of(kernels, value, label, weight=None, n_classes=None, force=False):
    value, label = np.asarray(value, float), np.asarray(label, np.int32)
    weight = np.ones(len(value)) if weight is None else np.asarray(weight, float)
    out = np.full(len(value), np.nan)
    n = kernels.mdlp_cut_points(value, label, weight, n_classes or int(label.max(initial=0)) + 1, force, out)
    assert np.isnan(out[n:]).all()
    return out[:n]


def random_column(rng, n, n_values, n_classes, noise):
    """Values on a grid, so that there are ties, and classes that follow them in stretches."""
    value = rng.integers(0, n_values, n).astype(float)
    label = (value * n_classes * rng.integers(1, 3) // max(n_values, 1)).astype(np.int32) % n_classes
    wrong = rng.random(n) < noise
    label[wrong] = rng.integers(0, n_classes, wrong.sum())
    return value, label


CASES = [
    (n, n_values, n_classes, noise)
    for n in (2, 7, 40, 150)
    for n_values in (2, 9, 1000)
    for n_classes in (2, 3, 7)
    for noise in (0.0, 0.2, 1.0)
]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_native_equals_twin(case, force, native):
    rng = np.random.default_rng(hash(case) % 2**32)
    for weight in (None, rng.integers(1, 5, case[0]), rng.gamma(0.5, size=case[0]) + 1e-3):
        value, label = random_column(rng, *case)
        args = value, label, weight, case[2], force
        np.testing.assert_array_equal(cuts_of(native, *args), cuts_of(reference, *args))


def long_columns():
    """Columns with so many changes of class that the native search passes over stretches of them."""
    rng = np.random.default_rng(5)
    place = np.arange(2600)
    waves = (place // 15) % 2
    bent = np.where(place < 1300, waves, rng.integers(0, 2, 2600))[700:1900]
    steps = np.where(rng.random(2600) < 0.4, place // 500, rng.integers(0, 6, 2600))
    return {
        "noise": rng.integers(0, 2, 1200),
        "shifted": (rng.random(1200) < np.linspace(0.3, 0.7, 1200)).astype(int),
        "three classes": rng.integers(0, 3, 1200),
        "waves": waves,
        "waves, then noise": bent,
        "steps in noise": steps,
        "rare": (rng.random(2600) < 0.06) * rng.integers(1, 16, 2600),
    }


@pytest.mark.parametrize("name", long_columns())
@pytest.mark.parametrize("weighed", [False, True])
def test_native_equals_twin_on_long_columns(name, weighed, native):
    label = long_columns()[name]
    rng = np.random.default_rng(1)
    weight = rng.gamma(2.0, size=len(label)) if weighed else None
    value = rng.permutation(len(label))
    args = value, label[value], weight, 16, name != "waves"
    mine, theirs = cuts_of(native, *args), cuts_of(reference, *args)
    np.testing.assert_array_equal(mine, theirs)
    if name == "waves" and not weighed:
        assert len(mine) > 100


def entropy(counts):
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())


def quadratic_cuts(value, label, n_classes):
    """The definition: all places between distinct values, classes counted anew for each of them."""
    best, n = (np.inf, None), len(value)
    distinct = np.unique(value)
    for low, high in pairwise(distinct):
        left, right = (np.bincount(label[side], minlength=n_classes) for side in (value <= low, value > low))
        after = (left.sum() * entropy(left) + right.sum() * entropy(right)) / n
        if after < best[0] - 1e-12:
            best = after, (low, high, left, right)
    if best[1] is None:
        return []
    low, high, left, right = best[1]
    sides = [left + right, left, right]
    k, k1, k2 = ((side > 0).sum() for side in sides)
    before, e1, e2 = map(entropy, sides)
    delta = np.log2(3.0**k - 2) - (k * before - k1 * e1 - k2 * e2)
    if before - best[0] <= (np.log2(n - 1) + delta) / n:
        return []
    inner = [quadratic_cuts(value[side], label[side], n_classes) for side in (value <= low, value > low)]
    return [*inner[0], (low + high) / 2, *inner[1]]


@pytest.mark.parametrize("case", [case for case in CASES if case[0] > 2], ids=str)
def test_cuts_are_those_of_the_definition(case, backends):
    rng = np.random.default_rng(hash(case) % 2**31)
    for _ in range(4):
        value, label = random_column(rng, *case)
        expected = quadratic_cuts(value, label, case[2])
        for kernels in backends.values():
            np.testing.assert_allclose(cuts_of(kernels, value, label, None, case[2]), expected, rtol=0, atol=0)


def test_some_columns_are_cut_often(backends):
    value = np.arange(400.0)
    label = (value // 40).astype(np.int32) % 3
    for kernels in backends.values():
        np.testing.assert_array_equal(cuts_of(kernels, value, label), np.arange(40, 400, 40) - 0.5)


@pytest.mark.parametrize("case", [case for case in CASES if case[0] == 40], ids=str)
def test_a_weight_is_a_number_of_rows_and_nothing_else_matters(case, backends):
    rng = np.random.default_rng(3)
    value, label = random_column(rng, *case)
    weight = rng.integers(1, 6, len(value))
    uneven = rng.gamma(1.0, size=len(value))
    order, names = rng.permutation(len(value)), rng.permutation(case[2]).astype(np.int32)
    for kernels in backends.values():
        weighed = cuts_of(kernels, value, label, weight, case[2])
        again = cuts_of(kernels, np.repeat(value, weight), np.repeat(label, weight), None, case[2])
        np.testing.assert_array_equal(weighed, again)
        plain = cuts_of(kernels, value, label, uneven, case[2])
        for changed in (
            cuts_of(kernels, value[order], label[order], uneven[order], case[2]),
            cuts_of(kernels, value, names[label], uneven, case[2]),
            cuts_of(kernels, value, label, uneven, case[2] + 5),
        ):
            np.testing.assert_array_equal(changed, plain)


@settings(max_examples=60, derandomize=True)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=12, unique=True))
def test_a_cut_parts_its_neighbours_whatever_their_size(values):
    """Huge, tiny and adjacent doubles: low <= cut < high, so that no cell changes sides."""
    values = np.sort(np.array(values))
    values = values[np.append(True, values[1:] != values[:-1])]  # 0.0 and -0.0 are one value
    half = len(values) // 2
    if half == 0:
        return
    label = (np.arange(len(values)) >= half).astype(np.int32)
    for kernels in (reference, kernel):
        (cut,) = cuts_of(kernels, np.tile(values, 30), np.tile(label, 30))
        assert values[half - 1] <= cut < values[half]


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        (5e-324, 1e-323, 5e-324),
        (-5e-324, 5e-324, 0.0),
        (-1.7e308, 1.7e308, 0.0),
        (1.5e308, 1.7e308, 1.6e308),
        (1.0, np.nextafter(1.0, 2.0), 1.0),
        (np.nextafter(1.0, 0.0), 1.0, np.nextafter(1.0, 0.0)),
        (3.0, 4.0, 3.5),
    ],
)
def test_midway(low, high, cut, backends):
    for kernels in backends.values():
        assert cuts_of(kernels, [low, high] * 20, [0, 1] * 20).tolist() == pytest.approx([cut], rel=1e-15, abs=0)


def test_nothing_to_cut(backends):
    for kernels in backends.values():
        assert not len(cuts_of(kernels, [], []))
        assert not len(cuts_of(kernels, [1.0], [0], force=True))
        assert not len(cuts_of(kernels, [1.0] * 30, [0, 1] * 15, force=True))  # ties are never split
        assert not len(cuts_of(kernels, np.arange(30.0), [1] * 30, force=True))  # one class
        assert not len(cuts_of(kernels, [0.0, 0.0, 1.0, 1.0], [0, 1, 0, 1], force=True))  # no gain at all
        assert not len(cuts_of(kernels, [0.0, 0.0, 0.0, 1.0], [0, 1, 0, 1]))
        assert cuts_of(kernels, [0.0, 0.0, 0.0, 1.0], [0, 1, 0, 1], force=True).tolist() == [0.5]
        assert not len(cuts_of(kernels, np.arange(10.0), [0, 1] * 5, [1e-9] * 10))


def test_very_many_classes(backends):
    value = np.repeat(np.arange(700.0), 20)
    for kernels in backends.values():
        few = cuts_of(kernels, value[:800], (value[:800]).astype(np.int32), n_classes=700)
        np.testing.assert_array_equal(few, np.arange(39) + 0.5)
    if BACKEND == "native":
        many = cuts_of(backends["native"], value, value.astype(np.int32))
        np.testing.assert_array_equal(many, np.arange(699) + 0.5)
