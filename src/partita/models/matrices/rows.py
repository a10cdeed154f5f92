"""Step 1 of a sweep: every row [u_i, b_i] drawn whole given the other side, or every column [v_j, c_j]."""

from __future__ import annotations

import numpy as np

from ...kernels import kernel
from ...kernels.svd_contract import GainSums, RowDraw, pad, padded
from .pieces import cut_rows, run_pieces
from .problem import Problem
from .sides import Side
from .state import State

# Gram matrices are added up in single precision while the precision of the noise, in units of the values' spread, is
# below this: rounding then moves a row by less than a thousandth of its standard deviation
SINGLE = 1e3


def draw_rows(
    problem: Problem, rng: np.random.Generator, state: State, side: Side, n_threads: int = 1, with_sums: bool = False
) -> tuple[np.ndarray, GainSums | None]:
    """Draws the factors and offsets of one side.

    Returns (n,) squared residuals of every row, weighted by the noise of the other side, and with `with_sums` what the
    gains need; both come from the row's Gram matrix, without a further pass over the cells.
    """
    k, n, there = state.n_components, side.size(problem), side.other
    unknowns = k + 1 if problem.offsets else k
    root = np.sqrt(there.noise(state))
    given = RowDraw(
        cells=side.cells(problem, state),
        Z=pad(root[:, None] * there.matrix(state), single=state.alpha * problem.spread**2 < SINGLE),
        root=root,
        shift=state.mean + there.offset(state),
        weight=side.noise(state),
        alpha=float(state.alpha),
        gain=state.gain,
        precision=side.precision(problem, state)[:unknowns],
        prior=np.ascontiguousarray(side.prior_mean(state)[:, :unknowns]),
        noise=np.empty((n, unknowns)),
        out=np.empty((n, unknowns)),
        residual=np.empty(n),
    )
    width = padded(k)
    pieces = cut_rows(given.cells.first, width * width / 2 + 8 * width, 30 * width**2 + width**3 / 6)
    sums = [GainSums.room(k) for _ in pieces] if with_sums else None
    key = int(rng.integers(2**63))

    def work(number: int, piece: tuple[int, int]) -> None:
        # every piece has a stream of its own, so that threads draw their numbers themselves
        np.random.Generator(np.random.SFC64([key, number])).standard_normal(out=given.noise[slice(*piece)])
        kernel.svd_draw_rows(*piece, given, None if sums is None else sums[number])

    run_pieces(work, pieces, n_threads)
    side.put(state, np.ascontiguousarray(given.out[:, :k]), given.out[:, k].copy() if problem.offsets else None)
    assert given.residual is not None
    return given.residual, None if sums is None else _total(sums)


def _total(sums: list[GainSums]) -> GainSums:
    """All pieces together, in their order; the matrix in full."""
    gram = np.sum([one.gram for one in sums], axis=0)
    linear = np.sum([one.linear for one in sums], axis=0)
    return GainSums(gram + np.triu(gram, 1).T, linear, np.sum([one.square for one in sums], axis=0))
