"""What the AClass paper says beside what was measured, and where our default is ahead or behind."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

WORDS = ("better", "level", "worse")


@dataclass
class Claim:
    """One published sentence, in our words, with the measured numbers that bear on it."""

    published: str
    measured: str
    holds: bool


@dataclass
class Difference:
    """Mean of paired differences over the repetitions, its standard error, and half the width of its 95 % interval."""

    mean: float
    error: float
    reach: float

    @classmethod
    def of(cls, ours: ArrayLike, theirs: ArrayLike) -> Difference:
        gaps = np.asarray(ours, float) - np.asarray(theirs, float)
        if len(gaps) < 2:
            return cls(float(gaps.mean()), np.inf, np.inf)
        error = float(gaps.std(ddof=1) / np.sqrt(len(gaps)))
        return cls(float(gaps.mean()), error, error * float(stdtrit(len(gaps) - 1, 0.975)))

    @property
    def word(self) -> str:
        """ "better", "worse" or "level": smaller is better, and level is what the 95 % interval allows."""
        if abs(self.mean) <= self.reach:
            return "level"
        return "better" if self.mean < 0 else "worse"

    def __str__(self) -> str:
        return f"{self.mean:+.3f} ± {self.error:.3f}" if np.isfinite(self.error) else f"{self.mean:+.3f}"


def mean_and_error(values: ArrayLike) -> tuple[float, float]:
    """Mean over the repetitions and its standard error (0 for a single one)."""
    x = np.asarray(values, float)
    return float(x.mean()), float(x.std(ddof=1) / np.sqrt(len(x))) if len(x) > 1 else 0.0


def print_claims(claims: Sequence[Claim], quick: bool = False, width: int = 52) -> None:
    """Two columns, what the paper says and what was measured, each wrapped, and whether it holds here."""
    if quick:
        print("A quick run has two repetitions and few rows: it shows that all works; judge by the full run.\n")
    print(f"{'the paper says':<{width}}  {'measured':<{width}}  holds here")
    for claim in claims:
        left, right = wrap(claim.published, width), wrap(claim.measured, width)
        for i in range(max(len(left), len(right))):
            a, b = left[i] if i < len(left) else "", right[i] if i < len(right) else ""
            print(f"{a:<{width}}  {b:<{width}}  {('yes' if claim.holds else 'no') if i == 0 else ''}".rstrip())
    print()


def print_verdict(gaps: dict[str, Difference], what: str, rival: str) -> None:
    """In how many settings our default is ahead of the rival, level or behind, and which; smaller is better."""
    places = {word: [f"{place} ({gap})" for place, gap in gaps.items() if gap.word == word] for word in WORDS}
    counts = ", ".join(f"{word} in {len(places[word])}" for word in WORDS)
    print(f"Our default against {rival}, {what}: {counts} of {len(gaps)} settings.")
    for word in ("better", "worse"):
        if places[word]:
            text = f"{word}: {'; '.join(places[word])}"
            print("\n".join(wrap(text, 118, initial_indent="  ", subsequent_indent="    ")))
    print()


def write_csv(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """Every single measurement, one line each."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
