"""Rank of KikuchiBayesClassifier among recorded peers on the same folds of the UCI tables, split by split.

    python -m benchmarks.kikuchi_ranks --repetition 1

The losses of the peers per table, repetition and fold (StratifiedKFold(5, shuffle=True, random_state=repetition)) were
recorded once and lie beside the repository (shared/prototypes/kikuchi_peers.jsonl.gz); ours are measured. Repetition 0
was looked at while the estimator was made, repetition 1 was not.
"""

from __future__ import annotations

import argparse
import gzip
import json
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.model_selection import StratifiedKFold

from benchmarks.kikuchi_tables import load
from partita import KikuchiBayesClassifier, kernels

RECORDED = Path(__file__).resolve().parents[2] / "shared" / "prototypes" / "kikuchi_peers.jsonl.gz"
NAMES = {
    "breast-LJ": "breast-lj", "lymph": "lymphography", "soy-small": "soybean-small", "p-tumor": "primary-tumor",
    "soy-large": "soybean-large", "krkp": "kr-vs-kp", "spam": "spambase",
}  # fmt: skip
SOME_TABLES = ("CatBoost", "EBM")  # recorded on a part of the tables: head to head only
OURS, PROTOTYPE = "KikuchiBayes", "kME"
SMALLEST = 1e-5  # probability of a class that the training rows lack, and least of all: near what the record implies


def recorded(repetition: int) -> dict[str, dict[str, float]]:
    """Table to method to mean log-loss over the folds."""
    losses: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with gzip.open(RECORDED, "rt") as file:
        for line in file:
            row = json.loads(line)
            if row["rep"] == repetition:
                losses[row["set"]][row["method"]].append(row["ll"])
    return {
        table: {method: float(np.mean(values)) for method, values in methods.items() if len(values) == 5}
        for table, methods in losses.items()
    }


def recorded_folds(repetition: int, method: str) -> dict[str, dict[int, float]]:
    """Table to fold to log-loss, of a peer that was recorded on some tables and folds only."""
    losses: dict[str, dict[int, float]] = defaultdict(dict)
    with gzip.open(RECORDED, "rt") as file:
        for line in file:
            row = json.loads(line)
            if row["rep"] == repetition and row["method"] == method:
                losses[row["set"]][row["fold"]] = row["ll"]
    return losses


def as_recorded(table: str) -> tuple[pd.DataFrame, np.ndarray, dict[str, str]]:
    """The rows and columns that the peers had: those of the paper, as its degrees of freedom say."""
    frame, label, _, kinds = load(NAMES.get(table, table))
    left = {"wdbc": [c for c in frame if c.startswith("se_")], "ionosphere": ["a1", "a2"]}.get(table, [])
    frame = frame.drop(columns=[c for c in left if c in frame])
    if table == "post-op":  # 88 rows: the two of the third class left out
        kept = np.bincount(label)[label] > 2
        frame, label = frame[kept].reset_index(drop=True), np.unique(label[kept], return_inverse=True)[1]
    if table == "breast-wisc":  # scores of 1 to 10
        frame, kinds = frame.astype(float), dict.fromkeys(frame, "real")
    return frame, label, {c: kinds[c] for c in frame}


def measure(table: str, repetition: int) -> list[float]:
    """Log-loss of every fold."""
    frame, label, kinds = as_recorded(table)
    losses = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=repetition).split(frame, label):
        known, y = np.unique(label[train], return_inverse=True)
        model = KikuchiBayesClassifier(column_kinds=kinds, random_state=0).fit(frame.iloc[train], y)
        p = np.full((len(test), int(label.max()) + 1), SMALLEST)
        p[:, known] = model.predict_proba(frame.iloc[test])
        losses.append(float(-np.log(np.clip(p[np.arange(len(test)), label[test]], SMALLEST, 1)).mean()))
    return losses


def report(scores: dict[str, dict[str, float]]) -> None:
    most = max(map(len, scores.values())) - len(SOME_TABLES)  # a few tables were recorded for some methods only
    scores = {table: s for table, s in scores.items() if len(set(s) - set(SOME_TABLES)) >= most}
    everywhere = set.intersection(*(set(methods) for methods in scores.values())) - {PROTOTYPE, *SOME_TABLES}
    names = sorted(everywhere, key=lambda m: np.mean([s[m] for s in scores.values()]))
    losses = np.array([[s[m] for m in names] for s in scores.values()])
    ranks = np.array([rankdata(row) for row in losses]).mean(axis=0)
    print(f"\n{len(scores)} tables, {len(names)} methods: mean log-loss, mean rank; tables on which ours is lower")
    for k, name in enumerate(names):
        wins = "" if name == OURS else f"{int((losses[:, names.index(OURS)] < losses[:, k]).sum())} of {len(losses)}"
        print(f"  {name:14s} {losses[:, k].mean():7.4f} {ranks[k]:6.2f}   {wins}")
    both = [(s[OURS], s[PROTOTYPE]) for s in scores.values() if PROTOTYPE in s]
    if both:
        ours, theirs = np.mean(both, axis=0)
        wins = sum(a < b for a, b in both)
        print(f"  against {PROTOTYPE}: {ours:.4f} and {theirs:.4f}, ours is lower on {wins} of {len(both)}")


def head_to_head(own: dict[str, list[float]], repetition: int, method: str) -> None:
    """Against a peer on the tables and folds it was recorded on."""
    both = {
        table: np.mean([(own[table][fold], loss) for fold, loss in folds.items()], axis=0)
        for table, folds in recorded_folds(repetition, method).items()
        if table in own
    }
    if not both:
        return
    losses = np.array(list(both.values()))
    lower = losses[:, 0] < losses[:, 1]
    ours, theirs = losses.mean(axis=0)
    lost = [f"{table} ({a:.3f}, {b:.3f})" for table, (a, b) in both.items() if not a < b]
    print(f"  against {method}, the same folds of {len(both)} tables: {ours:.4f} and {theirs:.4f}, median difference "
          f"{np.median(losses[:, 0] - losses[:, 1]):+.4f}; ours is lower on {int(lower.sum())}, not on "
          f"{', '.join(lost)}")  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetition", type=int, default=1)
    options = parser.parse_args(arguments)
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    warnings.simplefilter("ignore")
    scores = recorded(options.repetition)
    own = {}
    for table, methods in scores.items():
        own[table] = measure(table, options.repetition)
        methods[OURS] = float(np.mean(own[table]))
        peers = "  ".join(f"{m} {methods[m]:.4f}" for m in (OURS, "XGBoost", "LR", "A1DE", PROTOTYPE) if m in methods)
        print(f"{table:14s} {peers}", flush=True)
    report(scores)
    for method in SOME_TABLES:
        head_to_head(own, options.repetition, method)


if __name__ == "__main__":
    main()
