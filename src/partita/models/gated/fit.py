"""One variational fit of gated experts as a sampler: `init` and `step(rng, state) -> (state, info)`.

A step updates rows given parameters, takes the bound, which is exact just there, and updates parameters given rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...families.normal_inverse_wishart import NormalInverseWishart
from ...kernels.contract import Rows
from .expect import expect
from .expectations import Expectations, expectations
from .guess import Guesses, first_guesses
from .rows import GUESSED, Block, View, make_blocks
from .start import first_state
from .state import GatedState, Priors
from .sums import GatedSums
from .update import divergence, updated

__all__ = ["GatedProblem", "bound_settled"]


@dataclass(eq=False)
class GatedProblem:
    """What one fit is given: a view of the rows, priors, and how many clusters of each class it starts from."""

    view: View
    priors: Priors
    blocks: list[Block]
    n_rows: int
    n_classes: int
    k: int
    within: bool = True  # whether clusters are of single classes
    cluster: np.ndarray | None = None  # of every row, where a fit does not look for its own

    @classmethod
    def make(
        cls, view: View, rows: Rows, label: np.ndarray, weight: np.ndarray, n_classes: int, priors: Priors, k: int
    ) -> GatedProblem:
        blocks = make_blocks(view, rows, label, weight, priors.n_sticks, priors.experts is not None)
        return cls(view, priors, blocks, len(label), n_classes, k)

    def init(self, rng: np.random.Generator) -> GatedState:
        state = first_state(
            self.view, self.blocks, self.priors, self.n_classes, self.k, self.n_rows, rng, self.within, self.cluster
        )
        now = expectations(state, self.view)
        guesses = [table for b in self.blocks if b.sort == GUESSED for table in first_guesses(self.view, b, now.tables)]
        return replace(state, guesses=guesses)

    def step(self, rng: np.random.Generator, state: GatedState) -> tuple[GatedState, Mapping[str, float]]:
        now = expectations(state, self.view)
        sums, state = self.sum_up(state, now)
        bound = sums.log_evidence - divergence(state, self.view, self.priors)
        state = updated(state, sums, self.view, self.priors)
        return state, {"bound": bound, "n_components": float(state.n_components)}

    def sum_up(self, state: GatedState, now: Expectations) -> tuple[GatedSums, GatedState]:
        """Sums over all rows, and the state with what is now known of each row."""
        sums = GatedSums.nothing(self.view, now.n_components, now.n_latents)
        rho = np.empty((self.n_rows, now.n_components))
        latent = None if state.latent is None else np.empty_like(state.latent)
        tables, place = [table.copy() for table in state.guesses], 0
        for block in self.blocks:
            guesses = None
            if block.sort == GUESSED:
                guesses = Guesses(self.view, block, tables[place : place + len(block.holes)])
                place += len(block.holes)
            before = None if state.latent is None else state.latent[block.index]
            part, rho[block.index], after = expect(block, now, before, guesses)
            if latent is not None:
                latent[block.index] = before if after is None else after
            sums.add(part)
        return sums, replace(state, rho=rho, latent=latent, guesses=tables)


def bound_settled(tol: float, least: int = 3):
    """A stopping rule for the loop: the bound has risen by less than `tol` of its size."""

    def stop(trace: Mapping[str, Sequence[float]]) -> bool:
        bound = trace["bound"]
        return len(bound) >= least and abs(bound[-1] - bound[-2]) < tol * abs(bound[-1])

    return stop


def gate_prior(
    x: np.ndarray, label: np.ndarray, weight: np.ndarray, rows_worth: float, mean_rows: float, ridge: float = 0.01
) -> NormalInverseWishart:
    """Prior of the gates over Gaussian cells x (NaN = missing): E[covariance] is the covariance within classes.

    Shrunk as by Ledoit and Wolf, plus `ridge`, and worth `rows_worth` rows: nu_0 = P + 2 + rows_worth, scale = (nu_0 -
    P - 1) times that covariance. Missing cells stand at the mean of their class. m_0 is the mean of the columns.
    """
    from sklearn.covariance import ledoit_wolf

    n, p = x.shape
    hidden = np.isnan(x)
    seen = np.where(hidden, 0.0, weight[:, None])
    filled = np.where(hidden, 0.0, x)
    total = seen.sum(axis=0)
    centre = np.divide((filled * seen).sum(axis=0), total, out=np.zeros(p), where=total > 0)
    residual = np.where(hidden, 0.0, filled - centre)
    for c in np.unique(label[label >= 0]):
        mine = label == c
        share = seen[mine].sum(axis=0)
        mean = np.divide((filled[mine] * seen[mine]).sum(axis=0), share, out=centre.copy(), where=share > 0)
        residual[mine] = np.where(hidden[mine], 0.0, filled[mine] - mean)
    covariance = np.eye(p)
    if n > 1 and p:
        scaled = residual * np.sqrt(weight / weight.mean())[:, None]
        covariance = ledoit_wolf(scaled, assume_centered=True)[0]
    covariance = covariance + ridge * np.eye(p)
    nu = p + 2.0 + rows_worth
    return NormalInverseWishart(centre, np.array(mean_rows), np.array(nu), (nu - p - 1.0) * covariance)
