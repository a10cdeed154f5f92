"""Centre and scale of a real column, and the way there and back."""

from __future__ import annotations

import numpy as np

HEAVY = 20.0
"""From so many times the spread of the middle of a column on, its standard deviation tells of few cells only."""
FARTHEST = 1e7
"""Scaled cells are nearer than this, so that their squares can be added to those of the others and taken off again."""


def centre_and_scale(floats: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of the cells that are not NaN; (0, 1) where there are none, scale 1 without spread.

    Where a few cells alone make the standard deviation (a slip of the pen, a mark such as 999999, a very heavy tail),
    the middle of the column is scaled instead: else all other cells would be one point.

    Two passes over the values divided by the largest, so that neither a huge mean nor huge values spoil the squares.
    """
    values = floats[~np.isnan(floats)]
    if not len(values):
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low, 1.0
    largest = max(abs(low), abs(high))
    shrunk = values / largest
    mean = float(shrunk.mean())
    mean += float((shrunk - mean).mean())
    deviation = float(np.sqrt(np.mean((shrunk - mean) ** 2)))
    middle, width = _middle(shrunk)
    if deviation > HEAVY * width > 0:
        mean = middle
        deviation = max(width, float(np.abs(shrunk - middle).max()) / FARTHEST)
    scale = largest * deviation
    return largest * mean, scale if scale > 0 else 1.0


def _middle(values: np.ndarray) -> tuple[float, float]:
    """Median, and the standard deviation of a normal law with the same distance between the tenths at both ends; of the
    cells beside the median where these are one value, 0 where there is nothing beside it."""
    low, median, high = np.quantile(values, [0.1, 0.5, 0.9])
    if low == high:
        others = values[values != median]
        low, high = np.quantile(others, [0.1, 0.9]) if len(others) >= 10 else (0.0, 0.0)
    return float(median), float(high - low) / 2.563


def standardise(values: np.ndarray, centres: np.ndarray, scales: np.ndarray) -> None:
    """Replace the (n, k) values by (values - centre) / scale, in place."""
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(values)
        halves = 0.5 * values if np.abs(centres).max(initial=0.0) > 1e300 else None
        values -= centres
        values /= scales
        if halves is not None:  # the difference of two huge numbers may overflow where its quotient does not
            values[:] = np.where(np.isinf(values) & finite, (halves - 0.5 * centres) / (0.5 * scales), values)


def restore(scaled: np.ndarray, centre: float, scale: float) -> np.ndarray:
    """The inverse of `standardise` for one column; what a double cannot hold becomes the largest it can."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = centre + scale * scaled
        if not np.isfinite(values).all():  # by halves, the sum of two huge numbers of opposite sign does not overflow
            most = np.finfo(np.float64).max
            halves = np.clip(0.5 * centre + (0.5 * scale) * scaled, -0.5 * most, 0.5 * most)
            values = np.where(np.isfinite(values), values, 2 * halves)
    return values
