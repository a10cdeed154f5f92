"""What do the factors set apart? Rows or columns in the plane of two of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.bayesian_svd import BayesianSVD
from ..models.matrices.factors import mean_factors
from .canvas import INK, QUIET, canvas, colour
from .names import shorten
from .wanted import need


class FactorDisplay:
    """Points of one side in the plane of two factors, and names of those farthest from the middle.

    places          (n, 2) of the factors `axes`, scaled by the root of their singular values.
    names           (n,) ids.
    activity        (n,) observed cells of each.
    singular_values (r,) of the posterior mean of the factors' products, descending.
    axes            the two factors shown, counted from 0.
    """

    def __init__(
        self, places: np.ndarray, names: np.ndarray, activity: np.ndarray, singular_values: np.ndarray,
        axes: tuple[int, int], side: str,
    ) -> None:  # fmt: skip
        self.places = places
        self.names = names
        self.activity = activity
        self.singular_values = singular_values
        self.axes = axes
        self.side = side

    @classmethod
    def from_estimator(cls, estimator: Any, side: str = "columns", *, axes: tuple[int, int] = (0, 1)) -> FactorDisplay:
        """Of a fitted `BayesianSVD`: its "rows" or its "columns"."""
        need(cls, "a fitted BayesianSVD", estimator, isinstance(estimator, BayesianSVD))
        check_is_fitted(estimator, "row_ids_")
        if side not in ("rows", "columns"):
            raise ValueError(f'side must be "rows" or "columns", got {side!r}.')
        wanted = max(max(axes) + 1, estimator.rank_, 2)
        rows, size, columns = mean_factors(estimator._posterior, wanted)
        if min(axes) < 0 or max(axes) >= len(size):
            raise ValueError(f"axes={axes!r}: there are factors 0 to {len(size) - 1} only.")
        part = (rows if side == "rows" else columns)[:, list(axes)] * np.sqrt(size[list(axes)])
        entries = estimator._entries
        counts = entries.row_counts if side == "rows" else entries.column_counts
        names = estimator.row_ids_ if side == "rows" else estimator.column_ids_
        return cls(part, names, counts, size, axes, side)

    def plot(self, ax: Any = None, *, names: Any = None, n_names: int = 12) -> FactorDisplay:
        """Draw on `ax` (by default a new figure).

        names       text for every point in place of its id.
        n_names     how many are named: those farthest from the middle.
        """
        ax = canvas(ax, (5.6, 5.0))
        names = self.names if names is None else np.asarray(names, dtype=object)
        if len(names) != len(self.places):
            raise ValueError(f"names holds {len(names)} entries for {len(self.places)} points.")
        ax.axhline(0, color=QUIET, linewidth=0.7, zorder=1)
        ax.axvline(0, color=QUIET, linewidth=0.7, zorder=1)
        size = 6 + 40 * np.sqrt(self.activity / max(self.activity.max(), 1))
        ax.scatter(self.places[:, 0], self.places[:, 1], s=size, color=colour(0), alpha=0.45, linewidth=0, zorder=2)
        spread = np.maximum(self.places.std(axis=0), 1e-300)
        order = np.argsort(-((self.places / spread) ** 2).sum(axis=1), kind="stable")
        for k in _apart(self.places, order, n_names):
            ax.annotate(shorten(names[k], 28), self.places[k], xytext=(4, 3), textcoords="offset points",
                        fontsize="small", color=INK)  # fmt: skip
        ax.set(xlabel=f"factor {self.axes[0] + 1}", ylabel=f"factor {self.axes[1] + 1}")
        ax.set_title(f"{len(self.places):,} {self.side}; the more cells, the larger", fontsize="medium")
        ax.margins(0.12)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _apart(places: np.ndarray, order: np.ndarray, n: int) -> list[int]:
    """The first n of `order` whose names would not lie on each other."""
    reach = np.maximum(np.ptp(places, axis=0), 1e-300) * np.array([0.2, 0.045])
    chosen: list[int] = []
    for k in order:
        if len(chosen) == n:
            break
        if not any((np.abs(places[k] - places[other]) < reach).all() for other in chosen):
            chosen.append(int(k))
    return chosen
