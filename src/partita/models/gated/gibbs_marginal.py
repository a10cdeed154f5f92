"""Rows of one component with its gate, its expert and its laws of cells integrated out.

Given completed rows and latents all of it is conjugate. Sums of weighted rows are statistics; from them come the log
marginal likelihood of a component, and the predictive of a further row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from .gibbs_state import GibbsState, Given, features_of
from .rows import View
from .update import posterior_gates

LOG_2PI = np.log(2 * np.pi)


@dataclass(eq=False)
class Members:
    """Rows of one or two components as they stand in a state.

    index      (m,) their places
    x          (m, P); levels (D, m); label (m,)
    features   (m, F) what experts see, zeros in rows that none looks at; latent (m, K); looked_at (m,)
    centre, spread   the experts' common law
    """

    given: Given
    index: np.ndarray
    x: np.ndarray
    levels: np.ndarray
    label: np.ndarray
    features: np.ndarray
    latent: np.ndarray
    looked_at: np.ndarray
    centre: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, given: Given, state: GibbsState, index: np.ndarray) -> Members:
        x, levels, seen = state.x[index], state.levels[:, index], given.looked_at[index]
        features = np.zeros((len(index), 0))
        if given.n_latents:
            features = np.concatenate([x, features_of(given.view, levels)], axis=1) * seen[:, None]
        now, label = state.parameters, given.label[index]
        latent = state.latent[index] * seen[:, None]
        return cls(given, index, x, levels, label, features, latent, seen, now.centre, now.spread)

    def sums(self, weight: np.ndarray) -> Sums:
        """Of G components at once, rows weighted by (m, G)."""
        m, p, g = len(self.index), self.given.view.width, weight.shape[1]
        first = weight.T @ self.x
        second = np.empty((g, p, p))
        f = self.features.shape[1]
        products = np.empty((g, f, f))
        for side in range(g):
            second[side] = (self.x * weight[:, side, None]).T @ self.x
            products[side] = (self.features * weight[:, side, None]).T @ self.features
        targets = np.einsum("mg,mk,mf->gkf", weight, self.latent, self.features, optimize=m > 20)
        cells = [column.statistics(weight, self.levels[j]) for j, column in enumerate(self.given.view.cells)]
        return Sums(weight.sum(axis=0), first, second, cells, products, targets)

    def log_marginal(self, weight: np.ndarray) -> np.ndarray:
        """(G,) log marginal likelihoods of components that hold the rows of weight 1; terms that every allotment of the
        rows has are left out."""
        sums = self.sums(weight)
        out = self._of_experts(sums) + self._of_classes(weight)
        if self.given.view.width:
            g = len(sums.count)
            statistics = np.concatenate([sums.count[:, None], sums.first, sums.second.reshape(g, -1)], axis=1)
            out += self.given.priors.gate.log_marginal(statistics)
        return out + log_marginal_of_cells(self.given.view, sums.cells)

    def _of_experts(self, sums: Sums) -> np.ndarray:
        """The latents of a component, its expert integrated out, less their own squares and constants."""
        if not self.given.n_latents:
            return np.zeros(len(sums.count))
        root, mean = sums.experts(self.centre, self.spread)
        pull = sums.targets + self.spread * self.centre
        log_det = 2.0 * np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
        fit = (pull * mean).sum(axis=(1, 2)) - (self.spread * self.centre**2).sum()
        return 0.5 * (fit + self.given.n_latents * (np.log(self.spread).sum() - log_det))

    def _of_classes(self, weight: np.ndarray) -> np.ndarray:
        """The labels of class-pure components, their classes integrated out."""
        out = np.zeros(weight.shape[1])
        if self.given.n_latents:
            return out
        for side in range(len(out)):
            out[side] = log_marginal_of_labels(self.label[weight[:, side] > 0], self.given.n_classes)
        return out

    def log_predictive(self, sums: Sums) -> np.ndarray:
        """(m, G): every row in every component, given the sums of that component's rows."""
        out = np.zeros((len(self.index), len(sums.count)))
        for j, column in enumerate(self.given.view.cells):
            out += column.log_predictive(column.prior + sums.cells[j], self.levels[j])
        if self.given.view.width:
            out += self._of_gates(sums)
        if self.given.n_latents:
            root, mean = sums.experts(self.centre, self.spread)
            for side in range(len(sums.count)):
                white = np.linalg.solve(root[side], self.features.T)
                variance = 1.0 + (white**2).sum(axis=0)
                gap = ((self.latent - self.features @ mean[side].T) ** 2).sum(axis=1)
                out[:, side] -= 0.5 * (gap / variance + self.given.n_latents * np.log(variance)) * self.looked_at
        return out

    def _of_gates(self, sums: Sums) -> np.ndarray:
        gates = posterior_gates(self.given.priors.gate, sums.count, sums.first, sums.second)
        p, out = self.given.view.width, np.empty((len(self.index), len(sums.count)))
        roots = np.linalg.cholesky(gates.scale)
        for side, root in enumerate(roots):
            kappa, v = gates.kappa[side], gates.nu[side] - p + 1.0
            white = np.linalg.solve(root, (self.x - gates.mean[side]).T)
            distance = (white**2).sum(axis=0) * kappa / (kappa + 1.0)
            constant = gammaln(0.5 * (v + p)) - gammaln(0.5 * v) - np.log(np.diagonal(root)).sum()
            constant += 0.5 * p * np.log(kappa / (kappa + 1.0))
            out[:, side] = constant - 0.5 * (v + p) * np.log1p(distance)
        return out


def log_marginal_of_cells(view: View, sums: list[np.ndarray]) -> np.ndarray | float:
    """(G,) of the cells beside the Gaussian block that components hold, from their sums (G, L) or (G, 2)."""
    out: np.ndarray | float = 0.0
    for column, counts in zip(view.cells, sums, strict=True):
        after, prior = column.prior + counts, column.prior
        if column.count:
            out = out + gammaln(after[:, 0]) - after[:, 0] * np.log(after[:, 1])
            out -= gammaln(prior[0]) - prior[0] * np.log(prior[1])
        else:
            out = out + gammaln(after).sum(axis=1) - gammaln(after.sum(axis=1))
            out -= gammaln(prior).sum() - gammaln(prior.sum())
    return out


def log_marginal_of_labels(label: np.ndarray, n_classes: int) -> float:
    """Of the labels (-1: none) that a class-pure component holds, its class integrated out."""
    held = np.unique(label[label >= 0])
    return float((0.0, -np.log(n_classes), -np.inf)[min(len(held), 2)])


@dataclass(eq=False)
class Sums:
    """Weighted sums of rows for G components; names as in `GatedSums`."""

    count: np.ndarray
    first: np.ndarray
    second: np.ndarray
    cells: list[np.ndarray]
    products: np.ndarray
    targets: np.ndarray

    def experts(self, centre: np.ndarray, spread: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Lower triangle (G, F, F) of the experts' posterior precision, and their means (G, K, F)."""
        system = self.products + np.diag(spread)
        root = np.linalg.cholesky(system)
        mean = np.linalg.solve(system, np.swapaxes(self.targets + spread * centre, 1, 2))
        return root, np.swapaxes(mean, 1, 2)
