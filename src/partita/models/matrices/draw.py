"""A kept draw: all that answers need of a state, in single precision."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .problem import Problem
from .state import Regression, State


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw of the parameters; arrays are float32, K components.

    f_ij = mean + row_offset_i + column_offset_j + U_i'V_j; the paper's s_k z_k is absorbed in U, and components whose
    z_k is 0 are left out. Noise of a cell has the precision alpha g_i d_j (row_noise g, column_noise d).

    theta, column_theta (K,)       prior variances of the columns of U and of V, for rows and columns never seen
    tau_row, tau_column            prior precisions of offsets
    row_coefficients               per block of features, (r, K + 1), offset last: an unseen row has the prior mean
    column_coefficients            sum over blocks of features @ block.axes @ coefficients
    cuts (L - 1,)                  of an ordinal link, else empty
    row_stretch (I, L - 2)        the rows' own gaps between cut points (`matrices.levels`); (I, 0) where rows are alike
    stretch_spread (L - 2,)        its standard deviations, for rows never seen
    rank                           components above the noise edge
    row_df, column_df              nu of g and of d, for rows and columns never seen; NaN where noise is equal
    """

    link: str
    mean: float
    row_offset: np.ndarray
    column_offset: np.ndarray
    U: np.ndarray
    V: np.ndarray
    theta: np.ndarray
    column_theta: np.ndarray
    tau_row: float
    tau_column: float
    alpha: float
    row_noise: np.ndarray
    column_noise: np.ndarray
    row_coefficients: tuple[np.ndarray, ...]
    column_coefficients: tuple[np.ndarray, ...]
    cuts: np.ndarray
    row_stretch: np.ndarray
    stretch_spread: np.ndarray
    rank: int
    row_df: float = float("nan")
    column_df: float = float("nan")

    @classmethod
    def of(cls, problem: Problem, state: State) -> Draw:
        on = slice(None) if state.z is None else np.flatnonzero(state.z)
        gain = state.gain[on]
        theta, column_theta = prior_variances(problem, state)
        df = (float(state.row_df), float(state.column_df)) if problem.unequal_noise else (float("nan"), float("nan"))
        return cls(
            problem.link, float(state.mean), _single(state.row_offset), _single(state.column_offset),
            _single(state.U[:, on] * gain), _single(state.V[:, on]), _single(theta[on] * gain**2),
            _single(column_theta[on]), float(state.tau_row), float(state.tau_column), float(state.alpha),
            _single(state.row_noise), _single(state.column_noise), _kept(state.row_regression, on, gain),
            _kept(state.column_regression, on, np.ones(len(gain))),
            _single(np.zeros(0) if state.cuts is None else state.cuts), _single(state.row_stretch),
            _single(state.stretch_spread), int(state.rank), *df,
        )  # fmt: skip

    def fitted(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """f at cells, float64."""
        product = np.einsum("pk,pk->p", self.U[rows], self.V[columns], dtype=np.float64)
        return self.mean + self.row_offset[rows].astype(float) + self.column_offset[columns] + product

    def nbytes(self) -> int:
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def to_tree(self) -> dict[str, Any]:
        tree = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in tree.items()}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Draw:
        lists = {name: tuple(tree[name]) for name in ("row_coefficients", "column_coefficients")}
        return cls(**{**tree, **lists})


def prior_variances(problem: Problem, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Of the columns of U and of V: theta in both, or 1/I and 1/J under the paper's prior."""
    if problem.prior == "ard":
        return state.theta, state.theta
    k = state.n_components
    return np.full(k, 1.0 / problem.n_rows), np.full(k, 1.0 / problem.n_columns)


def _single(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x, dtype=np.float32)


def _kept(regression: Regression, on: slice | np.ndarray, gain: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(_single(np.column_stack([g[:, :-1][:, on] * gain, g[:, -1]])) for g in regression.coefficients)
