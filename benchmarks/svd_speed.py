"""Speed and memory of BayesianSVD: a sweep against peers at equal K, two threads against one, 25 million cells.

    python -m benchmarks.svd_speed                 all parts
    python -m benchmarks.svd_speed sweep threads   only these parts: sweep, threads, memory

A sweep is CPU time of one thread on a Marlin-like partition of MovieLens 1M (822,000 ratings), without features; all
methods take turns, and the least of their sweeps counts. Peers: see benchmarks/README.md.
"""

from __future__ import annotations

import resource
import sys
import time
from itertools import pairwise
from typing import Any

import numpy as np
from bsvd_splits import SEEDS, marlin

from benchmarks.parts import chosen_parts
from benchmarks.svd_peers import ask, coded, present, prototype
from partita import BayesianSVD, kernels

RANKS = (10, 32, 50)
ROUNDS, SWEEPS = 3, 3
GOALS = {"myfm": 10.0, "smurff": 4.0}
CELLS, ROWS, COLUMNS = 25_000_000, 162_000, 59_000


def our_chain(data: dict[str, Any], rank: int) -> Any:
    """A chain with `rank` components held: a function that makes one sweep."""
    from partita.models.matrices.blocked import step
    from partita.models.matrices.entries import Entries
    from partita.models.matrices.problem import Problem
    from partita.models.matrices.rank import noise_edge
    from partita.models.matrices.start import blank

    entries = Entries.of(data["rows"], data["columns"], data["values"], *(int(n) for n in data["shape"]))
    problem, rng = Problem.of(entries, max_rank=rank), np.random.default_rng(0)
    state = blank(problem, rng, rank)
    state.edge = noise_edge(problem, rng, state)
    return lambda n_threads=1: step(problem, rng, state, n_threads)


def prototype_chain(data: dict[str, Any], rank: int) -> Any:
    module = prototype()
    if module is None:
        return None
    observed = module.Obs(data["rows"], data["columns"], data["values"], *(int(n) for n in data["shape"]))
    chain = module.BSVD(observed, K0=rank, Kmax=rank, birth_every=0, spare=0, rank_every=10**9)
    chain.edge = 1e12  # so that no component is dropped
    chain.step()  # compiles
    return chain.step


def cpu(call: Any) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def part_sweep() -> None:
    """CPU seconds of a sweep, one thread."""
    data = coded(marlin(SEEDS[0]), side=False)
    data |= {"test_rows": data["rows"][:1], "test_columns": data["columns"][:1]}  # a peer wants one cell to predict
    for rank in RANKS:
        ours, proto = our_chain(data, rank), prototype_chain(data, rank)
        ours()
        least: dict[str, float] = {}
        for _ in range(ROUNDS):
            found = {"ours": [cpu(ours) for _ in range(SWEEPS)]}
            found |= {"prototype": [cpu(proto) for _ in range(SWEEPS)]} if proto else {}
            for peer in GOALS:
                if present(peer):
                    found[peer] = list(ask(peer, data, rank, 1, SWEEPS)["cpu"][1:])
            least = {name: min([*times, least.get(name, np.inf)]) for name, times in found.items()}
        told = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in least.items())
        print(f"  K = {rank}, {len(data['values']):,} ratings: {told}", flush=True)
        for name, seconds in least.items():
            if name != "ours":
                bar(f"{name} / ours, K = {rank}", seconds / least["ours"], GOALS.get(name))


def bar(what: str, ratio: float, goal: float | None) -> None:
    verdict = "" if goal is None else f"   bar >= {goal:g}  {'reached' if ratio >= goal else 'MISSED'}"
    print(f"  {what:40s} {ratio:8.2f}{verdict}", flush=True)


def part_threads() -> None:
    """Wall time of a sweep with one thread over that with two, K = 32; says little on a busy machine."""
    chain = our_chain(coded(marlin(SEEDS[0]), side=False), 32)
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(8):
        for n_threads in times:
            start = time.perf_counter()
            chain(n_threads)
            times[n_threads].append(time.perf_counter() - start)
    bar("one thread / two threads, wall", min(times[1]) / min(times[2]), 1.7)


def part_memory() -> None:
    """25 million cells of 162,000 x 59,000 with popular columns, K = 32: peak resident memory of the whole process."""
    rng = np.random.default_rng(25)
    rows = np.sort(rng.integers(0, ROWS, CELLS, dtype=np.int32))
    columns = np.empty(CELLS, np.int32)
    for part in range(0, CELLS, 1_000_000):
        columns[part : part + 1_000_000] = (COLUMNS * rng.random(min(1_000_000, CELLS - part)) ** 4).astype(np.int32)
    kept = distinct_cells(rows, columns)
    rows, columns = rows[kept], columns[kept]
    del kept
    values = 3.5 + rng.standard_normal(len(rows), dtype=np.float32)
    given = peak()
    start = time.process_time()
    # an integer start holds K from the first sweep; missingness features are those of the default
    model = BayesianSVD(
        max_rank=32, init=32, n_chains=1, burn_in=2, n_samples=2, random_state=0, n_jobs=2, progress=False
    )
    model.fit_triplets(rows, columns, values)
    held = peak()
    print(f"  {len(rows):,} cells; {given:.2f} GB before the fit, {held:.2f} GB at the most, "
          f"{time.process_time() - start:.0f} CPU seconds for four sweeps   bar < 4 GB "
          f"{'reached' if held < 4 else 'MISSED'}", flush=True)  # fmt: skip


def distinct_cells(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """(m,) whether a cell is the first of its kind; rows are sorted, so a stretch of them is enough at a time."""
    kept = np.zeros(len(rows), bool)
    edges = np.searchsorted(rows, np.arange(0, ROWS + 1, 6000))
    for first, last in pairwise(edges):
        key = rows[first:last].astype(np.int64) * COLUMNS + columns[first:last]
        kept[first + np.unique(key, return_index=True)[1]] = True
    return kept


def peak() -> float:
    """Gigabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


PARTS = {"sweep": part_sweep, "threads": part_threads, "memory": part_memory}


def main(names: list[str] | None = None) -> None:
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    for name in chosen_parts(PARTS, names, __doc__):
        print(f"{name}: {PARTS[name].__doc__}", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
