"""How many groups there are: in each class, and in all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class GroupNumbers:
    """Laws of the number of groups, each a number to its probability, in order.

    together    of all classes
    of_class    one for each class
    """

    together: dict[int, float]
    of_class: list[dict[int, float]]

    @classmethod
    def of_states(cls, used: np.ndarray, weight: Iterable[float]) -> GroupNumbers:
        """From the groups of every class in weighted states, `used` (states, classes)."""
        weight = list(weight)
        of_class = [number_of_groups(counts, weight) for counts in used.T.tolist()]
        return cls(number_of_groups(used.sum(axis=1).tolist(), weight), of_class)

    @classmethod
    def of_independent(cls, laws: Sequence[Sequence[Mapping[int, float]]], weight: Iterable[float]) -> GroupNumbers:
        """From weighted sets of laws, one law for each class; within a set the classes are independent."""
        weight = list(weight)
        of_class = [_mixed(of_sets, weight) for of_sets in zip(*laws, strict=True)]
        return cls(_mixed([_added(of_classes) for of_classes in laws], weight), of_class)


def number_of_groups(sizes: Iterable[int], weight: Iterable[float]) -> dict[int, float]:
    """Number of groups to probability, in order, from the number in each of several states and their weights."""
    found: dict[int, float] = {}
    for size, w in zip(sizes, weight, strict=True):
        found[size] = found.get(size, 0.0) + float(w)
    total = sum(found.values())
    return {size: found[size] / total for size in sorted(found)}


def _mixed(laws: Sequence[Mapping[int, float]], weight: Sequence[float]) -> dict[int, float]:
    shares = [(size, w * p) for law, w in zip(laws, weight, strict=True) for size, p in law.items()]
    return number_of_groups([size for size, _ in shares], [p for _, p in shares])


def _added(laws: Sequence[Mapping[int, float]]) -> dict[int, float]:
    """The law of the sum of independent numbers."""
    law: Mapping[int, float] = {0: 1.0}
    for other in laws:
        pairs = [(size + more, p * q) for size, p in law.items() for more, q in other.items()]
        law = number_of_groups([size for size, _ in pairs], [p for _, p in pairs])
    return dict(law)
