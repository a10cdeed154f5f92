"""An array that a native kernel writes to is written in place or refused: what is written to a copy would be lost."""

import numpy as np
import pytest

from partita.kernels import BACKEND, kernel

pytestmark = pytest.mark.skipif(BACKEND != "native", reason="plain kernels take arrays as they are")


def weights(n=3):
    return np.log(np.random.default_rng(0).random((n, 2**n)) + 0.1)


def strided(array):
    """The same numbers, two steps apart."""
    return np.repeat(array, 2, axis=-1)[..., ::2]


def test_an_array_that_is_written_to_is_written_in_place():
    edges = np.zeros((3, 3))
    kernel.net_dag_sum(weights(), edges)
    assert edges.any()


def single(array):
    return array.astype(np.float32)


@pytest.mark.parametrize("change", [strided, np.asfortranarray, single])
def test_an_array_that_would_be_copied_before_it_is_written_to_is_refused(change):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernel.net_dag_sum(weights(), change(np.zeros((3, 3))))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        kernel.net_dag_sum(change(weights()), np.zeros((3, 3)))
    with pytest.raises(ValueError, match="not contiguous"):
        kernel.resample(np.ones(3), 0, 0.5, np.zeros(6, np.int32)[::2])


def test_an_array_that_is_only_read_may_be_of_any_form():
    rise = np.arange(4.0) + 0.5
    parents, same = np.zeros(4, np.int32), np.zeros(4, np.int32)
    kernel.resample(rise, 0, 0.5, parents)
    rise.flags.writeable = False
    kernel.resample(strided(rise), 0, 0.5, same)
    np.testing.assert_array_equal(parents, same)
