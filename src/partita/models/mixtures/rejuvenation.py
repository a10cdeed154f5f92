"""Early mistakes undone: the rows still in the reservoir are seated anew by Gibbs sweeps, particle by particle.

A particle becomes a chain over the reservoir and back. Rows that have left it stay in the statistics of their groups.
Alpha and the columns' hyper-parameters are moved from group statistics alone, so old rows are not needed for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...kernels import kernel
from ...kernels.contract import CORRELATED, FIRST_RESTAURANT, PROPOSALS, Chain, Layout, pad
from .bank import Bank, Reservoir, Rule
from .filter import new_filter, ready_empty_group
from .mixture import carry_out, seating
from .problem import CLASS_PSEUDO_COUNT, RESTAURANTS, make_room

# split-merge proposals per group and sweep where their number is not given; what share accepted makes them more
LEAST_EFFORT, MOST_EFFORT, WORTH_MORE = 0.25, 4.0, 0.15


def to_chain(layout: Layout, bank: Bank, particle: int, cap: int) -> Chain:
    """One particle of every class, as a chain over the rows of the reservoir."""
    C, window = len(bank.filters), len(bank.label)
    used = np.array([[f.used[particle] for f in bank.filters]], np.int32)
    capacity = pad(min(int(used.max()) + 8, cap + 1))
    width = int(layout.levels[layout.kind == CORRELATED].sum())
    chain = Chain(
        hyper=bank.hyper.copy(), at=bank.at.copy(), view=np.full(layout.n_columns, FIRST_RESTAURANT, np.int32),
        label=bank.label.copy(), z=np.full((1, window), -1, np.int32), used=used, size=np.zeros((1, C, capacity)),
        alpha=np.array([[f.alpha[particle] for f in bank.filters]]), stats=np.zeros((C, capacity, layout.n_stats)),
        table=np.zeros((C, layout.n_table, capacity)), filled=np.zeros((window, width)), cap=cap,
    )  # fmt: skip
    for c, f in enumerate(bank.filters):
        ready_empty_group(layout, bank.hyper, f)
        groups = np.append(f.seats[particle, : f.used[particle]], 0)  # the empty one last, for a row that opens it
        chain.stats[c, : len(groups)] = f.stats[groups]
        chain.table[c][:, : len(groups)] = f.table[:, groups]
        chain.size[0, c, : len(groups)] = f.size[groups]
        mine = (bank.label == c) & (f.history[particle] >= 0)
        chain.z[0, mine] = f.history[particle, mine]
        chain.filled[mine] = f.filled[particle, mine]
    return chain


def from_chains(layout: Layout, bank: Bank, chains: list[Chain]) -> None:
    """Each chain becomes a particle with groups of its own."""
    for c, f in enumerate(bank.filters):
        used = [int(chain.used[0, c]) for chain in chains]
        n, window = sum(used), f.history.shape[1]
        fresh = new_filter(layout, len(chains), 1.0, f.cap, window)
        capacity = pad(n + 4 * len(chains) + 8)
        fresh.seats = np.zeros((len(chains), min(pad(max(used) + 8), f.cap)), np.int32)
        fresh.stats, fresh.table = np.zeros((capacity, layout.n_stats)), np.zeros((layout.n_table, capacity))
        fresh.size, fresh.refs = np.zeros(capacity), np.zeros(capacity, np.int32)
        fresh.refs[1 : n + 1] = 1
        at = 1
        for p, chain in enumerate(chains):
            groups = np.arange(at, at + used[p])
            fresh.seats[p, : used[p]] = groups
            fresh.stats[groups] = chain.stats[c, : used[p]]
            fresh.table[:, groups] = chain.table[c][:, : used[p]]
            fresh.size[groups] = chain.size[0, c, : used[p]]
            mine = (chain.label == c) & (chain.z[0] >= 0)
            fresh.history[p, mine] = chain.z[0, mine]
            fresh.filled[p, mine] = chain.filled[mine]
            fresh.alpha[p] = chain.alpha[0, c]
            at += used[p]
        fresh.used[:] = used
        fresh.log_weight[:] = f.log_weight
        fresh.totals[:] = chains[0].size[0, c].sum(), f.totals[1], f.totals[2]
        bank.filters[c] = fresh
    bank.hyper, bank.at, bank.label = chains[0].hyper, chains[0].at, chains[0].label
    bank.class_count = chains[0].size[0].sum(axis=1)


def count_proposals(rule: Rule, banks: Sequence[Bank], effort: float = LEAST_EFFORT) -> list[int]:
    """Split-merge proposals in each class and sweep: as given, or `effort` times the groups of the bank with most.

    A number that followed the groups of each bank by itself would favour states with few of them.
    """
    given = rule.settings.split_merge
    if given is not None:
        return [given] * rule.n_classes
    most = [max(int(bank.filters[c].used.max()) for bank in banks) for c in range(rule.n_classes)]
    return [int(np.ceil(effort * used)) for used in most]


def follow_need(effort: float, accepted: int, proposed: int) -> float:
    """Twice the effort where more than every seventh of the proposals of all banks were accepted, else half of it."""
    if not proposed:
        return effort
    return float(np.clip(effort * (2.0 if accepted > WORTH_MORE * proposed else 0.5), LEAST_EFFORT, MOST_EFFORT))


def rejuvenate(
    layout: Layout, rule: Rule, bank: Bank, reservoir: Reservoir, rng: np.random.Generator,
    proposals: Sequence[int] | None = None,
) -> int:  # fmt: skip
    """Gibbs sweeps over the reservoir for every particle, concentrations and hyper-parameters with them.

    `proposals`: of splits and merges, in each class and sweep; by default see `count_proposals`. Returns how many were
    accepted.
    """
    if proposals is None:
        proposals = count_proposals(rule, [bank])
    accepted = 0
    chains = [to_chain(layout, bank, p, rule.settings.cap) for p in range(rule.n_particles)]
    for _ in range(rule.n_sweeps):
        for chain in chains:
            accepted += _sweep(layout, rule, chain, reservoir, rng, proposals)
        if rule.settings.column_prior is None:
            _move_hyper(layout, rule, bank, chains, rng)
    from_chains(layout, bank, chains)
    return accepted


def sweep_chain(
    layout: Layout, rule: Rule, chain: Chain, reservoir: Reservoir, rng: np.random.Generator, proposals: Sequence[int]
) -> None:
    """One sweep of all moves of a single particle over the reservoir."""
    _sweep(layout, rule, chain, reservoir, rng, proposals)
    if rule.settings.column_prior is None:
        kernel.move_hyper(layout, chain, rule.settings.grids, rng.random((layout.n_columns, 3)))


def _sweep(
    layout: Layout, rule: Rule, chain: Chain, reservoir: Reservoir, rng: np.random.Generator, proposals: Sequence[int]
) -> int:
    accepted, mine = 0, np.flatnonzero((chain.z[0] >= 0) & (chain.label >= 0))
    given = reservoir.label[mine] >= 0
    moves = seating(rng, mine[given], chain.label, rule.n_classes, chain)
    carry_out(layout, reservoir.rows, chain, moves, until=PROPOSALS)
    if rule.n_particles == 1:  # particles of a bank share their labels; only a single one may change them
        _relabel(layout, chain, reservoir, mine[~given], rng)
    if any(proposals):
        accepted = _split_and_merge(layout, chain, reservoir, rng, proposals)
    if rule.settings.alpha is None:
        kernel.move_concentration(chain, RESTAURANTS, rng.random(chain.used.shape))
    return accepted


def _split_and_merge(
    layout: Layout, chain: Chain, reservoir: Reservoir, rng: np.random.Generator, proposals: Sequence[int]
) -> int:
    """Split-merge proposals among the groups all of whose rows are in the reservoir; the others cannot be dealt anew.

    A split or a merge of such groups leaves such groups, of the same rows: the choice of the two rows is as likely
    there and back. Returns how many were accepted.
    """
    seeds, accepted = rng.integers(0, 2**63, len(proposals), dtype=np.uint64), 0
    for c, n in enumerate(proposals):
        seated = np.flatnonzero((chain.label == c) & (chain.z[0] >= 0))
        size = chain.size[0, c, : chain.used[0, c]]
        whole = np.bincount(chain.z[0, seated], minlength=len(size)) == size
        make_room(layout, chain, min(int(chain.used[0, c]) + n, chain.cap) + 1)
        free = seated[whole[chain.z[0, seated]]]
        accepted += kernel.split_merge(layout, reservoir.rows, chain, 0, c, free, n, int(seeds[c]))
    return accepted


def _move_hyper(layout: Layout, rule: Rule, bank: Bank, chains: list[Chain], rng: np.random.Generator) -> None:
    """Hyper-parameters given one particle drawn by weight; the others follow and are reweighted to the new ones.

    Particles share the hyper-parameters of their bank: they approximate the partitions given these, so a change is an
    importance step with weight p(cells | groups, new) / p(cells | groups, old).
    """
    uniforms = rng.random((layout.n_columns, 3))
    if len(chains) == 1:
        kernel.move_hyper(layout, chains[0], rule.settings.grids, uniforms)
        return
    total = np.sum([f.log_weight for f in bank.filters], axis=0)
    w = np.exp(total - total.max())
    leader = chains[int(rng.choice(len(chains), p=w / w.sum()))]
    before = [_log_likelihoods(layout, chain) for chain in chains]
    kernel.move_hyper(layout, leader, rule.settings.grids, uniforms)
    for p, chain in enumerate(chains):
        chain.hyper[:], chain.at[:] = leader.hyper, leader.at
        kernel.refresh_tables(layout, chain)
        # the classes are filtered apart: each filter's particles are reweighted by the cells of its own class
        for f, change in zip(bank.filters, _log_likelihoods(layout, chain) - before[p], strict=True):
            f.log_weight[p] += change
    for f in bank.filters:
        f.log_weight -= np.log(np.mean(np.exp(f.log_weight - f.log_weight.max()))) + f.log_weight.max()


def _log_likelihoods(layout: Layout, chain: Chain) -> np.ndarray:
    """log p(cells | groups, hyper-parameters) of each class."""
    out = np.empty(chain.used.shape[1])
    for c in range(len(out)):
        only = np.where(np.arange(len(out)) == c, chain.used, 0).astype(np.int32)
        out[c] = kernel.log_likelihood(layout, replace(chain, used=only))
    return out


def _relabel(layout: Layout, chain: Chain, reservoir: Reservoir, rows: np.ndarray, rng: np.random.Generator) -> None:
    order = rng.permutation(rows)
    uniforms = rng.random((len(order), 2))
    while len(order):
        counts = chain.size[0].sum(axis=1)
        done = kernel.relabel_sweep(layout, reservoir.rows, chain, counts, CLASS_PSEUDO_COUNT, order, uniforms)
        order, uniforms = order[done:], uniforms[done:]
        if len(order):
            make_room(layout, chain, 2 * chain.capacity)
    make_room(layout, chain, int(chain.used.max()) + 1)
