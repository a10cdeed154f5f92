"""Structure learning where tables over all sets of parents do not do: more than 16 columns, missing cells, the
kernel of [1]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..inference.loop import Outcome
from ..kernels.net_contract import CLASSES, GIVEN_ODDS, ORDERED_CLASSES
from .gated_members import Problem, run_fits
from .net_evidence import log_acyclic, log_odds_of_one_class, log_odds_of_order
from .net_large import GraphSampler, ListedSampler, Lists, Rows, most_listed
from .net_learnt import Learnt
from .net_posterior import NetPosterior, diagnostics, mixture, of_chains
from .net_state import Batch, NetState, take_batch

if TYPE_CHECKING:
    from .net_learn import NetTask


class LargeNetworks:
    """Chains over graphs of any size."""

    def __init__(self, task: NetTask):
        self.task, self.settings, self.known = task, task.settings, task.known
        s = task.settings
        self.rows = Rows(task.codes, task.levels, s.bdeu, s.pseudo)
        self.lists: Lists | None = None
        self.most = most_listed(self.known.n, self.known.max_parents)

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
        if self.settings.single_edges or self.most < min(2, self.known.max_parents):
            return False
        if len(self.rows.holes):
            return True
        if self.lists is None:
            self.lists = Lists.of(self.rows.data(self.rows.codes), self.known, self.most)
        return self.lists.fits

    def _samplers(self, prior: str) -> list[Problem]:
        s, known = self.settings, self.known
        if prior == "ordered-block" and self._listed():
            return [
                ListedSampler(
                    self.rows, known, s.alpha, s.beta1, s.beta2, s.schedule, c, self.most,
                    None if len(self.rows.holes) else self.lists, s.grid,
                )
                for c in range(s.n_chains)
            ]  # fmt: skip
        if prior == "sparse":
            known = replace(known, classes=np.zeros(known.n, np.int32))
        kind = {"ordered-block": ORDERED_CLASSES, "uniform": GIVEN_ODDS, "template": GIVEN_ODDS}.get(prior, CLASSES)
        return [
            GraphSampler(self.rows, known, kind, s.alpha, s.beta1, s.beta2, s.schedule, c, s.single_edges, grid=s.grid)
            for c in range(s.n_chains)
        ]

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
        if "ordered-block" in priors and isinstance(problems[0], ListedSampler):
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
        """Ordered classes against classes without order, and one class as the states of the latter that have one."""
        s, n = self.settings, self.known.n
        learnt, (ordered, block) = self._run(["ordered-block", "block"])
        most = self.most if learnt.parent_limit else n
        normaliser = log_acyclic(n, s.alpha, s.beta1, s.beta2)
        single = log_acyclic(n, None, s.beta1, s.beta2)
        evidence = [log_odds_of_order(ordered, block, s.alpha, s.beta1, s.beta2, normaliser, most), 0.0]
        parts, names, normalisers = [ordered, block], ["ordered-block", "block"], [0.0, normaliser]
        alone = np.array([len(np.unique(z)) == 1 for z in block.graph_z])
        if alone.any() and self.known.classes is None:
            evidence.append(log_odds_of_one_class(block, n, s.alpha, normaliser, single))
            parts.append(_only(block, alone))
            names.append("sparse")
            normalisers.append(single)
        for part, value in zip(parts, evidence, strict=True):
            part.log_evidence = float(value)
        weights = np.exp(np.array(evidence) - max(evidence))
        weights /= weights.sum()
        learnt.posterior = replace(mixture(parts, weights, normalisers), log_evidence=float("nan"))
        learnt.prior_weights = dict(zip(names, weights.tolist(), strict=True))
        return learnt


def _only(part: NetPosterior, chosen: np.ndarray) -> NetPosterior:
    """The posterior as some of the networks drawn have it."""
    graphs = part.graphs[chosen]
    edges = graphs.mean(axis=0)
    return replace(
        part, edges=edges, edge_errors=np.sqrt(edges * (1 - edges) / len(graphs)), graphs=graphs,
        graph_z=part.graph_z[chosen], graph_weight=np.full(len(graphs), 1.0 / len(graphs)),
        graph_cells=part.graph_cells[chosen], classes=np.zeros((1, part.edges.shape[0]), np.int32), shares=np.ones(1),
        top_value=part.top_value[:0], top_z=part.top_z[:0], top_graph=part.top_graph[:0],
    )  # fmt: skip
