"""Displays of gated experts: gates, bounds and imputed intervals, their numbers, drawing and errors."""

import numpy as np
import pytest
from scipy.stats import f as fisher
from sklearn.exceptions import NotFittedError

import partita
from partita import GatesDisplay, ImputationDisplay, LowerBoundDisplay
from partita.displays.gate_ellipses import half_axes

LONG = "a name that is much too long for the axis of a picture"


@pytest.fixture(scope="module")
def clumps():
    """Four real columns in two clumps, in named frames, holed and whole; the class is a line in each; and one model."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    side = np.where(rng.random(160) < 0.6, 1.0, -1.0)
    X = rng.normal(size=(160, 4)) + np.outer(side, [3.0, 0.0, 0.0, 0.0])
    y = np.where(X[:, 1] + side * (X[:, 0] - 3 * side) > 0, "same", "apart")
    X[:, 3] += 0.8 * X[:, 0]
    X = X * [1.0, 5.0, 0.1, 1.0] + [0.0, 50.0, 0.0, 0.0]
    full = pd.DataFrame(X, columns=["a", "b", LONG, "d"])
    holed = partita.datasets.remove_cells(full, 0.15, random_state=1)
    model = partita.IQGMEClassifier(average=False, max_experts=8, n_restarts=2, max_iter=60, random_state=0)
    return holed, full, y, model.fit(holed, y)


@pytest.fixture(scope="module")
def averaged():
    """Three classes, two real columns, a category, labels missing; the average."""
    rng = np.random.default_rng(1)
    label = rng.integers(0, 3, 90)
    X = np.column_stack([rng.normal(size=(90, 2)) + 2.5 * np.eye(3)[label][:, :2], rng.integers(0, 4, 90)])
    y = label.astype(object)
    y[::5] = None
    model = partita.IQGMEClassifier(max_iter=8, random_state=0, column_kinds=["real", "real", "categorical"])
    return X, y, model.fit(X, y)


def ellipse_of(model, h, places, coverage):
    """Centre and shape matrix of the ellipse of a gate in two columns, from its parameters."""
    one, pair = model._pool.whole[0], np.ix_(places, places)
    gates, width = one.gates, one.view.width
    degrees = gates.nu[h] - width + 1
    scale = gates.scale[h][pair] * (gates.kappa[h] + 1) / (gates.kappa[h] * degrees)
    return gates.mean[h, places], 2 * fisher.ppf(coverage, 2, degrees) * scale


def test_ellipses_of_known_gates():
    shape = np.array([[[2.0, 0.6], [0.6, 0.5]], [[1e-4, 0.0], [0.0, 4.0]]])
    mean, degrees = np.array([[1.0, -1.0], [0.5, 3.0]]), np.array([np.inf, 4.0])

    def log_density(points):
        apart = points[:, None] - mean
        distance = np.einsum("ngi,gij,ngj->ng", apart, np.linalg.inv(shape), apart)
        return np.stack([-0.5 * distance[:, 0], -3.0 * np.log1p(distance[:, 1] / 4.0)], axis=1)

    centre, axes = half_axes(log_density, mean + np.array([[0.3, 0.2], [0.02, 1.0]]), 0.7)
    np.testing.assert_allclose(centre, mean, atol=1e-5)
    radius = np.array([-2 * np.log(0.3), 2 * fisher.ppf(0.7, 2, degrees[1])])
    np.testing.assert_allclose(axes @ axes.transpose(0, 2, 1), radius[:, None, None] * shape, rtol=5e-3, atol=1e-6)


def test_gates_are_the_ellipses_of_the_model(clumps):
    holed, _, y, model = clumps
    display = GatesDisplay.from_estimator(model, holed, y, columns=("b", 3), coverage=0.6)
    whole = model._pool.whole[0]
    order = np.argsort(-whole.weight, kind="stable")
    order = order[whole.weight[order] >= 0.01]
    np.testing.assert_allclose(display.weight, whole.weight[order])
    columns = [model.schema_.columns[k] for k in (1, 3)]
    unit = np.array([column.scale for column in columns])
    for g, h in enumerate(order):
        mean, shape = ellipse_of(model, h, [1, 3], 0.6)
        np.testing.assert_allclose(display.centre[g], mean * unit + [c.centre for c in columns], atol=1e-3 * unit.max())
        out = (display.discs[g, -1] - display.centre[g]) / unit
        np.testing.assert_allclose(np.einsum("ni,ij,nj->n", out, np.linalg.inv(shape), out), 1.0, rtol=5e-3)


def test_surface_and_experts_are_what_the_model_says_with_other_cells_missing(clumps):
    _, full, _, model = clumps
    display = GatesDisplay.from_estimator(model, columns=("a", "b"), n_points=20)
    rows = full.head(2).copy()
    rows[[LONG, "d"]] = np.nan
    rows.iloc[0, :2] = display.grids[0][4], display.grids[1][13]
    rows.iloc[1, :2] = display.discs[0, 6, 20]
    np.testing.assert_allclose(display.probability[4, 13], model.predict_proba(rows)[0])
    h = int(np.argmax(model._pool.whole[0].weight))
    np.testing.assert_allclose(display.said[0, 6, 20], model.explain(rows).class_probabilities[1, h])
    assert display.probability.shape == (20, 20, 2) and len(display.cells) == 0


def test_an_experts_line_is_where_it_gives_even_chances(clumps):
    _, _, _, model = clumps
    display = GatesDisplay.from_estimator(model, columns=("a", "b")).plot()
    lines = [c for c in display.ax_.collections if type(c).__name__ == "QuadContourSet"]
    drawn = [path.vertices for c in lines[1:] for path in c.get_paths() if len(path.vertices)]
    crossing = [g for g, said in enumerate(display.said) if said[..., 0].min() < 0.5 < said[..., 0].max()]
    assert len(drawn) == len(crossing) > 0
    at = drawn[-1][[1, -2]]
    row = np.full((2, 4), np.nan)
    row[:, :2] = at
    said = model.explain(type(clumps[0])(row, columns=clumps[0].columns)).class_probabilities
    assert np.abs(said[..., 0] - 0.5).min(axis=1).max() < 0.02


def test_rows_with_one_cell_are_ticks_at_the_edge(clumps):
    holed, _, y, model = clumps
    y = y.astype(object)
    y[::4] = None
    display = GatesDisplay.from_estimator(model, holed, y, columns=("a", "b")).plot()
    np.testing.assert_allclose(display.cells, holed[["a", "b"]].to_numpy())
    assert (display.label[::4] == -1).all() and (display.label == 1).sum() == (y == "same").sum()
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert words == ["apart", "same", "no label", "expert", "all together"]
    seen = holed[["a", "b"]].notna().sum(axis=1)
    drawn = [len(c.get_offsets()) for c in display.ax_.collections if type(c).__name__ == "PathCollection"]
    assert (seen == 2).sum() in drawn and display.figure_ is display.ax_.figure


def test_many_classes_and_the_average(averaged):
    X, y, model = averaged
    display = GatesDisplay.from_estimator(model, X, y, n_points=15, min_weight=0.05).plot(max_rows=20)
    assert display.names == ["column 0", "column 1"] and display.probability.shape == (15, 15, 3)
    np.testing.assert_allclose(display.probability.sum(axis=2), 1.0)
    assert display.ax_.get_title().startswith(f"{len(display.weight)} gates")
    assert display.ax_.images[0].get_array().shape == (15, 15, 3)


def test_only_the_largest_of_many_gates_are_drawn(averaged):
    model = averaged[2]
    every = GatesDisplay.from_estimator(model, n_points=15, max_gates=100)
    few = GatesDisplay.from_estimator(model, n_points=15, max_gates=2).plot()
    assert few.n_gates == every.n_gates == len(every.weight) > 2
    np.testing.assert_array_equal(few.weight, every.weight[:2])
    assert few.ax_.get_title().startswith(f"largest 2 of {few.n_gates} gates")


def test_gates_errors(clumps, averaged):
    holed, _, y, model = clumps
    with pytest.raises(ValueError, match=r"'colour' is not a real column of this model\. .*'a', 'b'"):
        GatesDisplay.from_estimator(model, columns=("a", "colour"))
    with pytest.raises(ValueError, match=r"column 2 is not a real column.*\[0, 1\]"):
        GatesDisplay.from_estimator(averaged[2], columns=(0, 2))
    with pytest.raises(ValueError, match="a pair of two different columns"):
        GatesDisplay.from_estimator(model, columns=("a", "a"))
    with pytest.raises(ValueError, match=r"coverage=1\.5"):
        GatesDisplay.from_estimator(model, coverage=1.5)
    with pytest.raises(ValueError, match=r"min_weight=0\.99"):
        GatesDisplay.from_estimator(model, min_weight=0.99)
    with pytest.raises(ValueError, match="max_gates=0"):
        GatesDisplay.from_estimator(model, max_gates=0)
    with pytest.raises(ValueError, match="without X"):
        GatesDisplay.from_estimator(model, y=y)
    with pytest.raises(ValueError, match="not in classes: 'other'"):
        GatesDisplay.from_estimator(model, holed, ["other"] * len(holed))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        GatesDisplay.from_estimator(model, holed, y[:3])
    with pytest.raises(NotFittedError):
        GatesDisplay.from_estimator(partita.IQGMEClassifier())


def test_bounds_of_all_starts_and_the_best(clumps):
    model = clumps[3]
    display = LowerBoundDisplay.from_estimator(model).plot()
    assert len(display.bounds) == 2 and not display.apart and (display.falls < 1e-6).all()
    np.testing.assert_array_equal(display.bounds[display.best], model.lower_bounds_)
    assert model.lower_bounds_[-1] == max(bound[-1] for bound in display.bounds)
    assert len(display.ax_.lines) == 2 and "best" in display.ax_.get_title()
    np.testing.assert_array_equal(display.ax_.lines[-1].get_ydata(), model.lower_bounds_)


def test_bounds_of_the_average_are_drawn_apart(averaged):
    model = averaged[2]
    display = LowerBoundDisplay.from_estimator(model).plot()
    assert display.apart and len(display.bounds) == len(model.lower_bounds_all_) == 16  # 15 vote
    assert all(line.get_ydata()[-1] == 0 for line in display.ax_.lines)
    assert "less its last value" in display.ax_.get_ylabel()


def test_log_likelihoods_are_drawn_too(clumps):
    class Finite(type(clumps[3])):
        """A model that records likelihoods, as one fitted by EM does."""

    model = Finite()
    model.schema_ = clumps[3].schema_
    model.average = False
    model.log_likelihoods_ = np.array([-30.0, -12.0, -11.5])
    display = LowerBoundDisplay.from_estimator(model).plot()
    assert len(display.bounds) == 1 and display.ax_.get_ylabel() == "log likelihood (nats)"


def test_a_bound_that_fell_is_told():
    display = LowerBoundDisplay([np.array([-3.0, -1.0, -1.5]), np.array([-2.0])], 0, "lower bound").plot()
    np.testing.assert_allclose(display.falls, [0.5, 0.0])


def test_bound_errors(clumps):
    with pytest.raises(NotFittedError):
        LowerBoundDisplay.from_estimator(partita.IQGMEClassifier())
    model = partita.IQGMEClassifier()
    model.schema_, model.lower_bounds_ = clumps[3].schema_, np.zeros(0)
    with pytest.raises(ValueError, match="recorded no bound"):
        LowerBoundDisplay.from_estimator(model)


def test_coverage_is_that_of_the_quantiles(clumps):
    holed, full, _, model = clumps
    display = ImputationDisplay.from_estimator(model, holed, full, coverage=0.5).plot()
    low, high = (t.to_numpy() for t in model.impute(holed, quantiles=[0.1, 0.9]))
    gone = holed.isna().to_numpy()
    inside = ((low <= full) & (full <= high)).to_numpy()[gone]
    assert display.actual[list(display.nominal).index(0.8)] == pytest.approx(inside.mean())
    assert len(display.truth) == gone.sum() and (display.low <= display.median).all()
    assert (display.median <= display.high).all() and 0.65 < inside.mean() < 0.95
    assert (display.low_share < display.actual).all() and (display.actual < display.high_share).all()
    assert display.coverage_error == pytest.approx(np.abs(display.actual - display.nominal).max())
    share = np.mean((display.low <= display.truth) & (display.truth <= display.high))
    assert f"50% intervals hold {share:.0%}" in display.intervals_ax_.get_title()


def test_intervals_of_one_column_in_its_standard_deviations(clumps):
    holed, full, _, model = clumps
    display = ImputationDisplay.from_estimator(model, holed, full, columns=["b"])
    gone = holed["b"].isna()
    standard = (full["b"] - full["b"].mean()) / full["b"].std(ddof=0)
    np.testing.assert_allclose(display.truth, standard[gone])


def test_imputation_takes_one_or_two_axes(clumps):
    from matplotlib.figure import Figure

    holed, full, _, model = clumps
    display = ImputationDisplay.from_estimator(model, holed, full)
    one, pair = Figure().subplots(), Figure().subplots(1, 2)
    assert display.plot(one).ax_ is one and display.intervals_ax_ is None
    assert display.plot(pair, max_cells=5).intervals_ax_ is pair[1]
    with pytest.raises(ValueError, match="3 axes"):
        display.plot(Figure().subplots(1, 3))


def test_imputation_errors(clumps, mixture, mixed):
    holed, full, _, model = clumps
    with pytest.raises(ValueError, match="nothing to compare"):
        ImputationDisplay.from_estimator(model, full, full)
    with pytest.raises(ValueError, match="same rows"):
        ImputationDisplay.from_estimator(model, holed, full.head(3))
    with pytest.raises(ValueError, match="'weight'"):
        ImputationDisplay.from_estimator(model, holed, full, columns=["weight"])
    with pytest.raises(ValueError, match="coverage=0"):
        ImputationDisplay.from_estimator(model, holed, full, coverage=0)
    with pytest.raises(ValueError, match="takes quantiles, got CRPMixture"):
        ImputationDisplay.from_estimator(mixture, mixed[0], mixed[1])
