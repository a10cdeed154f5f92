"""How many groups are there? The posterior over their number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..estimators.groups_base import GroupsEstimator
from .canvas import GROUPS, canvas, mark_truth, shades
from .wanted import need


class ComponentsPosteriorDisplay:
    """Bar chart of the posterior over the number of groups, one colour per class where the model has classes.

    posteriors      name -> (number of groups -> probability); one entry with the name "" for a model without classes.
    """

    def __init__(self, posteriors: Mapping[Any, Mapping[int, float]]) -> None:
        self.posteriors = posteriors

    @classmethod
    def from_estimator(cls, estimator: Any) -> ComponentsPosteriorDisplay:
        """Of a fitted `CRPMixture` (its groups) or `AClass` (the groups of every class)."""
        need(cls, "a fitted CRPMixture or AClass", estimator, isinstance(estimator, GroupsEstimator))
        check_is_fitted(estimator, "n_components_posterior_")
        by_class = getattr(estimator, "n_components_by_class_", None)
        return cls({"": estimator.n_components_posterior_} if by_class is None else by_class)

    def plot(self, ax: Any = None, *, truth: int | None = None) -> ComponentsPosteriorDisplay:
        """Draw on `ax` (by default a new figure); `truth` marks a known number of groups."""
        many = len(self.posteriors) > len(GROUPS)
        ax = canvas(ax, (6.8 if many else 5.2, 3.8))
        sizes = sorted({size for posterior in self.posteriors.values() for size in posterior})
        width = 0.8 / len(self.posteriors)
        shade = shades(len(self.posteriors))
        for k, (name, posterior) in enumerate(self.posteriors.items()):
            place = np.array(sorted(posterior)) + (k - (len(self.posteriors) - 1) / 2) * width
            ax.bar(place, [posterior[size] for size in sorted(posterior)], width, color=shade[k], label=str(name))
        if truth is not None:
            mark_truth(ax, truth)
            sizes = sorted({*sizes, truth})
        low, high = sizes[0] - 1, sizes[-1] + 1
        ax.set(xlim=(low - 0.2, high + 0.2), xlabel="number of groups", ylabel="posterior probability")
        step = 1 + (high - low) // 12
        ax.set_xticks([size for size in range(max(low, 0), high + 1) if size % step == 0])
        if len(self.posteriors) > 1:
            beside = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "ncols": -(-len(shade) // 20)} if many else {}
            ax.legend(title="class", fontsize="small", title_fontsize="small", frameon=False, **beside)
        self.ax_, self.figure_ = ax, ax.figure
        return self
