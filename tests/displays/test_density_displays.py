"""Displays of densities, strange rows, filled cells and learning: the numbers computed, and that they are drawn."""

import numpy as np
import pytest
from sklearn.metrics import log_loss

import partita
from partita import AnomalyDisplay, DensityDisplay, FilledCellsDisplay, LearningCurveDisplay


def test_density_of_a_column_integrates_to_one(mixture, mixed):
    display = DensityDisplay.from_estimator(mixture, mixed[0], "height", n_points=400).plot()
    assert np.trapezoid(display.density, display.grids[0]) == pytest.approx(1, abs=0.03)
    assert len(display.cells) == mixed[0]["height"].notna().sum()


def test_density_of_two_columns_is_that_of_rows_with_holes(mixture, mixed):
    display = DensityDisplay.from_estimator(mixture, mixed[0], ("height", "visits"), n_points=20).plot()
    row = mixed[0].head(1).copy()
    row[["income", "colour", "member"]] = None
    row["height"], row["visits"] = display.grids[0][7], int(display.grids[1][3])
    assert display.density[7, 3] == pytest.approx(np.exp(mixture.score_samples(row)[0]))
    assert np.array_equal(display.grids[1] % 1, np.zeros(len(display.grids[1])))
    assert len(display.groups) == len(display.cells)


def test_density_errors(mixture, mixed):
    with pytest.raises(ValueError, match="'colour' is not a real or count column"):
        DensityDisplay.from_estimator(mixture, mixed[0], "colour")
    with pytest.raises(ValueError, match="give one, or a pair"):
        DensityDisplay.from_estimator(mixture, mixed[0], ["height", "income", "visits"])


def test_anomalies_are_the_lowest_scores(mixture, mixed):
    strange = mixed[1].copy()
    strange.loc[17, "height"] = 900.0
    display = AnomalyDisplay.from_estimator(mixture, strange, n_lowest=2, names=[f"r{i}" for i in range(120)]).plot()
    assert display.lowest[0] == 17 and display.scores[17] == display.scores.min()
    assert display.scores[0] == pytest.approx(mixture.score_samples(strange)[0] / 5)
    assert display.ax_.texts[0].get_text() == "r17"
    assert AnomalyDisplay.from_estimator(mixture, strange, n_lowest=0).plot().ax_.get_xlabel().endswith("observed cell")


def test_anomaly_errors(mixture, mixed):
    with pytest.raises(ValueError, match="n_lowest"):
        AnomalyDisplay.from_estimator(mixture, mixed[0], n_lowest=500)
    with pytest.raises(ValueError, match="one name per row"):
        AnomalyDisplay.from_estimator(mixture, mixed[0], names=["a"])


def test_filled_cells_are_the_removed_ones(mixture, mixed):
    holed, full, _ = mixed
    display = FilledCellsDisplay.from_estimator(mixture, holed, full, n_draws=60).plot()
    assert len(display.truth) == holed[["height", "income", "visits"]].isna().sum().sum()
    assert len(display.level_chance) == holed[["colour", "member"]].isna().sum().sum()
    assert (display.low <= display.mean).all() and (display.mean <= display.high).all()
    assert 0.75 < display.coverage <= 1
    heights = FilledCellsDisplay.from_estimator(mixture, holed, full, columns=["height"], n_draws=20)
    gone = holed["height"].isna()
    standard = (full["height"] - full["height"].mean()) / full["height"].std(ddof=0)
    assert np.allclose(heights.truth, standard[gone])


def test_filled_cells_errors(mixture, mixed):
    holed, full, _ = mixed
    with pytest.raises(ValueError, match="nothing to compare"):
        FilledCellsDisplay.from_estimator(mixture, full, full)
    with pytest.raises(ValueError, match="same rows"):
        FilledCellsDisplay.from_estimator(mixture, holed, full.head(3))
    with pytest.raises(ValueError, match="'weight'"):
        FilledCellsDisplay.from_estimator(mixture, holed, full, columns=["weight"])


def test_learning_curve_scores_after_every_batch(coins):
    X, y, _ = coins
    model = partita.AClass(n_filters=2, random_state=0)
    batches = [(X[:60], y[:60]), (X[60:100], y[60:100])]
    curve = LearningCurveDisplay.from_estimator(model, batches, X[100:], y[100:], classes=[0, 1], name="stream")
    rows, loss = curve.curves["stream"]
    assert rows.tolist() == [60, 100] and loss[-1] == pytest.approx(log_loss(y[100:], model.predict_proba(X[100:])))
    both = (curve | LearningCurveDisplay.from_scores([60, 100], [0.5, 0.4], name="other")).plot(events={60: "here"})
    assert list(both.curves) == ["stream", "other"] and "here" in [text.get_text() for text in both.ax_.texts]


def test_learning_curve_errors(coins):
    with pytest.raises(ValueError, match="batches is empty"):
        LearningCurveDisplay.from_estimator(coins[2], [], coins[0], coins[1], classes=[0, 1])
    with pytest.raises(ValueError, match="one length"):
        LearningCurveDisplay.from_scores([1, 2], [0.5])


@pytest.mark.parametrize("draw", ["components", "trace", "similarity"])
def test_given_axes_are_used(mixture, draw):
    from matplotlib.figure import Figure

    ax = Figure().subplots()
    kinds = {"components": partita.ComponentsPosteriorDisplay, "trace": partita.TraceDisplay}
    display = kinds.get(draw, partita.SimilarityDisplay).from_estimator(mixture).plot(ax)
    assert display.ax_ is ax and display.figure_ is ax.figure
