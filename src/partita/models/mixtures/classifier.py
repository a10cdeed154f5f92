"""The recommended classifier: chains with and without views, through two lenses, pooled and tempered by leave-one-out.

Half of the chains hold one mixture per class over all columns; the other half let the columns fall into up to six
views, each with a mixture of its own, into "the same in all groups of a class" or "the same in all classes". In each
half one chain in two sees normal scores of the numeric columns, the other standardised ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...data.table import Table
from ...inference.checkpoint import STAGES
from ...inference.loop import count_workers
from ...inference.outcome import Outcome
from ...inference.runner import Runner
from ...kernels.contract import CORRELATED, Rows
from ..lens import Lens, close_lens, plain_lens
from . import vote
from .chains import LEFT_OUT_ROWS, Asked, Chains, Kept
from .ensemble import Ensemble, lean, log_shares
from .problem import Problem, Settings
from .vote import Doubt

VIEW_CAP, VIEW_START = 50, 30
# chains through the third lens, where there is one: they have no vote and serve densities and draws
DENSITY_KIND, DENSITY_SHARE = 4, 4


def early_doubt(kind: int) -> Doubt:
    """Of chains that have hardly begun: they may still catch up."""
    return Doubt(2.0, 3.0) if kind % 2 else Doubt(2.5, 5.0)


def late_doubt(kind: int) -> Doubt:
    """Chains with views are doubted sooner, early and late: rows left out have had a say in where the columns went, so
    that their leave-one-out predictions are too good, and a step of them takes several times as long.
    """
    return Doubt(1.25, 2.0) if kind % 2 else vote.late_doubt(kind)


# when the kinds of chains are looked at: name of the checkpoint, share of the sweeps, how much worse a kind is dropped
LOOKS = ((STAGES[0], 6, early_doubt), (STAGES[1], 2, late_doubt))


def count_density_chains(lenses: list[Lens], n_chains: int) -> int:
    """Chains needed beside those that vote: a quarter as many where neither voting lens keeps densities."""
    return max(1, n_chains // DENSITY_SHARE) if len(lenses) > 2 else 0


def make_lenses(
    table: Table, *, plain: bool, uniform_base: bool, correlated: bool, stream: bool = False
) -> list[Lens]:
    """The lenses of a classifier: a plain one, or two that differ in how they show numeric columns and, where neither
    keeps densities, a plain one for these.
    """
    if plain or correlated:
        return [plain_lens(table, uniform_base=uniform_base, correlated=correlated, stream=stream)]
    scores = close_lens(table, scores=True)
    if scores.is_density:  # nothing numeric to look at in two ways
        return [scores]
    lenses = [scores, close_lens(table, scores=False)]
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


@dataclass
class _Crew:
    """What all chains of a classifier share: rows as the lenses show them, labels, how to run."""

    lenses: list[Lens]
    rows: list[Rows]
    label: np.ndarray
    settings: Settings
    n_views: int
    runner: Runner
    fingerprint: str
    whole: tuple[int, int]  # chains and sweeps of the fit

    @cached_property
    def known(self) -> np.ndarray:
        """Rows with a label whose leave-one-out predictions are asked for."""
        known = np.flatnonzero(self.label >= 0)
        if len(known) > LEFT_OUT_ROWS:  # spread evenly over the rows: they are in no order that matters
            known = known[np.linspace(0, len(known) - 1, LEFT_OUT_ROWS).astype(int)]
        return known

    @cached_property
    def asked(self) -> list[Rows]:
        """Those rows as each lens shows them."""
        taken = [rows.take(self.known).listed() for rows in self.rows]
        return [rows.entered(lens.layout) for rows, lens in zip(taken, self.lenses, strict=True)]

    @cached_property
    def counts(self) -> np.ndarray:
        return np.bincount(self.label[self.label >= 0], minlength=self.settings.n_classes).astype(float)

    def line_up(
        self, kinds: list[int], streams: list[np.random.Generator], stage: str, begun: Outcome | None
    ) -> Chains:
        """Chains of the given kinds, the first ones as far as they have come; `stage` names their checkpoint."""
        path = None if self.runner.checkpoint is None else self.runner.checkpoint + stage
        asked = Asked(self.known, [self.asked[kind // 2] for kind in kinds])
        return Chains(
            [make_problem(self.rows, self.lenses, self.label, self.settings, kind, self.n_views) for kind in kinds],
            kinds, streams, left_out=asked, runner=replace(self.runner, checkpoint=path),
            fingerprint=self.fingerprint, begun=begun, may_rest=bool((self.label >= 0).all()),
            whole=self.whole,
        )  # fmt: skip

    def choose(self, kept: list[Kept], doubt: vote.Doubts = late_doubt) -> list[vote.Member]:
        voting = [one for one in kept if one.kind != DENSITY_KIND and one.judged]
        kind = np.array([one.kind for one in voting])
        left_out = np.stack([one.left_out for one in voting])
        return vote.choose_members(left_out, self.label[self.known], log_shares(self.counts), kind, doubt)

    def gather(self, kept: list[Kept]) -> Ensemble:
        states, counts = [one.state for one in kept], self.counts
        if (self.label < 0).any():  # what the chains made of the rows without a label counts too
            own = [np.bincount(one.label, minlength=len(counts)) for one in kept]
            counts = np.mean(own, axis=0)
            states = [lean(state, mine, counts) for state, mine in zip(states, own, strict=True)]
        return Ensemble(
            self.lenses, states, [one.kind // 2 for one in kept], np.full(len(kept), 1 / len(kept)), counts,
            np.array([one.kind for one in kept]), self.choose(kept), count_workers(self.runner.n_jobs),
        )  # fmt: skip


def learn_classes(
    table: Table, label: np.ndarray, lenses: list[Lens], settings: Settings, streams: list[np.random.Generator],
    n_voting: int, n_sweeps: int, n_views: int, runner: Runner, fingerprint: str,
) -> tuple[Ensemble, list[Kept], Outcome]:  # fmt: skip
    """A short run of each kind of chain first; then all chains, of those kinds that are worth it.

    The last streams are those of the density chains (see `count_density_chains`), the others vote.

    Weights and temperatures of the members, and which kinds are worth more chains, come from leave-one-out predictions.
    """
    rows = [lens.rows(table).listed().entered(lens.layout) for lens in lenses]
    crew = _Crew(lenses, rows, label, settings, n_views, runner, fingerprint, (len(streams), n_sweeps))
    # standardised before normal scores: it may keep densities, so that even a single chain has them
    kinds = [2 * k for k in reversed(range(min(len(lenses), 2)))]
    kinds += [kind + 1 for kind in kinds if _can_have_views(lenses[kind // 2], n_views)]
    kinds = kinds[:n_voting]
    voting, extra, begun = streams[:n_voting], streams[n_voting:], None
    tried: list[int] = []  # kinds of the chains that have begun
    if len(kinds) > 1:
        pilots = voting[: len(kinds)] + extra[:1]
        voting, extra = voting[len(kinds) :], extra[1:]
        tried, begun, kept = _try_kinds(crew, kinds + [DENSITY_KIND] * (len(pilots) - len(kinds)), pilots, n_sweeps)
        if begun.interrupted:  # what was paid for is the pilots; from a part of them a resume could not go on
            return crew.gather(kept), kept, begun
        kinds = [kind for kind in tried if kind != DENSITY_KIND]
    # the chains still to begin are shared out among the kinds that are worth it
    chosen = tried + [kinds[k % len(kinds)] for k in range(len(voting))] + [DENSITY_KIND] * len(extra)
    chains = crew.line_up(chosen, (begun.streams if begun else []) + voting + extra, "", begun)
    kept = chains.run(n_sweeps)
    assert chains.outcome is not None
    return crew.gather(kept), kept, chains.outcome


def _try_kinds(
    crew: _Crew, kinds: list[int], streams: list[np.random.Generator], n_sweeps: int
) -> tuple[list[int], Outcome, list[Kept]]:
    """One chain of each kind for half of the sweeps: the kinds worth more, how far their chains are, states kept.

    A kind that is out of the question goes no further than the first look.
    """
    begun: Outcome | None = None
    kept: list[Kept] = []
    needed = set() if DENSITY_KIND in kinds else {kinds[0]}  # a kind that keeps densities
    for stage, share, doubt in LOOKS:
        chains = crew.line_up(kinds, streams, stage, begun)
        kept = chains.run(max(n_sweeps // share, 1))
        assert chains.outcome is not None
        begun = chains.outcome
        if begun.interrupted:
            break
        worth = needed | {DENSITY_KIND} | {member.kind for member in crew.choose(kept, doubt)}
        going_on = [k for k, kind in enumerate(kinds) if kind in worth]
        begun, kinds = begun.take(going_on), [kinds[k] for k in going_on]
        streams = begun.streams
        if len(set(kinds) - {DENSITY_KIND}) == 1:
            break
    assert begun is not None
    return kinds, begun, kept


def _can_have_views(lens: Lens, n_views: int) -> bool:
    return n_views > 1 and len(lens.sights) > 1 and all(s.kind != CORRELATED for s in lens.sights)
