"""Kikuchi-Bayes on the 46 UCI tables of the paper: held-out log-loss, rank and CPU time beside usual choices.

    python -m benchmarks.kikuchi_tables                        all tables, 5 folds
    python -m benchmarks.kikuchi_tables --folds 1 car monk2    some of them, the first fold only

Discretisation happens inside the folds; everything is at its defaults, one thread. Times are those of one run and only
comparable within it. Needs the UCI tables (PARTITA_DATA, or ../shared/data beside the repository) and, optionally,
xgboost and lightgbm.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from partita import KikuchiBayesClassifier, kernels

BESIDE = Path(__file__).resolve().parents[2] / "shared"
os.environ.setdefault("PARTITA_DATA", str(BESIDE / "data"))
TABLES = (
    "horse-colic hepatitis ionosphere vehicle voting monk2 primary-tumor heart post-op wdbc promoters lymphography cmc "
    "crx kr-vs-kp glass australian titanic segment lenses monk1 soybean-small mushroom shuttle car breast-lj monk3 "
    "bupa tic-tac-toe pima iris spambase breast-wisc german anneal ecoli hayes-roth balance-scale soybean-large o-ring "
    "lung-cancer audiology wine yeast-class zoo adult"
).split()
SMALLEST = 1e-9


def load(name: str):
    """The frame, labels 0 .. C - 1, and whether each column is numeric."""
    import pandas as pd

    from partita.datasets import fetch_uci

    bunch = fetch_uci(name)
    frame = bunch.data.loc[:, bunch.data.notna().any()]
    label = pd.factorize(pd.Series(np.asarray(bunch.target)), sort=True)[0]
    numeric = [bunch.column_kinds[column] in ("real", "count") for column in frame.columns]
    cells = {}
    for column, is_numeric in zip(frame.columns, numeric, strict=True):
        x = frame[column]  # levels as text: XGBoost refuses others
        cells[column] = x.astype(float) if is_numeric else x.map(str, na_action="ignore").astype("category")
    frame = pd.DataFrame(cells)
    return frame, label, np.array(numeric), {c: bunch.column_kinds[c] for c in frame.columns}


def logistic(frame, numeric: np.ndarray):
    """Ridged logistic regression on standardised numbers and one-hot levels, missing a level of its own."""
    columns = frame.columns.to_numpy()
    numbers = make_pipeline(SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler())
    levels = OneHotEncoder(handle_unknown="ignore")
    parts = [("numbers", numbers, columns[numeric]), ("levels", levels, columns[~numeric])]
    return make_pipeline(ColumnTransformer([p for p in parts if len(p[2])]), LogisticRegression(max_iter=2000))


def methods(frame, numeric: np.ndarray, kinds: dict) -> dict[str, Callable]:
    out: dict[str, Callable] = {
        "KikuchiBayes": lambda: KikuchiBayesClassifier(column_kinds=kinds, random_state=0),
        "KikuchiBayes paper": lambda: KikuchiBayesClassifier(estimate="paper", column_kinds=kinds),
        "LR": lambda: logistic(frame, numeric),
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
    }
    try:
        from xgboost import XGBClassifier

        out["XGBoost"] = lambda: XGBClassifier(n_jobs=1, enable_categorical=True)
    except ImportError:
        pass
    try:
        from lightgbm import LGBMClassifier

        out["LightGBM"] = lambda: LGBMClassifier(n_jobs=1, verbose=-1)
    except ImportError:
        pass
    return out


def one_table(name: str, folds: int) -> dict[str, tuple[float, float]]:
    """Mean log-loss and CPU seconds of a fit, of every method. A class that a fold lacks has a tiny probability."""
    frame, label, numeric, kinds = load(name)
    plain = frame.rename(columns={c: f"f{i}" for i, c in enumerate(frame.columns)})  # peers refuse some names
    n_classes = int(label.max()) + 1
    results: dict[str, list[tuple[float, float]]] = {}
    for k, (train, test) in enumerate(StratifiedKFold(5, shuffle=True, random_state=0).split(frame, label)):
        if k >= folds:
            break
        known, y = np.unique(label[train], return_inverse=True)
        for method, make in methods(frame, numeric, kinds).items():
            x = plain if method in ("XGBoost", "LightGBM") else frame
            model, start = make(), time.process_time()
            model.fit(x.iloc[train], y)
            seconds = time.process_time() - start
            p = np.full((len(test), n_classes), SMALLEST)
            p[:, known] = model.predict_proba(x.iloc[test])
            loss = -np.log(np.clip(p[np.arange(len(test)), label[test]], SMALLEST, 1)).mean()
            results.setdefault(method, []).append((loss, seconds))
    return {method: tuple(np.mean(rows, axis=0)) for method, rows in results.items()}


def report(scores: dict[str, dict[str, tuple[float, float]]]) -> None:
    from scipy.stats import rankdata

    names = list(next(iter(scores.values())))
    losses = np.array([[table[m][0] for m in names] for table in scores.values()])
    seconds = np.array([[table[m][1] for m in names] for table in scores.values()])
    ranks = np.array([rankdata(row) for row in losses])
    base = names.index("XGBoost") if "XGBoost" in names else 0
    print(f"\n{len(losses)} tables; CPU time of a fit over {names[base]}'s: median over tables, and of the sums")
    print(f"{'method':22s} {'log-loss':>9s} {'rank':>6s} {'median':>8s} {'total':>8s}")
    for m, name in enumerate(names):
        ratio = np.median(seconds[:, m] / seconds[:, base]), seconds[:, m].sum() / seconds[:, base].sum()
        print(f"{name:22s} {losses[:, m].mean():9.4f} {ranks[:, m].mean():6.2f} {ratio[0]:8.2f} {ratio[1]:8.2f}")


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Kikuchi-Bayes and peers on the UCI tables of the paper")
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_intermixed_args(arguments)
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    warnings.simplefilter("ignore")
    scores = {}
    for name in options.tables or TABLES:
        scores[name] = one_table(name, options.folds)
        print(f"{name:14s} " + "  ".join(f"{m} {v[0]:.4f} {v[1]:.3f}s" for m, v in scores[name].items()), flush=True)
    report(scores)


if __name__ == "__main__":
    main()
