"""The recommended classifier: small variational fits that see different columns, averaged; and one model of [1].

Five fits with experts of a fixed prior on half of the columns each, five with a pooled prior on three quarters,
starting from 1, 2, 3, 5 and 10 clusters of each class; three without experts on normal scores of all columns. Their
probabilities are averaged with weights (0.05 + leave-one-out log-loss)^-2, then sharpened or softened by one
temperature, chosen by leave-one-out as well. Two fits of all columns serve densities, imputation and bounds.

[1] C. Wang (2010), Non-parametric Bayesian learning with incomplete data, PhD thesis, Duke University, chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..data.table import Table
from ..inference.loop import Outcome
from ..inference.runner import Runner
from .gated_fit import GatedProblem, bound_settled
from .gated_leave_one_out import left_out
from .gated_members import Data, Hyper, Plan, make_problem, run_fits, view_and_priors
from .gated_pool import Pool, tempered
from .gated_predict import GatedModel
from .gated_rows import View
from .gated_state import OWN, POOLED, GatedState
from .gated_stochastic import Running, StochasticProblem
from .lens import plain_lens, scores_lens
from .pooling import best_log_temperature

PLAIN, SCORES = range(2)  # lenses
STARTS = (1, 2, 3, 5, 10)
VOTERS = [
    *(Plan(PLAIN, k, OWN, 0.5) for k in STARTS),
    *(Plan(PLAIN, k, POOLED, 0.75) for k in STARTS),
    *(Plan(SCORES, k, None, rows_worth=10.0) for k in (1, 2, 3)),
]
WHOLE = [Plan(PLAIN, k, POOLED, rows_worth=10.0) for k in (3, 10)]
THESIS_ROWS = 10.0  # nu_0 = P + 12
LEAST_BATCHES, PASSES = 100, 10  # steps over batches: at least so many, and so many passes over the rows
LOSS_FLOOR = 0.05
SMALLEST = 1e-6
TEMPERATURE_PRECISION = 2.0  # of log t, a normal variable with mean 0


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
    streams: list[np.random.Generator], runner: Runner, fingerprint: str,
) -> Learnt:  # fmt: skip
    """The average of small fits; one stream for each of `VOTERS` and `WHOLE`."""
    data = Data.make(table, [plain_lens(table), scores_lens(table)], label, weight, n_classes)
    plans = [*VOTERS, *WHOLE]
    problems = [make_problem(plan, data, hyper, stream) for plan, stream in zip(plans, streams, strict=True)]
    states, outcome = run_fits(problems, streams, max_iter, bound_settled(tol), runner, fingerprint)
    models = [GatedModel.of(problem.view, n_classes, state) for problem, state in zip(problems, states, strict=True)]
    n = len(VOTERS)
    known = np.flatnonzero(label >= 0)
    votes = [
        left_out(model, state, problem.blocks, problem.n_rows).probabilities()[known]
        for model, state, problem in zip(models[:n], states[:n], problems[:n], strict=True)
    ]
    share, temperature = choose_weights(votes, label[known], weight[known])
    whole = list(range(n, len(plans)))
    pool = Pool(
        data.lenses, n_classes, models[:n], [plan.lens for plan in VOTERS], share, temperature, models[n:],
        np.full(len(WHOLE), 1.0 / len(WHOLE)),
    )  # fmt: skip
    learnt = Learnt(pool, outcome, whole, states[-1].rho)
    learnt.rho = states[learnt.best()].rho
    return learnt


def choose_weights(votes: list[np.ndarray], label: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights of the members and the temperature of their average, from leave-one-out probabilities (n, C)."""
    if not len(label):
        return np.full(len(votes), 1.0 / len(votes)), 1.0
    rows = np.arange(len(label))
    loss = np.array([-weight @ np.log(np.clip(vote[rows, label], SMALLEST, 1.0)) / weight.sum() for vote in votes])
    share = (LOSS_FLOOR + loss) ** -2
    share /= share.sum()
    pooled = np.tensordot(share, votes, axes=1)

    def doubt(log_t: float) -> float:
        own = tempered(pooled, float(np.exp(log_t)))[rows, label]
        return float(-weight @ np.log(np.maximum(own, SMALLEST)) + TEMPERATURE_PRECISION * log_t**2)

    return share, float(np.exp(best_log_temperature(doubt, (-1.5, 1.5))))


def learn_one(
    table: Table, label: np.ndarray, weight: np.ndarray, n_classes: int, hyper: Hyper, n_sticks: int, max_iter: int,
    tol: float, streams: list[np.random.Generator], runner: Runner, fingerprint: str,
) -> Learnt:  # fmt: skip
    """One model of [1] from each stream, that of the highest bound taken."""
    data = Data.make(table, [plain_lens(table)], label, weight, n_classes)
    plan = thesis_plan(n_sticks, n_classes)
    problems = [make_problem(plan, data, hyper, stream) for stream in streams]
    states, outcome = run_fits(problems, streams, max_iter, bound_settled(tol), runner, fingerprint)
    last = [outcome.infos["bound"][k, max(done, 1) - 1] for k, done in enumerate(outcome.steps_done)]
    best = int(np.nanargmax(last))
    return Learnt(pool_of_one(data, problems[best].view, states[best]), outcome, [best], states[best].rho)


def learn_in_batches(
    table: Table, label: np.ndarray, weight: np.ndarray, n_classes: int, hyper: Hyper, n_sticks: int, batch_size: int,
    max_iter: int | None, streams: list[np.random.Generator], runner: Runner, fingerprint: str,
) -> Learnt:  # fmt: skip
    """The same by steps over batches of rows; that of the highest bound over the last tenth of the steps is taken."""
    data = Data.make(table, [plain_lens(table)], label, weight, n_classes)
    plan = thesis_plan(n_sticks, n_classes)
    view, priors = view_and_priors(plan, data, hyper, streams[0])
    problem = StochasticProblem(view, priors, data.rows[PLAIN], label, weight, n_classes, plan.k, batch_size)
    n_steps = max_iter or max(LEAST_BATCHES, -(-PASSES * len(table) // batch_size))
    states, outcome = run_fits(
        [problem] * len(streams), streams, n_steps, None, runner, fingerprint, Running.from_tree
    )
    tail = max(n_steps // 10, 1)
    last = [np.nanmean(trace[max(done - tail, 0) : max(done, 1)]) for trace, done in
            zip(outcome.infos["bound"], outcome.steps_done, strict=True)]  # fmt: skip
    best = int(np.nanargmax(last))
    rho = problem.responsibilities(states[best], outcome.streams[best])
    return Learnt(pool_of_one(data, view, states[best].state), outcome, [best], rho)


def thesis_plan(n_sticks: int, n_classes: int) -> Plan:
    return Plan(PLAIN, max(n_sticks // n_classes, 1), POOLED, 1.0, THESIS_ROWS, n_sticks, whole=True)


def pool_of_one(data: Data, view: View, state: GatedState) -> Pool:
    model = GatedModel.of(view, data.n_classes, state)
    return Pool(data.lenses, data.n_classes, [model], [PLAIN], np.ones(1), 1.0, [model], np.ones(1))
