"""Levels of the cells of a new row or column, in every draw: latents, and the stretches of a new row's cut points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from .levels import edges, own_cuts

_TOLD = 0.25  # what a cell tells of the logarithm of a gap, about: steps follow it


@dataclass(frozen=True, eq=False)
class FoldedLevels:
    """In S draws: codes (n,) of the levels, fit and root of the precision (S, n), cut points as in `fold_in`."""

    code: np.ndarray
    f: np.ndarray
    root: np.ndarray
    cuts: np.ndarray

    def ends(self, stretch: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(S, n) ends of the levels about the fit, standardised; the row's gaps are stretched, where it has its own."""
        own = own_cuts(self.cuts[:, 0], stretch[:, None, :]) if stretch.shape[1] else self.cuts
        table = np.broadcast_to(edges(own), (*self.f.shape, own.shape[2] + 2))
        low, high = (np.take_along_axis(table, self.code[None, :, None] + up, axis=2)[:, :, 0] for up in (0, 1))
        return (low - self.f) * self.root, (high - self.f) * self.root

    def latents(self, stretch: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """(S, n) latent normals between the cut points of their levels."""
        return self.f + truncated_normal(*self.ends(stretch), rng.random(self.f.shape)) / self.root

    def move_stretch(self, stretch: np.ndarray, spread: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One Metropolis step of all gaps in every draw, latents integrated out."""
        if not stretch.shape[1]:
            return stretch
        step = 1.0 / np.sqrt(spread**-2.0 + _TOLD * len(self.code))
        proposal = stretch + step * rng.standard_normal(stretch.shape)
        gain = self._log_mass(proposal) - self._log_mass(stretch)
        gain += 0.5 * ((stretch**2 - proposal**2) / spread**2).sum(axis=1)
        return np.where((np.log1p(-rng.random(len(gain))) < gain)[:, None], proposal, stretch)

    def _log_mass(self, stretch: np.ndarray) -> np.ndarray:
        """(S,) of all cells."""
        low, high = self.ends(stretch)
        flip = low > 0
        low, high = np.where(flip, -high, low), np.where(flip, -low, high)
        log_high = log_ndtr(high)
        share = -np.expm1(np.minimum(log_ndtr(low) - log_high, 0.0))
        return (log_high + np.log(np.maximum(share, 1e-300))).sum(axis=1)


def truncated_normal(low: np.ndarray, high: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Standard normals between low and high by inversion of u in (0, 1), in logarithms and in the lower tail."""
    flip = low > 0
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    a, b = log_ndtr(low), log_ndtr(high)
    u = np.clip(u, 1e-300, 1.0)
    with np.errstate(divide="ignore"):
        log_p = b + np.log(u + (1.0 - u) * np.exp(a - b))
    drawn = np.clip(ndtri_exp(np.minimum(log_p, -1e-300)), low, high)
    return np.where(flip, -drawn, drawn)
