"""Have the chains settled? What they recorded at every sweep."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.bayesian_svd import BayesianSVD
from ..estimators.groups_base import GroupsEstimator
from ..estimators.structure_learner import StructureLearner
from .canvas import QUIET, canvas, colour
from .wanted import need


class TraceDisplay:
    """One line per chain; the sweeps that no answer uses are shaded: the first half, or those before `kept_from`.

    trace       (chains, sweeps) one recorded number.
    name        what was recorded.
    r_hat       its R-hat over the other sweeps, None where not known; near 1 means that the chains agree.
    kept_from   first sweep that answers use, counted from 0; None: half of them.
    """

    def __init__(
        self, trace: np.ndarray, name: str, r_hat: float | None = None, kept_from: int | None = None
    ) -> None:
        self.trace = trace
        self.name = name
        self.r_hat = r_hat
        self.kept_from = kept_from

    @classmethod
    def from_estimator(cls, estimator: Any, name: str | None = None) -> TraceDisplay:
        """Of a `BayesianSVD`, a `StructureLearner`, or a mixture fitted by chains (`inference="gibbs"`).

        name        which of the recorded numbers (the keys of `trace_`); by default the first.
        """
        able = isinstance(estimator, GroupsEstimator | BayesianSVD | StructureLearner)
        need(cls, "a fitted CRPMixture, AClass, BayesianSVD or StructureLearner", estimator, able)
        check_is_fitted(estimator)
        traces = getattr(estimator, "trace_", None)
        if not traces:
            raise ValueError(f"This {type(estimator).__name__} has no trace_: {_why_none(estimator)}")
        name = next(iter(traces)) if name is None else name
        if name not in traces:
            raise ValueError(f"name={name!r} was not recorded. Recorded: {', '.join(map(repr, traces))}.")
        trace, diagnosed = np.asarray(traces[name]), getattr(estimator, "diagnostics_", {})
        if isinstance(estimator, StructureLearner):
            prior, _, recorded = name.partition("/")
            entry = diagnosed.get(prior, {}).get(recorded)
            burn_in = estimator.n_sweeps // 5 if estimator.burn_in is None else estimator.burn_in
            kept_from = min(int(burn_in), trace.shape[1])
        else:
            entry, kept_from = diagnosed.get(name), getattr(estimator, "n_dropped_", None)
        return cls(trace, name, None if entry is None else entry["r_hat"], kept_from)

    def plot(self, ax: Any = None) -> TraceDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        ax = canvas(ax)
        sweeps = np.arange(1, self.trace.shape[1] + 1)
        dropped = len(sweeps) / 2 if self.kept_from is None else self.kept_from
        ax.axvspan(1, max(1.0, dropped + 0.5), color=QUIET, alpha=0.18, linewidth=0)
        for k, line in enumerate(self.trace):
            ax.plot(sweeps, line, color=colour(k), linewidth=1.1, alpha=0.75)
        ax.set(xlabel="sweep", ylabel=_in_words(self.name))
        ax.margins(x=0)
        ax.xaxis.get_major_locator().set_params(integer=True)
        if (self.trace % 1 == 0).all():
            ax.yaxis.get_major_locator().set_params(integer=True)
        title = f"{len(self.trace)} chains"
        if self.r_hat is not None and np.isfinite(self.r_hat):
            title += f", {r_hat_text(self.r_hat)}"
        ax.set_title(title, fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _in_words(name: str) -> str:
    """What was recorded, as it stands beside an axis: block/n_classes is "block: number of classes"."""
    return re.sub(r"\bn_", "number of ", name).replace("_", " ").replace("/", ": ")


def r_hat_text(value: float) -> str:
    """Chains that never meet have R-hats of any size, which say no more than that they are large."""
    return f"R-hat {value:.2f}" if value < 10 else "R-hat above 10"


def _why_none(estimator: Any) -> str:
    if isinstance(estimator, StructureLearner):
        return "its edges are exact, no chain was run. Fit it with exact=False to watch chains."
    return "it learnt from a stream. Fit it with inference='gibbs' to watch its chains."
