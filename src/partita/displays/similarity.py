"""Which rows belong together, and how surely? The posterior co-assignment of rows, ordered by group."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import INK, canvas
from .wanted import need_method


class SimilarityDisplay:
    """Matrix of the probabilities that two rows share a group.

    similarity      (n, n) probabilities, rows in display order: larger groups first, the surest members first.
    order           (n,) position in the caller's table of each displayed row.
    groups          (n,) group of each displayed row.
    """

    def __init__(self, similarity: np.ndarray, order: np.ndarray, groups: np.ndarray) -> None:
        self.similarity = similarity
        self.order = order
        self.groups = groups

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, max_rows: int = 1000, random_state: Any = 0
    ) -> SimilarityDisplay:
        """Of a fitted `CRPMixture`: of its training rows, or of the rows of X.

        max_rows        a larger table is thinned to this many rows, drawn with `random_state`.
        """
        if max_rows < 2:
            raise ValueError(f"max_rows={max_rows!r} must be at least 2: a similarity needs two rows.")
        need_method(cls, "a fitted CRPMixture", estimator, "similarity")
        similarity = estimator.similarity(X)
        groups = np.asarray(estimator.labels_ if X is None else estimator.predict(X))
        rows = np.arange(len(groups))
        if len(rows) > max_rows:
            rows = np.sort(np.random.default_rng(random_state).choice(rows, max_rows, replace=False))
        return cls.from_similarity(similarity[np.ix_(rows, rows)], groups[rows], rows)

    @classmethod
    def from_similarity(cls, similarity: Any, groups: Any, rows: Any = None) -> SimilarityDisplay:
        """Of a given matrix and the group of each of its rows."""
        similarity, groups = np.asarray(similarity, float), np.asarray(groups)
        if similarity.shape != (len(groups), len(groups)):
            raise ValueError(
                f"similarity has shape {similarity.shape}, expected {(len(groups), len(groups))}: "
                "one row and one column per entry of groups."
            )
        rows = np.arange(len(groups)) if rows is None else np.asarray(rows)
        _, place, counts = np.unique(groups, return_inverse=True, return_counts=True)
        own = place[:, None] == place
        belonging = (similarity * own).sum(axis=1) / own.sum(axis=1)
        order = np.lexsort((-belonging, place, -counts[place]))
        return cls(similarity[np.ix_(order, order)], rows[order], groups[order])

    def plot(self, ax: Any = None, *, colorbar: bool = True) -> SimilarityDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        ax = canvas(ax, (5.2, 4.4))
        n = len(self.groups)
        image = ax.imshow(self.similarity, cmap="PuBu", vmin=0, vmax=1, interpolation="nearest", extent=(0, n, n, 0))
        edges = np.flatnonzero(self.groups[1:] != self.groups[:-1]) + 1
        ax.hlines(edges, 0, n, color=INK, linewidth=0.5)
        ax.vlines(edges, 0, n, color=INK, linewidth=0.5)
        middles = (np.array([0, *edges]) + np.array([*edges, n])) / 2
        wide = np.diff([0, *edges, n]) >= 0.04 * n  # a name of a thinner group would lie on its neighbour's
        names = [f"{self.groups[int(middle)]}" for middle in middles[wide]]
        ax.set_xticks(middles[wide], names)
        ax.set_yticks(middles[wide], names)
        ax.tick_params(length=0)
        ax.set(xlabel="group", ylabel="group")
        if colorbar:
            ax.figure.colorbar(image, ax=ax, shrink=0.85, label="probability of the same group")
        self.ax_, self.figure_ = ax, ax.figure
        return self
