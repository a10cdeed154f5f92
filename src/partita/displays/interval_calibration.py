"""Do intervals hold what they promise? Cells that the model has not seen against its intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta
from sklearn.utils.validation import check_is_fitted

from ..data.entries import read_triplets
from ..estimators.bayesian_svd import BayesianSVD
from .canvas import ACCENT, INK, QUIET, canvas, colour
from .wanted import need

NOMINAL = np.array([0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95])
GROUPS = 10


class IntervalCalibrationDisplay:
    """How often intervals of every nominal coverage hold a held-out cell, overall and by how active the rows are.

    nominal, actual         (levels,) coverage that the intervals promise, and the share of the cells that they hold.
    low_share, high_share   (levels,) 90 % interval of that share, cells taken as independent.
    activity, by_activity   (groups,) mean number of training cells of the rows in each tenth of the held-out cells, and
                            the share that intervals of `coverage` hold there.
    truth, mean, low, high  (cells,) held-out cells, expected values and intervals of `coverage`.
    """

    def __init__(
        self, nominal: np.ndarray, actual: np.ndarray, low_share: np.ndarray, high_share: np.ndarray,
        activity: np.ndarray, by_activity: np.ndarray, truth: np.ndarray, mean: np.ndarray, low: np.ndarray,
        high: np.ndarray, coverage: float,
    ) -> None:  # fmt: skip
        self.nominal = nominal
        self.actual = actual
        self.low_share = low_share
        self.high_share = high_share
        self.activity = activity
        self.by_activity = by_activity
        self.truth = truth
        self.mean = mean
        self.low = low
        self.high = high
        self.coverage = coverage

    @property
    def coverage_error(self) -> float:
        """The largest difference between actual and nominal coverage."""
        return float(np.abs(self.actual - self.nominal).max())

    @classmethod
    def from_estimator(
        cls, estimator: Any, rows: Any, columns: Any = None, values: Any = None, *, coverage: float = 0.9
    ) -> IntervalCalibrationDisplay:
        """Of a fitted `BayesianSVD` with a Gaussian link and entries that it has not seen (as in `fit_triplets`)."""
        fits = isinstance(estimator, BayesianSVD) and estimator.link == "gaussian"
        need(cls, "a fitted BayesianSVD with link='gaussian'", estimator, fits)
        check_is_fitted(estimator, "row_ids_")
        if not 0 < coverage < 1:
            raise ValueError(f"coverage={coverage!r} must lie between 0 and 1, for example 0.9.")
        observed = read_triplets(rows, columns, values, who="from_estimator")
        if not len(observed):
            raise ValueError("There is no held-out cell to look at.")
        row, column = observed.rows.labels[observed.row], observed.columns.labels[observed.column]
        truth = observed.values
        ends = {level: estimator.predict_interval(row, column, level) for level in np.unique([*NOMINAL, coverage])}
        inside = np.array([((low <= truth) & (truth <= high)).sum() for low, high in (ends[p] for p in NOMINAL)])
        band = beta.ppf([[0.05], [0.95]], inside + 1, len(truth) - inside + 1)
        low, high = ends[coverage]
        place = estimator._rows.codes(observed.rows.labels)[observed.row]
        counts = np.where(place >= 0, estimator._entries.row_counts[place], 0)
        tenths = np.array_split(np.argsort(counts, kind="stable"), min(GROUPS, max(len(truth) // 20, 1)))
        held = (low <= truth) & (truth <= high)
        return cls(
            NOMINAL, inside / len(truth), band[0], band[1], np.array([counts[t].mean() for t in tenths]),
            np.array([held[t].mean() for t in tenths]), truth, estimator.predict(row, column), low, high, coverage,
        )  # fmt: skip

    def plot(self, ax: Any = None, *, max_cells: int = 200) -> IntervalCalibrationDisplay:
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
        self.draw_curve(canvas(both[0]))
        if len(both) == 2:
            self.draw_intervals(canvas(both[1]), max_cells)
        self.ax_, self.intervals_ax_ = both[0], both[1] if len(both) == 2 else None
        self.figure_ = both[0].figure
        return self

    def draw_curve(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color=QUIET, linewidth=1, linestyle="--", zorder=1)
        ax.fill_between(self.nominal, self.low_share, self.high_share, color=colour(0), alpha=0.2, linewidth=0)
        ax.plot(self.nominal, self.actual, color=colour(0), marker="o", markersize=4, linewidth=1.4, zorder=3)
        if len(self.by_activity) > 1:
            ax.scatter(np.full(len(self.by_activity), self.coverage), self.by_activity, s=14, facecolor="none",
                       edgecolor=INK, linewidth=0.8, zorder=4)  # fmt: skip
            ax.annotate("tenths of the cells,\nby how active\ntheir rows are", (self.coverage, self.by_activity.min()),
                        xytext=(self.coverage - 0.02, 0.3), fontsize="small", color=INK, ha="center",
                        arrowprops={"arrowstyle": "-", "color": QUIET, "shrinkB": 4})  # fmt: skip
        ax.set(xlim=(0, 1), ylim=(0, 1.01), aspect="equal", xlabel="nominal coverage", ylabel="actual coverage")
        n = len(self.truth)
        ax.set_title(f"{n:,} held-out cell{'s' * (n > 1)}, off by at most {self.coverage_error:.2f}", fontsize="medium")

    def draw_intervals(self, ax: Any, max_cells: int) -> None:
        """Intervals by their expected values, the truth a point: blue inside, red outside."""
        order = np.argsort(self.mean, kind="stable")
        order = order[np.unique(np.linspace(0, len(order) - 1, min(max_cells, len(order))).astype(int))]
        truth, low, high = self.truth[order], self.low[order], self.high[order]
        inside, place = (low <= truth) & (truth <= high), np.arange(len(order))
        ax.vlines(place, low, high, color=QUIET, linewidth=1.6, alpha=0.55)
        ax.plot(place, self.mean[order], color=INK, linewidth=1.1)
        ax.scatter(place, truth, s=11, c=np.where(inside, colour(0), ACCENT), linewidth=0, zorder=3)
        ax.set(xticks=[], xlabel="held-out cells, by their expected value", ylabel="value")
        share = float(np.mean((self.low <= self.truth) & (self.truth <= self.high)))
        ax.set_title(f"{self.coverage:.0%} intervals hold {share:.0%} of the cells", fontsize="medium")
