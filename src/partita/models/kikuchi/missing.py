"""Missing cells summed out of Kikuchi products, exactly: variable elimination, many rows and stages at a time.

Stages are nested: each multiplies more factors in. For rows that miss the same attributes, what is summed changes only
at stages that bring a factor with a missing attribute; all these sums are made in one pass, with an axis for the stages
(of length one as long as a table is the same in all of them), in an order that suits the last of them: every order is
exact, and no table of an earlier stage is larger.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .regions import Region

MOST_NUMBERS = 2_000_000  # of one table for all rows and stages taken at a time
MOST_CELLS = 1 << 18  # of one table for one row and class; beyond, the path is cut short for rows with these holes

Factors = Sequence[tuple[int, Region, np.ndarray]]  # stage, attributes, table of logs; stages do not fall


def log_products(
    factors: Factors, stages: np.ndarray, codes: np.ndarray, missing: np.ndarray, levels: np.ndarray, n_classes: int
) -> np.ndarray:
    """(stages, n, C) log of the product of the factors up to each stage, summed over the missing attributes' levels.

    stages      ascending.
    codes       (n, d): rows that miss the same attributes, `missing` (d,). One in no factor changes nothing.
    """
    out = np.zeros((len(stages), len(codes), n_classes))
    held = []  # place among the stages, attributes, table, missing attributes
    for stage, region, table in factors:
        place = int(np.searchsorted(stages, stage))
        gone = tuple(j for j in region if missing[j])
        if place == len(stages):
            break
        if gone:
            held.append((place, region, table, gone))
        else:
            out[place] += table[tuple(codes[:, j] for j in region)]
    out = out.cumsum(axis=0)
    changes = sorted({place for place, *_ in held})
    if changes:
        moments = [(changes.index(place), region, table, gone) for place, region, table, gone in held]
        sums = np.empty((len(changes), len(codes), n_classes))
        _fill(sums, 0, moments, codes, levels)
        last = np.searchsorted(changes, np.arange(len(stages)), side="right") - 1
        out[last >= 0] += sums[last[last >= 0]]
    return out


def summable(factors: Factors, missing: np.ndarray, levels: np.ndarray) -> int:
    """The last stage up to which all sums over these missing attributes have tables of at most MOST_CELLS cells."""
    scopes = [(stage, tuple(j for j in region if missing[j])) for stage, region, _ in factors]
    scopes = [(stage, gone) for stage, gone in scopes if len(gone)]
    good, bad = 0, len(scopes) + 1  # numbers of scopes: with `good` of them it can be done
    while good < bad - 1:
        middle = (good + bad) // 2 if bad <= len(scopes) else len(scopes)  # most often all of them can
        _, widest = elimination_order([gone for _, gone in scopes[:middle]], levels)
        good, bad = (middle, bad) if widest <= MOST_CELLS else (good, middle)
    return scopes[good][0] - 1 if good < len(scopes) else factors[-1][0]


def elimination_order(scopes: Sequence[Region], levels: np.ndarray) -> tuple[list[int], int]:
    """Attributes in the order in which they are summed out, and the cells of the largest table on the way.

    The one with the smallest table comes first; the largest table has the attributes that hang together at that
    moment, whatever the number of missing cells.
    """
    near: dict[int, set[int]] = {}
    for scope in scopes:
        for j in scope:
            near.setdefault(j, set()).update(scope)

    def size(j: int) -> int:
        cells = 1
        for k in near[j]:
            cells *= int(levels[k])
        return cells

    sizes, order, widest = {j: size(j) for j in near}, [], 1
    while sizes:
        j = min(sizes, key=lambda j: (sizes[j], j))
        widest = max(widest, sizes.pop(j))
        order.append(j)
        for k in near[j] - {j}:
            near[k] |= near[j]
            near[k].discard(j)
            sizes[k] = size(k)
    return order, widest


Held = list[tuple[int, Region, np.ndarray, Region]]  # moment, attributes, table, missing attributes


def _fill(sums: np.ndarray, first: int, held: Held, codes: np.ndarray, levels: np.ndarray) -> None:
    """Sums (moments, n, C) from the moment `first` on, in halves where all moments together are too large."""
    n_moments, n_rows, n_classes = sums.shape
    held = [factor for factor in held if factor[0] < first + n_moments]
    order, widest = elimination_order([gone for *_, gone in held], levels)
    if n_moments > 1 and n_moments * widest * n_classes > MOST_NUMBERS:
        half = n_moments // 2
        _fill(sums[:half], first, held, codes, levels)
        _fill(sums[half:], first + half, held, codes, levels)
        return
    step = max(1, MOST_NUMBERS // (n_moments * widest * n_classes))
    for begin in range(0, n_rows, step):
        rows = codes[begin : begin + step]
        tables = [(gone, _restrict(m - first, n_moments, r, t, gone, rows)) for m, r, t, gone in held]
        sums[:, begin : begin + step] = np.moveaxis(_eliminate(tables, order), 1, 0)


def _restrict(
    moment: int, n_moments: int, region: Region, table: np.ndarray, gone: Region, codes: np.ndarray
) -> np.ndarray:
    """(n, moments, levels of the missing attributes ..., C): the factor at the observed cells of every row, 1 before
    its moment. Rows and moments that are all the same have an axis of length one."""
    seen = [k for k, j in enumerate(region) if j not in gone]
    rest = [k for k, j in enumerate(region) if j in gone]
    turned = np.transpose(table, [*seen, *rest, table.ndim - 1])
    own = turned[tuple(codes[:, region[k]] for k in seen)] if seen else turned[None]
    if moment <= 0:
        return own[:, None]
    out = np.zeros((len(own), n_moments, *own.shape[1:]))
    out[:, moment:] = own[:, None]
    return out


def _eliminate(factors: list[tuple[Region, np.ndarray]], order: list[int]) -> np.ndarray:
    """(n or 1, moments or 1, C) log sum over all missing attributes."""
    total: np.ndarray | float = 0.0
    for j in order:
        mine = [f for f in factors if j in f[0]]
        factors = [f for f in factors if j not in f[0]]
        scope = tuple(sorted(set().union(*(f[0] for f in mine))))
        table = sum(_spread(scope_of, values, scope) for scope_of, values in mine)
        rest = tuple(k for k in scope if k != j)
        summed = _log_sum(np.asarray(table), 2 + scope.index(j))
        if rest:
            factors.append((rest, summed))
        else:
            total = total + summed
    return np.asarray(total)


def _log_sum(table: np.ndarray, axis: int) -> np.ndarray:
    """Log of the sum of exponentials over one axis; all entries are finite."""
    top = table.max(axis=axis, keepdims=True)
    return np.log(np.exp(table - top).sum(axis=axis)) + top.squeeze(axis)


def _spread(own: Region, values: np.ndarray, scope: Region) -> np.ndarray:
    """The values with an axis of length one for each attribute of the scope that is not their own (all sorted)."""
    away = tuple(2 + k for k, j in enumerate(scope) if j not in own)
    return np.expand_dims(values, away)
