"""Independent column groups side by side: one family per group, sums of logs over groups and columns.

A group is a name for columns that share a family: ``Product({"binary": BetaBernoulli(a, b), "real": ...})``. Data,
statistics and parameters are mappings with the same names. The batch of a scalar family is B + (columns,), the batch of
a vector family is B; B is the batch of the product.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .protocol import Array, Family, Size


@dataclass(frozen=True, eq=False)
class Product:
    """Families by name of column group; draws are made in the order of the mapping."""

    groups: Mapping[str, Family]

    def __post_init__(self) -> None:
        if not self.groups:
            raise ValueError("Product: groups is empty; pass at least one column group with its family.")
        for name, family in self.groups.items():
            if family.event_ndim == 0 and not family.batch_shape:
                raise ValueError(
                    f"Product: column group {name!r} has batch shape (); a scalar family needs a last batch axis for "
                    "its columns, of length 1 for a single column."
                )
        object.__setattr__(self, "groups", dict(self.groups))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """B, the batch without the columns."""
        shapes = (f.batch_shape[: len(f.batch_shape) - (f.event_ndim == 0)] for f in self.groups.values())
        return np.broadcast_shapes(*shapes)

    def statistics(self, x: Mapping[str, ArrayLike], weights: ArrayLike | None = None) -> dict[str, Array]:
        """Sum the statistics of the rows: x[name] is (n, columns) or (n, P), weights None, (n,) or (n,) + G."""
        self._check(x, "x")
        return {name: family.statistics(x[name], weights) for name, family in self.groups.items()}

    def posterior(self, statistics: Mapping[str, ArrayLike]) -> Product:
        self._check(statistics, "statistics")
        return Product({name: family.posterior(statistics[name]) for name, family in self.groups.items()})

    def log_marginal(self, statistics: Mapping[str, ArrayLike]) -> Array:
        self._check(statistics, "statistics")
        return self._total({name: family.log_marginal(statistics[name]) for name, family in self.groups.items()})

    def log_predictive(self, x: Mapping[str, ArrayLike]) -> Array:
        """Return log p of the observed cells: x[name] is X + (columns,) or X + (P,), the result X against B."""
        self._check(x, "x")
        return self._total({name: family.log_predictive(x[name]) for name, family in self.groups.items()})

    def sample_parameters(self, rng: np.random.Generator, size: Size = ()) -> dict[str, Any]:
        return {name: family.sample_parameters(rng, size) for name, family in self.groups.items()}

    def sample_values(self, parameters: Mapping[str, Any], rng: np.random.Generator, size: Size = ()) -> dict[str, Any]:
        self._check(parameters, "parameters")
        return {name: family.sample_values(parameters[name], rng, size) for name, family in self.groups.items()}

    def expected_log_likelihood(self, x: Mapping[str, ArrayLike]) -> Array:
        self._check(x, "x")
        return self._total({name: family.expected_log_likelihood(x[name]) for name, family in self.groups.items()})

    def divergence(self, other: Product) -> Array:
        self._check(other.groups, "other")
        return self._total({name: family.divergence(other.groups[name]) for name, family in self.groups.items()})

    def predictive_mean(self) -> dict[str, Array]:
        return {name: family.predictive_mean() for name, family in self.groups.items()}

    def sample_predictive(self, rng: np.random.Generator, size: Size = ()) -> dict[str, Any]:
        return {name: family.sample_predictive(rng, size) for name, family in self.groups.items()}

    def _total(self, logs: Mapping[str, Array]) -> Array:
        """Add up over groups, and over the columns of scalar families."""
        parts = (np.asarray(logs[name]) for name in self.groups)
        scalar = (family.event_ndim == 0 for family in self.groups.values())
        summed = [part.sum(axis=-1) if columns else part for part, columns in zip(parts, scalar)]
        return np.asarray(sum(summed[1:], start=summed[0]))

    def _check(self, given: Mapping[str, Any], what: str) -> None:
        if set(given) != set(self.groups):
            raise ValueError(
                f"Product: {what} has column groups {sorted(given)}, but the families have {sorted(self.groups)}; "
                "pass exactly these."
            )
