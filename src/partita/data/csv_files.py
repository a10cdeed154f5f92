"""CSV files as pandas frames: whole numbers and truth values keep their type beside holes, codes stay words."""

from __future__ import annotations

import glob
import io
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

_OTHER_SEPARATORS = (";", "\t", "|", ",")
Source = Callable[[], Any]  # what pandas is to read: a path, or text from its beginning


def read_csv(pd: Any, path: str, separator: str, missing: Sequence[str], text: Collection[str]) -> Any:
    """The table in one file."""
    return _said_of(pd, path, lambda: _read_fields(pd, path, lambda: path, separator, missing, text))


def read_csv_parts(pd: Any, pattern: str, separator: str, missing: Sequence[str], text: Collection[str]) -> Any:
    """The table whose rows stand in several files, in the order of their names. Their fields are put together before
    anything is made of them: what a column holds depends on all files.
    """
    paths = sorted(glob.glob(pattern, recursive=True))
    if not paths:
        raise FileNotFoundError(f"No file {pattern!r}. Check the path and the pattern.")
    parts = [_said_of(pd, path, partial(_fields_as_text, pd, path, separator)) for path in paths]
    for path, part in zip(paths, parts, strict=True):
        if set(part.columns) != set(parts[0].columns):
            other = sorted(set(part.columns) ^ set(parts[0].columns))
            raise ValueError(
                f"{paths[0]!r} and {path!r} have different columns ({', '.join(map(repr, other))} in one only). "
                "Files read together hold rows of one table: name them alike, or read them apart."
            )
    whole = pd.concat(parts, ignore_index=True).to_csv(sep=separator, index=False)
    return _read_fields(pd, pattern, lambda: io.StringIO(whole), separator, missing, text)


def _said_of(pd: Any, path: str, read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{path!r} cannot be read as a table ({reason}). Check that it is UTF-8 text with a header."
        ) from error


def _fields_as_text(pd: Any, path: str, separator: str) -> Any:
    _check_header(_first_fields(pd, path, separator), path, separator)
    fields = pd.read_csv(path, sep=separator, dtype=str, keep_default_na=False, na_filter=False)
    _check_width(pd, fields, path, separator)
    return fields


def _read_fields(
    pd: Any, name: str, source: Source, separator: str, missing: Sequence[str], text: Collection[str]
) -> Any:
    def read(words: Collection[str], **options: Any) -> Any:
        return pd.read_csv(
            source(), sep=separator, na_values=list(missing), dtype_backend="numpy_nullable",
            dtype=dict.fromkeys(words, "string"), **_to_the_last_digit(pd), **options,
        )  # fmt: skip

    head = _first_fields(pd, source(), separator)
    _check_header(head, name, separator)
    frame = read([column for column in head if column in text])
    _check_width(pd, frame, name, separator)
    whole = [column for column in frame.columns if pd.api.types.is_integer_dtype(frame[column].dtype)]
    if whole:
        as_words = read(whole, usecols=whole)
        for column in whole:
            if as_words[column].str.match(r"[+-]?0\d").any():
                frame[column] = as_words[column]
    return frame


def _to_the_last_digit(pd: Any) -> dict[str, str]:
    """What pandas before 3.1 must be told; later ones read numbers so, and do not want to be told."""
    version = tuple(int(part) for part in pd.__version__.split(".")[:2])
    return {"float_precision": "round_trip"} if version < (3, 1) else {}


def _first_fields(pd: Any, source: Any, separator: str) -> list[str]:
    return pd.read_csv(source, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False).iloc[0].tolist()


def _check_width(pd: Any, frame: Any, path: str, separator: str) -> None:
    if isinstance(frame.index, pd.RangeIndex):
        return
    n = len(frame.columns)  # pandas takes the first fields of longer rows for names of rows
    raise ValueError(
        f"{path!r}: the header names {n} columns but the first row holds {n + frame.index.nlevels} fields. Name "
        f"every column, remove a {separator!r} at the end of rows, or quote fields that contain one."
    )


def _check_header(names: Sequence[str], path: str, separator: str) -> None:
    """Raise where a name occurs twice, or where the one name there is looks like several with another separator."""
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise ValueError(
            f"{path!r}: the header names {', '.join(map(repr, twice))} more than once. Give every column its own name."
        )
    others = [mark for mark in _OTHER_SEPARATORS if mark != separator and mark in names[0]]
    if len(names) == 1 and others:
        raise ValueError(
            f"{path!r}: read with {separator!r} between fields the table has one column, {names[0]!r}, whose name "
            f"holds {others[0]!r}. Write it with {separator!r} (tabs: call it .tsv), or rename the column."
        )
