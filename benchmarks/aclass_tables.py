"""Real tables with holes: held-out log-loss of the default AClass and of usual choices, 3 folds, 0 / 25 / 50 % of
cells removed.

    python -m benchmarks.aclass_tables                      all tables below
    python -m benchmarks.aclass_tables hepatitis glass      some of them
    python -m benchmarks.aclass_tables further              those that nothing was chosen on, a thousand rows at most,
                                                            without the prototype

Needs the UCI tables (PARTITA_DATA, or ../shared/data beside the repository) and, optionally, xgboost and lightgbm.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
import zlib
from pathlib import Path

import numpy as np

from partita import AClass, kernels

BESIDE = Path(__file__).resolve().parents[2] / "shared"
os.environ.setdefault("PARTITA_DATA", str(BESIDE / "data"))
LOOKED_AT = "hepatitis glass heart crx vehicle wdbc voting german ionosphere lymphography ecoli cmc bupa pima".split()
# fresh at first; then four of them (wine, hayes-roth, balance-scale, zoo) were looked at and defaults changed
SECOND = "horse-colic iris wine post-op breast-lj breast-wisc australian balance-scale hayes-roth zoo".split()
# run once, after the last change of a default
UNSEEN = "monk1 monk3 titanic shuttle soybean-small tic-tac-toe promoters primary-tumor yeast-class".split()
FURTHER = "monk2 lung-cancer soybean-large car audiology segment kr-vs-kp mushroom adult spambase digits".split()
MOST_ROWS = 1000  # of a table of FURTHER, drawn at random
REMOVED = (0.0, 0.25, 0.5)


def fetch(name: str):
    """The frame, the labels and the kinds of its columns."""
    import pandas as pd
    from sklearn.datasets import load_digits

    from partita.datasets import fetch_uci

    bunch = load_digits(as_frame=True) if name == "digits" else fetch_uci(name)
    frame, y = bunch.data, pd.Series(np.asarray(bunch.target))
    kinds = dict.fromkeys(frame.columns, "real") if name == "digits" else bunch.column_kinds
    if name in FURTHER and len(frame) > MOST_ROWS:
        some = np.random.default_rng(0).permutation(len(frame))[:MOST_ROWS]
        frame, y = frame.iloc[some].reset_index(drop=True), y.iloc[some].reset_index(drop=True)
    return frame, y, kinds


def load(name: str, removed: float):
    """Codes and numbers (NaN missing), labels, numeric flags; classes of fewer than six rows and constant columns
    left out.
    """
    import pandas as pd

    frame, y, kinds = fetch(name)
    if name == "heart":
        y = (y.astype(float) > 0).astype(int)
    keep = (y.map(y.value_counts()) >= 6).to_numpy()
    columns, numeric = [], []
    for column in frame.columns:
        real = kinds[column] == "real"
        cells = frame[column].to_numpy(float) if real else pd.factorize(frame[column], sort=True)[0].astype(float)
        cells = np.where(cells < 0, np.nan, cells)[keep] if not real else cells[keep]
        if len(np.unique(cells[~np.isnan(cells)])) > 1:
            columns.append(cells)
            numeric.append(real)
    x = np.array(columns).T.copy()
    if removed:
        x[np.random.default_rng(zlib.crc32(name.encode()) + int(removed * 100)).random(x.shape) < removed] = np.nan
    return x, pd.factorize(y[keep], sort=True)[0], np.array(numeric)


def peers(numeric: np.ndarray) -> dict:
    from sklearn.compose import ColumnTransformer
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    real, codes = np.flatnonzero(numeric), np.flatnonzero(~numeric)

    def filled():
        steps = []
        if len(real):
            steps.append(("real", make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()), real))
        if len(codes):
            encoder = make_pipeline(
                SimpleImputer(strategy="most_frequent", keep_empty_features=True),
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            )
            steps.append(("codes", encoder, codes))
        return ColumnTransformer(steps)

    models = {
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
        "random forest": lambda: make_pipeline(filled(), RandomForestClassifier(random_state=0)),
        "logistic + mean": lambda: make_pipeline(filled(), LogisticRegression(max_iter=2000)),
        "naive Bayes": lambda: make_pipeline(filled(), GaussianNB()),
    }
    try:
        from xgboost import XGBClassifier

        models["XGBoost"] = lambda: XGBClassifier(n_jobs=1)
    except ImportError:
        pass
    try:
        from lightgbm import LGBMClassifier

        models["LightGBM"] = lambda: LGBMClassifier(n_jobs=1, verbose=-1)
    except ImportError:
        pass
    return models


def log_loss(p: np.ndarray, y: np.ndarray) -> float:
    p = np.clip(p, 1e-5, 1)
    return float(-np.log(p / p.sum(1, keepdims=True))[np.arange(len(y)), y].mean())


def one_table(name: str, removed: float, with_prototype: bool) -> dict[str, tuple[float, float]]:
    from sklearn.model_selection import StratifiedKFold

    x, y, numeric = load(name, removed)
    kinds = ["real" if k else "categorical" for k in numeric]
    results: dict[str, list] = {}

    def record(method, model, train, test):
        start = time.process_time()
        model.fit(x[train], y[train])
        seconds = time.process_time() - start
        results.setdefault(method, []).append((log_loss(model.predict_proba(x[test]), y[test]), seconds))

    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(x, y):
        record("AClass", AClass(column_kinds=kinds, random_state=0), train, test)
        for method, make in peers(numeric).items():
            record(method, make(), train, test)
        if with_prototype:
            import aclass_mixed

            start = time.process_time()
            p = aclass_mixed.MixedCRP().fit(x[train], y[train], numeric.astype(int)).predict_proba(x[test])
            results.setdefault("prototype", []).append((log_loss(p, y[test]), time.process_time() - start))
    return {method: tuple(np.mean(rows, axis=0)) for method, rows in results.items()}


def report(tables: list[str], scores: dict) -> None:
    for removed in REMOVED:
        methods = list(scores[tables[0], removed])
        ranked = [m for m in methods if m != "prototype"]
        ranks = np.array([np.argsort(np.argsort([scores[t, removed][m][0] for m in ranked])) + 1 for t in tables])
        print(
            f"\n{removed:.0%} of the cells removed, {len(tables)} tables: mean log-loss, mean rank, CPU seconds a fit"
        )
        for m in methods:
            losses, seconds = np.mean([scores[t, removed][m] for t in tables], axis=0)
            rank = f"{ranks[:, ranked.index(m)].mean():5.2f}" if m in ranked else "    -"
            print(f"  {m:22s} {losses:7.4f} {rank} {seconds:8.3f}")


def main(names: list[str]) -> None:
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    warnings.simplefilter("ignore")
    further = names == ["further"]
    with_prototype = (BESIDE / "prototypes").is_dir() and not further
    if with_prototype:
        sys.path.insert(0, str(BESIDE / "prototypes"))
        one_table("iris", 0.0, True)  # compiles
    tables = FURTHER if further else names or LOOKED_AT + SECOND + UNSEEN
    scores = {}
    for name in tables:
        for removed in REMOVED:
            scores[name, removed] = one_table(name, removed, with_prototype)
            line = "  ".join(f"{m} {v[0]:.4f}" for m, v in scores[name, removed].items())
            print(f"{name} {removed:.0%}: {line}", flush=True)
    sets = {"tables looked at": LOOKED_AT, "second set": SECOND, "unseen tables": UNSEEN, "further tables": FURTHER}
    for title, part in sets.items():
        chosen = [t for t in tables if t in part]
        if chosen:
            print(f"\n== {title}", end="")
            report(chosen, scores)


if __name__ == "__main__":
    main(sys.argv[1:])
