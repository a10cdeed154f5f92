"""Frames from files and into files: CSV and Parquet by pandas, everything else that DuckDB knows by DuckDB."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from partita.data.csv_files import read_csv, read_csv_parts
from partita.data.levels import value_of_text
from partita.data.scans import read_scan

_PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
_SEPARATORS = {".csv": ",", ".tsv": "\t"}


def need_pandas(what: str) -> Any:
    """pandas, or an error that names the extra."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError(f'{what} needs pandas. Install it: pip install "partita[frames]".') from error
    return pandas


def read_frame(path: str | os.PathLike[str], missing: Sequence[str] = (), text: Collection[str] = ()) -> Any:
    """The table in a file as a pandas frame.

    Whole numbers and truth values stay what they are where cells are missing (nullable dtypes), so that one hole does
    not turn a count into a real column. CSV (.csv, .tsv, also packed) and Parquet are read by pandas; others (JSON,
    Excel, several Parquet files by a pattern such as "part-*.parquet") by DuckDB, an extra.

    missing     marks of a missing cell beside the empty field and the usual NA, NaN, null; for example "?".
    text        names of columns whose fields are words even where they look like numbers. Whole numbers that are
                written with leading zeros (01234) are codes and stay words in any case.
    """
    pd = need_pandas(f"Reading {os.fspath(path)!r}")
    name = os.fspath(path)
    found = Path(name).exists()
    pattern = not found and any(mark in name for mark in "*?[")
    if not found and not pattern:
        raise FileNotFoundError(f"No file {name!r}. Check the path.")
    if Path(name).is_dir():
        raise ValueError(f"{name!r} is a folder. Give a file, or several by a pattern such as {name}/*.parquet.")
    suffix = suffix_of(name)
    if not suffix and not pattern:
        raise ValueError(f"{name!r}: a name without an ending does not say what the file is. Call it .csv, say.")
    if suffix in _SEPARATORS:
        read = read_csv_parts if pattern else read_csv
        frame = read(pd, name, _SEPARATORS[suffix], missing, text)
    elif suffix == ".parquet" and not pattern:
        frame = _read_parquet(pd, name)
    else:
        frame = read_scan(pd, name, suffix, text)
    if missing and suffix not in _SEPARATORS:
        frame = _without_marks(pd, frame, missing)
    if not len(frame.columns) or not len(frame):
        raise ValueError(f"{name!r} holds no table with at least one row and one column. Check the file.")
    return frame


def write_frame(frame: Any, path: str | os.PathLike[str]) -> None:
    """Write a pandas frame to a file of the form its suffix says: .csv, .tsv (also packed), .parquet, .json."""
    text = os.fspath(path)
    suffix = suffix_of(text)
    if suffix in _SEPARATORS:
        frame.to_csv(text, sep=_SEPARATORS[suffix], index=False)
    elif suffix == ".parquet":
        try:
            frame.to_parquet(text, index=False)
        except ImportError as error:
            raise ImportError(f'Writing {text!r} needs pyarrow. Install it: pip install "partita[frames]".') from error
    elif suffix == ".json":
        frame.to_json(text, orient="records", lines=True)
    else:
        raise _suffix_error(text, suffix)


def check_output(
    path: str | os.PathLike[str], table: bool = True, sources: Sequence[str | os.PathLike[str]] = ()
) -> None:
    """Raise where nothing could or should be written to `path`, so that a long computation does not end in vain.

    table       whether `write_frame` is to write it, which knows a few suffixes only.
    sources     files that the computation reads, which are never written over.
    """
    text = os.fspath(path)
    suffix, folder = suffix_of(text), Path(text).absolute().parent
    for source in sources:
        if Path(text).exists() and Path(source).exists() and os.path.samefile(text, source):
            raise ValueError(f"Cannot write {text!r}: it is read here, and is not written over. Choose another path.")
    if table and suffix not in (*_SEPARATORS, ".parquet", ".json"):
        raise _suffix_error(text, suffix)
    if Path(text).is_dir():
        raise ValueError(f"Cannot write {text!r}: it is a folder. Give the path of a file.")
    if not folder.is_dir():
        raise ValueError(f"Cannot write {text!r}: there is no folder {str(folder)!r}. Create it, or choose another.")
    if not os.access(Path(text) if Path(text).exists() else folder, os.W_OK):
        raise ValueError(f"Cannot write {text!r}: no permission. Choose another path.")


def _suffix_error(path: str, suffix: str) -> ValueError:
    return ValueError(f"Cannot write {path!r}: the suffix {suffix!r} is none of .csv, .tsv, .parquet, .json.")


def make_frame(columns: dict[str, Any]) -> Any:
    """A pandas frame of named columns."""
    return need_pandas("Writing a table").DataFrame(columns)


def join_columns(left: Any, right: Any) -> Any:
    """The columns of both frames side by side, rows in the order they have."""
    pd = need_pandas("Writing a table")
    return pd.concat([left.reset_index(drop=True), right.reset_index(drop=True)], axis=1)


def suffix_of(path: str) -> str:
    """The suffix that says the form: "table.csv.gz" gives ".csv"."""
    name = Path(path)
    if name.suffix.lower() in _PACKED:
        name = name.with_suffix("")
    return name.suffix.lower()


def _without_marks(pd: Any, frame: Any, marks: Sequence[str]) -> Any:
    """The frame with cells that equal a mark missing; among numbers, cells that equal the number it spells."""
    numbers = [value for value in map(value_of_text, marks) if value is not None and not isinstance(value, bool)]
    columns = []
    for _, series in frame.items():
        numeric = pd.api.types.is_numeric_dtype(series.dtype) and not pd.api.types.is_bool_dtype(series.dtype)
        marked = series.isin(numbers if numeric else list(marks)).fillna(False).to_numpy(dtype=bool)
        columns.append(series.mask(marked) if marked.any() else series)
    return pd.concat(columns, axis=1) if columns else frame


def _read_parquet(pd: Any, path: str) -> Any:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return read_scan(pd, path, ".parquet", ())
    try:
        return pd.read_parquet(path, dtype_backend="numpy_nullable")
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{path!r} cannot be read as Parquet ({' '.join(str(error).split())}). Check the file."
        ) from error
