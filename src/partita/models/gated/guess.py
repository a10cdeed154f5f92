"""Missing cells beside the Gaussian block that an expert needs: q(cell | z) for each, guessed from gate and label.

q(cell = l | z = h) is proportional to exp(<ln p(l | h)> + a'F_l - 1/2 F_l'M_jj F_l): F_l are the features of level l,
M = sum over latents of <w w'>, and a = sum_k <t_k> w_kj - M_j,rest <rest of the features>. Cells of a row take turns,
each given the others, so that the bound never falls. Levels with the same features share q as their <ln p(l | h)> say,
so that tables are of groups of levels: of 10,000 levels they would fill the memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .forms import in_front
from .rows import Block, View
from .sums import GatedSums

if TYPE_CHECKING:
    from .expectations import Expectations


class Guesses:
    """q of the missing cells of one block: for each of its holes (column, places) a table (H, cells, G).

    looks    (H, b, C) expected features behind the Gaussian columns, which follow the tables
    """

    def __init__(self, view: View, block: Block, tables: list[np.ndarray]):
        self.view, self.tables = view, tables
        self.spans = [span for _, span in view.spans()]
        self.looks = np.repeat(block.features[None], tables[0].shape[0], axis=0)
        for j, places, table in self._each(block):
            self.looks[:, places, self.spans[j]] = table @ view.cells[j].group_features

    def _each(self, block: Block) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        for (j, places), table in zip(block.holes, self.tables, strict=True):
            yield j, places, table

    def _place(self, j: int) -> slice:
        """The features of column j among all that an expert sees."""
        return slice(self.view.width + self.spans[j].start, self.view.width + self.spans[j].stop)

    def update(self, block: Block, now: Expectations, latent: np.ndarray, x: np.ndarray) -> None:
        """One turn of every missing cell, given <t> (b, H, K) and the Gaussian cells x (b, P, Hpad)."""
        p, cells = self.view.width, in_front(x, now.n_components)
        for j, places, table in self._each(block):
            column, span, at = self.view.cells[j], self.spans[j], self._place(j)
            features = column.group_features
            own = now.M[:, at, at]
            mine = self.looks[:, places]
            rest = np.matmul(mine, now.M[:, p:, at]) + np.matmul(cells[:, places], now.M[:, :p, at])
            rest -= np.matmul(mine[:, :, span], own)
            pull = np.matmul(np.swapaxes(latent[places], 0, 1), now.w[:, :, at]) - rest
            log_q = pull @ features.T + (column.log_grouped(now.tables[j]) - 0.5 * _squares(features, own))[:, None]
            log_q -= log_q.max(axis=2, keepdims=True)
            np.exp(log_q, out=log_q)
            np.divide(log_q, log_q.sum(axis=2, keepdims=True), out=table)
            self.looks[:, places, span] = table @ features

    def log_weight(self, block: Block, now: Expectations) -> np.ndarray:
        """What the guessed cells add to the log responsibilities beyond their expected features, (b, H).

        <ln p(cell | h)> + entropy - 1/2 tr(M_jj Cov(features)): with two classes M = <w w'> too, since the features
        are independent of t and x given z.
        """
        out = np.zeros((len(block), now.n_components))
        for j, places, table in self._each(block):
            column, own = self.view.cells[j], now.M[:, self._place(j), self._place(j)]
            level = (column.log_grouped(now.tables[j]) - 0.5 * _squares(column.group_features, own))[:, None]
            level = level - np.log(np.maximum(table, 1e-300))
            expected = self.looks[:, places, self.spans[j]]
            gain = (table * level).sum(axis=2) + 0.5 * (np.matmul(expected, own) * expected).sum(axis=2)
            out[places] += gain.T
        return out

    def add(self, block: Block, now: Expectations, weight: np.ndarray, sums: GatedSums) -> None:
        """Add the guessed cells to the columns' statistics, and their covariances to the experts' products."""
        for j, places, table in self._each(block):
            column, at = self.view.cells[j], self._place(j)
            share = weight[places].T  # (H, cells)
            level = np.matmul(share[:, None], table)[:, 0]  # (H, G)
            sums.cells[j] += column.statistics_of_guesses(column.of_groups(level, now.tables[j]), now.cells[j])
            expected = self.looks[:, places, self.spans[j]]
            second = np.matmul(column.group_features.T * level[:, None], column.group_features)
            sums.products[:, at, at] += second - np.matmul(np.swapaxes(share[:, :, None] * expected, 1, 2), expected)


def _squares(features: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """F_g' matrix_h F_g of every group, (H, G)."""
    return (np.matmul(features, matrix) * features).sum(axis=2)


def first_guesses(view: View, block: Block, tables: list[np.ndarray]) -> list[np.ndarray]:
    """Guesses by the gates alone, from their expected log probabilities (H, L)."""
    out = []
    for j, places in block.holes:
        table = view.cells[j].grouped(np.exp(tables[j] - tables[j].max(axis=1, keepdims=True)))
        table /= table.sum(axis=1, keepdims=True)
        out.append(np.repeat(table[:, None], len(places), axis=1))
    return out
