"""How many factors stand above the noise? The posterior over the rank of a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..estimators.bayesian_svd import BayesianSVD
from .canvas import canvas, colour, mark_truth
from .wanted import need


class RankPosteriorDisplay:
    """Bar chart of the posterior over the rank.

    posterior       rank -> probability.
    """

    def __init__(self, posterior: Mapping[int, float]) -> None:
        self.posterior = posterior

    @classmethod
    def from_estimator(cls, estimator: Any) -> RankPosteriorDisplay:
        """Of a fitted `BayesianSVD`."""
        need(cls, "a fitted BayesianSVD", estimator, isinstance(estimator, BayesianSVD))
        check_is_fitted(estimator, "rank_posterior_")
        return cls(dict(estimator.rank_posterior_))

    def plot(self, ax: Any = None, *, truth: int | None = None) -> RankPosteriorDisplay:
        """Draw on `ax` (by default a new figure); `truth` marks a known rank."""
        ax = canvas(ax)
        ranks = sorted(self.posterior)
        ax.bar(ranks, [self.posterior[rank] for rank in ranks], 0.8, color=colour(0))
        if truth is not None:
            mark_truth(ax, truth)
            ranks = sorted({*ranks, truth})
        low, high = max(ranks[0] - 2, -1), ranks[-1] + 2
        step = 1 + (high - low) // 12
        ax.set_xticks([rank for rank in range(max(low, 0), high + 1) if rank % step == 0])
        ax.set(xlim=(low, high), xlabel="rank above the noise edge", ylabel="posterior probability")
        self.ax_, self.figure_ = ax, ax.figure
        return self
