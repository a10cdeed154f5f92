"""How long burn-in lasts: until the likelihood no longer rises.

After `burn_in` sweeps the chains are looked at; where one is still on its way burn-in is made twice as long, and so
on, at most DOUBLINGS times. A matrix of ratings has settled at the first look. One without noise that is barely
determined by its cells has not: its noise falls by a factor of thousands, slowly, until all factors are in place.

All chains have one length of burn-in, so that their traces compare.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

DOUBLINGS = 4
RISE = 0.05  # nats a cell, from one window to the next: noise that falls by a twentieth
CLEAR = 1.0  # times the spread within a window, where a straight line rises by 3.5
WINDOW = 1 / 4  # share of the sweeps


def settled(log_likelihood: Sequence[float], n_cells: int) -> bool:
    """Whether the last window of a trace is no higher than the one before it."""
    trace = np.asarray(log_likelihood, float) / max(n_cells, 1)
    window = int(WINDOW * len(trace))
    if window < 2 or not np.isfinite(trace[-2 * window :]).all():
        return True
    before, last = trace[-2 * window : -window], trace[-window:]
    return bool(last.mean() - before.mean() <= max(RISE, CLEAR * last.std()))


def lengths(burn_in: int, prolong: bool) -> list[int]:
    """Sweeps after which burn-in may end, in order."""
    return [burn_in * 2**n for n in range(DOUBLINGS + 1 if prolong and burn_in else 1)]
