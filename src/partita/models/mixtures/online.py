"""A stream as an object: rows in, an ensemble out, everything in between a tree that can be saved."""

from __future__ import annotations

import copy
import os
import time
from dataclasses import fields
from typing import Any

import numpy as np

from ...data.archive import read_archive, write_archive
from ...data.table import Table
from ...data.telling import tell
from ...inference.brake import Brake
from ...inference.loop import FitInterrupted, count_workers
from ...inference.monitor import make_monitor
from ...inference.runner import Runner
from ...inference.streams import generator_from_tree, generator_to_tree
from ...kernels import kernel
from ...kernels.contract import Filter, Rows
from ...priors.partition import log_probability_of_room
from ..lens import Lens
from . import predictive, stream, vote
from .bank import Bank, Reservoir, Rule, bank_predictive
from .ensemble import Ensemble, lean
from .filter import weights
from .group_numbers import GroupNumbers, number_of_groups
from .problem import CLASS_PSEUDO_COUNT
from .rejuvenation import count_proposals, sweep_chain, to_chain
from .vote import Member

# states averaged for a prediction: a short run over the reservoir from where each bank stands
SETTLING_SWEEPS, SETTLING_THIN = 8, 2
# rows learnt between two looks at the clock: few at first, then as many as take about this many seconds
FIRST_ROWS, MOST_ROWS, SECONDS = 20, 2000, 0.1


class Online:
    """Banks of filters over one lens."""

    def __init__(self, lens: Lens, rule: Rule, banks: list[Bank], reservoir: Reservoir,
                 streams: list[np.random.Generator], chooser: np.random.Generator, log_units: float = 0.0):  # fmt: skip
        """`log_units` adds up what turns densities of the rows seen into densities in the caller's units."""
        self.lens, self.rule, self.banks, self.reservoir = lens, rule, banks, reservoir
        self.streams, self.chooser, self.log_units = streams, chooser, log_units

    @classmethod
    def begin(cls, lens: Lens, table: Table, rule: Rule, streams: list[np.random.Generator]) -> Online:
        """Nothing seen yet; the last stream decides about the reservoir."""
        banks, reservoir = stream.open_stream(lens.layout, lens.rows(table.take(slice(0, 0))), rule, len(streams) - 1)
        return cls(lens, rule, banks, reservoir, streams[:-1], streams[-1])

    def learn(self, table: Table, label: np.ndarray, runner: Runner, fingerprint: str = "") -> bool:
        """Learn from the rows in their order, a few at a time: whether it got to the end.

        Between these parts it reports progress, looks at the time, writes the checkpoint and heeds Ctrl-C. How the
        rows are cut does not change what is learnt.
        """
        n, done, begin = len(table), 0, time.monotonic()
        if runner.checkpoint is not None and os.path.exists(runner.checkpoint):
            done = self._resume(runner.checkpoint, fingerprint)
        monitor, last = make_monitor(runner.progress, n, runner.label), time.monotonic()
        n_next = FIRST_ROWS
        with Brake() as brake:
            while done < n:
                part, started = slice(done, min(done + n_next, n)), time.monotonic()
                rows = self.lens.rows(table.take(part))
                stream.learn(
                    self.lens.layout, rows, label[part], self.rule, self.banks, self.reservoir, self.streams,
                    self.chooser, count_workers(runner.n_jobs),
                )  # fmt: skip
                # one after the other, so that sums do not depend on how rows are cut
                self.log_units = float(np.cumsum([self.log_units, *self.lens.log_jacobian(rows)])[-1])
                done = part.stop
                n_next = _next_rows(n_next, time.monotonic() - started)
                monitor.update(done, {})
                late = runner.time_budget is not None and time.monotonic() - begin > runner.time_budget
                if runner.checkpoint and (done == n or late or brake.keyboard or time.monotonic() - last > 30):
                    tree = {"fingerprint": fingerprint, "done": done, "stream": self.to_tree()}
                    write_archive(runner.checkpoint, "stream checkpoint", tree)
                    last = time.monotonic()
                if brake.keyboard or late:
                    break
        monitor.close()
        if done < n:
            why = "Ctrl-C" if brake.keyboard else f"time_budget={runner.time_budget} s"
            tell(
                f"stopped by {why} after {done} of {n} rows; the model has learnt from these",
                FitInterrupted,
            )
        return done == n

    def _resume(self, path: str, fingerprint: str) -> int:
        tree = read_archive(path, "stream checkpoint")
        if tree["fingerprint"] != fingerprint:
            raise ValueError(
                f"checkpoint={path!r} was written by a fit with other data or other parameters; delete the file to "
                "start anew, or choose another path"
            )
        vars(self).update(vars(Online.from_tree(tree["stream"], self.rule)))
        return int(tree["done"])

    @property
    def _settles(self) -> bool:
        """Whether the banks can be run on over the reservoir: single particles that rejuvenation moves."""
        return bool(self.rule.n_sweeps and self.rule.n_particles == 1 and self.reservoir.filled)

    def ensemble(self, n_jobs: int | None) -> Ensemble:
        """What the banks say now. With rejuvenation, states of a short run over the reservoir are averaged; the banks
        and their random streams stay as they are."""
        layout = self.lens.layout
        counts = np.mean([bank.class_count for bank in self.banks], axis=0)
        if not self._settles:
            weight = self._bank_weights()
            counts = np.average([bank.class_count for bank in self.banks], axis=0, weights=weight)
            states = [lean(bank_predictive(layout, bank), bank.class_count, counts) for bank in self.banks]
            return self._gather(states, weight, counts, n_jobs)
        states, left_out, proposals = [], [], count_proposals(self.rule, self.banks, self.reservoir.effort)
        known = np.flatnonzero(self.reservoir.label[: self.reservoir.filled] >= 0)
        for bank, rng in zip(self.banks, copy.deepcopy(self.streams), strict=True):
            chain = to_chain(layout, bank, 0, self.rule.settings.cap)
            for s in range(SETTLING_SWEEPS):
                sweep_chain(layout, self.rule, chain, self.reservoir, rng, proposals)
                if s % SETTLING_THIN == SETTLING_THIN - 1:
                    states.append(lean(predictive.snapshot(layout, chain), chain.size[0].sum(axis=1), counts))
                    if self.rule.n_classes > 1:
                        left_out.append(self._left_out(chain, known))
        members = None
        if left_out:
            prior = np.log((counts + CLASS_PSEUDO_COUNT) / (counts + CLASS_PSEUDO_COUNT).sum())
            label = self.reservoir.label[known]
            members = vote.choose_members(np.stack(left_out), label, prior, np.zeros(len(states), int))
        return self._gather(states, np.full(len(states), 1 / len(states)), counts, n_jobs, members)

    def _gather(self, states, weight, counts, n_jobs, members: list[Member] | None = None) -> Ensemble:
        """States of one kind; by themselves they answer by their weighted mean density, as Bayes' rule has it."""
        kind = np.zeros(len(states), int)
        if members is None:
            members = [Member(0, vote.DENSITIES)]
        named = self.reservoir.named
        return Ensemble(
            [self.lens], states, [0] * len(states), weight, counts, kind, members, count_workers(n_jobs),
            alike=None if named is None or named.sum() >= len(named) - 1 else ~named,
        )  # fmt: skip

    def _bank_weights(self) -> np.ndarray:
        """Banks by their evidence; rejuvenated ones are draws from (nearly) the same law and count alike."""
        weight = np.array([bank.log_weight for bank in self.banks])
        weight = np.full(len(self.banks), 1.0) if self.rule.n_sweeps else np.exp(weight - weight.max())
        return weight / weight.sum()

    def group_numbers(self, ensemble: Ensemble) -> GroupNumbers:
        """In the settled states of `ensemble`, where the banks are rejuvenated (rows after the last rejuvenation are
        seated by one pass only); else in all particles by weight, those of the classes of a bank being independent.
        """
        if self._settles:
            used = np.array([state.used[0] - 1 for state in ensemble.states])  # without the new group
            return GroupNumbers.of_states(used, ensemble.weight)
        of_banks = [[number_of_groups(f.used.tolist(), weights(f)) for f in bank.filters] for bank in self.banks]
        return GroupNumbers.of_independent(of_banks, self._bank_weights())

    def log_evidence(self) -> float | None:
        """Estimated log p(rows, labels given) in the caller's units, for the plain filter; after rejuvenation it would
        be that of no model.

        exp of it is unbiased: weights accumulate, and keep their mean where banks are resampled. Filters sum over
        partitions under the cap and the prior puts its mass on these alone; where labels are missing that share is
        left out.
        """
        if self.rule.n_sweeps:
            return None
        each = np.array([bank.log_weight for bank in self.banks])
        room = 0.0 if self.reservoir.unlabelled else sum(map(_log_room, self.banks[0].filters))
        return float(each.max() + np.log(np.mean(np.exp(each - each.max()))) - room + self.log_units)

    def _left_out(self, chain, known: np.ndarray) -> np.ndarray:
        out = np.empty((len(self.reservoir.rows), self.rule.n_classes))
        seated = copy.copy(chain)
        seated.label = np.where(chain.z[0] >= 0, chain.label, -1).astype(np.int32)
        kernel.leave_one_out(self.lens.layout, self.reservoir.rows, seated, out)
        return out[known]

    def to_tree(self) -> dict[str, Any]:
        return {
            "lens": self.lens.to_tree(),
            "banks": [_bank_tree(bank) for bank in self.banks],
            "reservoir": {**vars(self.reservoir), "rows": vars(self.reservoir.rows)},
            "streams": [generator_to_tree(g) for g in self.streams],
            "chooser": generator_to_tree(self.chooser),
            "log_units": self.log_units,
        }

    @classmethod
    def from_tree(cls, tree: dict[str, Any], rule: Rule) -> Online:
        banks = [Bank(**{**bank, "filters": [Filter(**f) for f in bank["filters"]]}) for bank in tree["banks"]]
        reservoir = Reservoir(**{**tree["reservoir"], "rows": Rows(**tree["reservoir"]["rows"])})
        streams = [generator_from_tree(g) for g in tree["streams"]]
        chooser = generator_from_tree(tree["chooser"])
        return cls(Lens.from_tree(tree["lens"]), rule, banks, reservoir, streams, chooser, tree["log_units"])


def _next_rows(n_rows: int, seconds: float) -> int:
    """How many rows to learn from after so many took so long."""
    wanted = n_rows * SECONDS / max(seconds, 1e-9)
    return int(np.clip(wanted, 1, min(4 * n_rows, MOST_ROWS)))


def _log_room(f: Filter) -> float:
    """log P(no more groups than the cap) of as many rows as a filter has seen."""
    return float(log_probability_of_room(int(f.totals[0]), float(np.mean(f.alpha)), f.cap))


def _bank_tree(bank: Bank) -> dict[str, Any]:
    tree = {f.name: getattr(bank, f.name) for f in fields(bank)}
    tree["filters"] = [vars(f) for f in bank.filters]
    tree["log_weight"] = float(bank.log_weight)
    return tree
