"""A chain on its way, and what chains decide together: how many components they have, and when burn-in ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .settling import settled
from .state import State


@dataclass
class Walker:
    """A chain on its way: the loop's state. It begins within its first step, so that starts run in parallel too.

    burn_in      sweeps of burn-in of this run, as far as is known yet
    begun        sweeps that its state had done when this run began
    components   how many components the chains have agreed on; None: not yet
    """

    burn_in: int
    state: State | None = None
    begun: int = 0
    components: int | None = None

    @property
    def done(self) -> int:
        return 0 if self.state is None else self.state.sweep - self.begun

    def to_tree(self) -> dict[str, Any]:
        return {**vars(self), "state": None if self.state is None else self.state.to_tree()}

    @classmethod
    def from_tree(cls, tree: dict[str, Any]) -> Walker:
        return cls(**{**tree, "state": None if tree["state"] is None else State.from_tree(tree["state"])})


def agree(walkers: list[Walker]) -> list[Walker]:
    """One number of components for all chains: the largest. On ratings small components fade into the noise without an
    end, so that their number is no property of the posterior, but noise and likelihood depend on it a little: chains
    with numbers of their own would never agree on those.
    """
    if any(walker.components is not None for walker in walkers):
        return walkers
    most = max(walker.state.n_components for walker in walkers if walker.state is not None)
    return [replace(walker, components=most) for walker in walkers]


def go_on(walkers: list[Walker], traces: Sequence[Mapping[str, Sequence[float]]], n_cells: int) -> list[Walker]:
    """Where burn-in ends: twice as much of it if a chain has not settled. Its components may then die again."""
    if all(settled(trace["log_likelihood"][: walker.done], n_cells) for walker, trace in zip(walkers, traces)):
        return walkers
    return [replace(walker, burn_in=2 * walker.burn_in, components=None) for walker in walkers]
