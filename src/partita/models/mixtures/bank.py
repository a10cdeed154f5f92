"""What a stream is made of: banks (one hypothesis about everything each), a reservoir of past rows, and the rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from ...kernels.contract import FIRST_RESTAURANT, Filter, Layout, Predictive, Rows, pad
from .filter import ready_empty_group, weights
from .problem import CLASS_PSEUDO_COUNT, Settings


@dataclass
class Rule:
    """How the stream is learnt."""

    n_classes: int
    n_particles: int = 1
    n_sweeps: int = 2
    window: int = 1000  # rows in the reservoir
    block: int = 100  # rows between rejuvenations
    scheme: int = 0
    threshold: float = 0.5
    settings: Settings = None  # type: ignore[assignment]


@dataclass
class Bank:
    """One hypothesis: a filter per class."""

    hyper: np.ndarray
    at: np.ndarray
    filters: list[Filter]
    class_count: np.ndarray
    label: np.ndarray  # int32 (window,): label of each row in the reservoir, drawn where it is missing
    log_weight: float = 0.0  # of all rows and given labels, as `weigh` makes it
    aside: float = 0.0  # what of it is not the filters' evidence and the labels': by drawn labels, and where resampled

    def weigh(self) -> None:
        """The log weight from the sums that go row by row: added up call by call, its last bits would depend on how the
        stream is cut.
        """
        evidence = sum(float(f.totals[1]) for f in self.filters)
        labels = log_label_prior(self.class_count) - log_label_prior(np.zeros(len(self.class_count)))
        self.log_weight = evidence + labels + self.aside


def log_label_prior(count: np.ndarray) -> float:
    """log probability of labels counted so, Dirichlet prior, up to a constant."""
    return float(gammaln(count + CLASS_PSEUDO_COUNT).sum() - gammaln((count + CLASS_PSEUDO_COUNT).sum()))


@dataclass
class Reservoir:
    """A bounded sample of past rows: every new row enters, in the place of a random one when full; and what the banks
    have in common about seating them anew.
    """

    rows: Rows
    label: np.ndarray  # int32 (window,), -1: none given
    filled: int = 0
    seen: int = 0
    unlabelled: bool = False  # whether a row without a label has come yet
    effort: float = 0.5  # split-merge proposals per group and sweep, where their number is not given
    named: np.ndarray | None = None  # bool (classes,): which a label has named; None: all


def bank_predictive(layout: Layout, bank: Bank) -> Predictive:
    """All particles of a bank as one mixture a class: shared groups are there once, with their weights added up."""
    per_class = []
    for f in bank.filters:
        w, total = weights(f), np.zeros(len(f.size))
        n = f.totals[0]
        for p in range(len(f.used)):
            seats = f.seats[p, : f.used[p]]
            new = f.alpha[p] if f.used[p] < f.cap else 0.0
            total[seats] += w[p] * f.size[seats] / (n + new)
            total[0] += w[p] * new / (n + new)
        held = np.concatenate([f.seats[p, : f.used[p]] for p in range(len(f.used))])
        _, first = np.unique(held, return_index=True)
        # in the order of the seats, which does not depend on how the stream was cut into calls; the empty group last
        per_class.append((np.append(held[np.sort(first)], 0).astype(int), total))
    room = pad(max(len(groups) for groups, _ in per_class))
    C = len(bank.filters)
    state = Predictive(
        view=np.full(layout.n_columns, FIRST_RESTAURANT, np.int32), hyper=bank.hyper.copy(),
        stats=np.zeros((C, room, layout.n_stats)), table=np.zeros((C, layout.n_table, room)),
        log_weight=np.full((1, C, room), -np.inf), used=np.zeros((1, C), np.int32),
    )  # fmt: skip
    for c, (f, (groups, total)) in enumerate(zip(bank.filters, per_class, strict=True)):
        ready_empty_group(layout, bank.hyper, f)
        state.stats[c, : len(groups)] = f.stats[groups]
        state.table[c][:, : len(groups)] = f.table[:, groups]
        with np.errstate(divide="ignore"):
            state.log_weight[0, c, : len(groups)] = np.log(total[groups])
        state.used[0, c] = len(groups)
    return state
