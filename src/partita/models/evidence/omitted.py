"""What an evidence fit left out, because it was stopped or met a limit, and how the user is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...data.telling import tell
from ...data.validate import DataWarning
from ...inference.loop import FitInterrupted

NAMED = 8  # columns or pairs that a warning names; the rest is counted


def no_pairs() -> np.ndarray:
    return np.zeros((0, 2), np.int32)


@dataclass
class Omitted:
    """stages        names of the stages that a stop left out; after one before the search, those it could have led to.
    columns       columns that the search for pairs left out, for `Settings.max_candidates`.
    pairs         int32 (m, 2): pairs that were looked at in `n_rows` rows only and not scanned, most promising first.
    triples_over  int32 (m, 2): pairs with some gain whose triples were not searched, for `Settings.max_triples`.
    n_regions     candidate regions that these limits left out, at most (a triple is counted once for each such pair).
    """

    stages: list[str] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    pairs: np.ndarray = field(default_factory=no_pairs, compare=False)  # counted in n_regions
    n_rows: int = 0
    triples_over: np.ndarray = field(default_factory=no_pairs, compare=False)
    n_regions: int = 0


def tell_omitted(omitted: Omitted, keyboard: bool, names: Sequence[Any], max_candidates: int) -> None:
    """Warn of what was left out; `keyboard`: by Ctrl-C rather than by the clock."""
    if omitted.stages:
        why = "stopped by Ctrl-C" if keyboard else "time_budget is spent"
        tell(
            f'{why}: stages of estimate="evidence" that were not searched and fitted: {", ".join(omitted.stages)}. The '
            "result keeps the stages fitted so far and the one of map_regions_.",
            FitInterrupted,
        )
    if omitted.columns:
        _tell_limit("pairs of attributes with", [named(j, names) for j in omitted.columns], "", max_candidates)
    if len(omitted.pairs):
        seen = f" beyond a first look at {omitted.n_rows} rows"
        _tell_limit("pairs of attributes", _named_pairs(omitted.pairs, names), seen, max_candidates)
    if len(omitted.triples_over):
        _tell_limit("triples over the pairs", _named_pairs(omitted.triples_over, names), "", max_candidates)


def named(j: int, names: Sequence[Any]) -> str:
    return repr(names[j]) if len(names) else str(j)


def _named_pairs(pairs: np.ndarray, names: Sequence[Any]) -> list[str]:
    """Of the first few; the others are counted only, so their names are not made."""
    first = [f"{named(i, names)} with {named(j, names)}" for i, j in pairs[:NAMED].tolist()]
    return first + [""] * (len(pairs) - len(first))


def _tell_limit(what: str, listed: list[str], seen: str, max_candidates: int) -> None:
    more = f" and {len(listed) - NAMED:,} more" if len(listed) > NAMED else ""
    tell(
        f'{what} {", ".join(listed[:NAMED])}{more} were not searched by estimate="evidence"{seen} '
        f"(max_candidates={max_candidates}). not_searched_ holds them all; raise max_candidates to search them.",
        DataWarning,
    )
