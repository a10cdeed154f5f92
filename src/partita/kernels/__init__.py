"""The choice between the native kernels and their plain twins, made once: `BACKEND` is "native" or "reference"."""

from __future__ import annotations

import importlib
import os
import warnings

from . import contract

__all__ = ["BACKEND", "contract", "kernel"]


def _choose():
    asked = os.environ.get("PARTITA_BACKEND", "")
    if asked not in ("", "native", "reference"):
        raise ValueError(
            f"The environment variable PARTITA_BACKEND must be 'native' or 'reference', got {asked!r}. "
            "Without it the native kernels are taken where they are built."
        )
    if asked == "reference":
        from . import reference

        return "reference", reference
    try:
        # `from . import _native` would blame a circular import where the module is only not there
        _native = importlib.import_module(f"{__name__}._native")
    except ImportError as error:
        from . import reference

        warnings.warn(
            f"partita runs on its plain Python kernels, hundreds of times slower than the native ones ({error}). "
            "Install a C++17 compiler, then Partita again: pip install --force-reinstall --no-deps partita (in a "
            "checkout: make demo).",
            RuntimeWarning,
            stacklevel=3,
        )
        return "reference", reference
    return "native", _native


BACKEND, kernel = _choose()
