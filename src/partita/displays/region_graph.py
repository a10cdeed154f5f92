"""How do the regions overlap? The region graph of the hilltop with its counting numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import ACCENT, INK, QUIET, canvas
from .region_names import names_of, region_name

LETTER, SMALL_LETTER, BOX_EDGE = 0.075, 0.06, 0.2  # inches of a letter of size 8 and 6.5, and of a box around them
TURNED = 12  # letters beyond which names are turned in a crowded picture


class RegionGraphDisplay:
    """Regions in rows by size, lines to the largest regions they contain.

    regions     tuples of column positions, larger ones first; () is the class alone.
    numbers     (regions,) counting numbers: the power of each submodel in the product.
    names       what the regions are called.
    edges       pairs of positions in `regions`, from a region to one that it contains.
    """

    def __init__(self, regions: list[tuple], numbers: np.ndarray, names: list[str], edges: list[tuple]) -> None:
        self.regions = regions
        self.numbers = numbers
        self.names = names
        self.edges = edges

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_regions: int = 80) -> RegionGraphDisplay:
        """Of a fitted `KikuchiBayesClassifier`; of a larger graph the `max_regions` largest regions are shown."""
        columns = names_of(cls, estimator)
        if max_regions < 1:
            raise ValueError(f"max_regions={max_regions!r} must be at least 1.")
        graph = estimator.region_graph_
        regions = sorted(graph, key=lambda r: (-len(r), r))[:max_regions]
        edges = []
        for i, a in enumerate(regions):
            below = [j for j, b in enumerate(regions) if set(b) < set(a)]
            inner = [j for j in below if not any(set(regions[j]) < set(regions[k]) for k in below)]
            edges += [(i, j) for j in inner]
        names = [region_name(region, columns) for region in regions]
        return cls(regions, np.array([graph[r] for r in regions]), names, edges)

    def places(self) -> np.ndarray:
        """(regions, 2): rows by size; within a row each region near the mean of those above that contain it."""
        place = np.zeros((len(self.regions), 2))
        sizes = sorted({len(r) for r in self.regions}, reverse=True)
        for size in sizes:
            row = [i for i, r in enumerate(self.regions) if len(r) == size]
            above = {i: [place[a, 0] for a, b in self.edges if b == i] for i in row}
            row.sort(key=lambda i: (np.mean(above[i]) if above[i] else 0.5, self.regions[i]))
            # rows of one or two stand aside in turn: a line to a lower row would pass behind them
            aside = 0.0 if len(row) > 2 or not size else (-0.14 if size % 2 else 0.14) / len(row)
            for k, i in enumerate(row):
                place[i] = (k + 0.5) / len(row) + aside, size
        return place

    def _needed(self, crowded: bool) -> float:
        """Inches that the row with the longest boxes takes side by side."""
        return max((len(row) * self._widest(row, crowded) for row in self._rows()), default=0.0)

    def _rows(self) -> list[list[int]]:
        sizes = {len(r) for r in self.regions}
        return [[i for i, r in enumerate(self.regions) if len(r) == size] for size in sorted(sizes)]

    def _widest(self, row: list[int], crowded: bool) -> float:
        letters = max(len(self.names[i]) for i in row)
        if crowded and letters > TURNED:  # turned boxes lean on each other
            return TURNED * SMALL_LETTER + BOX_EDGE
        return letters * (SMALL_LETTER if crowded else LETTER) + BOX_EDGE

    def _lift(self, place: np.ndarray, crowded: bool, width: float) -> None:
        """Boxes of a row too long for `width` inches go to levels of their own in turn."""
        for row in self._rows():
            levels = min(int(np.ceil(len(row) * self._widest(row, crowded) / width)), 3, len(row))
            across = sorted(row, key=lambda i: place[i, 0])
            for k, i in enumerate(across):
                place[i, 1] += 0.3 * (k % levels - (levels - 1) / 2)

    def plot(self, ax: Any = None) -> RegionGraphDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        place = self.places()
        widest = max(np.bincount([len(r) for r in self.regions]))
        crowded = widest > 6
        ax = canvas(ax, (max(5.2, min(max(1.25 * widest, self._needed(crowded)), 14.0)), 4.6))
        self._lift(place, crowded, ax.get_position().width * ax.figure.get_figwidth())
        for a, b in self.edges:
            ax.plot(*place[[a, b]].T, color=QUIET, linewidth=0.8, zorder=1)
        for (x, y), c, name in zip(place, self.numbers, self.names, strict=True):
            ink = INK if c > 0 else ACCENT
            ax.text(
                x, y, f"{name}\n{c:+d}", parse_math=False, ha="center", va="center", fontsize=6.5 if crowded else 8,
                color=ink, rotation=35 if crowded and len(name) > TURNED else 0,
                bbox={"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": ink, "linewidth": 0.8}, zorder=2,
            )  # fmt: skip
        sizes = sorted({len(r) for r in self.regions})
        ax.set(xlim=(0, 1), ylim=(min(sizes) - 0.6, max(sizes) + 0.6))
        ax.set_yticks(sizes, [f"{size + 1}-way" if size else "class" for size in sizes])
        ax.set_xticks([])
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.tick_params(length=0)
        ax.set_title("Regions (the class is in all) and their counting numbers", fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self
