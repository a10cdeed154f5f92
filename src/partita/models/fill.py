"""What the states say of missing cells: means, spreads and probabilities, or whole draws; and rows made from
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..data.schema import Schema
from ..data.table import Table
from ..kernels.contract import (
    BACKGROUND,
    BINARY,
    CATEGORICAL,
    CLASS_ONLY,
    COUNT,
    FIRST_RESTAURANT,
    Layout,
    Predictive,
    Rows,
)
from . import block, vote
from .ensemble import Ensemble, class_shares, responsibilities
from .lens import Lens, Sight
from .predictive import log_density

HUGE_RATE = 1e12  # from here on a Poisson draw and its normal limit differ by less than a millionth of its spread


@dataclass
class Beliefs:
    """About every cell of a table: level probabilities of discrete columns, first two moments of numeric ones
    (table units).
    """

    level: list[np.ndarray]  # per discrete column (rows, levels)
    first: np.ndarray  # (rows, numeric columns)
    second: np.ndarray
    blocks: dict[tuple[int, ...], block.Moments] = field(default_factory=dict)  # while states are being added

    def mean_table(self, table: Table) -> Table:
        """Holes filled with the most probable level, the mean, or the nearest count to the mean."""
        codes, reals = table.codes.copy(), table.reals.copy()
        for j, p in enumerate(self.level):
            hole = codes[:, j] < 0
            codes[hole, j] = p[hole].argmax(axis=1)
        for j, column in enumerate(table.schema.numeric):
            if not table.schema.columns[column].observed:  # nothing is known of it: its holes stay
                continue
            hole = np.isnan(reals[:, j])
            value = self.first[hole, j]
            reals[hole, j] = _whole(value) if table.schema.kinds[column] == "count" else value
        return Table(table.schema, codes, reals)

    def spread(self, table: Table) -> np.ndarray:
        """Standard deviation of every missing cell in the caller's units (discrete: of its code), 0 where observed."""
        out = np.zeros((len(table), table.schema.n_columns))
        for j, column in enumerate(table.schema.discrete):
            k = np.arange(self.level[j].shape[1])
            mean = self.level[j] @ k
            out[:, column] = np.sqrt(np.maximum(self.level[j] @ k**2 - mean**2, 0))
        for j, column in enumerate(table.schema.numeric):
            variance = np.maximum(self.second[:, j] - self.first[:, j] ** 2, 0)
            with np.errstate(over="ignore"):
                spread = np.sqrt(variance) * table.schema.columns[column].scale
            out[:, column] = np.minimum(spread, np.finfo(np.float64).max)
        out[table.observed()] = 0.0
        return out


def _whole(value: np.ndarray) -> np.ndarray:
    """The nearest counts: a lens may have shown a count column as a real one."""
    return np.maximum(np.round(value), 0.0)


def beliefs(ensemble: Ensemble, table: Table) -> Beliefs:
    """Averaged over states, classes and groups, given each row's observed cells."""
    schema, n = table.schema, len(table)
    out = Beliefs(
        [np.zeros((n, k)) for k in schema.n_levels],
        np.zeros((n, len(schema.numeric))),
        np.zeros((n, len(schema.numeric))),
    )
    rows = [lens.rows(table) for lens in ensemble.lenses]
    for state, k, w in zip(ensemble.states, ensemble.lens_of, ensemble.weight, strict=True):
        lens = ensemble.lenses[k]
        share = w * _class_share(ensemble, lens.layout, rows[k], state)
        for c in range(ensemble.n_classes):
            weight = _group_weights(lens.layout, rows[k], state, c)
            _add_state(out, lens, rows[k], state, c, weight, share[:, c])
    for sources, moments in out.blocks.items():
        out.first[:, sources], out.second[:, sources] = moments.totals()
    return out


def _class_share(ensemble: Ensemble, layout: Layout, rows: Rows, state: Predictive) -> np.ndarray:
    if ensemble.n_classes == 1:
        return np.ones((len(rows), 1))
    return vote.posteriors(log_density(layout, rows, state), ensemble.log_prior, ensemble.temperature)


def _group_weights(layout: Layout, rows: Rows, state: Predictive, c: int) -> list[np.ndarray]:
    """p(group | row) for each view; background and class-only views have one group."""
    one = np.ones((len(rows), 1))
    restaurants = range(state.log_weight.shape[0])
    return [one, one, *(responsibilities(layout, rows, state, r, c) for r in restaurants)]


def _add_state(
    out: Beliefs, lens: Lens, rows: Rows, state: Predictive, c: int, weight: list[np.ndarray], share: np.ndarray
) -> None:
    spike: np.ndarray | None = None
    for d, sight in enumerate(lens.sights):
        view = int(state.view[d])
        r = weight[view]
        cls = 0 if view == BACKGROUND else c
        if sight.what == "codes":
            out.level[sight.source] += share[:, None] * (
                r @ level_probabilities(lens.layout, state, cls, d, r.shape[1])
            )
            continue
        if sight.what == "block":
            moments = out.blocks.setdefault(sight.sources, block.Moments(lens.layout, rows, d))
            moments.take(state, cls, share[:, None] * r)
            continue
        j = sight.source
        if sight.what == "spike":
            spike = r @ level_probabilities(lens.layout, state, cls, d, r.shape[1])[:, 1]
            continue
        if sight.what == "levels":
            p = r @ level_probabilities(lens.layout, state, cls, d, r.shape[1])
            values = sight.values if len(sight.values) else np.zeros(1)
            first, second = p[:, : len(values)] @ values, p[:, : len(values)] @ values**2
        else:
            m1, m2 = cell_moments(lens.layout, state, cls, d, r.shape[1], sight)
            first, second = r @ m1, r @ m2
        if spike is not None and not np.isnan(sight.at):
            first, second = (1 - spike) * first + spike * sight.at, (1 - spike) * second + spike * sight.at**2
            spike = None
        out.first[:, j] += share * first
        out.second[:, j] += share * second


def level_probabilities(layout: Layout, state: Predictive, c: int, d: int, n: int) -> np.ndarray:
    """(groups, levels) predictive of a discrete column."""
    t = state.table[c, layout.table_first[d] :, :n]
    if layout.kind[d] == BINARY:
        return np.exp(np.stack([t[1], t[0]], axis=1))
    assert layout.kind[d] == CATEGORICAL
    return np.exp(t[1 : 1 + layout.levels[d]] + t[0]).T


def student(layout: Layout, state: Predictive, c: int, d: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centre, scale and degrees of freedom of a real column's predictive in each group."""
    _, centre, inverse, power = state.table[c, layout.table_first[d] : layout.table_first[d] + 4, :n]
    nu = 2 * power - 1
    return centre, np.sqrt(1 / (inverse * nu)), nu


def negative_binomial(layout: Layout, state: Predictive, c: int, d: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Size r and success probability of a count column's predictive (NumPy's convention: failures before r
    successes).
    """
    r, _, log_q = state.table[c, layout.table_first[d] : layout.table_first[d] + 3, :n]
    return r, -np.expm1(log_q)


def draw_counts(r: np.ndarray, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draws of a negative binomial of any mean: Poisson with a Gamma rate, and where that is huge its normal limit.

    NumPy's own sampler refuses means near 2^63, which one absurd cell is enough to reach.
    """
    with np.errstate(over="ignore", divide="ignore"):
        rate = np.minimum(rng.standard_gamma(r) * ((1 - p) / p), np.finfo(np.float64).max / 2)
    huge = rate > HUGE_RATE
    draws = rng.poisson(np.where(huge, 0.0, rate)).astype(np.float64)
    noise = rng.standard_normal(int(huge.sum()))
    draws[huge] = np.round(rate[huge] + np.sqrt(rate[huge]) * noise)
    return draws


def cell_moments(
    layout: Layout, state: Predictive, c: int, d: int, n: int, sight: Sight
) -> tuple[np.ndarray, np.ndarray]:
    """First two moments of a numeric column in each group, in table units."""
    if layout.kind[d] == COUNT:
        r, p = negative_binomial(layout, state, c, d, n)
        mean = r * (1 - p) / p
        return mean, mean / p + mean**2
    centre, scale, nu = student(layout, state, c, d, n)
    # a Student t with few degrees of freedom has no variance; its scale stands in for the spread
    variance = scale**2 * np.where(nu > 3, nu / np.maximum(nu - 2, 1e-9), 3.0)
    if sight.what == "scores":
        mean = sight.back(centre)
        step = (sight.back(centre + np.sqrt(variance)) - sight.back(centre - np.sqrt(variance))) / 2
        return mean, mean**2 + step**2
    mean = sight.back(centre)
    return mean, mean**2 + variance * sight.spread**2


def draw_tables(ensemble: Ensemble, table: Table, n_draws: int, rng: np.random.Generator) -> list[Table]:
    """Completed tables: each from one state drawn by weight; class and groups of a row drawn given its observed
    cells.
    """
    ensemble = ensemble.density_part()
    chosen = rng.choice(len(ensemble.states), n_draws, p=ensemble.weight / ensemble.weight.sum())
    cache: dict[int, Rows] = {}
    out = []
    for s in chosen:
        k = ensemble.lens_of[s]
        lens, state = ensemble.lenses[k], ensemble.states[s]
        rows = cache.setdefault(k, lens.rows(table))
        label = _draw_index(_class_share(ensemble, lens.layout, rows, state), rng)
        groups = np.zeros((FIRST_RESTAURANT + state.log_weight.shape[0], len(rows)), int)
        for c in np.unique(label):
            mine = np.flatnonzero(label == c)
            weight = _group_weights(lens.layout, rows.take(mine), state, c)
            for v in range(FIRST_RESTAURANT, len(groups)):
                groups[v, mine] = _draw_index(weight[v], rng)
        out.append(_draw_cells(lens, state, table, label, groups, rng))
    return out


def _draw_index(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    edge = np.cumsum(p, axis=1)
    return np.minimum((rng.random((len(p), 1)) * edge[:, -1:] >= edge).sum(axis=1), p.shape[1] - 1)


def _draw_cells(
    lens: Lens, state: Predictive, table: Table, label: np.ndarray, groups: np.ndarray, rng: np.random.Generator
) -> Table:
    codes, reals = table.codes.copy(), table.reals.copy()
    at_spike: np.ndarray | None = None
    for d, sight in enumerate(lens.sights):
        view = int(state.view[d])
        cls = np.zeros_like(label) if view == BACKGROUND else label
        g = groups[view] if view > CLASS_ONLY else np.zeros_like(label)
        if sight.what == "block":
            reals[:, sight.sources] = block.draw(lens.layout, state, d, cls, g, reals[:, sight.sources], rng)
            continue
        hole = codes[:, sight.source] < 0 if sight.what == "codes" else np.isnan(reals[:, sight.source])
        if sight.what == "spike" or not hole.any():
            at_spike = np.zeros(len(label), bool)
        if not hole.any() or not table.schema.columns[sight.column].observed:
            continue
        shown = _draw_column(lens.layout, state, d, cls[hole], g[hole], rng)
        if sight.what == "codes":
            codes[hole, sight.source] = shown
        elif sight.what == "spike":
            at_spike = np.zeros(len(label), bool)
            at_spike[hole] = shown == 1
        else:
            value = sight.back(shown)
            if not np.isnan(sight.at) and at_spike is not None:
                value = np.where(at_spike[hole], sight.at, value)
            reals[hole, sight.source] = _whole(value) if table.schema.kinds[sight.column] == "count" else value
    return Table(table.schema, codes, reals)


def _draw_column(
    layout: Layout, state: Predictive, d: int, cls: np.ndarray, g: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    out = np.zeros(len(cls))
    for c in np.unique(cls):
        mine = cls == c
        n = int(g[mine].max()) + 1
        if layout.kind[d] in (BINARY, CATEGORICAL):
            out[mine] = _draw_index(level_probabilities(layout, state, c, d, n)[g[mine]], rng)
        elif layout.kind[d] == COUNT:
            r, p = negative_binomial(layout, state, c, d, n)
            out[mine] = draw_counts(r[g[mine]], p[g[mine]], rng)
        else:
            centre, scale, nu = student(layout, state, c, d, n)
            out[mine] = centre[g[mine]] + scale[g[mine]] * rng.standard_t(nu[g[mine]])
    return out


def sample_table(ensemble: Ensemble, schema: Schema, n: int, rng: np.random.Generator) -> tuple[Table, np.ndarray]:
    """New rows and their classes, each row from a state, class and groups of its own."""
    ensemble = ensemble.density_part()
    blank = Table(schema, np.full((n, len(schema.discrete)), -1, np.int32), np.full((n, len(schema.numeric)), np.nan))
    which = rng.choice(len(ensemble.states), n, p=ensemble.weight / ensemble.weight.sum())
    label, chosen = np.zeros(n, int), rng.random(n)
    codes, reals = blank.codes.copy(), blank.reals.copy()
    for s in np.unique(which):
        mine = np.flatnonzero(which == s)
        lens, state = ensemble.lenses[ensemble.lens_of[s]], ensemble.states[s]
        label[mine] = np.searchsorted(np.cumsum(class_shares(state, ensemble.log_prior))[:-1], chosen[mine], "right")
        groups = np.zeros((FIRST_RESTAURANT + state.log_weight.shape[0], len(mine)), int)
        for r in range(state.log_weight.shape[0]):
            with np.errstate(under="ignore"):
                groups[FIRST_RESTAURANT + r] = _draw_index(np.exp(state.log_weight[r, label[mine]]), rng)
        part = _draw_cells(lens, state, blank.take(mine), label[mine], groups, rng)
        codes[mine], reals[mine] = part.codes, part.reals
    return Table(schema, codes, reals), label


def sample_groups(lens: Lens, state: Predictive, schema: Schema, group: np.ndarray, rng: np.random.Generator) -> Table:
    """New rows, each from the given group of a state with one restaurant and one class."""
    n = len(group)
    blank = Table(schema, np.full((n, len(schema.discrete)), -1, np.int32), np.full((n, len(schema.numeric)), np.nan))
    groups = np.zeros((FIRST_RESTAURANT + 1, n), int)
    groups[FIRST_RESTAURANT] = group
    return _draw_cells(lens, state, blank, np.zeros(n, int), groups, rng)
