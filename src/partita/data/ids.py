"""Names of rows and columns of a matrix: anything hashable, kept as given and given back."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from partita.data.cells import absent_types, object_array

_TYPED = "iuUSMm"  # dtype kinds whose values NumPy sorts and compares by itself


@dataclass(frozen=True, eq=False)
class Ids:
    """The ids of one side.

    labels      (n,) array, of a dtype of numbers, dates or text, or of objects; no value twice.
    side        "row" or "column", for messages.
    """

    labels: np.ndarray
    side: str

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def counted(self) -> bool:
        """Whether the ids are 0, 1, 2, ..."""
        return self.labels.dtype.kind in "iu" and bool((self.labels == np.arange(len(self))).all())

    @cached_property
    def _ascending(self) -> bool:
        return self.labels.dtype.kind in _TYPED and bool((self.labels[1:] > self.labels[:-1]).all())

    @cached_property
    def _place(self) -> dict[Any, int]:
        return {label: k for k, label in enumerate(listed(self.labels))}

    def codes(self, asked: Any) -> np.ndarray:
        """(m,) int64 place of every id that is asked for, -1 where it is not among these."""
        labels = as_labels(asked, self.side)
        if self.labels.dtype.kind in "Mm" and labels.dtype.kind not in "Mm" and len(labels):
            labels = _as_times(labels, self.labels.dtype)
        numbers = self.labels.dtype.kind in "iu" and labels.dtype.kind in "iu"
        if numbers and self.counted:
            return np.where((labels >= 0) & (labels < len(self)), labels, -1).astype(np.int64)
        if self._ascending and (numbers or self.labels.dtype.kind == labels.dtype.kind):
            place = np.searchsorted(self.labels, labels)
            if not len(self):
                return np.full(len(labels), -1, np.int64)
            found = self.labels[np.minimum(place, len(self) - 1)] == labels
            return np.where(found, place, -1).astype(np.int64)
        lookup = self._place
        try:
            return np.fromiter((lookup.get(label, -1) for label in listed(labels)), np.int64, len(labels))
        except TypeError as error:
            raise _unhashable(self.side, error) from error

    def extended(self, labels: np.ndarray) -> Ids:
        """These ids and, after them, those of `labels` that are not among them."""
        unknown = self.codes(labels) < 0
        if not unknown.any():
            return self
        return Ids(_joined(self.labels, distinct(labels[unknown], self.side)), self.side)


def as_labels(ids: Any, side: str) -> np.ndarray:
    """A 1-D array of the ids as given: one id, or a sequence, array or series of them."""
    if hasattr(ids, "to_numpy") and not isinstance(ids, np.ndarray):
        ids = ids.to_numpy()
    if isinstance(ids, np.ndarray) and ids.ndim == 0:
        ids = [ids[()]]
    if isinstance(ids, str | bytes | np.generic) or not hasattr(ids, "__iter__"):
        ids = [ids]
    if isinstance(ids, np.ndarray):
        if ids.ndim != 1:
            raise ValueError(
                f"{side}s: expected one id per entry, got an array of shape {ids.shape}. Pass a one-dimensional array."
            )
        return ids if ids.dtype.kind in _TYPED else _narrow(ids)
    if isinstance(ids, range):
        return np.arange(ids.start, ids.stop, ids.step)
    return _narrow(object_array(ids))


def _as_times(labels: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Labels of another kind as dates or spans of time; what is none becomes NaT, which equals no id."""
    out = np.full(len(labels), "NaT", dtype=dtype)
    for k, label in enumerate(labels.tolist()):
        if isinstance(label, bool | int | float):  # NumPy would count them from 1970
            continue
        with contextlib.suppress(TypeError, ValueError):
            out[k] = label
    return out


def _narrow(labels: np.ndarray) -> np.ndarray:
    """Objects that are all whole numbers as an array of numbers; others as they are."""
    if labels.dtype.kind != "O":
        return object_array(labels.tolist())
    kinds = set(map(type, labels.tolist()))
    if kinds and all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        try:
            return np.array(labels.tolist(), dtype=np.int64)
        except OverflowError:  # beyond 64 bits
            return labels
    return labels


def known(labels: np.ndarray, side: str) -> np.ndarray:
    """The labels, refused where one is missing: an entry must be of some row and some column."""
    if labels.dtype.kind in "iuUS":
        return labels
    if labels.dtype.kind in "Mm":
        missing = np.isnat(labels)
    else:
        absent = absent_types()
        missing = np.fromiter((type(v) in absent or v != v for v in labels), bool, len(labels))
    if missing.any():
        where = int(np.argmax(missing))
        raise ValueError(
            f"{side}s: the id of entry {where} is missing ({shown(labels[where])}). Give each a {side}, or "
            "leave the entry out."
        )
    return labels


def distinct(labels: np.ndarray, side: str) -> np.ndarray:
    """Every label once: sorted where they can be compared, else in the order in which they first appear."""
    if labels.dtype.kind in _TYPED:
        return np.unique(labels)
    try:
        found = list(dict.fromkeys(labels.tolist()))
    except TypeError as error:
        raise _unhashable(side, error) from error
    try:
        found = sorted(found)
    except TypeError:  # words and numbers mixed, say
        pass
    return _narrow(object_array(found))


def learn_ids(labels: np.ndarray, side: str) -> tuple[Ids, np.ndarray]:
    """The distinct ids, and the place of each label among them."""
    labels = known(labels, side)
    if labels.dtype.kind in "iu" and len(labels) and int(labels.min()) >= 0 and int(labels.max()) < 4 * len(labels):
        seen = np.zeros(int(labels.max()) + 1, bool)  # without sorting, for many entries
        seen[labels] = True
        return Ids(np.flatnonzero(seen), side), (np.cumsum(seen) - 1)[labels]
    if labels.dtype.kind in _TYPED:
        found, place = np.unique(labels, return_inverse=True)
        return Ids(found, side), place.astype(np.int64)
    ids = Ids(distinct(labels, side), side)
    return ids, ids.codes(labels)


def given_ids(labels: Any, side: str, name: str) -> Ids:
    """The ids that a caller lists himself, in that order; `name` is the parameter's."""
    array = known(as_labels(labels, side), side)
    if len(distinct(array, side)) < len(array):
        seen: set[Any] = set()
        twice = next(label for label in listed(array) if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise ValueError(f"{name}: the id {shown(twice)} is listed twice. List every {side} once.")
    return Ids(array, side)


def shown(label: Any) -> str:
    """An id as a message shows it."""
    return repr(label.item() if isinstance(label, np.generic) and label.dtype.kind in "iufbUS" else label)


def _joined(first: np.ndarray, more: np.ndarray) -> np.ndarray:
    if first.dtype.kind == more.dtype.kind and first.dtype.kind in _TYPED:
        return np.concatenate([first, more])
    return _narrow(object_array([*listed(first), *listed(more)]))


def listed(labels: np.ndarray) -> list[Any]:
    """The labels as Python's own values."""
    # tolist() would turn dates of nanoseconds into numbers
    return list(labels) if labels.dtype.kind in "Mm" else labels.tolist()


def _unhashable(side: str, error: Exception) -> ValueError:
    return ValueError(f"{side}s: every id must be hashable ({error}). Use numbers, text or tuples.")
