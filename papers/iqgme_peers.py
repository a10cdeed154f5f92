"""Classifiers that the thesis compares with, after two ways to fill holes: by means, and by conditional means.

Support vector machines have Platt's probabilities where these matter. The thesis also runs relevance vector machines,
and cites LR-Integration; neither is run here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

UNCOND, COND = "Uncond", "Cond"


def filler(kind: str) -> Any:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, SimpleImputer

    if kind == UNCOND:
        return SimpleImputer(keep_empty_features=True)
    return IterativeImputer(random_state=0, keep_empty_features=True)


def calibrated(machine: Any, y: np.ndarray) -> Any:
    folds = int(np.clip(np.bincount(y).min(), 2, 5))
    return CalibratedClassifierCV(machine, cv=folds, ensemble=False)


MODELS: dict[str, Callable[[np.ndarray], Any]] = {
    "SVM-RBF": lambda y: calibrated(SVC(), y),
    "SVM-Linear": lambda y: calibrated(SVC(kernel="linear"), y),
    "Logistic": lambda y: LogisticRegression(max_iter=2000),
}
NAMES = tuple(f"{model}-{fill}" for model in MODELS for fill in (UNCOND, COND))


def peer_answers(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, names: tuple[str, ...] = NAMES
) -> dict[str, np.ndarray]:
    """Probability of class 1 of the test rows by every peer; rows are filled once for each way."""
    seen = np.flatnonzero(~np.isnan(X).all(axis=0) & (np.nanmax(X, axis=0) > np.nanmin(X, axis=0)))
    out = {}
    for fill in (UNCOND, COND):
        if not any(name.endswith("-" + fill) for name in names):
            continue
        ready = make_pipeline(StandardScaler(), filler(fill)).fit(X[:, seen])
        rows, asked = ready.transform(X[:, seen]), ready.transform(X_test[:, seen])
        for model, make in MODELS.items():
            if f"{model}-{fill}" in names:
                out[f"{model}-{fill}"] = make(y).fit(rows, y).predict_proba(asked)[:, 1]
    return out
