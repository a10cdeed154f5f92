"""Whether the arrays of loaded mixtures, kept states and streams alike, fit together and with the table's columns."""

from __future__ import annotations

import numpy as np

from ...data.schema import Schema
from ...kernels.contract import BINARY, CATEGORICAL, CORRELATED, COUNT, REAL, Filter, Grids, Layout, Predictive
from ..soundness import check_lens, need, need_array, need_within
from .ensemble import Ensemble
from .online import Online
from .rejuvenation import LEAST_EFFORT, MOST_EFFORT


def check_state(state: Predictive, layout: Layout, n_classes: int) -> None:
    need(state.table.ndim == 3 and state.log_weight.ndim == 3, "dimensions of a state")
    room, restaurants, D = state.table.shape[2], state.log_weight.shape[0], layout.n_columns
    need(room % 8 == 0, "room for groups")
    need_array(state.table, "table", (n_classes, layout.n_table, room))
    need_array(state.log_weight, "log_weight", (restaurants, n_classes, room))
    need_array(state.view, "view", (D,), np.int32)
    need_array(state.hyper, "hyper", (D, 4))
    need_array(state.used, "used", (restaurants, n_classes), np.int32)
    need_within(state.view, "view", 0, 1 + restaurants)
    need_within(state.used, "used", 1, room)
    if (layout.kind == CORRELATED).any():
        need_array(state.stats, "stats", (n_classes, room, layout.n_stats))


def check_ensemble(ensemble: Ensemble, schema: Schema) -> None:
    for lens in ensemble.lenses:
        check_lens(lens, schema)
    n, C = len(ensemble.states), len(ensemble.class_count)
    if ensemble.alike is not None:
        need_array(ensemble.alike, "alike", (C,), np.bool_)
    need(n > 0 and len(ensemble.lens_of) == len(ensemble.weight) == len(ensemble.kind_of) == n, "number of states")
    need_within(np.array(ensemble.lens_of), "lens_of", 0, len(ensemble.lenses) - 1)
    for state, k in zip(ensemble.states, ensemble.lens_of, strict=True):
        check_state(state, ensemble.lenses[k].layout, C)


def check_filter(f: Filter, layout: Layout, n_particles: int, window: int) -> None:
    room, capacity = f.seats.shape[-1], f.stats.shape[0]
    need(capacity % 8 == 0, "room for groups")
    need_array(f.stats, "stats", (capacity, layout.n_stats))
    need_array(f.table, "table", (layout.n_table, capacity))
    need_array(f.size, "size", (capacity,))
    need_array(f.refs, "refs", (capacity,), np.int32)
    need_array(f.seats, "seats", (n_particles, room), np.int32)
    need_array(f.used, "used", (n_particles,), np.int32)
    need_array(f.history, "history", (n_particles, window), np.int32)
    for name in ("log_weight", "alpha"):
        need_array(getattr(f, name), name, (n_particles,))
    need_array(f.totals, "totals", (3,))
    width = int(layout.levels[layout.kind == CORRELATED].sum())
    if width:
        need_array(f.filled, "filled", (n_particles, window, width))
    need_within(f.used, "used", 0, room)
    need_within(f.seats, "seats", 0, capacity - 1)
    need_within(f.history, "history", -1, room - 1)
    need_within(f.refs, "refs", 0, n_particles)


def _check_positions(at: np.ndarray, layout: Layout, grids: Grids) -> None:
    ends = {
        BINARY: (grids.beta, grids.beta),
        CATEGORICAL: (grids.strength,),
        COUNT: (grids.shape, grids.scale),
        REAL: (grids.kappa, grids.nu, grids.sigma),
        CORRELATED: (grids.kappa, grids.nu, grids.sigma),
    }
    for kind, parts in ends.items():
        for j, grid in enumerate(parts):
            need_within(at[layout.kind == kind, j], "at", 0, len(grid) - 1)


def check_online(online: Online, schema: Schema) -> None:
    check_lens(online.lens, schema)
    layout, rule, rows = online.lens.layout, online.rule, online.reservoir.rows
    discrete = [s for s in online.lens.sights if s.discrete]
    numeric = sum(s.levels if s.kind == CORRELATED else 1 for s in online.lens.sights if not s.discrete)
    need_array(rows.codes, "codes", (rule.window, len(discrete)), np.int32)
    need_array(rows.reals, "reals", (rule.window, numeric))
    for j, sight in enumerate(discrete):
        need_within(rows.codes[:, j], "codes", -1, sight.levels - 1)
    need_array(online.reservoir.label, "label", (rule.window,), np.int32)
    need_within(online.reservoir.label, "label", -1, rule.n_classes - 1)
    if online.reservoir.named is not None:
        need_array(online.reservoir.named, "named", (rule.n_classes,), np.bool_)
    need(LEAST_EFFORT <= online.reservoir.effort <= MOST_EFFORT, "effort")
    for bank in online.banks:
        need(len(bank.filters) == rule.n_classes, "number of filters")
        need_array(bank.hyper, "hyper", (layout.n_columns, 4))
        need_array(bank.at, "at", (layout.n_columns, 4), np.int32)
        _check_positions(bank.at, layout, rule.settings.grids)
        need_array(bank.label, "label", (rule.window,), np.int32)
        need_within(bank.label, "label", -1, rule.n_classes - 1)
        for f in bank.filters:
            check_filter(f, layout, rule.n_particles, rule.window)
