"""KikuchiBayesClassifier head to head with its two strongest peers, on the UCI tables of the paper.

    python -m benchmarks.kikuchi_strong_peers lr              logistic regression, its penalty by inner cross-validation
    python -m benchmarks.kikuchi_strong_peers ebm car monk2   explainable boosting machine, on some tables

Logistic regression sees the bins of the numeric columns (learnt inside the fold, as ours) and the standardised numbers;
C is chosen among ten by five inner folds of log-loss. Explainable boosting (interpret-core) is at its defaults, one
thread. Folds: StratifiedKFold(5, shuffle=True, random_state=repetition).
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from benchmarks.kikuchi_tables import TABLES, load
from partita import KikuchiBayesClassifier, MDLPDiscretizer, kernels

SMALLEST = 1e-5  # as in kikuchi_ranks


class RidgedByCrossValidation:
    """Logistic regression on bins, levels and numbers."""

    def __init__(self, numeric: np.ndarray, kinds: dict) -> None:
        self.numeric, self.kinds = numeric, kinds

    def fit(self, frame, y: np.ndarray) -> RidgedByCrossValidation:
        self.bins = MDLPDiscretizer(column_kinds=self.kinds).fit(frame, y)
        numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
        levels = OneHotEncoder(handle_unknown="ignore")
        x = self._columns(frame)
        parts = [("levels", levels, list(range(len(self.numeric))))]
        if self.numeric.any():
            parts.append(("numbers", numbers, list(range(len(self.numeric), x.shape[1]))))
        inner = StratifiedKFold(max(2, min(5, int(np.bincount(y).min()))), shuffle=True, random_state=0)
        regression = LogisticRegressionCV(Cs=10, cv=inner, scoring="neg_log_loss", max_iter=500)
        self.model = make_pipeline(ColumnTransformer(parts), regression).fit(x, y)
        return self

    def _columns(self, frame) -> np.ndarray:
        bins = np.asarray(self.bins.transform(frame), dtype=object).astype(str)
        return np.concatenate([bins, frame.loc[:, self.numeric].to_numpy(object)], axis=1)

    def predict_proba(self, frame) -> np.ndarray:
        return self.model.predict_proba(self._columns(frame))


def explainable(numeric: np.ndarray):
    from interpret.glassbox import ExplainableBoostingClassifier

    types = ["continuous" if is_numeric else "nominal" for is_numeric in numeric]
    return ExplainableBoostingClassifier(n_jobs=1, random_state=0, feature_types=types)


def loss(make: Callable, frame, label: np.ndarray, repetition: int, folds: int) -> tuple[float, float]:
    """Mean log-loss over the folds, and CPU seconds of a fit."""
    losses, seconds = [], []
    for k, (train, test) in enumerate(StratifiedKFold(5, shuffle=True, random_state=repetition).split(frame, label)):
        if k >= folds:
            break
        known, y = np.unique(label[train], return_inverse=True)
        start = time.process_time()
        model = make().fit(frame.iloc[train], y)
        seconds.append(time.process_time() - start)
        p = np.full((len(test), int(label.max()) + 1), SMALLEST)
        p[:, known] = model.predict_proba(frame.iloc[test])
        losses.append(-np.log(np.clip(p[np.arange(len(test)), label[test]], SMALLEST, 1)).mean())
    return float(np.mean(losses)), float(np.mean(seconds))


def one_table(name: str, peer: str, repetition: int, folds: int) -> np.ndarray:
    """Log-loss and seconds of ours, then of the peer."""
    frame, label, numeric, kinds = load(name)
    ours = loss(lambda: KikuchiBayesClassifier(column_kinds=kinds, random_state=0), frame, label, repetition, folds)
    if peer == "lr":
        theirs = loss(lambda: RidgedByCrossValidation(numeric, kinds), frame, label, repetition, folds)
    else:
        text = frame.copy()
        for column in frame.columns[~numeric]:
            text[column] = frame[column].astype(object).where(frame[column].notna(), "missing").astype(str)
        theirs = loss(lambda: explainable(numeric), text, label, repetition, folds)
    return np.array([*ours, *theirs])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", choices=("lr", "ebm"))
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--repetition", type=int, default=1)
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_intermixed_args(arguments)
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    warnings.simplefilter("ignore")
    rows = []
    for name in options.tables or TABLES:
        try:
            row = one_table(name, options.peer, options.repetition, options.folds)
        except Exception as error:  # a peer that refuses a table
            print(f"{name:14s} {type(error).__name__}: {str(error)[:80]}", flush=True)
            continue
        rows.append(row)
        print(f"{name:14s} ours {row[0]:.4f} {row[1]:.3f}s  {options.peer} {row[2]:.4f} {row[3]:.3f}s", flush=True)
    table = np.array(rows)
    wins = int((table[:, 0] < table[:, 2]).sum())
    ours, theirs = table[:, 0].mean(), table[:, 2].mean()
    print(f"{len(rows)} tables: ours {ours:.4f}, {options.peer} {theirs:.4f}; ours is lower on {wins}")


if __name__ == "__main__":
    main()
