"""Whether the arrays of loaded gated experts fit together and with the table's columns."""

from __future__ import annotations

import numpy as np

from ...data.schema import Schema
from ..factor.model import FactorModel
from ..qgme.model import QGMEModel
from ..soundness import check_lens, need, need_array, need_numbers, need_shares, need_within
from .held import PROMISED
from .pool import Model, Pool
from .predict import GatedModel
from .rows import View


def check_pool(pool: Pool, schema: Schema, n_classes: int) -> None:
    """Raise `Unsound` where something does not fit."""
    for lens in pool.lenses:
        check_lens(lens, schema)
    need(len(pool.voters) == len(pool.lens_of) > 0 and len(pool.whole) > 0, "number of models")
    need(pool.n_classes == n_classes, "number of classes")
    need_within(np.array(pool.lens_of), "lens_of", 0, len(pool.lenses) - 1)
    need_shares(pool.weight, "weight", len(pool.voters))
    need_shares(pool.whole_weight, "whole_weight", len(pool.whole))
    made = pool.tempering
    need(isinstance(made.temperature, float) and 0 < made.temperature < np.inf, "temperature")
    need(isinstance(made.enough, float) and 0 <= made.enough < np.inf, "enough")
    need_numbers(made.offset, "offset", (n_classes,))
    need_numbers(made.blank, "blank", (n_classes,))
    need(bool((made.blank > 0).all()), "blank should be above 0")
    for widths in (pool.widths, pool.seen_widths):
        if widths is not None:
            need(0 < widths.scale < np.inf and 0 < widths.degrees < np.inf, "widths")
            if widths.held is not None:
                need_numbers(np.array(widths.held), "held", PROMISED.shape)
                need(bool((np.diff(widths.held) > 0).all()), "held")
    if pool.marks is not None:
        need_array(pool.marks, "marks", pool.marks.shape, np.uint64)
    for model in [*pool.voters, *pool.whole]:
        check_model(model)


def check_model(model: Model) -> None:
    view = model.view
    n_reals = sum(not sight.discrete for sight in view.lens.sights)
    need_array(view.reals, "reals", (len(view.real_sights),), np.intp)
    need_within(view.reals, "reals", 0, n_reals - 1)
    need(len(view.cells) == len(view.cell_sights), "columns beside the Gaussian ones")
    if isinstance(model, FactorModel):
        _check_factors(model)
        return
    n, p = len(model.weight), view.width
    need_shares(model.weight, "weight", n)
    _check_cells(view, model.cells, n, isinstance(model, QGMEModel))
    _check_gates(model, n, p)
    if model.experts is None:
        owner = np.zeros(0) if model.owner is None else model.owner  # neither experts nor owners: no array of n
        need_array(owner, "owner", (n,), np.int64)
        need_within(owner, "owner", 0, model.n_classes - 1)
    else:
        k, f = 1 if model.n_classes == 2 else model.n_classes, view.n_features
        need_numbers(model.experts.mean, "mean", (n, k, f))
        need_numbers(model.experts.covariance, "covariance", (n, f, f))


def _check_gates(model: GatedModel, n: int, p: int) -> None:
    gates = model.gates
    need_numbers(gates.mean, "mean", (n, p))
    if isinstance(model, QGMEModel):
        need_numbers(gates.covariance, "covariance", (n, p, p))
        return
    need_numbers(np.ascontiguousarray(gates.scale), "scale", (n, p, p))
    for name in ("kappa", "nu"):
        need_numbers(np.ascontiguousarray(getattr(gates, name)), name, (n,))


def _check_cells(view: View, cells: list[np.ndarray], n: int, points: bool) -> None:
    need(len(cells) == len(view.cells), "columns beside the Gaussian ones")
    for column, sight, known in zip(view.cells, view.cell_sights, cells, strict=True):
        need(column.features.ndim == 2 and len(column.features) > 0, "features of a column")
        need(column.count or column.n_levels == sight.levels, "levels of a column")
        width = (1 if points else 2) if column.count else column.n_levels
        need_numbers(known, "cells", (n, width))
        need(bool((known > 0).all()), "cells should be above 0")


def _check_factors(model: FactorModel) -> None:
    state, p = model.state, model.view.width
    n, t = state.used.shape
    f = t + model.view.n_features - p
    _check_cells(model.view, state.cells, n, False)
    need_numbers(state.loading, "loading", (p, t))
    need_numbers(state.mean, "mean", (n, p))
    need_array(state.pattern, "pattern", (p,), np.int64)
    need_within(state.pattern, "pattern", 0, len(state.loading_cov) - 1)
    need_numbers(state.loading_cov, "loading_cov", (len(state.loading_cov), t, t))
    k = state.n_experts
    need_numbers(state.weight, "weight", (n, k, f))
    need_numbers(state.weight_cov, "weight_cov", (n, k, f, f))
    need(len(state.noise_shape) == len(state.noise_rate) == n <= len(state.stick_first), "components")
