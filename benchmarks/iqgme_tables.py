"""Accuracy of IQGMEClassifier against peers with the same holes and splits: bars 1 to 4 of its family.

    python -m benchmarks.iqgme_tables thesis  --trials 10     AUC on Ionosphere and WDBC, 24 cells with holes
    python -m benchmarks.iqgme_tables unseen  --trials 3      AUC and log-loss on tables not looked at
    python -m benchmarks.iqgme_tables cells   --trials 3      imputed cells: coverage of intervals and error
    python -m benchmarks.iqgme_tables summary                 what the files hold, and the bars

Each part can be given names of tables. Lines are appended to benchmarks/results/*.csv; what is there already is not run
again. Needs the UCI tables (PARTITA_DATA, or ../shared/data beside the repository); lightgbm is optional.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.iqgme_cells import measure_cells, summary_of_cells
from benchmarks.iqgme_peers import answers, methods
from benchmarks.iqgme_record import Record
from benchmarks.iqgme_sets import MISSING, THESIS, TRAINING, UNSEEN, Trial, make_trial
from benchmarks.iqgme_summary import summary_of_thesis, summary_of_unseen

KEYS = ("table", "missing", "training", "trial", "method")
FLOORS = {"log_loss": 1e-5, "log_loss_3": 1e-3}  # probabilities below are raised to it


def scores(proba: np.ndarray, trial: Trial) -> dict[str, float]:
    """AUC (one against the rest, mean over classes that the test rows hold), error, and log-loss with two floors."""
    y = trial.y[trial.test]
    if trial.n_classes == 2:
        auc = roc_auc_score(y, proba[:, 1])
    else:
        held = [c for c in np.unique(y) if (y == c).sum() < len(y)]
        auc = np.mean([roc_auc_score(y == c, proba[:, c]) for c in held])
    out = {"auc": float(auc), "error": float((proba.argmax(axis=1) != y).mean())}
    for name, floor in FLOORS.items():
        p = np.maximum(proba, floor)
        out[name] = float(-np.log(p / p.sum(axis=1, keepdims=True))[np.arange(len(y)), y].mean())
    return out


def run_cell(record: Record, table: str, missing: int, training: int, number: int, wanted: list[str]) -> None:
    where = {"table": table, "missing": missing, "training": training, "trial": number}
    todo = [m for m in wanted if not record.has(method=m, **where)]
    if not todo:
        return
    start = time.perf_counter()
    trial = make_trial(table, missing, training, number)
    for method, (proba, seconds) in answers(trial, todo).items():
        record.add({**where, "method": method, **scores(proba, trial), "seconds": seconds})
    print(f"{table} {missing} % missing, {training} % training, trial {number}: "
          f"{len(todo)} methods, {time.perf_counter() - start:.1f} s", flush=True)  # fmt: skip


def run_thesis(tables: list[str], trials: int, first: int, skip: list[str]) -> None:
    record = Record("iqgme_thesis", KEYS)
    for number in range(first, first + trials):
        for training in TRAINING:
            for missing in MISSING:
                for table in tables or THESIS:
                    run_cell(record, table, missing, training, number, [m for m in methods() if m not in skip])
    summary_of_thesis()


def run_unseen(tables: list[str], trials: int, first: int, skip: list[str]) -> None:
    record = Record("iqgme_unseen", KEYS)
    for number in range(first, first + trials):
        for table in tables or [*THESIS, *UNSEEN]:
            for missing in (0, 25, 50):
                wanted = [m for m in methods(("iterative",)) if m not in skip]
                run_cell(record, table, missing, 50, number, wanted)
    summary_of_unseen()


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=("thesis", "unseen", "cells", "summary"))
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial")
    parser.add_argument("--skip", action="append", default=[], help="a method that is not run; may be repeated")
    args = parser.parse_args(words)
    warnings.simplefilter("ignore")
    if args.part == "summary":
        summary_of_thesis()
        summary_of_unseen()
        summary_of_cells()
    else:
        run = {"thesis": run_thesis, "unseen": run_unseen, "cells": measure_cells}[args.part]
        run(args.tables, args.trials, args.first, args.skip)


if __name__ == "__main__":
    main()
