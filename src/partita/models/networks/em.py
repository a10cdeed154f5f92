"""Tables of a Bayesian network from rows with missing cells, by expectation and maximisation.

With "ml" and "map" the objective is the log likelihood, plus the log prior; with "bayes" the tables keep their
Dirichlet posteriors, q(tables) q(missing cells), and the objective is the variational bound with all its constants. All
three rise at every step. Complete rows are done in one, exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, xlogy

from .network import (
    Net,
    divergence,
    expected_logs,
    family_counts,
    family_shapes,
    log_marginal,
    point_tables,
    pseudo_counts,
)
from .rows import expected_counts


@dataclass(frozen=True, eq=False)
class Learner:
    """What a fit is given: distinct rows and how often each counts, graph, prior, estimate."""

    codes: np.ndarray
    weight: np.ndarray
    parents: tuple[tuple[int, ...], ...]
    arities: tuple[int, ...]
    prior: list[float]
    estimate: str

    @classmethod
    def of(
        cls, codes: np.ndarray, weight: np.ndarray, parents: Sequence[Sequence[int]], arities: Sequence[int],
        prior: str, amount: float, estimate: str,
    ) -> Learner:  # fmt: skip
        shapes = family_shapes(parents, arities)
        rows, which = np.unique(codes, axis=0, return_inverse=True)
        return cls(
            rows, np.bincount(which.ravel(), weight, len(rows)), tuple(map(tuple, parents)), tuple(map(int, arities)),
            pseudo_counts(shapes, prior, amount), estimate,
        )  # fmt: skip

    @property
    def complete(self) -> bool:
        return bool((self.codes >= 0).all())

    def net(self, tables: Sequence[np.ndarray]) -> Net:
        return Net(self.parents, self.arities, tuple(tables))

    def tables(self, counts: Sequence[np.ndarray]) -> list[np.ndarray]:
        return point_tables(counts, self.prior, self.estimate)

    def observed_counts(self) -> list[np.ndarray]:
        return family_counts(self.codes, self.parents, self.arities, self.weight)

    def objective_of_complete(self, counts: Sequence[np.ndarray]) -> float:
        if self.estimate == "bayes":
            return log_marginal(counts, self.prior)
        tables = self.tables(counts)
        fitted = sum(float(xlogy(count, table).sum()) for count, table in zip(counts, tables))
        return fitted + self.log_prior(tables)

    def log_prior(self, tables: Sequence[np.ndarray]) -> float:
        """Log density of the tables under their Dirichlet prior, which maximum likelihood does not have."""
        if self.estimate != "map":
            return 0.0
        total = 0.0
        for table, a in zip(tables, self.prior):
            levels = table.shape[-1]
            rows = table.size // levels
            total += rows * float(gammaln(levels * a) - levels * gammaln(a)) + float(xlogy(a - 1.0, table).sum())
        return total


def init(learner: Learner, rng: np.random.Generator, jitter: float) -> dict[str, Any]:
    """Counts to begin with: those of rows that show a whole family, and for restarts a little of chance beside them.

    Half a row is added to every cell: one that no whole family shows may yet be needed by a row with holes.
    """
    counts = [count + 0.5 for count in learner.observed_counts()]
    if jitter > 0:
        size = jitter * max(float(learner.weight.sum()), 1.0)
        counts = [count + rng.dirichlet(np.ones(count.size)).reshape(count.shape) * size for count in counts]
    return {"counts": counts}


def step(
    learner: Learner, rng: np.random.Generator, state: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, float]]:
    """Tables from the counts, then counts expected under them; the objective belongs to those tables."""
    counts = state["counts"]
    if learner.estimate == "bayes":
        tables = expected_logs(counts, learner.prior)
        expected, fitted = expected_counts(learner.net(tables), learner.codes, learner.weight)
        objective = fitted - divergence(counts, learner.prior)
    else:
        tables = learner.tables(counts)
        expected, fitted = expected_counts(learner.net(tables), learner.codes, learner.weight)
        objective = fitted + learner.log_prior(tables)
    return {"counts": expected, "judged": counts}, {"objective": objective}
