"""Missing cells beside the Gaussian block that an expert needs: q(cell | z) for each, guessed from gate and label.

q(cell = l | z = h) is proportional to exp(<ln p(l | h)> + a'F_l - 1/2 F_l'M_jj F_l): F_l are the features of level l,
M = sum over latents of <w w'>, and a = sum_k <t_k> w_kj - M_j,rest <rest of the features>. Cells of a row take turns,
each given the others, so that the bound never falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .gated_rows import Block, View
from .gated_sums import GatedSums

if TYPE_CHECKING:
    from .gated_expect import Expectations


@dataclass(eq=False)
class Guesses:
    """q of the missing cells of one block: for each of its holes (column, places) an array (cells, H, L)."""

    view: View
    tables: list[np.ndarray]

    def features(self, block: Block) -> list[np.ndarray]:
        """Expected features (b, C) of the block's rows in each component."""
        n = self.tables[0].shape[1]
        spans = [span for _, span in self.view.spans()]
        out = [block.features.copy() for _ in range(n)]
        for (j, places), table in zip(block.holes, self.tables, strict=True):
            expected = np.einsum("nhl,ld->hnd", table, self.view.cells[j].features)
            for h in range(n):
                out[h][places, spans[j]] = expected[h]
        return out

    def update(self, block: Block, now: Expectations, latent: np.ndarray, x: np.ndarray) -> None:
        """One turn of every missing cell, given <t> (b, H, K) and the Gaussian cells x (b, P, Hpad)."""
        p, n = self.view.width, now.n_components
        spans = [span for _, span in self.view.spans()]
        looks = self.features(block)
        for (j, places), table in zip(block.holes, self.tables, strict=True):
            column, span = self.view.cells[j], spans[j]
            at = slice(p + span.start, p + span.stop)
            for h in range(n):
                own = now.M[h, at, at]
                rest = looks[h][places] @ now.M[h, p:, at] + x[places, :, h] @ now.M[h, :p, at]
                rest -= looks[h][places, span] @ own
                pull = latent[places, h] @ now.w[h, :, at] - rest
                log_q = now.tables[j][h] + pull @ column.features.T
                log_q -= 0.5 * ((column.features @ own) * column.features).sum(axis=1)
                log_q -= log_q.max(axis=1, keepdims=True)
                q = np.exp(log_q)
                table[:, h] = q / q.sum(axis=1, keepdims=True)
                looks[h][places, span] = table[:, h] @ column.features

    def log_weight(self, block: Block, now: Expectations) -> np.ndarray:
        """What the guessed cells add to the log responsibilities beyond their expected features, (b, H).

        <ln p(cell | h)> + entropy - 1/2 tr(M_jj Cov(features)): with two classes M = <w w'> too, since the features
        are independent of t and x given z.
        """
        p = self.view.width
        spans = [span for _, span in self.view.spans()]
        out = np.zeros((len(block), now.n_components))
        for (j, places), table in zip(block.holes, self.tables, strict=True):
            with np.errstate(divide="ignore", invalid="ignore"):
                entropy = -np.where(table > 0, table * np.log(table), 0.0).sum(axis=2)
            gain = np.einsum("nhl,hl->nh", table, now.tables[j]) + entropy
            at = slice(p + spans[j].start, p + spans[j].stop)
            features = self.view.cells[j].features
            for h in range(now.n_components):
                gain[:, h] -= 0.5 * _spread(features, table[:, h], now.M[h, at, at])
            out[places] += gain
        return out

    def add(self, block: Block, now: Expectations, weight: np.ndarray, sums: GatedSums) -> None:
        """Add the guessed cells to the columns' statistics, and their covariances to the experts' products."""
        p = self.view.width
        spans = [span for _, span in self.view.spans()]
        for (j, places), table in zip(block.holes, self.tables, strict=True):
            column = self.view.cells[j]
            sums.cells[j] += column.statistics_of_guesses(weight[places], table)
            at = slice(p + spans[j].start, p + spans[j].stop)
            for h in range(now.n_components):
                share = weight[places, h]
                expected = table[:, h] @ column.features
                second = (column.features * (share @ table[:, h])[:, None]).T @ column.features
                sums.products[h, at, at] += second - (share[:, None] * expected).T @ expected


def _spread(features: np.ndarray, table: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """tr(matrix Cov(features)) of cells with level probabilities `table` (n, L)."""
    squares = ((features @ matrix) * features).sum(axis=1)
    expected = table @ features
    return table @ squares - ((expected @ matrix) * expected).sum(axis=1)


def first_guesses(view: View, block: Block, tables: list[np.ndarray]) -> Guesses:
    """Guesses by the gates alone, from their expected log probabilities (H, L)."""
    out = []
    for j, places in block.holes:
        table = np.exp(tables[j] - tables[j].max(axis=1, keepdims=True))
        table /= table.sum(axis=1, keepdims=True)
        out.append(np.repeat(table[None], len(places), axis=0))
    return Guesses(view, out)
