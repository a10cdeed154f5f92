"""Pages that run: the `python` blocks of a Markdown page are executed in order, and the page keeps what they print.

A block fenced as `python` is run; where a block fenced as `output` follows it, that block holds what it printed.
`make docs` writes the outputs anew; the tests run every page and compare outputs with their numbers taken out, so that
a page whose words no longer fit fails, while a last digit may change.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
PAGES = (
    "index.md",
    "first_holed_table.md",
    "quarter_gone.md",
    "ratings_with_holes.md",
    "attributes_together.md",
    "which_edges.md",
    "how_aclass_works.md",
    "crp_mixture.md",
    "factor_experts.md",
)

_FENCE = re.compile(r"^```(python|output)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?([eE][-+]?\d+)?")


class PageError(AssertionError):
    """A block of a page failed."""


def run_page(path: Path, images: Path, folder: Path) -> str:
    """The page with the outputs its blocks print now.

    images      where figures that a block leaves open are saved, as <page>-<number>.png.
    folder      working directory of the blocks.
    """
    text = path.read_text(encoding="utf-8")
    space: dict[str, Any] = {"__name__": "__page__"}
    printed, figures, last = "", 0, 0
    parts: list[str] = []
    for fence in _FENCE.finditer(text):
        parts.append(text[last : fence.start()])
        last = fence.end()
        kind, body = fence.groups()
        if kind == "python":
            line = text[: fence.start()].count("\n") + 2
            printed = _run_block(body, f"{path.name}, line {line}", space, folder)
            figures = _save_figures(images, path.stem, figures)
            parts.append(fence.group())
        else:
            parts.append(f"```output\n{printed}```")
    return "".join([*parts, text[last:]])


def _run_block(source: str, name: str, space: dict[str, Any], folder: Path) -> str:
    printed = io.StringIO()
    before = os.getcwd()
    os.chdir(folder)
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(source, name, "exec"), space)
    except Exception as error:
        raise PageError(f"{name}: {type(error).__name__}: {error}") from error
    finally:
        os.chdir(before)
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    return "".join(f"{line}\n" for line in lines)


def _save_figures(images: Path, stem: str, done: int) -> int:
    import matplotlib.pyplot as plt

    for number in plt.get_fignums():
        done += 1
        plt.figure(number).savefig(images / f"{stem}-{done}.png", dpi=100)
        plt.close(number)
    return done


def skeleton(page: str) -> list[str]:
    """The outputs of a page without their numbers and spacing: what must not change unnoticed."""
    outputs = [body for kind, body in _FENCE.findall(page) if kind == "output"]
    # columns of numbers are padded to the widest, so spaces, rules and brackets move with the digits
    return [" ".join(re.sub(r"-{2,}|[\[\]]", " ", _NUMBER.sub("#", output)).split()) for output in outputs]
