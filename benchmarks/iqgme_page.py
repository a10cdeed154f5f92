"""The static table of docs/quarter_gone.md: held-out log-loss on five tables with a quarter and half of the cells gone.

    python -m benchmarks.iqgme_page wine iris ionosphere pima wdbc

Means of four splits into halves with other holes each, everything at its defaults but the seed (and `cell_folds`, which
changes no probability of a class); `average=False` with two starts of at most 100 iterations; the last three after
IterativeImputer. Lines are appended to benchmarks/results/iqgme_page.csv; what is there already is not run again. Needs
PARTITA_DATA.
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from benchmarks.aclass_tables import load
from benchmarks.iqgme_record import Record

TABLES = ("wine", "iris", "ionosphere", "pima", "wdbc")
SPLITS, MISSING = 4, (25, 50)


def methods(seed: int) -> dict[str, Callable[[], Any]]:
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    from partita import AClass, IQGMEClassifier

    def after(*steps: Any) -> Any:
        return make_pipeline(IterativeImputer(random_state=seed), *steps)

    return {
        "IQGMEClassifier": lambda: IQGMEClassifier(cell_folds=0, random_state=seed, n_jobs=1),
        "average=False": lambda: IQGMEClassifier(
            average=False, n_restarts=2, max_iter=100, cell_folds=0, random_state=seed, n_jobs=1
        ),
        "AClass": lambda: AClass(random_state=seed, n_jobs=1),
        "logistic regression": lambda: after(StandardScaler(), LogisticRegression()),
        "SVM, calibrated": lambda: after(StandardScaler(), CalibratedClassifierCV(SVC(), ensemble=False)),
        "random forest": lambda: after(RandomForestClassifier(random_state=seed)),
    }


def one_split(record: Record, table: str, missing: int, split: int) -> None:
    x, y, _ = load(table, 0.0)
    rng = np.random.default_rng([split, missing])
    x = np.where(rng.random(x.shape) < missing / 100, np.nan, x)
    kept = ~np.isnan(x).all(axis=1)
    halves = train_test_split(x[kept], y[kept], test_size=0.5, stratify=y[kept], random_state=split)
    for method, make in methods(split).items():
        where = {"table": table, "missing": missing, "split": split, "method": method}
        if not record.has(**where):
            model = make().fit(halves[0], halves[2])
            lost = log_loss(halves[3], model.predict_proba(halves[1]), labels=model.classes_)
            record.add({**where, "log_loss": float(lost)})


def show(record: Record) -> None:
    cells = defaultdict(list)
    for line in record.lines:
        cells[line["table"], int(line["missing"]), line["method"]].append(float(line["log_loss"]))
    names = list(methods(0))
    print("| table | cells gone |", " | ".join(names), "| splits |")
    for missing in MISSING:
        for table in TABLES:
            found = [cells[table, missing, name] for name in names]
            if all(found):
                means = " | ".join(f"{np.mean(one):.3f}" for one in found)
                print(f"| {table} | {missing} % | {means} | {min(map(len, found))} |")


def main() -> None:
    warnings.simplefilter("ignore")
    record = Record("iqgme_page", ("table", "missing", "split", "method"))
    for split in range(SPLITS):
        for missing in MISSING:
            for table in sys.argv[1:] or TABLES:
                one_split(record, table, missing, split)
    show(record)


if __name__ == "__main__":
    main()
