"""Fits by EM for every number of experts that is tried and every start, run by the one loop; the best by BIC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...data.table import Table
from ...inference import loop
from ...inference.checkpoint import Checkpoint
from ...inference.monitor import make_monitor
from ...inference.outcome import Outcome
from ...inference.runner import Runner
from ...inference.streams import spawn_streams
from ...kernels.contract import Rows
from ..gated.fit import gate_prior
from ..gated.pool import Pool
from ..gated.rows import make_view
from ..lens import plain_lens
from .cells import with_points
from .em import QGMEProblem, n_parameters
from .model import QGMEModel
from .state import QGMEState, Regulariser


@dataclass(frozen=True)
class Strength:
    """What the regulariser is worth: rows of a pooled covariance, precision of weights, rows of pooled levels."""

    covariance_rows: float
    ridge: float
    level_rows: float


@dataclass
class Fitting:
    """A fit on its way: the loop's state. It begins within its first step, so that starts run in parallel too.

    k        number of experts
    within   whether it starts from clusters of single classes
    """

    k: int
    within: bool
    state: QGMEState | None = None

    def to_tree(self) -> dict[str, Any]:
        return dict(vars(self)) | {"state": None if self.state is None else self.state.to_tree()}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Fitting:
        state = None if tree["state"] is None else QGMEState.from_tree(tree["state"])
        return cls(tree["k"], tree["within"], state)


@dataclass
class Fitted:
    """The best start of one number of experts: its model, its traces, -2 log likelihood + parameters * log rows, and
    whether it was left to end."""

    model: QGMEModel
    log_likelihoods: np.ndarray
    objectives: np.ndarray
    bic: float
    ended: bool


def learn(
    table: Table, label: np.ndarray, weight: np.ndarray, n_classes: int, candidates: Sequence[int], n_restarts: int,
    strength: Strength, max_iter: int, tol: float, seed: Any, runner: Runner, fingerprint: str,
) -> dict[int, Fitted]:  # fmt: skip
    """For every number of experts in `candidates` the best of `n_restarts` starts (one expert has but one).

    Start r of k experts draws from stream (k - 1) n_restarts + r, whatever else is tried.
    """
    lens = plain_lens(table)
    rows = lens.rows(table)
    problems = {k: make_problem(lens, rows, label, weight, n_classes, k, strength) for k in candidates}
    starts = [(k, r) for k in candidates for r in range(1 if k == 1 else n_restarts)]
    streams = spawn_streams(seed, max(candidates) * n_restarts)
    outcome = _run(
        problems, [Fitting(k, r % 2 == 1) for k, r in starts], [streams[(k - 1) * n_restarts + r] for k, r in starts],
        max_iter, settled(tol * weight.sum()), runner, fingerprint,
    )  # fmt: skip
    fitted = {k: _best(problem, outcome) for k, problem in problems.items()}
    return {k: one for k, one in fitted.items() if one is not None}


def make_problem(
    lens: Any, rows: Rows, label: np.ndarray, weight: np.ndarray, n_classes: int, k: int, strength: Strength
) -> QGMEProblem:
    """The problem of k experts.

    Pooled covariances are those of all rows (Ledoit and Wolf) over k^(2 / P): each component is expected to fill a k-th
    of the volume [1].

    [1] C. Fraley and A. E. Raftery (2007), Bayesian regularization for normal mixture estimation and model-based
    clustering, Journal of Classification 24, 155-181.
    """
    view = with_points(make_view(lens, rows, weight, strength.level_rows))
    pooled = gate_prior(rows.reals[:, view.reals], np.zeros(len(label), np.int64), weight, 1.0, 1.0)
    covariance = pooled.scale / (float(pooled.nu) - view.width - 1.0) / k ** (2.0 / max(view.width, 1))
    regulariser = Regulariser(covariance, strength.covariance_rows, strength.ridge)
    return QGMEProblem.make(view, rows, label, weight, n_classes, k, regulariser)


def settled(least: float) -> loop.Stop:
    """A stopping rule for the loop: likelihood and log prior together have risen by less than `least`."""

    def stop(trace: Mapping[str, Sequence[float]]) -> bool:
        objective = trace["objective"]
        return len(objective) >= 3 and objective[-1] - objective[-2] < least

    return stop


def _run(
    problems: Mapping[int, QGMEProblem], fittings: list[Fitting], streams: list[np.random.Generator], max_iter: int,
    stop: loop.Stop, runner: Runner, fingerprint: str,
) -> Outcome:  # fmt: skip
    def step(rng: np.random.Generator, fitting: Fitting) -> tuple[Fitting, Mapping[str, float]]:
        problem = problems[fitting.k]
        state = problem.init(rng, fitting.within) if fitting.state is None else fitting.state
        state, info = problem.step(state)
        return replace(fitting, state=state), info

    checkpoint = None
    if runner.checkpoint is not None:
        checkpoint = Checkpoint(runner.checkpoint, fingerprint, Fitting.to_tree, Fitting.from_tree)
    return loop.run(
        step, fittings, streams, max_iter, stop=stop, n_jobs=runner.n_jobs, time_budget=runner.time_left(),
        checkpoint=checkpoint, progress=make_monitor(runner.progress, None, runner.label),
    )  # fmt: skip


def _best(problem: QGMEProblem, outcome: Outcome) -> Fitted | None:
    """The start that got highest, or None where a stop left all of them without a step."""
    mine = [c for c, one in enumerate(outcome.states) if one.k == problem.k and one.state is not None]
    if not mine:
        return None
    traces = {c: {name: outcome.infos[name][c, : outcome.steps_done[c]] for name in outcome.infos} for c in mine}
    best = max(mine, key=lambda c: traces[c]["objective"][-1])
    state, trace = outcome.states[best].state, traces[best]
    rows = max(problem.weight.sum(), 1.0)
    bic = -2.0 * trace["log_likelihood"][-1] + n_parameters(state, problem) * np.log(rows)
    model = QGMEModel.at(problem.view, problem.n_classes, state)
    return Fitted(model, trace["log_likelihood"], trace["objective"], float(bic), outcome.interrupted is None)


def pool_of(model: QGMEModel) -> Pool:
    """One model as everything that is asked of a pool."""
    return Pool.alike(model.view.lens, model.n_classes, [model])
