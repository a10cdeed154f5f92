"""Local scores a second, one thread: sets of at most three parents of ALARM, 10,000 rows, ours and peers' in one run.

    PARTITA_PEERS_PYTHON=peers/bin/python python -m benchmarks.network_scores [--rows 10000]

ALARM needs PARTITA_DATA (see partita.datasets); without it a made-up table of the same size stands in. Ours in bulk
(all sets of seven columns: rows are parted once for all sets that extend a set) and one by one; peers score random
sets of three parents, for 15 CPU seconds at most. CPU time; ratios are what to look at. Peers score by BDeu with an
equivalent sample size of 10, and what they get is compared with ours.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations

import numpy as np

from benchmarks.network_peers import PEERS, ask
from benchmarks.peer_python import importable
from partita import BayesianNetwork
from partita.datasets import fetch_network
from partita.kernels import BACKEND, kernel
from partita.kernels.net_contract import NetData

ESS = 10.0


def alarm(n_rows, seed=0):
    model = BayesianNetwork.read_bif(fetch_network("alarm"))
    rows = model.sample(n_rows, random_state=seed)
    levels = [column.levels for column in model.schema_.columns]
    codes = np.column_stack([[list(of).index(v) for v in column] for of, column in zip(levels, np.asarray(rows).T)])
    return codes.astype(np.int32), np.array([len(of) for of in levels], np.int32)


def made_up(n_rows, n_columns=37, seed=0):
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


def bulk(data, children):
    """Sets a second over all sets of at most three parents of these columns."""
    total, seconds = 0, 0.0
    for child in children:
        others = np.array([i for i in range(len(data.levels)) if i != child], np.int32)
        out = np.zeros(1 + sum(len(list(combinations(others, k))) for k in (1, 2, 3)))
        begun = time.process_time()
        total += kernel.net_score_sets(data, child, others, 3, out)
        seconds += time.process_time() - begun
    return total / seconds


def single(data, child, parents):
    """Sets a second one by one, and the scores."""
    out = np.zeros(len(child))
    begun = time.process_time()
    kernel.net_scores(data, child, np.arange(0, 3 * len(child) + 1, 3), np.sort(parents, axis=1).ravel(), out)
    return len(child) / (time.process_time() - begun), out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    args = parser.parse_args()
    try:
        (codes, levels), name = alarm(args.rows), "ALARM"
    except FileNotFoundError:
        (codes, levels), name = made_up(args.rows), "made up (PARTITA_DATA is not set)"
    print(f"{name}: {len(codes)} rows, {len(levels)} columns; {BACKEND} kernels")
    rng = np.random.default_rng(1)
    sets = np.array([rng.permutation(len(levels))[:4] for _ in range(5000)], np.int32)
    child, parents = np.ascontiguousarray(sets[:, 0]), np.ascontiguousarray(sets[:, 1:])
    data = {"dirichlet": NetData.of(codes, levels, False, 0.5), "bdeu": NetData.of(codes, levels, True, ESS)}
    rates = {score: bulk(of, range(0, len(levels), 6)) for score, of in data.items()}
    one, ours = single(data["bdeu"], child, parents)
    print(f"ours: {rates['bdeu']:.0f} in bulk with bdeu, {rates['dirichlet']:.0f} with dirichlet; {one:.0f} one by one")
    for peer in args.peers:
        if not importable(peer):
            continue
        answer = ask("scores", peer, {"codes": codes, "levels": levels, "child": child, "parents": parents})
        if answer is None:
            continue
        done, rate = int(answer["done"]), float(answer["done"] / answer["cpu"])
        apart = np.abs(answer["values"] - ours[:done]).max()
        print(f"{peer}: {rate:.0f} ({done} sets); ours / theirs {rates['bdeu'] / rate:.1f} in bulk ("
              f"{rates['dirichlet'] / rate:.1f} with dirichlet), {one / rate:.1f} one by one; scores differ by at most "
              f"{apart:.2g}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
