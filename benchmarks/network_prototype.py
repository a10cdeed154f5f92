"""Ordered classes on the same tables by `StructureLearner` and by the prototype: both sample one posterior.

    PARTITA_PEERS_PYTHON=peers/bin/python python -m benchmarks.network_prototype --sets 10

The layered tables of `benchmarks/networks.py`, 75 rows. The prototype lies in ../shared/prototypes and needs numba in
the Python that PARTITA_PEERS_PYTHON names. One line of JSON for every set.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
import warnings

import numpy as np

from benchmarks.network_peers import ask
from benchmarks.networks import layered, precision
from partita import StructureLearner


def one_set(seed, sweeps):
    X, graph, _ = layered(np.random.default_rng(seed), 75)
    begun = time.process_time()
    model = StructureLearner("ordered-block", n_sweeps=sweeps, random_state=0).fit(X)
    cpu = time.process_time() - begun
    theirs = ask("edges", "prototype", {"codes": X.astype(np.int32), "levels": np.full(X.shape[1], 2, np.int32)})
    if theirs is None:
        raise SystemExit("The prototype did not run: see above.")
    apart = float(np.abs(theirs["edges"] - model.edge_probabilities_).max())
    return {
        "set": seed, "ap": round(precision(graph, model.edge_probabilities_)[0], 4),
        "ap_prototype": round(precision(graph, theirs["edges"])[0], 4),
        "farthest_edge": round(apart, 4), "cpu": round(cpu, 2),
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in [("sets", 10), ("first", 5000), ("sweeps", 3000)]:
        parser.add_argument(f"--{name}", type=int, default=value)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as compiled:
        os.environ |= {"NUMBA_CACHE_DIR": compiled, "PYTHONDONTWRITEBYTECODE": "1"}
        lines = []
        for seed in range(args.first, args.first + args.sets):
            lines.append(one_set(seed, args.sweeps))
            print(json.dumps(lines[-1]), flush=True)
    gaps = [abs(line["ap"] - line["ap_prototype"]) for line in lines]
    print(json.dumps({"mean": float(np.mean([line["ap"] for line in lines])), "largest_gap": max(gaps)}))


if __name__ == "__main__":
    main()
