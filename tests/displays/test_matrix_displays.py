"""Displays of matrix models: numbers that are computed, and that they are drawn."""

import numpy as np
import pytest

import partita
from partita import (
    BayesianSVD,
    CompletionDisplay,
    FactorDisplay,
    IntervalCalibrationDisplay,
    RankPosteriorDisplay,
    TraceDisplay,
)


@pytest.fixture(scope="module")
def matrix():
    """A matrix with holes, its truth, and a model of it."""
    rng = np.random.default_rng(0)
    truth = rng.normal(size=(24, 2)) @ rng.normal(size=(2, 16))
    X = truth + 0.2 * rng.normal(size=truth.shape)
    X[rng.random(X.shape) < 0.4] = np.nan
    model = BayesianSVD(burn_in=30, n_samples=30, max_rank=5, random_state=0)
    return X, truth, model.fit(X)


def test_rank_posterior(matrix):
    display = RankPosteriorDisplay.from_estimator(matrix[2]).plot(truth=2)
    assert display.posterior == matrix[2].rank_posterior_
    assert sum(bar.get_height() for bar in display.ax_.patches) == pytest.approx(1)


def test_completion_shows_values_and_doubt(matrix):
    X, _, model = matrix
    display = CompletionDisplay.from_estimator(model).plot()
    assert np.allclose(display.mean, model.complete()) and np.array_equal(display.observed, ~np.isnan(X))
    assert display.std.shape == X.shape and (display.std > 0).all() and display.std_ax_ is not None
    few = CompletionDisplay.from_estimator(model, rows=[5, 3], columns=[7, 1, 2])
    assert few.mean.shape == (2, 3) and few.rows.tolist() == [5, 3]
    assert np.allclose(few.std, display.std[np.ix_([5, 3], [7, 1, 2])])
    import matplotlib.pyplot as plt

    assert few.plot(plt.subplots()[1]).std_ax_ is None
    busiest = CompletionDisplay.from_estimator(model, max_lines=4)
    assert set(busiest.rows) == set(np.argsort(-(~np.isnan(X)).sum(axis=1), kind="stable")[:4])
    with pytest.raises(ValueError, match="rows: 99 is not known"):
        CompletionDisplay.from_estimator(model, rows=[99])
    with pytest.raises(ValueError, match="ax holds 3 axes"):
        display.plot(plt.subplots(1, 3)[1])


def test_interval_calibration(matrix):
    X, truth, model = matrix
    rows, columns = np.nonzero(np.isnan(X))
    values = truth[rows, columns] + 0.2 * np.random.default_rng(1).normal(size=len(rows))
    display = IntervalCalibrationDisplay.from_estimator(model, rows, columns, values, coverage=0.8).plot()
    low, high = model.predict_interval(rows, columns, 0.8)
    assert np.allclose(display.low, low) and display.truth.shape == rows.shape
    assert display.actual[display.nominal == 0.8][0] == pytest.approx(np.mean((low <= values) & (values <= high)))
    assert (np.diff(display.actual) >= 0).all() and display.coverage_error < 0.25
    assert (np.diff(display.activity) >= 0).all()
    with pytest.raises(ValueError, match="coverage"):
        IntervalCalibrationDisplay.from_estimator(model, rows, columns, values, coverage=2)
    with pytest.raises(ValueError, match="no held-out cell"):
        IntervalCalibrationDisplay.from_estimator(model, [0], [0], [np.nan])


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_factors(matrix, side):
    X, _, model = matrix
    display = FactorDisplay.from_estimator(model, side).plot(n_names=3)
    n = X.shape[0] if side == "rows" else X.shape[1]
    assert display.places.shape == (n, 2) and len(display.ax_.texts) == 3
    assert display.activity.tolist() == (~np.isnan(X)).sum(axis=1 if side == "rows" else 0).tolist()
    assert (np.diff(display.singular_values) <= 0).all()
    display.plot(names=[f"long name of line {k}" for k in range(n)])
    with pytest.raises(ValueError, match="names holds 1 entries"):
        display.plot(names=["x"])
    with pytest.raises(ValueError, match='side must be "rows" or "columns"'):
        FactorDisplay.from_estimator(model, "both")
    with pytest.raises(ValueError, match="there are factors 0 to"):
        FactorDisplay.from_estimator(model, side, axes=(0, 40))


def test_factors_are_those_of_the_mean(matrix):
    _, _, model = matrix
    rows, columns = FactorDisplay.from_estimator(model, "rows"), FactorDisplay.from_estimator(model, "columns")
    mean = sum(draw.U.astype(float) @ draw.V.T for draw in model._posterior.draws) / len(model._posterior.draws)
    left, size, right = np.linalg.svd(mean)
    assert np.allclose(rows.places @ columns.places.T, (left[:, :2] * size[:2]) @ right[:2], atol=1e-4)


def test_trace(matrix):
    display = TraceDisplay.from_estimator(matrix[2], "log_likelihood").plot()
    assert display.kept_from == 30 and display.r_hat == matrix[2].r_hat_["log_likelihood"]
    assert len(display.ax_.lines) == 2


def test_matrix_report(matrix):
    from partita.report.html import render_matrix_report
    from partita.report.summary import summary

    page = render_matrix_report(matrix[2], "Grades <b>")
    assert "Grades &lt;b&gt;" in page and page.count("data:image/png") == 3
    text = summary(matrix[2])
    assert text.startswith("BayesianSVD") and "24 rows x 16 columns" in text and "max_rank=5" in text


def test_only_matrix_models(matrix):
    for display in (RankPosteriorDisplay, CompletionDisplay, FactorDisplay):
        with pytest.raises(ValueError, match=rf"{display.__name__}.from_estimator: .* a fitted BayesianSVD"):
            display.from_estimator(partita.AClass())
