"""What a fit of finitely many gated experts by EM knows: point parameters, and what the last E-step said of rows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..gated.sums import GatedSums


@dataclass(frozen=True, eq=False)
class Regulariser:
    """What keeps maximum likelihood finite: a log prior that is 0 at the pooled parameters and negative elsewhere.

    covariance        (P, P) pooled covariance S_0; every Sigma_h is seen as if `covariance_rows` = c further rows
                      around its mean had that scatter: -c/2 (log|Sigma_h S_0^-1| + tr(Sigma_h^-1 S_0) - P)
    ridge             precision of every weight of an expert, w ~ N(0, I / ridge): -ridge/2 |w|^2
    Pseudo-counts of levels and counts stand with the columns (`PointColumn.prior`).
    """

    covariance: np.ndarray
    covariance_rows: float
    ridge: float


@dataclass(eq=False)
class QGMEState:
    """Parameters of H components over P Gaussian columns and F features of an expert, and what EM needs to go on.

    weight       (H,) pi
    mean, covariance   (H, P), (H, P, P)
    cells        of each column beside the Gaussian block, theta as of `PointColumn`
    w            (H, K, F) weights of the experts: one latent for two classes, one per class for more, none for one
    latent       (n, H, K) <t> as of the last E-step, for more than two classes; else None
    guesses      probabilities of the levels of missing cells that experts guess, (H, cells, G) per block and column
    sums         what the last E-step added up over the rows; None before the first
    """

    weight: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    cells: list[np.ndarray]
    w: np.ndarray
    latent: np.ndarray | None = None
    guesses: list[np.ndarray] = field(default_factory=list)
    sums: GatedSums | None = None

    @property
    def n_components(self) -> int:
        return len(self.weight)

    def taking(self, order: np.ndarray) -> QGMEState:
        """The components of `order` only, in that order, without sums."""
        return replace(
            self,
            weight=self.weight[order],
            mean=self.mean[order],
            covariance=self.covariance[order],
            cells=[theta[order] for theta in self.cells],
            w=self.w[order],
            latent=None if self.latent is None else np.ascontiguousarray(self.latent[:, order]),
            guesses=[guess[order] for guess in self.guesses],
            sums=None,
        )

    def to_tree(self) -> dict[str, Any]:
        return dict(vars(self)) | {"sums": None if self.sums is None else dict(vars(self.sums))}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> QGMEState:
        return cls(**(dict(tree) | {"sums": None if tree["sums"] is None else GatedSums(**tree["sums"])}))
