"""What a table's columns hold: kind, missing share, values in a few words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita.data import Schema, Table, encode, learn_schema
from partita.data.cells import Cells
from partita.data.containers import open_table
from partita.data.decode import column_values
from partita.data.kinds import DISCRETE, ColumnKinds
from partita.data.matching import match_columns
from partita.report.tables import align, number, percent

_LEVELS_SHOWN = 4


@dataclass(frozen=True)
class ColumnFacts:
    """name, kind, share of missing cells, and the values in words."""

    name: str
    kind: str
    missing: float
    values: str


def column_facts(X: Any, schema: Schema | None = None, column_kinds: ColumnKinds = None) -> list[ColumnFacts]:
    """Facts of every column, under a model's schema or one learnt from X; a level it does not know is missing."""
    schema = learn_schema(X, column_kinds) if schema is None else schema
    table = encode(X, schema, "The report")
    gone = 1 - table.observed().mean(axis=0)
    source = open_table(X)
    given = source.cells(match_columns(source, schema, "The report"))
    return [
        ColumnFacts(str(column.name), column.kind, float(gone[j]), _values(table, j, cells))
        for j, (column, cells) in enumerate(zip(schema.columns, given, strict=True))
    ]


def facts_beside(X: Any, model_schema: Schema) -> list[ColumnFacts]:
    """Facts of every column of a table, some rows of which a model has not seen: levels it does not know are no holes.
    Kinds are the model's."""
    match_columns(open_table(X), model_schema, "The report")
    told = {
        column.name: column.kind for column in model_schema.columns if column.kind in ("real", "categorical")
    }  # the other kinds are what all rows make of them
    facts = {fact.name: fact for fact in column_facts(X, None, told)}
    return [replace(facts[str(column.name)], kind=column.kind) for column in model_schema.columns]


def describe(X: Any, column_kinds: ColumnKinds = None) -> str:
    """The table in words: its size, then one line per column."""
    facts = column_facts(X, None, column_kinds)
    rows = [(fact.name, fact.kind, percent(fact.missing), fact.values) for fact in facts]
    share = float(np.mean([fact.missing for fact in facts]))
    return f"{size_of(len(X), len(facts), share)}\n\n" + align(
        ("column", "kind", "missing", "values"), rows, right=(2,)
    )


def size_of(n_rows: int, n_columns: int, missing: float) -> str:
    return f"{n_rows:,} rows, {n_columns:,} columns, {percent(missing)} of the cells missing"


def _values(table: Table, position: int, given: Cells) -> str:
    if table.schema.columns[position].kind in DISCRETE:
        return _levels(column_values(table, position))
    floats = given.floats()  # not those of the table: centred and scaled, a zero comes back as 1e-17
    floats = floats[~np.isnan(floats)]
    if not len(floats):
        return "none observed"
    low, middle, high = np.percentile(floats, [0, 50, 100])
    return f"{number(low)} to {number(high)}, median {number(middle)}, mean {number(floats.mean())}"


def _levels(values: np.ndarray) -> str:
    plain = (int(v) if isinstance(v, float) and v.is_integer() else v for v in values if v is not None)
    seen = [" ".join(str(value).split()) for value in plain]
    if not seen:
        return "none observed"
    levels, counts = np.unique(seen, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    shown = [f"{levels[k]} {100 * counts[k] / len(seen):.0f} %" for k in order[:_LEVELS_SHOWN]]
    more = f", {len(levels) - _LEVELS_SHOWN} more" if len(levels) > _LEVELS_SHOWN else ""
    return ", ".join(shown) + more
