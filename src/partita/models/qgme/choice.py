"""How many experts predict labels best, by rows set aside.

BIC judges the joint density of cells and labels, in which P cells outweigh one label: on a table with many columns and
holes it prefers one wide expert long after more of them would classify better.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...data.table import Table
from ...inference.runner import Runner
from .fits import Fitted, Strength, learn

FOLDS = 5
SMALLEST = 1e-6  # probabilities below are raised to it


def held_out_losses(
    table: Table, label: np.ndarray, weight: np.ndarray, n_classes: int, candidates: list[int], n_restarts: int,
    strength: Strength, max_iter: int, tol: float, seed: Any, runner: Runner,
) -> tuple[dict[int, float], dict[int, Fitted] | None]:  # fmt: skip
    """Mean log-loss of every number of experts on labelled rows that its fits have not seen, in five folds; and None.

    Where a stop came, in the folds before it (or else in the one it came in), and the fits of the fold it came in.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(label))
    order = order[np.argsort(label[order], kind="stable")]
    fold = np.empty(len(label), np.int64)
    fold[order] = np.arange(len(label)) % FOLDS
    losses, quiet = dict.fromkeys(candidates, 0.0), replace(runner, checkpoint=None, progress=False)
    total, stopped = 0.0, None
    for number in range(FOLDS):
        learnt, asked = np.flatnonzero(fold != number), np.flatnonzero((fold == number) & (label >= 0))
        fits = learn(
            table.take(learnt), label[learnt], weight[learnt], n_classes, candidates, n_restarts, strength, max_iter,
            tol, seed, quiet, "",
        )  # fmt: skip
        stopped = None if all(one.ended for one in fits.values()) else fits
        if stopped is not None and total:
            break
        total += float(weight[asked].sum())
        for k in candidates:
            if k in fits and len(asked):
                model = fits[k].model
                proba = model.answer(model.view.lens.rows(table.take(asked))).probabilities()
                own = np.maximum(proba[np.arange(len(asked)), label[asked]], SMALLEST)
                losses[k] -= float(weight[asked] @ np.log(own))
            elif k not in fits:  # a stop left it without a step
                losses[k] = np.inf
        if stopped is not None:
            break
    return {k: loss / max(total, 1e-300) for k, loss in losses.items()}, stopped
