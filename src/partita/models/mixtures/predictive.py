"""What kept states say of new rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...kernels import kernel
from ...kernels.contract import CORRELATED, Chain, Layout, Predictive, Rows, pad


def snapshot(layout: Layout, chain: Chain) -> Predictive:
    """The predictive mixture of a chain's state: groups weighted by size - discount, a new one by alpha + discount
    times their number (none when the cap is reached). Everything is copied: the chain goes on in place.
    """
    room = pad(int(chain.used.max(initial=0)) + 1)
    log_weight = np.empty((*chain.used.shape, room))
    kernel.seat_weights(chain, log_weight)
    stats = chain.stats[:, :room] if (layout.kind == CORRELATED).any() else np.zeros((len(chain.stats), room, 0))
    return Predictive(
        view=chain.view.copy(),
        hyper=chain.hyper.copy(),
        stats=stats.copy(),
        table=chain.table[:, :, :room].copy(),
        log_weight=log_weight,
        used=(chain.used + 1).astype(np.int32),
    )


def log_density(layout: Layout, rows: Rows, state: Predictive) -> np.ndarray:
    """log p(row | class) in one state, (rows, classes)."""
    out = np.empty((len(rows), state.table.shape[0]))
    kernel.log_density(layout, rows, state, out)
    return out


def leave_one_out(layout: Layout, rows: Rows, chain: Chain, index: np.ndarray) -> np.ndarray:
    """log p(row | class, the other rows) of some of the training rows, given as `rows` and by their index: (rows,
    classes).
    """
    out = np.empty((len(index), chain.stats.shape[0]))
    part = replace(
        chain,
        label=np.ascontiguousarray(chain.label[index]),
        z=np.ascontiguousarray(chain.z[:, index]),
        filled=np.ascontiguousarray(chain.filled[index]),
    )
    kernel.leave_one_out(layout, rows, part, out)
    return out
