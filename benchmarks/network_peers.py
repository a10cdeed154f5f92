"""Edges by peers at their defaults beside ours, on the same random tables, one run.

    PARTITA_PEERS_PYTHON=peers/bin/python python -m benchmarks.network_peers [layered|sparse|qmr] [--sets 10]

Peers (benchmarks/peers_networks.txt) run in processes of their own, in the Python that PARTITA_PEERS_PYTHON names, else
in this one; one that is not there is left out with a word. Average precision of directed edges; an edge whose direction
a peer leaves open counts half either way. Much of the gap in the layered setting is the peers' score, so the exact
posterior of all graphs alike stands beside it with their score (BDeu, 10) and with ours.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.networks import MAKERS, precision
from benchmarks.peer_python import importable, python
from partita import StructureLearner

HERE = Path(__file__).resolve().parent
PEERS = ("pgmpy", "pyagrum", "pybnesian", "sumu")  # the names of their packages
OURS: dict[str, dict[str, Any]] = {
    "uniform, bdeu 10": {"prior": "uniform", "score": "bdeu", "gamma": 10.0},
    "uniform": {"prior": "uniform"},
    "sparse": {"prior": "sparse"},
    "ordered-block": {"prior": "ordered-block", "n_chains": 2},
    "auto": {"prior": "auto", "n_chains": 2},
}


def ask(what: str, peer: str, data: dict[str, np.ndarray], limit: float = 600.0) -> dict[str, np.ndarray] | None:
    """The answer of benchmarks/network_peer.py; None, and a word, where it fails or takes too long."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, **data)
        words = [python(), str(HERE / "network_peer.py"), what, peer, str(source), str(target)]
        try:
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            print(f"({peer} was stopped after {limit:g} s)", flush=True)
            return None
        if done.returncode:
            print(f"({peer} failed: {done.stderr.strip().splitlines()[-1:]})", flush=True)
            return None
        with np.load(target) as file:
            return {name: file[name] for name in file.files}


def by_peers(X: np.ndarray, peers: list[str]) -> dict[str, tuple[np.ndarray, float]]:
    data = {"codes": X.astype(np.int32), "levels": np.full(X.shape[1], 2, np.int32)}
    answers = {peer: ask("edges", peer, data) for peer in peers if importable(peer)}
    return {peer: (found["edges"], float(found["cpu"])) for peer, found in answers.items() if found is not None}


def by_us(X: np.ndarray, names: list[str]) -> dict[str, tuple[np.ndarray, float]]:
    found = {}
    for name in names:
        begun = time.process_time()
        edges = StructureLearner(**OURS[name], random_state=0, n_jobs=1).fit(X).edge_probabilities_
        found[name] = edges, time.process_time() - begun
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setting", choices=MAKERS, nargs="?", default="layered")
    parser.add_argument("--sets", type=int, default=10)
    parser.add_argument("--first", type=int, default=5000)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--ours", nargs="*", default=list(OURS))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    lines: dict[str, list[tuple[float, float, float]]] = {}
    maker, usual = MAKERS[args.setting]
    for number in range(args.sets):
        X, graph, _ = maker(np.random.default_rng(args.first + number), args.rows or usual)
        for name, (edges, seconds) in {**by_peers(X, args.peers), **by_us(X, args.ours)}.items():
            lines.setdefault(name, []).append((*precision(graph, edges), seconds))
        print(f"set {number}: " + ", ".join(f"{name} {found[-1][0]:.2f}" for name, found in lines.items()), flush=True)
    print(f"\n{args.setting}, {args.rows or usual} rows, {args.sets} sets\n{'':<20}directed  either way   CPU s")
    for name, found in lines.items():
        directed, either, seconds = np.mean(found, axis=0)
        print(f"{name:<20}{directed:8.3f}{either:12.3f}{seconds:8.2f}")


if __name__ == "__main__":
    main()
