"""Edge probabilities of `StructureLearner` on random networks: average precision, agreement of chains, CPU time.

    python -m benchmarks.networks layered --sets 30 --prior ordered-block
    python -m benchmarks.networks sparse --sets 50 --prior auto
    python -m benchmarks.networks qmr --rows 80 --sets 10 --prior block [--missing 0.3]

layered: 12 nodes in three layers of four, every node a parent of all of the next layer, 75 rows (figure 2-2 of [1]);
sparse: edges with probability 0.3 under a random order, at most four in and out (figure 2-3); qmr: 10 diseases, 20
symptoms, noisy-or (figure 2-4). Tables are drawn from Dirichlet(1/2). Columns are shuffled. One line of JSON for
every set.

[1] Mansinghka (2009), Natively Probabilistic Computation, chapter 2.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings

import numpy as np
from sklearn.metrics import average_precision_score

from partita import StructureLearner


def draw_rows(rng, graph, n_rows):
    """Rows of a network of two-level columns in topological order, tables from Dirichlet(1/2)."""
    X = np.zeros((n_rows, len(graph)), int)
    for j in range(len(graph)):
        parents = np.flatnonzero(graph[:, j])
        table = rng.dirichlet([0.5, 0.5], size=2 ** len(parents))[:, 0]
        X[:, j] = rng.random(n_rows) > table[X[:, parents] @ (1 << np.arange(len(parents)))]
    return X


def shuffled(rng, X, graph, classes):
    order = rng.permutation(len(graph))
    return X[:, order], graph[np.ix_(order, order)], classes[order]


def layered(rng, n_rows):
    layer = np.repeat(np.arange(3), 4)
    graph = (layer[None, :] == layer[:, None] + 1).astype(int)
    return shuffled(rng, draw_rows(rng, graph, n_rows), graph, layer)


def sparse(rng, n_rows, n=12):
    while True:
        graph = np.triu(rng.random((n, n)) < 0.3, 1).astype(int)
        if max(graph.sum(axis=0).max(), graph.sum(axis=1).max()) <= 4:
            return shuffled(rng, draw_rows(rng, graph, n_rows), graph, np.zeros(n, int))


def qmr(rng, n_rows, n_diseases=10, n_symptoms=20):
    while True:
        link = rng.random((n_diseases, n_symptoms)) < 0.3
        if link.any(axis=0).all() and link.any(axis=1).all():
            break
    graph = np.zeros((n_diseases + n_symptoms,) * 2, int)
    graph[:n_diseases, n_diseases:] = link
    weight = rng.uniform(0.5, 0.9, link.shape) * link
    diseases = (rng.random((n_rows, n_diseases)) < rng.uniform(0.1, 0.3, n_diseases)).astype(int)
    healthy = 0.95 * np.prod(1 - diseases[:, :, None] * weight, axis=1)
    X = np.hstack([diseases, (rng.random((n_rows, n_symptoms)) > healthy).astype(int)])
    return shuffled(rng, X, graph, np.repeat([0, 1], [n_diseases, n_symptoms]))


MAKERS = {"layered": (layered, 75), "sparse": (sparse, 75), "qmr": (qmr, 80)}


def precision(graph, edges):
    """Average precision of directed edges, and of edges either way."""
    off, upper = ~np.eye(len(graph), dtype=bool), np.triu_indices(len(graph), 1)
    skeleton = average_precision_score((graph + graph.T)[upper] > 0, (edges + edges.T)[upper])
    return float(average_precision_score(graph[off], edges[off])), float(skeleton)


def run_set(args, number):
    maker, usual = MAKERS[args.setting]
    X, graph, classes = maker(np.random.default_rng(args.first + number), args.rows or usual)
    if args.missing:
        X = X.astype(float)
        X[np.random.default_rng(number).random(X.shape) < args.missing] = np.nan
    settings = {"prior": args.prior, "score": args.score, "gamma": args.gamma, "n_chains": args.chains}
    settings["moves"] = args.moves
    if args.given:
        settings["classes"] = classes
    found, line = [], {"set": number}
    for seed in range(args.seeds):
        begun = time.process_time()
        model = StructureLearner(**settings, n_sweeps=args.sweeps, random_state=seed).fit(X)
        line.setdefault("cpu", []).append(round(time.process_time() - begun, 2))
        found.append(model.edge_probabilities_)
    directed, skeleton = precision(graph, found[0])
    same = (model.classes_map_[:, None] == model.classes_map_) == (classes[:, None] == classes)
    between = max((np.abs(a - b).max() for a in found for b in found), default=0.0)
    reports = model.diagnostics_.items()
    apart = {prior: report["edges"]["disagreement"] for prior, report in reports if "edges" in report}
    return line | {
        "ap": round(directed, 4), "skeleton_ap": round(skeleton, 4), "classes_exact": bool(same.all()),
        "brier": round(float(np.mean((found[0] - graph)[~np.eye(len(graph), dtype=bool)] ** 2)), 4),
        "between_seeds": round(float(between), 4), "between_chains": apart, "weights": model.prior_weights_,
        "parent_limit": model.parent_limit_,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("setting", choices=MAKERS)
    for name, kind, value in [
        ("prior", str, "auto"), ("score", str, "dirichlet"), ("gamma", float, 0.5), ("rows", int, None),
        ("sets", int, 10), ("first", int, 5000), ("chains", int, 2), ("sweeps", int, 2000), ("seeds", int, 1),
        ("missing", float, 0.0), ("moves", str, "all"),
    ]:  # fmt: skip
        parser.add_argument(f"--{name}", type=kind, default=value)
    parser.add_argument("--given", action="store_true", help="the true classes are given")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for number in range(args.sets):
        lines.append(run_set(args, number))
        print(json.dumps(lines[-1]), flush=True)
    names = ("ap", "skeleton_ap", "brier")
    summary = {name: round(float(np.mean([line[name] for line in lines])), 4) for name in names}
    print(json.dumps(summary | {"settings": vars(args)}))


if __name__ == "__main__":
    main()
