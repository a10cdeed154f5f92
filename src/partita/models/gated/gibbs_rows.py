"""Rows given parameters: the stick of every row, its latent labels and its missing cells.

Two classes: the stick is drawn with the latent t and the missing Gaussian cells integrated out, with weight
pi_h N(x_o) Phi(s m_t / sqrt(v_t)); then t, a normal cut by the label; then the cells, drawn as if t were unknown and
moved towards it (Matheron's rule). Many classes: the stick given t, missing Gaussian cells integrated out; the cells;
every t_k in turn. Missing cells beside the Gaussian block drop out unless an expert looks at the row: there they are
drawn in turn.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...kernels import kernel
from .count_buckets import draw_poisson, log_poisson
from .gibbs_scores import Scores, Sight, score
from .gibbs_state import GibbsState, Given, features_of
from .gibbs_variates import above, choose
from .rows import GUESSED, UNSEEN, Block


def draw_rows(rng: np.random.Generator, given: Given, state: GibbsState, scans: int) -> tuple[GibbsState, float]:
    """All rows anew, and the log likelihood of the parameters (of many classes: given their latents)."""
    sight = Sight.of(given.view, state.parameters)
    state = replace(
        state, z=state.z.copy(), x=state.x.copy(), levels=state.levels.copy(), latent=state.latent.copy()
    )
    total = 0.0
    for block in given.blocks:
        if block.sort == UNSEEN:
            total += _unseen(rng, block, sight, state)
        elif given.n_latents == 1:
            total += _two(rng, block, sight, state)
        else:
            total += _many(rng, block, sight, state, scans)
        if block.sort == GUESSED:
            draw_holes(rng, block, sight, state)
    return state, total


def _draw_missing(rng: np.random.Generator, block: Block, scores: Scores, z: np.ndarray) -> np.ndarray:
    out = np.empty_like(block.x)
    assert scores.form is not None
    noise = rng.standard_normal(block.x.shape)
    kernel.gate_draw_missing(block.patterns, block.x, scores.r, scores.form.Q, z, noise, out)
    return out


def _unseen(rng: np.random.Generator, block: Block, sight: Sight, state: GibbsState) -> float:
    levels = state.levels[:, block.index]
    scores = score(block, sight, levels, state.latent[block.index])
    log_weight = scores.log_weight + sight.beside(levels)
    if not sight.now.n_latents:
        log_weight[(block.label[:, None] >= 0) & (block.label[:, None] != sight.now.owner)] = -np.inf
    z, log_sum = choose(rng, log_weight)
    state.z[block.index] = z
    state.x[block.index] = complete(rng, block, sight, scores, z)[0]
    return float(log_sum.sum())


def _two(rng: np.random.Generator, block: Block, sight: Sight, state: GibbsState) -> float:
    levels = state.levels[:, block.index]
    scores = score(block, sight, levels, state.latent[block.index])
    z, log_sum = choose(rng, scores.log_weight + sight.beside(levels))
    state.z[block.index] = z
    state.x[block.index], state.latent[block.index, 0] = complete(rng, block, sight, scores, z)
    return float(log_sum.sum())


def complete(
    rng: np.random.Generator, block: Block, sight: Sight, scores: Scores, z: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian cells (b, P) and the latent of two classes (b,) of rows in sticks z; of many classes, and of rows that
    no expert looks at, the cells alone."""
    if not scores.mean.size:
        return (block.x if scores.form is None else _draw_missing(rng, block, scores, z)), np.zeros(len(block))
    p, b, w = sight.view.width, np.arange(len(block)), sight.now.w[:, 0]
    sign, variance = np.where(block.label == 1, 1.0, -1.0), scores.variance[b, z]
    sd = np.sqrt(variance)
    t = sign * sd * above(rng, sign * scores.mean[b, z] / sd, np.zeros(len(block)))
    if scores.cut is None:
        return block.x, t
    x = _draw_missing(rng, block, scores, z)
    loose = scores.offset[b, z] + (w[z, :p] * x).sum(axis=1) + rng.standard_normal(len(block))
    return x + scores.cut.cw[b, 0, :, z] * ((t - loose) / variance)[:, None], t


def _many(rng: np.random.Generator, block: Block, sight: Sight, state: GibbsState, scans: int) -> float:
    levels, t = state.levels[:, block.index], state.latent[block.index]
    scores = score(block, sight, levels, t)
    z, log_sum = choose(rng, scores.log_weight + sight.beside(levels))
    state.z[block.index] = z
    x = state.x[block.index] = complete(rng, block, sight, scores, z)[0]
    mean = np.einsum("bf,bkf->bk", np.concatenate([x, scores.features], axis=1), sight.now.w[z])
    for _ in range(scans):
        turn_latents(rng, mean, block.label, t)
    state.latent[block.index] = t
    return float(log_sum.sum())


def turn_latents(rng: np.random.Generator, mean: np.ndarray, label: np.ndarray, t: np.ndarray) -> None:
    """Every t_k of (b, K) in turn given the others, in place: t_k ~ N(mean_k, 1), the label's one the largest."""
    rows = np.arange(len(t))
    for k in range(t.shape[1]):
        own = label == k
        others = t.copy()
        others[:, k] = -np.inf
        limit = np.where(own, others.max(axis=1), t[rows, label])
        sign = np.where(own, 1.0, -1.0)
        t[:, k] = sign * above(rng, sign * mean[:, k], sign * limit)


def draw_holes(rng: np.random.Generator, block: Block, sight: Sight, state: GibbsState) -> None:
    """Every missing cell beside the Gaussian block in turn, given stick, latents and the row's other cells."""
    p = sight.view.width
    spans = [span for _, span in sight.view.spans()]
    for j, places in block.holes:
        column, index = sight.view.cells[j], block.index[places]
        z, w = state.z[index], sight.now.w[state.z[index]]
        features = np.concatenate([state.x[index], features_of(sight.view, state.levels[:, index])], axis=1)
        at = slice(p + spans[j].start, p + spans[j].stop)
        features[:, at] = 0.0
        rest = state.latent[index] - np.einsum("bf,bkf->bk", features, w)
        seen = np.einsum("bkd,ld->bkl", w[:, :, at], column.features)
        table = sight.now.cells[j][z]
        rate = table[:, 0]
        if column.count:
            table = log_poisson(*column.buckets, rate)
        levels, _ = choose(rng, table - 0.5 * ((rest[:, :, None] - seen) ** 2).sum(axis=1))
        if column.starts is not None:
            low, high = (ends[levels] for ends in column.buckets)
            levels = draw_poisson(low, high, np.exp(rate), rng)
        state.levels[j, index] = levels
