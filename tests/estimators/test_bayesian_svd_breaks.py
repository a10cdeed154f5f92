"""Matrices that once went wrong: two rows of one name, odd units, features of odd shapes."""

import numpy as np
import pandas as pd
import pytest
from matrices import QUICK, low_rank

from partita import BayesianSVD

X, _ = low_rank(12, 9, 1)
SHORT = QUICK | {"burn_in": 8, "n_samples": 8, "n_chains": 1}


def test_two_rows_of_one_name_are_refused():
    """They were taken for one row, and the first came out empty."""
    frame = pd.DataFrame(X, index=[0, 0, *range(1, 11)])
    with pytest.raises(ValueError, match=r"the id 0 is listed twice.*reset_index"):
        BayesianSVD(**SHORT).fit(frame)
    assert BayesianSVD(**SHORT).fit(frame.reset_index(drop=True)).complete().shape == X.shape


@pytest.mark.parametrize("settings", [{}, {"prior": "paper"}, {"prior": "paper", "sampler": "coordinate"}])
@pytest.mark.parametrize("unit", [2.0**-40, 2.0**-10, 2.0**40])
def test_units_do_not_matter(settings, unit):
    """With the thesis's prior values in thousandths were all noise: its rates were not in the units of the data."""
    plain = BayesianSVD(**SHORT, **settings).fit(X)
    other = BayesianSVD(**SHORT, **settings).fit(X * unit)
    np.testing.assert_allclose(other.complete() / unit, plain.complete(), rtol=1e-4, atol=1e-4)
    assert other.noise_ / unit == pytest.approx(plain.noise_, rel=1e-4)
    assert other.rank_ == plain.rank_


@pytest.mark.parametrize("value", [1e-8, 0.5, 1e8])
def test_a_constant_matrix_is_completed_by_its_value(value):
    holed = np.where(np.isnan(X), np.nan, value)
    model = BayesianSVD(**SHORT).fit(holed)
    assert model.complete() == pytest.approx(np.full(X.shape, value), rel=0.2)


@pytest.mark.parametrize("unit", [1e-30, 1e30, 1e150, 1e300, 1e-200])
def test_values_beyond_single_precision_are_refused(unit):
    """They gave NaN, a wrong answer, a division by zero or an SVD that does not converge."""
    with pytest.raises(ValueError, match="Use other units: divide all values by"):
        BayesianSVD(**SHORT).fit(X * unit)


@pytest.mark.parametrize(
    ("features", "told"),
    [
        ({k: [1.0] * (1 + k % 2) for k in range(12)}, r"row_features: the line of 1 has shape \(2,\)"),
        ({k: float(k) for k in range(12)}, r"row_features: the line of 0 has shape \(\)"),
        ({k: ["old"] for k in range(12)}, r"row_features: the line of 0 is \['old'\], not a vector of numbers"),
        ({}, "row_features is an empty dict"),
        (np.arange(12.0), r"row_features has shape \(12,\)"),
        (pd.Series(np.arange(12.0)), r"row_features has shape \(12,\)"),
    ],
)
def test_features_of_odd_shapes_are_named(features, told):
    with pytest.raises(ValueError, match=told):
        BayesianSVD(**SHORT).fit(X, row_features=features)


def test_as_many_trials_as_cells():
    model = BayesianSVD(link="binomial", **SHORT).fit(np.where(np.isnan(X), np.nan, X > 2))
    low, high = model.predict_interval([0, 1, 2], 0, trials=[1, 2, 3])
    assert (low <= high).all() and (high <= [1, 2, 3]).all()
    with pytest.raises(ValueError, match=r"trials has shape \(2,\)"):
        model.predict_interval([0, 1, 2], 0, trials=[1, 2])


def test_what_partial_fit_cannot_go_on_with():
    """No sweep to keep was accepted, and another prior failed inside the sampler."""
    model = BayesianSVD(**SHORT).fit(X)
    new = ["new"], [0], [1.0]
    for sweeps in ({"n_samples": 0}, {"n_samples": 1.5}, {"burn_in": -1}):
        with pytest.raises(ValueError, match=r"partial_fit: .* must be an integer"):
            model.partial_fit(*new, **sweeps)
    with pytest.raises(ValueError, match="prior='paper', but the model has learnt with 'ard'"):
        model.set_params(prior="paper").partial_fit(*new)
    model.set_params(prior="ard").partial_fit(["new", "new"], [0, 1], [1e-25, 0.0], n_samples=2)
    assert "new" in model.row_ids_.tolist()
    for settings in ({"prior": "paper"}, {"prior": "paper", "sampler": "coordinate"}):
        BayesianSVD(**SHORT, **settings).fit(X).partial_fit(*new, n_samples=2)


@pytest.mark.parametrize("coverage", ["all", None, [0.5, 0.9], float("nan"), 1.0])
def test_a_coverage_is_a_number(coverage):
    with pytest.raises(ValueError, match="coverage must lie between 0 and 1"):
        BayesianSVD(**SHORT).fit(X).predict_interval(0, 0, coverage)
