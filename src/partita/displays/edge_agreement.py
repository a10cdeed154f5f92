"""Do the chains agree on the edges? What each of them gives every edge, against what they give it together."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import INK, QUIET, canvas, colour
from .names import shorten
from .net_columns import need_structure
from .trace import r_hat_text


class EdgeAgreementDisplay:
    """One dot per edge and chain; chains that have settled lie on the diagonal.

    chains      (chains, n, n) probability of every edge (parent row, child column) by each chain.
    together    (n, n) their mean.
    names       columns.
    r_hat       worst R-hat of an edge, None where not known; near 1 means that the chains agree.
    """

    def __init__(self, chains: np.ndarray, names: list[str], r_hat: float | None = None) -> None:
        self.chains = chains
        self.together = chains.mean(axis=0)
        self.names = names
        self.r_hat = r_hat

    @classmethod
    def from_estimator(cls, estimator: Any) -> EdgeAgreementDisplay:
        """Of a `StructureLearner` fitted with two chains or more."""
        need_structure(cls, estimator)
        chains = np.asarray(estimator.chain_edges_)
        if len(chains) < 2:
            none = "There are no chains to compare in this StructureLearner"
            if estimator.method_ == "exact":
                raise ValueError(f"{none}: its edges are exact. For chains fit it with exact=False.")
            raise ValueError(f"{none}: it ran n_chains={estimator.n_chains}. Fit it with n_chains=2.")
        worst = [report["edges"]["r_hat"] for report in estimator.diagnostics_.values() if "edges" in report]
        return cls(chains, [str(name) for name in estimator.schema_.names], max(worst, default=None))

    @property
    def largest(self) -> tuple[int, int, float]:
        """The edge (parent, child) on which chains differ most, and by how much."""
        gaps = np.ptp(self.chains, axis=0)
        parent, child = np.unravel_index(int(gaps.argmax()), gaps.shape)
        return int(parent), int(child), float(gaps.max())

    def plot(self, ax: Any = None) -> EdgeAgreementDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        ax = canvas(ax, (4.6, 4.4))
        off = ~np.eye(len(self.together), dtype=bool)
        ax.plot([0, 1], [0, 1], color=QUIET, linewidth=1.0, zorder=1)
        for k, edges in enumerate(self.chains):
            ax.scatter(self.together[off], edges[off], s=16, color=colour(k), alpha=0.7, linewidths=0, zorder=2)
        parent, child, gap = self.largest
        x, y = self.together[parent, child], self.chains[:, parent, child].max()
        edge = f"{shorten(self.names[parent], 16)} → {shorten(self.names[child], 16)}\napart by {gap:.2f}"
        ax.annotate(
            edge, (x, y), xytext=(0.04, 0.96), textcoords="axes fraction", va="top", fontsize=8, color=INK,
            arrowprops={"arrowstyle": "-", "color": QUIET, "linewidth": 0.8},
        )  # fmt: skip
        ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal")
        ax.set(xlabel="probability of an edge, all chains", ylabel="by one chain")
        title = f"{len(self.chains)} chains"
        if self.r_hat is not None and np.isfinite(self.r_hat):
            title += f", worst {r_hat_text(self.r_hat)}"
        ax.set_title(title, fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self
