"""Where to cut a numeric column (Fayyad and Irani 1993)."""

from __future__ import annotations

import math

import numpy as np


class Exact:
    """Counts as whole multiples of 2^-unit and k log2 k as whole multiples of 2^-grain: their sums do not depend on the
    order of rows or classes.
    """

    def __init__(self, weight: np.ndarray):
        self.unit = 52 - math.frexp(max(float(weight.max()) * len(weight), 1e-200))[1]
        self.counts = np.rint(np.ldexp(weight, self.unit)).astype(np.int64)
        total = self.rows(int(self.counts.sum()))
        self.grain = 51 - math.frexp(max(total, 1.0) * math.log2(max(total, 2.0)))[1]

    def rows(self, count: int) -> float:
        return math.ldexp(float(count), -self.unit)

    def x_log_x(self, count: int) -> int:
        x = self.rows(count)
        return round(math.ldexp(x * math.log2(x), self.grain)) if count else 0

    def entropy(self, counts: np.ndarray) -> int:
        """Entropy of the classes with these counts, times the number of rows."""
        return self.x_log_x(int(counts.sum())) - sum(self.x_log_x(int(c)) for c in counts)

    def bits(self, x_log_x: int) -> float:
        return math.ldexp(float(x_log_x), -self.grain)


def mdlp_cut_points(
    value: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int, force: bool, cuts: np.ndarray
) -> int:
    """Write the cut points of one column, ascending, and return their number.

    Unlike [1], rows may count more or less than once, and `force` keeps the best first cut even where it does not pay.
    """
    if not len(value):
        return 0
    exact = Exact(weight)
    values, at = np.unique(value[exact.counts > 0], return_inverse=True)
    table = np.zeros((len(values), n_classes), np.int64)
    np.add.at(table, (at, label[exact.counts > 0]), exact.counts[exact.counts > 0])
    found: list[float] = []
    open_ranges = [(0, len(values), True)]
    while open_ranges:
        a, b, whole = open_ranges.pop()
        candidates = _boundaries(table, a, b)
        if not candidates:
            continue
        gains = [_gain(exact, table[a:j], table[j:b]) for j in candidates]
        j = candidates[int(np.argmax(gains))]
        pays = _pays(exact, table[a:j].sum(axis=0), table[j:b].sum(axis=0))
        if pays or (whole and force and max(gains) > 4 * (n_classes + 1)):
            found.append(_between(float(values[j - 1]), float(values[j])))
        if pays:
            open_ranges += [(a, j, False), (j, b, False)]
    cuts[: len(found)] = sorted(found)
    return len(found)


def _boundaries(table: np.ndarray, a: int, b: int) -> list[int]:
    """Places between neighbouring values that are not all of one class: the best cut is one of them."""
    return [j for j in range(a + 1, b) if ((table[j - 1] + table[j]) > 0).sum() > 1]


def _gain(exact: Exact, left: np.ndarray, right: np.ndarray) -> int:
    l, r = left.sum(axis=0), right.sum(axis=0)  # noqa: E741
    return exact.entropy(l + r) - exact.entropy(l) - exact.entropy(r)


def _pays(exact: Exact, left: np.ndarray, right: np.ndarray) -> bool:
    """gain > (log2(N - 1) + delta) / N, both sides times N."""
    whole = left + right
    rows = exact.rows(int(whole.sum()))
    k = int((whole > 0).sum())
    labels = math.log2(math.pow(3.0, k) - 2.0) if k < 600 else k * math.log2(3.0)
    before, in_left, in_right = (
        int((side > 0).sum()) * exact.bits(exact.entropy(side)) / exact.rows(int(side.sum()))
        for side in (whole, left, right)
    )
    delta = labels - (before - in_left - in_right)
    gain = exact.entropy(whole) - exact.entropy(left) - exact.entropy(right)
    return exact.bits(gain) > math.log2(max(rows - 1.0, 1.0)) + delta


def _between(low: float, high: float) -> float:
    """Midway, but low <= cut < high also where doubles are scarce, huge or tiny."""
    huge = abs(low) > 1e300 or abs(high) > 1e300
    middle = 0.5 * low + 0.5 * high if huge else 0.5 * (low + high)
    return middle if low <= middle < high else low
