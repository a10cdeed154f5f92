"""CPU time of a default fit of KikuchiBayesClassifier over that of XGBoost's, one thread, on the 46 UCI tables.

    python -m benchmarks.kikuchi_speed                  first fold of repetition 1, the least of three fits each
    python -m benchmarks.kikuchi_speed --fits 5 car     some tables, the least of five

Fits of the two take turns, so that a busy machine slows both; adult is timed against HistGradientBoosting too. Run it
with OMP_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1, as `make bench` does.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from xgboost import XGBClassifier

from benchmarks.kikuchi_tables import TABLES, load
from partita import KikuchiBayesClassifier, kernels

BESIDE_BOOSTING = ("adult",)


def methods(table: str, kinds: dict[Any, str]) -> dict[str, Callable[[], Any]]:
    out: dict[str, Callable[[], Any]] = {
        "KikuchiBayes": lambda: KikuchiBayesClassifier(column_kinds=kinds, random_state=0, n_jobs=1),
        "XGBoost": lambda: XGBClassifier(n_jobs=1, enable_categorical=True),
    }
    if table in BESIDE_BOOSTING:
        out["HistGradientBoosting"] = lambda: HistGradientBoostingClassifier(random_state=0)
    return out


def measure(table: str, fits: int) -> dict[str, float]:
    """Least CPU seconds of a fit to four fifths of the table."""
    frame, label, _, kinds = load(table)
    plain = frame.rename(columns={c: f"f{i}" for i, c in enumerate(frame.columns)})  # XGBoost refuses some names
    train = next(StratifiedKFold(5, shuffle=True, random_state=1).split(frame, label))[0]
    y = np.unique(label[train], return_inverse=True)[1]
    best: dict[str, float] = {}
    for _ in range(fits):
        for name, make in methods(table, kinds).items():
            x, model = (plain if name == "XGBoost" else frame).iloc[train], make()
            begin = time.process_time()
            model.fit(x, y)
            best[name] = min(best.get(name, np.inf), time.process_time() - begin)
    return best


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*")
    parser.add_argument("--fits", type=int, default=3)
    options = parser.parse_intermixed_args(arguments)
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    warnings.simplefilter("ignore")
    seconds = {}
    for table in options.tables or TABLES:
        mine = seconds[table] = measure(table, options.fits)
        listed = "  ".join(f"{name} {s:.4f}" for name, s in mine.items())
        print(f"{table:14s} {mine['KikuchiBayes'] / mine['XGBoost']:6.2f}   {listed}", flush=True)
    ours, theirs = (np.array([s[name] for s in seconds.values()]) for name in ("KikuchiBayes", "XGBoost"))
    print(f"\n{len(ours)} tables, CPU time of a fit over XGBoost's: median {np.median(ours / theirs):.2f}, of the sums "
          f"{ours.sum() / theirs.sum():.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
