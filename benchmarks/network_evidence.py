"""Evidence of ordered classes and of one class over that of classes, in nats: as `StructureLearner` finds it on tables
that are too large for sums, against sums over everything.

    python -m benchmarks.network_evidence --columns 6 --rows 300 --sets 4

Binary tables: of every two sets the first is of a random graph (edges with probability 0.4 under an order), the second
of two layers. One line of JSON for every set.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings

import numpy as np

from partita import StructureLearner
from partita.models.structure import learn as net_learn

from .networks import draw_rows


def table(number, n, n_rows):
    rng = np.random.default_rng(900 + number)
    if number % 2:
        graph = np.zeros((n, n), int)
        graph[: n // 2, n // 2 :] = 1
    else:
        graph = np.triu(rng.random((n, n)) < 0.4, 1).astype(int)
    return draw_rows(rng, graph, n_rows)


def log_odds(X, sweeps, by_sums, seed):
    """Against classes without order; and the CPU seconds of the fit."""
    begun, usual = time.process_time(), net_learn.MOST_NODES
    net_learn.MOST_NODES = usual if by_sums else 1
    try:
        model = StructureLearner("auto", n_chains=2, n_sweeps=sweeps, random_state=seed).fit(X)
    finally:
        net_learn.MOST_NODES = usual
    odds = {p: float(np.log(w / model.prior_weights_["block"])) for p, w in model.prior_weights_.items()}
    return {p: round(odds[p], 2) for p in ("ordered-block", "sparse")}, round(time.process_time() - begun, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in [("columns", 6), ("rows", 300), ("sets", 4), ("sweeps", 1000)]:
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    for number in range(args.sets):
        X = table(number, args.columns, args.rows)
        sums, _ = log_odds(X, 4000, True, number)
        found, cpu = log_odds(X, args.sweeps, False, number)
        print(json.dumps({"set": number, "sums": sums, "found": found, "cpu": cpu}), flush=True)


if __name__ == "__main__":
    main()
