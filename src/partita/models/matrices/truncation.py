"""Step 6, burn-in only: components are born from the residual, and those below the noise edge go.

Components whose scale is above 1 / (sqrt(alpha) edge) stay, and SPARES more a little below it, at most `max_rank`;
where there are so many, a birth takes the place of the weakest, if that is below.
Births put the residual's leading pair in at twice the edge's scale, where it stands as high as noise would: a residual
below the noise edge says that the components fit noise already. What the data do not hold shrinks away again. None of
this is a move of the chain that keeps its law, so nothing of it happens once draws are kept. Births come early: what is
still too large when draws begin needs hundreds of sweeps to shrink, and is counted in the rank meanwhile.
"""

from __future__ import annotations

import math

import numpy as np

from .ordinal import adapt_steps
from .problem import Problem
from .rank import cell_matrix, leading_pairs, noise_edge
from .sides import SIDES
from .state import State
from .weights import cell_weights, weighted_residuals

SPARES = 2
SPARE_SCALE = 0.7
BIRTH_SCALE = 2.0
BIRTH_EVERY = 1
BIRTH_EDGE = 0.95  # of the noise edge: one draw of the noise is off by some hundredths
# a cell of two levels or a few trials says so little that whatever is born explains it, and hardly shrinks again
BIRTH_EDGE_OF_TWO = 1.25
BIRTH_LIMIT = 3.0  # standard deviations of a component's prior
EDGE_EVERY, EDGE_EVERY_OF_BIRTHS = 20, 3  # sweeps; at first the precisions of rows and columns change fast


def adapt(
    problem: Problem, rng: np.random.Generator, state: State, births: bool, held: bool = False, n_threads: int = 1
) -> None:
    """After a sweep of burn-in; `births` says whether components may still be born, `held` that their number stays."""
    adapt_steps(state)
    every = EDGE_EVERY_OF_BIRTHS if births else EDGE_EVERY
    if (problem.unequal_noise or problem.link == "binomial") and state.sweep % every == 0:
        state.edge = noise_edge(problem, rng, state)
    if problem.prior == "paper":
        if births and state.sweep % BIRTH_EVERY == 0:
            switch_on(problem, rng, state, n_threads)
        return
    if held:
        return
    truncate(problem, rng, state)
    room = state.n_components < problem.max_rank or state.theta.min() < edge_scale(state)  # a spare makes room
    if births and room and state.sweep % BIRTH_EVERY == 0 and len(problem.entries):
        give_birth(problem, rng, state, n_threads)


def edge_scale(state: State) -> float:
    """The scale theta at which a component is as strong as the noise."""
    return 1.0 / (math.sqrt(state.alpha) * max(state.edge, 1e-300))


def truncate(problem: Problem, rng: np.random.Generator, state: State) -> None:
    scale = edge_scale(state)
    resize(problem, rng, state, min(int((state.theta > scale).sum()) + SPARES, problem.max_rank))


def resize(problem: Problem, rng: np.random.Generator, state: State, wanted: int) -> None:
    """So many components: the largest ones of the state, and spares drawn a little below the edge."""
    if wanted < state.n_components:
        keep_components(state, np.sort(np.argsort(-state.theta, kind="stable")[:wanted]))
    spread = math.sqrt(min(SPARE_SCALE * edge_scale(state), problem.most_theta))
    for _ in range(wanted - state.n_components):
        u, v = (spread * rng.standard_normal(side.size(problem)) for side in SIDES)
        add_component(state, u, v, spread**2)


def give_birth(problem: Problem, rng: np.random.Generator, state: State, n_threads: int) -> None:
    u, size, v = residual_pair(problem, rng, state, n_threads)
    two = problem.link == "binomial" or problem.n_levels == 2
    if math.sqrt(state.alpha) * size < (BIRTH_EDGE_OF_TWO if two else BIRTH_EDGE) * state.edge:
        return
    theta = min(BIRTH_SCALE * edge_scale(state), problem.most_theta)
    # a pair that sits in a few rows would put them where no proposal of the links finds back from
    most = np.inf if problem.link == "gaussian" else BIRTH_LIMIT * math.sqrt(theta)
    u, v = (np.clip(x * math.sqrt(theta * len(x)), -most, most) for x in (u, v))
    if state.n_components == problem.max_rank:
        keep_components(state, np.sort(np.argsort(-state.theta, kind="stable")[:-1]))
    add_component(state, u, v, theta)


def switch_on(problem: Problem, rng: np.random.Generator, state: State, n_threads: int) -> None:
    """The paper's prior: a component that is off takes the residual's leading pair."""
    assert state.s is not None and state.z is not None
    off = np.flatnonzero(state.z == 0)
    if not len(off) or not len(problem.entries):
        return
    k = off[0]
    state.U[:, k], state.s[k], state.V[:, k] = residual_pair(problem, rng, state, n_threads)
    if problem.link == "binomial":  # the slope of the log-likelihood along the pair over its curvature
        entries, weights = problem.entries, cell_weights(problem, state, n_threads)
        squares = (state.U[:, k] ** 2)[entries.row] * (state.V[:, k] ** 2)[entries.column]
        state.s[k] /= max(float(weights @ squares), 1e-12)
    state.z[k] = 1.0


def residual_pair(
    problem: Problem, rng: np.random.Generator, state: State, n_threads: int
) -> tuple[np.ndarray, float, np.ndarray]:
    """u (I,), d, v (J,): the leading singular triplet of the weighted residual."""
    residual = weighted_residuals(problem, state, n_threads)
    u, size, v = leading_pairs(cell_matrix(problem, residual), 1, rng)
    return u[:, 0], float(size[0]), v[:, 0]


def keep_components(state: State, which: np.ndarray) -> None:
    """Only the components `which`, in this order."""
    with_offset = np.append(which, state.n_components)
    state.theta = state.theta[which]
    for side in SIDES:
        side.put(state, np.ascontiguousarray(side.matrix(state)[:, which]), None)
        setattr(state, f"{side.name}_mean", np.ascontiguousarray(side.prior_mean(state)[:, with_offset]))
        regression = side.regression(state)
        regression.coefficients = [g[:, with_offset] for g in regression.coefficients]
    if state.s is not None and state.z is not None:
        state.s, state.z = state.s[which], state.z[which]


def add_component(state: State, u: np.ndarray, v: np.ndarray, theta: float) -> None:
    """One more, last; features say nothing of it yet."""
    k = state.n_components
    for side, column in zip(SIDES, (u, v), strict=True):
        side.put(state, np.column_stack([side.matrix(state), column]), None)
        setattr(state, f"{side.name}_mean", np.insert(side.prior_mean(state), k, 0.0, axis=1))
        regression = side.regression(state)
        regression.coefficients = [np.insert(g, k, 0.0, axis=1) for g in regression.coefficients]
    state.theta = np.append(state.theta, theta)
