"""Small tables of text, aligned for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_SIZES_SHOWN = 5


def align(header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Header, a rule and the rows; the columns whose positions are in `right` are flush right."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[j]) for line in lines) for j in range(len(header))]

    def show(line: Sequence[str]) -> str:
        cells = [
            text.rjust(width) if j in right else text.ljust(width) for j, (text, width) in enumerate(zip(line, widths))
        ]
        return "  ".join(cells).rstrip()

    return "\n".join([show(header), "  ".join("-" * width for width in widths), *map(show, rows)])


def percent(share: float) -> str:
    """A share as a percentage; what is not zero never reads as zero."""
    if 0 < share < 0.001:
        return "<0.1 %"
    return f"{100 * share:.1f} %"


def likely_sizes(posterior: Mapping[int, float]) -> str:
    """A posterior over a number of groups in words, the most probable first."""
    likely = sorted(posterior.items(), key=lambda pair: -pair[1])
    shown = ", ".join(f"{size} ({percent(p)})" for size, p in likely[:_SIZES_SHOWN])
    return shown + (f", {len(likely) - _SIZES_SHOWN} other sizes" if len(likely) > _SIZES_SHOWN else "")


def number(value: float) -> str:
    """Four significant digits, without an exponent where that is readable."""
    return f"{value:,.4g}" if abs(value) < 1e4 or abs(value) >= 1e9 else f"{value:,.0f}"
