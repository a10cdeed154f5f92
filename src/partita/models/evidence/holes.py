"""Rows with cells that are not known where training was complete: every answer averaged over what could stand there.

    P(y | seen cells) = sum over completions of P(completion | seen cells) P(y | completed row),

P(completion | seen cells) by naive Bayes of the training rows ("conditional"), or by the training frequencies of the
levels, independent of each other and of the seen cells ("frequencies"). A numeric column is completed by its bins, each
standing for the mean of its training cells. Up to `MOST` completions are all taken; of more, `MOST` are drawn with the
same random numbers for every row, so a row is answered alike in any company.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST = 256
THETA = 1.0  # pseudo-count of every table of an attribute and the class, as in the stage of naive Bayes


@dataclass
class Holes:
    """What completions are weighted by; d columns, C classes."""

    conditional: bool
    prior: np.ndarray  # (C,) shares of the classes
    given: list[np.ndarray]  # of every column (levels, C): P(level | class)
    number: np.ndarray  # int32 (d,): the column of `reals` that a column is the bins of, or -1
    middle: list[np.ndarray]  # of every column (levels,): the number that a bin stands for; empty where `number` is -1

    def to_tree(self) -> dict[str, Any]:
        return dict(vars(self))

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Holes:
        return cls(**tree)

    def complete(
        self, codes: np.ndarray, reals: np.ndarray, acting: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Groups of rows with holes in the same of the columns that act (the others are put at level 0): the rows,
        their weights (rows, completions), and the completed codes and reals, completion by completion for each row."""
        hole = codes < 0
        free = np.where(hole & ~acting, 0, codes)
        hole &= acting
        patterns, group = np.unique(hole, axis=0, return_inverse=True)
        for g, pattern in enumerate(patterns):
            rows = np.flatnonzero(group.reshape(-1) == g)
            weight, filled = self._completions(codes[rows], np.flatnonzero(pattern))
            count = weight.shape[1]
            whole = np.repeat(free[rows], count, axis=0)
            whole[:, pattern] = filled.reshape(len(whole), int(pattern.sum()))
            numbers = np.repeat(reals[rows], count, axis=0)
            for j in np.flatnonzero(pattern & (self.number >= 0)):
                numbers[:, self.number[j]] = self.middle[j][whole[:, j]]
            yield rows, weight, whole, numbers

    def _completions(self, codes: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights (n, m) and levels (n, m, columns)."""
        n = len(codes)
        if not len(columns):
            return np.ones((n, 1)), np.zeros((n, 1, 0), np.int32)
        posterior = self._posterior(codes)
        sizes = [len(self.given[j]) for j in columns]
        if float(np.prod(sizes, dtype=float)) > MOST:
            return self._drawn(posterior, columns)
        cells = np.stack(np.meshgrid(*map(np.arange, sizes), indexing="ij"), axis=-1).reshape(-1, len(columns))
        inside = np.ones((len(cells), len(self.prior)))
        for k, j in enumerate(columns):
            inside *= self._law(j)[cells[:, k]]
        weight = posterior @ inside.T
        weight /= weight.sum(axis=1, keepdims=True)
        return weight, np.broadcast_to(cells.astype(np.int32), (n, *cells.shape))

    def _drawn(self, posterior: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Draws of the class, then of every level given the class; strata of the class, the same for all rows."""
        n, rng = len(posterior), np.random.default_rng(0)
        at = (np.arange(MOST) + 0.5) / MOST
        label = np.minimum((at[:, None] > np.cumsum(posterior, axis=1)[:, None, :]).sum(axis=2), len(self.prior) - 1)
        levels = np.empty((n, MOST, len(columns)), np.int32)
        for k, j in enumerate(columns):
            cumulative = np.cumsum(self._law(j), axis=0)[:, label]  # (levels, n, MOST)
            levels[:, :, k] = np.minimum((rng.random(MOST) > cumulative).sum(axis=0), len(cumulative) - 1)
        return np.full((n, MOST), 1.0 / MOST), levels

    def _law(self, j: int) -> np.ndarray:
        """(levels, C): of a level given the class; without "conditional" the same in all classes."""
        if self.conditional:
            return self.given[j]
        return np.repeat((self.given[j] @ self.prior)[:, None], len(self.prior), axis=1)

    def _posterior(self, codes: np.ndarray) -> np.ndarray:
        """(n, C): of the class given the cells that are seen, by naive Bayes."""
        out = np.tile(np.log(self.prior), (len(codes), 1))
        if self.conditional:
            for j, law in enumerate(self.given):
                known = codes[:, j] >= 0
                out += np.where(known[:, None], np.log(law)[np.maximum(codes[:, j], 0)], 0.0)
        out = np.exp(out - out.max(axis=1, keepdims=True))
        return out / out.sum(axis=1, keepdims=True)


def learn_holes(
    codes: np.ndarray, levels: np.ndarray, reals: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int,
    binned: Sequence[int], conditional: bool,
) -> Holes:  # fmt: skip
    """From the training rows; `binned`: for each column of `reals` the column of `codes` with its bins."""
    per_class = np.bincount(label, weight, n_classes) + THETA / n_classes
    given, middle, number = [], [np.zeros(0)] * len(levels), np.full(len(levels), -1, np.int32)
    for j, size in enumerate(levels.tolist()):
        counts = np.bincount(codes[:, j] * n_classes + label, weight, size * n_classes).reshape(size, n_classes)
        law = counts + THETA / n_classes / size
        given.append(law / law.sum(axis=0))
    for r, j in enumerate(binned):
        number[j] = r
        middle[j] = _middles(codes[:, j], int(levels[j]), reals[:, r], weight)
    return Holes(conditional, per_class / per_class.sum(), given, number, middle)


def _middles(code: np.ndarray, size: int, numbers: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Mean of the numbers at every level; 0 where there are none, as at "missing", which no hole is completed by."""
    seen = ~np.isnan(numbers)
    unit = float(np.abs(numbers[seen]).max(initial=0.0)) or 1.0  # sums of huge numbers would overflow
    n = np.bincount(code[seen], weight[seen], size)
    total = np.bincount(code[seen], weight[seen] * (numbers[seen] / unit), size)
    return unit * np.divide(total, n, out=np.zeros(size), where=n > 0)
