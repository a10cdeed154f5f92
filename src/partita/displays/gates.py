"""Where does each expert rule, and what does it say? Gates, experts and decision surface over two columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.labels import encode_labels
from ..estimators.gated_base import GatedClassifier
from .canvas import ACCENT, INK, QUIET, canvas, colour
from .gate_plane import GatePlane
from .names import shorten
from .wanted import need


class GatesDisplay:
    """Gates as ellipses, each with the line where its expert changes its mind, over the probabilities of the classes.

    The other columns are missing everywhere, so they are integrated out. Gates and experts are those of the model of
    all columns that `explain` speaks of; the surface is `predict_proba`, of all models together.

    names           of the two columns.
    classes         of the model.
    grids           one axis of values per column; `probability` (nx, ny, C) at every point of their product.
    weight          (G,) share of each gate, largest first; `coverage` is how much of a gate its ellipse holds.
    n_gates         how many there are of at least `min_weight`, drawn or not.
    centre          (G, 2), and `discs` (G, rings, angles, 2): points from the centre to the ellipse, which is the last
                    ring; `said` (G, rings, angles, C): what the gate's expert says there.
    cells, label    (n, 2) rows, NaN where a cell is missing, and their classes (-1: not known); none without X.
    """

    def __init__(
        self, names: list[str], classes: np.ndarray, grids: list[np.ndarray], probability: np.ndarray,
        weight: np.ndarray, centre: np.ndarray, discs: np.ndarray, said: np.ndarray, coverage: float,
        cells: np.ndarray, label: np.ndarray, n_gates: int,
    ) -> None:  # fmt: skip
        self.names = names
        self.classes = classes
        self.grids = grids
        self.probability = probability
        self.weight = weight
        self.centre = centre
        self.discs = discs
        self.said = said
        self.coverage = coverage
        self.cells = cells
        self.label = label
        self.n_gates = n_gates

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, columns: Any = (0, 1), *, coverage: float = 0.8,
        min_weight: float = 0.01, max_gates: int = 9, n_points: int = 60,
    ) -> GatesDisplay:  # fmt: skip
        """Of a fitted classifier of gated experts.

        X, y        rows to draw over the gates and their labels, some of which may be missing; both may be left out.
        columns     a pair of real columns: names or positions.
        coverage    share of a gate that its ellipse holds, between 0 and 1.
        min_weight  gates with a smaller share of the rows are not drawn.
        max_gates   most gates to draw, the largest; the surface is always that of all.
        n_points    points of the grid along each column.
        """
        need(cls, "a fitted IQGMEClassifier or QGMEClassifier", estimator, isinstance(estimator, GatedClassifier))
        plane = GatePlane(estimator, columns)
        if not 0 < coverage < 1:
            raise ValueError(f"coverage={coverage!r} must lie between 0 and 1, for example 0.8.")
        if max_gates < 1:
            raise ValueError(f"max_gates={max_gates!r} must be at least 1, for example 9.")
        if X is None and y is not None:
            raise ValueError("y is given without X: give the rows that the labels are of.")
        table = None if X is None else estimator._encode(X)
        label = _labels(estimator, y, 0 if table is None else len(table))
        log_weight, _ = plane.ask(np.full((1, 2), np.nan))
        shown = np.flatnonzero(log_weight[0] - np.logaddexp.reduce(log_weight[0]) >= np.log(min_weight))
        if not len(shown):
            raise ValueError(f"min_weight={min_weight!r} leaves no gate: the largest is smaller. Lower it.")
        n_gates, shown = len(shown), shown[np.argsort(-log_weight[0, shown], kind="stable")][:max_gates]
        centre, discs, said = plane.gates(shown, coverage)
        axes = plane.axes(table, discs, n_points)
        mesh = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
        probability = estimator._models.probabilities(plane.rows(mesh)).reshape(n_points, n_points, -1)
        share = np.exp(log_weight[0] - np.logaddexp.reduce(log_weight[0]))[shown]
        grids = [plane.restore(axis, k) for k, axis in enumerate(axes)]
        return cls(
            plane.names, estimator.classes_, grids, probability, share, plane.restore_points(centre),
            plane.restore_points(discs), said, coverage, plane.cells(table), label, n_gates,
        )  # fmt: skip

    def plot(self, ax: Any = None, *, max_rows: int = 2000) -> GatesDisplay:
        """Draw on `ax` (by default a new figure), at most `max_rows` of the rows."""
        ax = canvas(ax, (5.8, 4.4))
        for k, grid in enumerate(self.grids):
            (ax.set_xlim, ax.set_ylim)[k](grid[0], grid[-1])
        ax.imshow(self._surface(), origin="lower", extent=(*ax.get_xlim(), *ax.get_ylim()), aspect="auto",
                  interpolation="bilinear", zorder=0)  # fmt: skip
        for margin in _margins(self.probability):
            _zero_line(ax, self.grids, margin.T, colors=INK, linewidths=1.1, linestyles="--", zorder=3)
        self._draw_rows(ax, max_rows)
        for g in np.argsort(self.weight):
            size = np.sqrt(self.weight[g] / self.weight.max())
            ax.plot(*self.discs[g, -1].T, color=INK, linewidth=0.6 + 1.4 * size, alpha=0.2 + 0.7 * size, zorder=4)
            ax.scatter(*self.centre[g], s=6 + 60 * size**2, color=INK, linewidth=0, zorder=5)
            for margin in _margins(self.said[g]):
                _zero_line(ax, np.moveaxis(self.discs[g], 2, 0), margin, colors=ACCENT, zorder=6,
                           linewidths=0.8 + 1.4 * size)  # fmt: skip
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.set_title(f"{self._counted()} ({self.coverage:.0%} of each inside)", fontsize="medium")
        self._legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _counted(self) -> str:
        drawn, many = len(self.weight), "gates" if self.n_gates > 1 else "gate"
        return f"{drawn} {many}" if drawn == self.n_gates else f"largest {drawn} of {self.n_gates} {many}"

    def _surface(self) -> np.ndarray:
        """(ny, nx, 3) colours: white where no class is more probable than another, else that of the class."""
        from matplotlib.colors import to_rgb

        n = len(self.classes)
        sure = np.clip((self.probability - 1 / n) / (1 - 1 / n), 0, 1) if n > 1 else self.probability
        shades = 1 - np.array([to_rgb(colour(k)) for k in range(n)])
        return np.clip(1 - 0.55 * sure @ shades, 0, 1).transpose(1, 0, 2)

    def _draw_rows(self, ax: Any, max_rows: int) -> None:
        """Rows with both cells as points; with one, as a tick at the edge."""
        kept = np.unique(np.linspace(0, len(self.cells) - 1, min(max_rows, len(self.cells))).astype(int))
        cells, label = self.cells[kept], self.label[kept]
        seen = ~np.isnan(cells)
        shades = np.array([QUIET if k < 0 else colour(k) for k in label], object)
        both = seen.all(axis=1)
        if both.any():
            ax.scatter(*cells[both].T, s=11, c=shades[both], edgecolor="white", linewidth=0.3, zorder=2)
        for k, mark in enumerate("|_"):
            one = seen[:, k] & ~both
            place = np.zeros(one.sum()) + 0.012
            where = (cells[one, 0], place) if k == 0 else (place, cells[one, 1])
            across = ax.get_xaxis_transform() if k == 0 else ax.get_yaxis_transform()
            if one.any():
                ax.scatter(*where, s=22, c=shades[one], marker=mark, linewidth=0.7, transform=across, zorder=2)

    def _legend(self, ax: Any) -> None:
        present = set(self.label.tolist())
        for k, name in enumerate(self.classes):
            ax.scatter([], [], s=22, color=colour(k), label=shorten(name, 18))
        if -1 in present:
            ax.scatter([], [], s=22, color=QUIET, label="rows" if present == {-1} else "no label")
        if any(margin.min() < 0 < margin.max() for said in self.said for margin in _margins(said)):
            ax.plot([], [], color=ACCENT, linewidth=1.8, label="expert")
        ax.plot([], [], color=INK, linewidth=1.1, linestyle="--", label="all together")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize="small", handlelength=1.3)


def _labels(estimator: Any, y: Any, n_rows: int) -> np.ndarray:
    if y is None:
        return np.full(n_rows, -1)
    mark = getattr(estimator, "missing_label", None)
    return encode_labels(y, mark, estimator.classes_, n_rows=n_rows, owner="GatesDisplay")[0]


def _margins(probability: np.ndarray) -> list[np.ndarray]:
    """By how much each class is ahead of the best other one, for all that are needed to see where that changes."""
    n = probability.shape[-1]
    if n < 2:
        return []
    logs = np.log(np.maximum(probability, 1e-300))
    chosen = [1] if n == 2 else range(n)
    return [logs[..., k] - np.delete(logs, k, axis=-1).max(axis=-1) for k in chosen]


def _zero_line(ax: Any, points: Any, margin: np.ndarray, **style: Any) -> None:
    """Where the margin at `points` (a pair: x and y) changes its sign."""
    if margin.min() < 0 < margin.max():
        ax.contour(points[0], points[1], margin, levels=[0.0], **style)
