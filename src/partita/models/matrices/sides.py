"""Rows and columns play the same part: a side names what belongs to it, so that every move is written once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...kernels.svd_contract import SideCells
from .draw import prior_variances
from .features import Features
from .problem import Problem
from .state import Regression, State


@dataclass(frozen=True)
class Side:
    """`name` is "row" or "column", `factors` the matrix of its factors."""

    name: str
    factors: str

    @property
    def other(self) -> Side:
        return COLUMNS if self is ROWS else ROWS

    def size(self, problem: Problem) -> int:
        return problem.n_rows if self is ROWS else problem.n_columns

    def counts(self, problem: Problem) -> np.ndarray:
        """(n,) observed cells of every row."""
        return problem.entries.row_counts if self is ROWS else problem.entries.column_counts

    def features(self, problem: Problem) -> Features:
        return problem.row_features if self is ROWS else problem.column_features

    def cells(self, problem: Problem, state: State) -> SideCells:
        """The cells as this side sees them, with the numbers that the factors explain."""
        entries = problem.entries
        y = entries.values if state.latent is None else state.latent
        if self is ROWS:
            return SideCells(entries.first_in_row, entries.column, y)
        return SideCells(entries.first_in_column, entries.row_by_column, entries.by_column(y))

    def matrix(self, state: State) -> np.ndarray:
        return getattr(state, self.factors)

    def offset(self, state: State) -> np.ndarray:
        return getattr(state, f"{self.name}_offset")

    def noise(self, state: State) -> np.ndarray:
        return getattr(state, f"{self.name}_noise")

    def tau(self, state: State) -> float:
        return getattr(state, f"tau_{self.name}")

    def prior_mean(self, state: State) -> np.ndarray:
        return getattr(state, f"{self.name}_mean")

    def regression(self, state: State) -> Regression:
        return getattr(state, f"{self.name}_regression")

    def precision(self, problem: Problem, state: State) -> np.ndarray:
        """(K + 1,) prior precisions of the factors and of the offset."""
        variances = prior_variances(problem, state)[0 if self is ROWS else 1]
        return np.append(1.0 / variances, self.tau(state))

    def put(self, state: State, matrix: np.ndarray, offset: np.ndarray | None) -> None:
        setattr(state, self.factors, matrix)
        if offset is not None:
            setattr(state, f"{self.name}_offset", offset)


ROWS = Side("row", "U")
COLUMNS = Side("column", "V")
SIDES = (ROWS, COLUMNS)
