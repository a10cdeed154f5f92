"""Whether loaded codes, trees and sums per class fit together and with the table's columns."""

from __future__ import annotations

import numpy as np

from ...data.schema import Schema
from ..soundness import need, need_array, need_logs, need_numbers, need_within
from .class_statistics import ClassStatistics
from .coding import Coder
from .tan import Tree


def check_coder(coder: Coder, schema: Schema) -> None:
    need(coder.schema == schema, "columns of the codes")


def check_tree(tree: Tree, levels: np.ndarray, n_classes: int) -> None:
    """Beyond what `Tree.check` asks: that the tree is one of these columns and classes, and holds numbers."""
    need_array(tree.levels, "levels", levels.shape, np.int32)
    need(np.array_equal(tree.levels, levels), "levels of the tree")
    for name in ("parent", "order"):
        need_array(getattr(tree, name), name, levels.shape, np.int32)
    need_within(tree.parent, "parent", -1, len(levels) - 1)
    need_numbers(tree.information, "information", levels.shape)
    need_logs(tree.log_class, "log_class", (n_classes,))
    for table in tree.log_table:
        need_logs(table, "log_table", (*table.shape[:-1], n_classes))


def check_statistics(statistics: ClassStatistics, schema: Schema, n_classes: int) -> None:
    need(statistics.fits(schema, n_classes), "statistics of the classes")
