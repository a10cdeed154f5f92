"""Where a display draws: the caller's axes, or one new figure, with quiet frames."""

from __future__ import annotations

import importlib.util
from typing import Any

INK, ACCENT, QUIET = "#27384a", "#d1495b", "#9aa7b4"
"""Colours of text and marks, of what the eye should find first, and of what stands behind."""

GROUPS = ("#2f6f9f", "#e0903b", "#5a9367", "#b4567a", "#7a6bb0", "#8a6d4b", "#3f9aa3", "#c2b24a")
"""Colours of groups and classes, in order; they repeat after the last."""


def need_matplotlib() -> None:
    """Raise an error that names the extra where there is no matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ImportError('Pictures need matplotlib. Install it: pip install "partita[plot]".')


def canvas(ax: Any, size: tuple[float, float] = (5.2, 3.8)) -> Any:
    """`ax`, or the axes of a new figure of `size` inches, without the upper and right frame."""
    if ax is None:
        need_matplotlib()
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def mark_truth(ax: Any, value: float) -> None:
    """A dashed line at the true value, named above the bars of a chart, where no bar hides the word."""
    ax.axvline(value, color=ACCENT, linewidth=1.2, linestyle="--", zorder=3)
    ax.set_ylim(0, 1.1 * ax.get_ylim()[1])
    ax.annotate("truth", (value, 1), xycoords=("data", "axes fraction"), xytext=(4, -2), textcoords="offset points",
                color=ACCENT, va="top", fontsize="small")  # fmt: skip


def colour(number: int) -> str:
    """The colour of a group or class."""
    return GROUPS[number % len(GROUPS)]


def shades(n: int) -> list[Any]:
    """A colour for each of n classes: those of all displays as long as they do not repeat."""
    if n <= len(GROUPS):
        return list(GROUPS[:n])
    import matplotlib.pyplot as plt

    return [plt.get_cmap("tab20" if n <= 20 else "turbo")(k if n <= 20 else k / n) for k in range(n)]
