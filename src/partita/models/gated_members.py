"""Several fits of gated experts at once: what each looks at and starts from, run by the one loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from ..data.table import Table
from ..inference import loop
from ..inference.checkpoint import Checkpoint
from ..inference.loop import Outcome
from ..inference.monitor import make_monitor
from ..inference.runner import Runner
from ..kernels.contract import Rows
from .gated_fit import GatedProblem, gate_prior
from .gated_rows import View, make_view
from .gated_state import GatedState, Priors
from .lens import Lens

MOST_CLUSTERS = 100  # of all classes that a fit starts from, or one of each
CELL_ROWS = 2.0  # rows that the prior of a column beside the Gaussian block is worth


@dataclass(frozen=True)
class Plan:
    """One fit: lens, share of the columns it looks at, clusters of each class it starts from, kind of experts, and what
    its gate prior is worth. `whole` fits are of one covariance over all rows; the others are of that within classes."""

    lens: int
    k: int
    experts: str | None
    share: float = 1.0
    rows_worth: float = 3.0
    n_sticks: int | None = None
    whole: bool = False


@dataclass(frozen=True)
class Hyper:
    """Hyper-parameters of [1] that a caller may set; None: the plan's own."""

    a_0: float = 0.01
    b_0: float = 0.01
    gamma_0: float = 0.1
    tau_10: float = 0.05
    tau_20: float = 0.05
    u_0: float = 0.1
    nu_0: float | None = None


@dataclass
class Fitting:
    """A fit on its way: the loop's state. It begins within its first step, so that starts run in parallel too."""

    number: int
    state: Any = None  # GatedState, or of other problems what their steps take


class Problem(Protocol):
    """What the loop runs: anything with a start and a step."""

    def init(self, rng: np.random.Generator) -> Any: ...

    def step(self, rng: np.random.Generator, state: Any) -> tuple[Any, Mapping[str, float]]: ...


@dataclass
class Data:
    """The training rows of every lens, their labels (-1: none) and weights."""

    table: Table
    lenses: list[Lens]
    rows: list[Rows]
    label: np.ndarray
    weight: np.ndarray
    n_classes: int

    @classmethod
    def make(cls, table: Table, lenses: list[Lens], label: np.ndarray, weight: np.ndarray, n_classes: int) -> Data:
        return cls(table, lenses, [lens.rows(table) for lens in lenses], label, weight, n_classes)


def some_rows(data: Data, most: int, rng: np.random.Generator) -> Data:
    """At most so many of the rows, drawn."""
    if len(data.label) <= most:
        return data
    some = np.sort(rng.choice(len(data.label), most, replace=False, shuffle=False))
    rows = [part.take(some) for part in data.rows]
    table = Table(data.table.schema, data.table.codes[some], data.table.reals[some])
    return Data(table, data.lenses, rows, data.label[some], data.weight[some], data.n_classes)


def make_problem(
    plan: Plan, data: Data, hyper: Hyper, rng: np.random.Generator, view: View | None = None
) -> GatedProblem:
    """The problem of a plan; a share of the columns is drawn, unless the `view` is given."""
    plan = replace(plan, k=min(plan.k, max(MOST_CLUSTERS // data.n_classes, 1)))
    view, priors = view_and_priors(plan, data, hyper, rng, view)
    rows = data.rows[plan.lens]
    return GatedProblem.make(view, rows, data.label, data.weight, data.n_classes, priors, plan.k)


def view_and_priors(
    plan: Plan, data: Data, hyper: Hyper, rng: np.random.Generator, view: View | None = None
) -> tuple[View, Priors]:
    """What a fit looks at, unless it is given, and its priors."""
    rows = data.rows[plan.lens]
    if view is None:
        chosen = _some_columns(plan.share, data.table.schema.n_columns, rng)
        view = make_view(data.lenses[plan.lens], rows, data.weight, CELL_ROWS, chosen)
    x = rows.reals[:, view.reals]
    within = np.zeros(len(x), np.int64) if plan.whole else data.label
    worth = plan.rows_worth if hyper.nu_0 is None else hyper.nu_0 - view.width - 2.0
    n_sticks = plan.n_sticks or plan.k * data.n_classes
    priors = Priors(
        gate_prior(x, within, data.weight, worth, hyper.u_0), plan.experts if data.n_classes > 1 else None, n_sticks,
        hyper.tau_10, hyper.tau_20, hyper.a_0, hyper.b_0, hyper.gamma_0,
    )  # fmt: skip
    return view, priors


def _some_columns(share: float, n: int, rng: np.random.Generator) -> np.ndarray | None:
    if share == 1.0:
        return None
    return np.sort(rng.permutation(n)[: min(max(2, int(np.ceil(share * n))), n)])


def run_fits(
    problems: Sequence[Problem], streams: Sequence[np.random.Generator], max_iter: int, stop: loop.Stop | None,
    runner: Runner, fingerprint: str, from_tree: Callable[[Any], Any] = GatedState.from_tree,
    keep: Callable[[int, Any], Any] | None = None, kept_from_tree: Callable[[Any], Any] | None = None,
) -> tuple[list[Any], Outcome]:  # fmt: skip
    """All fits to the end; the states reached. A fit that a stop left without a step begins only.

    `from_tree` undoes the `to_tree` of the problems' states, for checkpoints; `keep(step, state)` says what is kept of
    a step, if anything, and `kept_from_tree` undoes its `to_tree`.
    """

    def step(rng: np.random.Generator, fitting: Fitting) -> tuple[Fitting, Mapping[str, float]]:
        problem = problems[fitting.number]
        state = problem.init(rng) if fitting.state is None else fitting.state
        state, info = problem.step(rng, state)
        return replace(fitting, state=state), info

    def pack(fitting: Fitting) -> dict[str, Any]:
        return {"number": fitting.number, "state": None if fitting.state is None else fitting.state.to_tree()}

    def unpack(tree: dict[str, Any]) -> Fitting:
        return Fitting(tree["number"], None if tree["state"] is None else from_tree(tree["state"]))

    checkpoint = None
    if runner.checkpoint is not None:
        checkpoint = Checkpoint(runner.checkpoint, fingerprint, pack, unpack)
        if kept_from_tree is not None:
            checkpoint = replace(checkpoint, pack_kept=lambda kept: kept.to_tree(), unpack_kept=kept_from_tree)
    outcome = loop.run(
        step, [Fitting(k) for k in range(len(problems))], list(streams), max_iter, stop=stop,
        keep=None if keep is None else lambda _, number, fitting: keep(number, fitting.state),
        n_jobs=runner.n_jobs, time_budget=runner.time_left(), checkpoint=checkpoint,
        progress=make_monitor(runner.progress, None, runner.label),
    )  # fmt: skip
    states = []
    for k, fitting in enumerate(outcome.states):
        states.append(problems[k].init(outcome.streams[k]) if fitting.state is None else fitting.state)
    return states, outcome
