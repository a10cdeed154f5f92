"""Naive Bayes as one stage of the path: the Kikuchi product of the single attributes, in closed form, made milder.

    logit of class y = t (log P(y) + sum over attributes j of log P(x_j | y)),

submodels as in eq. 4 of the paper with a pseudo-count of `THETA` each. The exponent t is the one parameter that is
fitted: attributes that say the same thing are counted twice by the product, and t takes that back on the whole. Where
rows are few, such an estimate has less to learn than a log-linear model of the same attributes. Leaving a row out
takes one from the counts of its own class, so leave-one-out logits are exact, but for t and the bins of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels import kernel
from .evidence_map import Target
from .pooling import best_exponent

THETA = 1.0
LOG_EXPONENTS = (-3.0, 0.7)
EXPONENT_PRIOR = 0.5  # log prior of t: - EXPONENT_PRIOR (log t)^2


@dataclass
class Naive:
    """Parameters (1 + cells, K), the intercept first, and leave-one-out logits (n, K) of the rows asked for."""

    w: np.ndarray
    left_out: np.ndarray


def fit_naive(
    cells: np.ndarray, first: np.ndarray, target: Target, rows: np.ndarray | slice, n_classes: int
) -> Naive:
    """Learn from all rows; leave-one-out for `rows`.

    cells (n, d) is the cell of every row in each attribute, those of attribute j being first[j] .. first[j + 1] - 1."""
    label, weight = target.label, target.weight
    per_class = np.bincount(label, weight, n_classes)
    counts = np.zeros((int(first[-1]), n_classes))
    class_weight = np.zeros((len(label), n_classes))
    class_weight[np.arange(len(label)), label] = weight
    kernel.tally(cells, class_weight, counts)
    n_levels = np.diff(first)
    spread = np.repeat(THETA / n_classes / n_levels, n_levels)  # pseudo-count of a cell
    whole = per_class + THETA / n_classes
    table = np.log(counts + spread[:, None]) - np.log(whole)
    chosen, own = cells[rows], label[rows]
    logits = np.tile(np.log(whole), (len(chosen), 1))
    kernel.look_up(np.ascontiguousarray(chosen), table, logits)
    left_out = logits.copy()
    out = np.minimum(weight[rows], 1.0)
    of_class = whole[own] - out
    inside = np.log(np.maximum(counts[chosen, own[:, None]] - out[:, None], 0.0) + spread[chosen]).sum(axis=1)
    left_out[np.arange(len(own)), own] = inside - (len(n_levels) - 1) * np.log(of_class)
    t = best_exponent(left_out, own, weight[rows], EXPONENT_PRIOR, LOG_EXPONENTS)
    w = t * np.vstack([np.log(whole)[None, :], table])
    return Naive(_logits(w, target.n_logits), _logits(t * left_out, target.n_logits))


def _logits(of_class: np.ndarray, n_logits: int) -> np.ndarray:
    """Two classes have one logit, of class 1 against class 0."""
    return of_class[:, 1:] - of_class[:, :1] if n_logits == 1 else of_class - of_class.mean(axis=1, keepdims=True)
