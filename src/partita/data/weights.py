"""How many times each row counts."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np


def read_weights(sample_weight: Any, n_rows: int, owner: str = "This estimator") -> np.ndarray:
    """(n,) float64, none negative and not all zero; ones for None, and one number may stand for all."""
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, Real) and not isinstance(sample_weight, bool | np.bool_):
        sample_weight = np.full(n_rows, float(sample_weight))
    try:
        weight = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{owner}: sample_weight must be numbers, one per row, got {sample_weight!r}. Pass an array of numbers."
        ) from error
    if weight.ndim != 1:
        raise ValueError(
            f"{owner}: sample_weight must be 1D, one number per row, got an array of shape {weight.shape}. Pass "
            f"{n_rows} numbers."
        )
    if len(weight) != n_rows:
        raise ValueError(
            f"{owner}: sample_weight has {len(weight)} entries but X has {n_rows} rows. Give one number per row."
        )
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"{owner}: sample_weight must be finite numbers >= 0, got {weight[row]} in row {row}. A weight says how "
            "often a row counts; 0 leaves it out."
        )
    if not weight.any():
        raise ValueError(f"{owner}: sample_weight is zero for all {n_rows} rows. Give some row a weight above 0.")
    return weight
