"""What each of several fits of gated experts looks at and starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...data.table import Table
from ...kernels.contract import Rows
from ..lens import Lens
from .fit import GatedProblem, gate_prior
from .rows import View, make_view
from .state import Priors

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
