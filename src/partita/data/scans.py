"""Files that DuckDB reads: JSON, Excel, several Parquet files by a pattern."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

_JSON = (".json", ".jsonl", ".ndjson")
_GUESSED = ("DATE", "TIME", "UUID")  # beginnings of types that JSON does not have: DuckDB makes them of text


def read_scan(pd: Any, path: str, suffix: str, text: Collection[str]) -> Any:
    """The table as a pandas frame."""
    try:
        import duckdb
    except ImportError as error:
        raise ImportError(
            f'Reading {path!r} needs DuckDB; .csv, .tsv and .parquet do not. Install it: pip install "partita[cli]".'
        ) from error
    connection = duckdb.connect()
    try:
        source = _quoted(path)
        if suffix in _JSON:
            source = _as_written(connection, source, text)
        columns = connection.execute(f"SELECT * FROM {source}").fetchnumpy()
    except duckdb.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"{path!r} cannot be read by DuckDB ({reason}). Convert it to CSV or Parquet.") from error
    finally:
        connection.close()
    return pd.DataFrame({name: _nullable(pd, values) for name, values in columns.items()})


def _quoted(words: str) -> str:
    return "'" + words.replace("'", "''") + "'"


def _as_written(connection: Any, source: str, text: Collection[str]) -> str:
    """The same JSON with its texts as they are, also where they look like dates, and the fields of `text` as words."""
    found = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    types = {name: kind for name, kind, *_ in found}
    words = [name for name, kind in types.items() if kind.startswith(_GUESSED) or name in text]
    if not words:
        return source
    types.update(dict.fromkeys(words, "VARCHAR"))
    columns = ", ".join(f"{_quoted(name)}: {_quoted(kind)}" for name, kind in types.items())
    return f"read_json({source}, columns = {{{columns}}})"


def _nullable(pd: Any, values: Any) -> Any:
    """A column of DuckDB, masked where cells are missing, in a dtype that keeps whole numbers and truth values."""
    if not isinstance(values, np.ndarray):
        return values
    series = pd.Series(np.ma.getdata(values))
    if values.dtype.kind in "biu":
        series = series.astype({"b": "boolean", "i": "Int64", "u": "UInt64"}[values.dtype.kind])
    return series.mask(np.ma.getmaskarray(values))
