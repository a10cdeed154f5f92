"""What was learnt of a network: edge and class probabilities with their errors, networks drawn, the best states
seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ...inference.diagnostics import ess_bulk, r_hat
from ...inference.outcome import Outcome
from .state import MOST_TOP, Batch, NetState, Schedule

STILL = 1e-4  # spread of an edge probability below which chains agree whatever R-hat says
MOST_JUDGED = 400  # edges whose R-hat is found: those that move most


@dataclass
class NetPosterior:
    """Symbols: n nodes, m networks, p partitions.

    edges, edge_errors   (n, n) probabilities (parent row, child column) and their Monte Carlo standard errors.
    chain_edges          (chains, n, n) the probabilities by each chain; empty where there was none.
    classes, shares      (p, n) int32 partitions and (p,) their shares of the posterior.
    graphs, graph_z, graph_weight, graph_cells, graph_hyper   m networks drawn: (m, n, n) uint8, their classes, weights
                         that sum to one, what stood in missing cells, and places in the grids of hyper-parameters.
    top_value, top_z, top_graph   the best states: log joint (normalised where the normaliser is known), classes, graph.
    log_evidence         log p(data | prior), NaN where it is not known.
    """

    edges: np.ndarray
    edge_errors: np.ndarray
    chain_edges: np.ndarray
    classes: np.ndarray
    shares: np.ndarray
    graphs: np.ndarray
    graph_z: np.ndarray
    graph_weight: np.ndarray
    graph_cells: np.ndarray
    graph_hyper: np.ndarray
    top_value: np.ndarray
    top_z: np.ndarray
    top_graph: np.ndarray
    log_evidence: float = float("nan")

    def together(self) -> np.ndarray:
        """(n, n) probability that two nodes share a class."""
        same = np.zeros((self.classes.shape[1],) * 2)
        for z, share in zip(self.classes, self.shares, strict=True):
            same += share * (z[:, None] == z)
        return same

    def n_classes(self) -> dict[int, float]:
        sizes = np.array([len(np.unique(z)) for z in self.classes])
        return {int(k): float(self.shares[sizes == k].sum()) for k in np.unique(sizes)}

    def best_classes(self) -> np.ndarray:
        """The partition of the greatest share; of those that tie, the one whose pairs are best supported. With ordered
        classes they are numbered in the order that was seen most with it."""
        same = self.together()
        groups: dict[bytes, list[int]] = {}
        for k, z in enumerate(self.classes):
            groups.setdefault((z[:, None] == z).tobytes(), []).append(k)

        def worth(members: list[int]) -> tuple[float, float]:
            z = self.classes[members[0]]
            return round(float(self.shares[members].sum()), 9), -float(((z[:, None] == z) - same).__abs__().sum())

        best = max(groups.values(), key=worth)
        return self.classes[max(best, key=lambda k: self.shares[k])].astype(np.int64)

    def to_tree(self) -> dict[str, Any]:
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> NetPosterior:
        return cls(**tree)


def partitions(classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Different rows, and their shares."""
    found, counts = np.unique(classes, axis=0, return_counts=True)
    return found.astype(np.int32), counts / counts.sum()


def best_states(
    states: Sequence[tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The best of several (values, classes, graphs), each state once."""
    value, z, graph = (np.concatenate([state[k] for state in states]) for k in range(3))
    chosen: list[int] = []
    seen = set()
    for k in np.argsort(-value, kind="stable"):
        mark = (z[k].tobytes(), graph[k].tobytes())
        if np.isfinite(value[k]) and mark not in seen and len(chosen) < MOST_TOP:
            seen.add(mark)
            chosen.append(int(k))
    return value[chosen], z[chosen], graph[chosen]


def counted(kept: Sequence[Batch], state: NetState, schedule: Schedule) -> list[Batch]:
    """The batches of a chain that count: those after the burn-in; of a run that was stopped before, the later half."""
    late = [batch for batch in kept if batch.step >= schedule.burn_in]
    if late or not kept:
        z, graph = state.z[0], state.graph[0]
        return late or [Batch(0, graph.astype(float), z, graph, state.cells, state.hyper[0], np.nan)]
    return list(kept[len(kept) // 2 :])


def of_chains(states: Sequence[NetState], kept: Sequence[Sequence[Batch]], schedule: Schedule) -> NetPosterior:
    """What the chains of one prior say together."""
    chains = [counted(batches, state, schedule) for batches, state in zip(kept, states, strict=True)]
    every = [batch for chain in chains for batch in chain]
    edges = np.mean([batch.edges for batch in every], axis=0)
    seen = np.concatenate([state.seen(schedule)[0] for state in states])
    found, shares = partitions(seen if len(seen) else np.array([batch.z for batch in every]))
    tops = [(state.top_value, state.top_z, state.top_graph) for state in states]
    return NetPosterior(
        edges, _errors(chains), np.array([np.mean([b.edges for b in chain], axis=0) for chain in chains]), found,
        shares,
        np.array([b.graph for b in every]), np.array([b.z for b in every]), np.full(len(every), 1.0 / len(every)),
        np.array([b.cells for b in every]), np.array([b.hyper for b in every]), *best_states(tops),
    )  # fmt: skip


def _errors(chains: Sequence[Sequence[Batch]]) -> np.ndarray:
    """Standard errors of the mean: the larger of what batches within chains and what the chains' means say."""
    every = np.array([batch.edges for chain in chains for batch in chain])
    if len(every) < 2:
        return np.full(every.shape[1:], np.nan)
    within = every.std(axis=0, ddof=1) / np.sqrt(len(every))
    if len(chains) < 2:
        return within
    means = np.array([np.mean([batch.edges for batch in chain], axis=0) for chain in chains])
    return np.maximum(within, means.std(axis=0, ddof=1) / np.sqrt(len(chains)))


def diagnostics(outcome: Outcome, kept: Sequence[Sequence[Batch]], schedule: Schedule) -> dict[str, Any]:
    """R-hat and effective size of the log joint and of the edges (the worst of them), over the sweeps that count."""
    infos = outcome.common_infos()
    late = {name: trace[:, schedule.burn_in :] for name, trace in infos.items()}
    report: dict[str, Any] = {
        name: {"r_hat": float(r_hat(trace)), "ess_bulk": float(ess_bulk(trace))}
        for name, trace in late.items() if trace.shape[1] >= 4
    }  # fmt: skip
    chains = [[batch.edges for batch in chain if batch.step >= schedule.burn_in] for chain in kept]
    shortest = min(map(len, chains))
    if shortest >= 4:
        draws = np.array([chain[:shortest] for chain in chains])
        n = draws.shape[-1]
        flat = draws.reshape(*draws.shape[:2], n * n)
        spread = flat.std(axis=(0, 1))
        moving = np.argsort(-spread)[:MOST_JUDGED]
        moving = moving[spread[moving] > STILL]
        agreement, size = np.ones(n * n), np.full(n * n, float(flat.shape[0] * flat.shape[1]))
        if len(moving):
            agreement[moving], size[moving] = r_hat(flat[:, :, moving]), ess_bulk(flat[:, :, moving])
        means = flat.mean(axis=1)
        report["edges"] = {
            "r_hat": float(agreement.max()), "ess_bulk": float(size.min()),
            "disagreement": float(np.ptp(means, axis=0).max()),
        }  # fmt: skip
    return report


def mixture(parts: Sequence[NetPosterior], weights: np.ndarray, log_normalisers: Sequence[float]) -> NetPosterior:
    """Posteriors under several priors, weighed; `log_normalisers` of the priors make their best states comparable."""
    shares = [w * part.shares for w, part in zip(weights, parts, strict=True)]
    tops = [(p.top_value - c, p.top_z, p.top_graph) for p, c in zip(parts, log_normalisers, strict=True)]
    evidence = np.array([part.log_evidence for part in parts])
    return NetPosterior(
        sum(w * part.edges for w, part in zip(weights, parts, strict=True)),
        np.sqrt(sum((w * np.nan_to_num(part.edge_errors)) ** 2 for w, part in zip(weights, parts, strict=True))),
        _chains_weighed(parts, weights),
        np.concatenate([part.classes for part in parts]), np.concatenate(shares),
        np.concatenate([part.graphs for part in parts]), np.concatenate([part.graph_z for part in parts]),
        np.concatenate([w * part.graph_weight for w, part in zip(weights, parts, strict=True)]),
        np.concatenate([part.graph_cells for part in parts]), np.concatenate([part.graph_hyper for part in parts]),
        *best_states(tops),
        float(np.logaddexp.reduce(evidence) - np.log(len(parts))),
    )  # fmt: skip


def _chains_weighed(parts: Sequence[NetPosterior], weights: np.ndarray) -> np.ndarray:
    """(chains, n, n) edges by the first chain of every prior together, the second, ...; exact ones stand in each."""
    n_chains = max(len(part.chain_edges) for part in parts)
    edges = [part.chain_edges if len(part.chain_edges) else part.edges[None] for part in parts]
    if not n_chains or any(len(part) not in (1, n_chains) for part in edges):
        return np.zeros((0, *parts[0].edges.shape))
    return np.asarray(sum(w * np.broadcast_to(part, (n_chains, *part.shape[1:])) for w, part in zip(weights, edges)))
