"""Split and merge with missing Gaussian cells and the latents of two classes integrated out.

Drawn cells look like the component they were drawn in, so that with many of them no split that takes them as they are
is ever accepted. Here rows are allotted by their observed cells, missing ones expected in a variational fit that starts
from the two seeds, and both sides are judged by estimates of their evidence (`gibbs_evidence`), which also draw the
missing cells and the experts that go with them. Gates are integrated out, so the move stands before a draw of the
parameters; experts are those that the latents were drawn with.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from .gibbs_evidence import log_evidence
from .gibbs_fits import Expert, Fit, Part
from .gibbs_marginal import log_marginal_of_cells, log_marginal_of_labels
from .gibbs_moves import merge, pick_pair, split, together
from .gibbs_state import GibbsState, Given, Moves, features_of
from .gibbs_variates import above

Drawn = tuple[np.ndarray, np.ndarray, np.ndarray]  # places of rows, their Gaussian cells, an expert
LEAST_ROUNDS, MOST_ROUNDS = 2, 10  # from the seeds
EVENLY = 0.6  # share of the pairs that are picked by components


@dataclass(eq=False)
class Unfilled:
    """Rows `index` of the sticks of a pair of rows (`sticks`, the same one twice before a split); `drawn` are the cells
    and experts of one component and of two, once the gain was asked for. `evenly`: how the pair was picked."""

    rng: np.random.Generator
    given: Given
    state: GibbsState
    index: np.ndarray
    sticks: tuple[int, int]
    steps: int
    evenly: bool
    drawn: list[Drawn] = field(default_factory=list)

    @property
    def apart(self) -> bool:
        return self.sticks[0] != self.sticks[1]

    def odds(self, i: int, j: int, rounds: int) -> np.ndarray:
        part = Part.of(self.given, self.state, self.index)
        weight = np.zeros((len(self.index), 2))
        weight[i, 0] = weight[j, 1] = 1.0
        fit = Fit.begin(part, Expert.prior(self.state.parameters), 2)
        for _ in range(rounds):
            fit = fit.passed(weight)
            scores = fit.scores()
            odds = np.clip(scores[:, 1] - scores[:, 0], -700.0, 700.0)
            weight[:, 1] = 1.0 / (1.0 + np.exp(-odds))
            weight[:, 0] = 1.0 - weight[:, 1]
            weight[i], weight[j] = (1.0, 0.0), (0.0, 1.0)
        return odds

    def gain(self, second: np.ndarray) -> float:
        sides = (np.ones(len(second), bool), ~second, second)
        fixed = [self._fixed(mine) for mine in sides]
        if fixed[0] == -np.inf:
            return np.inf  # one class each, and two together: never to be merged
        owners = (None, *self.sticks) if self.apart else (self.sticks[0], None, None)
        total, self.drawn = self._of_pick(second) if self.evenly else 0.0, []
        for sign, mine, own, owner in zip((-1.0, 1.0, 1.0), sides, fixed, owners, strict=True):
            index, now = self.index[mine], None
            if owner is not None:
                now = (self.state.x[index], self.state.parameters.w[owner])
            part = Part.of(self.given, self.state, index)
            value, x, w = log_evidence(self.rng, part, Expert.prior(self.state.parameters), self.steps, now)
            total += sign * (own + value)
            self.drawn.append((index, x, w))
        return total

    def _of_pick(self, second: np.ndarray) -> float:
        """Log probability of the pair where there are two components, over that where there is one."""
        n, other = len(second), int(second.sum())
        both = self.state.n_components + (not self.apart)
        log_two = -np.log(float(both * (n - other)) * 2.0 * (both - 1) * other)
        log_one = -np.log(float((both - 1) * n) * (2.0 if both > 2 else 1.0) * (n - 1))
        return float(log_two - log_one)

    def _fixed(self, mine: np.ndarray) -> float:
        """What has a closed form: cells beside the Gaussian block, and classes of class-pure gates."""
        view, index = self.given.view, self.index[mine]
        ones = np.ones((len(index), 1))
        sums = [column.statistics(ones, self.state.levels[j, index]) for j, column in enumerate(view.cells)]
        out = float(np.sum(log_marginal_of_cells(view, sums)))
        if not self.given.n_latents:
            out += log_marginal_of_labels(self.given.label[index], self.given.n_classes)
        return out


def pick_evenly(rng: np.random.Generator, z: np.ndarray) -> tuple[int, int] | None:
    """A row of any component, all components alike; with even chances another of its rows or one of another component,
    again all of them alike. Pairs of rows alone hardly ever lie in two small components."""
    used = np.unique(z)
    first = int(rng.choice(used))
    mine = np.flatnonzero(z == first)
    i = int(rng.choice(mine))
    if len(used) == 1 or rng.random() < 0.5:
        mine = mine[mine != i]
        return (i, int(rng.choice(mine))) if len(mine) else None
    other = int(rng.choice(used[used != first]))
    return i, int(rng.choice(np.flatnonzero(z == other)))


def jump(rng: np.random.Generator, given: Given, state: GibbsState, moves: Moves) -> tuple[GibbsState, str]:
    """One attempt; what came of it is "split", "merge" or "none"."""
    evenly = bool(rng.random() < EVENLY)
    if evenly:
        pair = pick_evenly(rng, state.z) if given.n_rows else None
    else:
        pair = pick_pair(rng, given.label, moves.apart, not given.n_latents)
    rounds, chance = int(rng.integers(LEAST_ROUNDS, MOST_ROUNDS + 1)), float(np.log(1.0 - rng.random()))
    if pair is None:
        return state, "none"
    first, other = (int(state.z[i]) for i in pair)
    way = Unfilled(rng, given, state, together(state, *pair), (first, other), moves.steps, evenly)
    if not way.apart:
        z = split(rng, state, way, pair, rounds, chance)
        if z is None:
            return state, "none"
        return _settled(rng, given, state, z, [first, int(z[pair[1]])], way.drawn[1:]), "split"
    z = merge(state, way, pair, rounds, chance)
    if z is None:
        return state, "none"
    idle = Expert.prior(state.parameters).draw(rng)
    nobody = np.zeros(0, np.intp)
    drawn = [way.drawn[0], (nobody, np.zeros((0, given.view.width)), idle)]
    return _settled(rng, given, state, z, [first, other], drawn), "merge"


def _settled(
    rng: np.random.Generator, given: Given, state: GibbsState, z: np.ndarray, sticks: list[int], drawn: list[Drawn]
) -> GibbsState:
    """The state with the rows and experts of some sticks; latents of two classes, integrated out before, are drawn."""
    x, latent, w = state.x.copy(), state.latent.copy(), state.parameters.w.copy()
    for h, (index, cells, expert) in zip(sticks, drawn, strict=True):
        x[index], w[h] = cells, expert
        if given.n_latents == 1:
            seen = index[given.looked_at[index]]
            features = np.concatenate([x[seen], features_of(given.view, state.levels[:, seen])], axis=1)
            sign = np.where(given.label[seen] == 1, 1.0, -1.0)
            latent[seen, 0] = sign * above(rng, sign * (features @ expert[0]), np.zeros(len(seen)))
    return replace(state, z=z, x=x, latent=latent, parameters=replace(state.parameters, w=w))
