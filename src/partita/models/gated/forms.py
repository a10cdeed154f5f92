"""Gaussian gates as the kernels want them: precisions of all components side by side, missing cells integrated out.

Outside this file components come first, (H, P, P); the kernels want them last and filled up to a multiple of eight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels import kernel
from ...kernels.gates_contract import Conditioned, GateSums, Patterns

LANES = 8


def padded(n: int) -> int:
    return -(-n // LANES) * LANES


def behind(array: np.ndarray, width: int, fill: float = 0.0) -> np.ndarray:
    """An array (H, ...) with components last, filled up to `width`: (..., width)."""
    out = np.full((*array.shape[1:], width), fill)
    out[..., : len(array)] = np.moveaxis(array, 0, -1)
    return out


def in_front(array: np.ndarray, n: int) -> np.ndarray:
    """The first n components of an array (..., H), in front: (n, ...)."""
    return np.ascontiguousarray(np.moveaxis(array[..., :n], -1, 0))


def _identities(array: np.ndarray, n: int) -> np.ndarray:
    """Matrices (P, P, H) with those from n on set to the identity."""
    array[..., n:] = np.eye(array.shape[0])[..., None]
    return array


@dataclass(eq=False)
class Tied:
    """Missing cells that follow one latent t, components last: in a component the mean of a row is xhat + shift cw, its
    covariance pad(Q_mm^-1) + f cw cw', and its covariance with t tie cw."""

    shift: np.ndarray  # (b, 1, H)
    f: np.ndarray  # (b, 1, 1, H)
    latent: np.ndarray  # (b, 1, H): <t>
    tie: np.ndarray  # (b, 1, 1, H)


@dataclass(eq=False)
class GateForm:
    """Quadratic forms -1/2 x'Q_h x + r'x of H components over P columns, with K weight vectors of experts.

    n                  components that there are; arrays are filled up
    Q, S, logdet       (P, P, H) precision and its inverse, (H,) log|Q|
    w                  (K, P, H)
    V                  (P, P, H), or (0, 0, H): what the trace of the missing block is taken with
    """

    n: int
    Q: np.ndarray
    S: np.ndarray
    logdet: np.ndarray
    w: np.ndarray
    V: np.ndarray

    @classmethod
    def make(cls, precision: np.ndarray, w: np.ndarray | None = None, V: np.ndarray | None = None) -> GateForm:
        """From precisions (H, P, P), weights (H, K, P) and matrices V (H, P, P)."""
        n, p = precision.shape[:2]
        width = padded(n)
        logdet = np.zeros(width)
        logdet[:n] = np.linalg.slogdet(precision)[1]
        Q = _identities(behind(precision, width), n)
        S = _identities(behind(np.linalg.inv(precision), width), n)
        weights = np.zeros((0, p, width)) if w is None else behind(w, width)
        trace = np.zeros((0, 0, width)) if V is None else behind(V, width)
        return cls(n, Q, S, logdet, weights, trace)

    @property
    def width(self) -> int:
        return self.Q.shape[2]

    def condition(self, patterns: Patterns, x: np.ndarray, r: np.ndarray, cells: bool = True) -> Conditioned:
        """Integrate the missing cells of rows x (b, P) out; r is (1, P, H) or (b, P, H), components last.

        Without `cells` no array of expected cells is made.
        """
        room = Conditioned.room if cells else Conditioned.scalars
        out = room(len(x), x.shape[1], len(self.w), self.width)
        kernel.gate_condition(patterns, x, r, self.Q, self.S, self.logdet, self.w, self.V, out)
        return out

    def accumulate(
        self, patterns: Patterns, xhat: np.ndarray, cw: np.ndarray, rho: np.ndarray, f: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Weighted first and second moments, (n, P) and (n, P, P); rho is (b, n), f (b, K, K, H) or None."""
        sums = GateSums.room(xhat.shape[1], self.width)
        weights = np.zeros((len(xhat), self.width))
        weights[:, : self.n] = rho
        corrections = np.zeros((len(xhat), 0, 0, self.width)) if f is None else f
        kernel.gate_accumulate(patterns, self.Q, self.S, xhat, cw, weights, corrections, sums)
        return in_front(sums.first, self.n), in_front(sums.second, self.n)

    def moments(
        self, patterns: Patterns, x: np.ndarray, r: np.ndarray, rho: np.ndarray, law: Tied | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The same without arrays of cells, and (n, P) weighted products of the cells with a latent; see `Tied`."""
        n_rows, width, k = len(x), self.width, 0 if law is None else 1
        if law is None:
            nothing = np.zeros((n_rows, 0, width))
            law = Tied(nothing, np.zeros((n_rows, 0, 0, width)), nothing, np.zeros((n_rows, 0, 0, width)))
        sums = GateSums.room(x.shape[1], width, k)
        weights = np.zeros((n_rows, width))
        weights[:, : self.n] = rho
        w = self.w[:k]
        kernel.gate_moments(patterns, x, r, self.Q, self.S, w, weights, law.shift, law.f, law.latent, law.tie, sums)
        products = in_front(sums.cross[0], self.n) if k else np.zeros((self.n, x.shape[1]))
        return in_front(sums.first, self.n), in_front(sums.second, self.n), products
