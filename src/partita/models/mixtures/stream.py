"""Learning from a stream: banks of filters that never see a row twice, but for a bounded reservoir kept to undo early
mistakes.

One bank is a hypothesis about everything: a filter per class, the columns' hyper-parameters, the labels it gave to rows
without one. After every `block` rows the rows in the reservoir are seated anew (see `rejuvenation`).
"""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ...kernels import kernel
from ...kernels.contract import Layout, Rows
from . import filter as particle_filter
from .bank import Bank, Reservoir, Rule
from .filter import new_filter, seat_rows
from .problem import CLASS_PSEUDO_COUNT, initial_hyper
from .rejuvenation import count_proposals, follow_need, rejuvenate


def open_stream(layout: Layout, rows: Rows, rule: Rule, n_banks: int) -> tuple[list[Bank], Reservoir]:
    """Banks that have seen nothing, an empty reservoir. `rows` only tells the widths."""
    alpha = 1.0 if rule.settings.alpha is None else rule.settings.alpha
    banks = []
    for _ in range(n_banks):
        hyper, at = initial_hyper(layout, rule.settings)
        filters = [
            new_filter(layout, rule.n_particles, alpha, rule.settings.cap, rule.window) for _ in range(rule.n_classes)
        ]
        banks.append(Bank(hyper, at, filters, np.zeros(rule.n_classes), np.full(rule.window, -1, np.int32)))
    empty = Rows(
        np.full((rule.window, rows.codes.shape[1]), -1, np.int32), np.full((rule.window, rows.reals.shape[1]), np.nan)
    )
    return banks, Reservoir(empty, np.full(rule.window, -1, np.int32), named=np.zeros(rule.n_classes, bool))


def learn(
    layout: Layout, rows: Rows, label: np.ndarray, rule: Rule, banks: list[Bank], reservoir: Reservoir,
    streams: list[np.random.Generator], chooser: np.random.Generator, n_jobs: int = 1,
) -> None:  # fmt: skip
    """Learn from rows in their order. `chooser` decides which rows of the reservoir make way, for all banks alike."""
    with ThreadPoolExecutor(max_workers=max(1, n_jobs)) as pool:
        at = 0
        while at < len(rows):
            until_block = rule.block - reservoir.seen % rule.block
            ahead = label[at : at + particle_filter.ROWS_PER_CALL]
            in_blocks = rule.n_sweeps or reservoir.unlabelled or (ahead < 0).any()
            n = min(until_block if in_blocks else particle_filter.ROWS_PER_CALL, len(rows) - at)
            index = np.arange(at, at + n)
            place = _enter(rows, label, index, reservoir, chooser)
            at += n
            full = reservoir.seen % rule.block == 0
            reservoir.unlabelled = reservoir.unlabelled or bool((label[index] < 0).any())
            if reservoir.named is not None:
                reservoir.named[label[index][label[index] >= 0]] = True

            def seat(k: int, index=index, place=place) -> None:
                _seat(layout, rows, label, index, place, rule, banks[k], streams[k])

            list(pool.map(seat, range(len(banks))))
            if rule.n_sweeps and full:
                _rejuvenate(layout, rule, banks, reservoir, streams, pool)
            if not rule.n_sweeps and reservoir.unlabelled and full:
                _resample_banks(banks, streams, chooser, rule)


def _rejuvenate(
    layout: Layout, rule: Rule, banks: list[Bank], reservoir: Reservoir, streams: list[np.random.Generator],
    pool: ThreadPoolExecutor,
) -> None:  # fmt: skip
    """The reservoir seated anew in every bank; what was accepted in all of them says how much to propose next time."""
    proposals = count_proposals(rule, banks, reservoir.effort)

    def advance(k: int) -> int:
        return rejuvenate(layout, rule, banks[k], reservoir, streams[k], proposals)

    accepted = sum(pool.map(advance, range(len(banks))))
    proposed = len(banks) * rule.n_particles * rule.n_sweeps * sum(proposals)
    reservoir.effort = follow_need(reservoir.effort, accepted, proposed)


def _enter(
    rows: Rows, label: np.ndarray, index: np.ndarray, reservoir: Reservoir, rng: np.random.Generator
) -> np.ndarray:
    """Put rows into the reservoir; where each went (-1 if a later row of the same block took its place)."""
    window = len(reservoir.label)
    if window == 0:
        reservoir.seen += len(index)
        return np.full(len(index), -1, np.int64)
    free = np.arange(reservoir.filled, min(window, reservoir.filled + len(index)))
    place = np.concatenate([free, rng.integers(0, window, len(index) - len(free))]).astype(np.int64)
    reservoir.filled += len(free)
    reservoir.seen += len(index)
    last = len(place) - 1 - np.unique(place[::-1], return_index=True)[1]
    kept = np.full(len(place), -1, np.int64)
    kept[last] = place[last]
    reservoir.rows.codes[kept[last]] = rows.codes[index[last]]
    reservoir.rows.reals[kept[last]] = rows.reals[index[last]]
    reservoir.label[kept[last]] = label[index[last]]
    return kept


def _seat(
    layout: Layout, rows: Rows, label: np.ndarray, index: np.ndarray, place: np.ndarray, rule: Rule, bank: Bank,
    rng: np.random.Generator,
) -> None:  # fmt: skip
    # drawn row by row, a label's number too where it is not needed: how the stream is cut into calls changes nothing
    drawn = rng.random((len(index), rule.n_particles + 2))
    uniforms, chosen = np.ascontiguousarray(drawn[:, :-1]), drawn[:, -1]
    labels = label[index].copy()
    gone = place[place >= 0]
    for f in bank.filters:  # the rows that made way stay where they are, and are forgotten
        f.history[:, gone] = -1
    runs = [np.arange(len(index))]
    if (labels < 0).any():  # a label is drawn given all rows before it: cut into runs at rows without one
        cuts = np.flatnonzero(labels < 0)
        runs = np.split(np.arange(len(index)), np.unique(np.concatenate([cuts, cuts + 1])))
    for run in runs:
        if len(run) == 1 and labels[run[0]] < 0:
            labels[run[0]] = _draw_label(layout, rows.take(index[run]), rule, bank, chosen[run[0]])
        evidence, known = bank.log_weight, bool((label[index[run]] >= 0).all())
        for c in np.unique(labels[run]):
            mine = run[labels[run] == c]
            seat_rows(
                layout, bank.hyper, rows, bank.filters[c], index[mine], place[mine], uniforms[mine],
                threshold=rule.threshold, scheme=rule.scheme,
            )  # fmt: skip
            bank.class_count[c] += len(mine)
        bank.weigh()
        if not known:  # of a drawn label and its row the weight is in `_draw_label`
            bank.aside += evidence - bank.log_weight
            bank.weigh()
    seen = place >= 0
    bank.label[place[seen]] = labels[seen]


def _draw_label(layout: Layout, row: Rows, rule: Rule, bank: Bank, u: float) -> int:
    logp = np.log(bank.class_count + CLASS_PSEUDO_COUNT)
    logp -= np.log(np.exp(logp).sum())
    for c, f in enumerate(bank.filters):
        logp[c] += particle_filter.density(layout, bank.hyper, row, f)[0]
    top = logp.max()
    p = np.exp(logp - top)
    bank.aside += float(top + np.log(p.sum()))
    bank.weigh()
    return int(min(np.searchsorted(np.cumsum(p), u * p.sum(), side="right"), len(p) - 1))


def _resample_banks(
    banks: list[Bank], streams: list[np.random.Generator], rng: np.random.Generator, rule: Rule
) -> None:
    """The outer filter: banks that explain the rows badly under the labels they drew make way for copies of better
    ones.
    """
    log_weight = np.array([bank.log_weight for bank in banks])
    w = np.exp(log_weight - log_weight.max())
    if len(banks) == 1 or w.sum() ** 2 >= rule.threshold * len(banks) * (w**2).sum():
        return
    parents = np.zeros(len(banks), np.int32)
    kernel.resample(w, rule.scheme, float(rng.random()), parents)
    copies = [copy.deepcopy(banks[p]) for p in parents]
    mean = float(log_weight.max() + np.log(w.mean()))  # so that the mean weight stays the evidence of all rows seen
    for k, bank in enumerate(copies):
        bank.aside += mean - bank.log_weight
        bank.weigh()
        banks[k] = bank
