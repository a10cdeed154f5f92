"""The brake: how Ctrl-C, or a failure in one chain, stops the others after the step they are in."""

from __future__ import annotations

import signal
import threading
from typing import Any


class Brake:
    """Tells the workers to stop after their step: on a failure, or on Ctrl-C, whose first press it catches.

    Plain attributes rather than an Event: a signal handler must not take a lock that its own thread may hold.
    """

    def __init__(self) -> None:
        self.failed = False
        self.keyboard = False
        self._previous: Any = None

    @property
    def pulled(self) -> bool:
        return self.failed or self.keyboard

    def __enter__(self) -> Brake:
        # Only Python's own handler is replaced: who has installed another one wants to handle Ctrl-C.
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._previous = signal.signal(signal.SIGINT, self._press)
        return self

    def _press(self, signum: int, frame: Any) -> None:
        if self.pulled:
            signal.default_int_handler(signum, frame)
        self.keyboard = True

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)
