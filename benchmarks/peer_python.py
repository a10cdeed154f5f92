"""The Python that has a family's peers: this one, or that which PARTITA_PEERS_PYTHON names."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache


def python() -> str:
    return os.environ.get("PARTITA_PEERS_PYTHON", sys.executable)


@cache
def importable(package: str) -> bool:
    """Whether the package can be imported there; said once where not."""
    found = subprocess.run([python(), "-c", f"import {package}"], capture_output=True).returncode == 0
    if not found:
        print(f"  ({package} is not installed: left out. See benchmarks/README.md, or set PARTITA_PEERS_PYTHON to a "
              "Python that has it.)", flush=True)  # fmt: skip
    return found
