"""What a column is centred and scaled by."""

import numpy as np
import pytest

from partita.data import learn_schema
from partita.data.scaling import FARTHEST, centre_and_scale
from partita.data.validate import DataWarning


def test_ordinary_columns_have_their_mean_and_standard_deviation():
    rng = np.random.default_rng(0)
    for values in (rng.normal(3, 2, 500), rng.exponential(size=500), rng.standard_t(3, 500), rng.integers(0, 2, 50)):
        values = values.astype(float)
        np.testing.assert_allclose(centre_and_scale(values), (values.mean(), values.std()))


@pytest.mark.parametrize("far", [1e3, 1e6, -1e9, 1e300])
def test_a_few_cells_do_not_make_the_scale(far):
    values = np.random.default_rng(1).normal(5, 2, 300)
    plain = centre_and_scale(values)
    values[[3, 77]] = far
    centre, scale = centre_and_scale(values)
    assert abs(centre - plain[0]) < 0.5
    assert scale == pytest.approx(max(plain[1], abs(far) / FARTHEST), rel=0.25)
    assert abs((values - centre) / scale).max() < 1.01 * FARTHEST


def test_mostly_one_value_is_scaled_by_the_others():
    rng = np.random.default_rng(2)
    rain = np.where(rng.random(400) < 0.95, 0.0, rng.uniform(1, 9, 400))
    np.testing.assert_allclose(centre_and_scale(rain), (rain.mean(), rain.std()))
    rain[5] = 1e5
    centre, scale = centre_and_scale(rain)
    assert centre == 0 and 1 < scale < 6
    assert centre_and_scale(np.array([0.0] * 50 + [1e9]))[1] > 1e8  # nothing else to go by


def test_far_cells_are_warned_of():
    rng = np.random.default_rng(3)
    table = np.column_stack([rng.normal(size=200), np.exp(3 * rng.normal(size=200))])
    table[9, 0] = 999_999
    with pytest.warns(DataWarning, match=r"10,000 times as far .* make it missing.*: 0\."):
        learn_schema(table)
