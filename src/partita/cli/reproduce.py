"""`partita reproduce NAME`: run papers/<name>.py, which has `main(quick: bool, output: Path)`."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import sys
from pathlib import Path

import partita
from partita.report.tables import align


def run(args: argparse.Namespace) -> None:
    scripts = find_scripts()
    if args.name is None:
        if not scripts:
            raise FileNotFoundError(_NOWHERE)
        print(align(("name", "what it computes"), [(name, first_line(path)) for name, path in scripts.items()]))
        return
    path = scripts.get(published_name(args.name))
    if path is None:
        known = f"Known: {', '.join(scripts)}." if scripts else _NOWHERE
        raise ValueError(f"{args.name!r} is no published result that can be reproduced. {known}")
    args.output.mkdir(parents=True, exist_ok=True)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))  # scripts may share a module beside them
    spec.loader.exec_module(module)
    module.main(quick=args.quick, output=args.output)


_NOWHERE = "No folder papers/ with scripts was found: run the command in a checkout of the repository."


def find_scripts() -> dict[str, Path]:
    """Names and paths of the scripts that have a `main`: aclass-fig4 is papers/aclass_fig4.py."""
    package = Path(partita.__file__).resolve().parent
    for folder in (package / "papers", package.parents[1] / "papers", Path.cwd() / "papers"):
        # A folder called papers is ours only inside the package or beside our own pyproject.toml.
        ours = folder.parent == package or 'name = "partita"' in _text(folder.parent / "pyproject.toml")
        if ours and folder.is_dir():
            paths = {published_name(path.stem): path for path in folder.glob("*.py") if _has_main(path)}
            if paths:
                return {name: paths[name] for name in sorted(paths, key=_by_numbers)}
    return {}


def _by_numbers(name: str) -> list[tuple[int, str]]:
    """A key that puts figure 3.9 before 3.10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name)]


def published_name(name: str) -> str:
    """What a script is called: aclass_fig4 is aclass-fig4, iqgme_fig3_2 is iqgme-fig3.2, bsvd_fig5_4_5_5 is
    bsvd-fig5.4-5.5.
    """
    dashed = re.sub(r"((?:fig|table)\d+)-(\d+)", r"\1.\2", name.replace("_", "-"))
    return re.sub(r"(\d\.\d+-\d+)-(\d+)$", r"\1.\2", dashed)


def first_line(path: Path) -> str:
    """The first line of the script's docstring; the script is not run."""
    return (ast.get_docstring(ast.parse(_text(path))) or "").split("\n")[0]


def _has_main(path: Path) -> bool:
    return any(isinstance(node, ast.FunctionDef) and node.name == "main" for node in ast.parse(_text(path)).body)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""
