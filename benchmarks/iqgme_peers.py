"""What the gated experts are measured against: usual classifiers after usual imputers, and trees that take holes.

Numbers are standardised by the training rows; levels are one-hot, all of a missing cell's columns missing, and imputed
as numbers are. All imputers see training rows only. Support vector machines get probabilities by Platt's method, from
cross-validation inside the training rows.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from benchmarks.iqgme_sets import Trial

OURS, ONE = "IQGME average", "IQGME one fit"
SVM = "SVM-RBF"
FILLS = ("iterative", "mean", "kNN")
TREES = 300


def expand(trial: Trial) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows as numbers, NaN where missing; columns without two values in training are left out."""
    train, test = trial.x[trial.train], trial.x[trial.test]
    parts = []
    for j, numeric in enumerate(trial.numeric):
        seen = train[~np.isnan(train[:, j]), j]
        levels = np.unique(seen)
        if len(levels) < 2:
            continue
        if numeric:
            parts.append(tuple((half[:, j : j + 1] - seen.mean()) / seen.std() for half in (train, test)))
        else:
            shown = levels[1:] if len(levels) == 2 else levels
            parts.append(tuple(_one_hot(half[:, j], shown) for half in (train, test)))
    if not parts:
        return np.zeros((len(train), 1)), np.zeros((len(test), 1))
    return np.hstack([part[0] for part in parts]), np.hstack([part[1] for part in parts])


def _one_hot(cells: np.ndarray, levels: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(cells)[:, None], np.nan, cells[:, None] == levels)


def imputers() -> dict[str, Callable[[], Any]]:
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    return {
        "mean": lambda: SimpleImputer(keep_empty_features=True),
        "kNN": lambda: KNNImputer(keep_empty_features=True),
        "iterative": lambda: IterativeImputer(random_state=0, keep_empty_features=True),
    }


def calibrated_svm(y: np.ndarray) -> Any:
    """SVM-RBF with Platt's probabilities; the machine itself is fitted to all training rows."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.svm import SVC

    folds = int(np.clip(np.bincount(y)[np.unique(y)].min(), 2, 5))
    return CalibratedClassifierCV(SVC(), cv=folds, ensemble=False)


def forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(TREES, random_state=0)


def native() -> dict[str, Callable[[], Any]]:
    """Those that take NaN as it is."""
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier

    models: dict[str, Callable[[], Any]] = {
        "ExtraTrees": lambda: ExtraTreesClassifier(TREES, random_state=0),
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    }
    try:
        from lightgbm import LGBMClassifier

        models["LightGBM"] = lambda: LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
    except ImportError:
        pass
    return models


def methods(fills: tuple[str, ...] = FILLS) -> list[str]:
    """Names of all methods, ours first."""
    return [OURS, ONE, *(f"{model} + {fill}" for fill in fills for model in (SVM, "RandomForest")), *native()]


def ours(name: str, trial: Trial) -> Any:
    from partita import IQGMEClassifier

    # Widths of the laws of missing cells are not learnt: they change no probability of a class.
    return IQGMEClassifier(average=name == OURS, column_kinds=trial.kinds, cell_folds=0, random_state=0, n_jobs=1)


def answers(trial: Trial, wanted: list[str]) -> dict[str, tuple[np.ndarray, float]]:
    """Of every method, class probabilities (test rows, C) and CPU seconds with its imputation."""
    raw, y = expand(trial), trial.y[trial.train]

    @cache
    def filled(fill: str) -> tuple[np.ndarray, np.ndarray, float]:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            imputer = imputers()[fill]()
            pair = imputer.fit_transform(raw[0]), imputer.transform(raw[1])
        return *pair, time.process_time() - start

    out = {}
    for name in wanted:
        before, seconds = time.process_time(), 0.0
        if name in (OURS, ONE):
            rows, model = (trial.x[trial.train], trial.x[trial.test]), ours(name, trial)
        elif " + " in name:
            first, second, seconds = filled(name.split(" + ")[1])
            rows, model = (first, second), calibrated_svm(y) if name.startswith(SVM) else forest()
            before = time.process_time()
        else:
            rows, model = raw, native()[name]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(rows[0], y)
            proba = np.zeros((len(trial.test), trial.n_classes))
            proba[:, model.classes_] = model.predict_proba(rows[1])
        out[name] = proba, seconds + time.process_time() - before
    return out
