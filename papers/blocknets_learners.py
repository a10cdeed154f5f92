"""A structure learnt under every prior from the same rows, and how near it is to the network they were drawn from."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from blocknets_worlds import World
from sklearn.metrics import average_precision_score

from partita import StructureLearner

# The first three are the thesis's; it names the fourth as the baseline it lacks.
PRIORS = {
    "uniform": "uniform",
    "block": "block",
    "ordered": "ordered-block",
    "one class": "sparse",
    "auto": "auto",
}
THESIS = {"block, thesis": "block", "ordered, thesis": "ordered-block"}  # its chain and its average over 100 states


@dataclass
class Found:
    """What one prior learnt from one table.

    edges, together   (n, n) probabilities of edges (parent row, child column) and of sharing a class.
    classes           (n,) most probable classes, by number.
    record            measurements: see `learn`.
    """

    edges: np.ndarray
    together: np.ndarray
    classes: np.ndarray
    record: dict[str, Any]


def frame_of(rows: np.ndarray, world: World, order: np.ndarray) -> Any:
    """Columns in this order."""
    import pandas as pd

    return pd.DataFrame(
        {world.names[k]: pd.Categorical(rows[:, k], categories=range(world.arities[k])) for k in order}
    )


def unseen_levels(world: World, rows: np.ndarray, test: np.ndarray) -> np.ndarray:
    """(test rows,) what to add to the log density of a model that knows the levels it has seen only, and leaves other
    cells out: every level of a column has half a row beforehand, as in the score."""
    more = np.zeros(len(test))
    for j, size in enumerate(world.arities):
        seen = np.isin(np.arange(size), rows[:, j])
        total = len(rows) + 0.5 * size
        known = np.log((len(rows) + 0.5 * seen.sum()) / total)
        more += np.where(seen[test[:, j]], known, np.log(0.5 / total))
    return more


def learn(
    world: World, rows: np.ndarray, test: np.ndarray, prior: str, plan: dict[str, Any], seed: int
) -> Found:  # fmt: skip
    """Fit with columns shuffled. ap: average precision of directed edges; skeleton: of edges either way; kl:
    divergence of the truth from the predictive law, in nats, estimated on test rows; kl_error its standard error;
    spurious: expected number of edges that are not there; right: whether the most probable classes are the true ones;
    apart: largest difference of an edge between chains."""
    order = np.random.default_rng(seed).permutation(len(world.names))
    thesis = prior in THESIS
    settings = plan["thesis"] if thesis else {**plan["settings"], **plan.get("longer", {}).get(prior, {})}
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns of one level at 20 rows; chains that have not settled are in `apart`
        model = StructureLearner(
            THESIS[prior] if thesis else PRIORS[prior], moves="thesis" if thesis else "all", random_state=seed,
            **settings,
        ).fit(frame_of(rows, world, order))  # fmt: skip
        seconds = time.process_time() - begun
        logs = model.score_samples(frame_of(test, world, order))
    back = np.argsort(order)
    edges, together, classes = model.edge_probabilities_, model.coassignment_, model.classes_map_
    if thesis:
        edges, together, classes = best_hundred(model)
    edges, together, classes = edges[np.ix_(back, back)], together[np.ix_(back, back)], classes[back]
    gaps = world.log_density(test) - logs - unseen_levels(world, rows, test)
    chains = model.chain_edges_
    record = {
        **precision(world.graph, edges), "kl": float(gaps.mean()), "kl_error": float(gaps.std() / np.sqrt(len(gaps))),
        "spurious": float(edges[world.graph == 0].sum()), "expected": float(edges.sum()),
        "right": same_classes(classes, world.classes), "n_classes": len(np.unique(classes)),
        "together": separation(together, world.classes),
        "apart": float(np.ptp(chains, axis=0).max()) if len(chains) > 1 else 0.0, "cpu": seconds,
        "weights": " ".join(f"{name} {w:.3f}" for name, w in model.prior_weights_.items()),
    }  # fmt: skip
    return Found(edges, together, classes, record)


def best_hundred(model: StructureLearner) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The thesis's selective average: the 100 best states by their relative scores."""
    top = model.top_models_[:100]
    share = np.array([state["probability"] for state in top])
    share = share / share.sum()
    graphs = np.array([state["graph"] for state in top], float)
    classes = np.array([state["classes"] for state in top])
    together = np.einsum("s,sij->ij", share, classes[:, :, None] == classes[:, None, :])
    return np.einsum("s,sij->ij", share, graphs), together, classes[0]


def precision(graph: np.ndarray, edges: np.ndarray) -> dict[str, float]:
    """Average precision of directed edges, and of edges either way."""
    off, upper = ~np.eye(len(graph), dtype=bool), np.triu_indices(len(graph), 1)
    either = np.maximum(graph, graph.T)[upper]
    return {
        "ap": float(average_precision_score(graph[off], edges[off])),
        "skeleton": float(average_precision_score(either, (edges + edges.T)[upper])),
    }


def same_classes(found: np.ndarray, true: np.ndarray) -> bool:
    return bool(((found[:, None] == found) == (true[:, None] == true)).all())


def separation(together: np.ndarray, classes: np.ndarray) -> float:
    """Mean probability of sharing a class over pairs that do, less that over pairs that do not."""
    off = ~np.eye(len(classes), dtype=bool)
    same = classes[:, None] == classes
    if same.all():
        return float(together[off].mean())
    return float(together[same & off].mean() - together[~same].mean())


def means(records: Sequence[dict[str, Any]], prior: str, rows: int, what: str) -> float:
    return float(np.mean([r[what] for r in records if r["prior"] == prior and r["rows"] == rows]))
