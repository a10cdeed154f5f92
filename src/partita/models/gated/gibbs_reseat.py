"""Single rows seated anew with gates, experts and sticks integrated out.

A component of few rows draws its gate around them, and while that gate is known no other row comes and none goes; with
the gate integrated out they do. A row is taken out, every stick says how well it predicts the row (Student's t, the
expert's probit or normal, cells beside), and it is put back by these weights. Of two classes the row's latent is
integrated out as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, log_ndtr

from .gibbs_draws import sums_of_sticks
from .gibbs_marginal import Members
from .gibbs_state import GibbsState, Given
from .gibbs_variates import above, choose
from .sums import GatedSums
from .update import posterior_gates


@dataclass(eq=False)
class _Seats:
    """Posteriors of all sticks, moved row by row.

    count      (N,); held (N, C) rows of each class, where gates are class-pure
    kappa, nu  (N,), mean (N, P), scale and its inverse K (N, P, P), log_det of scale (N,)
    A, V, b    experts: precision, its inverse (N, F, F), linear term (N, K, F)
    """

    given: Given
    count: np.ndarray
    held: np.ndarray
    cells: list[np.ndarray]
    kappa: np.ndarray
    nu: np.ndarray
    mean: np.ndarray
    scale: np.ndarray
    K: np.ndarray
    log_det: np.ndarray
    A: np.ndarray
    V: np.ndarray
    b: np.ndarray

    @classmethod
    def of(cls, given: Given, state: GibbsState, sums: GatedSums) -> _Seats:
        gate, n, now = given.priors.gate, len(sums.count), state.parameters
        p = given.view.width
        kappa, nu, mean, scale = np.ones(n), np.ones(n), np.zeros((n, 0)), np.zeros((n, 0, 0))
        if p:
            gates = posterior_gates(gate, sums.count, sums.first, sums.second)
            kappa, nu, mean, scale = (np.array(part) for part in (gates.kappa, gates.nu, gates.mean, gates.scale))
        A = sums.products + np.diag(now.spread) if given.n_latents else sums.products
        b = sums.targets + now.spread * now.centre
        held = np.zeros((n, given.n_classes))
        known = given.label >= 0
        np.add.at(held, (state.z[known], given.label[known]), 1.0)
        cells = [column.prior + counts for column, counts in zip(given.view.cells, sums.cells, strict=True)]
        inverse, log_det = np.linalg.inv(scale), np.linalg.slogdet(scale)[1]
        return cls(
            given, sums.count.copy(), held, cells, kappa, nu, mean, scale, inverse, log_det, A, np.linalg.inv(A), b
        )

    def take(self, h: int, row: _Row) -> None:
        """Take a row out of stick h; inverses anew, since a difference may leave few digits of them."""
        self._cells(h, row, -1.0)
        if len(row.x):
            kappa, gap = self.kappa[h], row.x - self.mean[h]
            self.mean[h] = (kappa * self.mean[h] - row.x) / (kappa - 1.0)
            self.scale[h] -= kappa / (kappa - 1.0) * np.outer(gap, gap)
            self.K[h], self.log_det[h] = np.linalg.inv(self.scale[h]), np.linalg.slogdet(self.scale[h])[1]
            self.kappa[h] -= 1.0
            self.nu[h] -= 1.0
        if row.looked_at:
            self.A[h] -= np.outer(row.features, row.features)
            self.V[h] = np.linalg.inv(self.A[h])
            self.b[h] -= np.outer(row.latent, row.features)

    def put(self, h: int, row: _Row) -> None:
        self._cells(h, row, 1.0)
        if len(row.x):
            kappa, gap = self.kappa[h], row.x - self.mean[h]
            factor = kappa / (kappa + 1.0)
            self.scale[h] += factor * np.outer(gap, gap)
            self.log_det[h] += _add(self.K[h], gap, factor)
            self.mean[h] = (kappa * self.mean[h] + row.x) / (kappa + 1.0)
            self.kappa[h] += 1.0
            self.nu[h] += 1.0
        if row.looked_at:
            self.A[h] += np.outer(row.features, row.features)
            _add(self.V[h], row.features, 1.0)
            self.b[h] += np.outer(row.latent, row.features)

    def _cells(self, h: int, row: _Row, sign: float) -> None:
        self.count[h] += sign
        if row.label >= 0:
            self.held[h, row.label] += sign
        for column, counts, cell in zip(self.given.view.cells, self.cells, row.levels, strict=True):
            if cell >= 0 and column.count:
                counts[h] += sign * cell, sign
            elif cell >= 0:
                counts[h, cell] += sign

    def log_weights(self, row: _Row, alpha: float) -> np.ndarray:
        """(N,) of every stick, but for what experts say."""
        out = _log_expected(self.count, alpha)
        if len(row.x):
            p, gap = len(row.x), row.x - self.mean
            v = self.nu - p + 1.0
            factor = self.kappa / (self.kappa + 1.0)
            distance = (np.matmul(self.K, gap[:, :, None])[:, :, 0] * gap).sum(axis=1)
            out += gammaln(0.5 * (v + p)) - gammaln(0.5 * v) + 0.5 * (p * np.log(factor) - self.log_det)
            out -= 0.5 * (v + p) * np.log1p(factor * distance)
        for column, counts, cell in zip(self.given.view.cells, self.cells, row.levels, strict=True):
            if cell >= 0 and column.count:
                out += column.log_predictive(counts, np.array([cell]))[0]
            elif cell >= 0:
                out += np.log(counts[:, cell] / counts.sum(axis=1))
        if not self.given.n_latents and row.label >= 0:
            mine, all_of_them = self.held[:, row.label], self.held.sum(axis=1)
            out[all_of_them > mine] = -np.inf
            out[all_of_them == 0] -= np.log(self.given.n_classes)
        return out

    def latent_law(self, row: _Row) -> tuple[np.ndarray, np.ndarray]:
        """Mean (N, K) and variance (N,) of the row's latents in every stick."""
        side = self.V @ row.features  # (N, F)
        return np.einsum("hkf,hf->hk", self.b, side), 1.0 + side @ row.features


@dataclass(eq=False)
class _Row:
    x: np.ndarray
    levels: list[int]
    features: np.ndarray
    latent: np.ndarray
    label: int
    looked_at: bool


def _add(inverse: np.ndarray, vector: np.ndarray, factor: float) -> float:
    """The inverse of a matrix to which factor * vector vector' was added, in place; by how much log|matrix| rose."""
    side = inverse @ vector
    rise = 1.0 + factor * (side @ vector)
    inverse -= np.outer(side, side * (factor / rise))
    return float(np.log(rise))


def _log_expected(count: np.ndarray, alpha: float) -> np.ndarray:
    """log p(z_i = h | the others) under truncated sticks."""
    total = count[::-1].cumsum()[::-1]
    stick = (1.0 + count) / (1.0 + alpha + total)
    rest = (alpha + (total - count)) / (1.0 + alpha + total)  # in this order: alpha may be tiny
    stick[-1] = 1.0
    return np.log(stick) + np.concatenate([[0.0], np.cumsum(np.log(rest[:-1]))])


def reseat(rng: np.random.Generator, given: Given, state: GibbsState, attempts: int) -> GibbsState:
    """Up to `attempts` rows, chosen without a look at z, in turn."""
    chosen = rng.permutation(given.n_rows)[:attempts]
    if not len(chosen):
        return state
    seats = _Seats.of(given, state, sums_of_sticks(given, state))
    members = Members.of(given, state, chosen)
    z, latent, alpha = state.z.copy(), state.latent.copy(), state.parameters.alpha
    for place, i in enumerate(chosen.tolist()):
        row = _Row(
            members.x[place], members.levels[:, place].tolist(), members.features[place], members.latent[place],
            int(given.label[i]), bool(members.looked_at[place]),
        )  # fmt: skip
        seats.take(int(z[i]), row)
        log_weight = seats.log_weights(row, alpha)
        if row.looked_at:
            mean, variance = seats.latent_law(row)
            sign = 1.0 if row.label == 1 else -1.0
            if given.n_latents == 1:
                log_weight += log_ndtr(sign * mean[:, 0] / np.sqrt(variance))
            else:
                gap = ((row.latent - mean) ** 2).sum(axis=1)
                log_weight -= 0.5 * (gap / variance + given.n_latents * np.log(variance))
        h = z[i] = choose(rng, log_weight[None])[0][0]
        if row.looked_at and given.n_latents == 1:
            sd = float(np.sqrt(variance[h]))
            row.latent = sign * sd * above(rng, sign * mean[h] / sd, np.zeros(1))
            latent[i] = row.latent
        seats.put(int(h), row)
    return replace(state, z=z, latent=latent)
