"""Fits without some of the rows or cells that begin in the components of a fit of all: what they say of what they have
not seen teaches the widths of the laws of cells, and how the small fits of the average are weighed.

They are short, since they begin near where they end: variational fits and EM settle in a few iterations, and a tenth of
the sweeps of a chain is enough for parameters that have forgotten single rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...inference.fits import run_fits
from ...inference.runner import Runner
from .answer import Speaker
from .aside import Fold, learn_widths, make_folds, without
from .fit import GatedProblem, bound_settled
from .gibbs import GibbsProblem
from .gibbs_answer import Kept, model_of
from .gibbs_state import GibbsState
from .members import Data, Hyper, Plan, make_problem, view_and_priors
from .pool import Pool
from .predict import GatedModel
from .state import GatedState
from .warm import by_size, log_shares, most_probable

REFIT_ITERATIONS, REFIT_TOLERANCE = 50, 1e-5
SMALL_ITERATIONS, SMALL_TOLERANCE = 5, 1e-4  # of the average
REFIT_SWEEPS = 0.1  # of those of a chain
KEPT_OF_REFIT = 5  # states
ELSEWHERE = -1e3  # log probability of the components that a row of a chain is not in


def quiet(runner: Runner) -> Runner:
    """Neither watched nor in the checkpoint: refits follow from the fit of all rows, and are done again."""
    return replace(runner, checkpoint=None, progress=False)


def refit_one(
    pool: Pool, data: Data, plan: Plan, hyper: Hyper, n_folds: int, streams: Sequence[np.random.Generator],
    runner: Runner,
) -> None:  # fmt: skip
    """Widths for a pool of one variational fit; one stream for each fold, and one to draw them."""
    *each, last = streams
    folds = make_folds(data, 0, n_folds, last) if pool.whole[0].view.width else []
    if not folds:
        return
    problems = []
    for fold, rng in zip(folds, each, strict=False):
        part = without(data, fold)
        problems.append(make_problem(plan, part, hyper, rng))
        problems[-1].cluster = most_probable(log_shares(pool.whole[0], part.rows[0], part.label))
    states, outcome = run_fits(
        problems, each[: len(folds)], REFIT_ITERATIONS, bound_settled(REFIT_TOLERANCE), quiet(runner), "",
        GatedState.from_tree,
    )
    if outcome.interrupted is None:
        models = [GatedModel.of(problem.view, data.n_classes, state) for problem, state in zip(problems, states)]
        learn_widths(pool, [[[model]] for model in models], folds, data, 0, last)


def refit_average(
    plans: Sequence[Plan], problems: Sequence[GatedProblem], states: Sequence[GatedState], data: Data, hyper: Hyper,
    folds: Sequence[Fold], asked: Sequence[Sequence[int]], seed: int, runner: Runner,
) -> list[dict[int, GatedModel]] | None:  # fmt: skip
    """Of every fold the models of the plans that are `asked`, by their numbers; None where they were stopped. What
    chance there is in a fit depends on the seed, the fold and the plan alone."""
    fits, streams = [], []
    for number, (fold, numbers) in enumerate(zip(folds, asked, strict=True)):
        part = without(data, fold)
        for m in numbers:
            streams.append(np.random.default_rng([seed, number, m]))
            fits.append(make_problem(plans[m], part, hyper, streams[-1], problems[m].view))
            if plans[m].experts is not None:  # else clusters are of single classes, which numbers alone do not say
                fits[-1].cluster = by_size(states[m].rho[fold.learnt].argmax(axis=1))
    ended, outcome = run_fits(
        fits, streams, SMALL_ITERATIONS, bound_settled(SMALL_TOLERANCE), quiet(runner), "", GatedState.from_tree
    )
    if outcome.interrupted is not None:
        return None
    models = iter([GatedModel.of(fit.view, data.n_classes, state) for fit, state in zip(fits, ended, strict=True)])
    return [{m: next(models) for m in numbers} for numbers in asked]


def refit_chains(
    pool: Pool, data: Data, plan: Plan, hyper: Hyper, last_z: Sequence[np.ndarray], n_sweeps: int, n_folds: int,
    last: np.random.Generator, runner: Runner,
) -> None:  # fmt: skip
    """Widths for a pool of states of chains, which ended with rows in the components `last_z` (n,) each; `last` draws
    the folds and the streams of their chains."""
    folds = make_folds(data, 0, n_folds, last) if pool.whole[0].view.width else []
    if not folds:
        return
    n_sweeps = max(int(REFIT_SWEEPS * n_sweeps), 2 * KEPT_OF_REFIT)
    problems, chains = [], []
    for fold in folds:
        part = without(data, fold)
        for z in last_z:  # as many chains as the pool has: states of one alone would lie closer together
            rng = np.random.default_rng(last.integers(2**63))
            view, priors = view_and_priors(plan, part, hyper, rng)
            problem = GibbsProblem.make(view, part.rows[0], part.label, part.weight, data.n_classes, priors, plan.k)
            own = z[fold.learnt, None] == np.arange(priors.n_sticks)
            problem.start = np.where(own, 0.0, ELSEWHERE)
            problems.append(problem)
            chains.append(rng)
    every = n_sweeps // (2 * KEPT_OF_REFIT)

    def keep(step: int, state: GibbsState) -> Kept | None:
        return Kept.of(state) if step >= n_sweeps // 2 and (n_sweeps - 1 - step) % every == 0 else None

    _, outcome = run_fits(
        problems, chains, n_sweeps, None, quiet(runner), "", GibbsState.from_tree, keep, Kept.from_tree
    )
    if outcome.interrupted is None:
        models: list[Speaker] = [
            model_of(one, problem.given.view, data.n_classes)
            for problem, kept in zip(problems, outcome.kept, strict=True)
            for one in kept
        ]
        share = len(models) // len(folds)
        learn_widths(pool, [[models[k : k + share]] for k in range(0, len(models), share)], folds, data, 0, last)
