"""Sets of parents that walks over orders sum over: which columns, and their scores."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np

from ...kernels import kernel
from ...kernels.net_contract import CandidateSets, NetData
from .knowledge import Knowledge


def choose_candidates(data: NetData, known: Knowledge, seen: np.ndarray, width: int) -> np.ndarray:
    """(n, width) int32: required parents, columns that were seen as parents, those seen as children (half as much),
    then those that alone tell most of a column; -1 where there are no more."""
    n = known.n
    nodes = np.full((n, width), -1, np.int32)
    for j in range(n):
        others = np.flatnonzero(known.allowed[:, j] & (np.arange(n) != j)).astype(np.int32)
        score = np.empty(len(others) + 1)
        kernel.net_score_sets(data, j, others, 1, score)
        rank = seen[others, j] + 0.5 * seen[j, others] + n * known.required[others, j]
        mine = others[np.lexsort((-score[1:], -rank))][:width]
        nodes[j, : len(mine)] = mine
    return nodes


@cache
def masks(width: int, most: int) -> np.ndarray:
    """Sets of at most so many of the first `width` places, in the order in which they are scored."""
    sets = sorted(places for size in range(most + 1) for places in combinations(range(width), size))
    return np.array([sum(1 << c for c in places) for places in sets], np.int32)


def candidate_sets(data: NetData, known: Knowledge, nodes: np.ndarray, most: int) -> CandidateSets:
    """All sets of at most `most` candidates that are allowed; none where more parents are required."""
    first, sets, scores = [0], [], []
    for j in range(known.n):
        mine = np.ascontiguousarray(nodes[j, nodes[j] >= 0])
        largest = min(most, known.max_parents, len(mine))
        mask = masks(len(mine), largest)
        score = np.empty(len(mask))
        kernel.net_score_sets(data, j, mine, largest, score)
        must = int(known.required[mine, j] @ (1 << np.arange(len(mine))))
        fits = (mask & must == must) & (known.required[mine, j].sum() == known.required[:, j].sum())
        order = np.argsort(-score[fits], kind="stable")
        sets.append(mask[fits][order])
        scores.append(score[fits][order])
        first.append(first[-1] + len(order))
    return CandidateSets(nodes, np.array(first, np.int64), np.concatenate(sets), np.concatenate(scores))
