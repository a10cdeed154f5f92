"""Naive Bayes as one stage of the path: the Kikuchi product of the single attributes, in closed form, made milder.

    logit of class y = t (log P(y) + sum over attributes j of log P(x_j | y)),

submodels as in eq. 4 of the paper with a pseudo-count of `THETA` each. The exponent t is the one parameter that is
fitted: attributes that say the same thing are counted twice by the product, and t takes that back on the whole. Where
rows are few, such an estimate has less to learn than a log-linear model of the same attributes. Leaving a row out
takes one from the counts of its own class, so leave-one-out logits are exact, but for t and the bins of numbers. Where
bins by chance are to be feared (`evidence.recut`) answers that were found without them take their place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels import kernel
from ..pooling import best_exponent
from .map import Target

THETA = 1.0
LOG_EXPONENTS = (-3.0, 0.7)
EXPONENT_PRIOR = 0.5  # log prior of t: - EXPONENT_PRIOR (log t)^2


@dataclass
class Naive:
    """Parameters (1 + cells, K), the intercept first, and leave-one-out logits (n, K) of the rows asked for."""

    w: np.ndarray
    left_out: np.ndarray


@dataclass
class Tallied:
    """Counts of the cells by class, with pseudo-counts where logarithms are taken."""

    counts: np.ndarray  # (cells, C)
    spread: np.ndarray  # (cells,) pseudo-count of a cell
    whole: np.ndarray  # (C,) rows of a class, with its pseudo-count
    table: np.ndarray  # (cells, C) log P(x_j | y)

    @classmethod
    def of(cls, cells: np.ndarray, first: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int) -> Tallied:
        """cells (n, d) is the cell of every row in each attribute, those of attribute j being
        first[j] .. first[j + 1] - 1."""
        counts = np.zeros((int(first[-1]), n_classes))
        class_weight = np.zeros((len(label), n_classes))
        class_weight[np.arange(len(label)), label] = weight
        kernel.tally(cells, class_weight, counts)
        n_levels = np.diff(first)
        spread = np.repeat(THETA / n_classes / n_levels, n_levels)
        whole = np.bincount(label, weight, n_classes) + THETA / n_classes
        return cls(counts, spread, whole, np.log(counts + spread[:, None]) - np.log(whole))


def fit_naive(
    cells: np.ndarray, first: np.ndarray, target: Target, rows: np.ndarray | slice, n_classes: int,
    left_out: np.ndarray | None = None,
) -> Naive:  # fmt: skip
    """Learn from all rows; leave-one-out for `rows`, or what is given in its place."""
    label, weight = target.label, target.weight
    tallied = Tallied.of(cells, first, label, weight, n_classes)
    own = label[rows]
    if left_out is None:
        left_out = _leave_one_out(tallied, cells[rows], len(first) - 1, own, weight[rows])
    t = best_exponent(left_out, own, weight[rows], EXPONENT_PRIOR, LOG_EXPONENTS)
    w = t * np.vstack([np.log(tallied.whole)[None, :], tallied.table])
    return Naive(_logits(w, target.n_logits), _logits(t * left_out, target.n_logits))


def _leave_one_out(
    tallied: Tallied, cells: np.ndarray, n_attributes: int, own: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """(n, C) logits at t = 1 of rows whose own class is counted without one unit of their weight."""
    left_out = np.tile(np.log(tallied.whole), (len(cells), 1))
    kernel.look_up(np.ascontiguousarray(cells), tallied.table, left_out)
    out = np.minimum(weight, 1.0)
    counted = np.maximum(tallied.counts[cells, own[:, None]] - out[:, None], 0.0)
    inside = np.log(counted + tallied.spread[cells]).sum(axis=1)
    left_out[np.arange(len(own)), own] = inside - (n_attributes - 1) * np.log(tallied.whole[own] - out)
    return left_out


def _logits(of_class: np.ndarray, n_logits: int) -> np.ndarray:
    """Two classes have one logit, of class 1 against class 0."""
    return of_class[:, 1:] - of_class[:, :1] if n_logits == 1 else of_class - of_class.mean(axis=1, keepdims=True)
