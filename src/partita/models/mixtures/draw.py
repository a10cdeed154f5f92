"""Draws from the states: missing cells of a table, and rows made from nothing."""

from __future__ import annotations

import numpy as np

from ...data.schema import Schema
from ...data.table import Table
from ...kernels.contract import (
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
from ..lens import Lens
from . import block
from .cell_laws import class_share, group_weights, level_probabilities, negative_binomial, student
from .ensemble import Ensemble, class_shares
from .fill import whole

ROWS_AT_ONCE = 20_000  # of all tables that one state completes together
HUGE_RATE = 1e12  # from here on a Poisson draw and its normal limit differ by less than a millionth of its spread


def draw_tables(ensemble: Ensemble, table: Table, n_draws: int, rng: np.random.Generator) -> list[Table]:
    """Completed tables: each from one state drawn by weight; class and groups of a row drawn given its observed
    cells. The states are those of `fill.beliefs`, so that draws have the means and spreads that it tells.
    """
    ensemble = ensemble.heaped_part()
    chosen = rng.choice(len(ensemble.states), n_draws, p=ensemble.weight / ensemble.weight.sum())
    seen = {k: ensemble.lenses[k].rows(table) for k in {ensemble.lens_of[s] for s in chosen}}
    out: dict[int, Table] = {}
    at_once = max(ROWS_AT_ONCE // len(table), 1)
    for s in np.unique(chosen):
        k, state = ensemble.lens_of[s], ensemble.states[s]
        share = class_share(ensemble, ensemble.lenses[k].layout, seen[k], state)
        places = np.flatnonzero(chosen == s)
        for own in np.split(places, range(at_once, len(places), at_once)):
            drawn = _draw_copies(ensemble.lenses[k], state, table, seen[k], share, len(own), rng)
            out.update({place: drawn.take(slice(c * len(table), (c + 1) * len(table))) for c, place in enumerate(own)})
    return [out[place] for place in range(n_draws)]


def _draw_copies(
    lens: Lens, state: Predictive, table: Table, rows: Rows, share: np.ndarray, n_copies: int, rng: np.random.Generator
) -> Table:
    """The table completed so many times by one state, one below the other; `share` is p(class | row)."""
    index = np.tile(np.arange(len(table)), n_copies)
    label = _draw_index(share[index], rng)
    groups = np.zeros((FIRST_RESTAURANT + state.log_weight.shape[0], len(index)), int)
    for c in np.unique(label):
        mine = np.flatnonzero(label == c)
        needed, at = np.unique(index[mine], return_inverse=True)
        weight = group_weights(lens.layout, rows.take(needed), state, c)
        for v in range(FIRST_RESTAURANT, len(groups)):
            groups[v, mine] = _draw_index(weight[v][at], rng)
    return _draw_cells(lens, state, table.take(index), label, groups, rng)


def sample_table(ensemble: Ensemble, schema: Schema, n: int, rng: np.random.Generator) -> tuple[Table, np.ndarray]:
    """New rows and their classes, each row from a state, class and groups of its own.

    The law is that of `score_samples`, but where values are heaped it is that of `draw_tables`, which knows them.
    """
    part = ensemble.heaped_part()
    ensemble = part if part.lenses[part.lens_of[0]].has_heaps else ensemble.density_part()
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
        drawn = _draw_cells(lens, state, blank.take(mine), label[mine], groups, rng)
        codes[mine], reals[mine] = drawn.codes, drawn.reals
    return Table(schema, codes, reals), label


def sample_groups(lens: Lens, state: Predictive, schema: Schema, group: np.ndarray, rng: np.random.Generator) -> Table:
    """New rows, each from the given group of a state with one restaurant and one class."""
    n = len(group)
    blank = Table(schema, np.full((n, len(schema.discrete)), -1, np.int32), np.full((n, len(schema.numeric)), np.nan))
    groups = np.zeros((FIRST_RESTAURANT + 1, n), int)
    groups[FIRST_RESTAURANT] = group
    return _draw_cells(lens, state, blank, np.zeros(n, int), groups, rng)


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
            known = [table.schema.columns[column].observed for column in sight.columns]
            drawn = block.draw(lens.layout, state, d, cls, g, reals[:, sight.sources], rng)
            reals[:, sight.sources] = np.where(known, drawn, reals[:, sight.sources])
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
            reals[hole, sight.source] = whole(value) if table.schema.kinds[sight.column] == "count" else value
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
