"""How wide the laws of missing cells should be, and whose they should be, learnt from cells of rows set aside.

Given its component a missing cell is Student's t by the model. Where that is the wrong shape (columns that nearly
repeat each other, values that pile up, few rows) its intervals hold too much or too little. Fits without some of the
rows say by how much: every observed cell of such a row is predicted from the others. One scale and one number of
degrees of freedom for the table, and the weights of the fits in a linear pool, are those under which these cells are
most probable; what intervals of these laws then held of the cells is what `gated.held` corrects. Holes of rows that the
model has learnt from have widths of their own, near those of new rows (`gated.hidden`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, stdtr

from ..pooling import pool_weights
from .answer import Widths
from .held import PROMISED, shares_held

EQUAL_CELLS = 15.0  # what equal weights of the fits are worth
SCALES = np.exp(np.linspace(-1.4, 1.0, 13))
DEGREES = (2.0, 3.0, 5.0, 8.0, 16.0, 50.0, 500.0)
LOG_SCALE_PRECISION = 4.0  # of log scale, a normal variable with mean 0
SEEN_RATIO, SEEN_PRECISION = 0.1, 25.0  # log scale for training rows over that for new ones, a normal variable
SEEN_RATIOS = np.exp(np.linspace(-0.5, 1.0, 31))
NORMAL = 1e6  # degrees of freedom that stand for infinitely many
KEPT = 4  # components of a cell that are looked at, those of the largest shares


@dataclass(eq=False)
class Cells:
    """Observed cells of rows that a model has not seen, each given the other cells of its row; (m, K) in components.

    value, weight (m,); share, location, scale, degrees (m, K)
    """

    value: np.ndarray
    weight: np.ndarray
    share: np.ndarray
    location: np.ndarray
    scale: np.ndarray
    degrees: np.ndarray

    def density(self, widths: Widths | None = None) -> np.ndarray:
        """(m,) of every cell, its laws stretched by `widths`."""
        scale, degrees = self.scale, self.degrees
        if widths is not None:
            scale, degrees = scale * widths.scale, np.full_like(degrees, widths.degrees)
        z = (self.value[:, None] - self.location) / scale
        logs = gammaln(0.5 * (degrees + 1.0)) - gammaln(0.5 * degrees) - 0.5 * np.log(degrees * np.pi)
        logs -= np.log(scale) + 0.5 * (degrees + 1.0) * np.log1p(z * z / degrees)
        return (self.share * np.exp(logs)).sum(axis=1)

    def below(self, widths: Widths) -> np.ndarray:
        """(m,) probability of less than every cell."""
        z = (self.value[:, None] - self.location) / (self.scale * widths.scale)
        return (self.share * stdtr(widths.degrees, z)).sum(axis=1)


def mixed(parts: Sequence[Cells]) -> Cells:
    """The same cells under several models as under one, to which all are equal parts."""
    first = parts[0]
    share, location, scale, degrees = (
        np.concatenate([getattr(one, name) for one in parts], axis=1)
        for name in ("share", "location", "scale", "degrees")
    )
    return Cells(first.value, first.weight, share / len(parts), location, scale, degrees)


def together(parts: Sequence[Cells]) -> Cells:
    return Cells(*(np.concatenate(part) for part in zip(*(vars(one).values() for one in parts), strict=True)))


def choose(each: Sequence[Cells]) -> tuple[np.ndarray, Widths]:
    """Weights of the models, and scale and degrees of their laws, from the same cells as every model predicts them."""
    weight = each[0].weight
    share = pool_weights(_relative([cells.density() for cells in each]), weight, EQUAL_CELLS * len(each))

    def worth(widths: Widths) -> float:
        density = sum(w * cells.density(widths) for w, cells in zip(share, each, strict=True))
        prior = 0.5 * LOG_SCALE_PRECISION * np.log(widths.scale) ** 2
        return float(weight @ np.log(np.maximum(density, 1e-300)) - prior)

    grid = [Widths(float(scale), degrees) for scale in SCALES for degrees in DEGREES]
    coarse = max(grid, key=worth)
    step = np.log(SCALES[1] / SCALES[0])
    near = [Widths(coarse.scale * float(np.exp(c * step)), coarse.degrees) for c in (-0.67, -0.33, 0.0, 0.33, 0.67)]
    best = max(near, key=worth)
    share = pool_weights(_relative([cells.density(best) for cells in each]), weight, EQUAL_CELLS * len(each))
    return share, replace(best, held=shares_held(_below(each, share, best), weight))


def choose_seen(each: Sequence[Cells], share: np.ndarray, new: Widths) -> Widths:
    """Widths of the holes of training rows, from cells that were hidden from every model; those of new rows, a little
    wider, are what is believed beforehand."""
    weight = each[0].weight

    def worth(ratio: float) -> float:
        widths = Widths(new.scale * ratio, new.degrees)
        density = sum(w * cells.density(widths) for w, cells in zip(share, each, strict=True))
        prior = 0.5 * SEEN_PRECISION * (np.log(ratio) - SEEN_RATIO) ** 2
        return float(weight @ np.log(np.maximum(density, 1e-300)) - prior)

    best = Widths(new.scale * float(max(SEEN_RATIOS, key=worth)), new.degrees)
    believed = PROMISED if new.held is None else np.array(new.held)
    return replace(best, held=shares_held(_below(each, share, best), weight, believed))


def _below(each: Sequence[Cells], share: np.ndarray, widths: Widths) -> np.ndarray:
    return np.sum([w * cells.below(widths) for w, cells in zip(share, each, strict=True)], axis=0)


def _relative(densities: list[np.ndarray]) -> np.ndarray:
    """(models, cells), the largest of every cell 1."""
    stacked = np.stack(densities) + 1e-300
    return stacked / stacked.max(axis=0)
