"""How a chain looks at the table: from schema columns to the columns of the mixture, learnt on the training rows only.

The plain lens takes every column as what it is. The classifier's lenses also look closer at numeric columns: one with
few distinct values is taken as categorical; a value that holds a large share of the cells (a spike) becomes a column
of its own, "at the spike or not", beside the rest; the rest is standardised, or replaced by its normal scores.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from ..data.scaling import centre_and_scale
from ..data.table import Table
from ..kernels.contract import BINARY, CATEGORICAL, CORRELATED, COUNT, REAL, Layout, Rows, make_layout

FEW_VALUES = 10
SPIKE_SHARE = 0.1


@dataclass(frozen=True, eq=False)
class Sight:
    """One column of the mixture.

    what       "codes", "levels" (nearest of `values`), "spike" (equal to `at` or not), "standard", "scores", "count",
    "block" column     position among the schema's columns (of the first column of a block)
    source     position in the table's codes ("codes") or reals (the others; of the first column of a block)
    columns, sources, log_scales   of every column of a block, in its order; empty for the others
    kind       kind of the kernel column
    levels     number of levels; of columns in a block
    at         the spike's value, NaN where there is none
    values     distinct values ("levels", "scores"), their scores in `scores`
    centre, spread   of a standardised column, in the units of the table
    log_scale  log of the units of one standard deviation in the caller's units
    base       Dirichlet mean of the levels, or the mean of a count
    proper     whether a standardised column is a real one without a spike
    """

    what: str
    column: int
    source: int
    kind: int
    levels: int = 1
    at: float = np.nan
    values: np.ndarray = field(default_factory=lambda: np.zeros(0))
    scores: np.ndarray = field(default_factory=lambda: np.zeros(0))
    centre: float = 0.0
    spread: float = 1.0
    log_scale: float = 0.0
    base: np.ndarray = field(default_factory=lambda: np.zeros(0))
    proper: bool = True
    columns: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()
    log_scales: tuple[float, ...] = ()

    @property
    def discrete(self) -> bool:
        return self.kind in (BINARY, CATEGORICAL)

    def look(self, cells: np.ndarray) -> np.ndarray:
        """The mixture's cells of a column of the table (codes, or reals with NaN)."""
        if self.what in ("codes", "count"):
            return cells
        seen = ~np.isnan(cells)
        if self.what == "levels":
            out = np.full(len(cells), -1, np.int32)
            if len(self.values):
                middle = (self.values[1:] + self.values[:-1]) / 2
                out[seen] = np.searchsorted(middle, cells[seen])
            return out
        if self.what == "spike":
            return np.where(seen, cells == self.at, -1).astype(np.int32)
        if self.what == "scores":
            shown = np.full(len(cells), np.nan)
            if len(self.values):
                shown[seen] = np.interp(cells[seen], self.values, self.scores)
        else:
            shown = (cells - self.centre) / self.spread
        return np.where(cells == self.at, np.nan, shown)

    @property
    def level_values(self) -> np.ndarray:
        """The value of every level; a level beyond the values that were seen is taken as the last of them."""
        if not len(self.values):
            return np.zeros(self.levels)
        return self.values[np.minimum(np.arange(self.levels), len(self.values) - 1)]

    def back(self, shown: np.ndarray) -> np.ndarray:
        """From the mixture's numbers to the table's, for cells away from the spike."""
        if self.what == "levels":
            return self.level_values[shown.astype(int)]
        if self.what == "scores":
            return np.interp(shown, self.scores, self.values)
        return shown * self.spread + self.centre if self.what == "standard" else shown


class Lens:
    """A way to look at tables of one schema: `layout` for the kernels and `rows(table)` for their rows."""

    def __init__(self, sights: list[Sight]):
        self.sights = sights
        place = {True: 0, False: 0}
        source = []
        for sight in sights:
            source.append(place[sight.discrete])
            place[sight.discrete] += sight.levels if sight.kind == CORRELATED else 1
        self.layout: Layout = make_layout(
            [s.kind for s in sights], source, [s.levels for s in sights], [s.base for s in sights]
        )

    @property
    def is_density(self) -> bool:
        """Whether densities of the mixture's cells are densities of the caller's: not through normal scores, levels
        taken from nearby, spikes, or counts taken as real numbers.
        """
        return all(s.what in ("codes", "count", "block") or (s.what == "standard" and s.proper) for s in self.sights)

    @property
    def has_heaps(self) -> bool:
        """Whether it shows values of a numeric column as such: a spike, or few values."""
        return any(s.what == "spike" or (s.what == "levels" and len(s.values)) for s in self.sights)

    def rows(self, table: Table) -> Rows:
        """The cells as the mixture sees them; those of a column that was never observed count as missing."""
        table = _known(table)
        if all(s.what == "codes" for s in self.sights) and len(self.sights) == table.codes.shape[1]:
            return Rows(table.codes, np.zeros((len(table), 0)))
        codes: list[np.ndarray] = []
        reals: list[np.ndarray] = []
        for sight in self.sights:
            if sight.kind == CORRELATED:
                reals.extend(table.reals[:, list(sight.sources)].T)
            elif sight.discrete:
                cells = table.codes if sight.what == "codes" else table.reals
                codes.append(sight.look(cells[:, sight.source]))
            else:
                reals.append(sight.look(table.reals[:, sight.source]))
        n = len(table)
        return Rows(
            np.ascontiguousarray(np.array(codes, np.int32).reshape(len(codes), n).T),
            np.ascontiguousarray(np.array(reals, float).reshape(len(reals), n).T),
        )

    def log_jacobian(self, rows: Rows) -> np.ndarray:
        """What to add to log densities of the mixture's cells to have them in the caller's units."""
        out = np.zeros(len(rows))
        for d, sight in enumerate(self.sights):
            source = self.layout.source[d]
            if sight.kind == CORRELATED:
                out -= ~np.isnan(rows.reals[:, source : source + sight.levels]) @ np.array(sight.log_scales)
            elif sight.log_scale and not sight.discrete:
                out -= sight.log_scale * ~np.isnan(rows.reals[:, source])
        return out

    def to_tree(self) -> list[dict[str, Any]]:
        return [vars(sight) for sight in self.sights]

    @classmethod
    def from_tree(cls, tree: list[dict[str, Any]]) -> Lens:
        return cls([Sight(**fields) for fields in tree])


def _known(table: Table) -> Table:
    """The table without the cells of columns of which no cell was seen in training: nothing was learnt of them. A
    stream's schema says so until the first cell comes.
    """
    seen = np.array([column.observed for column in table.schema.columns], bool)
    if seen.all():
        return table
    codes, reals = table.codes.copy(), table.reals.copy()
    codes[:, ~seen[table.schema.discrete]] = -1
    reals[:, ~seen[table.schema.numeric]] = np.nan
    return Table(table.schema, codes, reals)


def _smoothed(codes: np.ndarray, levels: int) -> np.ndarray:
    counts = np.bincount(codes[codes >= 0], minlength=levels) + 1.0
    return counts / counts.sum()


def _discrete(table: Table, column: int, source: int, uniform: bool) -> Sight:
    binary = table.schema.kinds[column] == "binary"
    levels = int(table.schema.n_levels[source])
    if binary:
        return Sight("codes", column, source, BINARY, 2)
    base = np.full(levels, 1 / levels) if uniform else _smoothed(table.codes[:, source], levels)
    return Sight("codes", column, source, CATEGORICAL, levels, base=base)


def _count(table: Table, column: int, source: int) -> Sight:
    cells = table.reals[:, source]
    seen = cells[~np.isnan(cells)]
    return Sight("count", column, source, COUNT, base=np.array([(seen.sum() + 0.5) / (len(seen) + 1.0)]))


def plain_lens(
    table: Table, *, uniform_base: bool = False, correlated: bool = False, stream: bool = False
) -> Lens:
    """Every column as what its kind says; real columns as the schema standardised them, in one block if
    `correlated`. Columns never observed have no place in a block, but for a stream's, which may meet them yet.
    """
    schema, sights = table.schema, []
    for source, column in enumerate(schema.discrete):
        sights.append(_discrete(table, int(column), source, uniform_base))
    reals = []
    for source, column in enumerate(schema.numeric):
        if schema.kinds[column] == "count":
            sights.append(_count(table, int(column), source))
        elif stream or not correlated or schema.columns[column].observed:
            reals.append((int(column), source))
    log_scales = [float(np.log(schema.columns[column].scale)) for column, _ in reals]
    if correlated and reals:
        columns, sources = zip(*reals, strict=True)
        block = Sight("block", columns[0], sources[0], CORRELATED, len(reals))
        sights.append(replace(block, columns=columns, sources=sources, log_scales=tuple(log_scales)))
        return Lens(sights)
    for (column, source), log_scale in zip(reals, log_scales, strict=True):
        sights.append(Sight("standard", column, source, REAL, log_scale=log_scale))
    return Lens(sights)


def scores_lens(table: Table) -> Lens:
    """The plain lens with real columns as their normal scores: mid-ranks of the training cells, linear between them."""
    sights = []
    for sight in plain_lens(table).sights:
        if sight.kind == REAL:
            cells = table.reals[:, sight.source]
            values, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
            if len(values):
                sight = _scores(sight.column, sight.source, values, counts, np.nan)
        sights.append(sight)
    return Lens(sights)


def _scores(column: int, source: int, values: np.ndarray, counts: np.ndarray, at: float) -> Sight:
    shown = ndtri((np.cumsum(counts) - 0.5 * counts) / counts.sum())
    centre, spread = _moments(shown, counts)
    return Sight("scores", column, source, REAL, at=at, values=values, scores=(shown - centre) / spread)


def _moments(values: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    centre = float(np.average(values, weights=counts))
    return centre, float(np.sqrt(np.average((values - centre) ** 2, weights=counts))) or 1.0


def _numeric(table: Table, column: int, source: int, scores: bool) -> list[Sight]:
    cells = table.reals[:, source]
    values, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
    if len(values) <= FEW_VALUES:
        codes = Sight("levels", column, source, CATEGORICAL, values=values).look(cells)
        levels = max(len(values), 1)
        if levels == 2:
            return [Sight("levels", column, source, BINARY, 2, values=values)]
        return [Sight("levels", column, source, CATEGORICAL, levels, values=values, base=_smoothed(codes, levels))]
    sights, at = [], np.nan
    if counts.max() > SPIKE_SHARE * counts.sum():
        at = float(values[counts.argmax()])
        sights.append(Sight("spike", column, source, BINARY, 2, at=at))
        values, counts = values[values != at], counts[values != at]
    if scores:
        sights.append(_scores(column, source, values, counts, at))
    else:
        centre, spread = centre_and_scale(np.repeat(values, counts))
        log_scale = float(np.log(spread) + np.log(table.schema.columns[column].scale))
        proper = bool(np.isnan(at)) and table.schema.kinds[column] == "real"
        sights.append(
            Sight(
                "standard",
                column,
                source,
                REAL,
                at=at,
                centre=centre,
                spread=spread,
                log_scale=log_scale,
                proper=proper,
            )
        )
    return sights


def close_lens(table: Table, *, scores: bool) -> Lens:
    """The classifier's look: few values as levels, spikes apart, the rest standardised or as normal scores."""
    sights = []
    for source, column in enumerate(table.schema.discrete):
        sights.append(_discrete(table, int(column), source, uniform=False))
    for source, column in enumerate(table.schema.numeric):
        sights.extend(_numeric(table, int(column), source, scores))
    return Lens(sights)
