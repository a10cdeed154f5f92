"""What the kernels of Gaussian gates with missing cells take and give.

Symbols: n rows of P real columns, H components (a multiple of eight, always the last axis, so that components stand
side by side in vector registers), K right-hand sides (the linear experts; K = 0: none), m the missing and o the
observed cells of a row. All arrays are C-contiguous float64 unless said otherwise. Component h has the quadratic form
-1/2 x'Q_h x + r_ih'x with Q (P, P, H) positive definite, S = Q^-1 (P, P, H) and logdet_Q = log|Q| (H,); r is
(n, P, H), or (1, P, H) where it is the same for all rows. x (n, P) holds 0 in missing cells. Components that only fill
up the last eight hold anything finite with Q = S = I.

`gate_condition(patterns, x, r, Q, S, logdet_Q, w, V, out: Conditioned)` integrates the missing cells out,
`gate_accumulate(patterns, Q, S, xhat, cw, rho, f, out: GateSums)` adds up weighted moments of means that are given,
`gate_moments(patterns, x, r, Q, S, w, rho, shift, f, extra, tie, out: GateSums)` of means that it finds itself, without
any array of n x P x H numbers: the faster way where `Conditioned.scalars` are all that is asked of `gate_condition`,
`gate_draw_missing(patterns, x, r, Q, z, noise, out)` draws the missing cells of every row in its component.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NEGLIGIBLE = 1e-9  # pairs of row and component with a smaller weight are left out of the moments


@dataclass
class Patterns:
    """Which cells are missing, the rows sorted so that those with one pattern stand together.

    Rows first_row[g] : first_row[g + 1] miss the columns cells[first[g] : first[g + 1]], ascending.
    """

    first_row: np.ndarray  # int64 (G + 1,)
    first: np.ndarray  # int64 (G + 1,)
    cells: np.ndarray  # int32

    def __len__(self) -> int:
        return len(self.first) - 1

    @classmethod
    def of(cls, missing: np.ndarray) -> tuple[np.ndarray, Patterns]:
        """The order that sorts rows by their pattern, and the patterns of the sorted rows; `missing` is bool (n, P)."""
        order = np.lexsort(np.packbits(missing, axis=1).T[::-1]) if missing.size else np.arange(len(missing))
        ranked = missing[order]
        new = np.ones(len(ranked), bool)
        new[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
        start = np.flatnonzero(new)
        cells = np.nonzero(ranked[start])[1].astype(np.int32)
        first = np.concatenate([[0], np.cumsum(ranked[start].sum(axis=1))])
        return order, cls(np.append(start, len(ranked)).astype(np.int64), first.astype(np.int64), cells)

    def rows(self, begin: int, end: int) -> Patterns:
        """The patterns of the rows begin : end alone, counted from `begin`."""
        low = int(np.searchsorted(self.first_row, begin, side="right")) - 1
        high = int(np.searchsorted(self.first_row, end, side="left"))
        first_row = np.clip(self.first_row[low : high + 1], begin, end) - begin
        first = self.first[low : high + 1]
        return Patterns(first_row, first - first[0], self.cells[first[0] : first[-1]])


@dataclass
class Conditioned:
    """A row in a component, its missing cells integrated out. xhat and cw may be empty: then they are not computed."""

    quad: np.ndarray  # (n, H): log of the integral over x_m of exp(form), less (|m| log 2 pi - log|Q_mm|) / 2
    logdet: np.ndarray  # (n, H): log|Q_mm|, 0 where nothing is missing
    xhat: np.ndarray  # (n, P, H): the observed cells, and the mean of the missing ones given them
    cw: np.ndarray  # (n, K, P, H): Q_mm^-1 w_m of every right-hand side w, 0 on observed cells
    wx: np.ndarray  # (n, K, H): w'xhat
    wcw: np.ndarray  # (n, K, K, H): w_m'Q_mm^-1 w_m of every two
    trace: np.ndarray  # (n, H): tr(V_mm Q_mm^-1); left alone where V is empty

    @classmethod
    def room(cls, n: int, n_columns: int, n_sides: int, n_components: int) -> Conditioned:
        shapes = ((), (), (n_columns,), (n_sides, n_columns), (n_sides,), (n_sides, n_sides), ())
        return cls(*(np.zeros((n, *shape, n_components)) for shape in shapes))

    @classmethod
    def scalars(cls, n: int, n_columns: int, n_sides: int, n_components: int) -> Conditioned:
        """Room without xhat and cw."""
        out = cls.room(0, n_columns, n_sides, n_components)
        full = cls.room(n, 0, n_sides, n_components)
        return cls(full.quad, full.logdet, out.xhat, out.cw, full.wx, full.wcw, full.trace)


@dataclass
class GateSums:
    """Weighted sums over rows, to which the kernels add."""

    first: np.ndarray  # (P, H): of the mean of a row
    second: np.ndarray  # (P, P, H), symmetric: of its second moments
    cross: np.ndarray  # (E, P, H): of its products with E other numbers

    @classmethod
    def room(cls, n_columns: int, n_components: int, n_extras: int = 0) -> GateSums:
        shapes = (n_columns,), (n_columns, n_columns), (n_extras, n_columns)
        return cls(*(np.zeros((*shape, n_components)) for shape in shapes))
