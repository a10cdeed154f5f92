"""The conditional-posterior particle filter of a Chinese-restaurant mixture (AClass, figure 3).

Particles share groups: after a row, those that seated it in the same group go on with one copy of that group with the
row in it. A group that no particle holds is free.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from ..contract import CORRELATED, Filter, Layout, Rows
from . import correlated
from .cells import Cells, count_in, draw_missing, log_predictive, observed
from .columns import fill_table
from .draw import pick
from .resample import resample


def filter_rows(
    layout: Layout,
    hyper: np.ndarray,
    rows: Rows,
    filter: Filter,
    order: np.ndarray,
    place: np.ndarray,
    uniforms: np.ndarray,
    threshold: float,
    scheme: int,
) -> int:
    """Run the rows of `order` through the filter; uniforms (rows, P + 1), the last one for resampling.

    `place` is where in the window a row's seats are kept (-1: nowhere). Particles are resampled when the effective
    sample size falls below threshold * P. Returns the rows done: fewer than all if groups or seats ran out; make room
    and go on with the rest.
    """
    n_particles, room = filter.seats.shape
    uniforms = np.reshape(uniforms, (len(order), n_particles + 1))
    filter.stats[0], filter.size[0] = 0.0, 0.0
    done = 0
    for i, where, u in zip(order, place, uniforms, strict=True):
        out_of_seats = room < filter.cap and (filter.used >= room).any()
        # at worst every particle needs a group of its own
        if len(_free(filter)) < n_particles + 1 or out_of_seats:
            break
        cells = observed(layout, rows, np.arange(layout.n_columns), i)
        choice = _weigh_and_choose(layout, hyper, filter, cells, u)
        # numbered by the rows seen, not by its place in this call: how a stream is cut into calls changes nothing
        _seat(layout, hyper, filter, cells, choice, u, int(filter.totals[0]), where)
        if where >= 0:
            filter.history[:, where] = choice
        filter.totals[0] += 1.0
        _settle_weights(filter, u[-1], threshold, scheme)
        done += 1
    groups = np.append(0, _held(filter))
    for d in range(layout.n_columns):
        fill_table(layout, hyper, filter.stats, filter.table, d, groups)
    return done


def filter_density(layout: Layout, hyper: np.ndarray, rows: Rows, filter: Filter, out: np.ndarray) -> None:
    """out[i] = log p(row i | the rows seen), averaged over particles; fills in the table of the empty group.

    It is the weight that seating the row would bring: a full particle pays for the group it may not open.
    """
    filter.stats[0] = 0.0
    for d in range(layout.n_columns):
        fill_table(layout, hyper, filter.stats, filter.table, d, slice(0, 1))
    share = np.exp(filter.log_weight - logsumexp(filter.log_weight))
    for i in range(len(rows)):
        score = _scores(layout, hyper, filter, observed(layout, rows, np.arange(layout.n_columns), i))
        out[i] = logsumexp([_log_predictive(filter, score, p) for p in range(len(share))], b=share)


def _log_predictive(filter: Filter, score: np.ndarray, p: int) -> float:
    """log p(row | particle)."""
    log_joint, _ = _log_joint(filter, score, p)
    return float(logsumexp(log_joint) - np.log(filter.totals[0] + filter.alpha[p]))


def _settle_weights(filter: Filter, first: float, threshold: float, scheme: int) -> None:
    """The average weight is the evidence of the row; weights go on as factors around it, resampled if too unequal."""
    n = len(filter.log_weight)
    evidence = logsumexp(filter.log_weight) - np.log(n)
    filter.totals[1] += evidence
    filter.log_weight -= evidence
    weight = np.exp(filter.log_weight)
    if n > 1 and weight.sum() ** 2 < threshold * n * (weight**2).sum():
        _resample(filter, weight, first, scheme)


def _held(filter: Filter) -> np.ndarray:
    return 1 + np.flatnonzero(filter.refs[1:] > 0)


def _free(filter: Filter) -> np.ndarray:
    return 1 + np.flatnonzero(filter.refs[1:] == 0)


def _scores(layout: Layout, hyper: np.ndarray, filter: Filter, cells: Cells) -> np.ndarray:
    """log p(row | group) of the empty group and every group held."""
    score = np.full(len(filter.refs), -np.inf)
    groups = np.append(0, _held(filter))
    score[groups] = log_predictive(layout, hyper, filter.stats[groups], cells)
    return score


def _log_joint(filter: Filter, score: np.ndarray, p: int) -> tuple[np.ndarray, float]:
    """log(size p(row | group)) at the seats of particle p and for a new one below the cap; log p(row | particle)."""
    seats = filter.seats[p, : filter.used[p]]
    # the restaurant process itself, cut off at the cap: a full particle pays for the group it may not open
    log_joint, mass = score[seats] + np.log(filter.size[seats]), filter.totals[0] + filter.alpha[p]
    if filter.used[p] < filter.cap:
        log_joint = np.append(log_joint, score[0] + np.log(filter.alpha[p]))
    return log_joint, float(logsumexp(log_joint) - np.log(mass))


def _weigh_and_choose(layout: Layout, hyper: np.ndarray, filter: Filter, cells: Cells, u: np.ndarray) -> list[int]:
    """Multiply the weight of each particle by p(row | its groups) and draw the row's seat, `used` for a new group."""
    score, choice = _scores(layout, hyper, filter, cells), []
    for p in range(len(filter.used)):
        log_joint, log_p = _log_joint(filter, score, p)
        filter.log_weight[p] += log_p
        choice.append(pick(log_joint, u[p]))
    return choice


def _seat(
    layout: Layout,
    hyper: np.ndarray,
    filter: Filter,
    cells: Cells,
    choice: list[int],
    u: np.ndarray,
    number: int,
    where: int,
) -> None:
    """Put the row where each particle chose: one copy of each chosen group (0: the empty one), with the row in it.

    Missing cells of a correlated block are drawn by each particle for itself: then each needs a copy of its own.
    """
    copy: dict[tuple[int, int], int] = {}
    block = cells[CORRELATED]
    apart = correlated.has_holes(block)
    free = iter(_free(filter))
    for p, seat in enumerate(choice):
        group = int(filter.seats[p, seat]) if seat < filter.used[p] else 0
        key = (group, p if apart else 0)
        if key not in copy:
            to = copy[key] = int(next(free))
            filter.stats[to], filter.size[to] = filter.stats[group], filter.size[group] + 1.0
            draw_missing(layout, hyper, filter.stats[group], cells, u[p], number)
            count_in(layout, filter.stats[to], cells, 1.0)
        if where >= 0 and filter.filled.size and len(block[0]):
            filter.filled[p, where] = block[0]
        filter.seats[p, seat] = copy[key]
        filter.used[p] = max(filter.used[p], seat + 1)
    _count_holders(filter)


def _count_holders(filter: Filter) -> None:
    held = np.concatenate([filter.seats[p, :used] for p, used in enumerate(filter.used)])
    filter.refs[1:] = np.bincount(held, minlength=len(filter.refs))[1:]


def _resample(filter: Filter, weight: np.ndarray, first: float, scheme: int) -> None:
    """Particles leave copies in proportion to their weights, and go on with equal ones."""
    parents = np.zeros(len(weight), np.int32)
    resample(weight / weight.max(), scheme, first, parents)
    for each in (filter.seats, filter.used, filter.history, filter.alpha, filter.filled):
        if each.size:
            each[:] = each[parents]
    filter.log_weight[:] = 0.0
    _count_holders(filter)
    filter.totals[2] += 1.0
