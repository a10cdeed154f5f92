"""Blocked Gibbs sampling of gated experts as a sampler: `init` and `step(rng, state) -> (state, info)`.

A step draws rows given parameters; splits or merges components by the observed cells of their rows; then, parameters
integrated out, seats some rows anew and moves whole components; then parameters given rows; and stretches experts.
Weights are whole numbers: a row of weight k stands k times in the chain, each with a component and latents of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from ...kernels.contract import Rows
from .gibbs_draws import draw_parameters
from .gibbs_jumps import jump
from .gibbs_moves import exchange_sticks, split_or_merge
from .gibbs_reseat import reseat
from .gibbs_rows import draw_rows
from .gibbs_start import first_chain
from .gibbs_state import GibbsState, Given, Moves
from .gibbs_stretch import stretch
from .rows import View, make_blocks
from .state import Priors
from .warm import drawn

__all__ = ["GibbsProblem", "Moves"]


@dataclass(eq=False)
class GibbsProblem:
    """What one chain is given.

    source   (n,) the row of the caller's table that each row of the chain is
    k        clusters per class that a chain starts from
    start    (rows of the caller's table, H) log probabilities of the components a chain starts from instead
    """

    given: Given
    source: np.ndarray
    k: int = 3
    moves: Moves = field(default_factory=Moves)
    start: np.ndarray | None = None

    @classmethod
    def make(
        cls, view: View, rows: Rows, label: np.ndarray, weight: np.ndarray, n_classes: int, priors: Priors, k: int = 3,
        moves: Moves | None = None,
    ) -> GibbsProblem:  # fmt: skip
        times = np.asarray(weight).astype(np.int64)
        assert (times == weight).all() and (times >= 0).all(), "weights of Gibbs chains are whole numbers"
        source = np.repeat(np.arange(len(label)), times)
        own = rows if (times == 1).all() else rows.take(source)
        known = np.asarray(label)[source]
        blocks = make_blocks(view, own, known, np.ones(len(source)), priors.n_sticks, priors.experts is not None)
        given = Given(view, priors, blocks, known, n_classes)
        if not given.n_latents and n_classes > priors.n_sticks:
            raise ValueError(
                f"n_components={priors.n_sticks} is fewer than the {n_classes} classes, but without experts every "
                "class needs a component of its own; raise n_components"
            )
        return cls(given, source, k, moves if moves is not None else Moves())

    def init(self, rng: np.random.Generator) -> GibbsState:
        """Clusters of k-means within classes as components, and parameters drawn from them."""
        cluster = None if self.start is None else drawn(self.start[self.source], rng)
        return draw_parameters(rng, self.given, first_chain(rng, self.given, self.k, cluster), self.moves.alpha)

    def step(self, rng: np.random.Generator, state: GibbsState) -> tuple[GibbsState, Mapping[str, float]]:
        state, log_likelihood = draw_rows(rng, self.given, state, self.moves.scans)
        done = {"split": 0, "merge": 0, "none": 0}
        for _ in range(int(self.moves.jumps + rng.random())):
            state, what = jump(rng, self.given, state, self.moves)
            done[what] += 1
        state = reseat(rng, self.given, state, self.moves.reseat)
        for _ in range(self.moves.split_merge):
            state, what = split_or_merge(rng, self.given, state, self.moves)
            done[what] += 1
        state = exchange_sticks(rng, state, self.moves.swaps * self.given.priors.n_sticks)
        state = draw_parameters(rng, self.given, state, self.moves.alpha)
        state = stretch(rng, self.given, state, self.moves.stretches)
        return state, {
            "log_likelihood": log_likelihood,
            "n_components": float(state.n_components),
            "largest": state.counts.max() / len(state.z),
            "log_alpha": float(np.log(state.parameters.alpha)),
            "splits": float(done["split"]),
            "merges": float(done["merge"]),
        }
