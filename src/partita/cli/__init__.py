"""The command `partita`: parse, run one command, turn errors into one line."""

from __future__ import annotations

import importlib
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from partita.cli.arguments import make_parser

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; 0 = well, 2 = an error that was told in one line, 130 = Ctrl-C."""
    parser = make_parser()
    args = parser.parse_args(argv)
    if args.version:
        print(f"partita {importlib.import_module('partita').__version__}")
        return 0
    if args.command is None:
        parser.print_help()
        return 2
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning  # type: ignore[assignment]
        try:
            return int(importlib.import_module(f"partita.cli.{args.command}").run(args) or 0)
        except KeyboardInterrupt:
            return _fail("stopped", 130)
        except (ValueError, TypeError, OSError, ImportError) as error:
            if args.debug:
                traceback.print_exc()
            if isinstance(error, FileNotFoundError) and error.filename is not None:  # raised by Python, not by us
                return _fail(f"No file {str(error.filename)!r}. Check the path.")
            return _fail(str(error) or type(error).__name__)


def _fail(message: str, code: int = 2) -> int:
    print("partita: " + ("" if code == 130 else "error: ") + " ".join(message.split()), file=sys.stderr)
    return code


def _show_warning(message: Any, category: type[Warning], *rest: Any) -> None:
    # A library's deprecation notices are for programmers; the user of a command can do nothing about them.
    if not issubclass(category, DeprecationWarning | PendingDeprecationWarning | FutureWarning):
        print("partita: warning: " + " ".join(str(message).split()), file=sys.stderr)
