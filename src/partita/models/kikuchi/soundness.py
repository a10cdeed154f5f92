"""Whether a loaded path of regions and its factors fit together and with the table's columns."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from ..soundness import need, need_array, need_logs, need_shares
from .learnt import Kikuchi


def check_kikuchi(kikuchi: Kikuchi, levels: np.ndarray, n_classes: int) -> None:
    """Beyond what `Kikuchi.from_tree` asks: that it is one of these columns and classes, and holds numbers."""
    need(kikuchi.n_classes == n_classes, "number of classes")
    need_array(kikuchi.levels, "levels", levels.shape, np.int32)
    need(np.array_equal(kikuchi.levels, levels), "levels of the columns")
    need_shares(kikuchi.weights, "weights", len(kikuchi.regions))
    check_regions(kikuchi.regions, len(levels))
    check_regions([factor.region for factor in kikuchi.factors], len(levels))
    for factor in kikuchi.factors:
        need_logs(factor.table, "table", (*(int(levels[j]) for j in factor.region), n_classes))


def check_regions(regions: Iterable[tuple[int, ...]], n_columns: int) -> None:
    for region in regions:
        need(all(type(j) is int and 0 <= j < n_columns for j in region), "a region of columns that are not there")
        need(all(a < b for a, b in pairwise(region)), "a region whose columns do not rise")
