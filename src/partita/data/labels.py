"""Class labels as codes: 0, 1, ... in the order of the classes, -1 where the label is missing."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from partita.data.cells import Cells, Level, read_array, read_objects, read_pandas, read_polars
from partita.data.kinds import find_levels
from partita.data.label_marks import check_mark_fits, read_mark, without_marked
from partita.data.levels import codes_of
from partita.data.telling import tell

_WHERE = "y"


def encode_labels(
    y: Any,
    missing_label: Any = None,
    classes: Any = None,
    *,
    n_rows: int | None = None,
    owner: str = "This estimator",
) -> tuple[np.ndarray, np.ndarray]:
    """Codes and classes of the labels y.

    missing_label   one more mark of a missing label, beside None, NaN and NA, which always are.
    classes         the classes allowed; without it, those that occur in y.
    n_rows          the number of rows of X, where y must have as many labels.

    Returns (codes, classes): codes (n,) int32, -1 = missing; classes sorted: `classes[codes]` gives labels back.
    """
    cells, kept = _read(y, owner)
    if n_rows is not None and len(cells.values) != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[n_rows, len(cells.values)]}. "
            "Give one label per row; a label that is not known may be None."
        )
    mark = read_mark(missing_label, owner)
    check_mark_fits(cells, mark)
    cells = without_marked(cells, mark)
    _check_discrete(cells)
    if classes is None:
        levels = find_classes(cells)
        if not levels:
            raise ValueError(
                f"y holds no observed label, so there is no class to learn: all {len(cells.values)} are missing. "
                "Give at least one label."
            )
        return codes_of(cells, levels), _class_array(levels, kept)
    known, known_dtype = _read(classes, owner, "classes")
    if without_marked(known, mark).missing.any():
        raise ValueError(f"classes holds a missing mark: {list(np.asarray(classes, dtype=object))!r}. Leave it out.")
    _check_discrete(known, "classes")
    levels = find_classes(known)
    codes = codes_of(cells, levels)
    strange = (codes < 0) & ~cells.missing
    if strange.any():
        row = int(np.argmax(strange))
        raise ValueError(
            f"y holds a label that is not in classes: {_value(cells, row)!r} in row {row}; the classes are "
            f"{', '.join(map(repr, levels[:20]))}{', ...' if len(levels) > 20 else ''}. Name all that will come by "
            "classes=[...] in the first call of partial_fit: none can be added later."
        )
    return codes, _class_array(levels, known_dtype)


def check_all_labelled(y: Any, missing_label: Any, owner: str) -> None:
    """Raise where an answer is compared with a label that is not there."""
    gone = without_marked(_read(y, owner)[0], read_mark(missing_label, owner)).missing
    if gone.any():
        raise ValueError(
            f"{owner}.score: {gone.sum()} of {len(gone)} labels in y are missing, the first in row {np.argmax(gone)}. "
            "Pass the rows that have a label only."
        )


def check_same_classes(classes: Any, known: np.ndarray, owner: str) -> None:
    """Raise where the classes given with later rows are not those that the first rows fixed."""
    given = _read(classes, owner, "classes")[0]
    if given.missing.any() or list(find_classes(given)) != known.tolist():
        raise ValueError(
            f"{owner}: classes={list(np.asarray(classes, dtype=object))!r} is not the same as on the first call to "
            f"partial_fit, was: {known.tolist()!r}. Leave classes out of later calls, or begin anew with clone(model)."
        )


def find_classes(cells: Cells) -> tuple[Level, ...]:
    """The distinct labels that occur, sorted; categories too, as scikit-learn sorts classes."""
    if cells.origin == "category":
        return tuple(sorted(find_levels(cells), key=lambda level: (isinstance(level, str), level)))
    if cells.numeric:
        return tuple(np.unique(cells.values[~cells.missing]).tolist())
    return find_levels(cells)


def _read(y: Any, owner: str, where: str = _WHERE) -> tuple[Cells, np.dtype | None]:
    """The labels as cells, and the dtype that their classes should keep (None: whatever suits)."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None. Pass one label per row.")
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if (pandas is not None and isinstance(y, pandas.DataFrame)) or (
        polars is not None and isinstance(y, polars.DataFrame)
    ):
        _check_shape(y.shape)
        y = y.iloc[:, 0] if hasattr(y, "iloc") else y.to_series(0)
    if pandas is not None and isinstance(y, pandas.Series | pandas.Index | pandas.api.extensions.ExtensionArray):
        return read_pandas(pandas.Series(y), where), np.dtype(object)
    if polars is not None and isinstance(y, polars.Series):
        return read_polars(y, where), np.dtype(object)
    array = np.asarray(y)
    if isinstance(y, list | tuple) and array.dtype.kind not in "biufc":
        array = _objects_of(y)
        _check_shape(array.shape)
        return read_objects(array.ravel(), where), None
    _check_shape(array.shape)
    return read_array(array.ravel(), where), array.dtype if array.dtype.kind in "biufO" else None


def _objects_of(y: Any) -> np.ndarray:
    try:
        return np.array(y, dtype=object)
    except ValueError as error:
        raise ValueError("y should be a 1d array, got rows of different lengths instead.") from error


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) == 2 and shape[1] == 1:
        tell(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples,), "
            "for example using ravel().",
            DataConversionWarning,
        )
    elif len(shape) != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {shape} instead. Pass one label per row.")


def _check_discrete(cells: Cells, where: str = _WHERE) -> None:
    texts = {isinstance(level, str) for level in find_levels(cells)} if cells.origin == "category" else {True}
    if cells.origin == "mixed" or len(texts) == 2:
        raise ValueError(
            f"Unknown label type: {where} mixes text and numbers. Convert the labels to one type; if one of them is "
            "the mark of a missing label, pass it as missing_label."
        )
    if cells.origin == "float":
        floats = cells.values[~cells.missing]
        if np.isinf(floats).any():
            raise ValueError(f"Input {where} contains infinity. A label is a class; write unknown ones as NaN or None.")
        if (floats != np.floor(floats)).any():
            raise ValueError(
                "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete "
                "classes on a regression target with continuous values. Convert the labels to text or whole numbers."
            )


def _class_array(levels: tuple[Level, ...], dtype: np.dtype | None) -> np.ndarray:
    """The classes in the dtype the labels came in; numbers in an object array become plain numbers."""
    if dtype is None or (dtype.kind == "O" and not isinstance(levels[0], str)):
        return np.array(levels)
    return np.array(levels, dtype=dtype)


def _value(cells: Cells, row: int) -> Any:
    value = cells.values[row]
    return cells.categories[value] if cells.origin == "category" else value.item() if cells.numeric else value
