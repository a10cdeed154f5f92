"""Displays side by side in one PNG, without touching the user's figures."""

from __future__ import annotations

import io
from typing import Any

from .canvas import need_matplotlib


def draw_png(*displays: Any, size: tuple[float, float] = (4.6, 4.4), dpi: int = 110) -> bytes:
    """The bytes of a PNG with the displays in one row, each `size` inches."""
    need_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(size[0] * len(displays), size[1]), dpi=dpi, layout="constrained")
    FigureCanvasAgg(figure)
    for display, ax in zip(displays, figure.subplots(1, len(displays), squeeze=False)[0]):
        display.plot(ax=ax)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png")
    return drawn.getvalue()
