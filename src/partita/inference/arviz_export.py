"""Traces of a run as ArviZ's InferenceData; ArviZ itself is an extra."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def to_arviz(infos: Mapping[str, Any]) -> Any:
    """InferenceData whose posterior group holds `infos`, arrays (chains, draws) or (chains, draws, ...) by name."""
    try:
        import arviz
    except ImportError as error:
        raise ImportError("ArviZ is not installed; install it with: pip install 'partita[arviz]'") from error
    arrays = {name: np.asarray(trace) for name, trace in infos.items()}
    for name, trace in arrays.items():
        if trace.ndim < 2:
            raise ValueError(f"infos[{name!r}] has the shape {trace.shape}; give an array (chains, draws)")
    if len({trace.shape[:2] for trace in arrays.values()}) > 1:
        shapes = {name: trace.shape[:2] for name, trace in arrays.items()}
        raise ValueError(f"infos differ in their numbers of chains and draws: {shapes}; cut them to a common length")
    return arviz.from_dict(posterior=arrays)
