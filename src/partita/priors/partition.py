"""The Chinese restaurant process: a law over partitions of n rows, with concentration alpha.

P(z) = alpha^K Gamma(alpha) / Gamma(alpha + n) * product over groups of (size - 1)!, whatever the order of the rows.
With a discount (see `seating`) alpha^K is the product of alpha + discount k over k < K, and (size - 1)! is Gamma(size -
discount) / Gamma(1 - discount).

The cap. `max_components` bounds the number of groups K. Seating rows one by one and closing the door when the room is
full would make early rows matter more than late ones. The law here is the exchangeable one: everything (labels and
concentrations where they are random, and partitions) as without a cap, given that no K exceeds it. For a given alpha
that is P(z) proportional to CRP(z) on K <= cap, with its normaliser P(K <= cap) from the law of K. Its full
conditionals, one row given all the others, are those of the process with the new group shut when full (`log_weights`);
its sequential draw (`sample_partition`) looks ahead at the chance of staying under the cap.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, gammaln, logsumexp

Array = NDArray[np.float64]


def log_probability(
    sizes: ArrayLike, alpha: ArrayLike, max_components: int | None = None, discount: ArrayLike = 0.0
) -> Array:
    """Return the log probability of partitions with group sizes (..., K); empty groups (size 0) do not count.

    `alpha` and `discount` broadcast against the leading shape. Under a cap all partitions must have the same number of
    rows, and the discount must be 0.
    """
    sizes, alpha, less = np.asarray(sizes, float), np.asarray(alpha, float), np.asarray(discount, float)[..., None]
    n_groups, n_rows = (sizes > 0).sum(axis=-1), sizes.sum(axis=-1)
    arrangements = np.where(sizes > 0, gammaln(np.maximum(sizes, 1) - less) - gammaln(1.0 - less), 0.0).sum(axis=-1)
    others = np.arange(sizes.shape[-1])
    opening = np.where(others < n_groups[..., None], np.maximum(alpha[..., None] + less * others, 0.0), 1.0)
    with np.errstate(divide="ignore"):
        opened = np.log(opening).sum(axis=-1)
    value = opened + gammaln(alpha) - gammaln(alpha + n_rows) + arrangements
    if max_components is None:
        return value
    if np.any(less != 0):
        raise ValueError("log_probability: with max_components the discount must be 0.")
    totals = np.unique(n_rows)
    if totals.size > 1:
        raise ValueError(f"sizes hold partitions of {totals} rows; with max_components pass one number of rows.")
    log_room = log_probability_of_room(int(totals[0]), alpha, max_components)
    return np.where(n_groups <= max_components, value - log_room, -np.inf)


def log_weights(sizes: ArrayLike, alpha: ArrayLike, max_components: int | None = None) -> Array:
    """Return the log probabilities of a row's group given all OTHER rows: (..., K + 1), the new group last.

    A group of size 0 has probability 0. With a cap the new group has probability 0 when the room is full.
    """
    sizes, alpha = np.asarray(sizes, float), np.asarray(alpha, float)
    new = np.broadcast_to(alpha, sizes.shape[:-1])
    if max_components is not None:
        new = np.where((sizes > 0).sum(axis=-1) < max_components, new, 0.0)
    weights = np.concatenate([sizes, new[..., None]], axis=-1)
    with np.errstate(divide="ignore"):
        return np.log(weights) - np.log(weights.sum(axis=-1, keepdims=True))


def sample_partition_with_discount(
    rng: np.random.Generator, n: int, alpha: float, discount: float
) -> NDArray[np.intp]:
    """Draw a partition of n rows under the law of two parameters, groups numbered in order of appearance."""
    assignments, sizes = np.zeros(n, dtype=np.intp), np.zeros(n + 1)
    n_groups = 0
    for row, uniform in enumerate(rng.random(n)):
        weight = np.append(sizes[:n_groups] - discount, max(alpha + discount * n_groups, 0.0))
        group = int(np.searchsorted(np.cumsum(weight), uniform * weight.sum(), side="right"))
        assignments[row] = group
        sizes[group] += 1.0
        n_groups = max(n_groups, group + 1)
    return assignments


def sample_partition(
    rng: np.random.Generator, n: int, alpha: float, max_components: int | None = None
) -> NDArray[np.intp]:
    """Draw a partition of n rows, groups numbered in order of appearance, from n uniforms drawn beforehand."""
    uniforms = rng.random(n)
    log_room = None if max_components is None or max_components >= n else _log_room_ahead(n, alpha, max_components)
    assignments = np.zeros(n, dtype=np.intp)
    n_groups = 0
    for row, uniform in enumerate(uniforms):
        tilt = 1.0 if log_room is None else np.exp(log_room[row + 1, n_groups + 1] - log_room[row + 1, n_groups])
        new = alpha * tilt / (alpha * tilt + row) if row else 1.0
        if uniform < new:
            assignments[row] = n_groups
            n_groups += 1
        else:
            # A group in proportion to its size is the group of an earlier row drawn evenly.
            earlier = int((uniform - new) / (1.0 - new) * row)
            assignments[row] = assignments[min(earlier, row - 1)]
    return assignments


def expected_number(n: ArrayLike, alpha: ArrayLike) -> Array:
    """Return E[K], the sum over rows i < n of alpha / (alpha + i) (about alpha log n), for the uncapped process."""
    alpha = np.asarray(alpha, float)
    return alpha * (digamma(alpha + np.asarray(n, float)) - digamma(alpha))


def number_pmf(n: int, alpha: ArrayLike, max_components: int | None = None) -> Array:
    """Return P(K = 0), ..., P(K = m) on a last axis, m the smaller of n and the cap."""
    log_joint = _log_number_joint(n, alpha, n if max_components is None else min(n, max_components))
    return np.exp(log_joint - logsumexp(log_joint, axis=-1, keepdims=True))


def log_probability_of_room(n: int, alpha: ArrayLike, max_components: int) -> Array:
    """Return log P(K <= max_components) under the uncapped process: the normaliser of the capped law."""
    if max_components >= n or _surely_room(n, alpha, max_components):
        return np.zeros(np.shape(alpha))
    return logsumexp(_log_number_joint(n, alpha, max_components), axis=-1)


def _surely_room(n: int, alpha: ArrayLike, cap: int) -> bool:
    """Whether P(K > cap) is below 1e-17 by Chernoff's bound: K is a sum of independent indicators of mean E[K]."""
    mean = np.maximum(expected_number(n, alpha), 1e-300)
    log_tail = cap - mean - cap * np.log(cap / mean)
    return bool(((cap > mean) & (log_tail < -40.0)).all())


def enumerate_partitions(n: int) -> NDArray[np.intp]:
    """Return all partitions of n rows, (Bell(n), n), as restricted growth strings in lexicographic order.

    Each string numbers its groups in order of appearance. There are 4,140 of 8 rows: keep n small.
    """
    strings = np.zeros((1, 0), dtype=np.intp)
    for _ in range(n):
        choices = strings.max(axis=1, initial=-1) + 2
        last = np.arange(choices.sum()) - np.repeat(np.cumsum(choices) - choices, choices)
        strings = np.column_stack([np.repeat(strings, choices, axis=0), last])
    return strings


def _log_number_joint(n: int, alpha: ArrayLike, largest: int) -> Array:
    """Return log P(K = k), k = 0..largest: s(n, k) alpha^k Gamma(alpha) / Gamma(alpha + n) (Antoniak 1974)."""
    alpha = np.asarray(alpha, float)[..., None]
    return log_stirling(n, largest) + np.arange(largest + 1) * np.log(alpha) + gammaln(alpha) - gammaln(alpha + n)


@lru_cache(maxsize=64)
def log_stirling(n: int, largest: int) -> Array:
    """Return log s(n, k), k = 0..largest, unsigned Stirling numbers of the first kind, in time n * largest.

    s(i + 1, k) = i s(i, k) + s(i, k - 1).
    """
    row = np.full(largest + 1, -np.inf)
    row[0] = 0.0
    for i in range(n):
        stay = row + np.log(i) if i else np.full_like(row, -np.inf)
        row = np.logaddexp(stay, np.concatenate([[-np.inf], row[:-1]]))
    row.setflags(write=False)
    return row


def _log_room_ahead(n: int, alpha: float, cap: int) -> Array:
    """Return log P(K_n <= cap | K_i = k) for i = 0..n (rows seated) and k = 0..cap + 1, by the backward recursion."""
    ahead = np.full((n + 1, cap + 2), -np.inf)
    ahead[n, : cap + 1] = 0.0
    for i in range(n - 1, -1, -1):
        new = np.log(alpha) + ahead[i + 1, 1:]
        old = np.log(i) + ahead[i + 1, :-1] if i else np.full(cap + 1, -np.inf)
        ahead[i, :-1] = np.logaddexp(new, old) - np.log(alpha + i)
    return ahead
