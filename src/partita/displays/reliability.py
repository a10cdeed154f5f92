"""Are the probabilities true? Observed frequency against predicted probability, in bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta

from .canvas import QUIET, canvas, colour
from .wanted import need_probabilities


class ReliabilityDisplay:
    """Reliability diagram.

    With two classes the probability is that of the second class (or of `pos_label`); with more it is that of the
    predicted class, and the frequency is how often the prediction was right.

    predicted, observed     (bins,) mean probability and observed frequency of the rows in each bin that has rows.
    low, high               (bins,) 90 % interval of the frequency (Beta posterior with a uniform prior).
    counts                  (bins,) rows in the bin.
    calibration_error       expected calibration error: mean over rows of |observed - predicted| of their bin.
    """

    def __init__(
        self,
        predicted: np.ndarray,
        observed: np.ndarray,
        low: np.ndarray,
        high: np.ndarray,
        counts: np.ndarray,
        name: str | None = None,
        label: str = "predicted probability",
    ) -> None:
        self.predicted = predicted
        self.observed = observed
        self.low = low
        self.high = high
        self.counts = counts
        self.name = name
        self.label = label

    @property
    def calibration_error(self) -> float:
        return float(np.average(np.abs(self.observed - self.predicted), weights=self.counts))

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, n_bins: int = 10, pos_label: Any = None, name: str | None = None
    ) -> ReliabilityDisplay:
        """Of a fitted classifier on rows it has not seen."""
        need_probabilities(cls, estimator)
        shown = name if name is not None else type(estimator).__name__
        probability = estimator.predict_proba(X)
        return cls.from_predictions(y, probability, estimator.classes_, n_bins=n_bins, pos_label=pos_label, name=shown)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        probability: Any,
        classes: Any,
        *,
        n_bins: int = 10,
        pos_label: Any = None,
        name: str | None = None,
    ) -> ReliabilityDisplay:
        """Of probabilities (rows, classes), the columns in the order of `classes`."""
        chance, right, label = _events(
            np.asarray(y_true), np.asarray(probability, float), np.asarray(classes), pos_label
        )
        place = np.clip((chance * n_bins).astype(int), 0, n_bins - 1)
        counts = np.bincount(place, minlength=n_bins)
        used = counts > 0
        hits = np.bincount(place, weights=right, minlength=n_bins)[used]
        sums = np.bincount(place, weights=chance, minlength=n_bins)[used]
        n = counts[used]
        low, high = beta.ppf([[0.05], [0.95]], hits + 1, n - hits + 1)
        return cls(sums / n, hits / n, low, high, n, name, label)

    def plot(self, ax: Any = None) -> ReliabilityDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        ax = canvas(ax, (4.5, 4.5))
        ax.plot([0, 1], [0, 1], color=QUIET, linewidth=1, linestyle="--", zorder=1)
        ax.vlines(self.predicted, self.low, self.high, color=colour(0), alpha=0.5, linewidth=2, zorder=2)
        area = 20 + 180 * self.counts / self.counts.max()
        ax.scatter(self.predicted, self.observed, s=area, color=colour(0), zorder=3, clip_on=False)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=self.label, ylabel="observed frequency", aspect="equal")
        title = f"calibration error {self.calibration_error:.3f}"
        ax.set_title(f"{self.name}: {title}" if self.name else title, fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _events(y: np.ndarray, p: np.ndarray, classes: np.ndarray, pos_label: Any) -> tuple[np.ndarray, np.ndarray, str]:
    """What was given a probability in each row, and whether it happened."""
    if p.shape != (len(y), len(classes)):
        raise ValueError(
            f"probability has shape {p.shape}, expected {(len(y), len(classes))}: "
            "one row per label, one column per class."
        )
    strange = sorted({str(label) for label in y} - {str(label) for label in classes})
    if strange:
        raise ValueError(f"y_true holds labels that are not in classes: {', '.join(strange)}. Leave those rows out.")
    if pos_label is None and len(classes) != 2:
        best = p.argmax(axis=1)
        return p[np.arange(len(y)), best], (classes[best] == y).astype(float), "probability of the predicted class"
    chosen = classes[-1] if pos_label is None else pos_label
    place = np.flatnonzero(classes == chosen)
    if not len(place):
        raise ValueError(f"pos_label={pos_label!r} is no class. Classes: {', '.join(map(str, classes))}.")
    return p[:, place[0]], (y == chosen).astype(float), f"probability of {chosen}"
