"""What stands in the holes, and how sure is it? A matrix as a heat map, its uncertainty beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.bayesian_svd import BayesianSVD
from .canvas import canvas
from .names import shorten
from .wanted import need

_NAMES = 30  # ids are written at the axes up to so many
_LETTERS = 18  # of each


class CompletionDisplay:
    """Expected values of all cells of some rows and columns, and their standard deviations.

    mean, std       (rows, columns); observed cells as they were, with the standard deviation of their expected value.
    observed        (rows, columns) bool.
    rows, columns   ids, in display order.
    """

    def __init__(
        self, mean: np.ndarray, std: np.ndarray, observed: np.ndarray, rows: np.ndarray, columns: np.ndarray
    ) -> None:
        self.mean = mean
        self.std = std
        self.observed = observed
        self.rows = rows
        self.columns = columns

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, rows: Any = None, columns: Any = None, max_lines: int = 200
    ) -> CompletionDisplay:
        """Of a fitted `BayesianSVD`.

        rows, columns   ids to show, in this order; by default those with the most cells, in the order of the model.
        max_lines       at most so many rows and columns by default.
        """
        need(cls, "a fitted BayesianSVD", estimator, isinstance(estimator, BayesianSVD))
        check_is_fitted(estimator, "row_ids_")
        entries = estimator._entries
        shown = []
        for side, ids, asked, counts in (
            ("rows", estimator._rows, rows, entries.row_counts),
            ("columns", estimator._columns, columns, entries.column_counts),
        ):
            place = np.sort(np.argsort(-counts, kind="stable")[:max_lines]) if asked is None else ids.codes(asked)
            if (place < 0).any():
                raise ValueError(f"{side}: {list(asked)[int(np.argmax(place < 0))]!r} is not known to the model.")
            shown.append(place)
        r, c = shown
        row_ids, column_ids = estimator.row_ids_[r], estimator.column_ids_[c]
        flat = np.repeat(row_ids, len(c)), np.tile(column_ids, len(r))
        mean, std = (part.reshape(len(r), len(c)) for part in estimator.predict(*flat, return_std=True))
        values = np.full((len(estimator._rows), len(estimator._columns)), np.nan)
        kept = entries.values if entries.trials is None else entries.values / entries.trials
        values[entries.row, entries.column] = (
            estimator.levels_[kept.astype(int)] if hasattr(estimator, "levels_") else kept
        )
        given = values[np.ix_(r, c)]
        return cls(np.where(np.isnan(given), mean, given), std, ~np.isnan(given), row_ids, column_ids)

    def plot(self, ax: Any = None) -> CompletionDisplay:
        """Draw the values and, beside them, the uncertainty; observed cells are marked by a dot in the second.

        ax      None for a new figure with both, a pair of axes for both, or one for the values alone. `ax_` keeps the
                axes of the values, `std_ax_` those of the uncertainty or None.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            n, p = self.mean.shape
            height = float(np.clip(4.2 * n / max(p, 1), 3.0, 6.5))
            _, ax = plt.subplots(1, 2, figsize=(10.2, height), layout="constrained")
        both = np.ravel(np.array(ax, dtype=object))
        if len(both) not in (1, 2):
            raise ValueError(f"ax holds {len(both)} axes; give one for the values, or a pair.")
        self._draw(canvas(both[0]), self.mean, "viridis", "value", "observed and completed")
        if len(both) == 2:
            self._draw(canvas(both[1]), self.std, "magma_r", "standard deviation", "how unsure (dots: observed)")
            if self.observed.size <= 10_000:
                row, column = np.nonzero(self.observed)
                size = float(np.clip(8000 / self.observed.size, 0.5, 14))
                both[1].scatter(column, row, s=size, c="white", linewidth=0)
        self.ax_, self.std_ax_ = both[0], both[1] if len(both) == 2 else None
        self.figure_ = both[0].figure
        return self

    def _draw(self, ax: Any, values: np.ndarray, colours: str, label: str, title: str) -> None:
        image = ax.imshow(values, cmap=colours, interpolation="nearest", aspect="auto")
        if label == "standard deviation":
            image.set_clim(vmin=0.0)
        for axis, ids in ((ax.xaxis, self.columns), (ax.yaxis, self.rows)):
            axis.set_ticks(range(len(ids)) if len(ids) <= _NAMES else [])
            if len(ids) <= _NAMES:
                axis.set_ticklabels([shorten(name, _LETTERS) for name in ids])
        if len(self.columns) <= _NAMES:
            ax.tick_params(axis="x", rotation=90 if max(len(str(name)) for name in self.columns) > 2 else 0)
        ax.tick_params(length=0, labelsize="small")
        ax.set(xlabel="columns", ylabel="rows")
        ax.set_title(title, fontsize="medium")
        ax.figure.colorbar(image, ax=ax, shrink=0.85, label=label)
