"""Imputed cells of unseen rows: how often quantile intervals hold the truth, and the error of means beside peers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.iqgme_record import Record
from benchmarks.iqgme_sets import THESIS, Trial, make_trial

TABLES = (*THESIS, "wine", "vehicle", "ecoli", "bupa", "yeast-class")  # numeric columns
SETTINGS = ((25, 10), (25, 50), (50, 10), (50, 50))  # per cent missing, training
NOMINAL = (50, 80, 95)
KEYS = ("table", "missing", "training", "trial", "method")
OURS, ONE = "IQGME average", "IQGME one fit"


def peers() -> dict[str, Callable[[], Any]]:
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer

    def missforest() -> Any:
        trees = ExtraTreesRegressor(30, min_samples_leaf=2, random_state=0)
        return IterativeImputer(trees, max_iter=4, random_state=0, keep_empty_features=True)

    return {
        "kNN": lambda: KNNImputer(keep_empty_features=True),
        "iterative": lambda: IterativeImputer(random_state=0, keep_empty_features=True),
        "missForest-style": missforest,
    }


def numbers(trial: Trial) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training rows, test rows and their truth: numeric columns with two values in training, standardised by it."""
    x = trial.x[trial.train]
    kept = trial.numeric & np.array([len(np.unique(column[~np.isnan(column)])) > 1 for column in x.T])
    mean, sd = np.nanmean(x[:, kept], axis=0), np.nanstd(x[:, kept], axis=0)
    return tuple((part[:, kept] - mean) / sd for part in (x, trial.x[trial.test], trial.whole[trial.test]))


def our_fill(train: np.ndarray, y: np.ndarray, test: np.ndarray, average: bool) -> tuple[np.ndarray, list[np.ndarray]]:
    """Means, and quantiles at the ends of the nominal intervals: low and high of each in turn."""
    from partita import IQGMEClassifier

    model = IQGMEClassifier(average=average, column_kinds=["real"] * train.shape[1], random_state=0, n_jobs=1)
    model.fit(train, y)
    ends = [end for share in NOMINAL for end in (0.5 - share / 200, 0.5 + share / 200)]
    return np.asarray(model.impute(test)), [np.asarray(one) for one in model.impute(test, quantiles=ends)]


def one_trial(trial: Trial, todo: list[str]) -> dict[str, dict[str, float]]:
    """Root mean square error in standard deviations of the column, and for ours the coverage of the intervals."""
    train, test, truth = numbers(trial)
    hole = np.isnan(test) & ~np.isnan(truth)
    out = {}
    for method in todo:
        start, covered = time.process_time(), dict.fromkeys((f"in_{share}" for share in NOMINAL), np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if method in (OURS, ONE):
                guess, ends = our_fill(train, trial.y[trial.train], test, method == OURS)
                for k, share in enumerate(NOMINAL):
                    inside = (truth[hole] >= ends[2 * k][hole]) & (truth[hole] <= ends[2 * k + 1][hole])
                    covered[f"in_{share}"] = float(inside.mean())
            else:
                guess = peers()[method]().fit(train).transform(test)
        error = float(np.sqrt(((guess[hole] - truth[hole]) ** 2).mean()))
        out[method] = {"rmse": error, **covered, "seconds": time.process_time() - start}
    return out


def measure_cells(tables: list[str], trials: int, first: int, skip: list[str]) -> None:
    record = Record("iqgme_cells", KEYS)
    for number in range(first, first + trials):
        for table in tables or TABLES:
            for missing, training in SETTINGS:
                where = {"table": table, "missing": missing, "training": training, "trial": number}
                todo = [m for m in (OURS, ONE, *peers()) if m not in skip and not record.has(method=m, **where)]
                if todo:
                    trial = make_trial(table, missing, training, number)
                    for method, line in one_trial(trial, todo).items():
                        record.add({**where, "method": method, **line})
                    print(f"{table} {missing} % missing, {training} % training, trial {number}", flush=True)
    summary_of_cells()


def summary_of_cells() -> None:
    record = Record("iqgme_cells", KEYS)
    if not record.lines:
        return
    cell = ("table", "missing", "training")
    error = record.cells("rmse", cell)
    inside = {share: record.cells(f"in_{share}", cell) for share in NOMINAL}
    names = [OURS, ONE, *peers()]
    print("\nBar 4: root mean square error of imputed cells, over that of the best peer, and coverage of intervals")
    print(f"{'table missing training':<28}" + "".join(f"{m:>18}" for m in names) + "   ours/best   50 / 80 / 95 %")
    for place, each in sorted(error.items()):
        if any(m not in each for m in names):
            continue
        ratio = each[OURS] / min(each[m] for m in peers())
        got = " / ".join(f"{100 * inside[share][place][OURS]:.1f}" for share in NOMINAL)
        print(f"{' '.join(place):<28}" + "".join(f"{each[m]:18.3f}" for m in names) + f"   {ratio:9.3f}   {got}")
    for name in (OURS, ONE):
        for missing, training in SETTINGS:
            mine = {p: e for p, e in error.items() if p[1:] == (str(missing), str(training)) and name in e}
            if mine:
                got = {share: 100 * np.mean([inside[share][p][name] for p in mine]) for share in NOMINAL}
                text = ", ".join(f"{share}: {value:.1f}" for share, value in got.items())
                print(f"{name}, {missing} % missing, {training} % training, {len(mine)} tables: coverage {text}")
