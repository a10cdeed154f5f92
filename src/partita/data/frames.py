"""Results with named columns: a pandas frame where pandas is installed, else a NumPy structured array."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def make_frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """The columns, all of one length, as a frame; `frame["name"]` works on either form."""
    if importlib.util.find_spec("pandas") is not None:
        import pandas as pd

        return pd.DataFrame(dict(columns))
    arrays = {name: _array(values) for name, values in columns.items()}
    length = len(next(iter(arrays.values())))
    out = np.empty(length, dtype=[(name, array.dtype) for name, array in arrays.items()])
    for name, array in arrays.items():
        out[name] = array
    return out


def _array(values: Sequence[Any]) -> np.ndarray:
    if any(isinstance(value, tuple) for value in values):
        array = np.empty(len(values), dtype=object)
        array[:] = list(values)
        return array
    return np.asarray(values)
