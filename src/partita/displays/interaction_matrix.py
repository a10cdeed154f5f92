"""Which attributes act together? Interaction information of the regions that were found."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import INK, canvas
from .region_names import names_of, shorten


class InteractionMatrixDisplay:
    """Attributes by attributes.

    names           attributes shown: those in a region of the hilltop.
    information     (names, names) nats: on the diagonal the mutual information with the class, beside it the
                    interaction information of pairs that were found (positive: synergy, negative: redundancy); NaN
                    where the pair was not chosen.
    together        (names, names) number of regions of three or more attributes that hold both.
    """

    def __init__(self, names: list[str], information: np.ndarray, together: np.ndarray) -> None:
        self.names = names
        self.information = information
        self.together = together

    @classmethod
    def from_estimator(cls, estimator: Any) -> InteractionMatrixDisplay:
        """Of a fitted `KikuchiBayesClassifier`."""
        columns = names_of(cls, estimator)
        regions = estimator.map_regions_
        used = sorted({j for region in regions for j in region})
        at = {j: k for k, j in enumerate(used)}
        information = np.full((len(used), len(used)), np.nan)
        together = np.zeros((len(used), len(used)), int)
        for region in regions:
            places = [at[j] for j in region]
            if len(region) <= 2:
                value = estimator.interaction_information_[region]
                information[places[0], places[-1]] = information[places[-1], places[0]] = value
            else:
                for a in places:
                    for b in places:
                        together[a, b] += a != b
        return cls([columns[j] for j in used], information, together)

    def plot(self, ax: Any = None, *, colorbar: bool = True) -> InteractionMatrixDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        n = len(self.names)
        if not n:
            raise ValueError("No region was found, so there is nothing to draw: the class alone is the best model.")
        side = min(max(0.34 * n + 2.2, 4.2), 12.0)
        ax = canvas(ax, (side + 0.8, side))
        top = max(float(np.nanmax(np.abs(self.information))) if np.isfinite(self.information).any() else 0.0, 1e-12)
        image = ax.imshow(np.ma.masked_invalid(self.information), cmap="RdBu", vmin=-top, vmax=top)
        rows, columns = np.nonzero(self.together)
        if len(rows):
            sizes = 90 * self.together[rows, columns] / self.together.max() * min(1.0, 12 / n)
            ax.scatter(columns, rows, s=sizes, facecolors="none", edgecolors=INK, linewidths=1.0,
                       label="in a region of three or more")  # fmt: skip
            ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0))
        ax.set_xticks(range(n), [shorten(name, 18) for name in self.names], rotation=90, fontsize=8)
        ax.set_yticks(range(n), [shorten(name, 18) for name in self.names], fontsize=8)
        ax.tick_params(length=0)
        if colorbar:
            ax.figure.colorbar(image, ax=ax, shrink=0.8, label="interaction information (nats)")
        self.ax_, self.figure_ = ax, ax.figure
        return self
