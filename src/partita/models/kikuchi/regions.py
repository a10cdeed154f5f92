"""Families of regions: closure under subsets, counting numbers, degrees of freedom, the parsimonious prior.

A region is a set of attributes together with the class, written as the sorted tuple of attribute positions; () is the
class alone. With D the family of all subsets of the chosen regions, the counting numbers of the cluster variation
method [1] are the Moebius numbers of D:

    c_T = sum over S in D, S containing T, of (-1)^(|S| - |T|),

so that the Kikuchi product (eq. 1) is the product over S in D of the potentials phi_S of eq. 2, and eq. 7 is a sum
over D.

[1] A. Jakulin and I. Rish, Kikuchi-Bayes: Markov networks for classification, IBM research report.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

import numpy as np

Region = tuple[int, ...]


def subsets(region: Region) -> list[Region]:
    """All subsets of a region, small ones first, the region itself last."""
    return [s for size in range(len(region) + 1) for s in itertools.combinations(region, size)]


def closure(regions: Iterable[Region]) -> set[Region]:
    """D: the regions and all their subsets, () among them."""
    return {()}.union(*(subsets(tuple(sorted(r))) for r in regions))


def maximal(regions: Iterable[Region]) -> list[Region]:
    """The regions that lie in no other, sorted by size and then by attributes."""
    sets: set[frozenset[int]] = {frozenset(r) for r in regions} | {frozenset()}
    tops = [s for s in sets if not any(s < t for t in sets)]
    return sorted((tuple(sorted(s)) for s in tops), key=lambda r: (len(r), r))


def counting_numbers(regions: Iterable[Region]) -> dict[Region, int]:
    """Counting numbers that are not zero, by the Moebius form, of the region graph of the given regions.

    One potential phi_S for each S in D; each holds log P(x_T, y) with sign (-1)^(|S| - |T|) for every T in S.
    """
    numbers: dict[Region, int] = {}
    for s in closure(regions):
        for t in subsets(s):
            numbers[t] = numbers.get(t, 0) + (-1) ** (len(s) - len(t))
    return _ordered(numbers)


def algorithm_one(regions: Iterable[Region]) -> dict[Region, int]:
    """Counting numbers by Algorithm 1 of [1]: the slow twin of `counting_numbers`.

    Unlike [1], whose loops leave the order open, all intersections are found first and then counted from large to
    small, so that every region that contains an intersection has its number before it.
    """
    closed = {frozenset(r) for r in maximal(regions)}
    while True:
        found = {a & b for a in closed for b in closed} - closed
        if not found:
            break
        closed |= found
    numbers: dict[frozenset[int], int] = {}
    for s in sorted(closed, key=len, reverse=True):
        numbers[s] = 1 - sum(c for t, c in numbers.items() if s < t)
    return _ordered({tuple(sorted(s)): c for s, c in numbers.items()})


def _ordered(numbers: dict[Region, int]) -> dict[Region, int]:
    return {r: numbers[r] for r in sorted(numbers, key=lambda r: (len(r), r)) if numbers[r] != 0}


def added_freedom(levels: np.ndarray, n_classes: int) -> np.ndarray:
    """Degrees of freedom of potentials phi_S: (|Y| - 1) times the product of (|X_i| - 1) over S, whose levels |X_i| are
    along the last axis."""
    return (n_classes - 1) * (np.asarray(levels, np.float64) - 1).prod(axis=-1)


def freedom(regions: Iterable[Region], levels: Sequence[int], n_classes: int) -> float:
    """Conditional degrees of freedom of the model (eq. 7), as a sum over D."""
    return sum(float(added_freedom(np.array([levels[i] for i in s]), n_classes)) for s in closure(regions))


def log_prior(df: float, n_rows: float) -> float:
    """log P(M) of eq. 6 with m = n_rows: minus the AICc penalty. From df = m - 1 on the prior is 0: unlike eq. 6 as it
    stands, whose sign would turn there."""
    return -math.inf if df >= n_rows - 1 else -n_rows * df / (n_rows - df - 1)
