"""A question to a Bayesian network as a user asks it: which columns, given what is seen, and what is set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.schema import Schema
from ..models.networks.discrete_law import DiscreteLaw
from .net_structure import position_of

NEVER_SEEN = "(never seen)"  # the one level of a column without cells


@dataclass(frozen=True, eq=False)
class Question:
    """`asked` columns; `row` (n,) codes of what is seen or set, -1 elsewhere; `forced`: column -> code, what is set."""

    schema: Schema
    asked: list[int]
    row: np.ndarray
    forced: dict[int, int]

    @classmethod
    def read(
        cls, schema: Schema, owner: str, variables: Any, evidence: Mapping[Any, Any] | None,
        do: Mapping[Any, Any] | None,
    ) -> Question:  # fmt: skip
        single = isinstance(variables, str) or not hasattr(variables, "__iter__")
        asked = [position_of(v, schema, owner, "variables") for v in ([variables] if single else list(variables))]
        if not asked:
            raise ValueError("query: variables is empty. Name at least one column.")
        given, forced = read_levels(schema, owner, evidence, "evidence"), read_levels(schema, owner, do, "do")
        for node in [*asked, *given]:
            if asked.count(node) > 1 or node in forced or (node in asked and node in given):
                raise ValueError(f"query: {schema.label(node)} is there twice among variables, evidence and do.")
        row = np.full(schema.n_columns, -1, dtype=np.int32)
        for node, level in {**given, **forced}.items():
            row[node] = level
        return cls(schema, asked, row, forced)

    def answer(self, law: np.ndarray) -> DiscreteLaw:
        """The law of the asked columns with their names and levels; NaN says that the evidence cannot be."""
        if np.isnan(law).any():
            raise ValueError("query: the evidence has probability zero. Leave a part of it out.")
        levels = tuple(self.schema.columns[v].levels or (NEVER_SEEN,) for v in self.asked)
        return DiscreteLaw(tuple(self.schema.names[v] for v in self.asked), levels, law)


def read_levels(schema: Schema, owner: str, given: Mapping[Any, Any] | None, name: str) -> dict[int, int]:
    """Column -> code of an assignment of levels."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} must be a dict from columns to levels, got {given!r}.")
    found: dict[int, int] = {}
    for column, level in given.items():
        position = position_of(column, schema, owner, name)
        levels = schema.columns[position].levels
        if level not in levels:
            raise ValueError(f"{name}: {level!r} is no level of {schema.label(position)}: it has {list(levels)}.")
        if position in found:
            raise ValueError(f"{name}: {schema.label(position)} is there twice.")
        found[position] = levels.index(level)
    return found
