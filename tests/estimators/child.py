"""Runs a test's program as a process of its own, which a signal may end."""

import os
import subprocess
import sys
from pathlib import Path

# Only a program that hangs takes this long: a busy machine must not end one that works.
HANGS = 900


def run_child(module, *arguments):
    """The finished process of `module` run as a program, with what it said."""
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    return subprocess.run(
        [sys.executable, module.__file__, *map(str, arguments)],
        capture_output=True, text=True, timeout=HANGS, env={**os.environ, "PYTHONPATH": paths},
    )  # fmt: skip
