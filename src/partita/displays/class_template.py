"""How do the classes act on each other? The probability of an edge from a column of one class to one of another."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import canvas, colour
from .net_columns import class_numbers, columns_by_class, need_structure


class ClassTemplateDisplay:
    """Classes by classes.

    template        (K, K) mean posterior probability of an edge from the row's class to the column's.
    sizes           (K,) columns in each class.
    members         names of each class's columns.
    numbers         of the classes in `classes_map_`.
    """

    def __init__(
        self, template: np.ndarray, sizes: np.ndarray, members: list[list[str]], numbers: list[int]
    ) -> None:  # fmt: skip
        self.template = template
        self.sizes = sizes
        self.members = members
        self.numbers = numbers

    @classmethod
    def from_estimator(cls, estimator: Any) -> ClassTemplateDisplay:
        """Of a fitted `StructureLearner`: its most probable classes."""
        need_structure(cls, estimator)
        order, names, classes = columns_by_class(estimator)
        probabilities = estimator.edge_probabilities_[np.ix_(order, order)]
        k = int(classes.max()) + 1
        template = np.full((k, k), np.nan)
        off = ~np.eye(len(classes), dtype=bool)
        for a in range(k):
            for b in range(k):
                pairs = np.outer(classes == a, classes == b) & off
                if pairs.any():
                    template[a, b] = probabilities[pairs].mean()
        members = [[name for name, c in zip(names, classes, strict=True) if c == a] for a in range(k)]
        return cls(template, np.bincount(classes, minlength=k), members, class_numbers(estimator))

    def plot(self, ax: Any = None, *, colorbar: bool = True) -> ClassTemplateDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        k = len(self.sizes)
        side = min(max(0.9 * k + 1.6, 3.2), 9.0)
        ax = canvas(ax, (side + 1.0, side))
        image = ax.imshow(np.ma.masked_invalid(self.template), cmap="PuBu", vmin=0, vmax=1)
        for a, b in np.argwhere(np.isfinite(self.template)):
            shade = "white" if self.template[a, b] > 0.6 else "#27384a"
            ax.text(b, a, f"{self.template[a, b]:.2f}", ha="center", va="center", color=shade, fontsize=9)
        labels = [f"class {number}\n({size})" for number, size in zip(self.numbers, self.sizes, strict=True)]
        ax.set_xticks(range(k), labels, fontsize=8)
        ax.set_yticks(range(k), labels, fontsize=8)
        for a, (across, down) in enumerate(zip(ax.get_xticklabels(), ax.get_yticklabels(), strict=True)):
            across.set_color(colour(a))
            down.set_color(colour(a))
        ax.tick_params(length=0)
        ax.set(xlabel="child's class", ylabel="parent's class")
        if colorbar:
            ax.figure.colorbar(image, ax=ax, shrink=0.8, label="probability of an edge")
        self.ax_, self.figure_ = ax, ax.figure
        return self
