"""Which attributes act together? Interaction information of the regions that were found."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from .canvas import INK, QUIET, canvas
from .names import shorten
from .region_names import names_of


class InteractionMatrixDisplay:
    """Attributes by attributes.

    names           attributes shown: those in a region of the hilltop.
    information     (names, names) nats: on the diagonal the mutual information with the class, beside it the
                    interaction information of pairs that were found (positive: synergy, negative: redundancy); NaN
                    where the pair was not chosen.
    together        (names, names) number of regions of three or more attributes that hold both.
    strongest       (names, names) nats: of those regions the interaction information farthest from 0; NaN where none.
    """

    def __init__(self, names: list[str], information: np.ndarray, together: np.ndarray, strongest: np.ndarray) -> None:
        self.names = names
        self.information = information
        self.together = together
        self.strongest = strongest

    @classmethod
    def from_estimator(cls, estimator: Any) -> InteractionMatrixDisplay:
        """Of a fitted `KikuchiBayesClassifier`."""
        columns = names_of(cls, estimator)
        regions = estimator.map_regions_
        used = sorted({j for region in regions for j in region})
        at = {j: k for k, j in enumerate(used)}
        information = np.full((len(used), len(used)), np.nan)
        np.fill_diagonal(information, [estimator.interaction_information_[(j,)] for j in used])
        together, strongest = np.zeros(information.shape, int), np.full(information.shape, np.nan)
        for region in regions:
            places, value = [at[j] for j in region], estimator.interaction_information_[region]
            if len(region) == 2:
                information[places[0], places[1]] = information[places[1], places[0]] = value
            elif len(region) > 2:
                for a, b in permutations(places, 2):
                    together[a, b] += 1
                    strongest[a, b] = max(value, np.nan_to_num(strongest[a, b]), key=abs)
        return cls([columns[j] for j in used], information, together, strongest)

    def plot(self, ax: Any = None, *, colorbar: bool = True) -> InteractionMatrixDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        n = len(self.names)
        if not n:
            raise ValueError("No region was found, so there is nothing to draw: the class alone is the best model.")
        side = min(max(0.34 * n + 2.2, 4.2), 12.0)
        ax = canvas(ax, (side + 0.8, side))
        top = max(float(np.nan_to_num(np.abs([self.information, self.strongest])).max()), 1e-12)
        scale = {"cmap": "RdBu", "vmin": -top, "vmax": top}
        image = ax.imshow(np.ma.masked_invalid(self.information), **scale)
        # a frame tells a region whose interaction is about 0 from none
        for a, b in np.argwhere(np.isfinite(self.information)):
            across, down = b + np.array([-0.5, 0.5, 0.5, -0.5, -0.5]), a + np.array([-0.5, -0.5, 0.5, 0.5, -0.5])
            ax.plot(across, down, color=QUIET, linewidth=0.8)
        rows, columns = np.nonzero(self.together)
        if len(rows):
            sizes = 150 * self.together[rows, columns] / self.together.max() * min(1.0, 12 / n)
            ax.scatter(columns, rows, s=sizes, c=self.strongest[rows, columns], **scale, edgecolors=INK, linewidths=0.9)
            ax.scatter([], [], s=50, facecolors="none", edgecolors=INK, label="together in a region of three or more")
            ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
        told = [shorten(name, 18) for name in self.names]
        ax.set_xticks(range(n), told, rotation=90, fontsize=8, parse_math=False)
        ax.set_yticks(range(n), told, fontsize=8, parse_math=False)
        ax.tick_params(length=0)
        if colorbar:
            ax.figure.colorbar(image, ax=ax, shrink=0.8, label="interaction information (nats)")
        self.ax_, self.figure_ = ax, ax.figure
        return self
