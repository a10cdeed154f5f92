"""How probable it is that a graph of a prior over classes is acyclic before cyclic ones are ruled out: the normaliser
of the block prior, and of its states of one class.

Of a few nodes by sums. Else by drawing, always the same draws. Most graphs have a cycle of two nodes; given classes and
edge probabilities that none is there has a probability in closed form, and only graphs without one are drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp

from ...kernels import kernel
from ...kernels.net_contract import NO_SCORE
from ...priors import franchise
from ...priors.graph import block_rule
from ...priors.partition import enumerate_partitions

LISTED = 6  # most nodes whose partitions are listed
BATCHES, DRAWS, ETAS, GRAPHS = 40, 500, 10, 100  # partitions of a batch, edge probabilities of each, graphs of a batch


@dataclass(frozen=True)
class ClassPrior:
    """Nodes of the data sets, and the values of alpha, of (beta1, beta2) and, where there are several data sets, of
    their room that are as likely beforehand: one of each where they are given."""

    first: tuple[int, ...]
    alphas: tuple[float, ...]
    betas: tuple[tuple[float, float], ...]
    rooms: tuple[float, ...] = (1.0,)

    @property
    def sizes(self) -> list[int]:
        return [b - a for a, b in pairwise(self.first)]

    def log_one_class(self) -> float:
        """Log probability that all nodes are of one class."""
        z = np.zeros(self.first[-1], int)
        logs = [log_classes(z, self.first, alpha, room) for alpha in self.alphas for room in self.rooms]
        return float(logsumexp(logs) - np.log(len(logs)))

    def draw(self, rng: np.random.Generator, m: int) -> np.ndarray:
        """(m, n) classes."""
        alphas, rooms = rng.choice(self.alphas, m), rng.choice(self.rooms, m)
        if len(self.sizes) > 1:
            return franchise.sample_groups(rng, self.sizes, rooms, alphas)
        return franchise.sample_groups(rng, self.sizes, alphas, np.inf)


def log_classes(z: np.ndarray, first: Sequence[int], alpha: float, room: float) -> float:
    counts = franchise.count(z, first)
    if len(first) > 2:
        return franchise.log_probability(counts, room, alpha)
    return float(franchise.log_restaurant(counts[0], alpha))


@lru_cache(maxsize=64)
def log_acyclic(prior: ClassPrior, one_class: bool) -> float:
    """Log of the probability that a graph of the prior, or of one class, is acyclic."""
    one_value = len(prior.alphas) == len(prior.betas) == len(prior.sizes) == 1
    return by_sums(prior, one_class) if one_value and prior.first[-1] <= LISTED else by_drawing(prior, one_class)


def by_sums(prior: ClassPrior, one_class: bool) -> float:
    """Graphs summed out under every partition of one data set; partitions of the same sizes are alike."""
    n, ((beta1, beta2),) = prior.first[-1], prior.betas
    rule, edges = block_rule(n, prior.alphas[0], beta1, beta2), np.empty((n, n))
    scores = np.where(np.arange(1 << n) >> np.arange(n)[:, None] & 1, NO_SCORE, 0.0)  # that no data give
    if one_class:
        return float(kernel.net_block_sum(scores, rule, np.zeros(n, np.int32), edges))
    alike = Counter(tuple(sorted(np.bincount(z).tolist())) for z in enumerate_partitions(n))
    logs = []
    for sizes, number in alike.items():
        z = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
        seats = log_classes(z, prior.first, prior.alphas[0], 1.0)
        logs.append(np.log(number) + seats + kernel.net_block_sum(scores, rule, z, edges))
    return float(logsumexp(logs))


def by_drawing(prior: ClassPrior, one_class: bool) -> float:
    """For any number of nodes, data sets and values."""
    rng, n, found = np.random.default_rng(0), prior.first[-1], 0.0
    home = np.repeat(np.arange(len(prior.sizes)), prior.sizes)
    for _ in range(BATCHES):
        z = np.zeros((DRAWS, n), np.intp) if one_class else prior.draw(rng, DRAWS)
        log_weight, etas = _without_short_cycles(rng, prior, z)
        weight = np.exp(log_weight)
        chosen = rng.choice(len(weight), GRAPHS, p=weight / weight.sum())
        z_chosen = z[chosen // ETAS]
        pick = np.arange(GRAPHS)[:, None, None]
        chance = etas[chosen][pick, z_chosen[:, :, None], z_chosen[:, None, :]] * (home[:, None] == home)
        found += float(weight.mean()) * float(acyclic(_draw_graphs(rng, chance)).mean())
    return float(np.log(max(found / BATCHES, 1e-300)))


def _without_short_cycles(
    rng: np.random.Generator, prior: ClassPrior, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Edge probabilities (m, K, K) drawn for every partition, ETAS of each, and the log probability (m,) that no two
    nodes have edges both ways."""
    K = int(z.max()) + 1
    sizes = np.stack([(z[:, a:b, None] == np.arange(K)).sum(axis=1) for a, b in pairwise(prior.first)], axis=1)
    pairs = np.einsum("mta,mtb->mab", sizes, sizes).astype(float)
    own = np.arange(K)
    pairs[:, own, own] -= sizes.sum(axis=1)
    beta = np.array(prior.betas)[rng.integers(0, len(prior.betas), len(z) * ETAS)]
    eta = rng.beta(beta[:, 0, None, None], beta[:, 1, None, None], (len(beta), K, K))
    none = np.log1p(-np.minimum(eta * eta.swapaxes(1, 2), 1.0 - 1e-15))
    return (np.repeat(pairs, ETAS, axis=0) * none).sum(axis=(1, 2)) / 2.0, eta


def _draw_graphs(rng: np.random.Generator, chance: np.ndarray) -> np.ndarray:
    """Graphs (m, n, n) of these edge probabilities, given that no two nodes have edges both ways."""
    n = chance.shape[1]
    i, j = np.triu_indices(n, 1)
    forth, back = chance[:, i, j], chance[:, j, i]
    one, other = forth * (1.0 - back), back * (1.0 - forth)
    place = rng.random(forth.shape) * (1.0 - np.minimum(forth * back, 1.0 - 1e-15))
    graph = np.zeros(chance.shape, bool)
    graph[:, i, j] = place < one
    graph[:, j, i] = (place >= one) & (place < one + other)
    return graph


def acyclic(graph: np.ndarray) -> np.ndarray:
    """Which of the graphs (k, n, n) have no cycle: nodes without parents are taken away as long as there are some."""
    parents, left = graph.astype(np.float32), np.ones(graph.shape[:2], bool)
    for _ in range(graph.shape[1]):
        fewer = left & (np.einsum("ki,kij->kj", left.astype(np.float32), parents) > 0)
        if (fewer == left).all():
            break
        left = fewer
    return np.asarray(~left.any(axis=1))
