"""Sequentially allocated split-merge (Dahl 2005), by Metropolis-Hastings.

Two rows, the anchors, are drawn: one of all, then with even odds another of its group or one of another group, since
of many groups two rows of all hardly ever share one. If they share a group, a split is proposed: its other rows, in
random order, are dealt between the anchors, each with probability proportional to size times predictive so far. Else
their groups are proposed to be merged. Missing cells of a correlated block stay as they are: given these every row is
complete.
"""

from __future__ import annotations

from math import lgamma

import numpy as np

from ..contract import Chain, Layout, Rows
from .cells import count_in, log_predictive, observed
from .columns import log_marginal, own_stats
from .draw import Stream
from .seating import Seating

SPLITS = 0.5


def split_merge(
    layout: Layout, rows: Rows, chain: Chain, restaurant: int, c: int, members: np.ndarray, n_proposals: int, seed: int
) -> int:
    """Propose n_proposals moves among `members`, the rows of class c; returns how many were accepted.

    A split that finds no slot is not made: make room for used + n_proposals groups (or cap) first.
    """
    if len(members) < 2:
        return 0
    seeds, room = Stream(seed), Seating(layout, chain, restaurant, c)
    accepted = 0
    for _ in range(n_proposals):
        stream = Stream(seeds.next())
        i, same = int(members[stream.below(len(members))]), stream.uniform() < SPLITS
        log_u = np.log(1.0 - stream.uniform())
        j = _second(stream, members, room, i, same)
        if j is None:
            continue
        source, target = int(room.z[i]), int(room.z[j])
        together = [int(k) for k in members if k not in (i, j) and room.z[k] in (source, target)]
        _shuffle(stream, together)
        chosen = [i, j, *together]
        split = source == target
        side = None if split else [int(room.z[k] == target) for k in chosen]
        side, log_q = _deal(layout, rows, chain, room.columns, chosen, side, stream)
        gain = _log_prior_ratio(room, side, room.occupied() - (not split)) + _log_likelihood_ratio(
            layout, rows, chain, room.columns, chosen, side
        )
        # the anchors are as likely as there are rows to choose the second from
        gain += np.log(len(side) - 1) - np.log(len(members) - (len(side) - sum(side)))
        if split:
            if not log_u < gain - log_q:
                continue
            if not room.offer_fresh():
                continue
            assert room.fresh is not None
            _move(layout, rows, room, chosen, side, source, room.fresh)
        else:
            if not log_u < log_q - gain:
                continue
            _move(layout, rows, room, chosen, side, target, source)
            room.holes.append(target)
        accepted += 1
    room.close()
    return accepted


def _second(stream: Stream, members: np.ndarray, room: Seating, i: int, same: bool) -> int | None:
    """Another row of the group of row i, or one of another group; None where there is none."""
    own = [int(k) for k in members if k != i and room.z[k] == room.z[i]]
    if same:
        return own[stream.below(len(own))] if own else None
    if len(own) + 1 == len(members):
        return None
    while room.z[j := int(members[stream.below(len(members))])] == room.z[i]:
        pass
    return j


def _shuffle(stream: Stream, items: list[int]) -> None:
    """Fisher-Yates, from the last place down to the second."""
    for k in range(len(items) - 1, 0, -1):
        other = stream.below(k + 1)
        items[k], items[other] = items[other], items[k]


def _deal(
    layout: Layout,
    rows: Rows,
    chain: Chain,
    columns: np.ndarray,
    chosen: list[int],
    side: list[int] | None,
    stream: Stream,
) -> tuple[list[int], float]:
    """Deal rows between two groups that start with one anchor each; returns the sides and their log probability.

    Where `side` is given it is followed, and no random number is used.
    """
    stats, size, log_q, result = np.zeros((2, layout.n_stats)), np.ones(2), 0.0, [0, 1]
    for k, row in enumerate(chosen):
        cells = observed(layout, rows, columns, row, chain, whole=True)
        if k >= 2:
            log_p = np.log(size) + log_predictive(layout, chain.hyper, stats, cells)
            log_p -= np.logaddexp(*log_p)
            result.append(int(stream.uniform() < np.exp(log_p[1])) if side is None else side[k])
            log_q += float(log_p[result[k]])
            size[result[k]] += 1.0
        count_in(layout, stats[result[k]], cells, 1.0)
    return result, log_q


def _log_prior_ratio(room: Seating, side: list[int], groups: int) -> float:
    """log of the prior probability of the two groups over that of their union, with which there are `groups`."""
    opening, less = room.opening(groups), float(room.chain.discount[room.where])
    if not opening > 0:
        return -np.inf
    n1 = sum(side)
    n0 = len(side) - n1
    halves = lgamma(n0 - less) + lgamma(n1 - less) - lgamma(n0 + n1 - less) - lgamma(1.0 - less)
    return float(np.log(opening)) + halves


def _log_likelihood_ratio(
    layout: Layout, rows: Rows, chain: Chain, columns: np.ndarray, chosen: list[int], side: list[int]
) -> float:
    """log of the marginal likelihood of the two groups over that of their union."""
    stats = np.zeros((2, layout.n_stats))
    for row, k in zip(chosen, side, strict=True):
        count_in(layout, stats[k], observed(layout, rows, columns, row, chain, whole=True), 1.0)
    ratio = 0.0
    for d in columns.tolist():
        own = stats[:, own_stats(layout, d)]
        h = chain.hyper[d]
        ratio += float(log_marginal(layout, d, h, own).sum() - log_marginal(layout, d, h, own.sum(axis=0)))
    return ratio


def _move(layout: Layout, rows: Rows, room: Seating, chosen: list[int], side: list[int], old: int, new: int) -> None:
    """The rows on side 1 leave group `old` for group `new`."""
    for row, k in zip(chosen, side, strict=True):
        if k:
            cells = observed(layout, rows, room.columns, row, room.chain, whole=True)
            room.leave(cells, old)
            room.join(cells, new)
            room.z[row] = new
