"""Where a fit of factor experts begins: k-means within each class, factors from the residuals, parameters first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...priors.sticks import Sticks
from .problem import Array, FactorProblem
from .rows import sweep
from .state import FactorState
from .updates import update_experts, update_gates, update_sticks

_ROUNDS = 30  # of k-means


def begin(
    rng: np.random.Generator, problem: FactorProblem, k: int, cluster: NDArray[np.intp] | None = None
) -> FactorState:
    """k clusters in each class (fewer where it has fewer rows, or sticks), sorted by size; parameters updated once.

    k = 0: all rows in one. `cluster` (n,): these instead, numbered from 0 without a gap.
    """
    prior = problem.settings
    n_factors = prior.most_factors(problem.n_rows, problem.n_columns)
    filled = _fill(problem)
    if cluster is None:
        look = np.concatenate([filled, problem.beside.features[:, :-1]], axis=1)
        cluster = _clusters(rng, problem, look, k) if k else np.zeros(problem.n_rows, np.intp)
    h = int(cluster.max()) + 1
    assignment = np.zeros((problem.n_rows, h))
    assignment[np.arange(problem.n_rows), cluster] = 1.0
    counts = problem.weight @ assignment
    mean = (assignment * problem.weight[:, None]).T @ filled / np.maximum(counts, 1e-12)[:, None]
    residual = (filled - mean[cluster]) * np.sqrt(problem.weight)[:, None]
    total = max(float(problem.weight.sum()), 1e-12)
    variance = float((residual**2).sum() / (total * max(1, problem.n_columns)))
    state = _blank(problem, h, min(n_factors, *residual.shape), n_factors)
    state = replace(
        state,
        loading=_principal(residual, state.n_active) / np.sqrt(total),
        mean=mean,
        noise_rate=np.full(h, max(variance, 1e-3)),
        count=counts,
    )
    cells = problem.beside.first_cells(assignment * problem.weight[:, None])
    state = replace(state, cells=cells, guesses=problem.beside.first_guesses(cells))
    state = replace(state, energy=(state.loading**2).sum(0) + 1e-6)
    sums, latent = sweep(problem, state, loadings=False, assignment=assignment)
    state = update_gates(problem, replace(state, latent=latent, guesses=sums.guesses), sums)
    # the noise of a start must not be what the factors, not yet shrunk, leave over
    state = replace(state, noise_rate=np.maximum(state.noise_rate, state.noise_shape * variance))
    return update_sticks(problem, update_experts(problem, state, sums), sums)


def _blank(problem: FactorProblem, h: int, active: int, most: int) -> FactorState:
    """Everything at a plain value; noise_shape / noise_rate is set by `begin`."""
    prior, c, p = problem.settings, problem.n_experts, problem.n_columns
    entries = active + problem.beside.n_features
    sticks = Sticks.begin(prior.n_sticks, prior.concentration_shape, prior.concentration_rate)
    latent = np.zeros((problem.n_rows if c > 1 else 0, h, c))
    return FactorState(
        loading=np.zeros((p, active)),
        loading_cov=np.zeros((problem.group_seen.shape[1], active, active)) + 1e-8 * np.eye(active),
        pattern=problem.pattern,
        energy=np.ones(active),
        used=np.ones((h, active)),
        mean=np.zeros((h, p)),
        mean_count=np.full((h, p), prior.mean_count),
        noise_shape=np.ones(h),
        noise_rate=np.ones(h),
        weight=np.zeros((h, c, entries)),
        weight_cov=np.zeros((h, c, entries, entries)),
        centre=np.zeros((c, entries)),
        centre_count=np.asarray(prior.centre_count),
        rate_shape=np.asarray(prior.weight_shape),
        rate=np.full((c, entries), prior.weight_rate),
        stick_first=sticks.first,
        stick_second=sticks.second,
        concentration=np.array([sticks.shape, sticks.rate]),
        count=np.zeros(h),
        latent=latent,
        most_factors=most,
        n_classes=problem.n_classes,
    )


def _fill(problem: FactorProblem) -> Array:
    """Missing cells at the mean of their column."""
    weight = problem.weight[:, None] * problem.seen
    mean = (problem.weight @ problem.values) / np.maximum(weight.sum(0), 1e-12)
    return problem.values + (1.0 - problem.seen) * mean


def _principal(residual: Array, n_factors: int) -> Array:
    """Leading right singular vectors times their values, (P, T), by the smaller Gram matrix."""
    n, p = residual.shape
    small = residual @ residual.T if n <= p else residual.T @ residual
    values, vectors = np.linalg.eigh(small)
    vectors = vectors[:, ::-1][:, :n_factors]
    if n <= p:
        return residual.T @ vectors
    return vectors * np.sqrt(np.maximum(values[::-1][:n_factors], 0.0))


def _clusters(rng: np.random.Generator, problem: FactorProblem, filled: Array, k: int) -> NDArray[np.intp]:
    """A cluster for every row; rows without a label join the nearest, or make clusters where all rows lack it."""
    counted = problem.weight > 0
    classes = [c for c in range(problem.n_classes) if np.any(counted & (problem.label == c))]
    each = max(1, min(k, problem.settings.n_sticks // max(1, len(classes))))
    groups = [counted & (problem.label == c) for c in classes]
    if not 0 < len(groups) <= problem.settings.n_sticks:
        groups, each = [counted | ~counted.any()], min(k, problem.settings.n_sticks)
    centres = np.concatenate([k_means(rng, filled[rows], problem.weight[rows], each) for rows in groups])
    cluster = _nearest(filled, centres)
    done = 0
    for rows in groups:
        size = min(each, int(rows.sum()))
        cluster[rows] = done + _nearest(filled[rows], centres[done : done + size])
        done += size
    return np.unique(cluster, return_inverse=True)[1]


def k_means(rng: np.random.Generator, rows: Array, weight: Array, k: int) -> Array:
    """Centres, (min(k, rows), P): the first drawn apart (k-means++), then Lloyd's rounds."""
    k = min(k, len(rows))
    chance = weight / weight.sum() if weight.sum() > 0 else None
    centres = rows[rng.choice(len(rows), 1, p=chance)]
    while len(centres) < k:
        away = weight * _distances(rows, centres).min(1)
        pick = rng.choice(len(rows), p=away / away.sum() if away.sum() > 0 else chance)
        centres = np.concatenate([centres, rows[pick][None]])
    for _ in range(_ROUNDS):
        member = np.eye(k)[_nearest(rows, centres)] * weight[:, None]
        size = member.sum(0)
        moved = np.where(size[:, None] > 0, member.T @ rows / np.maximum(size, 1e-300)[:, None], centres)
        if np.array_equal(moved, centres):
            break
        centres = moved
    return centres


def _distances(rows: Array, centres: Array) -> Array:
    squared = (rows**2).sum(1)[:, None] - 2.0 * rows @ centres.T + (centres**2).sum(1)
    return np.maximum(squared, 0.0)


def _nearest(rows: Array, centres: Array) -> NDArray[np.intp]:
    return _distances(rows, centres).argmin(1)
