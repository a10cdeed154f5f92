"""The joint prior over all that a chain of the Bayesian SVD holds and the cells it explains.

Draws come from NumPy; no function of the sampler is asked for one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from partita.models.matrices.entries import Entries
from partita.models.matrices.features import Features
from partita.models.matrices.problem import NOISE_DFS, Hyper, Problem
from partita.models.matrices.state import Regression, State

LIMIT = 4.2  # standard errors; there are a few thousand comparisons in a long run
BATCHES = 40
Move = Callable[[np.random.Generator, Problem, State], State]

# laws with a few moments, so that averages settle
HYPER = Hyper(
    theta_shape=4.0, theta_rate=2.0, noise_shape=4.0, noise_rate=3.0, offset_shape=4.0, offset_rate=2.0,
    mean_width=1.0, cut_width=1.2, stretch_shape=5.0, stretch_rate=1.5, ridge_shape=4.0, ridge_rate=3.0,
    a=1.5, b=1.0, c=4.0, d=3.0, e=4.0, f=100.0,
    effect_shape=4.0, effect_rate=3.0,
)  # fmt: skip


@dataclass(frozen=True)
class World:
    """A small model: I x J cells with holes, K components.

    holes: "many" (one row and one column empty too), or "last", the last cell alone.
    """

    link: str = "gaussian"
    prior: str = "ard"
    sampler: str = "blocked"
    offsets: bool = True
    unequal_noise: bool = False
    row_cuts: bool = False
    features: bool = False
    shape: tuple[int, int] = (5, 4)
    n_components: int = 2
    n_levels: int = 4
    holes: str = "many"
    hyper: Hyper = field(default_factory=lambda: HYPER)

    def cells(self) -> tuple[np.ndarray, np.ndarray]:
        seen = np.ones(self.shape, bool)
        seen[-1, -1] = False
        if self.holes == "many":
            seen = np.random.default_rng(8).random(self.shape) < 0.8
            seen[1], seen[:, 2] = False, False
        return np.nonzero(seen)

    def features_of(self, side: int) -> Features:
        n = self.shape[side]
        if not self.features:
            return Features(n)
        return Features.of(n, self.matrices_of(side), [None, 1])

    def matrices_of(self, side: int) -> list[np.ndarray]:
        """A block of a constant and two numbers, and one of which the leading singular vector is kept."""
        n, rng = self.shape[side], np.random.default_rng(20 + side)
        return [np.column_stack([np.ones(n), rng.normal(size=(n, 2))]), rng.normal(size=(n, 2))]

    def problem(self, values: np.ndarray, trials: np.ndarray | None) -> Problem:
        entries = Entries.of(*self.cells(), values, *self.shape, trials)
        return Problem(
            entries, self.link, self.n_levels if self.link == "ordinal" else 0, self.prior, self.offsets,
            self.unequal_noise, self.row_cuts, max(self.n_components, 1), self.features_of(0), self.features_of(1),
            self.hyper,
        )  # fmt: skip


def draw_regression(
    rng: np.random.Generator, world: World, side: int, theta: np.ndarray, tau: float
) -> tuple[Regression, np.ndarray]:
    """Coefficients of a side's features, their precisions, and the prior means (n, K + 1) they make."""
    features, hyper, k = world.features_of(side), world.hyper, world.n_components
    regression = Regression()
    for block in features.blocks:
        ridge = rng.gamma(hyper.ridge_shape, size=2) / (hyper.ridge_rate / np.mean(block.size**2))
        spread = np.sqrt(np.append(theta / ridge[0], 1.0 / (tau * ridge[1])))
        spread[k] *= world.offsets
        regression.coefficients.append(rng.standard_normal((len(block), k + 1)) * spread)
        regression.ridge.append(ridge)
    mean = np.zeros((world.shape[side], k + 1)) + (features.mean(regression.coefficients) if features.blocks else 0.0)
    return regression, mean


def draw_theta(rng: np.random.Generator, world: World, shape: int | tuple[int, ...]) -> np.ndarray:
    """Inverse Gamma; with latents below the bound: what lies above it is drawn again."""
    theta = np.asarray(world.hyper.theta_rate / rng.gamma(world.hyper.theta_shape, size=shape))
    while world.link != "gaussian" and (over := theta > world.hyper.theta_most).any():
        theta[over] = world.hyper.theta_rate / rng.gamma(world.hyper.theta_shape, size=over.sum())
    return theta


def draw_state(rng: np.random.Generator, world: World) -> State:
    hyper, k, n = world.hyper, world.n_components, world.shape
    paper, latent = world.prior == "paper", world.link != "gaussian"
    theta = draw_theta(rng, world, k)
    tau = rng.gamma(hyper.offset_shape, size=2) / hyper.offset_rate
    alpha = rng.gamma(hyper.c) / hyper.d if paper else rng.gamma(hyper.noise_shape) / hyper.noise_rate
    sides = []
    for side in (0, 1):
        spread = np.full(k, 1.0 / n[side]) if paper else theta
        if world.sampler == "coordinate":  # features are extra columns there, see `draw_paper`
            sides.append((Regression(), np.zeros((n[side], k + 1)), spread))
        else:
            sides.append((*draw_regression(rng, world, side, spread, tau[side]), spread))
    factors = [mean[:, :k] + np.sqrt(v) * rng.standard_normal((len(mean), k)) for _, mean, v in sides]
    offsets = [
        world.offsets * (mean[:, k] + rng.standard_normal(len(mean)) / np.sqrt(t))
        for (_, mean, _), t in zip(sides, tau)
    ]
    df = rng.choice(NOISE_DFS, 2)
    noise = [rng.gamma(nu, 1.0 / nu, m) if world.unequal_noise else np.ones(m) for nu, m in zip(df, n)]
    state = State(
        factors[0], factors[1], theta if not paper else np.ones(k), offsets[0], offsets[1], noise[0], noise[1],
        sides[0][1], sides[1][1], alpha=1.0 if latent else float(alpha), tau_row=float(tau[0]),
        tau_column=float(tau[1]), row_df=float(df[0]), column_df=float(df[1]),
        row_regression=sides[0][0], column_regression=sides[1][0],
    )  # fmt: skip
    if world.offsets and world.link != "ordinal":
        state.mean = float(hyper.mean_width * rng.standard_normal())
    if world.link == "ordinal":
        state.cuts = np.sort(hyper.cut_width * rng.standard_normal(world.n_levels - 1))
        state.cut_step = np.full(world.n_levels - 1, 0.6)
        gaps = world.n_levels - 2 if world.row_cuts else 0
        state.stretch_spread = np.sqrt(hyper.stretch_rate / rng.gamma(hyper.stretch_shape, size=gaps))
        state.row_stretch = state.stretch_spread * rng.standard_normal((n[0], gaps))
    if paper:
        draw_paper(rng, world, state)
    return state


def draw_paper(rng: np.random.Generator, world: World, state: State) -> None:
    """s, z and what is above them; with features, the effects of (5.14)."""
    hyper, k = world.hyper, world.n_components
    state.alpha_s = float(rng.gamma(hyper.e) / hyper.f)
    state.s = np.abs(rng.standard_normal(k)) / np.sqrt(state.alpha_s)
    pi = rng.beta(hyper.a / k, hyper.b * (k - 1) / k, k) if k > 1 else np.ones(1)
    state.z = (rng.random(k) < pi).astype(float)
    if world.sampler == "coordinate":
        for side, name in ((0, "row"), (1, "column")):
            count = effect_columns(world, 1 - side).shape[1]
            precision = rng.gamma(hyper.effect_shape, size=count) / hyper.effect_rate
            setattr(state, f"{name}_effects", rng.standard_normal((world.shape[side], count)) / np.sqrt(precision))
            setattr(state, f"{name}_effect_precision", precision)


def effect_columns(world: World, side: int) -> np.ndarray:
    """(n, F) features with effects: those given but constants, and singular vectors of mean square 1."""
    if not world.features:
        return np.zeros((world.shape[side], 0))
    given, cut = world.matrices_of(side)
    leading = world.features_of(side).blocks[1].left
    assert abs(np.linalg.svd(cut)[0][:, :1].T @ leading) > 1 - 1e-9
    return np.column_stack([given[:, 1:], np.sqrt(len(cut)) * leading])


def full_fit(world: World, state: State) -> np.ndarray:
    """(I, J) mean + offsets + factors + effects."""
    fit = state.mean + state.row_offset[:, None] + state.column_offset + (state.U * state.gain) @ state.V.T
    if state.row_effects is not None and state.column_effects is not None:
        known = [effect_columns(world, side) for side in (0, 1)]
        fit = fit + known[0] @ state.column_effects.T + state.row_effects @ known[1].T
    return fit


def draw_cells(rng: np.random.Generator, world: World, state: State) -> tuple[Problem, State]:
    """Cells given the state, which gets its latents."""
    row, column = world.cells()
    fit = full_fit(world, state)[row, column]
    precision = state.alpha * state.row_noise[row] * state.column_noise[column]
    x = fit + rng.standard_normal(len(fit)) / np.sqrt(precision)
    state = replace(state)
    if world.link == "ordinal":
        state.latent = x
        cuts = np.array([stretched(state.cuts, state.row_stretch[i]) for i in row])
        return world.problem((x[:, None] > cuts).sum(axis=1).astype(float), None), state
    if world.link == "binomial":
        trials = np.arange(len(fit)) % 4.0
        hits = [(f + rng.standard_normal(int(t)) > 0).sum() for f, t in zip(fit, trials)]
        return world.problem(np.array(hits, float), trials), state
    return world.problem(x, None), state


def stretched(cuts: np.ndarray, stretch: np.ndarray) -> np.ndarray:
    """Cut points of a row: outwards from the middle one (of an even number the one below)."""
    own, at = cuts.copy(), (len(cuts) - 1) // 2
    if len(stretch):
        for k in range(at + 1, len(cuts)):
            own[k] = own[k - 1] + (cuts[k] - cuts[k - 1]) * np.exp(stretch[k - 1])
        for k in range(at - 1, -1, -1):
            own[k] = own[k + 1] - (cuts[k + 1] - cuts[k]) * np.exp(stretch[k])
    return own


def draw_joint(rng: np.random.Generator, world: World) -> tuple[Problem, State]:
    return draw_cells(rng, world, draw_state(rng, world))


def statistics(world: World, problem: Problem, state: State) -> dict[str, float]:
    """Moments of everything there is; heavy tails by their logarithms."""
    row, column = world.cells()
    fit, y = full_fit(world, state), problem.entries.values
    cell = fit[row, column]
    named = {
        "mean": state.mean, "b": state.row_offset, "c": state.column_offset, "u": state.U, "v": state.V,
        "theta": np.log(state.theta), "tau": np.log([state.tau_row, state.tau_column]), "alpha": np.log(state.alpha),
        "g": np.tanh(state.row_noise), "d": np.tanh(state.column_noise), "fit": np.tanh(fit),
        # noise of precision g d, nu as low as 1: squares of latents have no mean
        "x": None if state.latent is None else np.tanh(state.latent), "cuts": state.cuts,
        "s": state.s, "z": state.z, "alpha_s": np.log(state.alpha_s), "G_C": state.row_effects,
        "G_R": state.column_effects,
    }  # fmt: skip
    for name, regression in (("beta", state.row_regression), ("gamma", state.column_regression)):
        for b, (g, ridge) in enumerate(zip(regression.coefficients, regression.ridge)):
            named |= {f"{name}{b}": np.tanh(g), f"ridge of {name}{b}": np.log(ridge[: 1 + world.offsets])}
            if state.n_components:
                factors = state.U if name == "beta" else state.V
                named[f"{name}{b} and factors"] = np.tanh(g[0, 0] * factors[:, 0])
    for name in ("row", "column"):
        precision = getattr(state, f"{name}_effect_precision")
        if precision is not None:
            named[f"lambda of {name}s"] = np.log(precision)
    if not world.offsets:
        del named["tau"]  # not in the model
    if world.unequal_noise:
        named["df"] = np.log([state.row_df, state.column_df])
    found: dict[str, float] = {}
    for name, value in named.items():
        if value is not None and np.size(value):
            found[name] = float(np.mean(value))
            found[f"{name} squared"] = float(np.mean(np.square(value)))
    error = (y if state.latent is None else state.latent) - cell
    found |= {
        "cells and fit": float(np.mean(np.tanh(y) * np.tanh(cell))),
        "cells by fit squared": float(y @ np.tanh(cell**2)),
        "error": float(np.mean(np.tanh(error**2))),
        "error by row": float(np.tanh(error) @ np.tanh(state.row_offset[row])),
        "u v": float(np.tanh((state.U * state.gain) @ state.V.T)[0, 0]),
    }  # fmt: skip
    if state.n_components:
        first = np.tanh(state.U[row, 0] * state.V[column, 0])
        found |= {
            "last u v": float(np.tanh(state.U @ state.V.T)[-1, -1]),
            "u by error": float(np.mean(np.tanh(error) * first)),
            "empty row": float(state.U[1, 0] ** 2), "empty column": float(state.V[2, 0] ** 2),
            "two components": float(np.mean(np.tanh(state.U[:, 0] * state.U[:, -1]))),
            "u in theta": float(np.mean(np.tanh(state.U**2 / state.theta))),
        }  # fmt: skip
    found["mean and cells"] = float(np.tanh(state.mean) * np.tanh(np.mean(y) - 0.5))
    found["offsets and cells"] = float(np.mean(np.tanh(state.row_offset[row]) * np.tanh(y - y.mean())))
    if state.s is not None and state.z is not None:
        found["s where on"] = float(state.s @ state.z)
        found["on and cells"] = float(state.z.mean() * np.tanh(np.mean(y**2)))
    if state.cuts is not None:
        found["cuts and cells"] = float(np.tanh(state.cuts.mean()) * np.tanh(np.mean(y) - 1.5))
        found["gaps"] = float(np.sum(np.log(np.diff(state.cuts))))
        if state.row_stretch.size:
            own = np.array([stretched(state.cuts, r) for r in state.row_stretch])
            found |= {
                "stretch": float(np.mean(state.row_stretch)), "stretch squared": float(np.mean(state.row_stretch**2)),
                "spread": float(np.mean(np.log(state.stretch_spread))), "own cuts": float(np.mean(np.tanh(own))),
                "own gaps and cells": float(np.tanh(own[0, -1] - own[0, 0]) * np.tanh(np.mean(y[row == 0]) - 1.5)),
                "last stretch": float(np.tanh(state.row_stretch[0, -1]) * np.mean(y[row == 0] == own.shape[1])),
            }  # fmt: skip
        found["cut and offset"] = float(np.tanh(state.cuts[0]) * np.tanh(state.row_offset[0]))
    return found


def copied(state: State) -> State:
    return State.from_tree({name: _copy(value) for name, value in state.to_tree().items()})


def _copy(value):
    if isinstance(value, dict):
        return {name: _copy(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_copy(part) for part in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def changes(world: World, move: Move, draws: int, seed: int = 1) -> dict[str, float]:
    """Mean change of every statistic by a move, in standard errors."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(draws):
        problem, state = draw_joint(rng, world)
        before = statistics(world, problem, state)
        after = statistics(world, problem, move(rng, problem, copied(state)))
        found.append([after[key] - before[key] for key in before])
    each = np.array(found)
    error = np.maximum(each.std(axis=0), 1e-12) / np.sqrt(draws)
    return dict(zip(before, (each.mean(axis=0) / error).tolist(), strict=True))


def together(world: World, move: Move, draws: int, seed: int = 2) -> dict[str, float]:
    """Independent draws against a chain of moves and fresh cells, in standard errors."""
    rng = np.random.default_rng(seed)
    alone = [statistics(world, *draw_joint(rng, world)) for _ in range(draws)]
    problem, state = draw_joint(rng, world)
    chained = []
    for _ in range(draws):
        problem, state = draw_cells(rng, world, state)
        state = move(rng, problem, state)
        chained.append(statistics(world, problem, state))
    scores = {}
    for key in alone[0]:
        one = np.array([s[key] for s in alone])
        means = np.array([s[key] for s in chained]).reshape(BATCHES, -1).mean(axis=1)
        error = np.sqrt(one.var() / draws + means.var(ddof=1) / BATCHES)
        scores[key] = float((means.mean() - one.mean()) / max(error, 1e-12))
    return scores


def worst(scores: dict[str, float]) -> tuple[float, str]:
    key = max(scores, key=lambda name: abs(scores[name]))
    return abs(scores[key]), key
