"""Measurements in a file of comma-separated values that a later run goes on with, and their means and ranks."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

FOLDER = Path(__file__).parent / "results"


class Record:
    """A file of lines; `keys` name the columns that tell what a line is of."""

    def __init__(self, name: str, keys: Sequence[str]):
        self.path, self.keys = FOLDER / f"{name}.csv", tuple(keys)
        self.lines: list[dict[str, str]] = []
        if self.path.exists():
            with open(self.path, encoding="utf-8", newline="") as file:
                self.lines = list(csv.DictReader(file))
        self.known = {self.key(line) for line in self.lines}

    def key(self, line: dict[str, Any]) -> tuple[str, ...]:
        return tuple(str(line[k]) for k in self.keys)

    def has(self, **where: Any) -> bool:
        return self.key(where) in self.known

    def add(self, line: dict[str, Any]) -> None:
        text = {k: f"{v:.6g}" if isinstance(v, float) else str(v) for k, v in line.items()}
        self.path.parent.mkdir(exist_ok=True)
        new = not self.path.exists()
        with open(self.path, "a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(text))
            if new:
                writer.writeheader()
            writer.writerow(text)
        self.lines.append(text)
        self.known.add(self.key(text))

    def cells(self, value: str, cell: Sequence[str], **where: Any) -> dict[tuple[str, ...], dict[str, float]]:
        """Means over trials: {cell: {method: mean}}, of lines that agree with `where`."""
        found: dict[tuple[str, ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        for line in self.lines:
            if all(line[k] in _texts(v) for k, v in where.items()):
                found[tuple(line[k] for k in cell)][line["method"]].append(float(line[value]))
        return {c: {m: float(np.mean(v)) for m, v in each.items()} for c, each in found.items()}


def _texts(value: Any) -> set[str]:
    return {str(v) for v in value} if isinstance(value, list | tuple | set) else {str(value)}


def complete(cells: dict[tuple[str, ...], dict[str, float]], methods: Iterable[str]) -> dict[tuple, dict[str, float]]:
    """Cells that every method has been measured in."""
    return {c: each for c, each in cells.items() if all(m in each for m in methods)}


def mean_ranks(cells: dict[tuple[str, ...], dict[str, float]], methods: Sequence[str], falling: bool) -> np.ndarray:
    """(methods,) mean rank over the cells, 1 the best; `falling`: the largest value is the best."""
    sign = -1.0 if falling else 1.0
    return np.mean([rankdata([sign * each[m] for m in methods]) for each in cells.values()], axis=0)
