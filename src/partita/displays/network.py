"""What does the network look like? Edges as surely as they are there, columns coloured by class, classes in layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import INK, canvas, colour
from .net_columns import columns_by_class, in_order, need_structure
from .region_names import shorten


class NetworkDisplay:
    """Columns as dots, edges as arrows.

    names           columns in display order, class by class.
    classes         (n,) class of each, numbered in display order.
    places          (n, 2) where they stand: parents above their children as far as edges go one way.
    edges           list of (parent, child, probability), positions in display order, surest last.
    """

    def __init__(
        self, names: list[str], classes: np.ndarray, places: np.ndarray, edges: list[tuple[int, int, float]]
    ) -> None:
        self.names = names
        self.classes = classes
        self.places = places
        self.edges = edges

    @classmethod
    def from_estimator(cls, estimator: Any, *, threshold: float = 0.5) -> NetworkDisplay:
        """Of a fitted `StructureLearner`: edges of at least this posterior probability."""
        need_structure(cls, estimator)
        if not 0 < threshold <= 1:
            raise ValueError(f"threshold={threshold!r} must be above 0 and at most 1: a probability.")
        order, names, classes = columns_by_class(estimator)
        probabilities = estimator.edge_probabilities_[np.ix_(order, order)]
        pairs = [(int(i), int(j), float(probabilities[i, j])) for i, j in np.argwhere(probabilities >= threshold)]
        layers = classes if in_order(estimator) else depths(probabilities)
        return cls(names, classes, places(layers, classes, pairs), sorted(pairs, key=lambda edge: edge[2]))

    def plot(self, ax: Any = None) -> NetworkDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        layers = np.unique(self.places[:, 1])
        widest = max(int((self.places[:, 1] == layer).sum()) for layer in layers)
        ax = canvas(ax, (min(max(1.1 * widest, 4.5), 14.0), min(1.2 * len(layers) + 1.6, 11.0)))
        for parent, child, probability in self.edges:
            level = abs(self.places[parent, 1] - self.places[child, 1]) < 0.3
            ax.annotate(
                "", xy=self.places[child], xytext=self.places[parent], zorder=1,
                arrowprops={
                    "arrowstyle": "-|>", "color": INK, "alpha": 0.15 + 0.75 * probability,
                    "linewidth": 0.4 + 1.4 * probability, "shrinkA": 9, "shrinkB": 9,
                    "connectionstyle": f"arc3,rad={0.25 if level else 0.04}",
                },
            )  # fmt: skip
        colours = [colour(k) for k in self.classes]
        ax.scatter(*self.places.T, s=170, c=colours, edgecolors="white", linewidths=1.2, zorder=2)
        for name, (x, y) in zip(self.names, self.places, strict=True):
            ax.annotate(
                shorten(name, 14), (x, y), xytext=(0, -11), textcoords="offset points", ha="center", va="top",
                fontsize=8 if widest <= 12 else 6.5, color=INK, zorder=3,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.6},
            )  # fmt: skip
        for number in range(int(self.classes.max()) + 1):
            ax.scatter([], [], s=60, color=colour(number), label=f"class {number + 1}")
        if self.classes.max():
            ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
        ax.set_axis_off()
        ax.margins(0.08, 0.16)
        self.ax_, self.figure_ = ax, ax.figure
        return self


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
    """(n, 2): layers from the top down, within a layer class by class, each column near its parents."""
    place = np.zeros((len(layers), 2))
    for layer in np.unique(layers):
        row = np.flatnonzero(layers == layer).tolist()
        above = {j: [place[i, 0] for i, k, _ in edges if k == j and layers[i] < layer] for j in row}
        row.sort(key=lambda j: (classes[j], float(np.mean(above[j])) if above[j] else 0.5, j))
        for k, j in enumerate(row):
            # a shallow zigzag keeps names of a full layer apart
            place[j] = (k + 0.5) / len(row), -float(layer) - (0.16 if len(row) > 8 and k % 2 else 0.0)
    return place
