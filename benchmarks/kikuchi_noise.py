"""Wide noise: 100 binary attributes of which five matter, the default against the closed-form average (kBMA).

    python -m benchmarks.kikuchi_noise --repetitions 10

Two worlds: the five act alone ("alone"), or two of them only together ("together"). 500 rows to learn from, 4000 fresh
ones to score.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from partita import KikuchiBayesClassifier, kernels

N, FRESH, ATTRIBUTES = 500, 4000, 100


def draw(world: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.integers(0, 2, (N + FRESH, ATTRIBUTES)).astype(float)
    sign = 2 * X[:, :5] - 1
    first = 1.6 * sign[:, 0] * sign[:, 1] if world == "together" else 0.8 * (sign[:, 0] + sign[:, 1])
    logit = first + 1.0 * sign[:, 2] + 0.8 * sign[:, 3] + 0.8 * sign[:, 4]
    return X, (rng.random(len(X)) < 1 / (1 + np.exp(-logit))).astype(int)


def losses(world: str, seed: int) -> list[float]:
    """Log-loss of the default and of kBMA, both to order 4."""
    X, y = draw(world, np.random.default_rng(seed))
    out = []
    for estimate in ("evidence", "paper"):
        model = KikuchiBayesClassifier(estimate=estimate, random_state=0, column_kinds=["binary"] * ATTRIBUTES)
        p = model.fit(X[:N], y[:N]).predict_proba(X[N:])
        out.append(float(-np.log(np.maximum(p[np.arange(FRESH), y[N:]], 1e-9)).mean()))
    return out


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--first", type=int, default=9000)
    options = parser.parse_args(arguments)
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    warnings.simplefilter("ignore")
    for world in ("alone", "together"):
        table = np.array([losses(world, options.first + r) for r in range(options.repetitions)])
        worst = float((table[:, 0] - table[:, 1]).max())
        ours, theirs = table.mean(axis=0)
        print(f"{world:9s} default {ours:.4f}, kBMA {theirs:.4f}; at worst {worst:+.4f} of kBMA", flush=True)


if __name__ == "__main__":
    main()
