"""Has the fit converged, and do its starts agree? The bound, iteration by iteration."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.base import TableEstimator
from ..estimators.gated_base import GatedClassifier
from .canvas import ACCENT, QUIET, canvas
from .wanted import need

RECORDS = {"lower_bounds_": "lower bound", "log_likelihoods_": "log likelihood"}
"""What an estimator may have recorded, and what it is called."""


class LowerBoundDisplay:
    """One line per fit, the one that is answered from (or the best of all columns) in colour.

    Fits of different columns have bounds of different things. Then each is drawn as what it still had to rise,
    `apart` is True, and only their shapes can be compared.

    bounds      one array per fit, a value per iteration.
    best        the position of the best fit.
    label       what was recorded.
    """

    def __init__(self, bounds: list[np.ndarray], best: int, label: str, apart: bool = False) -> None:
        self.bounds = bounds
        self.best = best
        self.label = label
        self.apart = apart

    @property
    def falls(self) -> np.ndarray:
        """(fits,) by how much each ever fell from one iteration to the next, 0 where it never did."""
        return np.array([max(0.0, -np.diff(bound).min(initial=0.0)) for bound in self.bounds])

    @classmethod
    def from_estimator(cls, estimator: Any) -> LowerBoundDisplay:
        """Of a fitted `IQGMEClassifier` (its bounds) or `QGMEClassifier` (its log likelihoods)."""
        recorded = isinstance(estimator, TableEstimator) and any(hasattr(estimator, name) for name in RECORDS)
        able = isinstance(estimator, GatedClassifier) or recorded
        need(cls, "a fitted IQGMEClassifier or QGMEClassifier", estimator, able)
        check_is_fitted(estimator, "schema_")
        name = next((name for name in RECORDS if len(getattr(estimator, name, ()))), None)
        if name is None:
            raise ValueError(
                f"This {type(estimator).__name__} recorded no bound: it was stopped before its first iteration, or "
                "sampled. Fit it with inference='vb'."
            )
        taken = np.asarray(getattr(estimator, name), float)
        every = getattr(estimator, name[:-1] + "_all_", None) or [taken]
        bounds = [np.asarray(bound, float) for bound in every]
        same = [len(bound) == len(taken) and np.array_equal(bound, taken) for bound in bounds]
        if not any(same):
            bounds, same = [*bounds, taken], [*same, True]
        return cls(bounds, int(np.argmax(same)), RECORDS[name], bool(getattr(estimator, "average", False)))

    def plot(self, ax: Any = None) -> LowerBoundDisplay:
        """Draw on `ax` (by default a new figure); the first, steep part is cut where it would flatten the rest."""
        ax = canvas(ax)
        drawn = [bound - bound[-1] if self.apart and len(bound) else bound for bound in self.bounds]
        order = [k for k in range(len(drawn)) if k != self.best] + [self.best]
        for k in order:
            first, steps = k == self.best, np.arange(1, len(drawn[k]) + 1)
            ax.plot(steps, drawn[k], color=ACCENT if first else QUIET, linewidth=2.0 if first else 1.1,
                    alpha=1.0 if first else 0.8, marker="o" if len(steps) == 1 else None)  # fmt: skip
        ax.scatter(len(drawn[self.best]), drawn[self.best][-1], s=30, color=ACCENT, zorder=4)
        low, high = _window(drawn, self.best)
        if low < high:
            ax.set_ylim(low - 0.06 * (high - low), high + 0.08 * (high - low))
        ax.set(xlabel="iteration", ylabel=f"{self.label}{' less its last value' if self.apart else ''} (nats)")
        n, best = len(self.bounds), self.bounds[self.best]
        words = f"{n} fit{'s' * (n > 1)}, best {best[-1]:,.1f}"
        if len(best) > 1:
            words += f", last step {best[-1] - best[-2]:+.2g}"
        ax.set_title(words, fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _window(bounds: list[np.ndarray], best: int) -> tuple[float, float]:
    """The range worth looking at: from where the best, and half of the others, were early on, to the top."""
    seen = [bound for bound in bounds if len(bound)]
    start = np.sort([bound[min(1, len(bound) - 1)] for bound in seen])
    early = bounds[best][min(2 + len(bounds[best]) // 30, len(bounds[best]) - 1)]
    end = np.array([bound[-1] for bound in seen])
    return float(min(start[len(start) // 2], early, end.min())), float(end.max())
