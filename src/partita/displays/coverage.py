"""Intervals against the truth: a curve of actual over nominal coverage, and the intervals one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta

from .canvas import ACCENT, INK, QUIET, canvas, colour

NOMINAL = np.array([0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95])


def share_band(inside: np.ndarray, n: int) -> np.ndarray:
    """(2, levels): 90 % interval of the share that `inside` of `n` cells tells of, cells taken as independent."""
    return beta.ppf([[0.05], [0.95]], inside + 1, n - inside + 1)


class CoverageDisplay:
    """What displays of intervals share: `nominal`, `actual`, `low_share`, `high_share` of levels, and `truth`, `low`,
    `high` of cells at one `coverage`."""

    nominal: np.ndarray
    actual: np.ndarray
    low_share: np.ndarray
    high_share: np.ndarray
    truth: np.ndarray
    low: np.ndarray
    high: np.ndarray
    coverage: float

    @property
    def coverage_error(self) -> float:
        """The largest difference between actual and nominal coverage."""
        return float(np.abs(self.actual - self.nominal).max())

    def plot(self, ax: Any = None, *, max_cells: int = 200) -> Any:
        """Draw the coverage curve and, beside it, at most `max_cells` intervals, evenly spread.

        ax      None for a new figure with both, a pair of axes for both, or one for the curve alone. `ax_` keeps the
                axes of the curve, `intervals_ax_` those of the intervals or None.
        """
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained", width_ratios=(1, 1.25))
        both = np.ravel(np.array(ax, dtype=object))
        if len(both) not in (1, 2):
            raise ValueError(f"ax holds {len(both)} axes; give one for the curve, or a pair.")
        self.draw_curve(canvas(both[0]))
        if len(both) == 2:
            self.draw_intervals(canvas(both[1]), max_cells)
        self.ax_, self.intervals_ax_ = both[0], both[1] if len(both) == 2 else None
        self.figure_ = both[0].figure
        return self

    def draw_curve(self, ax: Any) -> None:
        """Only the curve."""
        draw_curve(self, ax, "cell")

    def draw_intervals(self, ax: Any, max_cells: int) -> None:
        """Only the intervals."""
        raise AssertionError("a display of intervals draws its own")


def draw_curve(display: CoverageDisplay, ax: Any, cell: str) -> None:
    """Actual over nominal coverage with its band; `cell` is what the title counts."""
    ax.plot([0, 1], [0, 1], color=QUIET, linewidth=1, linestyle="--", zorder=1)
    ax.fill_between(display.nominal, display.low_share, display.high_share, color=colour(0), alpha=0.2, linewidth=0)
    ax.plot(display.nominal, display.actual, color=colour(0), marker="o", markersize=4, linewidth=1.4, zorder=3)
    ax.set(xlim=(0, 1), ylim=(0, 1.01), aspect="equal", xlabel="nominal coverage", ylabel="actual coverage")
    n = len(display.truth)
    title = f"{n:,} {cell}{'s' * (n > 1)}, off by at most {display.coverage_error:.2f}"
    ax.set_title(title, fontsize="medium")


def draw_intervals(display: CoverageDisplay, ax: Any, middle: np.ndarray, max_cells: int, what: str) -> None:
    """Intervals by their middles, the truth a point: blue inside, red outside."""
    order = np.argsort(middle, kind="stable")
    order = order[np.unique(np.linspace(0, len(order) - 1, min(max_cells, len(order))).astype(int))]
    truth, low, high = display.truth[order], display.low[order], display.high[order]
    inside, place = (low <= truth) & (truth <= high), np.arange(len(order))
    ax.vlines(place, low, high, color=QUIET, linewidth=1.6, alpha=0.55)
    ax.plot(place, middle[order], color=INK, linewidth=1.1)
    ax.scatter(place, truth, s=11, c=np.where(inside, colour(0), ACCENT), linewidth=0, zorder=3)
    ax.set(xticks=[])
    share = float(np.mean((display.low <= display.truth) & (display.truth <= display.high)))
    ax.set_title(f"{display.coverage:.0%} intervals hold {share:.0%} of the {what}", fontsize="medium")
