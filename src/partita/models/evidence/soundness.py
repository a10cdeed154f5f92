"""Whether a loaded evidence model fits together: every look-up of a prediction stays inside its array."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..kikuchi.soundness import check_regions
from ..soundness import need, need_array, need_numbers, need_shares, need_within
from .design import Key, is_region, region_size
from .holes import Holes
from .model import Evidence, FittedStage
from .numerics import Numerics


def check_evidence(model: Evidence, levels: np.ndarray, n_reals: int, n_classes: int) -> None:
    """Raise `Unsound` unless the model is one of columns with these levels, so many numeric ones, and classes."""
    need(type(model.n_classes) is int and model.n_classes == n_classes, "number of classes")
    need_array(model.levels, "levels", levels.shape, np.int32)
    need(np.array_equal(model.levels, levels), "levels of the columns")
    _check_holes(model.holes, levels, n_reals, n_classes)
    check_numerics(model.numerics, n_reals)
    need(len(model.stages) > 0 or n_classes < 2, "number of stages")
    if model.stages:
        need_shares(model.stage_weight, "stage_weight", len(model.stages))
    need(_is_number(model.temperature) and model.temperature > 0, "temperature")
    _check_cells(model)
    for stage in model.stages:
        _check_stage(stage, model)
    used = any(("chosen products",) in stage.keys for stage in model.stages)
    need(used == (len(model.numerics.chosen) > 0), "chosen products")
    _check_omitted(model)


def _check_holes(holes: Holes, levels: np.ndarray, n_reals: int, n_classes: int) -> None:
    need(type(holes.conditional) is bool, "how holes are completed")
    need_shares(holes.prior, "prior", n_classes)
    need_array(holes.number, "number", levels.shape, np.int32)
    need_within(holes.number, "number", -1, n_reals - 1)
    lists = type(holes.given) is list and type(holes.middle) is list
    need(lists and len(holes.given) == len(holes.middle) == len(levels), "columns of the holes")
    for law, middle, number, k in zip(holes.given, holes.middle, holes.number, levels.tolist(), strict=True):
        need_numbers(law, "given", (k, n_classes))
        need(bool((law > 0).all() and (np.abs(law.sum(axis=0) - 1.0) < 1e-6).all()), "given should sum to 1")
        need_numbers(middle, "middle", (k if number >= 0 else 0,))


def check_numerics(numerics: Numerics, n_reals: int) -> None:
    need(isinstance(numerics.column, np.ndarray) and numerics.column.ndim == 1, "numeric columns")
    q = len(numerics.column)
    need_array(numerics.column, "column", (q,), np.int32)
    need_within(numerics.column, "column", 0, n_reals - 1)
    need(bool((np.diff(numerics.column) > 0).all()), "order of the numeric columns")
    need_array(numerics.had_missing, "had_missing", (q,), np.bool_)
    for name in ("middle", "mean", "spread"):
        need_numbers(getattr(numerics, name), name, (q,))
    need_numbers(numerics.average, "average", (q, 3))
    _check_cuts(numerics, q)
    need(isinstance(numerics.pairs, np.ndarray) and numerics.pairs.ndim == 2, "pairs of numeric columns")
    products = len(numerics.pairs)
    need_array(numerics.pairs, "pairs", (products, 2), np.int32)
    need_within(numerics.pairs, "pairs", 0, q - 1)
    need(isinstance(numerics.chosen, np.ndarray), "chosen products")
    need_array(numerics.chosen, "chosen", (numerics.chosen.size,), np.int32)
    need_within(numerics.chosen, "chosen", 0, products - 1)
    for name in ("product_mean", "product_spread"):
        need_numbers(getattr(numerics, name), name, (products,))
    need(bool((numerics.spread > 0).all() and (numerics.product_spread > 0).all()), "spread of the numeric columns")


def _check_cuts(numerics: Numerics, q: int) -> None:
    first, cuts = numerics.cut_first, numerics.cuts
    need_array(first, "cut_first", (q + 1,), np.int64)
    need(first[0] == 0 and bool((np.diff(first) >= 0).all()), "cut_first should rise from 0")
    need_numbers(cuts, "cuts", (int(first[-1]),))
    need_numbers(numerics.above, "above", cuts.shape)
    need(bool((np.abs(numerics.above - 0.5) < 0.5 + 1e-6).all()), "above outside 0 .. 1")
    for a, b in pairwise(first.tolist()):
        need(bool((np.diff(cuts[a:b]) > 0).all()), "cuts should rise")


def _check_cells(model: Evidence) -> None:
    used = {key for stage in model.stages for key in stage.keys if is_region(key)}
    need(set(model.cells) == used, "regions of the stages")
    check_regions(model.cells, len(model.levels))
    for region, cells in model.cells.items():
        need(isinstance(cells, np.ndarray) and cells.ndim == 1 and len(cells) > 0, "cells of a region")
        need_array(cells, "cells", cells.shape, np.int64)
        need(bool((np.diff(cells) > 0).all()), "cells should rise")
        need(int(cells[0]) >= 0 and float(cells[-1]) < region_size(model.levels, region), "cells outside their region")


def _check_stage(stage: FittedStage, model: Evidence) -> None:
    need(type(stage.name) is str and len(set(stage.keys)) == len(stage.keys), "groups of a stage")
    widths = [_width(key, model) for key in stage.keys]
    need_array(stage.first, "first", (len(widths) + 1,), np.int64)
    need(np.array_equal(stage.first, 1 + np.concatenate([[0], np.cumsum(widths)])), "parameters of a stage")
    need_numbers(stage.w, "w", (1 + sum(widths), 1 if model.n_classes == 2 else model.n_classes))
    need_numbers(stage.variance, "variance", (len(widths),))
    need(bool((stage.variance > 0).all()), "variance should be positive")
    need(_is_number(stage.evidence), "evidence of a stage")


def _width(key: Key, model: Evidence) -> int:
    """Parameters that a group has for one logit."""
    if is_region(key):
        return len(model.cells[key])
    numerics = model.numerics
    if key == ("chosen products",):
        need(len(numerics.chosen) > 0, "chosen products of numeric columns")
        return len(numerics.chosen)
    if key == ("products",):
        need(numerics.has_products, "products of numeric columns")
        return len(numerics.product_mean)
    known = len(key) == 2 and key[0] in ("slope", "steps") and type(key[1]) is int and 0 <= key[1] < len(numerics)
    need(known, "a numeric group that is not there")
    return 1 if key[0] == "slope" else int(numerics.cut_first[key[1] + 1] - numerics.cut_first[key[1]])


def _check_omitted(model: Evidence) -> None:
    omitted = model.omitted
    need(type(omitted.stages) is list and all(type(name) is str for name in omitted.stages), "stages left out")
    listed = type(omitted.columns) is list and all(type(j) is int for j in omitted.columns)
    need(listed and set(omitted.columns) <= set(range(len(model.levels))), "columns left out")
    for pairs in (omitted.pairs, omitted.triples_over):
        need(_are_pairs(pairs, len(model.levels)), "pairs left out")
    counted = (omitted.n_rows, omitted.n_regions)
    need(all(type(n) is int and n >= 0 for n in counted), "candidates left out")


def _are_pairs(pairs: object, n_columns: int) -> bool:
    if not isinstance(pairs, np.ndarray) or pairs.dtype != np.int32 or pairs.shape[1:] != (2,):
        return False
    return bool(((pairs >= 0) & (pairs < n_columns)).all())


def _is_number(x: object) -> bool:
    return type(x) is float and bool(np.isfinite(x))
