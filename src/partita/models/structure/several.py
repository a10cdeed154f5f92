"""Several tables in one posterior: put side by side where they share nothing, parted again for each, and the one
density they share where all columns are of one class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ...kernels import kernel
from ...priors.graph import edge_rule, log_template
from .chains import seed_of
from .exact import NEGLIGIBLE, sizes_of_sets
from .knowledge import to_graph, to_masks
from .posterior import MOST_TOP, NetPosterior, best_states

TRIES = 5  # graphs proposed between one that is kept and the next


def part_of(whole: NetPosterior, nodes: slice, cells: slice) -> NetPosterior:
    """What a posterior over the columns of several tables says of one of them."""
    classes = whole.classes[:, nodes]
    found, which = np.unique(classes, axis=0, return_inverse=True)
    value, z, graph = best_states([(whole.top_value, whole.top_z[:, nodes], whole.top_graph[:, nodes, nodes])])
    return replace(
        whole, edges=whole.edges[nodes, nodes], edge_errors=whole.edge_errors[nodes, nodes],
        chain_edges=whole.chain_edges[:, nodes, nodes],
        classes=found, shares=np.bincount(which.ravel(), whole.shares, len(found)),
        graphs=np.ascontiguousarray(whole.graphs[:, nodes, nodes]), graph_z=whole.graph_z[:, nodes],
        graph_cells=whole.graph_cells[:, cells], top_value=value, top_z=z, top_graph=graph,
    )  # fmt: skip


def side_by_side(parts: Sequence[NetPosterior]) -> NetPosterior:
    """Posteriors of tables that have nothing to do with each other as one, with as many networks drawn of each; the
    best states are those of all pairs of theirs."""
    return reduce(_beside, parts)


def _beside(a: NetPosterior, b: NetPosterior) -> NetPosterior:
    assert len(a.graphs) == len(b.graphs) and len(a.classes) == len(b.classes) == 1
    value = a.top_value[:, None] + b.top_value[None, :]
    best = np.argsort(-value, axis=None, kind="stable")[:MOST_TOP]
    i, j = np.unravel_index(best, value.shape)
    return NetPosterior(
        _blocks(a.edges, b.edges), _blocks(a.edge_errors, b.edge_errors), _blocks(a.chain_edges, b.chain_edges),
        np.concatenate([a.classes, b.classes], axis=1), a.shares, _blocks(a.graphs, b.graphs),
        np.concatenate([a.graph_z, b.graph_z], axis=1), a.graph_weight,
        np.concatenate([a.graph_cells, b.graph_cells], axis=1), a.graph_hyper, value[i, j],
        np.concatenate([a.top_z[i], b.top_z[j]], axis=1), _blocks(a.top_graph[i], b.top_graph[j]),
        a.log_evidence + b.log_evidence,
    )  # fmt: skip


def _blocks(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(..., n + m, n + m) with a and b on the diagonal."""
    n, m = a.shape[-1], b.shape[-1]
    out = np.zeros((*a.shape[:-2], n + m, n + m), a.dtype)
    out[..., :n, :n], out[..., n:, n:] = a, b
    return out


def one_density(
    tables: Sequence[np.ndarray], rng: np.random.Generator, beta1: float, beta2: float, n_shown: int
) -> NetPosterior:
    """All columns of one class: the sums over graphs of every table are polynomials in the one probability of an edge,
    so a rule integrates their product exactly. Networks are drawn from the same rule."""
    first = np.cumsum([0, *map(len, tables)])
    points = int(sum(n * (n - 1) for n in map(len, tables))) // 2 + 1
    eta, share = edge_rule(points, beta1, beta2)
    odds = np.log(eta) - np.log1p(-eta)

    def weight(table: np.ndarray, q: Any) -> np.ndarray:
        n = len(table)
        return table + sizes_of_sets(n) * odds[q] + (n - 1) * np.log1p(-eta[q])

    with np.errstate(divide="ignore"):
        logs = np.log(share)  # the tails of a long rule are zero
    for q in np.flatnonzero(np.isfinite(logs)):
        logs[q] += sum(kernel.net_dag_sum(weight(table, q), np.zeros((0, 0))) for table in tables)
    total = float(logsumexp(logs))
    shares = np.exp(logs - total)
    n, found = int(first[-1]), []
    edges, drawn = np.zeros((n, n)), rng.choice(points, n_shown, p=shares / shares.sum())
    graphs = np.zeros((n_shown, n, n), np.uint8)
    for t, table in enumerate(tables):
        nodes, part = slice(first[t], first[t + 1]), np.zeros((len(table), len(table)))
        for q in np.flatnonzero(shares > NEGLIGIBLE):
            kernel.net_dag_sum(weight(table, q), part)
            edges[nodes, nodes] += shares[q] * part
        for q in np.unique(drawn):
            masks = np.full((int((drawn == q).sum()), len(table)), -1, np.int32)
            kernel.net_order_draws(table, np.full(part.shape, odds[q]), masks, TRIES, seed_of(rng))
            graphs[np.flatnonzero(drawn == q), nodes, nodes] = to_graph(masks)
        found.append(table[np.arange(len(table)), to_masks(graphs[:, nodes, nodes])].sum(axis=1))
    pairs = sum(m * (m - 1) for m in map(len, tables))
    present = graphs.sum(axis=(1, 2)).astype(float)
    prior = log_template(present[:, None, None], np.full((1, 1), float(pairs)), beta1, beta2)
    z = np.zeros((n_shown, n), np.int32)
    return NetPosterior(
        edges, np.zeros((n, n)), np.zeros((0, n, n)), z[:1], np.ones(1), graphs, z,
        np.full(n_shown, 1.0 / n_shown), np.zeros((n_shown, 0), np.int32), np.zeros((n_shown, 3), np.int64),
        *best_states([(np.sum(found, axis=0) + prior, z, graphs)]),
    )  # fmt: skip
