"""How fits are averaged, learnt from rows set aside: weights of a linear pool, a temperature, offsets of the classes.

Short fits without some of the rows, each begun in the components of a fit of all (`gated.refits`), say what an answer
for a new row is worth. Closed forms that leave a row out of one fit are too sure where rows are few: responsibilities,
priors and expected cells have seen it. They do not see at all that gates learnt from few rows favour the class that
lies together, which the offsets take back. Such a bias falls as rows come in, so the prior of the offsets narrows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..pooling import best_exponent_and_offsets, pool_weights
from .aside import Fold
from .members import Data, Plan
from .predict import GatedModel

EQUAL_ROWS = 30.0  # what equal weights of the fits are worth
EXPONENT_PRIOR = 5.0  # half the precision of log t, a normal variable with mean 0
OFFSET_ROWS = 20.0  # rows whose offsets have a standard deviation of 1; it falls as one over their root
SMALLEST = 1e-6


@dataclass
class Votes:
    """weight (members,); the averaged probabilities to the power `temperature`, times exp(offset) (C,)."""

    weight: np.ndarray
    temperature: float
    offset: np.ndarray


def equal_votes(n_members: int, n_classes: int) -> Votes:
    return Votes(np.full(n_members, 1.0 / n_members), 1.0, np.zeros(n_classes))


def learn_votes(
    plans: Sequence[Plan], models: Sequence[Mapping[int, GatedModel]], folds: Sequence[Fold], data: Data
) -> Votes:
    """From what in each fold the models of all plans say of the rows set aside."""
    said, place = [], []
    for fold, members in zip(folds, models, strict=True):
        # a class that no other row has would be answered for by the prior alone
        rows = fold.aside[(data.label[fold.aside] >= 0) & np.isin(data.label[fold.aside], data.label[fold.learnt])]
        if len(rows):
            seen = {lens: data.rows[lens].take(rows) for lens in {plan.lens for plan in plans}}
            said.append([members[m].answer(seen[plan.lens]).probabilities() for m, plan in enumerate(plans)])
            place.append(rows)
    if not said:
        return equal_votes(len(plans), data.n_classes)
    rows = np.concatenate(place)
    n_learnt = float(data.weight[data.label >= 0].sum())
    return choose_votes(np.concatenate(said, axis=1), data.label[rows], data.weight[rows], n_learnt)


def choose_votes(votes: np.ndarray, label: np.ndarray, weight: np.ndarray, n_learnt: float) -> Votes:
    """From probabilities (members, n, C) of rows that the members have not seen, who learnt from `n_learnt` rows."""
    share = pool_weights(votes[:, np.arange(len(label)), label], weight, EQUAL_ROWS)
    logs = np.log(np.maximum(np.tensordot(share, votes, axes=1), SMALLEST))
    t, offset = best_exponent_and_offsets(logs, label, weight, EXPONENT_PRIOR, 0.5 * n_learnt / OFFSET_ROWS)
    return Votes(share, t, offset)
