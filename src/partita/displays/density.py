"""What does the model believe of one or two columns? Its density, all other cells integrated out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.decode import column_values
from ..data.table import Table
from .canvas import INK, QUIET, canvas, colour
from .names import wrapped
from .wanted import need_method


class DensityDisplay:
    """Density of one numeric column over a histogram of its cells, or of two over a scatter of them.

    names       of the columns.
    cells       (n, 1 or 2) observed rows.
    grids       one axis of values per column; `density` has one entry per point of their product.
    groups      (n,) group of each row, or None.
    """

    def __init__(
        self,
        names: list[str],
        cells: np.ndarray,
        grids: list[np.ndarray],
        density: np.ndarray,
        groups: np.ndarray | None,
    ) -> None:
        self.names = names
        self.cells = cells
        self.grids = grids
        self.density = density
        self.groups = groups

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, columns: Any, *, n_points: int = 80) -> DensityDisplay:
        """Of a fitted model with `score_samples`.

        columns     a real or count column, or a pair of them: names, or positions where the table has no names.
        n_points    points of the grid along each column.
        """
        need_method(cls, "a fitted CRPMixture or AClass", estimator, "score_samples")
        table = estimator._encode(X)
        wanted = list(columns) if isinstance(columns, list | tuple) else [columns]
        places = [_numeric_place(table, column) for column in wanted]
        if len(places) not in (1, 2):
            raise ValueError(f"columns={columns!r} names {len(places)} columns; give one, or a pair.")
        positions = [int(table.schema.numeric[place]) for place in places]
        cells = np.stack([column_values(table, position).astype(float) for position in positions], axis=1)
        full = ~np.isnan(cells).any(axis=1)
        kinds = [table.schema.kinds[position] for position in positions]
        axes = [_axis(table.reals[:, place], kind, n_points) for place, kind in zip(places, kinds)]
        mesh = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        blank = Table(
            table.schema,
            np.full((len(mesh), table.codes.shape[1]), -1, np.int32),
            np.full((len(mesh), table.reals.shape[1]), np.nan),
        )
        blank.reals[:, places] = mesh
        density = np.exp(estimator._log_density(blank)).reshape([len(axis) for axis in axes])
        grids = [axis * table.schema.scales[p] + table.schema.centres[p] for p, axis in zip(places, axes)]
        labels = getattr(estimator, "labels_", None)
        groups = labels[full] if labels is not None and len(labels) == len(table) else None
        return cls([str(table.schema.names[p]) for p in positions], cells[full], grids, density, groups)

    def plot(self, ax: Any = None) -> DensityDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        ax = canvas(ax)
        if len(self.grids) == 1:
            ax.hist(self.cells[:, 0], bins=30, density=True, color=QUIET, alpha=0.55)
            ax.plot(self.grids[0], self.density, color=colour(0), linewidth=1.8)
            ax.set(xlabel=wrapped(self.names[0]), ylabel="density")
        else:
            shades = None if self.groups is None else [colour(int(group)) for group in self.groups]
            ax.scatter(*self.cells.T, s=14, c=shades or QUIET, alpha=0.75, linewidth=0)
            levels = _mass_levels(self.density, (0.95, 0.8, 0.5, 0.2))
            if len(levels):
                ax.contour(*self.grids, self.density.T, levels=levels, colors=INK, linewidths=0.8, alpha=0.7)
            ax.set(xlabel=wrapped(self.names[0]), ylabel=wrapped(self.names[1]))
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _numeric_place(table: Table, column: Any) -> int:
    """Where the column lies among the numeric ones."""
    schema = table.schema
    allowed = [schema.names[position] for position in schema.numeric]
    if column not in allowed:
        raise ValueError(f"column {column!r} is not a real or count column of this model. Such columns: {allowed}.")
    return allowed.index(column)


def _axis(cells: np.ndarray, kind: str, n_points: int) -> np.ndarray:
    """Points from below the lowest cell to above the highest; whole numbers for a count."""
    low, high = np.nanmin(cells, initial=np.inf), np.nanmax(cells, initial=-np.inf)
    if not np.isfinite(low):
        low, high = 0.0, 1.0
    if kind == "count":
        return np.unique(np.linspace(low, high, n_points).round())
    margin = 0.12 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, n_points)


def _mass_levels(density: np.ndarray, shares: tuple[float, ...]) -> np.ndarray:
    """Heights whose contours hold the given shares of the mass, lowest first."""
    falling = np.sort(density, axis=None)[::-1]
    mass = np.cumsum(falling) / falling.sum()
    return np.unique(falling[np.searchsorted(mass, shares).clip(max=len(falling) - 1)])
