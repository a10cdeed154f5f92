"""Names where there is little room for them."""

from __future__ import annotations

import textwrap
from typing import Any


def shorten(name: Any, longest: int) -> str:
    """Cut in the middle: names that begin alike often differ at their ends."""
    text = str(name)
    if len(text) <= longest:
        return text
    head = longest // 2
    return text[:head] + "…" + text[len(text) - (longest - 1 - head) :]


def wrapped(name: str, width: int = 36) -> str:
    """On as many lines as it takes beside an axis."""
    return textwrap.fill(name, width)
