"""The simulated matrices of section 5.5.2: Y = Y_L Y_R' with normal entries, some of them observed, some noisy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

SIDE = 50  # I of the thesis
RECOVERED = 1e-3  # relative error below which a matrix counts as recovered


@dataclass(frozen=True)
class Simulated:
    """clean = left right' (I, I) of rank r; noisy = clean + noise, equal to it without noise."""

    left: np.ndarray
    right: np.ndarray
    noisy: np.ndarray

    @property
    def clean(self) -> np.ndarray:
        return self.left @ self.right.T


def simulate(rank: int, rng: np.random.Generator, decibel: float | None = None, side: int = SIDE) -> Simulated:
    """`decibel` is the ratio of signal to noise, 20 log10 of the ratio of standard deviations; None: no noise."""
    left, right = rng.standard_normal((2, side, rank))
    clean = left @ right.T
    spread = 0.0 if decibel is None else clean.std() / 10 ** (decibel / 20)
    return Simulated(left, right, clean + spread * rng.standard_normal(clean.shape))


def observe(matrix: Simulated, m: int, rng: np.random.Generator) -> np.ndarray:
    """The matrix with m random entries observed and NaN elsewhere."""
    seen = np.zeros(matrix.noisy.size, bool)
    seen[rng.permutation(matrix.noisy.size)[:m]] = True
    return np.where(seen.reshape(matrix.noisy.shape), matrix.noisy, np.nan)


def relative_error(found: np.ndarray, clean: np.ndarray) -> float:
    return float(np.linalg.norm(found - clean) / np.linalg.norm(clean))


def freedom(rank: int, side: int = SIDE) -> int:
    """d_r = r (2 I - r)."""
    return rank * (2 * side - rank)


def determined(seen: np.ndarray, rank: int) -> bool:
    """Whether every row and column holds at least `rank` entries; where one does not, no method can recover the matrix.

    Of 54 matrices near the limit (d_r / m over .6) this let through one whose Jacobian says that it is not determined.
    """
    return bool(min(seen.sum(axis=0).min(), seen.sum(axis=1).min()) >= rank)
