"""Factor experts on wide tables made from the model, against peers that fill in means: `make bench BENCH=factor_wide`.

Two shapes: P = 200, n = 150, three factors, 30 % of the cells missing at random; and the shape of the sepsis table of
the thesis, P = 621, n = 121, six factors, missing by blocks of columns. Two factors decide the label. The peers are
tuned by cross-validation. The last table is the time of P = 1000, n = 200 from several starts, on one core.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from partita.models.factor.answer import answer
from partita.models.factor.experts import FactorProblem, FactorState, begin, step

FRESH = 1000  # rows to predict
STARTS = (0, 1, 3)  # clusters a class


def made(rng: np.random.Generator, n: int, p: int, t: int, load: float, slope: float) -> tuple[np.ndarray, np.ndarray]:
    s = rng.standard_normal((n, t))
    x = s @ rng.normal(0.0, load, (t, p)) + rng.standard_normal((n, p))
    return x, (slope * s[:, :2].sum(1) + rng.standard_normal(n) > 0).astype(int)


def scattered(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    x, label = made(rng, 150 + FRESH, 200, 3, 0.6, 2.0)
    x[rng.random(x.shape) < 0.3] = np.nan
    return x, label, 150


def blocks(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    x, label = made(rng, 121 + FRESH, 621, 6, 0.5, 1.0)
    for block in np.array_split(np.arange(621), 12):
        x[np.ix_(rng.random(len(x)) < 0.3, block)] = np.nan
    return x, label, 121


def fit(problem: FactorProblem, k: int, seed: int) -> tuple[FactorState, list[float]]:
    rng = np.random.default_rng(seed)
    state, bounds = begin(rng, problem, k), []
    for number in range(100):
        state, info = step(problem, rng, state)
        bounds.append(info["bound"])
        if number > 10 and bounds[-1] - bounds[-2] < 1e-6 * abs(bounds[-1]):
            break
    assert np.all(np.diff(bounds) >= -1e-9 * np.abs(bounds[1:])), "the bound fell"
    return state, bounds


def compare(make, seed: int) -> dict[str, tuple[float, float]]:
    """AUC and log-loss of everybody on fresh rows (for the support vectors no log-loss)."""
    x, label, n = make(np.random.default_rng(seed))
    x = (x - np.nanmean(x[:n], 0)) / np.nanstd(x[:n], 0)
    y, truth = label[:n], label[n:]
    fits = [fit(FactorProblem.of(x[:n], y, 2), k, seed) for k in STARTS]
    best = max(fits, key=lambda one: one[1][-1])[0]
    p = answer(best, x[n:]).probabilities()[:, 1]
    found = {
        "factors found": (float(best.n_factors_posterior().argmax()), float(best.n_components)),
        "factor experts": (roc_auc_score(truth, p), log_loss(truth, p)),
    }
    plain = LogisticRegression(max_iter=3000)
    tuned = GridSearchCV(plain, {"C": np.logspace(-4, 1, 6)}, scoring="neg_log_loss")
    for name, model in (("logistic", plain), ("logistic, tuned", tuned)):
        p = make_pipeline(SimpleImputer(), model).fit(x[:n], y).predict_proba(x[n:])[:, 1]
        found[name] = roc_auc_score(truth, p), log_loss(truth, p)
    grid = {"C": [0.3, 1, 10, 100], "gamma": ["scale", 1e-3, 1e-4]}
    vectors = make_pipeline(SimpleImputer(), GridSearchCV(SVC(), grid, scoring="roc_auc")).fit(x[:n], y)
    found["RBF support vectors"] = roc_auc_score(truth, vectors.decision_function(x[n:])), float("nan")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=20260)
    arguments = parser.parse_args()
    for make in (scattered, blocks):
        all_found = [compare(make, arguments.first + number) for number in range(arguments.seeds)]
        print(f"{make.__name__}: means over {arguments.seeds} seeds from {arguments.first}: AUC, log-loss")
        for name in all_found[0]:
            values = np.array([found[name] for found in all_found])
            print(
                f"  {name:22s}",
                "  ".join(f"{mean:.3f}" for mean in values.mean(0)),
                "  AUC by seed",
                values[:, 0].round(3),
            )
    for missing in (0.0, 0.25):
        rng = np.random.default_rng(arguments.first)
        x, label = made(rng, 200, 1000, 5, 0.6, 2.0)
        x[rng.random(x.shape) < missing] = np.nan
        x = (x - np.nanmean(x, 0)) / np.nanstd(x, 0)
        for k in (0, 1, 5, 10):
            start = time.process_time()
            state, bounds = fit(FactorProblem.of(x, label, 2), k, 0)
            seconds = time.process_time() - start
            print(
                f"P = 1000, n = 200, missing {missing:.2f}, k = {k:2d}: {len(bounds):3d} steps, {seconds:5.1f} s,"
                f" {state.n_components} components, {state.n_active} factors, bound {bounds[-1]:.1f}"
            )


if __name__ == "__main__":
    main()
