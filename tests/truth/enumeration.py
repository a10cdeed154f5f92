"""The exact posterior over all partitions of a few rows, and how far a sampler's frequencies are from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp
from small_tables import cells_of, family_of

from partita.kernels.contract import Layout, Rows
from partita.priors.partition import enumerate_partitions, log_probability


@dataclass
class Exact:
    """All partitions (P, n) of n rows, their posterior probabilities (P,), and the log evidence of the table."""

    partitions: np.ndarray
    probability: np.ndarray
    log_evidence: float

    def frequencies(self, z: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """Share (P,) of the draws z (draws, n), group names free, at every partition."""
        codes, order = _code(self.partitions), np.argsort(_code(self.partitions))
        index = order[np.searchsorted(codes, _code(z), sorter=order)]
        share = np.bincount(index, weight, minlength=len(codes)).astype(float)
        return share / share.sum()

    def distance(self, z: np.ndarray, weight: np.ndarray | None = None) -> float:
        """Total variation between the draws and the posterior."""
        return total_variation(self.frequencies(z, weight), self.probability)

    def tolerance(self, draws: int) -> float:
        """0.02, or three times the mean distance of as many independent draws where that is more."""
        return tolerance(self.probability, draws)


def _code(z: np.ndarray) -> np.ndarray:
    """One number a partition: every row names the first row of its group."""
    first = (z[:, :, None] == z[:, None, :]).argmax(axis=2)
    return first @ (z.shape[1] ** np.arange(z.shape[1]))


def co_assignment(z: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Probability that two rows share a group, (rows, rows)."""
    return np.tensordot(weight, z[:, :, None] == z[:, None, :], 1)


def total_variation(p: np.ndarray, q: np.ndarray) -> float:
    return 0.5 * float(np.abs(p - q).sum())


def independent_error(probability: np.ndarray, draws: int) -> float:
    """Mean total variation between the frequencies of independent draws and their law."""
    counts = np.random.default_rng(0).multinomial(draws, probability / probability.sum(), size=20)
    return float(np.mean([total_variation(c / draws, probability) for c in counts]))


def tolerance(probability: np.ndarray, draws: int) -> float:
    return max(0.02, 3.0 * independent_error(probability, draws))


def exact_posterior(
    layout: Layout, rows: Rows, hyper: np.ndarray, alpha: float, cap: int | None = None, discount: float = 0.0
) -> Exact:
    """Law of seating (cut off at `cap` groups) times the marginal likelihood of every group."""
    n = len(rows)
    subsets = (np.arange(2**n)[:, None] >> np.arange(n)) & 1  # group number s holds the rows whose bit is set in s
    log_fit = np.zeros(2**n)
    for d in range(layout.n_columns):
        family = family_of(layout, d, hyper[d])
        log_fit += family.log_marginal(family.statistics(cells_of(layout, rows, d), subsets.T))
    partitions = enumerate_partitions(n)
    groups = [(partitions == g) @ (1 << np.arange(n)) for g in range(n)]
    sizes = np.stack([(partitions == g).sum(axis=1) for g in range(n)], axis=1)
    log_prior = log_probability(sizes, alpha, cap, discount)
    log_joint = log_prior + np.sum([np.where(s > 0, log_fit[s], 0.0) for s in groups], axis=0)
    log_evidence = float(logsumexp(log_joint))
    return Exact(partitions, np.exp(log_joint - log_evidence), log_evidence)


def polya_log_probability(counts: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """log probability of an exchangeable sequence with the given counts (..., m) from an urn of masses (m,)."""
    total = gammaln(mass.sum()) - gammaln(mass.sum() + counts.sum(axis=-1))
    return (gammaln(mass + counts) - gammaln(mass)).sum(axis=-1) + total
