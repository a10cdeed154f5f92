"""Draws of state and cells from the joint prior of matrices with holes, for Geweke's tests."""

from dataclasses import dataclass, replace

import numpy as np

from partita.models.svd_entries import Entries
from partita.models.svd_features import Features
from partita.models.svd_noise import fitted_values
from partita.models.svd_problem import NOISE_DFS, Hyper, Problem
from partita.models.svd_sides import SIDES
from partita.models.svd_state import Regression, State

# proper laws with tails light enough for means of squares
HYPER = Hyper(
    theta_shape=4.0, theta_rate=3.0, noise_shape=5.0, noise_rate=4.0, offset_shape=5.0, offset_rate=4.0,
    mean_width=1.0, ridge_shape=5.0, ridge_rate=4.0, a=1.0, b=1.0, c=5.0, d=4.0, e=5.0, f=4.0,
)  # fmt: skip


@dataclass(frozen=True)
class World:
    """What kind of model: prior, offsets, unequal noise, features on both sides, components."""

    prior: str = "ard"
    offsets: bool = True
    unequal_noise: bool = True
    features: bool = True
    n_components: int = 2
    n_rows: int = 4
    n_columns: int = 3


def fixed_parts(world: World) -> tuple[Entries, Features, Features]:
    """Where the cells are, and the features; the same in every draw."""
    rng = np.random.default_rng(11)
    n, m = world.n_rows, world.n_columns
    rows, columns = np.divmod(np.arange(n * m), m)
    seen = np.ones(n * m, bool)
    seen[[0, n * m - 1]] = False
    entries = Entries.of(rows[seen], columns[seen], np.zeros(seen.sum()), n, m)
    if not world.features:
        return entries, Features(n), Features(m)
    of_rows = Features.of(n, [rng.normal(size=(n, 2)), np.ones((n, 1))])
    return entries, of_rows, Features.of(m, [rng.normal(size=(m, 1))])


def draw_joint(rng: np.random.Generator, world: World) -> tuple[Problem, State]:
    """One draw of everything from the prior, the cells given the rest."""
    entries, of_rows, of_columns = fixed_parts(world)
    problem = Problem(
        entries, prior=world.prior, offsets=world.offsets, unequal_noise=world.unequal_noise,
        max_rank=world.n_components, row_features=of_rows, column_features=of_columns, hyper=HYPER,
    )  # fmt: skip
    state = draw_state(rng, problem, world.n_components)
    return draw_cells(rng, problem, state), state


def draw_state(rng: np.random.Generator, problem: Problem, k: int) -> State:
    n, m, h = problem.n_rows, problem.n_columns, problem.hyper
    state = State(
        U=np.zeros((n, k)), V=np.zeros((m, k)), theta=h.theta_rate / rng.standard_gamma(h.theta_shape, k),
        row_offset=np.zeros(n), column_offset=np.zeros(m), row_noise=np.ones(n), column_noise=np.ones(m),
        row_mean=np.zeros((n, k + 1)), column_mean=np.zeros((m, k + 1)),
    )  # fmt: skip
    shape, rate = (h.noise_shape, h.noise_rate) if problem.prior == "ard" else (h.c, h.d)
    state.alpha = float(rng.standard_gamma(shape) / rate)
    if problem.offsets:
        state.mean = float(problem.centre + h.mean_width * problem.spread * rng.standard_normal())
    if problem.prior == "paper":
        state.alpha_s = float(rng.standard_gamma(h.e) / h.f)
        state.s = np.abs(rng.standard_normal(k)) / np.sqrt(state.alpha_s)
        odds = h.a / (h.b * (k - 1))
        state.z = (rng.random(k) < odds / (1 + odds)).astype(float)
    for side in SIDES:
        draw_side(rng, problem, state, side)
    return state


def draw_side(rng, problem, state, side):
    h, k, n, features = problem.hyper, state.n_components, side.size(problem), side.features(problem)
    setattr(state, f"tau_{side.name}", float(rng.standard_gamma(h.offset_shape) / h.offset_rate))
    precision = side.precision(problem, state)
    regression = Regression()
    for block in features.blocks:
        ridge = rng.standard_gamma(h.ridge_shape, 2) / (h.ridge_rate / np.mean(block.size**2))
        lam = np.append(np.full(k, ridge[0]), ridge[1])
        regression.coefficients.append(rng.standard_normal((len(block), k + 1)) / np.sqrt(lam * precision))
        regression.ridge.append(ridge)
        if not problem.offsets:
            regression.coefficients[-1][:, k] = 0.0
    setattr(state, f"{side.name}_regression", regression)
    mean = features.mean(regression.coefficients) if features.blocks else np.zeros((n, k + 1))
    setattr(state, f"{side.name}_mean", mean)
    x = mean + rng.standard_normal((n, k + 1)) / np.sqrt(precision)
    side.put(state, np.ascontiguousarray(x[:, :k]), x[:, k].copy() if problem.offsets else None)
    if problem.unequal_noise:
        df = float(rng.choice(NOISE_DFS))
        setattr(state, f"{side.name}_df", df)
        setattr(state, f"{side.name}_noise", rng.standard_gamma(df, n) / df)


def draw_cells(rng: np.random.Generator, problem: Problem, state: State) -> Problem:
    """The problem with cells drawn given the state."""
    e = problem.entries
    precision = state.alpha * state.row_noise[e.row] * state.column_noise[e.column]
    values = fitted_values(problem, state) + rng.standard_normal(len(e)) / np.sqrt(precision)
    return replace(problem, entries=replace(e, values=values, values_by_column=values[e.place]))


def statistics(problem: Problem, state: State) -> dict[str, float]:
    """Numbers whose means a move must not change; invariant to nothing but the order of the components' signs."""
    e, gain = problem.entries, state.gain
    f = fitted_values(problem, state)
    found = {
        "y2": e.values @ e.values, "yf": e.values @ f, "f2": f @ f, "residual": ((e.values - f) ** 2).sum(),
        "alpha": state.alpha, "log alpha": np.log(state.alpha), "mean": state.mean, "mean2": state.mean**2,
        "u2": state.U[0, 0] ** 2, "u4": min(state.U[1, -1] ** 4, 1e3), "uu": state.U[0, 0] * state.U[0, 1],
        "v2": state.V[0, 0] ** 2, "uv": state.U[0, 0] * state.V[1, 0] * gain[0], "v all": (state.V**2).sum(),
    }  # fmt: skip
    if problem.prior == "ard":
        found |= {"log theta": np.log(state.theta[0]), "theta": state.theta.sum()}
        found["u2 in theta"] = state.U[0, 0] ** 2 / state.theta[0]
    else:
        found |= {"s": state.s[0], "s2": state.s @ state.s, "z": state.z[0], "zz": state.z.prod()}
        found["alpha_s"] = state.alpha_s
    for side in SIDES:
        name, b = side.name, side.offset(state)
        found |= {f"{name} b": b[0], f"{name} b2": b[0] ** 2, f"{name} by": b[0] * e.values[0]}
        found[f"{name} tau"] = side.tau(state)
        found |= {f"{name} g": side.noise(state)[0], f"{name} log g": np.log(side.noise(state)).sum()}
        found[f"{name} log df"] = np.log(getattr(state, f"{name}_df"))
        for number, (g, ridge) in enumerate(zip(side.regression(state).coefficients, side.regression(state).ridge)):
            found |= {f"{name}{number} g2": g[0, 0] ** 2, f"{name}{number} g offset": g[0, -1] ** 2}
            found |= {f"{name}{number} ridge": ridge[0], f"{name}{number} ridge offset": ridge[1]}
            found[f"{name}{number} gu"] = g[0, 0] * side.matrix(state)[0, 0]
    return {key: float(value) for key, value in found.items()}
