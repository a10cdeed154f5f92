"""Structure learning where tables over all sets of parents do not do: more than 16 columns, missing cells, several
tables that share classes, the kernel of [1]."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...inference.fits import Problem, run_fits
from ...inference.outcome import Outcome
from ...inference.runner import Runner
from ...kernels.net_contract import CLASSES, GIVEN_ODDS, ORDERED_CLASSES
from .bridge import GraphMoves
from .large import GraphSampler
from .learnt import Learnt, NetSettings
from .listed import ListedSampler, Lists, make_lists, most_listed
from .normaliser import ClassPrior
from .posterior import NetPosterior, diagnostics, of_chains
from .rows import Rows, Sheets
from .seats import Seats
from .state import Batch, NetState, take_batch
from .walk import Walks
from .weigh import Weigher

if TYPE_CHECKING:
    from .learn import NetTask

LEAST_ROUNDS, MOST_ROUNDS = 40, 250  # of a ladder between priors


class LargeNetworks:
    """Chains over graphs of any size."""

    def __init__(self, task: NetTask, tables: Sequence[np.ndarray | None] = ()):
        self.task, self.settings, self.known, self.tables = task, task.settings, task.known, tables
        s = task.settings
        self.rows = Sheets([Rows(codes, of, s.bdeu, s.pseudo) for codes, of in zip(task.codes, task.levels)])
        self.lists: list[Lists] | None = None
        largest = int(np.diff(self.rows.first).max())
        self.bound = min(self.known.max_parents, largest - 1)  # what was asked for
        self.most = most_listed(largest, self.bound)  # what lists have room for

    def learn(self) -> Learnt:
        s = self.settings
        if self.known.template is not None or s.prior == "uniform":
            return self._run(["uniform" if self.known.template is None else "template"])[0]
        if s.prior == "auto":
            return self._auto()
        return self._run([s.prior])[0]

    # ---- chains ----

    def _listed(self) -> bool:
        """Whether ordered classes can be sampled with lists: few enough numbers, within the range of doubles."""
        if self.settings.single_edges or self.most < min(2, self.bound):
            return False
        if self.rows.n_holes:
            return True
        if self.lists is None:
            self.lists = make_lists(self.rows, self.rows.data(np.zeros(0, np.int32)), self.known, self.most)
        return all(part.fits for part in self.lists)

    def _samplers(self, prior: str) -> list[Problem]:
        s, known = self.settings, self.known
        if prior == "ordered-block" and self._listed():
            return [
                ListedSampler(
                    self.rows, known, s.alpha, s.beta1, s.beta2, s.schedule, c, self.most,
                    None if self.rows.n_holes else self.lists, s.grid, s.rooms,
                )
                for c in range(s.n_chains)
            ]  # fmt: skip
        if prior == "sparse":
            known = replace(known, classes=np.zeros(known.n, np.int32))
        kind = {"ordered-block": ORDERED_CLASSES, "uniform": GIVEN_ODDS, "template": GIVEN_ODDS}.get(prior, CLASSES)
        walks = None if kind == ORDERED_CLASSES or s.single_edges else self._walks(kind)
        return [
            GraphSampler(
                self.rows, known, kind, s.alpha, s.beta1, s.beta2, s.schedule, c, s.single_edges, self.tables, s.grid,
                rooms=s.rooms, walks=walks,
            )
            for c in range(s.n_chains)
        ]

    def _walks(self, kind: int) -> Walks:
        """Shared by all chains, from a stream that neither they nor bridges between priors have; the same in a run that
        goes on."""
        rng = self.task.streams(3 * self.settings.n_chains + 2)[-1]
        return Walks.of(rng, self.rows, self.known, kind, self.tables)

    def _run(self, priors: Sequence[str]) -> tuple[Learnt, list[NetPosterior]]:
        """Chains of all these priors in one loop."""
        s = self.settings
        problems = [sampler for prior in priors for sampler in self._samplers(prior)]
        states, outcome = run_fits(
            problems, self.task.streams(len(problems)), s.schedule.n_sweeps, None, self.task.runner,
            self.task.fingerprint, NetState.from_tree, lambda step, state: take_batch(step, state, s.schedule),
            Batch.from_tree,
        )  # fmt: skip
        learnt, parts = Learnt(None, "sampled", {priors[0]: 1.0}), []  # type: ignore[arg-type]
        for k, prior in enumerate(priors):
            chains = range(k * s.n_chains, (k + 1) * s.n_chains)
            parts.append(self._part(prior, chains, states, outcome, learnt))
        learnt.posterior = parts[0]
        if "ordered-block" in priors and isinstance(problems[0], ListedSampler) and self.most < self.bound:
            sizes = parts[priors.index("ordered-block")].graphs.sum(axis=1)
            learnt.parent_limit = {"most": self.most, "share_at_limit": float((sizes == self.most).mean())}
        return learnt, parts

    def _part(
        self, prior: str, chains: range, states: Sequence[NetState], outcome: Outcome, learnt: Learnt
    ) -> NetPosterior:
        kept, some = [outcome.kept[c] for c in chains], outcome.take(chains)
        learnt.diagnostics[prior] = diagnostics(some, kept, self.settings.schedule)
        for name, trace in some.infos.items():
            learnt.trace[f"{prior}/{name}"] = trace
        return of_chains([states[c] for c in chains], kept, self.settings.schedule)

    # ---- several priors ----

    def _auto(self) -> Learnt:
        """Ordered classes, classes without order and one class, weighed."""
        priors = ["ordered-block", "block"] + ([] if self.known.classes is not None else ["sparse"])
        learnt, parts = self._run(priors)
        most = self.most if learnt.parent_limit else self.known.n
        s, first = self.settings, self.rows.first
        graphs = GraphSampler(self.rows, self.known, GIVEN_ODDS, s.alpha, s.beta1, s.beta2, s.schedule, 0)
        weigher = Weigher(
            class_prior(s, first.tolist()), values_of(s), graph_moves(graphs), Seats(first, s.rooms), most,
            rounds_of(s, self.task.runner),
        )  # fmt: skip
        rng = self.task.streams(len(priors) * s.n_chains + 1)[-1]
        found = weigher.weigh(rng, dict(zip(priors, parts, strict=True)))
        learnt.posterior, learnt.prior_weights, learnt.normalisers = found
        return learnt


def graph_moves(sampler: GraphSampler) -> GraphMoves:
    """Sweeps over the edges of a graph that are independent beforehand, and over missing cells."""
    known = sampler.known

    def move(rng: np.random.Generator, state: NetState, chances: np.ndarray) -> None:
        sampler.known = replace(known, classes=np.arange(known.n), template=chances)
        sampler.prepare(rng, state)
        sampler.sweep(rng, state)

    return move


def rounds_of(s: NetSettings, runner: Runner) -> int:
    """Of a ladder: with some eight rungs as many sweeps as a chain has; few where the budget of time is spent."""
    left = runner.time_left()
    spent = left is not None and runner.time_budget is not None and left < 0.05 * runner.time_budget
    return LEAST_ROUNDS if spent else int(np.clip(s.schedule.n_sweeps // 8, LEAST_ROUNDS, MOST_ROUNDS))


def values_of(s: NetSettings) -> Callable[[np.ndarray], tuple[float, float, float]]:
    """alpha, beta1 and beta2 at places of their grids."""
    if s.grid is None:
        return lambda at: (s.alpha, s.beta1, s.beta2)
    grid = s.grid
    return lambda at: (float(grid.alpha[at[0]]), float(grid.beta[at[1], 0]), float(grid.beta[at[1], 1]))


def class_prior(s: NetSettings, first: Sequence[int]) -> ClassPrior:
    """The prior of classes and edges of these settings."""
    nodes = tuple(int(k) for k in first)
    rooms = tuple(s.rooms.tolist())
    if s.grid is None:
        return ClassPrior(nodes, (s.alpha,), ((s.beta1, s.beta2),), rooms)
    betas = tuple((float(a), float(b)) for a, b in s.grid.beta)
    return ClassPrior(nodes, tuple(s.grid.alpha.tolist()), betas, rooms)
