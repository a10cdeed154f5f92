"""Whether loaded arrays fit together: kernels trust what they are given, so a damaged or made-up file stops here."""

from __future__ import annotations

import numpy as np

from ..data.schema import Schema
from ..kernels.contract import BINARY, CATEGORICAL, CORRELATED, COUNT, REAL, Filter, Grids, Layout, Predictive
from .class_statistics import ClassStatistics
from .coding import Coder
from .ensemble import Ensemble
from .lens import Lens
from .online import Online
from .tan import Tree


class Unsound(ValueError):
    """Arrays that do not fit together."""


def need(holds: bool, what: str) -> None:
    if not holds:
        raise Unsound(f"its arrays do not fit together ({what})")


def _array(array: np.ndarray, name: str, shape: tuple[int, ...], dtype: type = np.float64) -> None:
    fits = isinstance(array, np.ndarray) and array.shape == shape and array.dtype == dtype and array.flags.c_contiguous
    need(fits, f"{name} should be {dtype.__name__} {shape}")


def _within(array: np.ndarray, name: str, low: int, high: int) -> None:
    need(not array.size or (int(array.min()) >= low and int(array.max()) <= high), f"{name} outside {low} .. {high}")


def check_lens(lens: Lens, schema: Schema) -> None:
    for sight in lens.sights:
        need(0 <= sight.column < schema.n_columns, "a column that the table does not have")
        if sight.what == "codes":
            need(0 <= sight.source < len(schema.discrete), "a column of codes that the table does not have")
            need(sight.levels == schema.n_levels[sight.source], "levels of a column")
        elif sight.what == "levels":
            need(len(sight.values) <= sight.levels, "levels of a column")
        width = sight.levels if sight.kind == CATEGORICAL else 1 if sight.kind == COUNT else len(sight.base)
        need(len(sight.base) == width, "base of a column")


def check_state(state: Predictive, layout: Layout, n_classes: int) -> None:
    need(state.table.ndim == 3 and state.log_weight.ndim == 3, "dimensions of a state")
    room, restaurants, D = state.table.shape[2], state.log_weight.shape[0], layout.n_columns
    need(room % 8 == 0, "room for groups")
    _array(state.table, "table", (n_classes, layout.n_table, room))
    _array(state.log_weight, "log_weight", (restaurants, n_classes, room))
    _array(state.view, "view", (D,), np.int32)
    _array(state.hyper, "hyper", (D, 4))
    _array(state.used, "used", (restaurants, n_classes), np.int32)
    _within(state.view, "view", 0, 1 + restaurants)
    _within(state.used, "used", 1, room)
    if (layout.kind == CORRELATED).any():
        _array(state.stats, "stats", (n_classes, room, layout.n_stats))


def check_ensemble(ensemble: Ensemble, schema: Schema) -> None:
    for lens in ensemble.lenses:
        check_lens(lens, schema)
    n, C = len(ensemble.states), len(ensemble.class_count)
    need(n > 0 and len(ensemble.lens_of) == len(ensemble.weight) == len(ensemble.kind_of) == n, "number of states")
    _within(np.array(ensemble.lens_of), "lens_of", 0, len(ensemble.lenses) - 1)
    for state, k in zip(ensemble.states, ensemble.lens_of, strict=True):
        check_state(state, ensemble.lenses[k].layout, C)


def check_filter(f: Filter, layout: Layout, n_particles: int, window: int) -> None:
    room, capacity = f.seats.shape[-1], f.stats.shape[0]
    need(capacity % 8 == 0, "room for groups")
    _array(f.stats, "stats", (capacity, layout.n_stats))
    _array(f.table, "table", (layout.n_table, capacity))
    _array(f.size, "size", (capacity,))
    _array(f.refs, "refs", (capacity,), np.int32)
    _array(f.seats, "seats", (n_particles, room), np.int32)
    _array(f.used, "used", (n_particles,), np.int32)
    _array(f.history, "history", (n_particles, window), np.int32)
    for name in ("log_weight", "alpha"):
        _array(getattr(f, name), name, (n_particles,))
    _array(f.totals, "totals", (3,))
    width = int(layout.levels[layout.kind == CORRELATED].sum())
    if width:
        _array(f.filled, "filled", (n_particles, window, width))
    _within(f.used, "used", 0, room)
    _within(f.seats, "seats", 0, capacity - 1)
    _within(f.history, "history", -1, room - 1)
    _within(f.refs, "refs", 0, n_particles)


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
            _within(at[layout.kind == kind, j], "at", 0, len(grid) - 1)


def check_online(online: Online, schema: Schema) -> None:
    check_lens(online.lens, schema)
    layout, rule, rows = online.lens.layout, online.rule, online.reservoir.rows
    discrete = [s for s in online.lens.sights if s.discrete]
    numeric = sum(s.levels if s.kind == CORRELATED else 1 for s in online.lens.sights if not s.discrete)
    _array(rows.codes, "codes", (rule.window, len(discrete)), np.int32)
    _array(rows.reals, "reals", (rule.window, numeric))
    for j, sight in enumerate(discrete):
        _within(rows.codes[:, j], "codes", -1, sight.levels - 1)
    _array(online.reservoir.label, "label", (rule.window,), np.int32)
    _within(online.reservoir.label, "label", -1, rule.n_classes - 1)
    for bank in online.banks:
        need(len(bank.filters) == rule.n_classes, "number of filters")
        _array(bank.hyper, "hyper", (layout.n_columns, 4))
        _array(bank.at, "at", (layout.n_columns, 4), np.int32)
        _check_positions(bank.at, layout, rule.settings.grids)
        _array(bank.label, "label", (rule.window,), np.int32)
        _within(bank.label, "label", -1, rule.n_classes - 1)
        for f in bank.filters:
            check_filter(f, layout, rule.n_particles, rule.window)


def check_coder(coder: Coder, schema: Schema, tree: Tree | None) -> None:
    need(coder.schema == schema, "columns of the codes")
    need(tree is None or np.array_equal(tree.levels, coder.levels), "levels of the tree")


def check_statistics(statistics: ClassStatistics, schema: Schema, n_classes: int) -> None:
    need(statistics.fits(schema, n_classes), "statistics of the classes")
