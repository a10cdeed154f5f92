"""Rows given parameters: how likely each is in every stick, missing Gaussian cells and the latent of two classes
integrated out.

Two classes: N(x_o) Phi(s m_t / sqrt(v_t)); many classes: N(x_o, t), since their latents are given; rows that no expert
looks at: N(x_o).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, log_ndtr

from ...kernels.gates_contract import Conditioned
from .forms import GateForm, behind, padded
from .gibbs_state import Parameters, features_of
from .rows import UNSEEN, Block, View

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


@dataclass(eq=False)
class Scores:
    """Rows of a block in every stick.

    log_weight   (b, N), with the sticks' own weights, without cells beside the Gaussian block
    form, r, cut   of the Gaussian columns: the form that missing cells are drawn by, its linear term, what conditioning
                 found; None, or empty, where there are none
    features     (b, C) features behind the Gaussian columns
    offset       (b, N) what these say of the latent of two classes, with its mean and variance (b, N)
    """

    log_weight: np.ndarray
    form: GateForm | None
    r: np.ndarray
    cut: Conditioned | None
    features: np.ndarray
    offset: np.ndarray
    mean: np.ndarray
    variance: np.ndarray


def score(block: Block, sight: Sight, levels: np.ndarray, latent: np.ndarray, cells: bool = True) -> Scores:
    """Score the rows of a block, whose cells beside the Gaussian block are `levels` (D, b); latent (b, K), of which
    only those of many classes are looked at. Without `cells` missing ones cannot be drawn afterwards."""
    n, p = sight.now.n_sticks, sight.view.width
    unseen, many = block.sort == UNSEEN, sight.now.n_latents > 1
    nothing = np.zeros((len(block), 0))
    features = nothing if unseen else features_of(sight.view, levels)
    form = sight.plain if unseen else sight.seen
    out = Scores(sight.weight + np.zeros((len(block), n)), form, np.zeros(0), None, features, nothing, nothing, nothing)
    if many and not unseen:
        rest = latent[:, None] - np.einsum("bc,hkc->bhk", features, sight.now.w[:, :, p:])
        out.log_weight -= 0.5 * (rest**2).sum(axis=2)
    elif not unseen:
        out.offset = features @ sight.now.w[:, 0, p:].T
        out.mean, out.variance = out.offset, np.ones((len(block), n))
    if form is not None:
        out.r = behind(sight.pull, padded(n))[None]
        if many and not unseen:
            out.r = out.r + np.zeros((len(block), 1, 1))
            out.r[:, :, :n] += np.einsum("bhk,hkp->bph", rest, sight.now.w[:, :, :p])
        out.cut = form.condition(block.patterns, block.x, out.r, cells and not unseen)
        gauss = 0.5 * block.missing[:, None] * LOG_2PI  # what the integral over missing cells leaves
        out.log_weight += out.cut.quad[:, :n] - 0.5 * out.cut.logdet[:, :n] + gauss
    if not (many or unseen):
        _of_label(block, out, n)
    return out


def _of_label(block: Block, out: Scores, n: int) -> None:
    """The label of two classes, its latent integrated out."""
    if out.cut is not None:
        out.mean, out.variance = out.offset + out.cut.wx[:, 0, :n], out.variance + out.cut.wcw[:, 0, 0, :n]
    sign = np.where(block.label == 1, 1.0, -1.0)
    out.log_weight += log_ndtr(sign[:, None] * out.mean / np.sqrt(out.variance))
