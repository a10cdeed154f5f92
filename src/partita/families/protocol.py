"""What every conjugate family can do: eight functions (two short-hands behind them), and their one rule of shapes.

A family is a frozen dataclass of hyper-parameter arrays with one leading (batch) shape B, any shape at all: groups,
columns, grid points, chains. It stands for a distribution over a parameter theta, prior or posterior alike.

Shapes. A value has event shape E: () for scalar families, (P,) for vectors (`event_ndim` says 0 or 1).

* ``statistics(x, weights)``: x is (n,) + V + E, one row per first index; weights None, (n,) or (n,) + G. The result
  is G + V + (s,): groups in front, columns behind, as a sum over rows. So responsibilities (n, K) on a table (n, d)
  give (K, d, s), which broadcasts against a prior over columns, B = (d,). Statistics add up.
* ``posterior``, ``log_marginal``: statistics S + (s,) broadcast against B, the batch of the result.
* ``log_predictive``, ``expected_log_likelihood``: x is X + E and the result is X broadcast against B. All rows under
  all groups: ``family.log_predictive(x[:, None, :])`` with B = (K, d) gives (n, K, d).
* ``sample_parameters(rng, size)``: size + B (each part with its own trailing shape); ``sample_values(parameters, rng,
  size)``: size + the batch of the parameters + E.

Missing cells are NaN (reals, counts) or negative (codes); they add nothing to a statistic and 0 to a log probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Size = int | Sequence[int]


class Family(Protocol):
    """A conjugate pair p(x | theta), p(theta), where evidence is added and the posterior is a prior."""

    event_ndim: ClassVar[int]

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Common leading shape B of the hyper-parameters."""

    def statistics(self, x: ArrayLike, weights: ArrayLike | None = None) -> Array:
        """Sum the sufficient statistics of the rows of x, each row counted `weights` times."""

    def posterior(self, statistics: ArrayLike) -> Self:
        """Return p(theta | data), a member of the same family."""

    def log_marginal(self, statistics: ArrayLike) -> Array:
        """Return log p(data) with theta integrated out."""

    def log_predictive(self, x: ArrayLike) -> Array:
        """Return log p(x) of single values with theta integrated out."""

    def sample_parameters(self, rng: np.random.Generator, size: Size = ()) -> Any:
        """Draw theta."""

    def sample_values(self, parameters: Any, rng: np.random.Generator, size: Size = ()) -> Any:
        """Draw x given theta."""

    def expected_log_likelihood(self, x: ArrayLike) -> Array:
        """Return E[log p(x | theta)] with theta distributed as this family."""

    def divergence(self, other: Self) -> Array:
        """Return KL(self || other) between the two distributions of theta, constants included."""

    def predictive_mean(self) -> Array:
        """Return the mean of the predictive; for categories, the probabilities of the levels."""

    def sample_predictive(self, rng: np.random.Generator, size: Size = ()) -> Any:
        """Draw values of shape size + B + E, each under a theta of its own."""


def weighted_sum(cells: NDArray[Any], weights: ArrayLike | None) -> Array:
    """Sum `cells`, (n,) + V, over rows under `weights`, None, (n,) or (n,) + G; the result is G + V."""
    if weights is None:
        return cells.sum(axis=0, dtype=float)
    weights = np.asarray(weights, float)
    if weights.ndim == 0 or weights.shape[0] != cells.shape[0]:
        raise ValueError(
            f"weights has shape {weights.shape} but x has {cells.shape[0]} rows; "
            f"pass weights of shape (n,) or (n, groups...) with n = {cells.shape[0]}."
        )
    return np.tensordot(weights, cells.astype(float, copy=False), axes=(0, 0))


def observed_codes(x: ArrayLike, n_levels: int) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Return which cells are seen, and the codes with missing cells set to 0."""
    x = np.asarray(x)
    seen = x >= 0
    codes = np.where(seen, x, 0).astype(np.intp)
    if codes.size and codes.max() >= n_levels:
        raise ValueError(
            f"x has code {codes.max()} but this family has {n_levels} levels; "
            f"codes must be 0..{n_levels - 1}, or -1 for missing."
        )
    return seen, codes


def observed_reals(x: ArrayLike) -> tuple[NDArray[np.bool_], Array]:
    """Return which cells are seen, and the values with missing cells set to 0."""
    x = np.asarray(x, float)
    seen = ~np.isnan(x)
    return seen, np.where(seen, x, 0.0)


def as_shape(size: Size) -> tuple[int, ...]:
    """Return `size` as a tuple."""
    return (int(size),) if isinstance(size, int | np.integer) else tuple(size)


def settle(family: Any, positive: Sequence[str], real: Sequence[str] = ()) -> None:
    """Turn the scalar hyper-parameters of a new family into float arrays of one shape, and check their range."""
    names = [*real, *positive]
    arrays = np.broadcast_arrays(*(np.asarray(getattr(family, name), float) for name in names))
    for name, array in zip(names, arrays):
        require(family, name, array, positive=name in positive)
        object.__setattr__(family, name, array)


def require(family: Any, name: str, array: Array, positive: bool) -> None:
    """Raise unless the hyper-parameter `name` is finite (and positive)."""
    good = np.isfinite(array) & (array > 0) if positive else np.isfinite(array)
    if not good.all():
        worst = array[~good].ravel()[0]
        allowed = "a positive finite number" if positive else "finite"
        raise ValueError(f"{type(family).__name__}: {name} must be {allowed}, got {worst}; pass {name} in that range.")


def grid_product(*axes: Array) -> list[Array]:
    """Return the flattened coordinates of the product of the axes, last axis fastest."""
    return [axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")]


def powers_of_two(first: int, last: int) -> Array:
    """Return 2^first, ..., 2^last."""
    return np.exp2(np.arange(first, last + 1, dtype=float))
