"""Closed-form search for regions against the prototype of the paper's method, in one run: CPU time, the same path.

    python -m benchmarks.kikuchi_search [rows] [attributes] [folder of prototypes]

Both climb from the class alone to regions of four variables on binary attributes, of which seven matter. The prototype
stops after 400 stages, so paths are compared as far as both go, and the ratio is in its favour where ours goes farther.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from partita.models.kikuchi.path import find_path
from partita.models.kikuchi.problem import Choices, Problem
from partita.models.mixtures.chains import Runner


def make(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A pair, a triple and two single attributes act; all others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d)).astype(np.int32)
    s = 2 * X - 1
    score = 1.2 * s[:, 0] * s[:, 1] + s[:, 2] + 0.8 * s[:, 3] * s[:, 4] * s[:, 5] + 0.4 * s[:, 6]
    return X, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(np.int32)


def main(n: int = 5000, d: int = 100, prototypes: str = "../shared/prototypes") -> None:
    sys.path.insert(0, prototypes)
    from kikuchi_paper import KikuchiBayes

    small, label = make(200, 8)
    KikuchiBayes().fit(small, label, [2] * 8, 2)  # compiled before the clock runs
    X, y = make(n, d)
    begin = time.process_time()
    problem = Problem.of(X, np.full(d, 2, np.int32), y, np.ones(n), 2)
    ours = find_path(problem, Choices(weight_cut=30.0), Runner())
    middle = time.process_time()
    print(f"{n} rows, {d} binary attributes: ours {middle - begin:.1f} CPU s ({len(ours.path)} stages)", flush=True)
    theirs = KikuchiBayes(theta=1.0).fit(X, y, [2] * d, 2)
    end = time.process_time()
    both = list(zip([s.region for s in ours.path], [q["region"] for q in theirs.path], strict=False))
    print(
        f"prototype {end - middle:.1f} CPU s ({len(theirs.path)} stages), ratio "
        f"{(end - middle) / (middle - begin):.1f}; {sum(a == b for a, b in both)} of {len(both)} stages alike"
    )
    print(f"candidates bounded {ours.bounded}, scored {ours.scored}; the prototype scored {theirs.stats[0]}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), *sys.argv[3:4])
