"""At most 16 columns without holes: priors summed exactly where that is cheap, else run as chains, and weighed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from ...inference.fits import Problem, run_fits
from ...kernels import kernel
from ...kernels.net_contract import MOST_NODES
from ...priors.graph import block_rule
from ...priors.partition import log_probability
from . import evidence as net_evidence
from . import exact as net_exact
from .chains import BlockSampler, LinearScores, OrderedSampler, seed_of
from .hyper import SmallModel
from .knowledge import score_tables, to_graph, to_masks
from .large import ORDER_TRIES
from .learn_large import class_prior, rounds_of, values_of
from .learnt import Learnt
from .normaliser import log_acyclic
from .posterior import NetPosterior, best_states, diagnostics, mixture, of_chains
from .seats import Seats
from .state import Batch, NetState, Schedule, take_batch
from .weigh import Weigher

if TYPE_CHECKING:
    from .learn import NetTask

PRIORS = ("ordered-block", "block", "sparse")  # that "auto" weighs
EXACT_ORDERED, EXACT_BLOCK = 6, 6  # most nodes whose classes can be listed
CHEAP_ORDERED, CHEAP_BLOCK = 6, 5  # most nodes for which that beats even short chains
LONG = 8000  # sweeps of all chains from which it does so for all nodes that can be listed: seconds at six
SHOWN = 200  # networks drawn where probabilities are exact
PILOT, PILOT_CHAINS = Schedule(150, 50), 2  # what tells the weights of priors before the long run, to a third of a nat
LITTLE = 0.02  # weight below which a prior is not run on: that part of the answer stays the pilot's


class SmallNetworks:
    """At most 16 columns without holes: the scores of all sets of parents are in a table."""

    def __init__(self, task: NetTask, tables: np.ndarray):
        s = task.settings
        self.task, self.tables, self.settings, self.known = task, tables, s, task.known
        self.n = len(tables)
        assert self.n <= MOST_NODES
        self.rule = block_rule(self.n, s.alpha, s.beta1, s.beta2)
        self.linear = LinearScores()
        self.single: np.ndarray | None = None  # edge probabilities of one class, where they are known exactly
        self.model: SmallModel | None = None
        if s.grid is not None:
            self.model = SmallModel(
                s.grid, self.n, lambda gamma: score_tables(task.codes[0], task.levels[0], s.bdeu, gamma, task.known)
            )

    def learn(self) -> Learnt:
        if self.known.template is not None or self.settings.prior == "uniform":
            return self._modular()
        if self.settings.prior == "auto" and self.settings.grid is not None:
            return self._auto_with_hyper()
        priors: tuple[str, ...] = PRIORS if self.settings.prior == "auto" else (self.settings.prior,)
        if self.known.classes is not None:  # one class is then no prior of its own
            priors = tuple(prior for prior in priors if prior != "sparse") or ("block",)
        exact = {prior: self._exact(prior) for prior in priors}
        if (one := exact.get("sparse")) is not None:
            self.single = one.edges
        sampled = [prior for prior in priors if exact[prior] is None]
        parts: dict[str, NetPosterior] = {}
        learnt = Learnt(None, "exact" if not sampled else "sampled", {})  # type: ignore[arg-type]
        states: dict[str, list[NetState]] = {}
        if len(priors) > 1 and self._worth_a_pilot(sampled):
            states = self._pilot(priors, sampled, parts, exact)
        schedules = dict.fromkeys(states, PILOT)
        running = [prior for prior in sampled if prior not in states]
        if running:
            states |= self._run(running, learnt, parts)
            schedules |= dict.fromkeys(running, self.settings.schedule)
        for k, prior in enumerate(priors):
            if (found := exact[prior]) is not None:
                parts[prior] = self._shown(prior, found, k)
        if len(priors) == 1:
            learnt.posterior, learnt.prior_weights = parts[priors[0]], {priors[0]: 1.0}
            return learnt
        return self._weigh(learnt, priors, parts, exact, states, schedules)

    # ---- exact ----

    def _exact(self, prior: str) -> net_exact.Exact | None:
        asked, n = self.settings.exact, self.n
        if asked is False or self.settings.grid is not None:
            return None
        if prior == "sparse":
            return net_exact.one_class(self.tables, self.rule)
        insisted = asked is True or self.settings.n_chains * self.settings.schedule.n_sweeps >= LONG
        if prior == "ordered-block" and n <= (EXACT_ORDERED if insisted else CHEAP_ORDERED):
            return net_exact.ordered(self.tables, self.rule, self.known.classes)
        if prior == "block" and n <= (EXACT_BLOCK if insisted else CHEAP_BLOCK):
            return net_exact.block(self.tables, self.rule, self.known.classes)
        return None

    def _modular(self) -> Learnt:
        """All graphs alike, or a template: edges exactly; networks by orders."""
        n, rng = self.n, self.task.streams(1)[0]
        classes = np.zeros(n, np.int32) if self.known.classes is None else self.known.classes.astype(np.int32)
        odds = np.ascontiguousarray(self.known.log_odds())
        found = net_exact.modular(self.tables, odds, classes)
        masks = np.full((SHOWN, n), -1, np.int32)
        kernel.net_order_draws(self.tables, odds, masks, 5, seed_of(rng))
        weight = np.array(self.tables)
        for i in range(n):
            weight[:, np.arange(1 << n) >> i & 1 == 1] += odds[i][:, None]
        seen = np.concatenate([net_exact.best_graph(weight)[None], masks])
        values = weight[np.arange(n), seen].sum(axis=1)
        z = np.repeat(classes[None], len(seen), axis=0)
        zero = np.zeros((n, n))
        posterior = NetPosterior(
            found.edges, zero, np.zeros((0, n, n)), found.classes, found.shares, to_graph(masks), z[1:],
            np.full(SHOWN, 1.0 / SHOWN), np.zeros((SHOWN, 0), np.int32), np.zeros((SHOWN, 3), np.int64),
            *best_states([(values, z, to_graph(seen))]),
        )  # fmt: skip
        name = "uniform" if self.known.template is None else "template"
        return Learnt(posterior, "exact", {name: 1.0})

    def _shown(self, prior: str, found: net_exact.Exact, number: int) -> NetPosterior:
        """Exact probabilities, with networks from a short chain."""
        schedule = Schedule(SHOWN + 50, 50, SHOWN)
        sampler = self._sampler(prior, schedule, 0)
        if isinstance(sampler, BlockSampler):
            sampler.temperatures = np.ones(1)
        rng = self.task.streams(number + 1)[number]
        state, kept = sampler.init(rng), []
        for step in range(schedule.n_sweeps):
            state, _ = sampler.step(rng, state)
            batch = take_batch(step, state, schedule)
            if batch is not None and step >= schedule.burn_in:
                kept.append(batch)
        posterior = of_chains([state], [kept], schedule)
        return replace(
            posterior, edges=found.edges, edge_errors=np.zeros_like(found.edges),
            chain_edges=np.zeros((0, self.n, self.n)),
            classes=np.asarray(found.classes, np.int32), shares=found.shares,
        )  # fmt: skip

    # ---- chains ----

    def _sampler(self, prior: str, schedule: Schedule, number: int) -> Any:
        model = None if self.model is None else self.model.alone()
        if prior == "ordered-block":
            return OrderedSampler(self.tables, self.rule, self.known, schedule, number, model=model, linear=self.linear)
        single = self.single
        known = self.known
        if prior == "sparse":
            known, single = replace(known, classes=np.zeros(self.n, np.int32)), None
        return BlockSampler(
            self.tables, self.rule, known, schedule, number, model=model, linear=self.linear, single=single
        )  # fmt: skip

    def _chains(self, prior: str) -> int:
        """How many chains a prior gets: beside others half as many without an order, each of which has several
        temperatures."""
        n_chains = self.settings.n_chains
        return max(n_chains // 2, min(n_chains, 2)) if self.settings.prior == "auto" and prior == "block" else n_chains

    def _run(self, priors: Sequence[str], learnt: Learnt, parts: dict[str, NetPosterior]) -> dict[str, list[NetState]]:
        """Chains of all these priors in one loop; their posteriors go to `parts`."""
        schedule, of, first = self.settings.schedule, {}, 0
        for prior in priors:
            of[prior] = range(first, first := first + self._chains(prior))
        problems: list[Problem] = [
            self._sampler(prior, schedule, c) for prior, chains in of.items() for c in range(len(chains))
        ]
        states, outcome = run_fits(
            problems, self.task.streams(len(problems)), schedule.n_sweeps, None, self.task.runner,
            self.task.fingerprint, NetState.from_tree, lambda step, state: take_batch(step, state, schedule),
            Batch.from_tree,
        )  # fmt: skip
        for prior, chains in of.items():
            kept = [outcome.kept[c] for c in chains]
            parts[prior] = of_chains([states[c] for c in chains], kept, schedule)
            learnt.diagnostics[prior] = diagnostics(outcome.take(chains), kept, schedule)
            for name, trace in outcome.take(chains).infos.items():
                learnt.trace[f"{prior}/{name}"] = trace
        return {prior: [states[c] for c in chains] for prior, chains in of.items()}

    # ---- several priors ----

    def _auto_with_hyper(self) -> Learnt:
        """Hyper-parameters learnt under every prior: weighed by ladders between them."""
        learnt = Learnt(None, "sampled", {})  # type: ignore[arg-type]
        parts: dict[str, NetPosterior] = {}
        priors = [prior for prior in PRIORS if prior != "sparse" or self.known.classes is None]
        self._run(priors, learnt, parts)
        first, s = [0, self.n], self.settings
        weigher = Weigher(
            class_prior(s, first), values_of(s), self._by_orders, Seats(np.array(first), s.rooms), self.n,
            rounds_of(s, self.task.runner),
        )  # fmt: skip
        rng = self.task.streams(len(priors) * s.n_chains + 1)[-1]
        found = weigher.weigh(rng, {prior: parts[prior] for prior in priors})
        learnt.posterior, learnt.prior_weights, learnt.normalisers = found
        return learnt

    def _by_orders(self, rng: np.random.Generator, state: NetState, chances: np.ndarray) -> None:
        """The graph as a whole, edges independent beforehand."""
        assert self.model is not None
        masks = to_masks(state.graph[0])[None].copy()
        odds = np.ascontiguousarray(np.log(chances) - np.log1p(-chances))
        kernel.net_order_draws(self.model.tables(state.hyper[0]), odds, masks, ORDER_TRIES, seed_of(rng))
        state.graph[0] = to_graph(masks[0])

    def _worth_a_pilot(self, sampled: Sequence[str]) -> bool:
        """Whether short runs could save long ones. A budget of time is kept for the long run."""
        long = self.settings.schedule.n_sweeps >= 4 * PILOT.n_sweeps
        return bool(sampled) and long and self.task.runner.time_budget is None and self.model is None

    def _pilot(
        self, priors: Sequence[str], sampled: Sequence[str], parts: dict[str, NetPosterior],
        exact: dict[str, net_exact.Exact | None],
    ) -> dict[str, list[NetState]]:  # fmt: skip
        """Short chains of every prior, and their weights; of priors of little weight the states, for good, and of all
        where Ctrl-C asks for no more."""
        after = len(sampled) * self.settings.n_chains  # streams before these are those of the long run
        streams = self.task.streams(after + len(sampled) * PILOT_CHAINS)[after:]
        problems: list[Problem] = [self._sampler(prior, PILOT, c) for prior in sampled for c in range(PILOT_CHAINS)]
        found, outcome = run_fits(
            problems, streams, PILOT.n_sweeps, None, replace(self.task.runner, checkpoint=None, progress=False), "",
            NetState.from_tree, lambda step, state: take_batch(step, state, PILOT),
        )  # fmt: skip
        states = {prior: found[k * PILOT_CHAINS : (k + 1) * PILOT_CHAINS] for k, prior in enumerate(sampled)}
        short = {
            prior: of_chains(states[prior], outcome.kept[k * PILOT_CHAINS : (k + 1) * PILOT_CHAINS], PILOT)
            for k, prior in enumerate(sampled)
        }
        if outcome.interrupted is not None:
            parts |= short
            return states
        evidence = self._evidence(priors, short, exact, states, dict.fromkeys(sampled, PILOT))
        weight = dict(zip(priors, softmax(evidence), strict=True))
        parts |= {prior: short[prior] for prior in sampled if weight[prior] < LITTLE}
        return {prior: states[prior] for prior in sampled if weight[prior] < LITTLE}

    def _normalisers(self) -> dict[str, float]:
        prior = class_prior(self.settings, [0, self.n])
        return {"ordered-block": 0.0, "block": log_acyclic(prior, False), "sparse": log_acyclic(prior, True)}

    def _evidence(
        self, priors: Sequence[str], parts: dict[str, NetPosterior], exact: dict[str, net_exact.Exact | None],
        states: dict[str, list[NetState]], schedules: dict[str, Schedule],
    ) -> np.ndarray:  # fmt: skip
        """Log evidence of every prior."""
        rng, normaliser, values = self.task.streams(1)[0], self._normalisers(), []
        for prior in priors:
            if (found := exact[prior]) is not None:
                value = found.log_sum - normaliser[prior]
            elif prior == "ordered-block":
                value = net_evidence.of_ordered(states[prior], schedules[prior])
            else:
                one = exact.get("sparse") or net_exact.one_class(self.tables, self.rule, edges_too=False)
                value = one.log_sum - normaliser[prior]
                if prior == "block":
                    part = parts[prior]
                    value = net_evidence.of_block(
                        rng, self.tables, self.rule, one.log_sum, part.classes, part.shares, part.edges
                    )
            values.append(float(value))
        return np.array(values)

    def _weigh(
        self, learnt: Learnt, priors: Sequence[str], parts: dict[str, NetPosterior],
        exact: dict[str, net_exact.Exact | None], states: dict[str, list[NetState]], schedules: dict[str, Schedule],
    ) -> Learnt:  # fmt: skip
        """Every prior by its evidence, all alike beforehand."""
        evidence, normaliser = self._evidence(priors, parts, exact, states, schedules), self._normalisers()
        for prior, value in zip(priors, evidence, strict=True):
            parts[prior].log_evidence = float(value)
        weights = softmax(evidence)
        # the joint of a state of one class has the probability of that class in it, which here is no part of the prior
        normaliser["sparse"] += float(log_probability(np.array([self.n]), self.settings.alpha))
        learnt.posterior = mixture([parts[p] for p in priors], weights, [normaliser[p] for p in priors])
        learnt.prior_weights, learnt.normalisers = dict(zip(priors, weights.tolist(), strict=True)), normaliser
        return learnt
