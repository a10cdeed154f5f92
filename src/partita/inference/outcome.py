"""What a run of chains leaves behind, for whoever goes on with it, uses it or judges it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.inference.checkpoint import Chain


@dataclass
class Outcome:
    """What a run leaves: to continue (`states`, `streams`), to use (`kept`) and to judge (`infos`).

    `kept` has one list per chain; `infos` one array (chains, steps) per name, NaN where a chain did not get so far or
    a step gave no such value; `steps_done` one count per chain; `interrupted` is None, "keyboard" or "time".
    """

    states: list[Any]
    kept: list[list[Any]]
    infos: dict[str, np.ndarray]
    steps_done: list[int]
    interrupted: str | None
    streams: list[np.random.Generator]

    def take(self, chains: Sequence[int]) -> Outcome:
        """Some of the chains by themselves, nothing kept of them yet."""
        return Outcome(
            states=[self.states[k] for k in chains],
            kept=[[] for _ in chains],
            infos={name: trace[list(chains)] for name, trace in self.infos.items()},
            steps_done=[self.steps_done[k] for k in chains],
            interrupted=None,
            streams=[self.streams[k] for k in chains],
        )

    @classmethod
    def side_by_side(cls, outcomes: Sequence[Outcome]) -> Outcome:
        """Runs of equally many steps as one, nothing kept of them yet."""
        return cls(
            states=[state for one in outcomes for state in one.states],
            kept=[[] for one in outcomes for _ in one.states],
            infos={name: np.concatenate([one.infos[name] for one in outcomes]) for name in outcomes[0].infos},
            steps_done=[steps for one in outcomes for steps in one.steps_done],
            interrupted=None,
            streams=[stream for one in outcomes for stream in one.streams],
        )

    def common_infos(self) -> dict[str, np.ndarray]:
        """The infos of the steps that every chain has done, as the diagnostics want them."""
        return {name: trace[:, : min(self.steps_done)] for name, trace in self.infos.items()}

    @classmethod
    def of(cls, chains: Sequence[Chain], interrupted: str | None) -> Outcome:
        """What the chains hold at the end of a run."""
        names = list(dict.fromkeys(name for chain in chains for name in chain.infos))
        length = max(chain.done for chain in chains)
        return cls(
            states=[chain.state for chain in chains],
            kept=[chain.kept for chain in chains],
            infos={name: np.stack([chain.trace(name, length) for chain in chains]) for name in names},
            steps_done=[chain.done for chain in chains],
            interrupted=interrupted,
            streams=[chain.rng for chain in chains],
        )
