"""Rows given sticks, gates and experts: responsibilities, missing cells and latent labels, as sums over a block.

Updates 1 and 2 of [1], section 3.4.2. Unlike [1], for two classes q(t, x_missing | z) is joint: given z the latent t is
a normal of variance 1 + w_m'Q_mm^-1 w_m cut by the label, and the missing cells follow it. With many classes it is
q(t | z) q(x_missing | z), each given the other of the last iteration. A missing cell beside the Gaussian block that an
expert needs has q(cell | z) of its own.

With Q = <Lambda> + Cov(w_x) (many classes: + sum_k <w w'>), r its linear term and c the features behind the Gaussian
columns, the unnormalised log responsibility of component h is

  <ln pi> + 1/2 (<ln|Lambda|> - P/u - |o| ln 2 pi - m'<Lambda>m - c'Cov(w_c)c) + form(x_o) - 1/2 ln|Q_mm| + ln P(label),

form(x_o) being the maximum over x_m of -1/2 x'Qx + r'x, plus the expected log probabilities of the cells beside.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .expectations import LOG_2PI, Expectations
from .forms import Tied, behind, in_front, padded
from .guess import Guesses
from .rows import UNSEEN, Block
from .sums import GatedSums
from .truncated_normal import cut_at_zero, hopeful_cone


def expect(
    block: Block, now: Expectations, latent: np.ndarray | None, guesses: Guesses | None
) -> tuple[GatedSums, np.ndarray, np.ndarray | None]:
    """Sums, responsibilities (b, H) and <t> (b, H, K), if an expert looks, of a block; guesses change in place."""
    if block.sort == UNSEEN:
        return _unseen(block, now)
    if guesses is not None:
        first = means(block, now, latent, guesses)  # what t and x look like, for the guesses to follow
        guesses.update(block, now, first.latent, first.x)
        latent = first.latent
    rows = means(block, now, latent, guesses)
    if guesses is not None:
        rows.log_weight += guesses.log_weight(block, now)
    rho, log_evidence = responsibilities(rows.log_weight)
    sums = sums_of(block, now, rows, rho * block.weight[:, None], guesses)
    sums.log_evidence = float(block.weight @ log_evidence)
    return sums, rho, rows.latent


def responsibilities(log_weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normalised over components, and the logarithm of what they summed to."""
    top = log_weight.max(axis=1, keepdims=True)
    rho = np.exp(log_weight - top)
    total = rho.sum(axis=1, keepdims=True)
    return rho / total, (top + np.log(total))[:, 0]


def beside(block: Block, now: Expectations) -> np.ndarray:
    """Expected log probability of the observed cells beside the Gaussian block, (b, H)."""
    out = np.zeros((len(block), now.n_components))
    for column, table, posterior, cells in zip(now.view.cells, now.tables, now.cells, block.levels, strict=True):
        out += column.expected_log(table, posterior, cells)
    return out


def _unseen(block: Block, now: Expectations) -> tuple[GatedSums, np.ndarray, None]:
    """Rows that no expert looks at: gates alone, of the label's class where gates belong to classes."""
    log_weight = by_gates(block, now)
    if now.owner is not None:
        foreign = (block.label[:, None] >= 0) & (block.label[:, None] != now.owner)
        log_weight[foreign] = -np.inf
    rho, log_evidence = responsibilities(log_weight)
    sums = sums_by_gates(block, now, rho * block.weight[:, None])
    sums.log_evidence = float(block.weight @ log_evidence)
    return sums, rho, None


def by_gates(block: Block, now: Expectations) -> np.ndarray:
    """Log weights (b, H) of rows that no expert looks at."""
    n = now.n_components
    log_weight = now.weight + beside(block, now)
    if now.plain is not None:
        cut = now.plain.condition(block.patterns, block.x, behind(now.pull, padded(n))[None], cells=False)
        log_weight += cut.quad[:, :n] + 0.5 * (block.missing[:, None] * LOG_2PI - cut.logdet[:, :n])
    return log_weight


def sums_by_gates(block: Block, now: Expectations, weight: np.ndarray) -> GatedSums:
    """What they add with `weight` (b, H)."""
    n = now.n_components
    sums = GatedSums.nothing(now.view, n, now.n_latents)
    sums.count = weight.sum(axis=0)
    if now.plain is not None:
        r = behind(now.pull, padded(n))[None]
        sums.first, sums.second, _ = now.plain.moments(block.patterns, block.x, r, weight)
    sums.cells = [column.statistics(weight, block.levels[j]) for j, column in enumerate(now.view.cells)]
    return sums


@dataclass(eq=False)
class Seen:
    """Rows of a block given every component: latent (b, H, K) <t>, x (b, P, Hpad) expected cells (empty where an expert
    sees the Gaussian columns alone: their sums need no array of cells); of two classes what ties them, and cw
    (b, 1, P, Hpad)."""

    log_weight: np.ndarray
    r: np.ndarray
    x: np.ndarray
    latent: np.ndarray
    cw: np.ndarray
    tied: Tied | None


def means(
    block: Block, now: Expectations, latent: np.ndarray | None, guesses: Guesses | None = None, known: bool = False
) -> Seen:
    """Missing cells and latents of rows that an expert looks at; those of many classes are `known`, or begin there."""
    p = now.view.width
    looks = block.features[None] if guesses is None else guesses.looks
    many = now.n_latents > 1
    matrix = (now.M if many else now.V)[:, p:, p:]
    if looks.shape[2] == 1:  # an expert sees the Gaussian columns alone, and 1
        spent = np.broadcast_to(matrix[:, 0, 0], (len(block), now.n_components))
        offset = np.broadcast_to(now.w[:, :, p], (len(block), now.n_components, now.n_latents))
    else:
        spent = (np.matmul(looks, matrix) * looks).sum(axis=2).T
        offset = np.swapaxes(np.matmul(looks, np.swapaxes(now.w[:, :, p:], 1, 2)), 0, 1)  # (b, H, K)
    log_weight = now.weight - 0.5 * spent + beside(block, now)
    if many:
        assert latent is not None
        if known:
            log_weight += (latent * offset).sum(axis=2)
            return _given_latents(block, now, looks, log_weight, latent)[0]
        return _many(block, now, looks, log_weight, offset, latent)
    return _two(block, now, looks, log_weight, offset)


def _linear(now: Expectations, looks: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """<Lambda> m - matrix_xc c, components last: (1, P, Hpad) where an expert sees the Gaussian columns alone."""
    p, width = now.view.width, padded(now.n_components)
    if looks.shape[2] == 1:
        return behind(now.pull - matrix[:, :p, p], width)[None]
    return behind(now.pull[:, None] - np.matmul(looks, matrix[:, p:, :p]), width)


def _two(block: Block, now: Expectations, looks: np.ndarray, log_weight: np.ndarray, offset: np.ndarray) -> Seen:
    n, p, width = now.n_components, now.view.width, padded(now.n_components)
    mean, variance = offset[:, :, 0], np.ones((len(block), n))
    r = x = cw = np.zeros((len(block), 0, width))
    cells = looks.shape[2] > 1
    if p:
        assert now.seen is not None
        r = _linear(now, looks, now.V)
        cut = now.seen.condition(block.patterns, block.x, r, cells)
        log_weight += cut.quad[:, :n] + 0.5 * (block.missing[:, None] * LOG_2PI - cut.logdet[:, :n])
        mean = mean + cut.wx[:, 0, :n]
        variance += cut.wcw[:, 0, 0, :n]
        x, cw = cut.xhat, cut.cw
    sign = np.where(block.label == 1, 1.0, -1.0)[:, None]
    log_label, expected, spread = cut_at_zero(mean, variance, sign)
    log_weight += log_label

    def last(part: np.ndarray, *shape: int) -> np.ndarray:
        out = np.zeros((len(block), *shape, width))
        out[..., :n] = part.reshape(len(block), *shape, n)
        return out

    share = spread / variance
    shift, f = last((expected - mean) / variance, 1), last((share - 1.0) / variance, 1, 1)
    tied = Tied(shift, f, last(expected, 1), last(share, 1, 1))
    if p and cells:
        x += cw[:, 0] * tied.shift
    return Seen(log_weight, r, x, expected[:, :, None], cw, tied)


def _many(
    block: Block, now: Expectations, looks: np.ndarray, log_weight: np.ndarray, offset: np.ndarray, latent: np.ndarray
) -> Seen:
    rows, inside = _given_latents(block, now, looks, log_weight, latent)
    mean = offset + inside
    rows.log_weight += 0.5 * (mean**2).sum(axis=2) - (latent * inside).sum(axis=2)
    log_label, rows.latent = hopeful_cone(mean, block.label, rows.log_weight)
    rows.log_weight += log_label
    return rows


def _given_latents(
    block: Block, now: Expectations, looks: np.ndarray, log_weight: np.ndarray, latent: np.ndarray
) -> tuple[Seen, np.ndarray]:
    """Missing cells given latents (b, H, K), and what the Gaussian columns say of these (b, H, K); log weights but for
    what the latents say of columns behind."""
    n, p = now.n_components, now.view.width
    r = x = np.zeros((len(block), 0, padded(n)))
    inside = np.zeros(latent.shape)
    if p:
        assert now.seen is not None
        w = now.w[:, :, :p]
        r = _linear(now, looks, now.M) + np.zeros((len(block), 1, 1))
        r[:, :, :n] += np.moveaxis(np.matmul(np.swapaxes(latent, 0, 1), w), 0, 2)
        cut = now.seen.condition(block.patterns, block.x, r)
        x = cut.xhat
        inside = np.swapaxes(np.matmul(in_front(x, n), np.swapaxes(w, 1, 2)), 0, 1)
        log_weight += cut.quad[:, :n] + 0.5 * (block.missing[:, None] * LOG_2PI - cut.logdet[:, :n])
    return Seen(log_weight, r, x, latent, np.zeros((len(block), 0, p, padded(n))), None), inside


def sums_of(
    block: Block, now: Expectations, rows: Seen, weight: np.ndarray, guesses: Guesses | None = None
) -> GatedSums:
    """What the rows of a block add; weight (b, H) are their responsibilities times their own weights."""
    n, p = now.n_components, now.view.width
    sums = GatedSums.nothing(now.view, n, now.n_latents)
    sums.count = weight.sum(axis=0)
    light = rows.tied is not None and now.view.n_features == p + 1
    sums.cells = [column.statistics(weight, block.levels[j]) for j, column in enumerate(now.view.cells)]
    pull = weight[:, :, None] * rows.latent  # (b, H, K)
    if light and p:
        assert now.seen is not None and rows.tied is not None
        sums.first, sums.second, products = now.seen.moments(block.patterns, block.x, rows.r, weight, rows.tied)
        sums.targets[:, 0, :p] = products
    elif p:
        assert now.seen is not None
        f = None if rows.tied is None else rows.tied.f
        sums.first, sums.second = now.seen.accumulate(block.patterns, rows.x, rows.cw, weight, f)
    sums.products[:, :p, :p] = sums.second
    if light:
        sums.products[:, :p, p] = sums.first
        sums.products[:, p, p] = sums.count
        sums.targets[:, 0, p] = pull[:, :, 0].sum(axis=0)
    else:
        _add_products(block, now, rows, weight, pull, guesses, sums)
    sums.products[:, p:, :p] = np.swapaxes(sums.products[:, :p, p:], 1, 2)
    if guesses is not None:
        guesses.add(block, now, weight, sums)
    return sums


def _add_products(
    block: Block, now: Expectations, rows: Seen, weight: np.ndarray, pull: np.ndarray, guesses: Guesses | None,
    sums: GatedSums,
) -> None:  # fmt: skip
    """Products of features behind the Gaussian columns with each other, with those columns and with the latents."""
    n, p = now.n_components, now.view.width
    looks = block.features[None] if guesses is None else guesses.looks
    weighted = np.swapaxes(weight.T[:, :, None] * looks, 1, 2)  # (H, C, b)
    x, pull = in_front(rows.x, n), np.moveaxis(pull, 0, 2)  # (H, b, P), (H, K, b)
    sums.products[:, p:, p:] = np.matmul(weighted, looks)
    sums.products[:, :p, p:] = np.swapaxes(np.matmul(weighted, x), 1, 2)
    sums.targets[:, :, p:] = np.matmul(pull, looks)
    sums.targets[:, :, :p] = np.matmul(pull, x)
    if p and rows.tied is not None:
        share = weight * rows.tied.tie[:, 0, 0, :n]
        sums.targets[:, 0, :p] += np.einsum("bh,bph->hp", share, rows.cw[:, 0, :, :n])
