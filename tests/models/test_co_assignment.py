"""The most central partition against the definition of Binder's loss."""

import numpy as np

from partita.models.mixtures.co_assignment import co_assignment, most_central


def test_the_most_central_partition_has_the_least_squared_distance():
    rng = np.random.default_rng(0)
    for _ in range(20):
        z = rng.integers(0, rng.integers(1, 6), (7, 30))
        mean = co_assignment(z)
        assert (np.diag(mean) == 1).all() and (mean == mean.T).all()
        loss = np.array([(((one[:, None] == one) - mean) ** 2).sum() for one in z])
        assert loss[most_central(z)] <= loss.min() + 1e-9


def test_one_partition_is_central():
    assert most_central(np.zeros((1, 5), int)) == 0
