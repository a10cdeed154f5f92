"""Missing cells summed out of a Kikuchi product, exactly: variable elimination, many rows at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from .regions import Region

MOST_NUMBERS = 2_000_000  # of one table for all rows taken at a time


def log_sums(
    factors: Sequence[tuple[Region, np.ndarray]], codes: np.ndarray, missing: np.ndarray, levels: np.ndarray,
    n_classes: int,
) -> np.ndarray:  # fmt: skip
    """(n, C) log of the product of the factors, summed over all levels of the missing attributes.

    codes (n, d): rows that miss the same attributes, `missing` (d,). An attribute in no factor changes nothing.
    Attributes are summed out one after the other, the one with the smallest table first; the largest table has the
    attributes that hang together at that moment, whatever the number of missing cells.
    """
    out = np.zeros((len(codes), n_classes))
    held = []
    for region, table in factors:
        gone = tuple(j for j in region if missing[j])
        if gone:
            held.append((region, table, gone))
        else:
            out += table[tuple(codes[:, j] for j in region)]
    order, widest = elimination_order([gone for _, _, gone in held], levels)
    step = max(1, MOST_NUMBERS // (widest * n_classes))
    for begin in range(0, len(codes), step):
        rows = codes[begin : begin + step]
        out[begin : begin + step] += _eliminate([(gone, _restrict(r, t, gone, rows)) for r, t, gone in held], order)
    return out


def elimination_order(scopes: Sequence[Region], levels: np.ndarray) -> tuple[list[int], int]:
    """Attributes in the order in which they are summed out, and the cells of the largest table on the way."""
    sets = [set(scope) for scope in scopes]
    left, order, widest = set().union(*sets) if sets else set(), [], 1
    while left:
        joined = {j: set().union(*(s for s in sets if j in s)) for j in left}
        sizes = {j: int(np.prod(levels[sorted(joined[j])], dtype=np.int64)) for j in left}
        j = min(left, key=lambda j: (sizes[j], j))
        widest = max(widest, sizes[j])
        sets = [s for s in sets if j not in s] + [joined[j] - {j}]
        left.remove(j)
        order.append(j)
    return order, widest


def _restrict(region: Region, table: np.ndarray, gone: Region, codes: np.ndarray) -> np.ndarray:
    """(n, levels of the missing attributes ..., C): the factor at the observed cells of every row."""
    seen = [k for k, j in enumerate(region) if j not in gone]
    rest = [k for k, j in enumerate(region) if j in gone]
    turned = np.transpose(table, [*seen, *rest, table.ndim - 1])
    if not seen:
        return np.broadcast_to(turned, (len(codes), *turned.shape))
    return turned[tuple(codes[:, region[k]] for k in seen)]


def _eliminate(factors: list[tuple[Region, np.ndarray]], order: list[int]) -> np.ndarray:
    """(n, C) log sum over all missing attributes."""
    total: np.ndarray | float = 0.0
    for j in order:
        mine = [f for f in factors if j in f[0]]
        factors = [f for f in factors if j not in f[0]]
        scope = tuple(sorted(set().union(*(f[0] for f in mine))))
        table = sum(_spread(scope_of, values, scope) for scope_of, values in mine)
        rest = tuple(k for k in scope if k != j)
        summed = logsumexp(table, axis=1 + scope.index(j))
        if rest:
            factors.append((rest, summed))
        else:
            total = total + summed
    return np.asarray(total)


def _spread(own: Region, values: np.ndarray, scope: Region) -> np.ndarray:
    """The values with an axis of length one for each attribute of the scope that is not their own (all sorted)."""
    away = tuple(1 + k for k, j in enumerate(scope) if j not in own)
    return np.expand_dims(values, away)
