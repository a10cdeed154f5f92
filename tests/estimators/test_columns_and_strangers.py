"""Columns in another order, levels and columns that training did not know: what answers then belong to."""

import numpy as np
import pandas as pd
import pytest

from partita import AClass, CRPMixture, HybridClassifier, IQGMEClassifier, NaiveBayes
from partita.data.validate import DataWarning


def lengths_and_weights(n=120, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"metres": rng.normal(0, 1, n), "grams": rng.normal(0, 1000, n)})
    return frame.mask(rng.random(frame.shape) < 0.3), rng.integers(0, 2, n)


@pytest.mark.parametrize(
    "model",
    [
        CRPMixture(n_sweeps=6, random_state=0), AClass(n_sweeps=6, n_filters=2, random_state=0), NaiveBayes(),
        IQGMEClassifier(average=False, n_restarts=1, max_iter=5, random_state=0),
        HybridClassifier(CRPMixture(n_sweeps=6), random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_standard_deviations_lie_where_the_filled_cells_do(model):
    X, y = lengths_and_weights()
    model.fit(X, y)
    rows = pd.DataFrame({"metres": [0.0, np.nan], "grams": [np.nan, 0.0]})
    _, told = model.impute(rows, return_std=True)
    filled, turned = model.impute(rows[["grams", "metres"]], return_std=True)
    assert list(filled.columns) == ["grams", "metres"]
    np.testing.assert_array_equal(turned, told[:, ::-1])
    assert turned[0, 0] > 100 and 0 < turned[1, 1] < 10 and turned[0, 1] == turned[1, 0] == 0


@pytest.mark.parametrize(
    "model",
    [
        HybridClassifier(n_draws=5, random_state=0),
        HybridClassifier(CRPMixture(n_sweeps=6), random_state=0),
        HybridClassifier(IQGMEClassifier(average=False, n_restarts=1, max_iter=5), random_state=0),
    ],
    ids=["draws", "means", "filled"],
)
def test_a_hybrid_takes_unseen_levels_for_missing(model):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    smoke = np.where(rng.random(80) < np.where(y == 1, 0.9, 0.1), "yes", "no")
    model.fit(pd.DataFrame({"smoke": smoke, "age": rng.normal(50, 10, 80)}), y)

    def answer(word):
        return model.predict_proba(pd.DataFrame({"smoke": [word, "no"], "age": [50.0, 40.0]}))

    with pytest.warns(DataWarning, match="'unknown'"):
        strange = answer("unknown")
    np.testing.assert_allclose(strange, answer(None), atol=1e-12)


@pytest.mark.parametrize("unit", [1e6, 1e-6])
def test_a_column_that_a_stream_meets_late_is_scaled_by_its_first_cells(unit):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 400)
    X = pd.DataFrame({"x": rng.normal(size=400), "late": (1000 + rng.normal(size=400) + 4 * y) * unit})
    X.loc[:99, "late"] = np.nan
    model = AClass(random_state=0)
    with pytest.warns(DataWarning, match="'late'"):
        for at in range(0, 400, 100):
            model.partial_fit(X.iloc[at : at + 100], y[at : at + 100], classes=[0, 1])
    column = model.schema_.columns[1]
    assert column.scale == pytest.approx(np.std(X["late"][100:200]), rel=0.5)
    assert column.centre == pytest.approx(X["late"][100:200].mean(), rel=0.01)
    p = model.predict_proba(X.iloc[100:])
    assert -np.log(p[np.arange(300), y[100:]]).mean() < 0.2  # a coin has .69


def test_whole_numbers_that_floats_cannot_tell_apart_are_told():
    X = pd.DataFrame({"id": 2**60 + np.arange(40), "z": np.arange(40.0)})
    with pytest.warns(DataWarning, match=r"beyond 2 to the power of 53.*'id'"):
        CRPMixture(n_sweeps=2, random_state=0).fit(X)
    even = pd.DataFrame({"id": 2**60 + 1024 * np.arange(40), "z": np.arange(40.0)})  # floats hold these exactly
    CRPMixture(n_sweeps=2, random_state=0).fit(even)


@pytest.mark.parametrize("X", [{"a": [1.0, 2.0]}, [{"a": 1.0}, {"a": 2.0}]], ids=["dict", "list of dicts"])
def test_dicts_are_no_tables(X):
    with pytest.raises(ValueError, match=r"dict.*pandas\.DataFrame\(X\)"):
        CRPMixture().fit(X)


def test_names_of_other_frames_are_not_lost_silently():
    pa = pytest.importorskip("pyarrow")
    for X in (pa.table({"a": [1.0, 2.0]}), np.array([(1, 2.0)], dtype=[("a", int), ("b", float)])):
        with pytest.raises(ValueError, match=r"named columns.*to_pandas\(\)"):
            CRPMixture().fit(X)
