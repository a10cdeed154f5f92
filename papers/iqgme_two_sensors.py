"""A stand-in for the unexploded-ordnance data of the iQGME thesis, which were never published.

146 targets, 79 of them ordnance, six features: three of a magnetometer, three of an electromagnetic induction sensor;
for some targets only one sensor was there. The thesis shows the pattern but prints no share: here both sensors see half
of the targets and each alone a quarter. Features are made up: ordnance comes in two sorts, clutter in three, Gaussian
with correlations within a sensor and, weaker, between sensors.
"""

from __future__ import annotations

import numpy as np

TARGETS, ORDNANCE = 146, 79
BOTH, ONE_ALONE = 0.5, 0.25
SENSORS = {"magnetometer": slice(0, 3), "induction": slice(3, 6)}
CENTRES = {1: np.array([[1.2, 0.8, 0.0, 0.8, 0.0, 1.0], [-0.4, 1.2, 1.0, 1.2, 0.9, -0.2]]),
           0: np.array([[-1.0, -0.4, 0.4, -0.9, 0.4, 0.0], [0.6, -1.0, 1.0, 0.2, -1.2, 0.4],
                        [0.2, 0.6, -1.2, 0.0, 0.8, -1.0]])}  # fmt: skip


def make_targets(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Features with holes, and 1 for ordnance."""
    rng = np.random.default_rng([311, seed])
    y = np.repeat([1, 0], [ORDNANCE, TARGETS - ORDNANCE])
    covariance = np.full((6, 6), 0.15)
    for part in SENSORS.values():
        covariance[part, part] = 0.4
    np.fill_diagonal(covariance, 0.9)
    centre = np.array([CENTRES[c][rng.integers(len(CENTRES[c]))] for c in y])
    X = centre + rng.multivariate_normal(np.zeros(6), covariance, TARGETS)
    seen = rng.choice(3, TARGETS, p=[BOTH, ONE_ALONE, ONE_ALONE])
    X[seen == 1, SENSORS["induction"]] = np.nan
    X[seen == 2, SENSORS["magnetometer"]] = np.nan
    return X, y
