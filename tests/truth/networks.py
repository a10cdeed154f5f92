"""Small networks by brute force: every acyclic graph with every partition, and every order of its classes."""

from __future__ import annotations

from functools import lru_cache
from itertools import permutations, product
from math import exp, lgamma, log

import numpy as np
from scipy.special import gammaln

from partita.priors.partition import enumerate_partitions


def rows_of_four(n_rows=30, seed=5):
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, 4)) < 0.5).astype(np.int32)
    X[:, 1] = rng.random(n_rows) < np.where(X[:, 0] == 1, 0.8, 0.3)
    X[:, 3] = rng.random(n_rows) < np.where(X[:, 1] != X[:, 0], 0.8, 0.2)
    return X


def tables_of_three(*n_rows):
    """One table of three binary columns for each number of rows, all from the same law."""
    rng = np.random.default_rng(3)
    tables = []
    for n in n_rows:
        X = (rng.random((n, 3)) < 0.5).astype(np.int32)
        X[:, 2] = rng.random(n) < np.where(X[:, 0] == 1, 0.85, 0.2)
        X[:, 1] = rng.random(n) < np.where(X[:, 0] + X[:, 2] > 0, 0.7, 0.3)
        tables.append(X)
    return tables


def local_score(X, levels, child, parents, bdeu, pseudo):
    counts = np.zeros([levels[p] for p in parents] + [levels[child]])
    np.add.at(counts, tuple(X[:, [*parents, child]].T), 1)
    cell = pseudo / counts.size if bdeu else pseudo
    rows = counts.sum(-1)
    return float(
        (gammaln(counts + cell) - gammaln(cell)).sum()
        + (gammaln(cell * counts.shape[-1]) - gammaln(cell * counts.shape[-1] + rows)).sum()
    )


@lru_cache(maxsize=4)
def acyclic(n):
    """Adjacency matrices of all acyclic graphs."""
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j]
    found = []
    for bits in product((0, 1), repeat=len(pairs)):
        A = np.zeros((n, n), int)
        for on, (i, j) in zip(bits, pairs):
            A[i, j] = on
        if not np.trace(sum(np.linalg.matrix_power(A, k) for k in range(1, n + 1))):
            found.append(A)
    return found


def log_prior(prior, A, z, alpha, b1, b2):
    """Log of the unnormalised prior of a graph with classes z, summed over the orders of classes where there are
    some."""
    n = len(A)
    if prior == "uniform":
        return 0.0
    groups = [np.flatnonzero(z == k) for k in range(z.max() + 1)]
    crp = sum(log(alpha) + lgamma(len(g)) for g in groups) + lgamma(alpha) - lgamma(alpha + n)

    def ratio(ga, gb, same):
        edges, pairs = A[np.ix_(ga, gb)].sum(), len(ga) * len(gb) - (len(ga) if same else 0)
        return (
            lgamma(b1 + edges) + lgamma(b2 + pairs - edges) - lgamma(b1 + b2 + pairs)
            + lgamma(b1 + b2) - lgamma(b1) - lgamma(b2)
        )  # fmt: skip

    if prior in ("sparse", "block"):
        return crp * (prior == "block") + sum(
            ratio(ga, gb, a == b) for a, ga in enumerate(groups) for b, gb in enumerate(groups)
        )
    total = 0.0
    for order in permutations(groups):
        if any(A[np.ix_(order[a], order[b])].any() for a in range(len(order)) for b in range(a + 1)):
            continue
        pairs = [(a, b) for b in range(len(order)) for a in range(b)]
        total += exp(crp - lgamma(len(order) + 1) + sum(ratio(order[a], order[b], False) for a, b in pairs))
    return log(total) if total else -np.inf


def brute_force(X, levels, prior, bdeu=False, pseudo=0.5, alpha=0.5, b1=1.0, b2=1.0, allowed=None, partitions=None):
    """Edge and co-assignment probabilities, and the log of the sum of prior weight times likelihood."""
    n = X.shape[1]
    if partitions is None:
        partitions = enumerate_partitions(n) if prior in ("block", "ordered-block") else np.zeros((1, n), int)
    scores = {}
    edges, together, values = [], [], []
    for A in acyclic(n):
        if allowed is not None and not allowed(A):
            continue
        score = 0.0
        for j in range(n):
            key = (j, *np.flatnonzero(A[:, j]))
            if key not in scores:
                scores[key] = local_score(X, levels, j, list(key[1:]), bdeu, pseudo)
            score += scores[key]
        for z in partitions:
            value = score + log_prior(prior, A, z, alpha, b1, b2)
            if value > -np.inf:
                edges.append(A)
                together.append(z[:, None] == z)
                values.append(value)
    top = max(values)
    weight = np.exp(np.array(values) - top)
    share = weight / weight.sum()
    return np.tensordot(share, edges, 1), np.tensordot(share, together, 1), top + log(weight.sum())
