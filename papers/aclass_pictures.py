"""Panels of curves as in the AClass paper, in colours that colour-blind readers can tell apart."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

# Okabe and Ito's palette; marker and dash repeat what the colour says.
INK: dict[str, dict[str, Any]] = {
    "one": {"color": "#E69F00", "marker": "s", "linestyle": (0, (4, 1.5))},
    "two": {"color": "#56B4E9", "marker": "^", "linestyle": "-"},
    "three": {"color": "#009E73", "marker": "v", "linestyle": "-"},
    "ours": {"color": "#D55E00", "marker": "o", "linestyle": "-", "linewidth": 2.4, "zorder": 5},
    # hollow and on top: where a curve falls on the baseline, both stay visible
    "baseline": {
        "color": "#333333",
        "marker": "D",
        "linestyle": (0, (1, 1.2)),
        "markersize": 8,
        "markerfacecolor": "none",
        "zorder": 6,
    },
    "rival": {"color": "#0072B2", "marker": "P", "linestyle": (0, (5, 1.5, 1, 1.5))},
    "second rival": {"color": "#CC79A7", "marker": "X", "linestyle": (0, (5, 1.5, 1, 1.5))},
}


def make_panels(n: int, columns: int, title: str, share_y: bool = True) -> tuple[Any, list[Any]]:
    """A figure with n panels, `columns` in a row."""
    rows = -(-n // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(4.1 * columns, 3.3 * rows + 0.9), squeeze=False, sharey=share_y, layout="constrained"
    )
    figure.suptitle(title, fontsize=12)
    panels = list(grid.flat)
    for spare in panels[n:]:
        spare.axis("off")
    return figure, panels


def draw_curve(
    panel: Any, x: Sequence[float], mean: Sequence[float], error: Sequence[float], name: str, ink: str
) -> None:
    """One line with a band of one standard error on either side."""
    style: dict[str, Any] = {"linewidth": 1.5, "markersize": 4.5, **INK[ink]}
    panel.plot(x, mean, label=name, **style)
    low = [m - e for m, e in zip(mean, error, strict=True)]
    high = [m + e for m, e in zip(mean, error, strict=True)]
    panel.fill_between(x, low, high, color=style["color"], alpha=0.15, linewidth=0)


def rows_axis(panel: Any, sizes: Sequence[int]) -> None:
    """Training sizes on a log scale, marked by the sizes themselves."""
    panel.set_xscale("log")
    panel.set_xticks(list(sizes), [str(n) for n in sizes])
    panel.minorticks_off()
    panel.set_xlabel("training rows")


def finish(figure: Any, panels: Sequence[Any], path: Path) -> None:
    """One legend for all panels (in a spare place of the grid, else below), light grids, and the file."""
    named: dict[str, Any] = {}
    for panel in panels:
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
        for handle, name in zip(*panel.get_legend_handles_labels(), strict=True):
            named.setdefault(name, handle)
    spare = [axes for axes in figure.axes if axes not in panels and not axes.axison]  # a colour bar is not spare
    if spare:
        spare[0].legend(named.values(), named.keys(), loc="center", frameon=False, fontsize=11)
    else:
        columns = 5 if len(named) == 5 and len(panels) > 2 else min(len(panels) + 1, 3)
        figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=columns, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)
