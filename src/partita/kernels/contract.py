"""What the kernels take: dataclasses of C-contiguous arrays with fixed dtypes, allocated by the caller.

A native kernel and its plain twin take the same objects and the same random numbers and write into the same arrays,
so they can be compared draw by draw. Symbols: D columns, n rows, C classes, R restaurants, G capacity (groups a class
can hold, a multiple of eight), S statistics and T table entries per group.

| kind | statistics of a group | predictive table | hyper-parameters |
|---|---|---|---|
| BINARY | ones, zeros | log p(1), log p(0) | a, b |
| CATEGORICAL | n, count of each level | -log(h + n), log(h base + count) of each level | strength h |
| COUNT | n, sum | r, r log p - log Gamma(r), log(1 - p) of a negative binomial | shape, rate |
| REAL | n, sum, sum of squares | constant, centre, inverse, power of a Student t | kappa, nu, sigma^2, mean |
| CORRELATED | n, sums, products, factor (one block for all its columns) | none | kappa, nu, sigma^2, mean |

A correlated block of P columns has a normal-inverse-Wishart prior with every coordinate of the mean at `mean` and
scale matrix Psi_0 = sigma^2 (nu - P - 1) I, so that the prior expectation of the covariance is sigma^2 I; the grid of
nu counts from P + 1. Its factor is the upper triangle U with U'U = Psi_n, the scale matrix given the group's rows. A
layout has one block at most, and the block sits in a restaurant for good (elsewhere only `relabel_sweep` would draw
its missing cells).

Columns sit in views: 0 is the background (one group for all rows), 1 "class only" (one group a class), 2 + r
restaurant r, where the rows of each class are partitioned into groups. The statistics of column d in group g of class
c stand in `stats[c, g]`, g being counted within the view of d; unused classes and groups of a view hold nothing.
Group `used` is always empty and ready.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

BINARY, CATEGORICAL, COUNT, REAL, CORRELATED = range(5)
BACKGROUND, CLASS_ONLY, FIRST_RESTAURANT = range(3)
SYSTEMATIC, STRATIFIED, RESIDUAL, MULTINOMIAL = range(4)
# stages of a step of a chain
SHUFFLE, SEATS, PROPOSALS, CONCENTRATIONS, VIEWS, HYPER, DONE = range(7)
N_HYPER = 4
MOST_ENTERED = 20_000_000  # cells


@dataclass
class Layout:
    """What the columns are. `source` is the column of `Rows.codes` (binary, categorical) or `Rows.reals` (the
    others).
    """

    kind: np.ndarray  # uint8 (D,)
    source: np.ndarray  # int32 (D,)
    levels: np.ndarray  # int32 (D,): levels of a discrete column, columns of a correlated block, else 1
    stat_first: np.ndarray  # int32 (D,)
    table_first: np.ndarray  # int32 (D,)
    base_first: np.ndarray  # int32 (D,)
    base: np.ndarray  # float64: Dirichlet mean of every level of a categorical column, the mean of a count column
    n_stats: int
    n_table: int

    @property
    def n_columns(self) -> int:
        return len(self.kind)


@dataclass
class Rows:
    """A table as the kernels see it: codes (-1 missing) and reals (NaN missing).

    Where many codes are missing, `listed` adds those that are not, row after row: of row i the columns
    `cells[first[i] : first[i + 1]]` and their codes in `listed_codes`. Where all columns are binary, `entered` adds
    the table entries of row i, `entries[entry_first[i] : entry_first[i + 1]]`, for sweeps over all columns together.
    """

    codes: np.ndarray  # int32 (n, discrete columns)
    reals: np.ndarray  # float64 (n, numeric columns)
    first: np.ndarray | None = None  # int64 (n + 1,)
    cells: np.ndarray | None = None  # int32
    listed_codes: np.ndarray | None = None  # int32
    entry_first: np.ndarray | None = None  # int64 (n + 1,)
    entries: np.ndarray | None = None  # int32

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, index: np.ndarray) -> Rows:
        return Rows(np.ascontiguousarray(self.codes[index]), np.ascontiguousarray(self.reals[index]))

    def listed(self, share: float = 0.2) -> Rows:
        """The same rows with their observed codes listed, if more than `share` of the codes are missing."""
        observed = self.codes >= 0
        counts = observed.sum(axis=1)
        if not observed.size or counts.sum() >= (1 - share) * observed.size:
            return self
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return Rows(self.codes, self.reals, first, np.nonzero(observed)[1].astype(np.int32), self.codes[observed])

    def entered(self, layout: Layout) -> Rows:
        """The same rows with their table entries, where all columns are binary and memory for it is little."""
        if not layout.n_columns or (layout.kind != BINARY).any() or self.codes.size > MOST_ENTERED:
            return self
        codes = self.codes[:, layout.source]
        observed = codes >= 0
        first = np.concatenate([[0], np.cumsum(observed.sum(axis=1))]).astype(np.int64)
        entries = (layout.table_first + (codes != 1))[observed].astype(np.int32)
        return replace(self, entry_first=first, entries=entries)


@dataclass
class Chain:
    """The state of one chain: everything needed to continue it."""

    hyper: np.ndarray  # float64 (D, 4)
    at: np.ndarray  # int32 (D, 4): where the hyper-parameters sit on their grids
    view: np.ndarray  # int32 (D,)
    label: np.ndarray  # int32 (n,): class of every row; drawn where it is missing
    z: np.ndarray  # int32 (R, n): group of every row in every restaurant
    used: np.ndarray  # int32 (R, C): groups in use
    size: np.ndarray  # float64 (R, C, G)
    alpha: np.ndarray  # float64 (R, C)
    stats: np.ndarray  # float64 (C, G, S)
    table: np.ndarray  # float64 (C, T, G)
    # float64 (n, width of the correlated block): its cells, drawn where missing; a row with none of them adds nothing
    filled: np.ndarray
    cap: int  # hard limit on groups in a restaurant and class
    # float64 (R, C), not positive: a row joins a group in proportion to its size - discount, a new one beside k others
    # in proportion to alpha + discount k. Not given: 0 throughout, the Chinese restaurant process
    discount: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.discount is None:
            self.discount = np.zeros(self.alpha.shape)

    @property
    def capacity(self) -> int:
        return self.stats.shape[1]


@dataclass
class Predictive:
    """What a state says of a new row: in every restaurant and class a weighted mixture of groups, the new one last."""

    view: np.ndarray  # int32 (D,)
    hyper: np.ndarray  # float64 (D, 4)
    stats: np.ndarray  # float64 (C, G, S); only read for a correlated block, else it may be empty
    table: np.ndarray  # float64 (C, T, G)
    log_weight: np.ndarray  # float64 (R, C, G)
    used: np.ndarray  # int32 (R, C): groups with a weight


@dataclass
class Filter:
    """A particle filter over the rows of one class; particles share groups. Group 0 is the empty group.

    `seats[p, k]` is the group at seat k of particle p, `refs[g]` the number of particles that hold group g,
    `history[p, w]` the seat of the row kept at place w of the window, `totals` = rows seen, log evidence, number of
    resamplings.
    """

    stats: np.ndarray  # float64 (G, S)
    table: np.ndarray  # float64 (T, G)
    size: np.ndarray  # float64 (G,)
    refs: np.ndarray  # int32 (G,)
    seats: np.ndarray  # int32 (P, room)
    used: np.ndarray  # int32 (P,)
    log_weight: np.ndarray  # float64 (P,), mean weight one
    alpha: np.ndarray  # float64 (P,)
    history: np.ndarray  # int32 (P, window)
    totals: np.ndarray  # float64 (3,)
    cap: int
    # float64 (P, window, width): cells of the correlated block of the rows in the window; width 0: none, or not kept
    filled: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0)))


@dataclass
class SeatingLaws:
    """A grid of laws of seating with their log prior; points of one discount lie together."""

    alpha: np.ndarray  # float64 (points,)
    discount: np.ndarray  # float64 (points,)
    log_prior: np.ndarray  # float64 (points,)


@dataclass
class Grids:
    """Grids of the hyper-parameters, and log Gamma(a + k) - log Gamma(a) on the grid of beta for k = 0, 1, .."""

    beta: np.ndarray
    strength: np.ndarray
    shape: np.ndarray
    scale: np.ndarray
    kappa: np.ndarray
    nu: np.ndarray
    sigma: np.ndarray
    sums: np.ndarray  # beta[i] + beta[j] for i <= j, row by row
    rise: np.ndarray  # (counts, len(beta) padded to a multiple of eight)
    rise_sum: np.ndarray  # (counts, len(sums) padded)


@dataclass
class Moves:
    """What a step of a chain does, in the order of its stages, and the random numbers for it; a move without numbers
    (None) is left out. Rows with a label stand in `order` sorted by class, those of class c from `offset[c]` on.
    """

    order: np.ndarray  # int64 (rows,); shuffled within the classes by the step
    offset: np.ndarray  # int64 (C + 1,)
    shuffle: np.ndarray  # float64 (rows,)
    seats: np.ndarray  # float64 (R, rows)
    seeds: np.ndarray | None = None  # uint64 (R, C): split-merge
    n_proposals: int = 0  # in every restaurant and class
    laws: SeatingLaws | None = None
    concentrations: np.ndarray | None = None  # float64 (R, C)
    views: np.ndarray | None = None  # float64 (D,)
    grids: Grids | None = None
    hyper: np.ndarray | None = None  # float64 (D, 3)
    cells_per_call: float = 8e7  # scores of cells after which a call ends: some tens of milliseconds


@dataclass
class CodedRows:
    """Complete rows of levels, attribute by attribute: what Kikuchi-Bayes regions are counted on."""

    codes: np.ndarray  # int32 (d, n): level of every row, 0 .. levels[j] - 1
    levels: np.ndarray  # int32 (d,)


@dataclass
class Regions:
    """m regions of one order; region j owns cells `offset[j] : offset[j + 1]` of every table, last member fastest."""

    members: np.ndarray  # int32 (m, order), each row increasing; lexicographic order of the rows is fastest
    offset: np.ndarray  # int64 (m + 1,)

    def __len__(self) -> int:
        return len(self.members)


@dataclass
class Moments:
    """Sums over rows of V numbers times products of up to three indicators, from which tables of sums follow.

    Attribute j has one indicator for each of its levels but level 0: the columns `first[j] : first[j + 1]` of K.
    `three` is needed for regions of order 3 only, all of which then begin with the same attribute.
    """

    first: np.ndarray  # int32 (d + 1,)
    zero: np.ndarray  # float64 (V,)
    one: np.ndarray  # float64 (V, K)
    two: np.ndarray  # float64 (V, K, K), of which the upper triangle is read
    three: np.ndarray  # float64 (V, levels of the first attribute - 1, K, K)


def table_width(kind: int, levels: int) -> int:
    """Entries of the predictive table of one column."""
    return {BINARY: 2, CATEGORICAL: levels + 1, COUNT: 3, REAL: 4, CORRELATED: 0}[kind]


def stat_width(kind: int, levels: int) -> int:
    """Statistics of one column."""
    return {BINARY: 2, CATEGORICAL: levels + 1, COUNT: 2, REAL: 3, CORRELATED: 1 + levels + 2 * levels * levels}[kind]


def pad(n: int) -> int:
    """The next multiple of eight: groups are scored eight at a time."""
    return (n + 7) // 8 * 8


def make_layout(kind, source, levels, base: list[np.ndarray]) -> Layout:
    """Lay the columns out one after the other; `base[d]` as in `Layout.base` (empty for kinds without one)."""
    columns = list(zip(kind, levels, base, strict=True))
    widths = [(0, 0, 0), *((stat_width(k, n), table_width(k, n), len(b)) for k, n, b in columns)]
    firsts = np.cumsum(np.array(widths, np.int64), axis=0).T
    stat_first, table_first, base_first = firsts[:, :-1].astype(np.int32)
    flat = np.concatenate([np.asarray(b, float) for b in base]) if base else np.zeros(0)
    return Layout(
        np.asarray(kind, np.uint8), np.asarray(source, np.int32), np.asarray(levels, np.int32),
        np.ascontiguousarray(stat_first), np.ascontiguousarray(table_first), np.ascontiguousarray(base_first),
        flat, int(firsts[0, -1]), int(firsts[1, -1]),
    )  # fmt: skip


def grow(chain: Chain, capacity: int) -> None:
    """Make room for more groups; what is there stays."""
    capacity, old = pad(capacity), chain.capacity
    if capacity <= old:
        return
    extra = capacity - old
    chain.size = np.pad(chain.size, ((0, 0), (0, 0), (0, extra)))
    chain.stats = np.pad(chain.stats, ((0, 0), (0, extra), (0, 0)))
    chain.table = np.pad(chain.table, ((0, 0), (0, 0), (0, extra)))
