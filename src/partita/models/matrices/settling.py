"""How long burn-in lasts: until the likelihood neither rises nor falls.

After `burn_in` sweeps the chains are looked at; where one is still on its way burn-in is made twice as long, and so
on, at most DOUBLINGS times. A large matrix of ratings has settled at the first look. One without noise that is barely
determined by its cells has not: its noise falls by a factor of thousands, slowly, until all factors are in place. Nor
has a small one of ratings, where components that were born at the start and that the cells do not hold still fade.

All chains have one length of burn-in, so that their traces compare.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

DOUBLINGS = 4
CHANGE = 0.05  # nats a cell, from one window to the next: noise that changes by a twentieth
CLEAR = 1.0  # times the spread within a window, where a straight line changes by 3.5
WINDOW = 1 / 4  # share of the sweeps


def settled(log_likelihood: Sequence[float], n_cells: int) -> bool:
    """Whether the last window of a trace is about where the one before it was."""
    trace = np.asarray(log_likelihood, float) / max(n_cells, 1)
    window = int(WINDOW * len(trace))
    if window < 2 or not np.isfinite(trace[-2 * window :]).all():
        return True
    before, last = trace[-2 * window : -window], trace[-window:]
    return bool(abs(last.mean() - before.mean()) <= max(CHANGE, CLEAR * last.std()))


def lengths(burn_in: int, prolong: bool) -> list[int]:
    """Sweeps after which burn-in may end, in order."""
    return [burn_in * 2**n for n in range(DOUBLINGS + 1 if prolong and burn_in else 1)]
