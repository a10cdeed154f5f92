"""Do intervals hold what they promise? Cells that the model has not seen against its intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.entries import read_triplets
from ..estimators.bayesian_svd import BayesianSVD
from .canvas import INK, QUIET
from .coverage import NOMINAL, CoverageDisplay, draw_curve, draw_intervals, share_band
from .wanted import need

GROUPS = 10


class IntervalCalibrationDisplay(CoverageDisplay):
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
        band = share_band(inside, len(truth))
        low, high = ends[coverage]
        place = estimator._rows.codes(observed.rows.labels)[observed.row]
        counts = np.where(place >= 0, estimator._entries.row_counts[place], 0)
        tenths = np.array_split(np.argsort(counts, kind="stable"), min(GROUPS, max(len(truth) // 20, 1)))
        held = (low <= truth) & (truth <= high)
        return cls(
            NOMINAL, inside / len(truth), band[0], band[1], np.array([counts[t].mean() for t in tenths]),
            np.array([held[t].mean() for t in tenths]), truth, estimator.predict(row, column), low, high, coverage,
        )  # fmt: skip

    def draw_curve(self, ax: Any) -> None:
        draw_curve(self, ax, "held-out cell")
        if len(self.by_activity) > 1:
            ax.scatter(np.full(len(self.by_activity), self.coverage), self.by_activity, s=14, facecolor="none",
                       edgecolor=INK, linewidth=0.8, zorder=4)  # fmt: skip
            ax.annotate("tenths of the cells,\nby how active\ntheir rows are", (self.coverage, self.by_activity.min()),
                        xytext=(self.coverage - 0.02, 0.3), fontsize="small", color=INK, ha="center",
                        arrowprops={"arrowstyle": "-", "color": QUIET, "shrinkB": 4})  # fmt: skip

    def draw_intervals(self, ax: Any, max_cells: int) -> None:
        draw_intervals(self, ax, self.mean, max_cells, "cells")
        ax.set(xlabel="held-out cells, by their expected value", ylabel="value")
