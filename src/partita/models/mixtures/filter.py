"""A particle filter over the rows of one class (AClass, figure 3): rows come one after the other and are not
looked at again.
"""

from __future__ import annotations

import numpy as np

from ...kernels import kernel
from ...kernels.contract import CORRELATED, Filter, Layout, Rows, pad

# rows handed to the kernel at a time: it answers Ctrl-C between calls
ROWS_PER_CALL = 2048


def new_filter(layout: Layout, n_particles: int, alpha: float, cap: int, window: int) -> Filter:
    """No row seen, every particle without a group."""
    room, capacity = min(cap, 16), pad(4 * n_particles + 8)
    return Filter(
        stats=np.zeros((capacity, layout.n_stats)),
        table=np.zeros((layout.n_table, capacity)),
        size=np.zeros(capacity),
        refs=np.zeros(capacity, np.int32),
        seats=np.zeros((n_particles, room), np.int32),
        used=np.zeros(n_particles, np.int32),
        log_weight=np.zeros(n_particles),
        alpha=np.full(n_particles, alpha),
        history=np.full((n_particles, window), -1, np.int32),
        totals=np.zeros(3),
        cap=cap,
        filled=np.zeros((n_particles, window, int(layout.levels[layout.kind == CORRELATED].sum()))),
    )


def make_room(f: Filter) -> None:
    """More groups per particle, more distinct groups."""
    if (f.used >= f.seats.shape[1]).any() and f.seats.shape[1] < f.cap:
        extra = min(2 * f.seats.shape[1], f.cap) - f.seats.shape[1]
        f.seats = np.pad(f.seats, ((0, 0), (0, extra)))
    if int((f.refs[1:] == 0).sum()) < len(f.used) + 1:
        extra = pad(max(len(f.size) // 2, len(f.used) + 1))
        f.stats = np.pad(f.stats, ((0, extra), (0, 0)))
        f.table = np.pad(f.table, ((0, 0), (0, extra)))
        f.size, f.refs = np.pad(f.size, (0, extra)), np.pad(f.refs, (0, extra))


def seat_rows(
    layout: Layout, hyper: np.ndarray, rows: Rows, f: Filter, order: np.ndarray, place: np.ndarray,
    uniforms: np.ndarray, *, threshold: float = 0.5, scheme: int = 0,
) -> None:  # fmt: skip
    """Seat the rows of `order` one by one; `uniforms` is (rows, particles + 1), `place` where each goes in the
    window or -1.
    """
    at = 0
    while at < len(order):
        chunk = slice(at, at + ROWS_PER_CALL)
        done = kernel.filter_rows(
            layout, hyper, rows, f, order[chunk], place[chunk], uniforms[chunk], float(threshold), scheme
        )
        at += done
        if at < len(order) and done < ROWS_PER_CALL:
            make_room(f)


def ready_empty_group(layout: Layout, hyper: np.ndarray, f: Filter) -> None:
    """Make the table of group 0, which holds no row: a filter that has seated none since has an old one, or none."""
    nothing = Rows(np.zeros((0, 0), np.int32), np.zeros((0, 0)))
    kernel.filter_density(layout, hyper, nothing, f, np.empty(0))


def weights(f: Filter) -> np.ndarray:
    """The particles' weights, summing to one."""
    w = np.exp(f.log_weight - f.log_weight.max())
    return w / w.sum()


def density(layout: Layout, hyper: np.ndarray, rows: Rows, f: Filter) -> np.ndarray:
    """log predictive density of each row under the weighted particles."""
    out = np.empty(len(rows))
    kernel.filter_density(layout, hyper, rows, f, out)
    return out
