"""What does the network look like? Edges as surely as they are there, columns coloured by class, classes in layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import INK, canvas, colour
from .names import shorten
from .net_columns import class_numbers, columns_by_class, in_order, need_structure

DECIDED = 2 / 3  # share of a pair's probability that one direction must have to be drawn as an arrow


class NetworkDisplay:
    """Columns as dots, edges as arrows.

    names           columns in display order, class by class.
    classes         (n,) class of each, by its place in `numbers`.
    numbers         of the classes in `classes_map_`, in display order.
    places          (n, 2) where they stand: parents above their children as far as edges go one way.
    edges           list of (parent, child, probability), positions in display order, surest last.
    either_way      the same of pairs that are joined, of which neither direction is probable enough alone or twice as
                    probable as the other; their probability is that of an edge either way.
    """

    def __init__(
        self, names: list[str], classes: np.ndarray, numbers: list[int], places: np.ndarray,
        edges: list[tuple[int, int, float]], either_way: list[tuple[int, int, float]] | None = None,
    ) -> None:  # fmt: skip
        self.names = names
        self.classes = classes
        self.numbers = numbers
        self.places = places
        self.edges = edges
        self.either_way = either_way or []

    @classmethod
    def from_estimator(cls, estimator: Any, *, threshold: float = 0.5) -> NetworkDisplay:
        """Of a fitted `StructureLearner`: edges of at least this posterior probability, dashed and without a head where
        only both directions together have it or the data hardly tell them apart (.52 against .48, say)."""
        need_structure(cls, estimator)
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold={threshold!r} must be above 0 and at most 1: a probability.")
        order, names, classes = columns_by_class(estimator)
        probabilities = estimator.edge_probabilities_[np.ix_(order, order)]
        both = probabilities + probabilities.T
        drawn = (probabilities >= threshold) & (probabilities >= DECIDED * both)
        pairs = [(int(i), int(j), float(probabilities[i, j])) for i, j in np.argwhere(drawn)]
        open_pairs = np.triu((both >= threshold) & ~(drawn | drawn.T), 1)
        either_way = [(int(i), int(j), min(float(both[i, j]), 1.0)) for i, j in np.argwhere(open_pairs)]
        layers = classes if in_order(estimator) else depths(probabilities)
        where = places(layers, classes, pairs + either_way)
        surest_last = sorted(pairs, key=lambda edge: edge[2])
        return cls(names, classes, class_numbers(estimator), where, surest_last, either_way)

    def plot(self, ax: Any = None) -> NetworkDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        layers, widths = np.unique(np.round(self.places[:, 1]), return_counts=True)
        widest = int(widths.max())
        ax = canvas(ax, (min(max(1.1 * widest, 4.5), 14.0), min(1.2 * len(layers) + 1.6, 11.0)))
        for edge in self.either_way:
            self._line(ax, *edge, {"arrowstyle": "-", "linestyle": (0, (3, 2))})
        for edge in self.edges:
            self._line(ax, *edge, {"arrowstyle": "-|>"})
        colours = [colour(k) for k in self.classes]
        ax.scatter(*self.places.T, s=170, c=colours, edgecolors="white", linewidths=1.2, zorder=2)
        for name, (x, y) in zip(self.names, self.places, strict=True):
            ax.annotate(
                shorten(name, 14), (x, y), xytext=(0, -11), textcoords="offset points", ha="center", va="top",
                fontsize=8 if widest <= 12 else 6.5, color=INK, zorder=3,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6},
            )  # fmt: skip
        self._legend(ax)
        ax.set_axis_off()
        ax.margins(0.08, 0.16)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _line(self, ax: Any, parent: int, child: int, probability: float, style: dict[str, Any]) -> None:
        """One edge, the surer the darker; bent within a layer, and where it would run through other columns."""
        start, end = self.places[parent], self.places[child]
        down = abs(start[1] - end[1])
        bend = 0.25 if down < 0.3 else 0.18 if down > 1.3 else 0.04
        ax.annotate(
            "", xy=end, xytext=start, zorder=1,
            arrowprops={
                "color": INK, "alpha": 0.15 + 0.75 * probability, "linewidth": 0.4 + 1.4 * probability,
                "shrinkA": 9, "shrinkB": 9, "connectionstyle": f"arc3,rad={bend}", **style,
            },
        )  # fmt: skip

    def _legend(self, ax: Any) -> None:
        if len(self.numbers) > 1:
            for place, number in enumerate(self.numbers):
                ax.scatter([], [], s=60, color=colour(place), label=f"class {number}")
        if self.either_way:
            ax.plot([], [], color=INK, linestyle=(0, (3, 2)), linewidth=1.2, label="direction open")
        if ax.get_legend_handles_labels()[0]:
            ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))


def depths(probabilities: np.ndarray) -> np.ndarray:
    """How far from the top each column stands: columns in the order that agrees best with the edges, cut into layers.

    Greedily, the column that is least a child of those left comes next; a column lies one below its lowest parent of
    more than even odds.
    """
    n = len(probabilities)
    left = list(range(n))
    depth = np.zeros(n, dtype=int)
    placed: list[int] = []
    while left:
        node = min(left, key=lambda j: (float(probabilities[left, j].sum()), j))
        above = [depth[i] + 1 for i in placed if probabilities[i, node] > 0.5]
        depth[node] = max(above, default=0)
        placed.append(node)
        left.remove(node)
    return depth


def places(layers: np.ndarray, classes: np.ndarray, edges: list[tuple[int, int, float]]) -> np.ndarray:
    """(n, 2): layers from the top down, within a layer class by class, each column near those it is joined to."""
    rows = [np.flatnonzero(layers == layer).tolist() for layer in np.unique(layers)]
    across = np.zeros(len(layers))
    for row in rows:
        across[row] = (np.arange(len(row)) + 0.5) / len(row)
    joined: list[list[int]] = [[] for _ in layers]
    for i, j, _ in edges:
        joined[i].append(j)
        joined[j].append(i)
    for sweep in range(6):  # down and up in turn: what stands in order pulls the next layer into order
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            row.sort(key=lambda j: (classes[j], float(across[joined[j]].mean()) if joined[j] else across[j], j))
            across[row] = (np.arange(len(row)) + 0.5) / len(row)
    place = np.column_stack([across, -layers.astype(float)])
    for row in rows:
        if len(row) > 8:  # a shallow zigzag keeps names of a full layer apart
            place[row[1::2], 1] -= 0.16
    return place
