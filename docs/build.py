"""`make docs`: run the pages, write their outputs and pictures anew, and render everything to docs/_build."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import matplotlib
from jinja2 import Template
from markdown_it import MarkdownIt

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from pages import PAGES, run_page  # noqa: E402
from reference import make_reference  # noqa: E402


def render(markdown: str) -> str:
    """HTML of a page; links between pages lead to the built ones."""
    html = MarkdownIt("commonmark").enable("table").render(markdown)
    return html.replace('.md"', '.html"').replace(".md#", ".html#")


def build(out: Path) -> list[Path]:
    """Write the pages below `out`."""
    matplotlib.use("Agg")
    template = Template((FOLDER / "page.html").read_text(encoding="utf-8"), autoescape=False)
    out.mkdir(parents=True, exist_ok=True)
    (FOLDER / "images").mkdir(exist_ok=True)
    written = []
    for name in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            page = run_page(FOLDER / name, FOLDER / "images", Path(folder))
        (FOLDER / name).write_text(page, encoding="utf-8")
        written.append(
            _write(out / name.replace(".md", ".html"), template, page.split("\n", 1)[0].lstrip("# "), render(page))
        )
    written.append(_write(out / "reference.html", template, "Reference", make_reference()))
    shutil.copytree(FOLDER / "images", out / "images", dirs_exist_ok=True)
    return written


def _write(path: Path, template: Template, title: str, body: str) -> Path:
    path.write_text(template.render(title=title, body=body), encoding="utf-8")
    return path


if __name__ == "__main__":
    for path in build(FOLDER / "_build"):
        print(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
