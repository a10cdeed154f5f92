"""What intervals of missing cells have held: the last correction of their laws, learnt from cells whose truth is known.

A central interval that promises a share `PROMISED` of the truths held `held` of them, smoothed towards what is
believed beforehand. A level that is asked for is turned into the one whose interval held it. Whatever shape the laws
lack (values that pile up, peaks) intervals hold what they say over a table, though not in every column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .answer import Laws, Widths

PROMISED = np.concatenate([np.linspace(0.0, 0.9, 37), [0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99, 0.995, 0.999, 1.0]])
BELIEVED_CELLS = 100.0  # cells that the shares believed beforehand are worth: those of one row are not independent


def shares_held(below: np.ndarray, weight: np.ndarray, believed: np.ndarray = PROMISED) -> tuple[float, ...]:
    """Share of the truths that the intervals at `PROMISED` hold; below (m,) is the probability of less than the truth,
    `believed` what the intervals are taken to hold beforehand."""
    width = np.abs(2.0 * below - 1.0)
    order = np.argsort(width, kind="stable")
    reached = np.concatenate([[0.0], np.cumsum(weight[order])])[np.searchsorted(width[order], PROMISED, side="right")]
    held = (BELIEVED_CELLS * np.asarray(believed) + reached) / (BELIEVED_CELLS + reached[-1])
    return tuple(held.tolist())


def promise_that_holds(share: np.ndarray, held: Sequence[float] | None) -> np.ndarray:
    """What an interval must promise to hold this share."""
    return share if held is None else np.interp(share, held, PROMISED)


@dataclass(frozen=True, eq=False)
class RowWidths:
    """Widths of every row of a table: `kinds[which[i]]` are those of row i; which (n,)."""

    kinds: tuple[Widths, ...]
    which: np.ndarray

    @classmethod
    def same(cls, widths: Widths, n: int) -> RowWidths:
        return cls((widths,), np.zeros(n, np.intp))

    def scale(self, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        return np.array([one.scale for one in self.kinds])[self.which[rows]]

    def degrees(self, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        return np.array([one.degrees for one in self.kinds])[self.which[rows]]

    def promises(self, share: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """share (m, ...) that intervals of these rows should hold -> what they must promise."""
        out = np.empty(share.shape)
        for number, one in enumerate(self.kinds):
            mine = self.which[rows] == number
            out[mine] = promise_that_holds(share[mine], one.held)
        return out

    def levels(self, level: float, rows: np.ndarray) -> np.ndarray:
        """(m,) levels of the laws of these rows that hold `level`."""
        share = self.promises(np.full(len(rows), abs(2.0 * level - 1.0)), rows)
        return 0.5 + 0.5 * np.sign(level - 0.5) * share

    def widened(self, laws: Laws) -> Laws:
        """The laws with these widths in place of the model's own."""
        degrees = np.repeat(self.degrees()[:, None], laws.degrees.shape[1], axis=1)
        return replace(laws, scale=laws.scale * self.scale()[:, None, None], degrees=degrees)
