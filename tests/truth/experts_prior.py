"""The joint prior over all that a Gibbs chain of gated experts holds and the table it explains.

Draws come from NumPy and the families; no function of the sampler is asked for one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from partita.families.normal_inverse_wishart import NormalInverseWishart
from partita.kernels.contract import Rows
from partita.models.gated.cells import CellColumn
from partita.models.gated.count_buckets import middles
from partita.models.gated.gibbs import GibbsProblem, Moves
from partita.models.gated.gibbs_state import GibbsState, Parameters
from partita.models.gated.rows import View
from partita.models.gated.state import Priors

BINARY = CellColumn(False, 0, np.array([0.8, 1.3]), np.array([[-0.9], [1.1]]))
LEVELS = CellColumn(False, 1, np.array([0.5, 0.7, 0.9]), np.array([[0.7, -0.3], [-0.3, 0.6], [-0.3, -0.4]]))
MOST = 60  # no count of these laws comes near it: missing ones lose nothing by the end of the table
COUNT = CellColumn(
    True, 2, np.array([3.0, 2.0]), ((np.log1p(np.arange(MOST)) - 0.8) / 0.7)[:, None], centre=0.8, spread=0.7
)
STARTS = np.array([0, 1, 2, 4, 7, 12, 20, 35, MOST - 1])  # of wide buckets
IN_BUCKETS = CellColumn(
    True, 2, np.array([3.0, 2.0]), ((middles(STARTS) - 0.8) / 0.7)[:, None], centre=0.8, spread=0.7, starts=STARTS
)


@dataclass(frozen=True)
class World:
    """A small model, and which of its cells and labels are missing.

    Six rows of two Gaussian columns; `beside` adds a column of two levels, one of three and one of counts, of which an
    expert sees `buckets` if asked to.
    """

    experts: str | None = "own"
    n_classes: int = 2
    beside: bool = True
    buckets: bool = False
    n: int = 6
    n_sticks: int = 3
    least_precision: float = 0.01
    unlabelled: tuple[int, ...] = (4,)
    moves: Moves = field(default_factory=lambda: Moves(reseat=3, jumps=1, steps=8, split_merge=2))

    @property
    def priors(self) -> Priors:
        gate = NormalInverseWishart(
            np.array([0.2, -0.3]), np.array(0.6), np.array(5.0), np.array([[2.0, 0.5], [0.5, 1.5]])
        )
        return Priors(gate, self.experts, self.n_sticks, 2.0, 1.5, a_0=3.0, b_0=2.5, gamma_0=0.8,
                      least_precision=self.least_precision)  # fmt: skip

    @property
    def view(self) -> View:
        cells = (BINARY, LEVELS, IN_BUCKETS if self.buckets else COUNT) if self.beside else ()
        return View(None, np.arange(2), (), cells, ())  # type: ignore[arg-type]

    @property
    def n_latents(self) -> int:
        return 0 if self.experts is None else 1 if self.n_classes == 2 else self.n_classes

    def holes(self) -> tuple[np.ndarray, np.ndarray]:
        """Missing cells of the Gaussian columns (n, 2) and of the others (D, n); the first row is complete."""
        rng = np.random.default_rng(5)
        hidden, gone = rng.random((self.n, 2)) < 0.4, rng.random((len(self.view.cells), self.n)) < 0.3
        hidden[0], gone[:, 0] = False, False
        return hidden, gone


def draw_parameters(rng: np.random.Generator, world: World) -> Parameters:
    priors, view, n, k = world.priors, world.view, world.n_sticks, world.n_latents
    f = view.n_features
    alpha = world.moves.alpha or rng.gamma(priors.alpha_shape) / priors.alpha_rate
    log_rest = np.log(1.0 - rng.random(n - 1)) / alpha  # log(1 - V), V ~ Beta(1, alpha)
    log_weight = np.append(np.log(-np.expm1(log_rest)), 0.0) + np.append(0.0, np.cumsum(log_rest))
    gates = [priors.gate.sample_parameters(rng) for _ in range(n)]
    cells: list[Any] = []
    for column in view.cells:
        if column.count:
            cells.append(np.log(rng.gamma(column.prior[0], 1.0 / column.prior[1], (n, 1))))
        else:
            cells.append(np.log(rng.dirichlet(column.prior, n)))
    centre, spread = np.zeros((k, f)), np.ones(f)
    if world.experts == "pooled":
        spread = rng.gamma(priors.a_0, 1.0 / priors.b_0, f)
        while (low := spread < priors.least_precision).any():
            spread[low] = rng.gamma(priors.a_0, 1.0 / priors.b_0, int(low.sum()))
        centre = rng.standard_normal((k, f)) / np.sqrt(priors.gamma_0 * spread)
    w = centre + rng.standard_normal((n, k, f)) / np.sqrt(spread)
    owner = rng.integers(world.n_classes, size=n) if world.experts is None else np.full(n, -1)
    return Parameters(
        float(alpha), log_weight, np.array([m for m, _ in gates]), np.linalg.inv([c for _, c in gates]),
        cells, w, centre, spread, owner,
    )  # fmt: skip


def draw_sticks(rng: np.random.Generator, world: World, now: Parameters) -> np.ndarray:
    return rng.choice(world.n_sticks, world.n, p=np.exp(now.log_weight)).astype(np.int32)


def draw_table(
    rng: np.random.Generator, world: World, now: Parameters, z: np.ndarray
) -> tuple[GibbsProblem, GibbsState]:
    """Cells, latents and labels given parameters and sticks; then what is missing is hidden from the problem."""
    view, n = world.view, world.n
    root = np.linalg.cholesky(np.linalg.inv(now.precision[z]))
    x = now.mean[z] + np.einsum("npq,nq->np", root, rng.standard_normal((n, 2)))
    levels = np.zeros((len(view.cells), n), np.int64)
    for j, column in enumerate(view.cells):
        for i, h in enumerate(z):
            law = np.exp(now.cells[j][h])
            levels[j, i] = rng.poisson(law[0]) if column.count else rng.choice(len(law), p=law / law.sum())
    features = np.concatenate([x, *(c.look(v) for c, v in zip(view.cells, levels)), np.ones((n, 1))], axis=1)
    t = np.einsum("nf,nkf->nk", features, now.w[z]) + rng.standard_normal((n, world.n_latents))
    label = now.owner[z] if world.experts is None else (t[:, 0] > 0) * 1 if t.shape[1] == 1 else t.argmax(axis=1)
    label = label.astype(np.int64)
    label[list(world.unlabelled)] = -1
    hidden, gone = world.holes()
    codes = np.where(gone, -1, levels)[:2].T if world.beside else np.zeros((n, 0))
    reals = np.where(hidden, np.nan, x)
    if world.beside:
        reals = np.concatenate([reals, np.where(gone[2], np.nan, levels[2])[:, None]], axis=1)
    rows = Rows(np.ascontiguousarray(codes, np.int32), np.ascontiguousarray(reals))
    problem = GibbsProblem.make(view, rows, label, np.ones(n), world.n_classes, world.priors, 1, world.moves)
    looked_at = problem.given.looked_at
    state = GibbsState(now, z, x, np.where(gone & ~looked_at, -1, levels), t * looked_at[:, None])
    return problem, state


def draw_joint(rng: np.random.Generator, world: World) -> tuple[GibbsProblem, GibbsState]:
    now = draw_parameters(rng, world)
    return draw_table(rng, world, now, draw_sticks(rng, world, now))


def statistics(problem: GibbsProblem, state: GibbsState) -> dict[str, float]:
    """Numbers that a wrong move of any kind would disturb, on bounded scales so that their means have a variance."""
    now, z, label = state.parameters, state.z, problem.given.label
    x, t = np.tanh(0.5 * state.x), np.tanh(0.5 * state.latent)
    counts, mates = state.counts, z == z[0]
    w = np.tanh(0.3 * now.w)
    occupied = float((counts > 0).sum())
    log_det = np.tanh(0.2 * np.linalg.slogdet(now.precision)[1])
    pull = np.tanh(0.3 * (now.mean[z] * state.x).sum(axis=1))
    out = {
        "occupied": occupied,
        "occupied squared": occupied**2,
        "mates": float(mates.sum()),
        "alpha": np.tanh(0.3 * np.log(now.alpha)),
        "alpha and occupied": np.tanh(0.3 * np.log(now.alpha)) * occupied,
        "labels": float(label.sum()),
        "labels of mates": float(label @ mates),
        "log determinant in use": float(log_det[z].mean()),
        "pull": float(pull.mean()),
        "mates and x": float((x[:, 0] * x[0, 0] * mates).sum()),
        "x x": float((x[:, 0] * x[:, 1]).mean()),
        "x label": float(x[:, 0] @ label),
        "x label of mates": float((x[:, 0] * label) @ mates),
        "owner": float(now.owner.sum()),
    }
    for h in range(len(counts)):
        out |= {
            f"count {h}": float(counts[h]), f"weight {h}": float(np.exp(now.log_weight[h])),
            f"weight and count {h}": float(counts[h] * np.exp(now.log_weight[h])),
            f"mean {h}": float(np.tanh(0.3 * now.mean[h, 0])), f"log determinant {h}": float(log_det[h]),
            f"owner and count {h}": float(now.owner[h] * counts[h]),
        }  # fmt: skip
    for j, table in enumerate(now.cells):
        out |= {
            f"table {j}": float(np.tanh(0.3 * table[0, -1])),
            f"cell {j}": float(np.tanh(0.3 * state.levels[j]).sum()),
            f"cell and table {j}": float((np.tanh(0.3 * table[z, -1]) * np.tanh(0.3 * state.levels[j])).sum()),
            f"cell and label {j}": float(np.tanh(0.3 * state.levels[j]) @ label),
        }
    for k in range(now.n_latents):
        out |= {
            f"t {k}": float(t[:, k].mean()), f"t t {k}": float((t[:, k] ** 2).mean()),
            f"t x {k}": float((t[:, k] * x[:, 1]).mean()),
            f"t w x {k}": float((t[:, k] * w[z, k, 0] * x[:, 0]).sum()),
            f"t w {k}": float((t[:, k] * w[z, k, -1]).sum()),
            f"zeta {k}": float(np.tanh(now.centre[k, 0])),
            f"zeta w {k}": float(np.tanh(now.centre[k, -1]) * w[0, k, -1]),
        }  # fmt: skip
        out |= {f"w {k} {f}": float(w[0, k, f] ** 2 + w[0, k, f]) for f in range(w.shape[2])}
        out |= {f"t cells {k} {j}": float(t[:, k] @ np.tanh(0.3 * v)) for j, v in enumerate(state.levels)}
    if now.n_latents:
        out |= {f"lambda {f}": float(np.log(s)) for f, s in enumerate(now.spread)}
    return out
