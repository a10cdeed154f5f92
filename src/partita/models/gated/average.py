"""The recommended classifier: small variational fits that see different columns, averaged; and one model of [1].

Five fits with experts of a fixed prior on half of the columns each, five with a pooled prior on three quarters,
starting from 1, 2, 3, 5 and 10 clusters of each class; three without experts on normal scores of all columns; and two
with a pooled prior on all columns, which also serve densities, imputation and bounds. How their probabilities are
averaged is learnt from rows set aside (`gated.votes`).

[1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University, chapter 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...data.table import Table
from ...inference.fits import run_fits
from ...inference.outcome import Outcome
from ...inference.runner import Runner
from ..factor.beside import Beside
from ..factor.model import FactorFit, FactorModel
from ..factor.problem import FactorProblem, FactorSettings
from ..factor.refits import refit_factors
from ..factor.state import FactorState
from ..lens import plain_lens, scores_lens
from .aside import ENOUGH_ROWS, REFIT_STREAMS, fifths, learn_widths, make_folds
from .fit import GatedProblem, bound_settled
from .members import CELL_ROWS, Data, Hyper, Plan, make_problem, some_rows, view_and_priors
from .pool import Pool
from .predict import GatedModel
from .refits import refit_average, refit_one
from .rows import View, make_view
from .state import OWN, POOLED, GatedState
from .stochastic import Running, StochasticProblem
from .votes import equal_votes, learn_votes
from .warm import most_probable

PLAIN, SCORES = range(2)  # lenses
STARTS = (1, 2, 3, 5, 10)
SMALL = [
    *(Plan(PLAIN, k, OWN, 0.5) for k in STARTS),
    *(Plan(PLAIN, k, POOLED, 0.75) for k in STARTS),
    *(Plan(SCORES, k, None, rows_worth=10.0) for k in (1, 2, 3)),
]
WHOLE = [Plan(PLAIN, k, POOLED, rows_worth=10.0) for k in (3, 10)]
PLANS = [*SMALL, *WHOLE]  # those that vote
CELLS = [Plan(PLAIN, 1, POOLED, rows_worth=10.0), *WHOLE]  # those that fill cells: one more, the plainest
AVERAGE_STREAMS = len(PLANS) + 2
FACTOR_STARTS = (0, 1, 3)  # clusters of each class; 0: all rows in one
# of one model: share of the sticks that clusters take, and whether they are of single classes
STARTS_OF_ONE = ((1.0, True), (1.0, False), (0.25, False), (0.25, True), (0.5, False))
THESIS_ROWS = 10.0  # nu_0 = P + 12
LEAST_BATCHES, PASSES = 100, 10  # steps over batches: at least so many, and so many passes over the rows
WIDTH_ROWS = 5000  # of a table in batches, that widths of cells are learnt from


@dataclass
class Learnt:
    """Fits that have ended: the models as they answer, the traces of their bounds, which fits are of all columns, and
    responsibilities of rows in the best of these."""

    pool: Pool
    outcome: Outcome
    whole: list[int]
    rho: np.ndarray

    def bounds(self, k: int) -> np.ndarray:
        """The bound after every iteration of fit k."""
        return self.outcome.infos["bound"][k, : self.outcome.steps_done[k]]

    def best(self) -> int:
        """The fit of all columns with the highest bound."""
        return max(self.whole, key=lambda k: self.bounds(k)[-1] if len(self.bounds(k)) else -np.inf)


def learn_average(
    table: Table, label: np.ndarray, weight: np.ndarray, n_classes: int, hyper: Hyper, max_iter: int, tol: float,
    n_folds: int, streams: list[np.random.Generator], runner: Runner, fingerprint: str,
) -> Learnt:  # fmt: skip
    """The average of small fits; `AVERAGE_STREAMS` streams, the last for what is set aside."""
    data = Data.make(table, [plain_lens(table), scores_lens(table)], label, weight, n_classes)
    *streams, last = streams
    plans = [*PLANS, CELLS[0]]
    problems = [make_problem(plan, data, hyper, rng) for plan, rng in zip(plans, streams, strict=True)]
    states, outcome = run_fits(
        problems, streams, max_iter, bound_settled(tol), runner, fingerprint, GatedState.from_tree
    )
    models = [GatedModel.of(problem.view, n_classes, state) for problem, state in zip(problems, states, strict=True)]
    whole = [len(PLANS), *range(len(SMALL), len(PLANS))]  # as in CELLS
    votes, folds, parts, n_votes = equal_votes(len(PLANS), n_classes), [], None, fifths(ENOUGH_ROWS, len(label))
    if outcome.interrupted is None:
        seed = int(last.integers(2**63))
        folds = make_folds(data, PLAIN, n_folds, last, n_votes)
        asked = [range(len(plans) if n_folds else len(PLANS))] * n_votes + [whole] * (len(folds) - n_votes)
        if folds:
            parts = refit_average(plans, problems, states, data, hyper, folds, asked, seed, runner)
    if parts:
        votes = learn_votes(PLANS, parts[:n_votes], folds[:n_votes], data).of_all_rows(PLANS, models, data)
    pool = Pool(
        data.lenses, n_classes, models[: len(PLANS)], [plan.lens for plan in PLANS], votes.weight, votes.tempering,
        [models[k] for k in whole], np.full(len(whole), 1.0 / len(whole)),
    )  # fmt: skip
    if parts and n_folds and models[-1].view.width:
        learn_widths(pool, [[[part[m]] for m in whole] for part in parts], folds, data, PLAIN, last)
    learnt = Learnt(pool, outcome, whole, states[-1].rho)
    learnt.rho = states[learnt.best()].rho
    return learnt


def learn_one(
    table: Table, label: np.ndarray, weight: np.ndarray, n_classes: int, hyper: Hyper, n_sticks: int, max_iter: int,
    tol: float, n_folds: int, streams: list[np.random.Generator], runner: Runner, fingerprint: str,
    start: np.ndarray | None = None,
) -> Learnt:  # fmt: skip
    """One model of [1] from each stream but the last `REFIT_STREAMS`, that of the highest bound taken; `start` (n, H),
    log probabilities of components, is what the first begins from.

    Starts are clusters of single classes and, as in [1], of all rows, many and few, in turn: from clusters of single
    classes a fit hardly finds components that hold two and let their expert tell them apart, and from many clusters it
    hardly finds few.
    """
    data = Data.make(table, [plain_lens(table)], label, weight, n_classes)
    plan = thesis_plan(n_sticks, n_classes)
    streams, spare = streams[:-REFIT_STREAMS], streams[-REFIT_STREAMS:]
    problems = problems_of_one(plan, data, hyper, streams)
    if start is not None:
        problems[0].cluster = most_probable(start)
    states, outcome = run_fits(
        problems, streams, max_iter, bound_settled(tol), runner, fingerprint, GatedState.from_tree
    )
    last = [outcome.infos["bound"][k, max(done, 1) - 1] for k, done in enumerate(outcome.steps_done)]
    best = int(np.nanargmax(last))
    learnt = Learnt(pool_of_one(data, problems[best].view, states[best]), outcome, [best], states[best].rho)
    if outcome.interrupted is None:
        refit_one(learnt.pool, data, plan, hyper, n_folds, spare, runner)
    return learnt


def learn_in_batches(
    table: Table, label: np.ndarray, weight: np.ndarray, n_classes: int, hyper: Hyper, n_sticks: int, batch_size: int,
    max_iter: int | None, n_folds: int, streams: list[np.random.Generator], runner: Runner, fingerprint: str,
) -> Learnt:  # fmt: skip
    """The same by steps over batches of rows; that of the highest bound over the last tenth of the steps is taken."""
    streams, spare = streams[:-REFIT_STREAMS], streams[-REFIT_STREAMS:]
    data = Data.make(table, [plain_lens(table)], label, weight, n_classes)
    plan = thesis_plan(n_sticks, n_classes)
    view, priors = view_and_priors(plan, data, hyper, streams[0])
    problem = StochasticProblem(view, priors, data.rows[PLAIN], label, weight, n_classes, plan.k, batch_size)
    n_steps = max_iter or max(LEAST_BATCHES, -(-PASSES * len(table) // batch_size))
    states, outcome = run_fits(
        [problem] * len(streams), streams, n_steps, None, runner, fingerprint, Running.from_tree
    )
    tail = max(n_steps // 10, 1)
    last = [trace[max(done - tail, 0) : done].mean() if done else -np.inf for trace, done in
            zip(outcome.infos["bound"], outcome.steps_done, strict=True)]  # fmt: skip
    best = int(np.nanargmax(last))
    rho = problem.responsibilities(states[best], outcome.streams[best])
    learnt = Learnt(pool_of_one(data, view, states[best].state), outcome, [best], rho)
    if outcome.interrupted is None:
        refit_one(learnt.pool, some_rows(data, WIDTH_ROWS, spare[-1]), plan, hyper, n_folds, spare, runner)
    return learnt


def problems_of_one(
    plan: Plan, data: Data, hyper: Hyper, streams: Sequence[np.random.Generator]
) -> list[GatedProblem]:
    """The model of a plan from many clusters and from few, of single classes and of all rows, in turn."""
    problems = [make_problem(plan, data, hyper, stream) for stream in streams]
    for number, problem in enumerate(problems):
        share, problem.within = STARTS_OF_ONE[number % len(STARTS_OF_ONE)]
        problem.k = max(round(share * plan.k), 1)
    return problems


def thesis_plan(n_sticks: int, n_classes: int) -> Plan:
    return Plan(PLAIN, max(n_sticks // n_classes, 1), POOLED, 1.0, THESIS_ROWS, n_sticks, whole=True)


def pool_of_one(data: Data, view: View, state: GatedState) -> Pool:
    return Pool.alike(data.lenses[PLAIN], data.n_classes, [GatedModel.of(view, data.n_classes, state)])


def learn_factors(
    table: Table, label: np.ndarray, weight: np.ndarray, n_classes: int, settings: FactorSettings, max_iter: int,
    tol: float, n_folds: int, streams: list[np.random.Generator], runner: Runner, fingerprint: str,
) -> tuple[Learnt, FactorState]:  # fmt: skip
    """The form with factor analysers over the real columns, from each stream but the last `REFIT_STREAMS`; that of the
    highest bound taken."""
    data = Data.make(table, [plain_lens(table)], label, weight, n_classes)
    lens, rows = data.lenses[PLAIN], data.rows[PLAIN]
    streams, spare = streams[:-REFIT_STREAMS], streams[-REFIT_STREAMS:]
    view = make_view(lens, rows, weight, CELL_ROWS)
    reals, beside = rows.reals[:, view.reals], Beside.of(view.cells, rows, label)
    problem = FactorProblem.of(reals, label, n_classes, weight, settings, beside)
    fits = [FactorFit(problem, FACTOR_STARTS[j % len(FACTOR_STARTS)]) for j in range(len(streams))]
    states, outcome = run_fits(
        fits, streams, max_iter, bound_settled(tol), runner, fingerprint, FactorState.from_tree
    )
    last = [outcome.infos["bound"][j, max(done, 1) - 1] for j, done in enumerate(outcome.steps_done)]
    best = int(np.nanargmax(last))
    model = FactorModel(view, n_classes, replace(states[best], guesses=[]))
    pool = Pool.alike(lens, n_classes, [model])
    if outcome.interrupted is None:
        refit_factors(pool, data, settings, n_folds, spare, runner)
    return Learnt(pool, outcome, [best], model.answer(rows).shares()), states[best]
