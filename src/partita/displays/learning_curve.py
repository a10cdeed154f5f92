"""How fast does a model learn from a stream? Held-out log-loss against rows seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from .canvas import INK, canvas, colour
from .wanted import need_probabilities


class LearningCurveDisplay:
    """One line per model.

    curves      name -> (rows seen, scores), two arrays of one length.
    label       what the scores are.
    """

    def __init__(self, curves: Mapping[str, tuple[np.ndarray, np.ndarray]], label: str = "held-out log-loss") -> None:
        self.curves = dict(curves)
        self.label = label

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        batches: Iterable[tuple[Any, Any]],
        X: Any,
        y: Any,
        *,
        classes: Any,
        name: str | None = None,
    ) -> LearningCurveDisplay:
        """Let a classifier learn from `batches`, pairs (rows, labels); after each, its log-loss on X and y.

        classes     all labels there are; the first batch need not hold them all.
        """
        need_probabilities(cls, estimator, "partial_fit")
        if len(np.unique(np.asarray(classes))) < 2:
            raise ValueError(f"classes={classes!r} names one class only; a learning curve needs two to tell apart.")
        seen, scores, rows = [], [], 0
        for X_batch, y_batch in batches:
            estimator.partial_fit(X_batch, y_batch, classes=classes)
            rows += len(X_batch)
            seen.append(rows)
            scores.append(log_loss(y, estimator.predict_proba(X), labels=estimator.classes_))
        if not seen:
            raise ValueError("batches is empty: give at least one pair (rows, labels).")
        return cls({name or type(estimator).__name__: (np.array(seen), np.array(scores))})

    @classmethod
    def from_scores(
        cls, rows: Any, scores: Any, *, name: str = "", label: str = "held-out log-loss"
    ) -> LearningCurveDisplay:
        """Of scores that are already there, one for each number of rows seen."""
        rows, scores = np.asarray(rows), np.asarray(scores, float)
        if rows.shape != scores.shape or rows.ndim != 1:
            raise ValueError(f"rows and scores must be two lists of one length, got {rows.shape} and {scores.shape}.")
        return cls({name: (rows, scores)}, label)

    def __or__(self, other: LearningCurveDisplay) -> LearningCurveDisplay:
        """Both in one picture."""
        return LearningCurveDisplay({**self.curves, **other.curves}, self.label)

    def plot(
        self, ax: Any = None, *, events: Mapping[float, str] | None = None, log: bool = False
    ) -> LearningCurveDisplay:
        """Draw on `ax` (by default a new figure).

        events      rows seen -> words: a thin line with the words beside it.
        log         True for a logarithmic axis of rows.
        """
        ax = canvas(ax, (6.4, 4.0))
        for k, (name, (rows, scores)) in enumerate(self.curves.items()):
            ax.plot(rows, scores, color=colour(k), linewidth=1.8, label=name, marker="o", markersize=3)
        top = max(float(scores.max()) for _, scores in self.curves.values())
        ax.set(xlabel="rows seen", ylabel=self.label, ylim=(0, 1.08 * top))
        if log:
            ax.set_xscale("log")
        for place, words in (events or {}).items():
            ax.axvline(place, color=INK, linewidth=0.8, linestyle=":", zorder=0)
            ax.annotate(words, (place, 1), xycoords=("data", "axes fraction"), xytext=(4, -2),
                        textcoords="offset points", va="top", fontsize="small", color=INK)  # fmt: skip
        if any(self.curves):
            ax.legend(frameon=False, fontsize="small")
        self.ax_, self.figure_ = ax, ax.figure
        return self
