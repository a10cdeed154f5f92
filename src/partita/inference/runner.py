"""How a fit is run: the parameters common to all estimators, and the clock that starts with the fit."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

_SHORTEST = 1e-3


@dataclass
class Runner:
    """`begun` is when the fit started: several runs of the loop share one budget."""

    n_jobs: int | None = None
    progress: bool = False
    time_budget: float | None = None
    checkpoint: str | None = None
    label: str = ""
    begun: float = field(default_factory=time.monotonic)

    def time_left(self) -> float | None:
        """Seconds left of the budget, a little even when it is spent: every chain is owed one step."""
        if self.time_budget is None:
            return None
        return max(self.time_budget - (time.monotonic() - self.begun), _SHORTEST)
