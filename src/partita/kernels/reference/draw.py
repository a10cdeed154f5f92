"""Random numbers come in from outside: an index drawn by one given uniform, and a stream counted from a seed."""

from __future__ import annotations

import numpy as np

_WORD = 2**64 - 1


def pick(log_weight: np.ndarray, uniform: float, first: int | None = None) -> int:
    """The index where the running sum of exp(log_weight) passes `uniform` times the total; never one of weight zero.

    `first`, where given, comes before all others in the sum.
    """
    if first is not None:
        order = np.append(first, np.delete(np.arange(len(log_weight)), first))
        return int(order[pick(log_weight[order], uniform)])
    weight = np.exp(log_weight - np.max(log_weight))
    reached = np.cumsum(weight)
    k = int(np.searchsorted(reached, uniform * reached[-1], side="right"))
    return min(k, int(np.flatnonzero(weight)[-1]))


class Stream:
    """SplitMix64 (Steele, Lea and Flood 2014): 64 random bits for each step of a counter."""

    def __init__(self, seed: int):
        self.state = int(seed) & _WORD

    def next(self) -> int:
        self.state = (self.state + 0x9E3779B97F4A7C15) & _WORD
        x = self.state
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _WORD
        return x ^ (x >> 31)

    def uniform(self) -> float:
        """In [0, 1), from the upper 53 bits."""
        return (self.next() >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        """An integer in 0 .. n - 1."""
        return int(self.uniform() * n)
