"""Where a fit begins: k-means within each class, its clusters as components, sorted by size.

Missing cells stand at the column's mean for k-means and at the cluster's centre afterwards, with the variance of the
prior; latent labels at plus or minus one. Parameters are updated first.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from .rows import Block, View
from .state import GatedState, Priors
from .sums import GatedSums
from .update import first_experts, first_sticks, updated

ITERATIONS = 100


def look_of_rows(blocks: list[Block], view: View, n_rows: int) -> np.ndarray:
    """All rows as k-means sees them: Gaussian cells and features of the others, 0 (the mean) where missing."""
    out = np.zeros((n_rows, view.n_features - 1))
    for block in blocks:
        out[block.index] = np.concatenate([block.x, block.features[:, :-1]], axis=1)
    return out


def first_clusters(
    look: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int, k: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Cluster of every row, and the class of every cluster; rows without a label join the nearest cluster."""
    cluster = np.full(len(look), -1)
    owner: list[int] = []
    centres: list[np.ndarray] = []
    for c in range(n_classes):
        mine = np.flatnonzero(label == c)
        if not len(mine):
            continue
        found, own = _k_means(look[mine], weight[mine], k, int(rng.integers(2**31)))
        cluster[mine] = len(owner) + found
        centres.append(own)
        owner += [c] * len(own)
    if not owner:  # no label at all: gates alone
        found, own = _k_means(look, weight, k * n_classes, int(rng.integers(2**31)))
        return found, np.zeros(len(own), np.int64)
    free = np.flatnonzero(label < 0)
    if len(free):
        centre = np.concatenate(centres)
        distance = (centre**2).sum(axis=1) - 2.0 * look[free] @ centre.T
        cluster[free] = distance.argmin(axis=1)
    return cluster, np.array(owner)


def _k_means(look: np.ndarray, weight: np.ndarray, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    k = max(1, min(k, len(look) // 2))
    if k > 1 and len(look) < 10_000:
        k = min(k, len(np.unique(look, axis=0)))
    if k == 1 or look.shape[1] == 0:
        return np.zeros(len(look), np.int64), np.average(look, axis=0, weights=weight)[None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than clusters: some stay empty
        found = KMeans(k, n_init=1, max_iter=ITERATIONS, random_state=seed).fit(look, sample_weight=weight)
    used, cluster = np.unique(found.labels_, return_inverse=True)
    return cluster.ravel(), found.cluster_centers_[used]


def first_state(
    view: View, blocks: list[Block], priors: Priors, n_classes: int, k: int, n_rows: int, rng: np.random.Generator,
    within: bool = True, cluster: np.ndarray | None = None,
) -> GatedState:  # fmt: skip
    """Clusters as components, k of each class or, not `within` classes, as many of all rows; or the given `cluster` of
    every row, numbered by falling size; and their parameters."""
    label, weight = np.full(n_rows, -1), np.ones(n_rows)
    for block in blocks:
        label[block.index], weight[block.index] = block.label, block.weight
    look = look_of_rows(blocks, view, n_rows)
    experts = priors.experts is not None
    if cluster is not None:
        cluster = np.minimum(cluster, priors.n_sticks - 1)
        owner = np.zeros(int(cluster.max()) + 1, np.int64)
    elif experts and (not within or n_classes > priors.n_sticks):  # or fewer components than classes
        n_clusters = min(k * n_classes, priors.n_sticks)
        cluster, owner = first_clusters(look, np.full(n_rows, -1), weight, 1, n_clusters, rng)
    else:
        cluster, owner = first_clusters(look, label, weight, n_classes, k, rng)
    n = len(owner)
    n_latents = (1 if n_classes == 2 else n_classes) if experts else 0
    target = first_latents(label, n_classes, n_latents)
    sums = GatedSums.nothing(view, n, n_latents)
    for block in blocks:
        sums.add(_sums_of_clusters(block, view, cluster, weight, look, target, n, n_latents, priors))
    rho = np.zeros((n_rows, n))
    rho[np.arange(n_rows), cluster] = 1.0
    state = GatedState(
        np.zeros(n),
        first_sticks(priors),
        priors.gate,
        [],
        first_experts(n, n_latents, view.n_features, priors) if experts else None,
        None if experts else owner,
        rho,
        np.repeat(target[:, None], n, axis=1) if experts else None,
    )
    return updated(_filled(state, view, n), sums, view, priors)


def first_latents(label: np.ndarray, n_classes: int, n_latents: int) -> np.ndarray:
    """(n, K): +1 or -1 for two classes; for many +1 at the label, less the mean."""
    if n_latents == 1:
        return np.where(label == 1, 1.0, -1.0)[:, None]
    out = np.full((len(label), n_latents), -1.0 / max(n_classes, 1))
    known = np.flatnonzero(label >= 0)
    if n_latents:
        out[known, label[known]] += 1.0
    return out


def _filled(state: GatedState, view: View, n: int) -> GatedState:
    """Parameters of the right shape, for the reordering that comes with the first update."""
    gate = state.gates
    state.gates = type(gate)(
        np.broadcast_to(gate.mean, (n, view.width)).copy(),
        np.broadcast_to(gate.kappa, n).copy(),
        np.broadcast_to(gate.nu, n).copy(),
        np.broadcast_to(gate.scale, (n, view.width, view.width)).copy(),
    )
    state.cells = [np.broadcast_to(column.prior, (n, len(column.prior))).copy() for column in view.cells]
    return state


def _sums_of_clusters(
    block: Block, view: View, cluster: np.ndarray, weight: np.ndarray, look: np.ndarray, target: np.ndarray, n: int,
    n_latents: int, priors: Priors,
) -> GatedSums:  # fmt: skip
    """Sums of rows that belong to one component each."""
    p = view.width
    sums = GatedSums.nothing(view, n, n_latents)
    mine = cluster[block.index]
    hard = np.zeros((len(block), n))
    hard[np.arange(len(block)), mine] = block.weight
    sums.count = hard.sum(axis=0)
    sums.cells = [column.statistics(hard, block.levels[j]) for j, column in enumerate(view.cells)]
    gate = priors.gate
    spread = np.diagonal(gate.scale) / max(float(gate.nu) - p - 1.0, 1.0) if p else np.zeros(0)
    hidden = np.zeros((len(block), p), bool)
    patterns = block.patterns
    for g in range(len(patterns)):
        cells = patterns.cells[patterns.first[g] : patterns.first[g + 1]]
        hidden[patterns.first_row[g] : patterns.first_row[g + 1], cells] = True
    for h in np.unique(mine):
        rows = np.flatnonzero(mine == h)
        everyone = cluster == h
        centre = np.average(look[everyone, :p], axis=0, weights=weight[everyone]) if p else np.zeros(0)
        x = np.where(hidden[rows], centre, block.x[rows])
        own = block.weight[rows][:, None]
        sums.first[h] = (own * x).sum(axis=0)
        sums.second[h] = (own * x).T @ x + np.diag((own * hidden[rows]).sum(axis=0) * spread)
        seen = block.label[rows] >= 0
        if n_latents and seen.any():
            features = np.concatenate([x, block.features[rows]], axis=1)[seen]
            sums.products[h] = (own[seen] * features).T @ features
            sums.products[h, :p, :p] += np.diag((own * hidden[rows])[seen].sum(axis=0) * spread)
            sums.targets[h] = (own[seen] * target[block.index[rows[seen]]]).T @ features
    return sums
