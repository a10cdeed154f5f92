"""How fits are averaged, learnt from rows set aside: weights of a linear pool, a temperature, offsets of the classes.

Short fits without some of the rows, each begun in the components of a fit of all (`gated.refits`), say what an answer
for a new row is worth. Closed forms that leave a row out of one fit are too sure where rows are few: responsibilities,
priors and expected cells have seen it. They do not see at all that gates learnt from few rows favour the class that
lies together, which the offsets take back. Such a bias falls as rows come in, so the prior of the offsets narrows.
`gated.tempering` says what temperature and offsets make of a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...kernels.contract import Rows
from ..pooling import best_exponent_and_offsets, pool_weights
from .aside import Fold
from .members import Data, Plan
from .predict import GatedModel
from .tempering import Tempering, cells_seen, enough_cells, reach_of

EQUAL_ROWS = 30.0  # what equal weights of the fits are worth
EXPONENT_PRIOR = 5.0  # half the precision of log t, a normal variable with mean 0
OFFSET_ROWS = 20.0  # rows whose offsets have a standard deviation of 1; it falls as one over their root
SMALLEST = 1e-6


@dataclass
class Votes:
    """weight (members,) of the fits, and what is made of their averaged probabilities."""

    weight: np.ndarray
    tempering: Tempering

    def of_all_rows(self, plans: Sequence[Plan], models: Sequence[GatedModel], data: Data) -> Votes:
        """The same for fits of all rows, which know the shares of the classes a little better."""
        blank = [said_of_nothing(model, data.rows[plan.lens]) for model, plan in zip(models, plans, strict=False)]
        return Votes(self.weight, replace(self.tempering, blank=np.maximum(self.weight @ blank, SMALLEST)))


def equal_votes(n_members: int, n_classes: int) -> Votes:
    return Votes(np.full(n_members, 1.0 / n_members), Tempering.none(n_classes))


def learn_votes(
    plans: Sequence[Plan], models: Sequence[Mapping[int, GatedModel]], folds: Sequence[Fold], data: Data
) -> Votes:
    """From what in each fold the models of all plans say of the rows set aside."""
    said, blank, place = [], [], []
    for fold, members in zip(folds, models, strict=True):
        # a class that no other row has would be answered for by the prior alone
        rows = fold.aside[(data.label[fold.aside] >= 0) & np.isin(data.label[fold.aside], data.label[fold.learnt])]
        if len(rows):
            seen = {lens: data.rows[lens].take(rows) for lens in {plan.lens for plan in plans}}
            said.append([members[m].answer(seen[plan.lens]).probabilities() for m, plan in enumerate(plans)])
            blank.append([said_of_nothing(members[m], data.rows[plan.lens]) for m, plan in enumerate(plans)])
            place.append(rows)
    if not said:
        return equal_votes(len(plans), data.n_classes)
    rows, enough = np.concatenate(place), enough_cells(data.table)
    return choose_votes(
        np.concatenate(said, axis=1), data.label[rows], data.weight[rows],
        float(data.weight[data.label >= 0].sum()), np.mean(blank, axis=0), cells_seen(data.table)[rows], enough,
    )  # fmt: skip


def said_of_nothing(model: GatedModel, rows: Rows) -> np.ndarray:
    """(C,) probabilities of a row of these columns without any cell."""
    none = Rows(np.full((1, rows.codes.shape[1]), -1, np.int32), np.full((1, rows.reals.shape[1]), np.nan))
    return model.answer(none).probabilities()[0]


def choose_votes(
    votes: np.ndarray, label: np.ndarray, weight: np.ndarray, n_learnt: float, blank: np.ndarray, seen: np.ndarray,
    enough: float,
) -> Votes:  # fmt: skip
    """From probabilities (members, n, C) of rows with `seen` (n,) cells that the members have not seen, who learnt from
    `n_learnt` rows, and theirs of a row without cells, blank (members, C)."""
    share = pool_weights(votes[:, np.arange(len(label)), label], weight, EQUAL_ROWS)
    logs = np.log(np.maximum(np.tensordot(share, votes, axes=1), SMALLEST))
    base = np.maximum(share @ blank, SMALLEST)
    t, offset = best_exponent_and_offsets(
        logs - np.log(base), label, weight, EXPONENT_PRIOR, 0.5 * n_learnt / OFFSET_ROWS, np.log(base),
        reach_of(seen, enough),
    )  # fmt: skip
    return Votes(share, Tempering(t, offset, base, enough))
