"""How good are predicted probabilities on rows that were held out?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from partita.displays.reliability import ReliabilityDisplay
from partita.report.tables import align


@dataclass(frozen=True)
class Scores:
    """Held-out scores of one classifier.

    log_loss            mean of -log of the probability given to the true class, in nats.
    auc                 area under the ROC curve; with more classes the mean over pairs; NaN where a class is absent.
    calibration_error   expected calibration error, see `ReliabilityDisplay`.
    error_rate          share of rows whose most probable class is wrong.
    seconds             to fit and predict; NaN where not measured.
    """

    name: str
    log_loss: float
    auc: float
    calibration_error: float
    error_rate: float
    seconds: float = float("nan")


def score(name: str, y: Any, probability: np.ndarray, classes: np.ndarray, seconds: float = float("nan")) -> Scores:
    """Scores of probabilities (rows, classes) for the labels y."""
    y, classes = np.asarray(y), np.asarray(classes)
    reliability = ReliabilityDisplay.from_predictions(y, probability, classes)
    return Scores(
        name,
        float(log_loss(y, probability, labels=classes)),
        _auc(y, probability, classes),
        reliability.calibration_error,
        float(np.mean(classes[probability.argmax(axis=1)] != y)),
        seconds,
    )


def compare(
    models: Mapping[str, Any],
    train: tuple[Any, Any],
    test: tuple[Any, Any],
    tell: Callable[[str], None] = lambda name: None,
) -> tuple[list[Scores], dict[str, np.ndarray]]:
    """Fit every model on the same rows and score it on the same others; also the probabilities by name.

    tell        called with the name of each model before it is fitted.
    """
    scores, probabilities = [], {}
    for name, model in models.items():
        tell(name)
        start = time.perf_counter()
        model.fit(*train)
        probabilities[name] = model.predict_proba(test[0])
        scores.append(score(name, test[1], probabilities[name], model.classes_, time.perf_counter() - start))
    return scores, probabilities


def scores_text(scores: list[Scores]) -> str:
    """The scores as an aligned table."""
    rows = [
        (
            s.name,
            f"{s.log_loss:.3f}",
            f"{s.auc:.3f}",
            f"{s.calibration_error:.3f}",
            f"{s.error_rate:.3f}",
            f"{s.seconds:.1f}",
        )
        for s in scores
    ]
    return align(
        ("model", "log-loss", "AUC", "calibration error", "error rate", "seconds"), rows, right=(1, 2, 3, 4, 5)
    )


def _auc(y: np.ndarray, probability: np.ndarray, classes: np.ndarray) -> float:
    if len(np.unique(y)) < len(classes) or len(classes) < 2:
        return float("nan")
    if len(classes) == 2:
        return float(roc_auc_score(y == classes[1], probability[:, 1]))
    return float(roc_auc_score(y, probability, multi_class="ovo", labels=classes))
