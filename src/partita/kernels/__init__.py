"""The choice between the native kernels and their plain twins, made once: `BACKEND` is "native" or "reference"."""

from __future__ import annotations

import os
import warnings

from . import contract

__all__ = ["BACKEND", "contract", "kernel"]


def _choose():
    if os.environ.get("PARTITA_BACKEND") == "reference":
        from . import reference

        return "reference", reference
    try:
        from . import _native
    except ImportError as error:
        from . import reference

        warnings.warn(
            f"partita runs on its plain Python kernels, hundreds of times slower than the native ones ({error}). "
            "Install a C++17 compiler and reinstall: pip install --force-reinstall --no-deps partita",
            RuntimeWarning,
            stacklevel=3,
        )
        return "reference", reference
    return "native", _native


BACKEND, kernel = _choose()
