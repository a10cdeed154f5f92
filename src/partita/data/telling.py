"""Warnings that point at the caller's line: the first one outside this library and the estimators' frameworks.

How deep the library is below that line depends on the estimator, on a pipeline or a search around it and on what was
called, so the depth is never counted by hand: every warning of the library is given by `tell`.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from types import FrameType

PACKAGE = Path(__file__).resolve().parents[1]
FRAMEWORKS = ("sklearn", "joblib", "threading", "concurrent", "contextlib", "runpy", "importlib")


def tell(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of something at the line that called the library, once for each such line as Python's filters do.

    The registry is that of the caller's module, so `warnings.filterwarnings(module=...)` speaks of the caller too."""
    frame = _calling(sys._getframe(1))
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    module = frame.f_globals.get("__name__") or "<string>"
    warnings.warn_explicit(message, category, frame.f_code.co_filename, frame.f_lineno, module, registry)


def _calling(frame: FrameType) -> FrameType:
    """The nearest frame of somebody else; where there is none, as on the command line, the outermost of our own."""
    ours: FrameType = frame
    here: FrameType | None = frame
    while here is not None:
        if _is_own(here):
            ours = here
        elif not _is_framework(here):
            return here
        here = here.f_back
    return ours


def _is_own(frame: FrameType) -> bool:
    """By the file, not the module's name: a test or a script may stand in a package of the same name."""
    return PACKAGE in Path(frame.f_code.co_filename).parents


def _is_framework(frame: FrameType) -> bool:
    name = str(frame.f_globals.get("__name__") or "")
    return name.partition(".")[0] in FRAMEWORKS or frame.f_code.co_filename.startswith("<frozen")
