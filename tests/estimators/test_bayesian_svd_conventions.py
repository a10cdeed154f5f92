"""What scikit-learn's checks look for, of an estimator whose cells are asked for by ids."""

import pickle

import numpy as np
import pytest
from matrices import QUICK, low_rank, triplets
from scipy import sparse
from sklearn.base import clone

from partita import BayesianSVD

X, _ = low_rank()
ROW, COLUMN, VALUE = triplets(X)


@pytest.fixture(scope="module")
def model():
    return BayesianSVD(**QUICK).fit(X)


def said(model):
    return np.stack(model.complete(keep_observed=False, return_std=True))


def test_pickle(model):
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(said(again), said(model)) and again.get_params() == model.get_params()


def test_fit_twice_and_clone(model):
    again = clone(model)
    assert not hasattr(again, "row_ids_")
    assert np.array_equal(said(again.fit(X).fit(X)), said(model))


@pytest.mark.parametrize(
    "form", [np.asfortranarray, lambda x: x.astype(object), lambda x: np.repeat(x, 2, axis=0)[::2]]
)
def test_the_layout_of_the_array_does_not_matter(model, form):
    assert np.array_equal(said(BayesianSVD(**QUICK).fit(form(X))), said(model))


def test_single_precision_and_integers():
    assert np.isfinite(said(BayesianSVD(**QUICK).fit(X.astype(np.float32)))).all()
    whole = np.nan_to_num(X).round().astype(int)
    assert np.isfinite(said(BayesianSVD(**QUICK).fit(whole))).all()
    assert np.isfinite(said(BayesianSVD(**QUICK).fit(sparse.csr_array(whole)))).all()


def test_answers_change_nothing(model):
    before = {name: id(value) for name, value in vars(model).items()}
    model.predict(ROW, COLUMN)
    model.predict_interval(ROW[:3], COLUMN[:3])
    model.recommend(3)
    model.acquire(3)
    model.fold_in(["n"], [0], [1.0])
    assert {name: id(value) for name, value in vars(model).items()} == before


def test_cells_in_any_order_and_batch(model):
    order = np.random.default_rng(0).permutation(len(ROW))
    mean, std = model.predict(ROW, COLUMN, return_std=True)
    again = model.predict(ROW[order], COLUMN[order], return_std=True)
    assert np.allclose(again[0], mean[order], rtol=1e-12) and np.allclose(again[1], std[order], rtol=1e-10)
    low, high = model.predict_interval(ROW, COLUMN)
    some = model.predict_interval(ROW[5:9], COLUMN[5:9])
    assert np.allclose(some[0], low[5:9], rtol=1e-9) and np.allclose(some[1], high[5:9], rtol=1e-9)


def test_many_draws_are_cut_into_parts(model, monkeypatch):
    from partita.models.matrices import laws as svd_laws

    whole = model.predict_interval(ROW, COLUMN)
    monkeypatch.setattr(svd_laws, "_AT_ONCE", 1)
    for part, all_at_once in zip(model.predict_interval(ROW[:9], COLUMN[:9]), whole):
        assert np.allclose(part, all_at_once[:9], rtol=1e-9)
