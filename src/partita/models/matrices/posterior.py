"""All kept draws of one matrix model, and what they say of rows and columns that training did not see."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import gammaincinv, ndtri

from .draw import Draw
from .levels import own_cuts


@dataclass(frozen=True, eq=False)
class Newcomers:
    """Rows (or columns) that training did not see, known by their prior alone.

    means   per draw, (n, K + 1): prior means of factors and offset.
    """

    means: tuple[np.ndarray, ...]

    def __len__(self) -> int:
        return len(self.means[0]) if self.means else 0


@dataclass(frozen=True, eq=False)
class Posterior:
    """All kept draws of one model.

    levels      (L,) values of the levels of an ordinal link, else empty.
    offsets     whether rows and columns have offsets.
    """

    draws: tuple[Draw, ...]
    levels: np.ndarray
    offsets: bool

    @property
    def link(self) -> str:
        return self.draws[0].link

    @property
    def unequal_noise(self) -> bool:
        """Whether noise differs by row and column."""
        return not np.isnan(self.draws[0].row_df)

    @cached_property
    def stranger_noise(self) -> dict[str, np.ndarray]:
        """(S,) g of a row, and d of a column, that was not seen, in every draw.

        They are spread over their priors Gamma(nu, nu): quantiles in an order that has nothing to do with the draws',
        for rows and columns another.
        """
        spread = {}
        for side, irrational in (("row", 0.6180339887498949), ("column", 0.4142135623730951)):
            df = np.array([draw.row_df if side == "row" else draw.column_df for draw in self.draws])
            share = _scattered(len(self.draws), irrational)
            spread[side] = gammaincinv(df, share) / df if self.unequal_noise else np.ones(len(self.draws))
        return spread

    @cached_property
    def stranger_stretch(self) -> np.ndarray:
        """(S, L - 2) of the gaps between the cut points of a row that was not seen, spread in the same way."""
        spread = np.stack([draw.stretch_spread for draw in self.draws]).astype(float)
        shares = [_scattered(len(spread), np.sqrt(2.0 + 3.0 * gap) % 1.0) for gap in range(spread.shape[1])]
        return spread * ndtri(np.stack(shares, axis=1)) if shares else spread

    def cuts_of_rows(self, rows: np.ndarray | slice) -> np.ndarray:
        """(S, m, L - 1) cut points of rows, places beyond those of training being strangers; (S, 1, L - 1) where all
        rows are alike."""
        cuts = np.stack([draw.cuts for draw in self.draws]).astype(float)
        if not self.draws[0].row_stretch.shape[1]:
            return cuts[:, None, :]
        stretch = np.stack([_stretch_of(draw, rows, own) for draw, own in zip(self.draws, self.stranger_stretch)])
        return own_cuts(cuts, stretch)

    def strangers(self, side: str, n: int) -> Newcomers:
        """Rows or columns of which nothing is known, not even features."""
        factors = [draw.U if side == "row" else draw.V for draw in self.draws]
        return Newcomers(tuple(np.zeros((n, part.shape[1] + 1)) for part in factors))


def _scattered(n: int, irrational: float) -> np.ndarray:
    """(n,) evenly spread in (0, 1), in an order of its own for every irrational number."""
    return (np.argsort(np.argsort((np.arange(1, n + 1) * irrational) % 1.0)) + 0.5) / n


def _stretch_of(draw: Draw, rows: np.ndarray | slice, stranger: np.ndarray) -> np.ndarray:
    if isinstance(rows, slice):
        return draw.row_stretch[rows].astype(float)
    last = len(draw.row_stretch) - 1
    found = draw.row_stretch[np.minimum(rows, last)].astype(float)
    found[rows > last] = stranger
    return found


def thinned(posterior: Posterior, n: int) -> Posterior:
    """At most n of the draws, evenly spread."""
    if len(posterior.draws) <= n:
        return posterior
    chosen = np.unique(np.linspace(0, len(posterior.draws) - 1, n).astype(int))
    return replace(posterior, draws=tuple(posterior.draws[k] for k in chosen))
