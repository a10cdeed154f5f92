"""Independent chains of mixtures, run by the one loop; what is kept of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from ...inference import loop
from ...inference.checkpoint import Checkpoint
from ...inference.diagnostics import r_hat
from ...inference.outcome import Outcome
from ...inference.runner import Runner
from ...kernels.contract import Chain, Predictive, Rows
from . import mixture, predictive
from .problem import RESTAURANTS, Problem
from .starts import Start

# hyper-parameters move in every third sweep: they cost a good part of one, and change slowly; groups are split and
# merged in every second
HYPER_EVERY, PROPOSE_EVERY = 3, 2
KEEP_EVERY = 2
JUDGE_EVERY = 2  # kept states of a chain to one whose leave-one-out predictions are computed, the first among them
# where their number is not given, splits and merges are proposed as often as there are groups after so many sweeps,
# before any state is kept: a number that went on following the groups would favour states with few of them. A run that
# settles at once needs only a share of that, and one that has accepted hardly any of those that count a few
COUNTED_SWEEPS, SHARE_TO_COUNT, SHARE_AT_FIRST = 12, 8, 3
HARDLY_ANY, FEW_PROPOSALS = 0.05, 2
# groups dealt at random are of equal sizes, which a finite mixture would take for a finding: the first sweeps leave it
# out
RESTAURANT_SWEEPS = 4
# a chain is at rest when fewer rows than this share changed their group in each of the last sweeps: its next states
# would be copies of the last one. Few rows say little of a share: there, so many are looked at over more sweeps
AT_REST, SWEEPS_AT_REST, SWEEPS_BEFORE_REST, ROWS_AT_REST = 0.01, 2, 4, 200
# rows whose leave-one-out predictions are computed: enough to choose a few weights and temperatures
LEFT_OUT_ROWS = 500
# a run without a fixed number of sweeps: the first length tried, and the longest
FIRST_SWEEPS, LAST_SWEEPS = 24, 192
ENOUGH_AGREEMENT = 1.2  # R-hat of the second half


@dataclass
class Kept:
    """One kept state: what it says of new rows, and how it seats the training rows."""

    kind: int  # kind of chain, where there are several
    chain: int
    step: int
    state: Predictive
    z: np.ndarray  # int32 (restaurants, rows)
    label: np.ndarray  # int32 (rows,)
    left_out: np.ndarray  # float64 (rows asked for, classes): log p(row | class, other rows); (0, 0) where not judged

    @property
    def judged(self) -> bool:
        return self.left_out.shape[1] > 0


@dataclass
class Asked:
    """Training rows whose leave-one-out predictions are asked for: their index, and as each problem sees them."""

    index: np.ndarray
    rows: Sequence[Rows]


@dataclass
class Walker:
    """A chain on its way: the loop's state."""

    problem: int
    chain: Chain
    done: int = 0
    proposals: int = 0  # where their number is not given
    proposed: int = 0  # in the sweeps that settle it
    accepted: int = 0


def pack(thing: Any) -> dict[str, Any]:
    """A dataclass of arrays, numbers and such dataclasses as a tree for an archive."""
    return {
        f.name: pack(value) if hasattr(value := getattr(thing, f.name), "__dataclass_fields__") else value
        for f in fields(thing)
    }


def unpack_walker(tree: dict[str, Any]) -> Walker:
    return Walker(**{**tree, "chain": Chain(**tree["chain"])})


def unpack_kept(tree: dict[str, Any]) -> Kept:
    return Kept(**{**tree, "state": Predictive(**tree["state"])})


class Chains:
    """One chain per problem; `run` may be called again to go on."""

    def __init__(self, problems: Sequence[Problem], kinds: Sequence[int], streams: Sequence[np.random.Generator], *,
                 left_out: Asked | None = None, runner: Runner, fingerprint: str = "",
                 begun: Outcome | None = None, may_rest: bool = False, start: Start = mixture.init,
                 whole: tuple[int, int] | None = None):  # fmt: skip
        """`kinds` goes into what is kept; `begun` holds chains already on their way, the first ones; with `may_rest`
        a chain that is at rest goes no further; `whole` has the chains and the sweeps of the whole fit, where these are
        not all of it.
        """
        self.problems, self.kinds, self.streams, self.start = problems, kinds, streams, start
        self.left_out, self.runner, self.may_rest, self.whole = left_out, runner, may_rest, whole
        self.outcome: Outcome | None = None
        self.begun = begun
        self.checkpoint = None
        if runner.checkpoint is not None:
            self.checkpoint = Checkpoint(runner.checkpoint, fingerprint, pack, unpack_walker, pack, unpack_kept)

    def run(self, n_sweeps: int) -> list[Kept]:
        """Bring every chain to `n_sweeps` sweeps; the states kept of the second half."""
        if self.outcome is None:
            self.outcome = self._begin()
        n_chains, most = self.whole or (len(self.problems), n_sweeps)
        self.outcome = loop.run(
            self._step, self.outcome.states, self.streams, n_sweeps, start=self.outcome,
            stop=partial(at_rest, len(self.problems[0].labelled)) if self.may_rest else None,
            keep=lambda _, step, walker: self._keep(walker, step, n_sweeps),
            n_jobs=self.runner.n_jobs, time_budget=self.runner.time_left(), checkpoint=self.checkpoint,
            progress=self.runner.monitor(n_chains * most), whole=most,
        )  # fmt: skip
        late = [[one for one in chain if one.step >= n_sweeps // 2] for chain in self.outcome.kept]
        # a chain at rest, or stopped before the second half, has its last state to give
        last = self.outcome.interrupted is None or not any(late)
        for k, (walker, steps) in enumerate(zip(self.outcome.states, self.outcome.steps_done, strict=True)):
            if last and steps and not late[k]:
                late[k] = [self._take(walker)]
        return [one for chain in late for one in chain]

    def _begin(self) -> Outcome:
        """Where all chains stand before the first step: those of `begun`, the others at their start."""
        first = [] if self.begun is None else [replace(w, problem=k) for k, w in enumerate(self.begun.states)]
        fresh = range(len(first), len(self.problems))
        workers = min(loop.count_workers(self.runner.n_jobs), len(fresh))

        def begin(k: int) -> Chain:
            return self.start(self.streams[k], self.problems[k])

        if workers > 1:
            with ThreadPoolExecutor(workers) as pool:
                chains = list(pool.map(begin, fresh))
        else:
            chains = [begin(k) for k in fresh]
        walkers = first + [Walker(k, chain) for k, chain in zip(fresh, chains, strict=True)]
        done = ([] if self.begun is None else self.begun.steps_done) + [0] * len(fresh)
        infos = {} if self.begun is None else self.begun.infos
        infos = {name: np.pad(trace, ((0, len(fresh)), (0, 0))) for name, trace in infos.items()}
        return Outcome(walkers, [[] for _ in walkers], infos, done, None, list(self.streams))

    def as_they_stand(self) -> list[Kept]:
        """The last states of chains that were interrupted before they came here."""
        self.outcome = self._begin()
        done = zip(self.outcome.states, self.outcome.steps_done, strict=True)
        return [self._take(walker) for walker, steps in done if steps]

    def run_until_settled(self) -> list[Kept]:
        """Make the run longer by half until the number of groups no longer drifts."""
        n_sweeps = FIRST_SWEEPS
        reached = 0 if self.checkpoint is None else self.checkpoint.steps_saved()
        while n_sweeps < reached:  # what is resumed had not settled before
            n_sweeps = _longer(n_sweeps)
        while True:
            kept = self.run(n_sweeps)
            assert self.outcome is not None
            if self.outcome.interrupted or n_sweeps >= LAST_SWEEPS or settled(self.outcome.infos["n_groups"]):
                return kept
            n_sweeps = _longer(n_sweeps)

    def _step(self, rng: np.random.Generator, walker: Walker) -> tuple[Walker, dict[str, float]]:
        return advance(rng, walker, self.problems[walker.problem])

    def _keep(self, walker: Walker, step: int, n_sweeps: int) -> Kept | None:
        at = place_among_kept(step, n_sweeps)
        return None if at is None else self._take(walker, judged=at % JUDGE_EVERY == 0)

    def _take(self, walker: Walker, judged: bool = True) -> Kept:
        problem, chain = self.problems[walker.problem], walker.chain
        loo = np.zeros((0, 0))
        if judged and self.left_out is not None:
            asked = self.left_out.rows[walker.problem]
            loo = predictive.leave_one_out(problem.layout, asked, chain, self.left_out.index)
        return Kept(
            self.kinds[walker.problem], walker.problem, walker.done - 1, predictive.snapshot(problem.layout, chain),
            chain.z.copy(), chain.label.copy(), loo,
        )  # fmt: skip


def advance(rng: np.random.Generator, walker: Walker, problem: Problem) -> tuple[Walker, dict[str, float]]:
    """One step of a chain on its way."""
    walker.done += 1
    hyper, n_proposals = walker.done % HYPER_EVERY == 0, 0
    laws = RESTAURANTS if walker.done <= RESTAURANT_SWEEPS else None
    if walker.done <= COUNTED_SWEEPS:
        walker.proposals = int(walker.chain.used.max())
    if walker.done % PROPOSE_EVERY == 1:
        n_proposals = _count_proposals(walker, problem)
    walker.chain, info = mixture.step(
        rng, walker.chain, problem, move_hyper=hyper, n_proposals=n_proposals, laws=laws
    )  # fmt: skip
    accepted = int(info.pop("accepted"))
    if walker.done <= COUNTED_SWEEPS:
        walker.proposed += n_proposals * walker.chain.used.size
        walker.accepted += accepted
        if walker.done == COUNTED_SWEEPS and walker.accepted < HARDLY_ANY * walker.proposed:
            walker.proposals = min(walker.proposals, FEW_PROPOSALS)
    return walker, info


def _count_proposals(walker: Walker, problem: Problem) -> int:
    given = problem.settings.split_merge
    if given is not None:
        return given
    if walker.done <= RESTAURANT_SWEEPS:  # groups dealt at random
        return 0
    share = SHARE_TO_COUNT if walker.done <= COUNTED_SWEEPS else SHARE_AT_FIRST if walker.done <= FIRST_SWEEPS else 1
    return -(-walker.proposals // share)


def _longer(n_sweeps: int) -> int:
    return min(n_sweeps + n_sweeps // 2, LAST_SWEEPS)


def place_among_kept(step: int, n_sweeps: int) -> int | None:
    """Which of the kept states a step's is, None where it is not kept: every second one of the second half, the last
    among them; steps count from 0.
    """
    first, to_go = n_sweeps // 2, n_sweeps - step - 1
    if step < first or to_go % KEEP_EVERY:
        return None
    return (step - first) // KEEP_EVERY


def at_rest(n_rows: int, infos: Mapping[str, Sequence[float]]) -> bool:
    """Whether hardly a row has changed its group of late."""
    moved, looked_at = infos["moved"], max(SWEEPS_AT_REST, -(-ROWS_AT_REST // max(n_rows, 1)))
    return len(moved) >= SWEEPS_BEFORE_REST - SWEEPS_AT_REST + looked_at and max(moved[-looked_at:]) < AT_REST


def settled(trace: np.ndarray) -> bool:
    """Whether a trace (chains, steps) has the same mean in its third and last quarters, up to chance, and the
    chains agree.
    """
    quarter = trace.shape[1] // 4
    third, last = trace[:, 2 * quarter : 3 * quarter].mean(axis=1), trace[:, 3 * quarter :].mean(axis=1)
    change = last - third
    if len(change) == 1:
        spread = trace[:, 2 * quarter :].std() / np.sqrt(quarter)
    else:
        spread = change.std(ddof=1) / np.sqrt(len(change))
    if abs(change.mean()) > 2.0 * spread + 0.02 * last.mean():
        return False
    agreement = r_hat(trace[:, 2 * quarter :])
    return bool(np.isnan(agreement) or agreement < ENOUGH_AGREEMENT)
