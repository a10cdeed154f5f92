"""The recommended classifier: chains with and without views, through two lenses, pooled and tempered by leave-one-out.

Half of the chains hold one mixture per class over all columns; the other half let the columns fall into up to six
views, each with a mixture of its own, into "the same in all groups of a class" or "the same in all classes". In each
half one chain in two sees normal scores of the numeric columns, the other standardised ones.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..data.table import Table
from ..inference.loop import Outcome, count_workers
from ..inference.runner import Runner
from ..kernels.contract import CORRELATED, Rows
from . import vote
from .chains import LEFT_OUT_ROWS, Chains, Kept, Walker
from .ensemble import Ensemble, lean
from .lens import Lens, close_lens, plain_lens
from .problem import CLASS_PSEUDO_COUNT, Problem, Settings

VIEW_CAP, VIEW_START = 50, 30
# chains through the third lens, where there is one: they have no vote and serve densities and draws
DENSITY_KIND, DENSITY_SHARE = 4, 4


def count_density_chains(lenses: list[Lens], n_chains: int) -> int:
    """Chains needed beside those that vote: a quarter as many where neither voting lens keeps densities."""
    return max(1, n_chains // DENSITY_SHARE) if len(lenses) > 2 else 0


def make_lenses(table: Table, *, plain: bool, uniform_base: bool, correlated: bool) -> list[Lens]:
    """The lenses of a classifier: a plain one, or two that differ in how they show numeric columns and, where neither
    keeps densities, a plain one for these.
    """
    if plain or correlated:
        return [plain_lens(table, uniform_base=uniform_base, correlated=correlated)]
    lenses = [close_lens(table, scores=True), close_lens(table, scores=False)]
    if lenses[0].is_density:  # nothing numeric to look at in two ways
        return lenses[:1]
    # densities need a lens that takes every column as what it is
    return lenses if lenses[1].is_density else [*lenses, plain_lens(table)]


def make_problem(
    rows: list[Rows], lenses: list[Lens], label: np.ndarray, settings: Settings, kind: int, n_views: int
) -> Problem:
    """The problem of a chain of a kind: 2 * lens + (1 where the columns have views)."""
    own = settings
    if kind % 2:
        own = replace(settings, n_restaurants=n_views, cap=min(settings.cap, VIEW_CAP), start=VIEW_START)
    return Problem(lenses[kind // 2].layout, rows[kind // 2], label, own)


def learn_classes(
    table: Table, label: np.ndarray, lenses: list[Lens], settings: Settings, streams: list[np.random.Generator],
    n_voting: int, n_sweeps: int, n_views: int, runner: Runner, fingerprint: str,
) -> tuple[Ensemble, list[Kept], Outcome]:  # fmt: skip
    """A short run of each kind of chain first; then all chains, of those kinds that are worth it.

    The last streams are those of the density chains (see `count_density_chains`), the others vote.

    Weights and temperatures of the members, and which kinds are worth more chains, come from leave-one-out predictions.
    """
    rows = [lens.rows(table).listed() for lens in lenses]
    # standardised before normal scores: it may keep densities, so that even a single chain has them
    kinds = [2 * k for k in reversed(range(min(len(lenses), 2)))]
    kinds += [kind + 1 for kind in kinds if _can_have_views(lenses[kind // 2], n_views)]
    n_extra = len(streams) - n_voting
    known = np.flatnonzero(label >= 0)
    if len(known) > LEFT_OUT_ROWS:  # spread evenly over the rows: they are in no order that matters
        known = known[np.linspace(0, len(known) - 1, LEFT_OUT_ROWS).astype(int)]
    counts = np.bincount(label[label >= 0], minlength=settings.n_classes).astype(float)
    log_prior = np.log((counts + CLASS_PSEUDO_COUNT) / (counts + CLASS_PSEUDO_COUNT).sum())

    def line_up(chosen: list[int], streams: list[np.random.Generator], stage: str, walkers: list[Walker]) -> Chains:
        path = None if runner.checkpoint is None else runner.checkpoint + stage
        return Chains(
            [make_problem(rows, lenses, label, settings, kind, n_views) for kind in chosen], chosen, streams,
            left_out=known, runner=replace(runner, checkpoint=path), fingerprint=fingerprint,
            walkers=walkers,
        )  # fmt: skip

    voting, extra = list(streams[: len(streams) - n_extra]), list(streams[len(streams) - n_extra :])
    kinds = kinds[: len(voting)]
    chosen, walkers = (kinds * len(voting))[: len(voting)], []
    if len(kinds) > 1:
        tried = kinds + [DENSITY_KIND] * min(n_extra, 1)
        pilots = line_up(tried, voting[: len(kinds)] + extra[:1], ".pilot", [])
        probed = pilots.run(max(n_sweeps // 2, 1))
        assert pilots.outcome is not None
        if pilots.outcome.interrupted:  # what was paid for is the pilots; from a part of them a resume could not go on
            return _gather(lenses, probed, counts, label, known, log_prior, runner), probed, pilots.outcome
        worth = {m.kind for m in _choose(probed, label[known], log_prior)}
        if not n_extra:
            worth.add(kinds[0])  # the kind that keeps densities
        # pilots of the kinds that are worth it go on; the other chains are shared out among these kinds
        going_on = [k for k, kind in enumerate(kinds) if kind in worth]
        walkers = [pilots.outcome.states[k] for k in going_on]
        voting = [pilots.outcome.streams[k] for k in going_on] + voting[len(kinds) :]
        chosen = [kinds[going_on[k % len(going_on)]] for k in range(len(voting))]
        if n_extra:
            extra[0] = pilots.outcome.streams[len(kinds)]
    chains = line_up(chosen + [DENSITY_KIND] * n_extra, voting + extra, "", walkers)
    kept = chains.run(n_sweeps)
    assert chains.outcome is not None
    return _gather(lenses, kept, counts, label, known, log_prior, runner), kept, chains.outcome


def _gather(
    lenses: list[Lens], kept: list[Kept], counts: np.ndarray, label: np.ndarray, known: np.ndarray,
    log_prior: np.ndarray, runner: Runner,
) -> Ensemble:  # fmt: skip
    states = [one.state for one in kept]
    if (label < 0).any():  # what the chains made of the rows without a label counts too
        own = [np.bincount(one.label, minlength=len(counts)) for one in kept]
        counts = np.mean(own, axis=0)
        states = [lean(state, mine, counts) for state, mine in zip(states, own, strict=True)]
    members = _choose(kept, label[known], log_prior)
    return Ensemble(
        lenses, states, [one.kind // 2 for one in kept], np.full(len(kept), 1 / len(kept)),
        counts, np.array([one.kind for one in kept]), members, count_workers(runner.n_jobs),
    )  # fmt: skip


def _choose(kept: list[Kept], label: np.ndarray, log_prior: np.ndarray) -> list[vote.Member]:
    voting = [one for one in kept if one.kind != DENSITY_KIND]
    kind = np.array([one.kind for one in voting])
    return vote.choose_members(np.stack([one.left_out for one in voting]), label, log_prior, kind)


def _can_have_views(lens: Lens, n_views: int) -> bool:
    return n_views > 1 and len(lens.sights) > 1 and all(s.kind != CORRELATED for s in lens.sights)
