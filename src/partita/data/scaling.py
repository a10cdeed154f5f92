"""Centre and scale of a real column, and the way there and back."""

from __future__ import annotations

import numpy as np


def centre_and_scale(floats: np.ndarray) -> tuple[float, float]:
    """Mean and standard deviation of the cells that are not NaN; (0, 1) where there are none, scale 1 without spread.

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
    scale = largest * deviation
    return largest * mean, scale if scale > 0 else 1.0


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
