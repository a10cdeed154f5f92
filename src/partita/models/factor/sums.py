"""Sums over rows that updates of factor experts need: evidence is added, block by block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .beside import Hidden
from .problem import Array, FactorProblem
from .state import Expectations, FactorState


@dataclass
class Sums:
    """Sums over rows, each weighted by weight_i r_ih, of moments under q(s_i, t_i | z_i = h).

    log_rows            sum of weight_i ln Z_i; count (H,)
    labelled_ff (H, d, d), labelled_fs (H, d, T), labelled_ss (H, T, T), latent_f (H, C, d), latent_s (H, C, T): of
    labelled rows only, f the features that experts see beside the factors
    ss (H, T, T) of ss'; fit (H, T) of s_t (X g)_it; energy (H, T, T) of K_i o ss'; squares (H,) of sum_p x_ip^2
    worth (H, T) of what factor t adds to ln Z_ih: see `add`
    cell_count, cell_sum (H, P) of observed cells; cell_s (H, P, T) of seen_ip s_it
    precision (U, T, T), target (P, T)  what the loadings' update wants (only where `loadings` is asked for)
    cells               of every column beside the real ones, as `CellColumn.statistics`; guesses as the state's
    """

    log_rows: float
    count: Array
    labelled_ff: Array
    labelled_fs: Array
    labelled_ss: Array
    latent_f: Array
    latent_s: Array
    ss: Array
    fit: Array
    energy: Array
    squares: Array
    worth: Array
    cell_count: Array
    cell_sum: Array
    cell_s: Array
    precision: Array
    target: Array
    cells: list[Array]
    guesses: list[Array]

    @classmethod
    def zero(cls, state: FactorState, n_groups: int, loadings: bool) -> Sums:
        h, t, c, p = state.n_components, state.n_active, state.n_experts, len(state.loading)
        g, d = n_groups if loadings else 0, state.weight.shape[2] - state.n_active
        shapes = [(h,), (h, d, d), (h, d, t), (h, t, t), (h, c, d), (h, c, t), (h, t, t), (h, t), (h, t, t), (h,)]
        shapes += [(h, t)]
        shapes += [(h, p), (h, p), (h, p, t), (g, t, t), (p if loadings else 0, t)]
        parts: list[Any] = [0.0, *(np.zeros(shape) for shape in shapes)]
        parts += [[np.zeros_like(one) for one in state.cells], [table.copy() for table in state.guesses]]
        return cls(*parts)


@dataclass
class Moments:
    """Of one block: ln of the unnormalised responsibilities (n, H), <s> (n, H, T), <ss'> (n, H, T, T), <t> (n, H, C),
    <t s> (n, H, C, T); K_i (n, T, T); cells beside."""

    log_z: Array
    s: Array
    ss: Array
    t: Array
    ts: Array
    k: Array
    hidden: Hidden


def add(
    sums: Sums,
    problem: FactorProblem,
    state: FactorState,
    expected: Expectations,
    rows: slice,
    moments: Moments,
    r: Array,
    loadings: bool,
) -> None:
    """The part of a block in every sum; r (n, H) are its responsibilities times the weights of the rows."""
    x, seen = problem.values[rows], problem.seen[rows]
    rs = r[..., None] * moments.s
    n, h, t = rs.shape
    lab = r * (problem.label[rows] >= 0)[:, None]
    sums.count += r.sum(0)
    looks = lab.T[:, :, None] * moments.hidden.looks  # (H, n, d)
    sums.labelled_ff += np.matmul(np.swapaxes(looks, 1, 2), moments.hidden.looks)
    sums.labelled_fs += np.matmul(np.swapaxes(looks, 1, 2), np.swapaxes(moments.s, 0, 1))
    sums.labelled_ss += _weighted(lab, moments.ss)
    sums.latent_f += np.matmul(moments.t.transpose(1, 2, 0), looks)
    cells = [np.zeros_like(one) for one in sums.cells] if loadings else sums.cells
    moments.hidden.add(r, cells, sums.labelled_ff)
    sums.latent_s += np.einsum("nh,nhct->hct", lab, moments.ts)
    sums.ss += _weighted(r, moments.ss)
    sums.fit += np.einsum("nht,nt->ht", rs, x @ state.loading)
    if loadings:
        spread = np.einsum("nh,htu,nhtu->ntu", r * expected.noise, expected.pairs, moments.ss, optimize=True)
        sums.precision += (problem.group_seen[rows].T @ spread.reshape(n, -1)).reshape(sums.precision.shape)
        sums.target += x.T @ np.einsum("nht,ht->nt", rs, expected.noise[:, None] * state.used)
    else:
        sums.energy += _weighted(r, moments.ss * moments.k[:, None])
        sums.squares += r.T @ problem.squares[rows]
        # a normal exp(f's - s'Qs / 2) integrates to less by this where s_t is fixed at 0
        variance = np.diagonal(moments.ss, axis1=2, axis2=3) - moments.s**2
        sums.worth += 0.5 * np.einsum("nh,nht->ht", r, moments.s**2 / variance + np.log(variance))
        sums.cell_count += r.T @ seen
        sums.cell_sum += r.T @ x
        for j, column in enumerate(problem.beside.columns):
            sums.cells[j] += column.statistics(r, problem.beside.levels[j, rows])
    sums.cell_s += (seen.T @ rs.reshape(n, h * t)).reshape(seen.shape[1], h, t).transpose(1, 0, 2)


def _weighted(weight: Array, matrices: Array) -> Array:
    """sum_i weight_ih M_ih, as one small product per component."""
    n, h, t, _ = matrices.shape
    return np.stack([(weight[:, j] @ matrices[:, j].reshape(n, t * t)).reshape(t, t) for j in range(h)])
