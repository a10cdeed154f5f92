"""Where EM begins: k-means over all rows or within each class, its clusters as components.

Gates take the moments of their cluster, each drawn towards the pooled covariance; experts know the shares of the
classes in their cluster and nothing else (an intercept).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from ..gated.rows import View
from ..gated.start import first_clusters, first_latents
from .cells import points
from .state import QGMEState, Regulariser

HALF = 0.5  # rows of each class that a cluster is thought to hold besides its own


def clusters(
    look: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int, k: int, within: bool,
    rng: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """A cluster for every row: at most k of them, of all rows, or each of one class if `within` and k allows it."""
    present = np.unique(label[label >= 0])
    nobody = np.full(len(look), -1)
    if not within or len(present) < 2 or k < len(present):
        return first_clusters(look, nobody, weight, 1, k, rng)[0]
    cluster, n = np.full(len(look), -1), 0
    mass = np.array([weight[label == c].sum() for c in present])
    for c, share in zip(present, parted(mass, k), strict=True):
        mine = np.flatnonzero(label == c)
        found = first_clusters(look[mine], nobody[mine], weight[mine], 1, int(share), rng)[0]
        cluster[mine] = n + found
        n += int(found.max()) + 1
    free = np.flatnonzero(cluster < 0)
    if len(free):
        centre = np.stack([np.average(look[cluster == h], axis=0, weights=weight[cluster == h]) for h in range(n)])
        cluster[free] = ((centre**2).sum(axis=1) - 2.0 * look[free] @ centre.T).argmin(axis=1)
    return cluster


def parted(mass: np.ndarray, k: int) -> np.ndarray:
    """k >= len(mass) places in proportion to masses, one at least for each; the largest remainders are rounded up."""
    wanted = (k - len(mass)) * mass / mass.sum()
    out = np.floor(wanted)
    out[np.argsort(out - wanted, kind="stable")[: k - len(mass) - int(out.sum())]] += 1
    return 1 + out.astype(np.int64)


def first_parameters(
    view: View, x: np.ndarray, levels: list[np.ndarray], label: np.ndarray, weight: np.ndarray, n_classes: int,
    cluster: np.ndarray, regulariser: Regulariser,
) -> QGMEState:  # fmt: skip
    """Parameters from clusters; x (n, P) with NaN where missing, levels of the columns beside with -1."""
    n, p = int(cluster.max()) + 1, view.width
    hard = np.zeros((len(cluster), n))
    hard[np.arange(len(cluster)), cluster] = weight
    mean, covariance = np.zeros((n, p)), np.zeros((n, p, p))
    pooled, rows = regulariser.covariance, regulariser.covariance_rows + p
    for h in range(n) if p else ():
        mine = cluster == h
        seen = ~np.isnan(x[mine])
        filled, own = np.where(seen, x[mine], 0.0), weight[mine][:, None]
        total = (own * seen).sum(axis=0)
        mean[h] = np.divide((own * filled).sum(axis=0), total, out=np.zeros(p), where=total > 0)
        gap = np.where(seen, filled - mean[h], 0.0)
        scatter = (own * gap).T @ gap + np.diag((own * ~seen).sum(axis=0) * np.diagonal(pooled))
        covariance[h] = (scatter + rows * pooled) / (own.sum() + rows)
    cells = [column.fitted(column.statistics(hard, levels[j])) for j, column in enumerate(points(view))]
    n_latents = {1: 0, 2: 1}.get(n_classes, n_classes)
    w = np.zeros((n, n_latents, view.n_features))
    for k in range(n_latents):
        chosen = 1 if n_latents == 1 else k
        own_class, known = hard[label == chosen].sum(axis=0), hard[label >= 0].sum(axis=0)
        w[:, k, -1] = ndtri((own_class + HALF) / (known + HALF * n_classes))
    latent = None
    if n_latents > 1:
        latent = np.repeat(first_latents(label, n_classes, n_latents)[:, None], n, axis=1)
    counts = hard.sum(axis=0)
    return QGMEState(counts / counts.sum(), mean, covariance, cells, w, latent)
