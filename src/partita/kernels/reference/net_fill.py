"""Missing cells of a network's table, one by one: every level scored by the likelihood of the whole table."""

from __future__ import annotations

import numpy as np

from ..net_contract import NetData
from .draw import pick
from .net_scores import score


def net_fill(codes, levels, edge, bdeu: bool, pseudo: float, cells, uniforms) -> None:
    parents = [np.flatnonzero(edge[:, j]).tolist() for j in range(len(levels))]
    for (row, column), uniform in zip(cells, uniforms, strict=True):
        logs = []
        for level in range(int(levels[column])):
            codes[row, column] = level
            data = NetData.of(codes, levels, bdeu, pseudo)
            logs.append(sum(score(data, j, parents[j]) for j in range(len(levels))))
        codes[row, column] = pick(np.array(logs), uniform)
