"""Whether loaded arrays fit together: kernels trust what they are given, so a damaged or made-up file stops here."""

from __future__ import annotations

import numpy as np

from ..data.schema import Schema
from ..kernels.contract import CATEGORICAL, COUNT
from .lens import Lens


class Unsound(ValueError):
    """Arrays that do not fit together."""


def need(holds: bool, what: str) -> None:
    if not holds:
        raise Unsound(f"its arrays do not fit together ({what})")


def need_array(array: np.ndarray, name: str, shape: tuple[int, ...], dtype: type = np.float64) -> None:
    fits = isinstance(array, np.ndarray) and array.shape == shape and array.dtype == dtype and array.flags.c_contiguous
    need(fits, f"{name} should be {dtype.__name__} {shape}")


def need_within(array: np.ndarray, name: str, low: int, high: int) -> None:
    need(not array.size or (int(array.min()) >= low and int(array.max()) <= high), f"{name} outside {low} .. {high}")


def need_numbers(array: np.ndarray, name: str, shape: tuple[int, ...]) -> None:
    need_array(array, name, shape)
    need(bool(np.isfinite(array).all()), f"{name} should be finite")


def need_logs(array: np.ndarray, name: str, shape: tuple[int, ...]) -> None:
    need_array(array, name, shape)
    need(bool((array < np.inf).all()), f"{name} should be logarithms")  # of 0 too; NaN is not less


def need_shares(array: np.ndarray, name: str, n: int) -> None:
    need_numbers(array, name, (n,))
    need(bool((array >= 0).all()) and abs(float(array.sum()) - 1.0) < 1e-6, f"{name} should sum to 1")


def check_lens(lens: Lens, schema: Schema) -> None:
    for sight in lens.sights:
        need(0 <= sight.column < schema.n_columns, "a column that the table does not have")
        if sight.what == "codes":
            need(0 <= sight.source < len(schema.discrete), "a column of codes that the table does not have")
            need(sight.levels == schema.n_levels[sight.source], "levels of a column")
        elif sight.what == "levels":
            need(len(sight.values) <= sight.levels, "levels of a column")
        width = sight.levels if sight.kind == CATEGORICAL else 1 if sight.kind == COUNT else len(sight.base)
        need(len(sight.base) == width, "base of a column")
