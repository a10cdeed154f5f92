"""The posterior of the concentration given a partition (chains draw from it: tests/truth/test_truth_columns.py)."""

import numpy as np

from partita.priors import concentration, partition


def test_log_posterior_is_prior_times_partition_law():
    sizes = np.array([5, 3, 1])
    alpha = np.array([0.4, 1.0, 6.0])
    direct = partition.log_probability(sizes, alpha) - 2.0 * alpha + 1.5 * np.log(alpha)
    ours = concentration.log_posterior(alpha, 3, 9, 2.5, 2.0)
    np.testing.assert_allclose(np.diff(ours), np.diff(direct), atol=1e-10)
