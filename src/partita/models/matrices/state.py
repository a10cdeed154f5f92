"""What a chain over a matrix with holes holds.

y_ij = mean + b_i + c_j + sum over k of u_ik v_jk + noise of precision alpha g_i d_j; under the paper's prior the sum is
over s_k z_k u_ik v_jk. The links put their latent variables in the place of y.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np


@dataclass(eq=False)
class Regression:
    """Coefficients of the features of one side and their precisions, one of each per block (see `matrices.features`).

    coefficients   (r, K + 1): of the K factors, and of the offset in the last column
    ridge          (2,): lambda of the factors, lambda of the offset
    """

    coefficients: list[np.ndarray] = field(default_factory=list)
    ridge: list[np.ndarray] = field(default_factory=list)

    def to_tree(self) -> dict[str, Any]:
        return dict(vars(self))


@dataclass(eq=False)
class State:
    """Everything a chain needs to go on; K components, I rows, J columns, m cells.

    mean, row_offset (I,), column_offset (J,)   mu, b, c; zero where the model has none
    U (I, K), V (J, K)                          factors
    theta (K,)                                  prior variances of the factors (ard)
    alpha, row_noise (I,), column_noise (J,)    precision of a cell: alpha g_i d_j
    row_df, column_df                           nu of g and of d: how alike they are
    tau_row, tau_column                         prior precisions of the offsets
    row_regression, column_regression           coefficients of the features
    row_mean (I, K + 1), column_mean (J, K + 1) prior means of [u_i, b_i] and [v_j, c_j]
    latent (m,)                                 latents in row order (ordinal); None: the values themselves
    cuts, cut_step, cut_taken (L - 1,)          cut points of levels, sizes of their random steps, whether the last
                                                were accepted (1, 0; NaN: not asked)
    row_stretch (I, L - 2)                      r of the rows' own gaps between cut points; (I, 0) where rows are alike
    stretch_spread (L - 2,)                     its standard deviations
    stretch_step, stretch_taken                 size of its random steps, share accepted
    s (K,), z (K,), alpha_s                     the paper's prior; else None
    row_effects (I, q), column_effects (J, r)   G_C and G_R of (5.14): what columns' features do in each row, and rows'
                                                features in each column; their precisions (q,) and (r,); else None
    held                                        whether z and effects may wait in the first sweeps (coordinate sampler)
    sweep                                       sweeps done
    edge                                        largest singular value of unit noise on the observed cells
    rank                                        components above the edge when last looked at
    """

    U: np.ndarray
    V: np.ndarray
    theta: np.ndarray
    row_offset: np.ndarray
    column_offset: np.ndarray
    row_noise: np.ndarray
    column_noise: np.ndarray
    row_mean: np.ndarray
    column_mean: np.ndarray
    mean: float = 0.0
    alpha: float = 1.0
    row_df: float = 100.0
    column_df: float = 100.0
    tau_row: float = 1.0
    tau_column: float = 1.0
    row_regression: Regression = field(default_factory=Regression)
    column_regression: Regression = field(default_factory=Regression)
    latent: np.ndarray | None = None
    cuts: np.ndarray | None = None
    cut_step: np.ndarray | None = None
    cut_taken: np.ndarray | None = None
    row_stretch: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    stretch_spread: np.ndarray = field(default_factory=lambda: np.zeros(0))
    stretch_step: float = 1.5
    stretch_taken: float = float("nan")
    s: np.ndarray | None = None
    z: np.ndarray | None = None
    alpha_s: float = 1.0
    row_effects: np.ndarray | None = None
    column_effects: np.ndarray | None = None
    row_effect_precision: np.ndarray | None = None
    column_effect_precision: np.ndarray | None = None
    held: bool = False
    sweep: int = 0
    edge: float = 0.0
    rank: int = 0

    @property
    def n_components(self) -> int:
        return self.U.shape[1]

    @property
    def gain(self) -> np.ndarray:
        """(K,) what a component is multiplied by: s_k z_k under the paper's prior, else 1."""
        return np.ones(self.n_components) if self.s is None or self.z is None else self.s * self.z

    def to_tree(self) -> dict[str, Any]:
        tree = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: value.to_tree() if isinstance(value, Regression) else value for name, value in tree.items()}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> State:
        regressions = {name: Regression(**tree[name]) for name in ("row_regression", "column_regression")}
        return cls(**{**tree, **regressions})
