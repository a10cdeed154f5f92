"""What a variational fit of gated experts knows: priors, and the posterior over sticks, gates and experts.

Atoms (gates with their experts), sticks and the experts' common prior stand apart: each is updated from its own sums.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...families.normal_inverse_wishart import NormalInverseWishart
from ...priors.sticks import Sticks

OWN, POOLED = "own", "pooled"


@dataclass(frozen=True, eq=False)
class Priors:
    """Hyper-parameters, in the words of [1], section 3.5.

    gate             m_0, u_0, nu_0 and B_0^-1 as a normal-inverse-Wishart without batch
    experts          "own": w_h ~ N(0, I); "pooled": w_h ~ N(zeta, 1 / lambda) with zeta | lambda ~ N(0, 1 / (gamma_0
                     lambda)), lambda ~ Ga(a_0, b_0); None: no experts, every gate belongs to one class
    n_sticks         truncation N
    alpha_shape, alpha_rate   of the concentration (tau_10, tau_20)
    least_precision   lambda is no smaller, for chains. Unlike [1]: rows that experts tell apart without a mistake leave
                     the size of the weights to the prior, which with a_0 = b_0 = .01 lets it run to the end of the
                     numbers, so that every draw is a hard rule. Columns have standard deviation 1; a weight of ten
                     takes a probit from .01 to .99 within half of it. Variational laws of lambda lie far above

    [1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University, chapter 3.
    """

    gate: NormalInverseWishart
    experts: str | None = POOLED
    n_sticks: int = 20
    alpha_shape: float = 0.05
    alpha_rate: float = 0.05
    a_0: float = 0.01
    b_0: float = 0.01
    gamma_0: float = 0.1
    least_precision: float = 0.01


@dataclass(eq=False)
class Experts:
    """q(w) of every component, and the law they are drawn from. All latents of many classes share one covariance.

    mean         (H, K, F) one weight vector per latent: one latent for two classes, one per class for more
    covariance   (H, F, F); log_det of it (H,)
    centre       (K, F) <zeta>; strength gamma of its precision (0: fixed at its prior, w ~ N(0, I))
    shape, rate  of q(lambda): a number and (F,)
    """

    mean: np.ndarray
    covariance: np.ndarray
    log_det: np.ndarray
    centre: np.ndarray
    strength: float
    shape: float
    rate: np.ndarray

    @property
    def pooled(self) -> bool:
        return self.strength > 0

    @property
    def precision(self) -> np.ndarray:
        """<lambda>, (F,)."""
        return self.shape / self.rate if self.pooled else np.ones(len(self.rate))


@dataclass(eq=False)
class GatedState:
    """Everything a fit needs to go on; components stand in the order of the sticks, empty ones are not there.

    counts     (H,) expected rows of each component
    gates      normal-inverse-Wishart posteriors, batch (H,)
    cells      of each column beside the Gaussian block, (H, L) pseudo-counts or (H, 2)
    owner      (H,) class of each component, where there are no experts; else None
    rho        (n, H) responsibilities, as of the last update of rows
    latent     (n, H, K) <t>, as of the last update of rows; None without experts
    guesses    probabilities of the levels of missing cells that experts guess, (H, cells, G) per block and column
    """

    counts: np.ndarray
    sticks: Sticks
    gates: NormalInverseWishart
    cells: list[np.ndarray]
    experts: Experts | None
    owner: np.ndarray | None
    rho: np.ndarray
    latent: np.ndarray | None = None
    guesses: list[np.ndarray] = field(default_factory=list)

    @property
    def n_components(self) -> int:
        return len(self.counts)

    def reordered(self, order: np.ndarray) -> GatedState:
        """The components of `order` only, in that order."""
        gates, experts = self.gates, self.experts
        if experts is not None:
            experts = replace(
                experts,
                mean=experts.mean[order],
                covariance=experts.covariance[order],
                log_det=experts.log_det[order],
            )
        return replace(
            self,
            counts=self.counts[order],
            gates=NormalInverseWishart(gates.mean[order], gates.kappa[order], gates.nu[order], gates.scale[order]),
            cells=[posterior[order] for posterior in self.cells],
            experts=experts,
            owner=None if self.owner is None else self.owner[order],
            rho=np.ascontiguousarray(self.rho[:, order]),
            latent=None if self.latent is None else np.ascontiguousarray(self.latent[:, order]),
            guesses=[guess[order] for guess in self.guesses],
        )

    def to_tree(self) -> dict[str, Any]:
        tree = {name: value for name, value in vars(self).items() if name not in ("sticks", "gates", "experts")}
        gates = {name: np.ascontiguousarray(value) for name, value in vars(self.gates).items()}
        experts = None if self.experts is None else dict(vars(self.experts))
        return tree | {"sticks": dict(vars(self.sticks)), "gates": gates, "experts": experts}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> GatedState:
        parts: dict[str, Any] = {
            "sticks": Sticks(**tree["sticks"]),
            "gates": NormalInverseWishart(**tree["gates"]),
            "experts": None if tree["experts"] is None else Experts(**tree["experts"]),
        }
        return cls(**(dict(tree) | parts))
