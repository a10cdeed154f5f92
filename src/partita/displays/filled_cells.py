"""Are filled cells near the truth, and is the doubt about them honest? Removed cells against posterior draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.encode import encode
from .canvas import ACCENT, INK, canvas, colour
from .wanted import need_method


class FilledCellsDisplay:
    """Truth against posterior mean with a 90 % interval, one point per removed numeric cell, in standard deviations
    of its column.

    truth, mean, low, high      (cells,) of the removed real and count cells.
    level_chance                (cells,) share of the draws that gave a removed binary or categorical cell its level.
    """

    def __init__(
        self, truth: np.ndarray, mean: np.ndarray, low: np.ndarray, high: np.ndarray, level_chance: np.ndarray
    ) -> None:
        self.truth = truth
        self.mean = mean
        self.low = low
        self.high = high
        self.level_chance = level_chance

    @property
    def coverage(self) -> float:
        """Share of the removed numeric cells whose truth lies in its 90 % interval; about 0.9 where doubt is honest."""
        return float(np.mean((self.truth >= self.low) & (self.truth <= self.high))) if len(self.truth) else float("nan")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, X_true: Any, *, columns: Any = None, n_draws: int = 100, random_state: Any = 0
    ) -> FilledCellsDisplay:
        """Of a fitted model with `impute`.

        X           the table with holes; `X_true` the same rows with some or all of the holes filled in truly.
        columns     names of the columns to show; by default all.
        n_draws     completed tables drawn from the posterior.
        """
        need_method(cls, "a fitted estimator of partita with impute", estimator, "impute")
        holed, full = estimator._encode(X), encode(X_true, estimator.schema_, "X_true")
        if len(holed) != len(full):
            raise ValueError(f"X has {len(holed)} rows and X_true {len(full)}; give the same rows.")
        removed = full.observed() & ~holed.observed()
        removed &= chosen_columns(holed.schema, columns)
        if not removed.any():
            raise ValueError("X_true fills no hole of X in these columns: there is nothing to compare.")
        draws = [estimator._encode(t) for t in estimator.impute(X, n_draws=n_draws, random_state=random_state)]
        schema = holed.schema
        numeric, discrete = removed[:, schema.numeric], removed[:, schema.discrete]
        unit = np.nanstd(full.reals, axis=0)
        unit = np.broadcast_to(np.where(unit > 0, unit, 1.0), full.reals.shape)[numeric]
        centre = np.broadcast_to(np.nanmean(np.where(numeric.any(axis=0), full.reals, 0.0), axis=0), full.reals.shape)
        values = (np.stack([t.reals[numeric] for t in draws]) - centre[numeric]) / unit
        low, high = np.quantile(values, [0.05, 0.95], axis=0)
        truth = (full.reals[numeric] - centre[numeric]) / unit
        right = np.stack([t.codes[discrete] for t in draws]) == full.codes[discrete]
        return cls(truth, values.mean(axis=0), low, high, right.mean(axis=0))

    def plot(self, ax: Any = None, *, max_cells: int = 250) -> FilledCellsDisplay:
        """Draw on `ax` (by default a new figure), at most `max_cells` cells, evenly spread over the truth."""
        ax = canvas(ax, (5.0, 4.4))
        order = np.argsort(self.truth, kind="stable")
        order = order[np.unique(np.linspace(0, len(order) - 1, min(max_cells, len(order))).astype(int))]
        truth, inside = self.truth[order], (self.low <= self.truth)[order] & (self.truth <= self.high)[order]
        shades = np.where(inside, colour(0), ACCENT)
        if len(truth):
            ax.vlines(truth, self.low[order], self.high[order], color=shades, linewidth=1.0, alpha=0.35)
            ax.scatter(truth, self.mean[order], s=12, c=shades, zorder=3, linewidth=0)
            ends = [truth.min(), truth.max()]
            ax.plot(ends, ends, color=INK, linewidth=0.9, linestyle="--", zorder=2)
        ax.set(xlabel="removed cell (standard deviations)", ylabel="posterior mean and 90 % interval")
        words = [f"{self.coverage:.0%} of the truths inside"] if len(truth) else []
        if len(self.level_chance):
            words.append(f"true level given {self.level_chance.mean():.0%}")
        ax.set_title(", ".join(words), fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def chosen_columns(schema: Any, columns: Any) -> np.ndarray:
    """(n_columns,) whether a column is to be shown."""
    if columns is None:
        return np.ones(schema.n_columns, bool)
    strange = [name for name in columns if name not in schema.names]
    if strange:
        raise ValueError(f"columns holds {strange}, which the model does not know. Known: {list(schema.names)}.")
    return np.array([name in set(columns) for name in schema.names])
