"""Which column of a table is which column of the schema: by name where both have names, else by position."""

from __future__ import annotations

from collections.abc import Sequence

from partita.data.containers import Source
from partita.data.schema import Schema


def match_columns(source: Source, schema: Schema, owner: str) -> list[int]:
    """For each column of the schema its position in the source; by name where both have names."""
    names = source.names
    if _both_named(source, schema):
        unseen = [name for name in names if name not in set(schema.names)]
        gone = [name for name in schema.names if name not in set(names)]
        if unseen or gone:
            message = "The feature names should match those that were passed during fit.\n"
            message += "".join(["Feature names unseen at fit time:\n", *(f"- {n}\n" for n in unseen)] if unseen else "")
            if gone:
                message += "".join(["Feature names seen at fit time, yet now missing:\n", *(f"- {n}\n" for n in gone)])
            raise ValueError(message + "Rename, drop or add these columns; a column without data may be all missing.")
        where = {name: position for position, name in enumerate(names)}
        return [where[name] for name in schema.names]
    if source.n_columns != schema.n_columns:
        raise ValueError(
            f"X has {source.n_columns} features, but {owner} is expecting {schema.n_columns} features as input. "
            "Pass the same columns as in fit; a column without data may be all missing."
        )
    return list(range(schema.n_columns))


def _both_named(source: Source, schema: Schema) -> bool:
    """Whether the names of both tables are the callers' own.

    Names 0, 1, ... in order are those of a frame that was given none: columns are then taken by position, unless the
    other table has the same names in another order, or integers that are none of them.
    """
    if "numpy" in (source.container, schema.container):
        return False
    if set(source.names) == set(schema.names):
        return True
    if _are_positions(source.names):
        return False
    return not (source.named and _are_positions(schema.names))


def _are_positions(names: Sequence[str | int]) -> bool:
    return list(names) == list(range(len(names)))
