"""Resampling of particles: how many copies each one leaves, n times its share on average (Douc and Cappé 2005)."""

from __future__ import annotations

import numpy as np

from ..contract import RESIDUAL, STRATIFIED, SYSTEMATIC
from .draw import Stream


def resample(weight: np.ndarray, scheme: int, first: float, parents: np.ndarray) -> None:
    """Write the n parents of the next particles; `first` in [0, 1) is the random number (systematic) or seeds them."""
    n, stream = len(weight), Stream(int(first * 2.0**53))
    share, kept = weight, np.zeros(0, int)
    if scheme == RESIDUAL:  # whole copies first, the rest by chance
        expected = n * weight / np.cumsum(weight)[-1]
        kept = np.repeat(np.arange(n), np.floor(expected).astype(int))
        share = expected - np.floor(expected)
    need = n - len(kept)
    if scheme == SYSTEMATIC:
        points = (np.arange(need) + first) / need
    elif scheme == STRATIFIED:
        points = (np.arange(need) + np.array([stream.uniform() for _ in range(need)])) / need
    else:
        points = np.sort([stream.uniform() for _ in range(need)])
    reached = np.cumsum(share)
    drawn = np.searchsorted(reached, points * reached[-1], side="right")
    parents[:] = np.concatenate([kept, np.minimum(drawn, n - 1)])
