"""What an evidence fit left out, because it was stopped or met a limit, and how the user is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..data.telling import tell
from ..data.validate import DataWarning
from ..inference.loop import FitInterrupted

NAMED = 8  # columns that a warning names; the rest is counted


@dataclass
class Omitted:
    """stages     names of the stages that a stop left out; after a stop before the search, those it could have led to.
    columns    columns that the search for pairs left out, for `Settings.max_candidates`.
    n_pairs    pairs with some gain whose triples were not searched, for `Settings.max_triples`.
    n_regions  candidate regions that these limits left out, at most (a triple is counted once for each such pair).
    """

    stages: list[str] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    n_pairs: int = 0
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
        listed = ", ".join(repr(names[j]) if len(names) else str(j) for j in omitted.columns[:NAMED])
        more = f" and {len(omitted.columns) - NAMED} more" if len(omitted.columns) > NAMED else ""
        _tell_limit(f"pairs of attributes with {listed}{more}", max_candidates)
    if omitted.n_pairs:
        _tell_limit(f"triples that extend the {omitted.n_pairs} least promising pairs only", max_candidates)


def _tell_limit(what: str, max_candidates: int) -> None:
    tell(
        f'{what} were not searched by estimate="evidence" (max_candidates={max_candidates}). Raise max_candidates to '
        "search them all.",
        DataWarning,
    )
