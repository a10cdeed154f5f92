"""Which parts of a benchmark to run: those named on the command line, or all."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence


def chosen_parts(parts: Mapping[str, Callable[[], None]], names: Sequence[str] | None, what: str | None) -> list[str]:
    """The parts that the words of the command line name; `--help` tells which there are, and what the benchmark is."""
    told = "\n".join(f"  {name:<10} {(part.__doc__ or ' ').splitlines()[0]}" for name, part in parts.items())
    parser = argparse.ArgumentParser(
        description=what, epilog=f"parts:\n{told}", formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="*", help="what to measure; all parts where none is named")
    asked = parser.parse_args(list(names or [])).part
    for name in asked:
        if name not in parts:
            parser.error(f"there is no part {name!r}; there are {', '.join(parts)}")
    return asked or list(parts)
