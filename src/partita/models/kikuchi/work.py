"""How the parts of a step of the search are run: in threads, watched, and stopped between parts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Any

from ...inference.brake import Brake


class Stopped(Exception):
    """The search was stopped between two parts of a step; `reason` is "keyboard" or "time"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Work:
    """Runs a function on parts that do not depend on each other, so that neither their order nor the threads matter."""

    def __init__(self, pool: Executor | None = None, brake: Brake | None = None, until: float | None = None) -> None:
        self.pool, self.brake, self.until = pool, brake, until

    def check(self) -> None:
        """Raise `Stopped` after Ctrl-C or when the time is over."""
        if self.brake is not None and self.brake.keyboard:
            raise Stopped("keyboard")
        if self.until is not None and time.monotonic() > self.until:
            raise Stopped("time")

    def run(self, function: Callable[[Any], None], parts: Sequence[Any]) -> None:
        def checked(part: Any) -> None:
            self.check()
            function(part)

        if self.pool is None or len(parts) < 2:
            for part in parts:
                checked(part)
        else:
            list(self.pool.map(checked, parts))
