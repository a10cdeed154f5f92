"""Which regions were found, in which order, and how far to trust them? The greedy path with its hilltop."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import ACCENT, INK, QUIET, canvas
from .region_names import names_of, region_name

MOST_NAMED = 40


class RegionPathDisplay:
    """Log posterior and log-likelihood of every stage of a path.

    regions             name of the region added at each stage.
    log_likelihood      (stages,) conditional log-likelihood of the training rows.
    log_posterior       (stages,) with the parsimonious prior added.
    weight              (stages,) posterior weights.
    hilltop             stage with the largest posterior.
    """

    def __init__(
        self, regions: list[str], log_likelihood: np.ndarray, log_posterior: np.ndarray, weight: np.ndarray
    ) -> None:
        self.regions = regions
        self.log_likelihood = log_likelihood
        self.log_posterior = log_posterior
        self.weight = weight
        self.hilltop = int(np.argmax(log_posterior))

    @classmethod
    def from_estimator(cls, estimator: Any) -> RegionPathDisplay:
        """Of a fitted `KikuchiBayesClassifier`."""
        names = names_of(cls, estimator)
        path = estimator.path_
        columns = (np.asarray(path[name], float) for name in ("log_likelihood", "log_posterior", "weight"))
        return cls([region_name(region, names) for region in path["region"]], *columns)

    def plot(self, ax: Any = None) -> RegionPathDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        n = len(self.regions)
        ax = canvas(ax, (max(5.2, min(0.24 * n + 1.6, 12.0)), 4.4))
        stages = np.arange(n)
        beyond = n - 1 - self.hilltop
        if beyond:
            ax.axvspan(self.hilltop, n - 1, color=QUIET, alpha=0.15, linewidth=0)
        ax.plot(stages, self.log_likelihood, color=QUIET, marker=".", label="log likelihood")
        ax.plot(stages, self.log_posterior, color=INK, marker="o", markersize=3.5, label="log posterior")
        ax.plot(self.hilltop, self.log_posterior[self.hilltop], "o", color=ACCENT, markersize=8, label="hilltop")
        shown = stages if n <= MOST_NAMED else np.unique(np.append(stages[:: -(-n // MOST_NAMED)], self.hilltop))
        ax.set_xticks(shown, [self.regions[k] for k in shown], rotation=90, fontsize=7, parse_math=False)
        ax.set(ylabel="nats", xlabel="region added")
        regions = "1 region" if self.hilltop == 1 else f"{self.hilltop} regions"
        ax.set_title(f"{regions} to the hilltop, {beyond} beyond", fontsize="medium")
        ax.legend(frameon=False, loc="best", fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
