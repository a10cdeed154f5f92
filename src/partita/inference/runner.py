"""How a fit is run: the parameters common to all estimators, and the clock that starts with the fit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .monitor import Bar, Monitor, Part, make_monitor

_SHORTEST = 1e-3


@dataclass
class Runner:
    """`begun` is when the fit started: several runs of the loop share one budget, and with `one_bar` one bar."""

    n_jobs: int | None = None
    progress: bool = False
    time_budget: float | None = None
    checkpoint: str | None = None
    label: str = ""
    begun: float = field(default_factory=time.monotonic)
    bar: Bar | None = None

    def time_left(self) -> float | None:
        """Seconds left of the budget, a little even when it is spent: every chain is owed one step."""
        if self.time_budget is None:
            return None
        return max(self.time_budget - (time.monotonic() - self.begun), _SHORTEST)

    def monitor(self, total: int | None) -> Monitor:
        """Who hears of the steps of the next run of the loop; `total` are those of all chains, from the first on."""
        if self.bar is not None:
            return Part(self.bar, total)
        return make_monitor(self.progress, total, self.label)

    @contextmanager
    def one_bar(self) -> Iterator[Bar | None]:
        """All runs inside are shown by one bar, where they are shown at all."""
        self.bar = Bar(None, self.label) if self.progress else None
        try:
            yield self.bar
        finally:
            if self.bar is not None:
                self.bar.close()
            self.bar = None
