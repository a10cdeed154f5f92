"""Stochastic variational inference of gated experts: every step looks at a batch of rows [1].

The sums over all rows are estimated by those of the batch, as if it were repeated, and move a little towards them: with
step sizes (t + delay)^-0.7, whose sum is infinite and whose squares' sum is not. Memory holds the table and one batch.

[1] M. Hoffman, D. Blei, C. Wang and J. Paisley (2013), Stochastic variational inference, JMLR 14, 1303-1347.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...kernels.contract import Rows
from .expect import expect
from .expectations import Expectations, expectations
from .fit import GatedProblem
from .guess import Guesses, first_guesses
from .rows import GUESSED, Block, View, make_blocks
from .start import first_latents
from .state import GatedState, Priors
from .sums import GatedSums
from .update import components_in_order, divergence, updated

FORGETTING, DELAY = 0.7, 2.0
START_ROWS = 4000  # rows that the start is made from, by passes over them
START_STEPS = 30
# of each start that is tried: share of the clusters asked for, and whether they are of single classes
STARTS = ((1.0, True), (0.25, False), (0.5, False))
INNER_ROUNDS = 2  # of latents and guesses of a batch, which are not kept from one step to the next


@dataclass(eq=False)
class Running:
    """The loop's state: parameters, the sums they come from, and steps done. Nothing of single rows."""

    state: GatedState
    sums: GatedSums
    done: int = 0

    def to_tree(self) -> dict[str, Any]:
        return {"state": self.state.to_tree(), "sums": dict(vars(self.sums)), "done": self.done}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Running:
        return cls(GatedState.from_tree(tree["state"]), GatedSums(**tree["sums"]), tree["done"])


@dataclass(eq=False)
class StochasticProblem:
    """A table too large to pass over at every step."""

    view: View
    priors: Priors
    rows: Rows
    label: np.ndarray
    weight: np.ndarray
    n_classes: int
    k: int
    batch_size: int
    total: float = field(init=False)

    def __post_init__(self) -> None:
        self.total = float(self.weight.sum())

    def init(self, rng: np.random.Generator) -> Running:
        """Passes over some rows, taken for all, from several starts; that of the highest bound. Components that rows do
        not need go here: a step over a batch moves so little towards it that they would take very long to empty."""
        some = self._some(rng, max(START_ROWS, self.batch_size))
        problem = GatedProblem.make(
            self.view, self.rows.take(some), self.label[some], self.weight[some], self.n_classes, self.priors, self.k
        )
        highest, state = -np.inf, None
        for share, problem.within in STARTS:
            problem.k = max(round(share * self.k), 1)
            tried, bound = problem.init(rng), -np.inf
            for _ in range(START_STEPS):
                tried, info = problem.step(rng, tried)
                bound = info["bound"]
            if state is None or bound > highest:
                highest, state = bound, tried
        assert state is not None
        sums, state = problem.sum_up(state, expectations(state, self.view))
        sums.scale(self.total / float(self.weight[some].sum()))
        return self._moved(_without_rows(state), sums, 0)

    def step(self, rng: np.random.Generator, running: Running) -> tuple[Running, Mapping[str, float]]:
        state = running.state
        now = expectations(state, self.view)
        some = self._some(rng, self.batch_size)
        batch = self._sum_up(some, now)
        batch.scale(self.total / float(self.weight[some].sum()))
        bound = batch.log_evidence - divergence(state, self.view, self.priors)
        size = (running.done + DELAY) ** -FORGETTING
        sums = running.sums
        sums.scale(1.0 - size)
        sums.add(batch, size)
        running = self._moved(state, sums, running.done + 1)
        return running, {"bound": bound, "n_components": float(running.state.n_components)}

    def _some(self, rng: np.random.Generator, n: int) -> np.ndarray:
        if n >= len(self.label):
            return np.arange(len(self.label))
        return np.sort(rng.choice(len(self.label), n, replace=False, shuffle=False))

    def _moved(self, state: GatedState, sums: GatedSums, done: int) -> Running:
        order, _ = components_in_order(state, sums, self.priors)
        state = updated(state, sums, self.view, self.priors)
        return Running(state, sums.reordered(order), done)

    def _sum_up(self, some: np.ndarray, now: Expectations) -> GatedSums:
        sums = GatedSums.nothing(self.view, now.n_components, now.n_latents)
        for block in self._blocks(some):
            sums.add(self._look(block, now)[0])
        return sums

    def _look(self, block: Block, now: Expectations) -> tuple[GatedSums, np.ndarray]:
        latent = guesses = None
        if now.n_latents and block.label[0] >= 0:
            target = first_latents(block.label, self.n_classes, now.n_latents)
            latent = np.repeat(target[:, None], now.n_components, axis=1)
        if block.sort == GUESSED:
            guesses = Guesses(self.view, block, first_guesses(self.view, block, now.tables))
        rounds = 1 if guesses is None and now.n_latents < 2 else INNER_ROUNDS
        for _ in range(rounds):
            part, rho, latent = expect(block, now, latent, guesses)
        return part, rho

    def _blocks(self, some: np.ndarray) -> list[Block]:
        rows, label, weight = self.rows.take(some), self.label[some], self.weight[some]
        return make_blocks(self.view, rows, label, weight, self.priors.n_sticks, self.priors.experts is not None)

    def responsibilities(self, running: Running, rng: np.random.Generator) -> np.ndarray:
        """(rows, H) of some rows, for the number of components that hold rows."""
        some, now = self._some(rng, START_ROWS), expectations(running.state, self.view)
        rho = np.empty((len(some), now.n_components))
        for block in self._blocks(some):
            rho[block.index] = self._look(block, now)[1]
        return rho


def _without_rows(state: GatedState) -> GatedState:
    return replace(state, rho=np.zeros((0, state.n_components)), latent=None, guesses=[])
