"""Getting it right (Geweke 2004): draws of state and table from the joint prior against a chain that alternates a move
of the state given the table with a fresh table given the state. Where a move is right, both have one law."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from joint_prior import World, draw_state, draw_table, statistics
from small_tables import USUAL_GRIDS

from partita.kernels import kernel
from partita.kernels.contract import BINARY, CATEGORICAL, CLASS_ONLY, COUNT, FIRST_RESTAURANT, REAL, Chain
from partita.models.mixtures import mixture, rejuvenation, stream, unlabelled
from partita.models.mixtures.bank import Reservoir, Rule
from partita.models.mixtures.problem import Problem

MIXED = (BINARY, CATEGORICAL, COUNT, REAL)
HALF_LABELLED = (0, 0, 0, 1, -1, -1)
VIEWS = (FIRST_RESTAURANT, CLASS_ONLY, FIRST_RESTAURANT, FIRST_RESTAURANT)
WORLDS = {
    "gibbs": World(MIXED),
    "split-merge": World(MIXED, split_merge=3),
    "concentration": World(MIXED, alpha=None),
    "laws of seating": World(MIXED, alpha=None, finite=True),
    "laws of seating, split-merge": World(MIXED, alpha=None, finite=True, split_merge=3),
    "laws of seating, labels": World(MIXED, label=HALF_LABELLED, alpha=None, finite=True, split_merge=2),
    "laws of seating, cap": World(MIXED, label=HALF_LABELLED, alpha=None, finite=True, cap=2, split_merge=2),
    "hyper binary": World((BINARY,) * 3, hyper=True),
    "hyper categorical": World((CATEGORICAL,) * 3, hyper=True),
    "hyper count": World((COUNT,) * 3, hyper=True),
    "hyper real": World((REAL,) * 3, hyper=True),
    "views": World(MIXED, label=(0, 0, 0, 1, 1, 1), n_restaurants=2, view=None),
    "labels": World(MIXED, label=HALF_LABELLED, view=VIEWS),
    "names of groups": World(MIXED, label=HALF_LABELLED),
    "everything": World(
        MIXED, label=HALF_LABELLED, n_restaurants=2, view=None, alpha=None, hyper=True, split_merge=2
    ),
    "rejuvenation": World(MIXED, label=HALF_LABELLED, alpha=None, hyper=True),
    "cap": World(MIXED, label=HALF_LABELLED, alpha=None, cap=2, split_merge=2),
    "rejuvenation, cap": World(MIXED, label=HALF_LABELLED, alpha=None, hyper=True, cap=2, split_merge=2),
}  # fmt: skip
BATCHES = 50
LIMIT = 4.0
Move = Callable[[np.random.Generator, Problem, Chain], Chain]


def step(rng: np.random.Generator, problem: Problem, chain: Chain) -> Chain:
    """All moves of a chain that the world leaves random."""
    if problem.settings.split_merge and problem.settings.n_classes == 1:  # by itself: it reaches every partition
        mixture.split_and_merge(rng, problem, chain)
        if problem.settings.alpha is None:
            kernel.move_concentration(chain, problem.settings.laws, rng.random(chain.used.shape))
        return chain
    return mixture.step(rng, chain, problem)[0]


def rejuvenate(rng: np.random.Generator, problem: Problem, chain: Chain) -> Chain:
    """The chain as the single particle of a bank whose reservoir holds all rows, seated anew."""
    n, settings = len(problem.rows), problem.settings
    rule = Rule(settings.n_classes, n_sweeps=1, window=n, settings=settings)
    opening = replace(rule, settings=replace(settings, grids=USUAL_GRIDS))  # where a bank starts
    (bank,), _ = stream.open_stream(problem.layout, problem.rows, opening, 1)
    rejuvenation.from_chains(problem.layout, bank, [chain])
    rejuvenation.rejuvenate(problem.layout, rule, bank, Reservoir(problem.rows, problem.label, n, n), rng)
    return rejuvenation.to_chain(problem.layout, bank, 0, settings.cap)


def wrong_alpha(rng: np.random.Generator, problem: Problem, chain: Chain) -> Chain:
    """Groups moved at twice their concentration."""
    chain.alpha *= 2.0
    chain = step(rng, problem, chain)
    chain.alpha /= 2.0
    return chain


def wrong_concentration(rng: np.random.Generator, problem: Problem, chain: Chain) -> Chain:
    """Alpha drawn a little too small."""
    chain = step(rng, problem, chain)
    kernel.move_concentration(chain, problem.settings.laws, rng.random(chain.used.shape) ** 1.5)
    return chain


def wrong_hyper(rng: np.random.Generator, problem: Problem, chain: Chain) -> Chain:
    """Hyper-parameters drawn a little too small."""
    mixture.sweep_rows(rng, problem, chain)
    shape = problem.layout.n_columns, 3
    kernel.move_hyper(problem.layout, chain, problem.settings.grids, rng.random(shape) ** 1.5)
    return chain


def wrong_views(rng: np.random.Generator, problem: Problem, chain: Chain) -> Chain:
    """Columns leaning towards the background."""
    mixture.sweep_rows(rng, problem, chain)
    kernel.move_views(problem.layout, problem.rows, chain, rng.random(problem.layout.n_columns) ** 1.5)
    return chain


def wrong_labels(rng: np.random.Generator, problem: Problem, chain: Chain) -> Chain:
    """Labels that overlook how many rows each class holds."""
    mixture.sweep_rows(rng, problem, chain)
    order = rng.permutation(np.flatnonzero(problem.label < 0))
    counts = np.bincount(chain.label, minlength=problem.settings.n_classes).astype(float)
    kernel.relabel_sweep(problem.layout, problem.rows, chain, counts, 50.0, order, rng.random((len(order), 2)))
    return chain


def wrong_names(rng: np.random.Generator, problem: Problem, chain: Chain) -> Chain:
    """Groups renamed as if the first class held many more rows than it does."""
    mixture.sweep_rows(rng, problem, chain)
    unlabelled.sweep_unlabelled(rng, problem, chain)
    right = unlabelled._draw_class
    unlabelled._draw_class = lambda rng, chain, c, m: 0 if rng.random() < 0.7 else right(rng, chain, c, m)
    try:
        unlabelled.rename_groups(rng, problem, chain)
    finally:
        unlabelled._draw_class = right
    return chain


def wrong_rejuvenation(rng: np.random.Generator, problem: Problem, chain: Chain) -> Chain:
    """Alpha forgotten: the particle goes on with that of the filter's start."""
    chain = rejuvenate(rng, problem, chain)
    chain.alpha[:] = 1.0
    return chain


WRONG: dict[str, Move] = {
    "gibbs": wrong_alpha,
    "split-merge": wrong_alpha,
    "concentration": wrong_concentration,
    **{name: wrong_concentration for name in WORLDS if name.startswith("laws")},
    **{name: wrong_hyper for name in WORLDS if name.startswith("hyper")},
    "views": wrong_views,
    "labels": wrong_labels,
    "names of groups": wrong_names,
    "everything": wrong_concentration,
    "rejuvenation": wrong_rejuvenation,
    "cap": wrong_concentration,
    "rejuvenation, cap": wrong_rejuvenation,
}


@cache
def marginal_conditional(name: str, draws: int) -> dict[str, np.ndarray]:
    """Statistics of independent draws from the joint prior."""
    problem, chain, missing = WORLDS[name].start()
    rng, found = np.random.default_rng(1), []
    for _ in range(draws):
        draw_state(rng, WORLDS[name], problem, chain)
        draw_table(rng, problem, chain, missing)
        found.append(statistics(problem, chain))
    return {key: np.array([one[key] for one in found]) for key in found[0]}


def successive_conditional(name: str, draws: int, move: Move) -> dict[str, np.ndarray]:
    """Statistics of the chain that moves the state given the table, then draws the table given the state."""
    problem, chain, missing = WORLDS[name].start()
    rng, found = np.random.default_rng(2), []
    draw_state(rng, WORLDS[name], problem, chain)
    for _ in range(draws):
        draw_table(rng, problem, chain, missing)
        chain = move(rng, problem, chain)
        found.append(statistics(problem, chain))
    return {key: np.array([one[key] for one in found]) for key in found[0]}


def z_scores(independent: dict[str, np.ndarray], chained: dict[str, np.ndarray]) -> dict[str, float]:
    """Differences of means in standard errors, those of the chain from means of batches."""
    scores = {}
    for key, draws in independent.items():
        batches = chained[key].reshape(BATCHES, -1).mean(axis=1)
        error = np.sqrt(draws.var() / len(draws) + batches.var(ddof=1) / BATCHES)
        difference = batches.mean() - draws.mean()
        scores[key] = float(difference / error) if error > 0 else float(np.inf if abs(difference) > 1e-12 else 0.0)
    return scores


def worst(name: str, draws: int, move: Move) -> tuple[float, str]:
    scores = z_scores(marginal_conditional(name, draws), successive_conditional(name, draws, move))
    key = max(scores, key=lambda k: abs(scores[k]))
    return abs(scores[key]), key


def right(name: str) -> Move:
    return rejuvenate if name.startswith("rejuvenation") else step


@pytest.mark.parametrize("name", WORLDS)
def test_moves_keep_the_joint_law(name):
    z, key = worst(name, 4000, right(name))
    assert z < LIMIT, key


@pytest.mark.parametrize("name", WORLDS)
def test_a_broken_move_is_caught(name):
    scores = z_scores(marginal_conditional(name, 4000), successive_conditional(name, 1500, WRONG[name]))
    assert max(map(abs, scores.values())) > 1.5 * LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_moves_keep_the_joint_law_in_a_long_run(name):
    z, key = worst(name, 100_000, right(name))
    assert z < LIMIT, key
