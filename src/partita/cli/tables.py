"""Tables as the commands take them from files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from partita.data.archive import ArchiveError, archive_kind
from partita.data.files import check_output, read_frame


def open_frame(args: argparse.Namespace, path: str, words: Collection[str] = ()) -> Any:
    """The table of a file without the dropped columns.

    words       columns whose fields are words even where they look like numbers, beside those that --kind calls so
    """
    if is_model(path):
        raise ValueError(f"{path!r} is a saved model, and a table is wanted here. Give a CSV or Parquet file.")
    called = (text.removesuffix("=categorical") for text in getattr(args, "kind", []) if text.endswith("=categorical"))
    frame = read_frame(path, args.missing, {*words, *called})
    check_columns(args.drop, frame, "--drop")
    return frame.drop(columns=args.drop)


def words_of(model: Any) -> set[str]:
    """The columns whose levels were words when the model was learnt: codes such as 01234 are read as words again."""
    schema = getattr(model, "schema_", None)
    columns = schema.columns if schema is not None and schema.named else ()
    return {column.name for column in columns if any(isinstance(level, str) for level in column.levels)}


def check_model_output(path: Path, sources: Sequence[str]) -> None:
    """Raise where a model could not be saved, or where something else than a model would be lost by it."""
    check_output(path, table=False, sources=sources)
    if path.exists() and path.stat().st_size:
        try:
            archive_kind(path)
        except ArchiveError as error:
            raise ValueError(
                f"Cannot write {str(path)!r}: it holds no model of partita's, and is not written over. Choose another "
                "path, or remove the file."
            ) from error


def is_model(path: str) -> bool:
    """Whether the file is one of partita's own."""
    if not Path(path).is_file():
        return False
    try:
        archive_kind(path)
    except ArchiveError:
        return False
    return True


def kinds_of(args: argparse.Namespace, frame: Any) -> dict[str, str]:
    """The options --kind COL=KIND as a dict; names and words are checked where the kinds are used."""
    kinds = {}
    for text in args.kind:
        name, equals, kind = text.rpartition("=")
        if not equals or not name or not kind:
            raise ValueError(f"--kind {text}: expected COL=KIND, for example --kind age=real.")
        kinds[name] = kind
    check_columns(list(kinds), frame, "--kind")
    return kinds


def split_target(args: argparse.Namespace, frame: Any) -> tuple[Any, Any]:
    """The table and its target column; None for the target where none is named."""
    if args.target is None:
        return frame, None
    check_columns([args.target], frame, "--target")
    return frame.drop(columns=args.target), frame[args.target]


def known_columns(model: Any, frame: Any, path: str) -> Any:
    """The columns of the frame that the model was learnt on; a note names those left out."""
    names = (
        [name for name in model.schema_.names if name in frame.columns] if model.schema_.named else list(frame.columns)
    )
    extra = [str(name) for name in frame.columns if name not in names]
    if extra:
        print(
            f"partita: note: {path}: not used, for the model has no such columns: {', '.join(extra)}", file=sys.stderr
        )
    return frame[names] if names else frame


def check_columns(names: list[str], frame: Any, option: str) -> None:
    """Raise where the table has no column of one of the names that an option gives."""
    for name in names:
        if name not in frame.columns:
            shown = ", ".join(map(str, list(frame.columns)[:20])) + (", ..." if len(frame.columns) > 20 else "")
            raise ValueError(f"{option} {name}: the table has no such column. Its columns: {shown}.")
