"""What a chain is given: rows in kernel form, their layout and labels, settings, grids of hyper-parameters; and
room to grow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...kernels import kernel
from ...kernels.contract import (
    BINARY,
    CATEGORICAL,
    CORRELATED,
    COUNT,
    N_HYPER,
    REAL,
    Chain,
    Grids,
    Layout,
    Rows,
    SeatingLaws,
    grow,
    pad,
)
from ...priors.concentration import GRID
from ...priors.seating import all_laws, restaurant_laws

CONCENTRATIONS = GRID
RESTAURANTS, ALL_LAWS = restaurant_laws(), all_laws()
CLASS_PSEUDO_COUNT = 1.0
_COUNTS_TABULATED = 4096


def make_grids(n_rows: int) -> Grids:
    """The hyper-parameter grids, with rising factorials tabulated for counts up to the number of rows."""
    beta = 2.0 ** np.arange(-4, 6)
    k = np.arange(min(n_rows, _COUNTS_TABULATED) + 1)[:, None]

    def rise(a: np.ndarray) -> np.ndarray:
        out = np.zeros((len(k) + 1, pad(len(a))))
        np.cumsum(np.log(a + k), axis=0, out=out[1:, : len(a)])
        return out

    sums = np.concatenate([beta[i] + beta[i:] for i in range(len(beta))])

    return Grids(
        beta=beta,
        strength=2.0 ** np.arange(-2, 9),
        shape=2.0 ** np.arange(-4, 6),
        scale=2.0 ** np.arange(-3, 4),
        kappa=2.0 ** np.arange(-6, 3),
        nu=2.0 ** np.arange(0, 6),
        sigma=2.0 ** np.arange(-8, 2),
        sums=sums,
        rise=rise(beta),
        rise_sum=rise(sums),
    )


@dataclass
class Settings:
    """What a chain does. `alpha` and `column_prior` are fixed where they are numbers, inferred where None."""

    n_classes: int = 1
    n_restaurants: int = 1
    cap: int = 200
    start: int = 50
    alpha: float | None = None
    finite: bool = False  # where alpha is inferred: finite mixtures among the laws of seating
    column_prior: float | None = None
    split_merge: int | None = 0  # proposals in each restaurant and class; None: as many as groups, as the caller counts
    move_columns: bool = True  # between views; needs more than one restaurant or a view to leave to
    grids: Grids = field(default_factory=lambda: make_grids(_COUNTS_TABULATED))

    @property
    def laws(self) -> SeatingLaws:
        """Laws of seating among which the chain chooses."""
        return ALL_LAWS if self.finite else RESTAURANTS


@dataclass
class Problem:
    """The data of a chain: rows in kernel form, their layout, labels (-1 missing)."""

    layout: Layout
    rows: Rows
    label: np.ndarray
    settings: Settings

    @cached_property
    def labelled(self) -> np.ndarray:
        """Rows with a label."""
        return np.flatnonzero(self.label >= 0)

    @cached_property
    def by_class(self) -> np.ndarray:
        """Rows with a label, sorted by class."""
        return self.labelled[np.argsort(self.label[self.labelled], kind="stable")]

    @cached_property
    def offset(self) -> np.ndarray:
        """Where each class begins when the rows with a label are sorted by class."""
        counts = np.bincount(self.label[self.labelled], minlength=self.settings.n_classes)
        return np.concatenate([[0], np.cumsum(counts)])


def initial_hyper(layout: Layout, settings: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Where the hyper-parameters start (or stay): values and positions on the grids."""
    grids, fixed = settings.grids, settings.column_prior
    hyper, at = np.zeros((layout.n_columns, N_HYPER)), np.zeros((layout.n_columns, N_HYPER), np.int32)
    binary, categorical, count = (layout.kind == kind for kind in (BINARY, CATEGORICAL, COUNT))
    at[binary, :2] = 3  # Beta(1/2, 1/2)
    hyper[binary, :2] = grids.beta[3] if fixed is None else fixed
    at[categorical, 0] = 4
    hyper[categorical, 0] = grids.strength[4] if fixed is None else fixed * layout.levels[categorical]
    at[count, :2] = 4, 3  # an exponential with the column's mean
    hyper[count, 0], hyper[count, 1] = 1.0, 1.0 / layout.base[layout.base_first[count]]
    real, block = np.isin(layout.kind, (REAL, CORRELATED)), layout.kind == CORRELATED
    at[real, :3] = 3, 2, 6
    hyper[real, :3] = grids.kappa[3], grids.nu[2], grids.sigma[6]
    hyper[block, 1] += layout.levels[block] + 1
    return hyper, at


def make_room(layout: Layout, chain: Chain, capacity: int) -> None:
    """Room for `capacity` groups, the empty one after those in use with a table of its own."""
    if capacity > chain.capacity:
        grow(chain, capacity)
        kernel.refresh_tables(layout, chain)
