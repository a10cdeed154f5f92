"""Local scores a second, one thread: all sets of at most three parents of a table like ALARM's, 10,000 rows.

    python -m benchmarks.network_scores [--rows 10000] [--columns 37]

Each set is scored in bulk (rows are parted once for all sets that extend a set) and one by one; peers that are there
(pybnesian, pgmpy) score a few hundred of the same sets. CPU time, one run; ratios are what to look at.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from itertools import combinations

import numpy as np

from partita.kernels import BACKEND, kernel
from partita.kernels.net_contract import NetData


def made_up(n_rows, n_columns, seed=0):
    """Columns of two to four levels, each leaning on up to three earlier ones."""
    rng = np.random.default_rng(seed)
    levels = rng.choice([2, 3, 4], n_columns, p=[0.4, 0.35, 0.25]).astype(np.int32)
    codes = np.zeros((n_rows, n_columns), np.int32)
    for j in range(n_columns):
        parents = rng.permutation(j)[: rng.integers(0, 4)]
        number = np.zeros(n_rows, int)
        for p in parents:
            number = number * levels[p] + codes[:, p]
        table = rng.dirichlet(np.full(levels[j], 0.5), size=int(np.prod(levels[parents])))
        codes[:, j] = (rng.random(n_rows)[:, None] > np.cumsum(table[number], axis=1)[:, :-1]).sum(axis=1)
    return codes, levels


def bulk(data, child):
    others = np.array([i for i in range(len(data.levels)) if i != child], np.int32)
    out = np.zeros(1 + sum(len(list(combinations(others, k))) for k in (1, 2, 3)))
    begun = time.process_time()
    done = kernel.net_score_sets(data, child, others, 3, out)
    return done / (time.process_time() - begun)


def single(data, n_sets, seed=0):
    rng = np.random.default_rng(seed)
    sets = [rng.permutation(len(data.levels))[:4] for _ in range(n_sets)]
    child = np.array([s[0] for s in sets], np.int32)
    parents = np.concatenate([np.sort(s[1:]) for s in sets]).astype(np.int32)
    out = np.zeros(n_sets)
    begun = time.process_time()
    kernel.net_scores(data, child, np.arange(0, 3 * n_sets + 1, 3), parents, out)
    return n_sets / (time.process_time() - begun), child, parents.reshape(-1, 3)


def pybnesian(codes, child, parents):
    import pandas
    import pybnesian as pb

    names = [f"c{j}" for j in range(codes.shape[1])]
    frame = pandas.DataFrame({name: pandas.Categorical(codes[:, j].astype(str)) for j, name in enumerate(names)})
    score, network = pb.BDe(frame, 10), pb.DiscreteBN(names)
    begun = time.process_time()
    for j, of in zip(child, parents):
        score.local_score(network, names[j], [names[p] for p in of])
    return len(child) / (time.process_time() - begun)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--columns", type=int, default=37)
    args = parser.parse_args()
    codes, levels = made_up(args.rows, args.columns)
    for bdeu, pseudo in ((False, 0.5), (True, 10.0)):
        data = NetData.of(codes, levels, bdeu, pseudo)
        rates = [bulk(data, child) for child in range(0, args.columns, 6)]
        one, child, parents = single(data, 2000)
        print(f"{BACKEND} {'bdeu' if bdeu else 'dirichlet'}: {np.mean(rates):.0f} in bulk, {one:.0f} one by one")
    if importlib.util.find_spec("pybnesian"):
        print(f"pybnesian: {pybnesian(codes, child[:300], parents[:300]):.0f}")


if __name__ == "__main__":
    main()
