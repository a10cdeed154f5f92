"""Moves of whole components, gates, experts and sticks integrated out: split, merge, exchange of sticks.

Split and merge [1]: two rows are picked without a look at z. In one component: they become the seeds of two, to which
the other rows are allotted independently, with probabilities that a few rounds of expectation and maximisation from the
seeds end in; the second takes an empty stick, chosen by what the sticks think of it. In two components: these become
one, and the same probabilities say how likely the way back is. The rounds see nothing but the rows of both and the
seeds, so they are the same in both directions, and acceptance is exact. `gibbs_jumps` does the same with missing cells
integrated out.

[1] S. Jain and R. M. Neal (2004), A split-merge Markov chain Monte Carlo procedure for the Dirichlet process mixture
model, Journal of Computational and Graphical Statistics 13, 158-182.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from .gibbs_draws import log_sticks
from .gibbs_marginal import Members
from .gibbs_state import GibbsState, Given, Moves

ROUNDS = 4  # most rounds from the seeds


def pick_pair(rng: np.random.Generator, label: np.ndarray, apart: float, alike: bool) -> tuple[int, int] | None:
    """Two rows; in a share `apart` of the cases with different labels (`alike`: with the same one), else any two."""
    n = len(label)
    if n < 2:
        return None
    i = int(rng.integers(n))
    if rng.random() < apart and label[i] >= 0:
        wanted = label == label[i] if alike else (label != label[i]) & (label >= 0)
        wanted[i] = False
        others = np.flatnonzero(wanted)
        if len(others):
            return i, int(rng.choice(others))
    j = int(rng.integers(n - 1))
    return i, j + (j >= i)


def allotment(members: Members, i: int, j: int, rounds: int) -> np.ndarray:
    """(m,) log odds that a row belongs to the component of seed j rather than that of seed i (places in members)."""
    weight = np.zeros((len(members.index), 2))
    weight[i, 0] = weight[j, 1] = 1.0
    for _ in range(rounds):
        sums = members.sums(weight)
        scores = members.log_predictive(sums) + np.log(sums.count)
        odds = np.clip(scores[:, 1] - scores[:, 0], -700.0, 700.0)
        weight[:, 1] = 1.0 / (1.0 + np.exp(-odds))
        weight[:, 0] = 1.0 - weight[:, 1]
        weight[i], weight[j] = (1.0, 0.0), (0.0, 1.0)
    return odds


def _log_share(odds: np.ndarray, second: np.ndarray, i: int, j: int) -> float:
    """Log probability of an allotment, `second` (m,) saying who belongs to seed j; the seeds are where they are."""
    each = -np.logaddexp(0.0, np.where(second, -odds, odds))
    each[[i, j]] = 0.0
    return float(each.sum())


def _stick_choices(counts: np.ndarray, kept: int, moved: int, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Empty sticks that `moved` rows of stick `kept` could take, and log p(z | alpha) for each."""
    free = np.flatnonzero(counts == 0)
    trials = np.repeat(counts[None], len(free), axis=0).astype(float)
    trials[:, kept] -= moved
    trials[np.arange(len(free)), free] = moved
    return free, log_sticks(trials, alpha)


def _normalised(logs: np.ndarray) -> np.ndarray:
    top = logs.max()
    return logs - top - np.log(np.exp(logs - top).sum())


class Way(Protocol):
    """How the rows `index` of one or two components are allotted and judged."""

    @property
    def index(self) -> np.ndarray: ...

    def odds(self, i: int, j: int, rounds: int) -> np.ndarray:
        """(m,) log odds that a row belongs to the component of seed j rather than that of seed i, places in `index`."""

    def gain(self, second: np.ndarray) -> float:
        """Log marginal likelihood of two components, `second` (m,) saying who is in the other, over that of one."""


@dataclass(eq=False)
class Completed:
    """Missing cells and latents as they are drawn, gates and experts integrated out."""

    members: Members

    @property
    def index(self) -> np.ndarray:
        return self.members.index

    def odds(self, i: int, j: int, rounds: int) -> np.ndarray:
        return allotment(self.members, i, j, rounds)

    def gain(self, second: np.ndarray) -> float:
        weight = np.stack([~second, second, np.ones(len(second), bool)], axis=1).astype(float)
        parts = self.members.log_marginal(weight)
        return float(parts[0] + parts[1] - parts[2])


def split_or_merge(rng: np.random.Generator, given: Given, state: GibbsState, moves: Moves) -> tuple[GibbsState, str]:
    """One attempt; what came of it is "split", "merge" or "none"."""
    pair = pick_pair(rng, given.label, moves.apart, not given.n_latents)
    rounds, chance = int(rng.integers(1, ROUNDS + 1)), float(np.log(1.0 - rng.random()))
    if pair is None:
        return state, "none"
    way = Completed(Members.of(given, state, together(state, *pair)))
    if state.z[pair[0]] == state.z[pair[1]]:
        z = split(rng, state, way, pair, rounds, chance)
        return (state, "none") if z is None else (replace(state, z=z), "split")
    z = merge(state, way, pair, rounds, chance)
    return (state, "none") if z is None else (replace(state, z=z), "merge")


def together(state: GibbsState, i: int, j: int) -> np.ndarray:
    """All rows of the components of two rows."""
    return np.flatnonzero((state.z == state.z[i]) | (state.z == state.z[j]))


def split(
    rng: np.random.Generator, state: GibbsState, way: Way, pair: tuple[int, int], rounds: int, chance: float
) -> np.ndarray | None:
    """Sticks of all rows after a split, if it is accepted."""
    counts, kept, alpha = state.counts, int(state.z[pair[0]]), state.parameters.alpha
    if counts.min() > 0:
        return None
    at_i, at_j = np.searchsorted(way.index, pair)
    odds = way.odds(at_i, at_j, rounds)
    second = rng.random(len(odds)) < 1.0 / (1.0 + np.exp(-odds))
    second[at_i], second[at_j] = False, True
    free, logs = _stick_choices(counts, kept, int(second.sum()), alpha)
    log_choice = _normalised(logs)
    taken = int(np.searchsorted(np.cumsum(np.exp(log_choice)), rng.random()).clip(max=len(free) - 1))
    gain = logs[taken] - log_sticks(counts.astype(float), alpha)
    gain += way.gain(second)
    if not chance < gain - log_choice[taken] - _log_share(odds, second, at_i, at_j):
        return None
    z = state.z.copy()
    z[way.index[second]] = free[taken]
    return z


def merge(state: GibbsState, way: Way, pair: tuple[int, int], rounds: int, chance: float) -> np.ndarray | None:
    """Sticks of all rows after a merge, if it is accepted."""
    counts, alpha = state.counts, state.parameters.alpha
    kept, emptied = (int(state.z[i]) for i in pair)
    second = state.z[way.index] == emptied
    merged = counts.copy()
    merged[kept] += merged[emptied]
    merged[emptied] = 0
    gain = log_sticks(merged.astype(float), alpha) - log_sticks(counts.astype(float), alpha)
    gain -= way.gain(second)
    if not chance < gain:  # the way back is no more than certain
        return None
    free, logs = _stick_choices(merged, kept, int(counts[emptied]), alpha)
    back = _normalised(logs)[np.searchsorted(free, emptied)]
    at_i, at_j = np.searchsorted(way.index, pair)
    if not chance < gain + back + _log_share(way.odds(at_i, at_j, rounds), second, at_i, at_j):
        return None
    z = state.z.copy()
    z[way.index] = kept
    return z


def exchange_sticks(rng: np.random.Generator, state: GibbsState, attempts: int) -> GibbsState:
    """Exchange pairs of sticks, any two or neighbours by turns; their rows go with them."""
    counts, alpha = state.counts.astype(float), state.parameters.alpha
    n = len(counts)
    if n < 2:
        return state
    place = np.arange(n)  # place[k]: the stick that now holds what was at stick k
    holder = np.arange(n)
    now = float(log_sticks(counts, alpha))
    for attempt in range(attempts):
        a = int(rng.integers(n - 1))
        b = a + 1
        if attempt % 2:
            b = int(rng.integers(n - 1))
            b += b >= a
        chance = np.log(1.0 - rng.random())
        if counts[a] == counts[b]:
            log_new = now
        else:
            counts[[a, b]] = counts[[b, a]]
            log_new = float(log_sticks(counts, alpha))
            counts[[a, b]] = counts[[b, a]]
        if chance < log_new - now:
            counts[[a, b]] = counts[[b, a]]
            holder[[a, b]] = holder[[b, a]]
            now = log_new
    place[holder] = np.arange(n)
    return replace(state, z=place[state.z].astype(np.int32))
