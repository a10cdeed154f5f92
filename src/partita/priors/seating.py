"""Laws of seating between the Chinese restaurant and a finite mixture, on a grid with a prior.

A row joins a group in proportion to size - discount and opens a new one beside k others in proportion to alpha +
discount k (Pitman 1995). With discount 0 that is the Chinese restaurant process. With a negative discount -gamma and
alpha = m gamma it is a mixture of m components whose shares have a symmetric Dirichlet(gamma) prior: no more than m
groups, and of more equal sizes the larger gamma. With m inferred as well that is a mixture of finite mixtures (Miller
and Harrison 2018); large m with m gamma = alpha is the Chinese restaurant again.
"""

from __future__ import annotations

import numpy as np

from ..kernels.contract import SeatingLaws
from .concentration import GRID

# powers of two: alpha + discount k is then exactly zero when all places are taken
PSEUDO_SIZES = 2.0 ** np.arange(-1, 5)
MOST_PLACES = 256
FINITE_SHARE = 0.1  # more costs real tables a little, and less costs small ones what they gain


def restaurant_laws() -> SeatingLaws:
    """Chinese restaurants: Gamma(1, 1) on alpha, the grid being even in log alpha."""
    return SeatingLaws(GRID.copy(), np.zeros(len(GRID)), np.log(_normalised(GRID * np.exp(-GRID))))


def all_laws() -> SeatingLaws:
    """Chinese restaurants, and finite mixtures in a share of one in ten: gamma even on its grid, p(m) as 1 / m."""
    crp, places = restaurant_laws(), _places()
    # a point stands for the numbers up to the next one
    share = _normalised(np.diff(np.append(places, MOST_PLACES + 1)) / places)
    gamma, m = np.repeat(PSEUDO_SIZES, len(places)), np.tile(places, len(PSEUDO_SIZES))
    log_finite = np.log(FINITE_SHARE / len(PSEUDO_SIZES)) + np.tile(np.log(share), len(PSEUDO_SIZES))
    return SeatingLaws(
        np.concatenate([crp.alpha, gamma * m]),
        np.concatenate([crp.discount, -gamma]),
        np.concatenate([crp.log_prior + np.log(1.0 - FINITE_SHARE), log_finite]),
    )


def _places() -> np.ndarray:
    """Numbers of components: each up to 16, then ever sparser."""
    steps = [np.arange(1, 17), np.arange(18, 33, 2), np.arange(36, 65, 4), np.arange(72, 129, 8)]
    return np.concatenate([*steps, np.arange(144, MOST_PLACES + 1, 16)]).astype(float)


def _normalised(weight: np.ndarray) -> np.ndarray:
    return weight / weight.sum()
