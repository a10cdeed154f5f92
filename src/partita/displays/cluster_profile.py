"""What makes each group what it is? Means and level shares by group, against the whole table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.decode import column_values
from ..data.table import Table
from .canvas import INK, canvas
from .names import wrapped
from .wanted import need_method

# sizes of numbers in points, smaller ones are left out; width of a letter in these
LARGEST, SMALLEST, LETTER = 8.3, 4.5, 0.62


class ClusterProfileDisplay:
    """Heat map, one line per numeric column or level, one column per group.

    traits      names of the lines: a numeric column, or "column = level".
    groups      the groups shown, larger ones first; `sizes` their numbers of rows.
    values      (traits, groups) mean of a numeric column in the caller's units, share of a level; NaN where the group
                has no observed cell.
    contrast    (traits, groups) how far from the whole table: in standard deviations of the column or of the level.
    """

    def __init__(
        self, traits: list[str], groups: list[Any], sizes: np.ndarray, values: np.ndarray, contrast: np.ndarray,
        shares: np.ndarray,
    ) -> None:  # fmt: skip
        self.traits = traits
        self.groups = groups
        self.sizes = sizes
        self.values = values
        self.contrast = contrast
        self.shares = shares

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, groups: Any = None, *, min_rows: int = 1, columns: Any = None
    ) -> ClusterProfileDisplay:
        """Of the groups a fitted model predicts for X, or of given `groups`, one per row.

        min_rows    groups with fewer rows are left out.
        columns     names of the columns to show; by default all.
        """
        need_method(cls, "a fitted CRPMixture or a classifier of partita", estimator, "predict")
        table = estimator._encode(X)
        groups = np.asarray(estimator.predict(X) if groups is None else groups)
        if len(groups) != len(table):
            raise ValueError(f"groups has {len(groups)} entries for {len(table)} rows; give one group per row.")
        given = groups == groups  # a row whose group is missing belongs to none
        found, counts = np.unique(groups[given], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        shown = [found[k] for k in order if counts[k] >= min_rows]
        if not shown:
            raise ValueError(f"min_rows={min_rows!r} leaves no group: the largest has {counts.max()} rows.")
        traits, cells = _traits(table, columns)
        share = np.array([name is not None for _, name in traits])
        with np.errstate(invalid="ignore", divide="ignore"):
            values = np.array([[_mean(c[groups == g]) for g in shown] for c in cells])
            whole = np.array([_mean(c) for c in cells])
            spread = np.array([np.sqrt(_mean((c - m) ** 2)) for c, m in zip(cells, whole)])
            contrast = (values - whole[:, None]) / spread[:, None]
        names = [column if level is None else f"{column} = {level}" for column, level in traits]
        sizes = np.array([int((groups == g).sum()) for g in shown])
        return cls(names, shown, sizes, values, contrast, share)

    def plot(self, ax: Any = None, *, colorbar: bool = True) -> ClusterProfileDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        n_traits, n_groups = self.values.shape
        ax = canvas(ax, (2.6 + 0.85 * n_groups, max(1.2 + 0.34 * n_traits, 2.8)))
        image = ax.imshow(self.contrast, cmap="RdBu_r", vmin=-2, vmax=2, aspect="auto")
        ax.set_xticks(range(n_groups), [f"{g}\n({size})" for g, size in zip(self.groups, self.sizes)])
        ax.set_yticks(range(n_traits), [wrapped(name) for name in self.traits])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        ax.set_xlabel("group (rows)")
        if colorbar:
            ax.figure.colorbar(image, ax=ax, shrink=0.85, label="standard deviations\nfrom the whole table")
        self._write(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _write(self, ax: Any) -> None:
        """Numbers as large as the columns are wide, or none; where names would touch each other they stand upright."""
        room = _width(ax) / len(self.groups)
        widest = max(len(words) for g, n in zip(self.groups, self.sizes) for words in (str(g), f"({n})"))
        if room < LETTER * LARGEST * (widest + 1):
            names = [f"{g} ({n})" for g, n in zip(self.groups, self.sizes)]
            ax.set_xticks(range(len(names)), names, rotation=90, fontsize=min(LARGEST, room))
        words = [
            [f"{value:.0%}" if share else _short(value) for value in line]
            for share, line in zip(self.shares, self.values)
        ]
        size = min(room / (LETTER * (max(len(word) for line in words for word in line) + 1)), LARGEST)
        if size < SMALLEST:
            return
        for i, k in np.argwhere(np.isfinite(self.values)):
            dark = abs(self.contrast[i, k]) > 1.3
            ax.text(k, i, words[i][k], ha="center", va="center", fontsize=size, color="white" if dark else INK)


def _traits(table: Table, columns: Any) -> tuple[list[tuple[str, Any]], list[np.ndarray]]:
    """(column, level or None) and cells of every line: numbers, or 1 where the cell is at the level; NaN = missing."""
    schema = table.schema
    chosen = list(schema.names) if columns is None else list(columns)
    strange = [name for name in chosen if name not in schema.names]
    if strange:
        raise ValueError(f"columns holds {strange}, which the model does not know. Known: {list(schema.names)}.")
    traits: list[tuple[str, Any]] = []
    cells: list[np.ndarray] = []
    for position in (schema.names.index(name) for name in chosen):
        column = schema.columns[position]
        if position in schema.numeric:
            traits.append((str(column.name), None))
            cells.append(np.array(column_values(table, position), float))
            continue
        codes = table.codes[:, int(np.searchsorted(schema.discrete, position))]
        # of two levels one says it all
        for code in range(len(column.levels)) if len(column.levels) != 2 else (1,):
            traits.append((str(column.name), column.levels[code]))
            cells.append(np.where(codes < 0, np.nan, codes == code))
    return traits, cells


def _width(ax: Any) -> float:
    """Of the axes in points, once all around them is laid out."""
    ax.figure.draw_without_rendering()
    return float(ax.get_window_extent().width * 72 / ax.figure.dpi)


def _short(value: float) -> str:
    """About three digits, whole from a hundred on, thousands parted."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _mean(cells: np.ndarray) -> float:
    seen = cells[~np.isnan(cells)]
    return float(seen.mean()) if len(seen) else float("nan")
