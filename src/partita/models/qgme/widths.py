"""Widths of the laws of missing cells for a fit by EM, from short fits without some of the rows (`gated.refits`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...data.table import Table
from ...inference import loop
from ...inference.runner import Runner
from ..gated.aside import learn_widths, make_folds, without
from ..gated.members import Data
from ..gated.pool import Pool
from ..gated.refits import REFIT_ITERATIONS
from ..gated.warm import log_shares, most_probable
from .fits import Strength, make_problem, settled
from .model import QGMEModel
from .state import QGMEState

Numbered = tuple[int, QGMEState]  # the fold of a fit, and where it stands


def refit_points(
    pool: Pool, table: Table, label: np.ndarray, weight: np.ndarray, strength: Strength, tol: float, n_folds: int,
    streams: Sequence[np.random.Generator], runner: Runner,
) -> None:  # fmt: skip
    """Widths for a pool of one model; one stream for each fold, and one to draw them."""
    model, (*each, last) = pool.whole[0], streams
    data = Data.make(table, pool.lenses, label, weight, pool.n_classes)
    folds = make_folds(data, 0, n_folds, last) if model.view.width else []
    if not folds:
        return
    problems, states = [], []
    for number, fold in enumerate(folds):
        part = without(data, fold)
        k = min(model.n_components, len(fold.learnt))
        problem = make_problem(pool.lenses[0], part.rows[0], part.label, part.weight, pool.n_classes, k, strength)
        problems.append(problem)
        states.append((number, problem.begin(most_probable(log_shares(model, part.rows[0], part.label)))))

    def step(rng: np.random.Generator, now: Numbered) -> tuple[Numbered, Mapping[str, float]]:
        state, info = problems[now[0]].step(now[1])
        return (now[0], state), info

    outcome = loop.run(
        step, states, each[: len(folds)], REFIT_ITERATIONS, stop=settled(tol * float(weight.sum())),
        n_jobs=runner.n_jobs, time_budget=runner.time_left(),
    )  # fmt: skip
    if outcome.interrupted is None:
        models = [QGMEModel.at(problems[number].view, pool.n_classes, state) for number, state in outcome.states]
        learn_widths(pool, [[[one]] for one in models], folds, data, 0, last)
