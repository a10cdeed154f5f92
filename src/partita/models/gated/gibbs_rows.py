"""Rows given parameters: the stick of every row, its latent labels and its missing cells.

Two classes: the stick is drawn with the latent t and the missing Gaussian cells integrated out, with weight
pi_h N(x_o) Phi(s m_t / sqrt(v_t)); then t, a normal cut by the label; then the cells, drawn as if t were unknown and
moved towards it (Matheron's rule). Many classes: the stick given t, missing Gaussian cells integrated out; the cells;
every t_k in turn. Missing cells beside the Gaussian block drop out unless an expert looks at the row: there they are
drawn in turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, log_ndtr

from ...kernels import kernel
from .count_buckets import draw_poisson, log_poisson
from .forms import GateForm, behind, padded
from .gibbs_state import GibbsState, Given, Parameters, features_of
from .gibbs_variates import above, choose
from .rows import GUESSED, UNSEEN, Block, View

LOG_2PI = np.log(2 * np.pi)


@dataclass(eq=False)
class Sight:
    """Parameters as the updates of rows use them, computed once for all blocks.

    weight        (N,) log pi + 1/2 (log|Lambda| - P log 2 pi - mu'Lambda mu)
    pull          (N, P) Lambda mu
    plain, seen   forms of rows that no expert looks at, and of those that one does: Lambda with w as right-hand side
                  for two classes, Lambda + W'W for many
    """

    view: View
    now: Parameters
    weight: np.ndarray
    pull: np.ndarray
    plain: GateForm | None
    seen: GateForm | None

    @classmethod
    def of(cls, view: View, now: Parameters) -> Sight:
        p, weight = view.width, now.log_weight.copy()
        pull = np.einsum("hpq,hq->hp", now.precision, now.mean)
        plain = seen = None
        if p:
            plain = GateForm.make(now.precision)
            weight += 0.5 * (plain.logdet[: now.n_sticks] - p * LOG_2PI - (now.mean * pull).sum(axis=1))
            w = now.w[:, :, :p]
            if now.n_latents == 1:
                seen = replace(plain, w=behind(w, plain.width))
            elif now.n_latents:
                seen = GateForm.make(now.precision + np.einsum("hkp,hkq->hpq", w, w))
        return cls(view, now, weight, pull, plain, seen)

    def beside(self, levels: np.ndarray) -> np.ndarray:
        """Log probability of cells beside the Gaussian block (D, b), missing ones left out: (b, N)."""
        out = np.zeros((levels.shape[1], self.now.n_sticks))
        for column, table, cells in zip(self.view.cells, self.now.cells, levels, strict=True):
            seen, value = cells >= 0, np.maximum(cells, 0)
            if column.count:
                each = value[:, None] * table[:, 0] - np.exp(table[:, 0]) - gammaln(value + 1.0)[:, None]
            else:
                each = table.T[value]
            out += each * seen[:, None]
        return out


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


def _gauss(block: Block, sight: Sight) -> np.ndarray:
    """1/2 (|m| log 2 pi), (b, 1): what the integral over missing cells leaves."""
    return 0.5 * block.missing[:, None] * LOG_2PI


def _draw_missing(rng: np.random.Generator, block: Block, form: GateForm, r: np.ndarray, z: np.ndarray) -> np.ndarray:
    out = np.empty_like(block.x)
    kernel.gate_draw_missing(block.patterns, block.x, r, form.Q, z, rng.standard_normal(block.x.shape), out)
    return out


def _unseen(rng: np.random.Generator, block: Block, sight: Sight, state: GibbsState) -> float:
    n = sight.now.n_sticks
    log_weight = sight.weight + sight.beside(state.levels[:, block.index])
    if sight.plain is not None:
        r = behind(sight.pull, padded(n))[None]
        cut = sight.plain.condition(block.patterns, block.x, r)
        log_weight += cut.quad[:, :n] - 0.5 * cut.logdet[:, :n] + _gauss(block, sight)
    if not sight.now.n_latents:
        log_weight[(block.label[:, None] >= 0) & (block.label[:, None] != sight.now.owner)] = -np.inf
    z, log_sum = choose(rng, log_weight)
    state.z[block.index] = z
    if sight.plain is not None:
        state.x[block.index] = _draw_missing(rng, block, sight.plain, r, z)
    return float(log_sum.sum())


def _two(rng: np.random.Generator, block: Block, sight: Sight, state: GibbsState) -> float:
    n, p, b, w = sight.now.n_sticks, sight.view.width, np.arange(len(block)), sight.now.w[:, 0]
    features = features_of(sight.view, state.levels[:, block.index])
    log_weight = sight.weight + sight.beside(state.levels[:, block.index])
    offset = features @ w[:, p:].T
    mean, variance = offset, np.ones((len(block), n))
    if sight.seen is not None:
        r = behind(sight.pull, padded(n))[None]
        cut = sight.seen.condition(block.patterns, block.x, r)
        log_weight += cut.quad[:, :n] - 0.5 * cut.logdet[:, :n] + _gauss(block, sight)
        mean, variance = offset + cut.wx[:, 0, :n], variance + cut.wcw[:, 0, 0, :n]
    sign = np.where(block.label == 1, 1.0, -1.0)
    log_weight += log_ndtr(sign[:, None] * mean / np.sqrt(variance))
    z, log_sum = choose(rng, log_weight)
    sd = np.sqrt(variance[b, z])
    t = sign * sd * above(rng, sign * mean[b, z] / sd, np.zeros(len(block)))
    state.z[block.index], state.latent[block.index, 0] = z, t
    if sight.seen is not None:
        x = _draw_missing(rng, block, sight.seen, r, z)
        loose = offset[b, z] + (w[z, :p] * x).sum(axis=1) + rng.standard_normal(len(block))
        state.x[block.index] = x + cut.cw[b, 0, :, z] * ((t - loose) / variance[b, z])[:, None]
    return float(log_sum.sum())


def _many(rng: np.random.Generator, block: Block, sight: Sight, state: GibbsState, scans: int) -> float:
    n, p, w = sight.now.n_sticks, sight.view.width, sight.now.w
    features = features_of(sight.view, state.levels[:, block.index])
    log_weight = sight.weight + sight.beside(state.levels[:, block.index])
    t = state.latent[block.index]
    rest = t[:, None] - np.einsum("bc,hkc->bhk", features, w[:, :, p:])
    log_weight -= 0.5 * (rest**2).sum(axis=2)
    if sight.seen is not None:
        r = behind(sight.pull, padded(n))[None] + np.zeros((len(block), 1, 1))
        r[:, :, :n] += np.einsum("bhk,hkp->bph", rest, w[:, :, :p])
        cut = sight.seen.condition(block.patterns, block.x, r)
        log_weight += cut.quad[:, :n] - 0.5 * cut.logdet[:, :n] + _gauss(block, sight)
    z, log_sum = choose(rng, log_weight)
    state.z[block.index] = z
    x = block.x
    if sight.seen is not None:
        x = state.x[block.index] = _draw_missing(rng, block, sight.seen, r, z)
    mean = np.einsum("bf,bkf->bk", np.concatenate([x, features], axis=1), w[z])
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
