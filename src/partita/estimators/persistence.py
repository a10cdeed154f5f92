"""`save` and `load`: a model in one file of arrays and JSON, with no pickle in it and no code run when it is read."""

from __future__ import annotations

import os
from typing import Any

from ..data.archive import read_archive, write_archive
from ..data.archive_tree import ArchiveError
from ..data.files import check_output
from .packing import PUBLIC, is_public, pack_estimator, unpack_estimator

KIND = "model"


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model to the file `path`, which is replaced only when the new one is whole.

    Everything is stored: parameters, what was learnt, and of a stream (`partial_fit`) also its random numbers, so that
    the loaded model predicts and goes on bit for bit as this one.

    Parameters
    ----------
    model : a public estimator of partita, fitted or not.
    path : the file; any name will do.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import partita
    >>> X = np.array([[0.0, np.nan], [0, 1], [1, 0], [1, 1]])
    >>> model = partita.AClass(random_state=0).fit(X, list("aabb"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     partita.save(model, os.path.join(folder, "model.partita"))
    ...     again = partita.load(os.path.join(folder, "model.partita"))
    >>> bool((again.predict_proba(X) == model.predict_proba(X)).all())
    True
    """
    if not is_public(model):
        raise ValueError(
            f"save: model must be one of partita's estimators ({', '.join(PUBLIC)}), got {model!r} "
            f"({type(model).__module__}.{type(model).__qualname__}). Pass the estimator itself, not a class, a "
            "subclass or a pipeline around it."
        )
    _check_path(path, "save")
    check_output(path, table=False)
    write_archive(path, KIND, pack_estimator(model))


def _check_path(path: Any, who: str) -> None:
    # Python would take a number for an open file's and read whatever that is.
    if not isinstance(path, str | os.PathLike):
        raise ValueError(f"{who}: path must be text or a path, got {path!r} ({type(path).__name__}). Pass a file name.")


def load(path: str | os.PathLike[str]) -> Any:
    """The model that `save` wrote to `path`.

    A file that is damaged, foreign, of another kind or written by a newer version is a ValueError that says so.
    """
    _check_path(path, "load")
    tree = read_archive(path, KIND)
    try:
        return unpack_estimator(tree)
    except ArchiveError as error:
        raise ArchiveError(f"{os.fspath(path)!r} cannot be loaded: {error}") from error
    except (AttributeError, AssertionError, IndexError, KeyError, TypeError, ValueError) as error:
        raise ArchiveError(
            f"{os.fspath(path)!r} cannot be loaded: its content is not that of a model of this version of partita "
            f"({type(error).__name__}: {error}); load it with the version that wrote it, or fit the model again"
        ) from error
