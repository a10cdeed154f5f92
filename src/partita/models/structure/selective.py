"""Selective averaging: over the best states that were seen, weighed by their joint probability, as [1] does.

[1] Mansinghka (2009), chapter 2: "the 100 best of 10 x 2000 iterations".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .posterior import NetPosterior


def best_only(posterior: NetPosterior) -> NetPosterior:
    """The posterior as its best states have it. What stands in missing cells is taken from the network drawn that is
    most like each of them."""
    weight = np.exp(posterior.top_value - posterior.top_value.max())
    weight /= weight.sum()
    graphs = posterior.top_graph
    near = [int(np.argmin((posterior.graphs != graph).sum(axis=(1, 2)))) for graph in graphs]
    return replace(
        posterior, edges=np.tensordot(weight, graphs.astype(float), 1), edge_errors=np.full(graphs.shape[1:], np.nan),
        chain_edges=posterior.chain_edges[:0], classes=posterior.top_z, shares=weight, graphs=graphs,
        graph_z=posterior.top_z, graph_weight=weight, graph_cells=posterior.graph_cells[near],
        graph_hyper=posterior.graph_hyper[near],
    )  # fmt: skip
