"""What one state of a Gibbs chain says of rows: gates, experts and missing cells under its parameters.

Given the observed cells, the latent labels of component h have mean w'<features> and covariance I + W Cov(features) W',
exact where only Gaussian cells are missing. States together make the posterior: average their probabilities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.contract import Rows
from .gate_forms import GateForm, behind, in_front
from .gated_answer import Answer
from .gated_gibbs_rows import LOG_2PI, Sight
from .gated_gibbs_state import GibbsState, Parameters
from .gated_gibbs_variates import choose
from .gated_predict import class_probabilities, expected_features
from .gated_rows import Block, View, make_blocks


@dataclass(eq=False)
class Kept:
    """What prediction needs of a state: the parameters, and how many rows each stick holds (N,)."""

    parameters: Parameters
    counts: np.ndarray

    @classmethod
    def of(cls, state: GibbsState) -> Kept:
        """Parameters are drawn anew in every step, so that there is nothing to copy."""
        return cls(state.parameters, state.counts)

    @property
    def n_components(self) -> int:
        return int((self.counts > 0).sum())

    def to_tree(self) -> dict[str, Any]:
        return {"parameters": self.parameters.to_tree(), "counts": self.counts}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Kept:
        return cls(Parameters.from_tree(tree["parameters"]), tree["counts"])


@dataclass(eq=False)
class _Part:
    """Rows of a block in every stick: x (b, P, Npad) expected cells, wcw (b, K, K, N), log_gate (b, N)."""

    block: Block
    log_gate: np.ndarray
    x: np.ndarray
    wcw: np.ndarray


class Speaker:
    """A kept state ready to answer about rows of a view's lens."""

    def __init__(self, kept: Kept, view: View, n_classes: int):
        self.view, self.n_classes, self.now = view, n_classes, kept.parameters
        self.sight = Sight.of(view, self.now)
        self.form = None
        if view.width:
            w = self.now.w[:, :, : view.width] if self.now.n_latents else None
            self.form = GateForm.make(self.now.precision, w)
            self.pull = behind(self.sight.pull, self.form.width)[None]
        self.tables = [self._probabilities(j) for j in range(len(view.cells))]

    def _probabilities(self, j: int) -> np.ndarray:
        """(N, L) probabilities of the levels, or of the values 0 .. L - 1 of a count, made to sum to 1."""
        column, n = self.view.cells[j], self.now.n_sticks
        cells = np.arange(column.n_levels)
        one = [np.full(len(cells), -1) for _ in self.view.cells]
        one[j] = cells
        table = self.sight.beside(np.array(one)).T.reshape(n, len(cells))
        table = np.exp(table - table.max(axis=1, keepdims=True))
        return table / table.sum(axis=1, keepdims=True)

    def parts(self, rows: Rows) -> Iterator[_Part]:
        n = self.now.n_sticks
        none = np.full(len(rows), -1)
        for block in make_blocks(self.view, rows, none, np.ones(len(rows)), 2 * n, False):
            log_gate = self.sight.weight + self.sight.beside(block.levels)
            x, wcw = np.zeros((len(block), 0, n)), np.zeros((len(block), self.now.n_latents, self.now.n_latents, n))
            if self.form is not None:
                cut = self.form.condition(block.patterns, block.x, self.pull)
                log_gate += cut.quad[:, :n] + 0.5 * (block.missing[:, None] * LOG_2PI - cut.logdet[:, :n])
                x, wcw = cut.xhat, cut.wcw[..., :n]
            yield _Part(block, log_gate, x, wcw)

    def answer(self, rows: Rows) -> Answer:
        n = self.now.n_sticks
        out = Answer(np.empty((len(rows), n)), np.empty((len(rows), n, self.n_classes)))
        for part in self.parts(rows):
            out.log_gate[part.block.index] = part.log_gate
            out.log_class[part.block.index] = self._log_class(part)
        return out

    def _log_class(self, part: _Part) -> np.ndarray:
        if not self.now.n_latents:
            with np.errstate(divide="ignore"):
                own = np.log((self.now.owner[:, None] == np.arange(self.n_classes)).astype(float))
            return np.repeat(own[None], len(part.block), axis=0)
        n, k, p = self.now.n_sticks, self.now.n_latents, self.view.width
        x, mean = in_front(part.x, n), np.empty((len(part.block), n, k))
        covariance = np.moveaxis(part.wcw, 3, 1) + np.eye(k)
        for h in range(n):
            features = np.concatenate([x[h], expected_features(self.view, part.block, self.tables, h)], axis=1)
            mean[:, h] = features @ self.now.w[h].T
        for j, (column, span) in enumerate(self.view.spans()):
            hidden = np.flatnonzero(part.block.levels[j] < 0)
            for h in range(n) if len(hidden) else ():
                shown = self.now.w[h][:, p + span.start : p + span.stop] @ column.features.T  # (K, L)
                gap = shown - (shown @ self.tables[j][h])[:, None]
                covariance[hidden, h] += (gap * self.tables[j][h]) @ gap.T
        return class_probabilities(mean, covariance)

    def fill(self, rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Given the observed cells: shares (n, N) of sticks, means and variances (n, N, P) of the Gaussian cells."""
        n, p = self.now.n_sticks, self.view.width
        shares, mean, variance = np.empty((len(rows), n)), np.empty((len(rows), n, p)), np.zeros((len(rows), n, p))
        for part in self.parts(rows):
            block, patterns = part.block, part.block.patterns
            shares[block.index] = Answer(part.log_gate, np.zeros(0)).shares()
            mean[block.index] = np.swapaxes(part.x[:, :, :n], 1, 2)
            for g in range(len(patterns)):
                cells = patterns.cells[patterns.first[g] : patterns.first[g + 1]]
                inverse = np.linalg.inv(self.now.precision[:, cells[:, None], cells])
                index = block.index[patterns.first_row[g] : patterns.first_row[g + 1]]
                variance[index[:, None], :, cells] = np.diagonal(inverse, axis1=1, axis2=2).T
        return shares, mean, variance

    def draw(self, rng: np.random.Generator, rows: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Completed rows: sticks (n,), Gaussian cells (n, P) and cells beside them (D, n), missing ones drawn."""
        from ..kernels import kernel

        z, x = np.empty(len(rows), np.int32), np.empty((len(rows), self.view.width))
        levels = np.empty((len(self.view.cells), len(rows)), np.int64)
        for part in self.parts(rows):
            block = part.block
            mine = choose(rng, part.log_gate)[0]
            if self.form is not None:
                out = np.empty_like(block.x)
                noise = rng.standard_normal(block.x.shape)
                kernel.gate_draw_missing(block.patterns, block.x, self.pull, self.form.Q, mine, noise, out)
                x[block.index] = out
            z[block.index], levels[:, block.index] = mine, self._draw_beside(rng, mine, block.levels)
        return z, x, levels

    def _draw_beside(self, rng: np.random.Generator, z: np.ndarray, levels: np.ndarray) -> np.ndarray:
        out = levels.copy()
        for j, column in enumerate(self.view.cells):
            hidden = np.flatnonzero(levels[j] < 0)
            if column.count:
                out[j, hidden] = rng.poisson(np.exp(np.minimum(self.now.cells[j][z[hidden], 0], 40.0)))
            elif len(hidden):
                out[j, hidden] = choose(rng, self.now.cells[j][z[hidden]])[0]
        return out
