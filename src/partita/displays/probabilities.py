"""How sure is the classifier, and of whom? Predicted probabilities by true class."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import GROUPS, canvas, shades
from .wanted import need_probabilities

FEW = len(GROUPS)  # classes with a colour of their own, and room for a legend among the bars


class ProbabilitiesDisplay:
    """Histogram of predicted probabilities, one colour per true class; of many classes, named beside it.

    With two classes the probability is that of the second class, so that the two colours should lie at opposite ends;
    with more it is that of the row's true class, and all should lie to the right.

    chances         one array per class: the probabilities of the rows that are of this class.
    """

    def __init__(self, chances: list[np.ndarray], classes: np.ndarray, label: str, name: str | None = None) -> None:
        self.chances = chances
        self.classes = classes
        self.label = label
        self.name = name

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, name: str | None = None) -> ProbabilitiesDisplay:
        """Of a fitted classifier on rows it has not seen."""
        need_probabilities(cls, estimator)
        shown = name if name is not None else type(estimator).__name__
        return cls.from_predictions(y, estimator.predict_proba(X), estimator.classes_, name=shown)

    @classmethod
    def from_predictions(
        cls, y_true: Any, probability: Any, classes: Any, *, name: str | None = None
    ) -> ProbabilitiesDisplay:
        """Of probabilities (rows, classes), the columns in the order of `classes`."""
        y, p, classes = np.asarray(y_true), np.asarray(probability, float), np.asarray(classes)
        if p.shape != (len(y), len(classes)):
            raise ValueError(
                f"probability has shape {p.shape}, expected {(len(y), len(classes))}: "
                "one row per label, one column per class."
            )
        two = len(classes) == 2
        chances = [p[y == own, 1 if two else k] for k, own in enumerate(classes)]
        label = f"probability of {classes[1]}" if two else "probability of the true class"
        return cls(chances, classes, label, name)

    def plot(self, ax: Any = None) -> ProbabilitiesDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        n = len(self.classes)
        many = n > FEW
        ax = canvas(ax, (7.0 if many else 4.5, 4.5))
        names = [f"{own} ({len(chance)})" for own, chance in zip(self.classes, self.chances)]
        bins = list(np.linspace(0, 1, 21))
        ax.hist(self.chances, bins=bins, stacked=True, label=names, color=shades(n))
        ax.set(xlim=(-0.02, 1.02), xlabel=self.label, ylabel="rows")
        beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "ncols": -(-n // 20)} if many else {}
        ax.legend(title="true class (rows)", fontsize="small", title_fontsize="small", frameon=False, **beside)
        if self.name:
            ax.set_title(self.name, fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self
