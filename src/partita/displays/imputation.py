"""Do imputed intervals hold what they promise? Removed cells against the quantiles of their laws."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.encode import encode
from .coverage import NOMINAL, CoverageDisplay, draw_intervals, share_band
from .filled_cells import chosen_columns
from .wanted import need_method


class ImputationDisplay(CoverageDisplay):
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
        band = share_band(inside, len(truth))
        unit = np.nanstd(full.reals, axis=0)
        unit = np.broadcast_to(np.where(unit > 0, unit, 1.0), full.reals.shape)[numeric]
        centre = np.broadcast_to(np.nanmean(np.where(numeric.any(axis=0), full.reals, 0.0), axis=0), full.reals.shape)
        here, middle, below, above = ((v - centre[numeric]) / unit for v in (truth, median, low[drawn], high[drawn]))
        return cls(NOMINAL, inside / len(truth), band[0], band[1], here, middle, below, above, coverage)

    def draw_intervals(self, ax: Any, max_cells: int) -> None:
        draw_intervals(self, ax, self.median, max_cells, "truths")
        ax.set(xlabel="removed cells, by the median of their law", ylabel="standard deviations of the column")


def _takes_quantiles(estimator: Any) -> bool:
    return hasattr(estimator, "impute") and "quantiles" in inspect.signature(estimator.impute).parameters
