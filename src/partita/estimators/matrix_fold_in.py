"""A fitted matrix model that also knows new rows and columns, without refitting."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import replace
from typing import Any

import numpy as np

from ..data.entries import Observed
from ..data.ids import Ids, shown
from ..data.side_features import features_of
from ..models.matrices.entries import Entries
from ..models.matrices.fold_in import NewRow, fold_in
from .matrix_learning import Matrix, coded, grown_matrix


def folded(model: Any, observed: Observed, row_features: Any, column_features: Any) -> Any:
    """A copy of the model with the new rows and columns of these entries."""
    matrix, levels = model._matrix, model._posterior.levels
    link, duplicates = model._posterior.link, model.duplicates
    given = _named(row_features, "row", observed, matrix), _named(column_features, "column", observed, matrix)
    observed, _ = coded(observed, link, duplicates, levels if link == "ordinal" else None)
    _refuse_known(observed, matrix)
    grown = grown_matrix(matrix, _uncoded(observed, levels), link, duplicates, *given)
    other = copy.copy(model)
    row = grown.rows.codes(observed.rows.labels)[observed.row]
    column = grown.columns.codes(observed.columns.labels)[observed.column]
    n_rows, n_columns = len(matrix.rows), len(matrix.columns)
    cells = Entries.of(row, column, observed.values, len(grown.rows), len(grown.columns), observed.trials)
    _fold_side(other, "row", cells, grown, range(n_rows, len(grown.rows)), n_columns)
    _fold_side(other, "column", cells, grown, range(n_columns, len(grown.columns)), len(grown.rows))
    other._matrix = grown
    other.row_ids_, other.column_ids_ = grown.rows.labels, grown.columns.labels
    other.n_entries_ = len(grown.entries)
    return other


def _fold_side(other: Any, side: str, cells: Entries, grown: Matrix, new: range, n_partners: int) -> None:
    """Draw the new rows (or columns) of one side given their cells with partners that are known by now."""
    if not len(new):
        return
    ids, given = (grown.rows, grown.row_given) if side == "row" else (grown.columns, grown.column_given)
    own, partner = (cells.row, cells.column) if side == "row" else (cells.column, cells.row)
    rows = []
    for k in new:
        mine = np.flatnonzero((own == k) & (partner < n_partners))
        trials = None if cells.trials is None else cells.trials[mine]
        rows.append(NewRow(partner[mine], cells.values[mine], trials, _stream(other._entropy, side, ids.labels[k])))
    lines = np.zeros((len(new), 0)) if given is None else given[new.start :]
    newcomers = other._newcomers(side, lines, [row.partners for row in rows])
    other._posterior = fold_in(other._posterior, side, rows, list(newcomers.means))


def _stream(entropy: list[int], side: str, label: Any) -> np.random.Generator:
    """Random numbers of one new row, the same whatever else is folded in with it."""
    digest = hashlib.sha256(f"{side} {shown(label)}".encode()).digest()
    return np.random.default_rng([*entropy, int.from_bytes(digest[:8], "little")])


def _named(features: Any, side: str, observed: Observed, matrix: Matrix) -> Any:
    """Features by id: an array is one line per new id in sorted order."""
    known, labels = (matrix.rows, observed.rows.labels) if side == "row" else (matrix.columns, observed.columns.labels)
    given = matrix.row_given if side == "row" else matrix.column_given
    if features is None or given is None:
        return features
    new = Ids(known.extended(labels).labels[len(known) :], side)
    return features_of(features, new.labels, given.shape[1], known, f"{side}_features", per_entry=False)


def _refuse_known(observed: Observed, matrix: Matrix) -> None:
    old_row = matrix.rows.codes(observed.rows.labels)[observed.row] >= 0
    both = old_row & (matrix.columns.codes(observed.columns.labels)[observed.column] >= 0)
    if both.any():
        raise ValueError(
            f"fold_in: row and column of the entry at {observed.cell(int(np.argmax(both)))} are both known "
            f"({int(both.sum())} such entries). fold_in adds rows and columns; learn more of known ones by partial_fit."
        )


def _uncoded(observed: Observed, levels: np.ndarray) -> Observed:
    """Values as the caller gave them."""
    return observed if not len(levels) else replace(observed, values=levels[observed.values.astype(int)])
