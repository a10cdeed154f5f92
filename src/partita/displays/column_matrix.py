"""A matrix of columns by columns, with lines between their classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import INK, canvas
from .names import shorten
from .net_columns import class_edges


def draw_matrix(
    display: Any, matrix: np.ndarray, ax: Any, label: str, sides: tuple[str, str], colorbar: bool
) -> Any:
    """Draw probabilities for a display that has `names` and `classes`; returns the display."""
    n = len(matrix)
    side = min(max(0.28 * n + 2.0, 4.0), 12.0)
    ax = canvas(ax, (side + 0.8, side))
    image = ax.imshow(matrix, cmap="PuBu", vmin=0, vmax=1, interpolation="nearest")
    for edge in class_edges(display.classes):
        ax.axhline(edge - 0.5, color=INK, linewidth=0.7)
        ax.axvline(edge - 0.5, color=INK, linewidth=0.7)
    pitch = 72 * ax.figure.get_figheight() * ax.get_position().height / max(n, 1)  # points between names
    size = min(8.0, 0.7 * pitch)
    if n <= 120:  # beyond that names would cover each other
        ax.set_xticks(range(n), [shorten(name, 18) for name in display.names], rotation=90, fontsize=size)
        ax.set_yticks(range(n), [shorten(name, 18) for name in display.names], fontsize=size)
    else:
        ax.set_xticks([])
        ax.set_yticks([])
    ax.tick_params(length=0)
    ax.set(xlabel=sides[0], ylabel=sides[1])
    if colorbar:
        ax.figure.colorbar(image, ax=ax, shrink=0.8, label=label)
    display.ax_, display.figure_ = ax, ax.figure
    return display
