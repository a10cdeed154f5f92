"""Which rows are strange? Log densities of the observed cells, the lowest marked."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import ACCENT, GROUPS, canvas
from .names import shorten
from .wanted import need_method

LINE = 0.09  # height of a name, in heights of the highest bar
LONGEST = 40


class AnomalyDisplay:
    """Histogram of log densities, with the lowest rows marked and named.

    scores      (n,) log density of each row.
    lowest      positions of the rows with the lowest scores, the lowest first.
    names       one name per row.
    per_cell    whether the scores were divided by the number of observed cells, so that a row with many holes
                compares with a full one.
    """

    def __init__(self, scores: np.ndarray, lowest: np.ndarray, names: list[str], per_cell: bool = False) -> None:
        self.scores = scores
        self.lowest = lowest
        self.names = names
        self.per_cell = per_cell

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, n_lowest: int = 5, names: Any = None, per_cell: bool = True
    ) -> AnomalyDisplay:
        """Of a fitted model with `score_samples`; `names` are the rows' names, by default their positions."""
        need_method(cls, "a fitted CRPMixture or AClass", estimator, "score_samples")
        scores = np.asarray(estimator.score_samples(X))
        if not 0 <= n_lowest <= len(scores):
            raise ValueError(f"n_lowest={n_lowest!r} must be between 0 and the number of rows, {len(scores)}.")
        if per_cell:
            scores = scores / np.maximum(estimator._encode(X).observed().sum(axis=1), 1)
        shown = [str(name) for name in (range(len(scores)) if names is None else names)]
        if len(shown) != len(scores):
            raise ValueError(f"names has {len(shown)} entries for {len(scores)} rows; give one name per row.")
        return cls(scores, np.argsort(scores, kind="stable")[:n_lowest], shown, per_cell)

    def plot(self, ax: Any = None, *, bins: int = 40) -> AnomalyDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        ax = canvas(ax)
        counts, _, _ = ax.hist(self.scores, bins=bins, color=GROUPS[0], alpha=0.85)
        top = float(np.max(counts))
        marked = self.scores[self.lowest]
        ax.vlines(marked, 0, 0.08 * top, color=ACCENT, linewidth=1.8)
        # names stand above the bars, one below the other, and grow towards the middle
        n = len(self.lowest)
        ax.set_ylim(0, top * (1.05 + LINE * n))
        left, right = ax.get_xlim()
        for step, row in enumerate(self.lowest):
            at = self.scores[row]
            first_half = at < (left + right) / 2
            name, height = shorten(self.names[row], LONGEST), top * (1.03 + LINE * (n - 1 - step))
            ax.annotate(name, (at, 0.08 * top), xytext=(at, height),
                        ha="left" if first_half else "right", fontsize="small", color=ACCENT,
                        arrowprops={"arrowstyle": "-", "color": ACCENT, "linewidth": 0.5, "alpha": 0.5,
                                    "relpos": (0 if first_half else 1, 0)})  # fmt: skip
        ax.set(xlabel="log density" + (" per observed cell" if self.per_cell else ""), ylabel="rows")
        self.ax_, self.figure_ = ax, ax.figure
        return self
