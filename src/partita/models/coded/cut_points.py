"""Where to cut a numeric column: entropy of the classes, stopped by minimum description length.

[1] U. M. Fayyad and K. B. Irani (1993), Multi-interval discretization of continuous-valued attributes for
    classification learning. The cut that lowers the class entropy of N rows most is kept if it pays for its own
    description,

        gain > (log2(N - 1) + log2(3^k - 2) - (k E - k1 E1 - k2 E2)) / N,

    k, k1, k2 the numbers of classes and E, E1, E2 the entropies in bits before the cut, left and right of it; then both
    sides are cut in the same way. Unlike [1], a row may count `weight` times, and fewer than two rows are never cut.

Cost: one sort, then one pass over the places where the class changes for every range that is cut; in long ranges,
stretches that provably cannot hold the best cut are passed over.
"""

from __future__ import annotations

import numpy as np

from ...kernels import kernel


def cut_points(
    values: np.ndarray,
    label: np.ndarray,
    n_classes: int,
    weight: np.ndarray | None = None,
    force_first_cut: bool = False,
) -> np.ndarray:
    """The cut points of one column, ascending: a cell belongs to the bin after all cuts that are less than it.

    values      (n,) numbers; NaN = missing, which has no say.
    label       (n,) classes 0 .. n_classes - 1; -1 = missing, likewise.
    weight      how many times each row counts; 0 = not at all.
    force_first_cut   keep the best first cut even where it does not pay, as long as it lowers the entropy at all.

    Each cut lies midway between two neighbouring values. Row order and class names change nothing, and a row of weight
    two is the same as two rows.
    """
    values = np.asarray(values, np.float64)
    weight = np.ones(len(values)) if weight is None else np.asarray(weight, np.float64)
    used = ~np.isnan(values) & (np.asarray(label) >= 0) & (weight > 0)
    cuts = np.empty(int(used.sum()))
    found = kernel.mdlp_cut_points(
        np.ascontiguousarray(values[used]),
        np.ascontiguousarray(label[used], dtype=np.int32),
        np.ascontiguousarray(weight[used]),
        n_classes,
        force_first_cut,
        cuts,
    )
    return cuts[:found].copy()
