"""Speed of IQGMEClassifier: an iteration beside scikit-learn's BayesianGaussianMixture, and large and wide tables.

    python -m benchmarks.iqgme_speed              all parts
    python -m benchmarks.iqgme_speed iteration    only these parts: iteration, large, wide

CPU time of one thread; an iteration is the difference between a longer and a shorter fit over the iterations between
them, the least of several repetitions taken in turn.
"""

from __future__ import annotations

import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.parts import chosen_parts
from partita import IQGMEClassifier, kernels

ROWS, COLUMNS, COMPONENTS = 2000, 34, 20
SHORT, LONG, REPETITIONS = 2, 22, 3
GOALS = {"0 %": None, "25 %": 2.0, "50 %": 3.0, "75 %": 3.0, "5 patterns, 25 %": 1.3, "5 patterns, 50 %": 1.3}


def groups(n: int, p: int, k: int, seed: int, apart: float = 2.0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of k Gaussians with covariances of their own, centres `apart` standard deviations from the middle in every
    column; classes by a random rule in each."""
    rng = np.random.default_rng([5, seed])
    centre, rule = apart * rng.normal(size=(k, p)), rng.normal(size=(k, p))
    shape = rng.normal(size=(k, p, p)) / np.sqrt(p)
    group = rng.integers(0, k, n)
    noise = np.einsum("nij,nj->ni", shape[group], rng.normal(size=(n, p))) + 0.3 * rng.normal(size=(n, p))
    return centre[group] + noise, ((noise * rule[group]).sum(axis=1) > 0).astype(int)


def punched(X: np.ndarray, what: str) -> np.ndarray:
    """Cells missing at random, or one of five patterns a row."""
    rng = np.random.default_rng(6)
    share = float(what.split()[-2]) / 100
    if "patterns" in what:
        hole = (rng.random((5, X.shape[1])) < share)[rng.integers(0, 5, len(X))]
    else:
        hole = rng.random(X.shape) < share
    return np.where(hole, np.nan, X)


def cpu(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def iteration(fit: Callable[[int], Any]) -> float:
    """CPU seconds between a short and a long fit, for one iteration."""
    long = min(cpu(lambda: fit(LONG)) for _ in range(REPETITIONS))
    return (long - min(cpu(lambda: fit(SHORT)) for _ in range(REPETITIONS))) / (LONG - SHORT)


def part_iteration() -> None:
    for apart, word in ((2.0, "far apart"), (0.5, "overlapping")):
        compare_iterations(*groups(ROWS, COLUMNS, COMPONENTS, 0, apart), word)


def compare_iterations(X: np.ndarray, y: np.ndarray, word: str) -> None:
    """Ratios at every share of missing cells; emptied components were dropped, which the last figure allows for."""
    from sklearn.mixture import BayesianGaussianMixture

    def theirs(steps: int) -> None:
        mixture = BayesianGaussianMixture(
            n_components=COMPONENTS, max_iter=steps, tol=0.0, init_params="random_from_data", random_state=0
        )
        mixture.fit(X)

    def ours(steps: int, rows: np.ndarray) -> IQGMEClassifier:
        model = IQGMEClassifier(
            average=False, n_restarts=1, max_experts=COMPONENTS, max_iter=steps, tol=0.0, cell_folds=0, random_state=0,
            n_jobs=1,
        )  # fmt: skip
        return model.fit(rows, y)

    base = iteration(theirs)
    print(f"BayesianGaussianMixture, {ROWS} x {COLUMNS}, {COMPONENTS} components, groups {word}: {1e3 * base:.1f} ms")
    for what, goal in GOALS.items():
        rows = punched(X, what)
        ratio = iteration(lambda steps, rows=rows: ours(steps, rows)) / base
        held = len(ours(LONG, rows)._pool.whole[0].weight)
        verdict = "" if goal is None else f"   bar <= {goal:g} {'reached' if ratio <= goal else 'MISSED'}"
        print(f"  missing: {what:20s} ours / theirs {ratio:5.2f}{verdict}; {held} components kept, for "
              f"{COMPONENTS} {ratio * COMPONENTS / held:.2f}", flush=True)  # fmt: skip


def takes(option: str, value: Any) -> bool:
    """Whether this version takes the option to heart: it is neither refused nor without effect."""
    X, y = groups(200, 4, 2, 1)
    fits = []
    for settings in ({}, {option: value}):
        try:
            model = IQGMEClassifier(average=False, n_restarts=1, random_state=0, **settings).fit(X, y)
        except Exception:
            return False
        fits.append(model.predict_proba(X))
    return not np.array_equal(*fits)


def part_large() -> None:
    """100,000 x 50, 25 % missing, by steps of a batch."""
    if not takes("batch_size", 50):
        print("batch_size is not in this version: 100,000 x 50 is left out")
        return
    X, y = groups(100_000, 50, 10, 2)
    rows = punched(X, "25 %")
    before, start, wall = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time(), time.perf_counter()
    model = IQGMEClassifier(average=False, n_restarts=1, batch_size=1000, random_state=0, n_jobs=2).fit(rows, y)
    spent, wall = time.process_time() - start, time.perf_counter() - wall
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    error = (model.predict(rows[:2000]) != y[:2000]).mean()
    print(f"100,000 x 50, 25 % missing, batch_size=1000: {wall:.0f} s ({spent:.0f} s CPU), {grown:.0f} MB more, "
          f"error of 2000 rows {error:.3f}   bar: minutes")  # fmt: skip


def part_wide() -> None:
    """200 x 1000 by the factor form."""
    if not takes("n_factors", 2):
        print("n_factors is not in this version: 200 x 1000 is left out")
        return
    rng = np.random.default_rng(7)
    factors = rng.normal(size=(200, 8))
    X = factors @ rng.normal(size=(8, 1000)) + rng.normal(size=(200, 1000))
    y = (factors[:, 0] + 0.3 * rng.normal(size=200) > 0).astype(int)
    X[rng.random(X.shape) < 0.25] = np.nan
    start, wall = time.process_time(), time.perf_counter()
    IQGMEClassifier(average=False, n_restarts=1, n_factors="auto", random_state=0, n_jobs=1).fit(X, y)
    spent, wall = time.process_time() - start, time.perf_counter() - wall
    print(f"200 x 1000, 25 % missing, factor form: {wall:.0f} s ({spent:.0f} s CPU)   bar < 60 "
          f"{'reached' if spent < 60 else 'MISSED'}")  # fmt: skip


PARTS = {"iteration": part_iteration, "large": part_large, "wide": part_wide}


def main(names: list[str] | None = None) -> None:
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    warnings.simplefilter("ignore")
    for name in chosen_parts(PARTS, names, __doc__):
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
