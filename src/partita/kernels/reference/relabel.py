"""Rows whose label is missing: the class is drawn with the groups summed out, then a group in every restaurant."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from ..contract import CLASS_ONLY, Chain, Layout, Rows
from .cells import Cells, count_in, draw_missing, log_predictive, observed
from .columns import columns_of, fill_column
from .draw import pick
from .seating import Seating


def relabel_sweep(
    layout: Layout,
    rows: Rows,
    chain: Chain,
    class_count: np.ndarray,
    gamma: float,
    order: np.ndarray,
    uniforms: np.ndarray,
) -> int:
    """Draw class and groups of each row of `order`; uniforms (rows, 1 + R); class_count (C,) is kept up to date.

    p(class c | rest) is proportional to (class_count + gamma) p(row | class c, the other rows). Returns the rows
    done, as gibbs_sweep.
    """
    rooms = [[Seating(layout, chain, r, c) for c in range(len(class_count))] for r in range(chain.z.shape[0])]
    columns = columns_of(chain.view, CLASS_ONLY)
    done = 0
    for i, u in zip(order, np.reshape(uniforms, (len(order), 1 + len(rooms))), strict=True):
        if not all(room.offer_fresh() for restaurant in rooms for room in restaurant):
            break
        old = int(chain.label[i])
        plain = observed(layout, rows, columns, i, chain)
        count_in(layout, chain.stats[old, 0], plain, -1.0)
        class_count[old] -= 1.0
        log_class = np.log(class_count + gamma) + log_predictive(layout, chain.hyper, chain.stats[:, 0], plain)
        cells = [observed(layout, rows, restaurant[0].columns, i, chain) for restaurant in rooms]
        c = _reseat(rooms, cells, class_count, log_class, i, old, u)
        draw_missing(layout, chain.hyper, chain.stats[c, 0], plain, u[0], i)
        count_in(layout, chain.stats[c, 0], plain, 1.0)
        class_count[c] += 1.0
        chain.label[i] = c
        done += 1
    for restaurant in rooms:
        for room in restaurant:
            room.close()
    for d in columns.tolist():
        fill_column(layout, chain, d)
    return done


def _reseat(
    rooms: list[list[Seating]],
    cells: list[Cells],
    class_count: np.ndarray,
    log_class: np.ndarray,
    i: int,
    old: int,
    u: np.ndarray,
) -> int:
    """Take row i out of its groups in class `old`, draw its class and a group in every restaurant; returns the class.

    log_class (C,) is what is known of the class before the restaurants are looked at.
    """
    emptied: list[int | None] = []
    log_group = []
    for restaurant, x in zip(rooms, cells, strict=True):
        own = int(restaurant[old].z[i])
        emptied.append(own if restaurant[old].leave(x, own) else None)
        parts = [_log_parts(room, x, class_count[c]) for c, room in enumerate(restaurant)]
        log_class = log_class + [logsumexp(part) for part in parts]
        log_group.append(parts)
    c = pick(log_class, u[0])
    for r, restaurant in enumerate(rooms):
        left = emptied[r]
        if c != old and left is not None:
            restaurant[old].holes.append(left)
            left = None
        room, g = restaurant[c], pick(log_group[r][c], u[1 + r])
        draw_missing(room.layout, room.chain.hyper, room.stats[g], cells[r], u[1 + r], i)
        room.z[i] = room.reseat(cells[r], left, g)
    return c


def _log_parts(room: Seating, cells: Cells, n: float) -> np.ndarray:
    """log(p(group) p(row | group)) of every slot of a room where n other rows sit.

    A full room offers no new group and still divides by n + alpha: the law is the uncapped one given that no class
    passes the cap (`priors.partition`), under which a full class has lost what its new group would have had.
    """
    return room.log_joint(cells) - np.log(n + room.chain.alpha[room.where])
