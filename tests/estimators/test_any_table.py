"""Tables of every shape and type: all kinds at once, columns and rows that say little, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimator_tables import QUICK, holed_binary, mixed_frame, numbers
from sklearn.exceptions import NotFittedError

from partita import AClass, CRPMixture, HybridClassifier, NaiveBayes
from partita.data.validate import DataWarning

MAKE = {
    "AClass": lambda: AClass(**QUICK),
    "AClass smc": lambda: AClass(**QUICK, inference="smc"),
    "CRPMixture": lambda: CRPMixture(**QUICK),
    "CRPMixture smc": lambda: CRPMixture(**QUICK, inference="smc"),
    "HybridClassifier": lambda: HybridClassifier(AClass(**QUICK), random_state=0),
    "NaiveBayes": lambda: NaiveBayes(random_state=0),
}


@pytest.fixture(params=MAKE)
def model(request):
    return MAKE[request.param]()


def test_pandas_and_polars_of_all_kinds_give_the_same_model(model):
    X, y = mixed_frame()
    frame = pl.from_pandas(X).with_columns(pl.col("grade").cast(pl.Enum(["low", "mid", "high"])))
    first = model.fit(X, y).predict_proba(X)
    assert model.schema_.kinds == ("binary", "binary", "categorical", "categorical", "count", "real", "real")
    second = model.fit(frame, pl.Series(y)).predict_proba(frame)
    np.testing.assert_allclose(second, first, rtol=1e-9, atol=1e-12)
    assert isinstance(model.impute(frame), pl.DataFrame)


def test_arrays_of_objects_hold_all_kinds(model):
    X, y = mixed_frame()
    cells = X.astype(object).where(X.notna(), None).to_numpy()
    np.testing.assert_allclose(model.fit(cells, y).predict_proba(cells).sum(axis=1), 1.0)


def test_a_column_without_cells_keeps_its_place(model):
    X, y = mixed_frame()
    cells = numbers(X)
    cells[:, 1] = np.nan
    with pytest.warns(DataWarning, match=r"no observed cell.*: 1"):
        model.fit(cells, y)
    assert model.n_features_in_ == 3
    np.testing.assert_allclose(model.predict_proba(cells).sum(axis=1), 1.0)
    later = cells.copy()
    later[:, 1] = 5.0  # arrives after all
    assert np.isfinite(model.predict_proba(later)).all()


def test_a_constant_column_is_accepted(model):
    X, y = mixed_frame()
    cells = numbers(X)
    cells[:, 1] = 3.5
    with pytest.warns(DataWarning, match=r"one value only.*: 1"):
        model.fit(cells, y)
    assert np.isfinite(model.predict_proba(cells)).all()


@pytest.mark.filterwarnings("ignore::partita.data.validate.DataWarning")
def test_small_tables(model):
    one_each = model.fit(np.eye(3) * 4.5, ["a", "b", "c"])
    assert len(one_each.predict(np.eye(3))) == 3
    single_row = model.fit([[1.5, 0.0]], ["a"])
    np.testing.assert_allclose(single_row.predict_proba([[np.nan, 1.0], [2.0, 0.0]]).sum(axis=1), 1.0)
    X, y = holed_binary()
    single_column = model.fit(X[:, :1], y)
    assert single_column.predict_proba(X[:, :1]).shape[0] == len(X)


@pytest.mark.parametrize("cls", [AClass, HybridClassifier])
def test_a_single_class(cls):
    X, _ = holed_binary()
    model = cls(random_state=0).fit(X, ["only"] * len(X))
    np.testing.assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))
    assert set(model.predict(X)) == {"only"}


@pytest.mark.filterwarnings("ignore::partita.data.validate.DataWarning")
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_ten_thousand_levels(cls):
    rng = np.random.default_rng(0)
    names = np.array([f"v{k}" for k in range(10_000)])
    X = pd.DataFrame({"name": names, "size": rng.normal(size=10_000)})
    model = cls(n_filters=2, n_sweeps=1, random_state=0).fit(X, rng.integers(0, 2, 10_000))
    assert np.isfinite(
        model.score_samples(pd.DataFrame({"name": ["v1", "unheard of", None], "size": [0.0, 1.0, np.nan]}))
    ).all()


def test_infinite_cells_are_refused_by_name(model):
    X, y = mixed_frame()
    broken = X.assign(height=X["height"].where(X.index != 7, np.inf))
    with pytest.raises(ValueError, match=r"infinity.*column 'height', row 7"):
        model.fit(broken, y)
    model.fit(X, y)
    with pytest.raises(ValueError, match=r"infinity.*column 'height', row 7"):
        model.predict(broken)


def test_rows_and_labels_must_be_as_many(model):
    X, y = holed_binary()
    if isinstance(model, CRPMixture):
        pytest.skip("no labels")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "predict_log_proba", "score_samples", "impute", "similarity", "sample"]
)
def test_an_unfitted_model_says_so(model, method):
    X, _ = holed_binary()
    if not hasattr(model, method):
        pytest.skip(f"no {method}")
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(model, method)(*([] if method == "sample" else [X]))
