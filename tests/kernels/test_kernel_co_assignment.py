"""Pairs of rows together in two partitions: native, twin, and the pairs counted one by one."""

import numpy as np
import pytest

from partita.kernels import reference


@pytest.mark.parametrize(("n_states", "n_rows", "n_groups"), [(1, 1, 1), (4, 30, 3), (6, 57, 40)])
def test_shared_pairs(native, n_states, n_rows, n_groups):
    z = np.random.default_rng(n_rows).integers(0, n_groups, (n_states, n_rows)).astype(np.int32)
    mine, theirs = np.empty((n_states, n_states)), np.empty((n_states, n_states))
    reference.shared_pairs(z, n_groups, mine)
    native.shared_pairs(z, n_groups, theirs)
    same = z[:, :, None] == z[:, None, :]
    one_by_one = (same[:, None] & same[None]).sum(axis=(2, 3))
    np.testing.assert_array_equal(mine, one_by_one)
    np.testing.assert_array_equal(theirs, one_by_one)
