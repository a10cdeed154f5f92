"""Local scores of a discrete network, by counting rows one by one."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
from scipy.special import gammaln

from ..net_contract import NO_SCORE, NetData


def score(data: NetData, child: int, parents) -> float:
    """Log marginal likelihood of a column given its parents."""
    levels = int(data.levels[child])
    n_configurations = float(np.prod([float(data.levels[p]) for p in parents]))
    cell = data.pseudo / (n_configurations * levels) if data.bdeu else data.pseudo
    row = data.pseudo / n_configurations if data.bdeu else data.pseudo * levels
    rows = list(zip(*(data.cells[p].tolist() for p in parents), strict=True)) or [()] * data.cells.shape[1]
    cells = Counter(zip(rows, data.cells[child].tolist(), strict=True))
    total = sum(float(gammaln(cell + m) - gammaln(cell)) for m in cells.values())
    return total - sum(float(gammaln(row + m) - gammaln(row)) for m in Counter(rows).values())


def net_scores(data: NetData, child, first, parents, out) -> None:
    for q in range(len(child)):
        out[q] = score(data, int(child[q]), parents[first[q] : first[q + 1]].tolist())


def net_score_table(data: NetData, child: int, max_parents: int, out) -> None:
    out[:] = NO_SCORE
    others = [i for i in range(len(data.levels)) if i != child]
    for size in range(min(max_parents, len(others)) + 1):
        for parents in combinations(others, size):
            out[sum(1 << i for i in parents)] = score(data, child, parents)


def net_score_sets(data: NetData, child: int, candidates, max_parents: int, out) -> int:
    sets = sorted(
        subset
        for size in range(min(max_parents, len(candidates)) + 1)
        for subset in combinations(range(len(candidates)), size)
    )
    for k, subset in enumerate(sets):
        out[k] = score(data, child, [int(candidates[i]) for i in subset])
    return len(sets)
