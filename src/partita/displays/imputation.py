"""Do imputed intervals hold what they promise? Removed cells against the quantiles of their laws."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from scipy.stats import beta
from sklearn.utils.validation import check_is_fitted

from ..data.encode import encode
from .canvas import ACCENT, INK, QUIET, canvas, colour
from .filled_cells import chosen_columns
from .wanted import need_method

NOMINAL = np.array([0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95])


class ImputationDisplay:
    """How often intervals of every nominal coverage hold the truth, and the intervals of one coverage, sorted.

    nominal, actual     (levels,) coverage that the intervals promise, and the share of the truths that they hold.
    low_share, high_share   (levels,) 90 % interval of that share, cells taken as independent; those of one row are not.
    truth, median, low, high    (cells,) removed cells, in standard deviations of their columns, and their intervals
                        of `coverage`.
    Intervals of counts hold their ends and so cover a little more than they promise.
    """

    def __init__(
        self, nominal: np.ndarray, actual: np.ndarray, low_share: np.ndarray, high_share: np.ndarray,
        truth: np.ndarray, median: np.ndarray, low: np.ndarray, high: np.ndarray, coverage: float,
    ) -> None:  # fmt: skip
        self.nominal = nominal
        self.actual = actual
        self.low_share = low_share
        self.high_share = high_share
        self.truth = truth
        self.median = median
        self.low = low
        self.high = high
        self.coverage = coverage

    @property
    def coverage_error(self) -> float:
        """The largest difference between actual and nominal coverage."""
        return float(np.abs(self.actual - self.nominal).max())

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, X_true: Any, *, columns: Any = None, coverage: float = 0.8
    ) -> ImputationDisplay:
        """Of a fitted model whose `impute` gives quantiles.

        X           the table with holes; `X_true` the same rows with some or all of the holes filled in truly.
        columns     names of the columns to look at; by default all real and count columns.
        coverage    of the intervals that are drawn one by one, between 0 and 1.
        """
        wanted = "a fitted IQGMEClassifier or another estimator of partita whose impute takes quantiles"
        need_method(cls, wanted, estimator, "impute", *([] if _takes_quantiles(estimator) else ["quantiles"]))
        check_is_fitted(estimator, "schema_")
        if not 0 < coverage < 1:
            raise ValueError(f"coverage={coverage!r} must lie between 0 and 1, for example 0.8.")
        holed, full = estimator._encode(X), encode(X_true, estimator.schema_, "X_true")
        if len(holed) != len(full):
            raise ValueError(f"X has {len(holed)} rows and X_true {len(full)}; give the same rows.")
        schema = holed.schema
        seen = np.array([column.observed for column in schema.columns])
        removed = full.observed() & ~holed.observed() & chosen_columns(schema, columns) & seen
        numeric = removed[:, schema.numeric]
        if not numeric.any():
            raise ValueError(
                "X_true fills no hole of X in a real or count column that was seen in training: nothing to compare."
            )
        levels = np.unique(np.append(NOMINAL, coverage))
        drawn, nominal = int(np.searchsorted(levels, coverage)), np.isin(levels, NOMINAL)
        tails = np.concatenate([(1 - levels) / 2, [0.5], (1 + levels) / 2])
        tables = [encode(t, schema, "impute").reals[numeric] for t in estimator.impute(X, quantiles=tails)]
        low, median, high = np.array(tables[: len(levels)]), tables[len(levels)], np.array(tables[len(levels) + 1 :])
        truth = full.reals[numeric]
        inside = ((low <= truth) & (truth <= high)).sum(axis=1)[nominal]
        band = beta.ppf([[0.05], [0.95]], inside + 1, len(truth) - inside + 1)
        unit = np.nanstd(full.reals, axis=0)
        unit = np.broadcast_to(np.where(unit > 0, unit, 1.0), full.reals.shape)[numeric]
        centre = np.broadcast_to(np.nanmean(np.where(numeric.any(axis=0), full.reals, 0.0), axis=0), full.reals.shape)
        here, middle, below, above = ((v - centre[numeric]) / unit for v in (truth, median, low[drawn], high[drawn]))
        return cls(NOMINAL, inside / len(truth), band[0], band[1], here, middle, below, above, coverage)

    def plot(self, ax: Any = None, *, max_cells: int = 200) -> ImputationDisplay:
        """Draw the coverage curve and, beside it, at most `max_cells` intervals, evenly spread.

        ax      None for a new figure with both, a pair of axes for both, or one for the curve alone. `ax_` keeps the
                axes of the curve, `intervals_ax_` those of the intervals or None.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained", width_ratios=(1, 1.25))
        both = np.ravel(np.array(ax, dtype=object))
        if len(both) not in (1, 2):
            raise ValueError(f"ax holds {len(both)} axes; give one for the curve, or a pair.")
        self._draw_curve(canvas(both[0]))
        if len(both) == 2:
            self._draw_intervals(canvas(both[1]), max_cells)
        self.ax_, self.intervals_ax_ = both[0], both[1] if len(both) == 2 else None
        self.figure_ = both[0].figure
        return self

    def _draw_curve(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color=QUIET, linewidth=1, linestyle="--", zorder=1)
        ax.fill_between(self.nominal, self.low_share, self.high_share, color=colour(0), alpha=0.2, linewidth=0)
        ax.plot(self.nominal, self.actual, color=colour(0), marker="o", markersize=4, linewidth=1.4, zorder=3)
        ax.set(xlim=(0, 1), ylim=(0, 1.01), aspect="equal", xlabel="nominal coverage", ylabel="actual coverage")
        ax.set_title(f"{len(self.truth):,} cell{'s' * (len(self.truth) > 1)}, off by at most {self.coverage_error:.2f}",
                     fontsize="medium")  # fmt: skip

    def _draw_intervals(self, ax: Any, max_cells: int) -> None:
        """Intervals by their medians, the truth a point: blue inside, red outside."""
        order = np.argsort(self.median, kind="stable")
        order = order[np.unique(np.linspace(0, len(order) - 1, min(max_cells, len(order))).astype(int))]
        truth, low, high = self.truth[order], self.low[order], self.high[order]
        inside, place = (low <= truth) & (truth <= high), np.arange(len(order))
        ax.vlines(place, low, high, color=QUIET, linewidth=1.6, alpha=0.55)
        ax.plot(place, self.median[order], color=INK, linewidth=1.1)
        ax.scatter(place, truth, s=11, c=np.where(inside, colour(0), ACCENT), linewidth=0, zorder=3)
        ax.set(xticks=[], ylabel="standard deviations of the column")
        ax.set_xlabel("removed cells, by the median of their law")
        share = float(np.mean((self.low <= self.truth) & (self.truth <= self.high)))
        ax.set_title(f"{self.coverage:.0%} intervals hold {share:.0%} of the truths", fontsize="medium")


def _takes_quantiles(estimator: Any) -> bool:
    return hasattr(estimator, "impute") and "quantiles" in inspect.signature(estimator.impute).parameters
