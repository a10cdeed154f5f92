"""From a caller's entries to a problem for the sampler: levels and trials, ids and features of both sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..data.entries import Observed
from ..data.entry_checks import check_range, check_trials, learn_levels, level_codes, without_duplicates
from ..data.ids import Ids, given_ids, shown
from ..data.side_features import features_of, line_up
from ..models.matrices.entries import Entries
from ..models.matrices.missingness import Side, make_side
from ..models.matrices.problem import Problem


@dataclass(frozen=True, eq=False)
class Matrix:
    """All that a model of a matrix learns from: cells (values coded as the link wants them), ids and features as given.

    levels      (L,) of an ordinal link, else empty.
    """

    entries: Entries
    rows: Ids
    columns: Ids
    levels: np.ndarray
    row_given: Any = None
    column_given: Any = None


def coded(observed: Observed, link: str, duplicates: str, levels: np.ndarray | None = None) -> tuple[Any, np.ndarray]:
    """Every cell once with its value as the link wants it, and the levels."""
    if link != "binomial" and observed.trials is not None:
        raise ValueError(
            f"trials was passed (of a frame, its fourth column), but link={link!r} has none. Use link='binomial', "
            "or leave trials out."
        )
    if link == "binomial":
        observed = check_trials(observed)
    observed = without_duplicates(observed, duplicates)
    if link != "ordinal":
        return observed, np.zeros(0)
    levels = learn_levels(observed) if levels is None else levels
    return replace(observed, values=level_codes(observed, levels)), levels


def new_matrix(
    observed: Observed, link: str, duplicates: str, row_features: Any, column_features: Any, row_ids: Any,
    column_ids: Any, fixed: bool,
) -> Matrix:  # fmt: skip
    """The first look at a matrix. `fixed`: its shape says which rows and columns there are."""
    if not len(observed):
        raise ValueError("There is no observed cell to learn from: all are missing. Give at least one.")
    observed, levels = coded(observed, link, duplicates)
    if not len(observed):
        raise ValueError("There is no observed cell to learn from: trials are 0 in all. Give at least one trial.")
    if link == "gaussian":
        check_range(observed)
    sides = []
    for ids, listed, features, name in (
        (observed.rows, row_ids, row_features, "row"),
        (observed.columns, column_ids, column_features, "column"),
    ):
        all_ids = ids if listed is None else _listed_ids(listed, ids, f"{name}_ids")
        sides.append(line_up(features, all_ids, f"{name}_features", fixed or listed is not None))
    (rows, row_given), (columns, column_given) = sides
    row = rows.codes(observed.rows.labels)[observed.row]
    column = columns.codes(observed.columns.labels)[observed.column]
    entries = Entries.of(row, column, observed.values, len(rows), len(columns), observed.trials)
    return Matrix(entries, rows, columns, levels, row_given, column_given)


def grown_matrix(
    old: Matrix, observed: Observed, link: str, duplicates: str, row_features: Any, column_features: Any
) -> Matrix:
    """The matrix with more entries, and after its rows and columns those that are new."""
    observed, _ = coded(observed, link, duplicates, old.levels if link == "ordinal" else None)
    rows, row_given = _grown_side(old.rows, observed.rows.labels, old.row_given, row_features, "row_features")
    columns, column_given = _grown_side(
        old.columns, observed.columns.labels, old.column_given, column_features, "column_features"
    )
    e = old.entries
    row = np.concatenate([e.row, rows.codes(observed.rows.labels)[observed.row]])
    column = np.concatenate([e.column, columns.codes(observed.columns.labels)[observed.column]])
    values = np.concatenate([e.values, observed.values])
    trials = None if e.trials is None else np.concatenate([e.trials, observed.trials])
    together = without_duplicates(Observed(rows, columns, row.astype(np.int64), column, values, trials), duplicates)
    if link == "gaussian":
        check_range(together)
    entries = Entries.of(
        together.row, together.column, together.values, len(rows), len(columns), together.trials
    )  # fmt: skip
    return Matrix(entries, rows, columns, old.levels, row_given, column_given)


def _grown_side(ids: Ids, labels: np.ndarray, given: Any, features: Any, name: str) -> tuple[Ids, Any]:
    grown = ids.extended(labels)
    new = grown.labels[len(ids) :]
    if given is None:
        if features is not None:
            raise ValueError(f"{name} was passed, but the model was fitted without. Leave it out, or fit again.")
        return grown, None
    more = features_of(features, new, given.shape[1], ids, name, per_entry=False)
    old = given.toarray() if hasattr(given, "toarray") else given
    return grown, np.concatenate([old, more])


def _listed_ids(listed: Any, ids: Ids, name: str) -> Ids:
    """The ids that the caller lists, among which those of the entries must be."""
    found = given_ids(listed, ids.side, name)
    lost = found.codes(ids.labels) < 0
    if lost.any():
        raise ValueError(f"{name} does not list {shown(ids.labels[np.argmax(lost)])}, which has entries. List it too.")
    return found


def make_problem(
    matrix: Matrix, *, link: str, prior: str, offsets: bool, unequal_noise: bool, row_cuts: bool, max_rank: int,
    missingness: str | int,
) -> tuple[Problem, Side, Side]:  # fmt: skip
    """What the sampler is given, and the features of both sides."""
    sides = [
        make_side(matrix.entries, side, given, missingness)
        for side, given in (("row", matrix.row_given), ("column", matrix.column_given))
    ]
    problem = Problem.of(
        matrix.entries, link=link, n_levels=len(matrix.levels), prior=prior, offsets=offsets,
        unequal_noise=unequal_noise, row_cuts=row_cuts, max_rank=max_rank, row_features=sides[0].features,
        column_features=sides[1].features,
    )  # fmt: skip
    return problem, sides[0], sides[1]
