"""From what every state says of a row to one probability of each class.

States of one kind of chain are combined by two rules: the mean of their normalised p(y | x, state), or the normalised
mean of their p(x | y) (the Bayes density). Each kind and rule is a member, with one temperature t on log p(x | y): a
mixture that takes dependent cells for independent ones is too sure of itself, and t < 1 takes that back. The answer
is a weighted mean of the members. Temperatures and weights come from leave-one-out predictions of the training rows,
which collapsed Gibbs gives for free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ...kernels import kernel
from ..pooling import SMALLEST, best_log_temperature, pool_weights

POSTERIORS, DENSITIES = "posteriors", "densities"
EM_ROUNDS = 50
POOL_ROWS = 60.0  # what the even split over members is worth: leave-one-out sees little of what tells them apart
# how much of a temperature above one is believed. Groups and hyper-parameters have seen the row that is left out, so
# both rules look better than they are; but a mean of normalised posteriors is less sure than it may be, since states
# that explain the row's cells badly have as much say as the others, and the Bayes density is not
BELIEVED = {POSTERIORS: 1.0, DENSITIES: 0.4}
# a kind whose loss over many rows is below this in all leaves nothing for the others to better
NOTHING_LEFT, MANY_ROWS = 2.0, 400
LOG_TEMPERATURES = (-3.0, 0.7)


@dataclass(frozen=True)
class Doubt:
    """When a kind of chain is dropped: its leave-one-out loss is so much worse than the best kind's, in ratio and in
    standard errors of the difference over rows.
    """

    ratio: float
    errors: float


Doubts = Callable[[int], Doubt]  # by kind of chain


def late_doubt(_: int) -> Doubt:
    """Of chains that have gone far enough."""
    return Doubt(1.5, 2.0)


@dataclass
class Member:
    """One rule over the states of one kind of chain."""

    kind: int
    rule: str
    temperature: float = 1.0
    weight: float = 1.0


def to_trees(members: Sequence[Member]) -> list[dict]:
    return [vars(member) for member in members]


def posteriors(log_density: np.ndarray, log_prior: np.ndarray, temperature: float) -> np.ndarray:
    """p(y | x) from log p(x | y), any leading shape, classes last."""
    s = log_density * temperature
    s += log_prior
    classes = [s[..., c] for c in range(s.shape[-1])]  # few, and reductions over a short last axis are slow
    top = reduce(np.maximum, classes)
    s -= top[..., None]
    np.exp(s, out=s)
    s /= reduce(np.add, classes)[..., None]
    return s


def mean_density(log_density: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """log of the (weighted) mean over the first axis."""
    if len(log_density) == 1:
        return log_density[0]
    top = log_density.max(axis=0)
    density = np.exp(log_density - top)
    with np.errstate(divide="ignore"):  # a density may be too small beside another class's
        return top + np.log(density.mean(axis=0) if weight is None else np.average(density, axis=0, weights=weight))


def answer(
    member: Member, log_density: np.ndarray, log_prior: np.ndarray, weight: np.ndarray | None = None
) -> np.ndarray:
    """p(y | x) by one member, from the densities of its states (states, rows, classes)."""
    if member.rule == DENSITIES:
        return posteriors(mean_density(log_density, weight), log_prior, member.temperature)
    return np.average(posteriors(log_density, log_prior, member.temperature), axis=0, weights=weight)


def combine(
    members: Sequence[Member], log_density: np.ndarray, kind: np.ndarray, log_prior: np.ndarray,
    weight: np.ndarray | None = None,
) -> np.ndarray:  # fmt: skip
    """p(y | x) by all members, from the densities of all states (states, rows, classes), the kinds of their chains
    and their weights (None: equal).
    """
    out = np.zeros(log_density.shape[1:])
    for member in members:
        mine = kind == member.kind
        own = None if weight is None or np.ptp(weight[mine]) == 0 else weight[mine]
        out += member.weight * answer(member, log_density[mine], log_prior, own)
    return out / out.sum(axis=-1, keepdims=True)


def plain_members(kind: np.ndarray) -> list[Member]:
    """Nothing chosen: the Bayes density within each kind, the kinds by their number of states."""
    kinds, counts = np.unique(kind, return_counts=True)
    return [Member(int(k), DENSITIES, 1.0, float(n / counts.sum())) for k, n in zip(kinds, counts, strict=True)]


def choose_members(
    left_out: np.ndarray, label: np.ndarray, log_prior: np.ndarray, kind: np.ndarray, doubt: Doubts = late_doubt
) -> list[Member]:
    """Members with temperatures and weights from leave-one-out densities (states, labelled rows, classes)."""
    if left_out.shape[2] < 2 or not left_out.shape[1]:
        return plain_members(kind)
    members, own = [], []
    for k in np.unique(kind):
        mine = left_out[kind == k]
        for rule in (POSTERIORS, DENSITIES):
            odds = _Odds(mine if rule == POSTERIORS else mean_density(mine)[None], label, log_prior)
            members.append(Member(int(k), rule, _choose_temperature(odds, BELIEVED[rule])))
            own.append(odds.of_label(members[-1].temperature))
    hopeful = _hopeful(members, np.array(own), doubt)
    members, own = [members[m] for m in hopeful], [own[m] for m in hopeful]
    shares = pool_weights(np.array(own), rounds=EM_ROUNDS, prior_rows=POOL_ROWS)
    for member, weight in zip(members, shares, strict=True):
        member.weight = float(weight)
    return members


def _hopeful(members: list[Member], own: np.ndarray, doubt: Doubts) -> np.ndarray:
    """Members of the kinds of chains that are worth having, from leave-one-out probabilities (members, rows)."""
    loss = -np.log(own + SMALLEST)
    of_kind: dict[int, np.ndarray] = {}  # the better rule of each kind
    for member, each in zip(members, loss, strict=True):
        if member.kind not in of_kind or each.sum() < of_kind[member.kind].sum():
            of_kind[member.kind] = each
    best = min(of_kind.values(), key=np.sum)
    if best.sum() < NOTHING_LEFT and len(best) >= MANY_ROWS:  # the simplest of the kinds that are as good as that
        good = {min(k for k, each in of_kind.items() if each.sum() < NOTHING_LEFT)}
    else:
        good = {k for k, each in of_kind.items() if not _much_worse(each, best, doubt(k))}
    return np.array([m for m, member in enumerate(members) if member.kind in good])


def _much_worse(loss: np.ndarray, best: np.ndarray, doubt: Doubt) -> bool:
    error = np.sqrt(len(best)) * (loss - best).std()
    return bool(loss.sum() > doubt.ratio * best.sum() and (loss - best).sum() > doubt.errors * error)


class _Odds:
    """What states say of the rows' labels, (states, rows, classes), as log odds against the other classes."""

    def __init__(self, log_density: np.ndarray, label: np.ndarray, log_prior: np.ndarray):
        rows = np.arange(len(label))
        others = [(label + k) % len(log_prior) for k in range(1, len(log_prior))]
        true = log_density[:, rows, label]
        self.against = np.stack([log_density[:, rows, c] - true for c in others])
        self.prior = np.stack([log_prior[c] - log_prior[label] for c in others])

    def of_label(self, temperature: float) -> np.ndarray:
        """p(label) of every row, averaged over the states."""
        out = np.empty(self.prior.shape[1])
        kernel.tempered_labels(self.against, self.prior, temperature, out)
        return out


def _choose_temperature(odds: _Odds, believed: float) -> float:
    """The temperature under which the probabilities of the labels are best; above one `believed` in part."""

    def loss(log_t: float) -> float:
        return float(-np.log(odds.of_label(np.exp(log_t)) + SMALLEST).mean())

    best = best_log_temperature(loss, LOG_TEMPERATURES)
    return float(np.exp(best if best < 0 else believed * best))
