"""Have the chains settled? What they recorded at every sweep."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.mixture_base import MixtureEstimator
from .canvas import QUIET, canvas, colour
from .wanted import need


class TraceDisplay:
    """One line per chain; the first half, which no answer uses, is shaded.

    trace       (chains, sweeps) one recorded number.
    name        what was recorded.
    r_hat       its R-hat over the second half, None where not known; near 1 means that the chains agree.
    """

    def __init__(self, trace: np.ndarray, name: str, r_hat: float | None = None) -> None:
        self.trace = trace
        self.name = name
        self.r_hat = r_hat

    @classmethod
    def from_estimator(cls, estimator: Any, name: str | None = None) -> TraceDisplay:
        """Of a model fitted by chains (`inference="gibbs"`).

        name        which of the recorded numbers (the keys of `trace_`); by default the first.
        """
        need(cls, "a fitted CRPMixture or AClass", estimator, isinstance(estimator, MixtureEstimator))
        check_is_fitted(estimator)
        traces = getattr(estimator, "trace_", None)
        if not traces:
            raise ValueError(
                f"This {type(estimator).__name__} has no trace_: it learnt from a stream. "
                "Fit it with inference='gibbs' to watch its chains."
            )
        name = next(iter(traces)) if name is None else name
        if name not in traces:
            raise ValueError(f"name={name!r} was not recorded. Recorded: {', '.join(map(repr, traces))}.")
        diagnosed = getattr(estimator, "diagnostics_", {}).get(name)
        return cls(np.asarray(traces[name]), name, None if diagnosed is None else diagnosed["r_hat"])

    def plot(self, ax: Any = None) -> TraceDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        ax = canvas(ax)
        sweeps = np.arange(1, self.trace.shape[1] + 1)
        ax.axvspan(1, max(1.0, len(sweeps) / 2 + 0.5), color=QUIET, alpha=0.18, linewidth=0)
        for k, line in enumerate(self.trace):
            ax.plot(sweeps, line, color=colour(k), linewidth=1.1, alpha=0.75)
        ax.set(xlabel="sweep", ylabel=self.name.replace("_", " "))
        ax.margins(x=0)
        title = f"{len(self.trace)} chains"
        if self.r_hat is not None and np.isfinite(self.r_hat):
            title += f", R-hat {self.r_hat:.2f}"
        ax.set_title(title, fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self
