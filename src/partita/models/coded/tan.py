"""Tree-augmented naive Bayes: given the class, each column depends on one other, along the tree that tells most.

[1] N. Friedman, D. Geiger and M. Goldszmidt (1997), Bayesian network classifiers; the tree is that of Chow and Liu
    (1968) for the mutual information of columns given the class.

Unlike [1], all probabilities come from one prior, theta pseudo-rows spread evenly over the cells of the joint table
(equation 4 of the Kikuchi-Bayes paper), so that the tables of a pair and of its columns agree, and it does not matter
which column is called the root.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .pair_information import MOST_CELLS, all_information, conditional_information, count_pairs

CELLS_AT_A_TIME = 1 << 20  # of the messages of rows with holes


@dataclass(eq=False)
class Tree:
    """d columns, C classes.

    parent      (d,) int32, -1 for a root.
    order       (d,) int32, parents before children.
    levels      (d,) int32.
    log_class   (C,) log P(y).
    log_table   for each column log P(level | y), (levels, C), of a root; log P(level | level of the parent, y),
                (levels of the parent, levels, C), of another.
    information (d,) I(column; parent | class) in nats, 0 for a root.
    skipped     pairs of columns whose table would be too large to count.
    """

    parent: np.ndarray
    order: np.ndarray
    levels: np.ndarray
    log_class: np.ndarray
    log_table: list[np.ndarray]
    information: np.ndarray
    skipped: tuple[tuple[int, int], ...] = ()

    @property
    def edges(self) -> list[tuple[int, int]]:
        """(parent, child) in the order of the columns they lead to from the root."""
        return [(int(self.parent[i]), int(i)) for i in self.order if self.parent[i] >= 0]

    def to_tree(self) -> dict[str, Any]:
        return {**vars(self), "skipped": [list(pair) for pair in self.skipped]}

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Tree:
        built = cls(**{**tree, "skipped": tuple((int(i), int(j)) for i, j in tree["skipped"])})
        built.check()
        return built

    def check(self) -> None:
        """Raise where the arrays, which may come from a file, do not fit together."""
        d, n_classes = len(self.levels), len(self.log_class)
        fits = sorted(self.order.tolist()) == list(range(d)) == list(range(len(self.log_table)))
        place = {int(i): k for k, i in enumerate(self.order)}
        for i in range(d if fits else 0):
            p = int(self.parent[i])
            shape = (self.levels[i], n_classes) if p < 0 else (self.levels[p], self.levels[i], n_classes)
            fits = fits and p < d and (p < 0 or place[p] < place[i]) and self.log_table[i].shape == shape
        if not fits:
            raise ValueError("a tree whose tables do not fit its columns")


def learn_tree(
    codes: np.ndarray, levels: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int, theta: float
) -> Tree:
    """The tree of maximal class-conditional mutual information over coded columns (no code missing), and its tables."""
    d = codes.shape[1]
    pairs = np.stack(np.triu_indices(d, 1), axis=1).astype(np.int32)
    small = levels[pairs].astype(np.float64).prod(axis=1) * n_classes <= MOST_CELLS
    counted = pairs[small]
    gain = all_information(codes, levels, label, weight, n_classes, counted)
    chosen = spanning_tree(d, counted, gain)
    order, parent = directed(d, counted[chosen])
    information = np.zeros(d)
    log_table: list[np.ndarray] = [np.zeros(0)] * d
    for i in order:
        if parent[i] < 0:
            counts = _counts(codes[:, i], levels[i], label, weight, n_classes) + theta / (levels[i] * n_classes)
            log_table[i] = np.log(counts) - np.log(counts.sum(axis=0))
    inward = np.array([(parent[i], i) for i in order if parent[i] >= 0], np.int32).reshape(-1, 2)
    for which, counts in count_pairs(codes, levels, label, weight, n_classes, inward):
        smooth = counts + theta / counts[0].size  # eq. 4
        logs = np.log(smooth) - np.log(smooth.sum(axis=2, keepdims=True))
        for i, tells, log in zip(inward[which, 1], conditional_information(counts), logs):
            information[i], log_table[i] = tells, log
    of_class = np.bincount(label[label >= 0], weight[label >= 0], minlength=n_classes) + theta / n_classes
    skipped = tuple((int(i), int(j)) for i, j in pairs[~small])
    return Tree(parent, order, levels, np.log(of_class / of_class.sum()), log_table, information, skipped)


def _counts(code: np.ndarray, n_levels: int, label: np.ndarray, weight: np.ndarray, n_classes: int) -> np.ndarray:
    seen = label >= 0
    cell = code[seen].astype(np.int64) * n_classes + label[seen]
    return np.bincount(cell, weight[seen], minlength=int(n_levels) * n_classes).reshape(-1, n_classes)


def spanning_tree(d: int, pairs: np.ndarray, gain: np.ndarray) -> np.ndarray:
    """Which of the pairs make the tree (or forest) of greatest total gain; of equal gains the earlier pair first."""
    group = list(range(d))

    def find(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = group[i]
        return i

    chosen = []
    for m in np.argsort(-gain, kind="stable"):
        a, b = (find(int(i)) for i in pairs[m])
        if a != b:
            group[max(a, b)] = min(a, b)
            chosen.append(m)
    return np.array(chosen, np.intp)


def directed(d: int, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Columns in an order with parents first, and the parent of each, from the first column of every part outwards."""
    near: list[list[int]] = [[] for _ in range(d)]
    for i, j in edges.tolist():
        near[i].append(j)
        near[j].append(i)
    parent, seen, order = np.full(d, -1, np.int32), [False] * d, []
    for root in range(d):
        queue = [] if seen[root] else [root]
        seen[root] = True
        for i in queue:
            order.append(i)
            for j in sorted(near[i]):
                if not seen[j]:
                    seen[j] = True
                    parent[j] = i
                    queue.append(j)
    return np.array(order, np.int32), parent


# ---- answers ----


def log_joint(tree: Tree, codes: np.ndarray) -> np.ndarray:
    """log P(y, observed codes), (n, C); a code of -1 is summed over its levels, exactly."""
    out = np.empty((len(codes), len(tree.log_class)))
    holed = (codes < 0).any(axis=1)
    out[~holed] = _complete(tree, codes[~holed])
    rows = np.flatnonzero(holed)
    step = max(int(CELLS_AT_A_TIME // (tree.levels.max() * len(tree.log_class))), 1)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        out[part] = _summed(tree, codes[part])
    return out


def _complete(tree: Tree, codes: np.ndarray) -> np.ndarray:
    total = np.tile(tree.log_class, (len(codes), 1))
    for i, table in enumerate(tree.log_table):
        p = tree.parent[i]
        cell = codes[:, i] if p < 0 else codes[:, p].astype(np.int64) * tree.levels[i] + codes[:, i]
        total += table.reshape(-1, table.shape[-1])[cell]
    return total


def _summed(tree: Tree, codes: np.ndarray) -> np.ndarray:
    """Messages from the leaves to the root: what the observed cells below a column say of its level, where the column
    itself is missing; what is said to an observed column goes straight into the total.
    """
    total = np.tile(tree.log_class, (len(codes), 1))
    heard: dict[int, np.ndarray] = {}  # column -> log P(observed cells below it | its level, y), (n, levels, C)

    def tell(p: int, rows: np.ndarray, message: np.ndarray) -> None:
        if p not in heard:
            heard[p] = np.zeros((len(codes), tree.levels[p], total.shape[1]))
        heard[p][rows] += message

    for i in tree.order[::-1].tolist():
        p, table = int(tree.parent[i]), tree.log_table[i]
        seen = codes[:, i] >= 0
        above = codes[:, p] >= 0 if p >= 0 else np.ones(len(codes), bool)
        both, lost = np.flatnonzero(seen & above), np.flatnonzero(seen & ~above)
        total[both] += table[codes[both, i]] if p < 0 else table[codes[both, p], codes[both, i]]
        if len(lost):
            tell(p, lost, table[:, codes[lost, i]].transpose(1, 0, 2))
        below = heard.pop(i, None)
        if below is None:
            continue  # nothing was seen below: the sum over its levels is one
        own, free = np.flatnonzero(~seen & above), np.flatnonzero(~seen & ~above)
        total[own] += _log_sum(below[own] + (table if p < 0 else table[codes[own, p]]))
        if len(free):
            tell(p, free, _log_product(below[free], np.exp(table)))
    return total


def _log_sum(x: np.ndarray) -> np.ndarray:
    """Log of the sum of exponentials over the middle axis."""
    top = x.max(axis=1)
    return top + np.log(np.exp(x - top[:, None]).sum(axis=1))


def _log_product(below: np.ndarray, table: np.ndarray) -> np.ndarray:
    """log of sum over levels k of exp(below[n, k, y]) table[l, k, y]: (n, l, C). One level after the other, so that a
    row is answered alike in any company."""
    top = below.max(axis=1)
    scaled = np.exp(below - top[:, None])
    total = np.zeros((len(below), table.shape[0], table.shape[2]))
    for k in range(table.shape[1]):
        total += scaled[:, k, None] * table[:, k]
    return np.log(total) + top[:, None]
