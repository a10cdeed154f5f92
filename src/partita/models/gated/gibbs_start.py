"""Where a Gibbs chain over gated experts begins, and how it and a variational fit hand over to each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .expectations import expectations
from .fit import GatedProblem
from .gibbs_draws import sums_of_sticks
from .gibbs_state import GibbsState, Given, Parameters
from .gibbs_variates import choose
from .guess import first_guesses
from .rows import GUESSED
from .start import first_clusters, first_latents, look_of_rows
from .state import POOLED, GatedState
from .sums import GatedSums
from .update import first_experts, first_sticks, updated


def first_chain(rng: np.random.Generator, given: Given, k: int, cluster: np.ndarray | None = None) -> GibbsState:
    """k-means within each class, or the given `cluster` of every row, clusters by falling size; missing cells at the
    cluster's mean or at random."""
    n, n_sticks, p = given.n_rows, given.priors.n_sticks, given.view.width
    look = look_of_rows(given.blocks, given.view, n)
    if cluster is None:
        most = max(1, n_sticks // max(given.n_classes, 1))
        cluster, _ = first_clusters(look, given.label, np.ones(n), given.n_classes, min(k, most), rng)
    order = np.argsort(-np.bincount(cluster), kind="stable")
    place = np.empty(len(order), np.int32)
    place[order] = np.minimum(np.arange(len(order)), n_sticks - 1)
    z = place[cluster]
    x, levels = given.observed()
    hidden = np.isnan(x)
    for h in np.unique(z):
        mine = z == h
        x[mine] = np.where(hidden[mine], look[mine, :p].mean(axis=0), x[mine])
    fill_holes(rng, given, levels)
    return GibbsState(nothing_known(given), z, x, levels, _latents(given))


def fill_holes(rng: np.random.Generator, given: Given, levels: np.ndarray) -> None:
    """Missing cells that an expert needs: a level of another row, or any; in place."""
    for block in given.blocks:
        for j, places in block.holes:
            seen = levels[j][levels[j] >= 0]
            levels[j, block.index[places]] = rng.choice(seen if len(seen) else np.arange(1), len(places))


def _latents(given: Given) -> np.ndarray:
    return first_latents(given.label, given.n_classes, given.n_latents) * given.looked_at[:, None]


def nothing_known(given: Given) -> Parameters:
    """Parameters before the first draw; of them only the concentration and the experts' prior are used."""
    n, view, priors = given.priors.n_sticks, given.view, given.priors
    f, latents = view.n_features, given.n_latents
    return Parameters(
        1.0,
        np.full(n, -np.log(n)),
        np.zeros((n, view.width)),
        np.zeros((n, view.width, view.width)),
        [np.zeros((n, 1 if column.count else column.n_levels)) for column in view.cells],
        np.zeros((n, latents, f)),
        np.zeros((latents, f)),
        np.ones(f),
        np.zeros(n, np.int64) if priors.experts is None else np.full(n, -1),
    )


def from_variational(rng: np.random.Generator, given: Given, source: np.ndarray, fit: GatedState) -> GibbsState:
    """A chain that begins at a variational fit of the same rows: z drawn from its responsibilities.

    Missing cells stand at the means of the fit's gates given z, latents at its means; parameters are to be drawn next.
    """
    rho = fit.rho[source]
    z = choose(rng, np.log(np.maximum(rho, 1e-300)))[0]
    x, levels = given.observed()
    x = np.where(np.isnan(x), fit.gates.mean[z], x)
    fill_holes(rng, given, levels)
    latent = _latents(given)
    if fit.latent is not None:
        latent = fit.latent[source, z] * given.looked_at[:, None]
    now = nothing_known(given)
    if fit.experts is not None and given.priors.experts == POOLED:
        now = replace(now, centre=fit.experts.centre.copy(), spread=fit.experts.precision.copy())
    now = replace(now, alpha=float(fit.sticks.mean_concentration))
    return GibbsState(now, z, x, levels, latent)


def to_variational(given: Given, source: np.ndarray, state: GibbsState, problem: GatedProblem) -> GatedState:
    """A variational fit of `problem` that begins at the chain's components; its rows are responsible to one each."""
    sums = sums_of_sticks(given, state)
    used = np.flatnonzero(sums.count)
    place = np.full(given.priors.n_sticks, -1)
    place[used] = np.arange(len(used))
    rho = np.zeros((problem.n_rows, len(used)))
    np.add.at(rho, (source, place[state.z]), 1.0)
    left_out = rho.sum(axis=1) == 0
    rho[left_out] = 1.0  # rows without weight
    rho /= rho.sum(axis=1, keepdims=True)
    chosen = GatedSums.nothing(given.view, len(used), given.n_latents)
    for mine, theirs in zip(chosen.arrays(), sums.arrays(), strict=True):
        mine += theirs[used]
    experts = latent = None
    if given.n_latents:
        experts = first_experts(len(used), given.n_latents, given.view.n_features, given.priors)
    if given.n_latents > 1:
        t = np.zeros((problem.n_rows, given.n_latents))
        t[source] = state.latent
        latent = np.repeat(t[:, None], len(used), axis=1)
    fit = GatedState(
        np.zeros(len(used)),
        first_sticks(given.priors),
        _gates(given, len(used)),
        [np.broadcast_to(column.prior, (len(used), len(column.prior))).copy() for column in given.view.cells],
        experts,
        None if given.n_latents else state.parameters.owner[used],
        rho,
        latent,
    )
    fit = updated(fit, chosen, given.view, given.priors)
    now = expectations(fit, given.view)
    blocks = [block for block in problem.blocks if block.sort == GUESSED]
    guesses = [table for block in blocks for table in first_guesses(problem.view, block, now.tables)]
    return replace(fit, guesses=guesses)


def _gates(given: Given, n: int):
    gate, p = given.priors.gate, given.view.width
    return type(gate)(
        np.broadcast_to(gate.mean, (n, p)).copy(),
        np.broadcast_to(gate.kappa, n).copy(),
        np.broadcast_to(gate.nu, n).copy(),
        np.broadcast_to(gate.scale, (n, p, p)).copy(),
    )
