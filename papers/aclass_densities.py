"""The density estimators of figures 4 and 5: the filter with 1, 20, 40 particles, one component, our default."""

from __future__ import annotations

import numpy as np
from aclass_peers import FILTER

from partita import CRPMixture

PARTICLES = (1, 20, 40)
ONE_COMPONENT = "one component"
OURS = "CRPMixture, our default"
INK = {"1 particle": "one", "20 particles": "two", "40 particles": "three", ONE_COMPONENT: "baseline", OURS: "ours"}
N_COLUMNS = 50


def filter_name(particles: int) -> str:
    return f"{particles} particle" + "s" * (particles > 1)


FILTERS = tuple(filter_name(p) for p in PARTICLES)


def estimator(name: str, seed: int, n_jobs: int) -> CRPMixture:
    """The estimator of a curve, not fitted yet."""
    shared = {"random_state": seed, "n_jobs": n_jobs, "column_kinds": ["binary"] * N_COLUMNS}
    if name == OURS:
        return CRPMixture(**shared)
    if name == ONE_COMPONENT:
        return CRPMixture(**FILTER, **shared, n_particles=1, max_components=1)
    return CRPMixture(**FILTER, **shared, n_particles=PARTICLES[FILTERS.index(name)])


def mean_groups(model: CRPMixture) -> float:
    """Posterior mean of the number of groups."""
    return float(sum(k * p for k, p in model.n_components_posterior_.items()))


def coins(rows: int, groups: int, repetition: int, figure: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a uniform mixture over 50 Beta(1/2, 1/2) coins, the groups of the rows, the coins."""
    from partita.datasets import make_coin_mixture

    seed = np.random.SeedSequence([figure, groups, repetition])
    return make_coin_mixture(rows, N_COLUMNS, groups, random_state=seed)
