import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita.datasets import (
    coin_mixture_log_density,
    make_coin_classes,
    make_coin_mixture,
    make_mixed_clusters,
    remove_cells,
)


def test_coin_mixture_has_the_frequencies_of_its_theta():
    X, groups, theta = make_coin_mixture(40_000, 4, 3, random_state=0)
    assert X.shape == (40_000, 4) and theta.shape == (3, 4) and set(np.unique(X)) == {0.0, 1.0}
    for k in range(3):
        assert abs((groups == k).mean() - 1 / 3) < 0.02
        assert np.abs(X[groups == k].mean(axis=0) - theta[k]).max() < 0.03


def test_coin_weights_come_from_beta_half_half():
    theta = make_coin_mixture(1, 400, 50, random_state=1)[2]
    assert abs(theta.var() - 0.125) < 0.005  # variance of Beta(1/2, 1/2) is 1/8


def test_coin_density_sums_to_one_and_marginalises_missing_cells():
    theta = make_coin_mixture(1, 5, 4, random_state=2)[2]
    rows = np.array(list(itertools.product([0.0, 1.0], repeat=5)))
    p = np.exp(coin_mixture_log_density(rows, theta))
    assert abs(p.sum() - 1) < 1e-12
    holed = np.array([[1.0, np.nan, 0.0, np.nan, np.nan]])
    matching = (rows[:, 0] == 1) & (rows[:, 2] == 0)
    assert np.isclose(np.exp(coin_mixture_log_density(holed, theta))[0], p[matching].sum())


def test_coin_density_is_finite_where_a_weight_was_rounded_to_one():
    assert coin_mixture_log_density(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]]))[0] == pytest.approx(0.0)


def test_coin_classes_are_the_papers():
    X, y, theta = make_coin_classes(4000, missing=0.5, random_state=0)
    assert X.shape == (4000, 100) and [len(t) for t in theta] == [4, 10, 5, 20]
    assert abs(np.isnan(X).mean() - 0.5) < 0.01
    # each class's rows are more probable under its own coins
    own = np.array([coin_mixture_log_density(X, t) for t in theta]).argmax(axis=0)
    assert (own == y).mean() > 0.97


def test_same_seed_same_rows():
    first, second = make_coin_classes(50, random_state=3), make_coin_classes(50, random_state=3)
    assert np.array_equal(first[0], second[0]) and np.array_equal(first[1], second[1])


def test_mixed_clusters_have_all_kinds_and_differ():
    from partita.data import learn_schema

    X, cluster = make_mixed_clusters(600, 3, missing=0.2, random_state=0)
    assert set(learn_schema(X).kinds) == {"real", "count", "categorical", "binary"}
    assert abs(X.isna().to_numpy().mean() - 0.2) < 0.03
    means = X["height"].groupby(cluster).mean()
    assert means.max() - means.min() > 10


def test_remove_cells_from_arrays():
    numbers = remove_cells(np.arange(4000).reshape(1000, 4), 0.25, 0)
    assert numbers.dtype == float and abs(np.isnan(numbers).mean() - 0.25) < 0.03
    kept = ~np.isnan(numbers)
    assert np.array_equal(numbers[kept], np.arange(4000).reshape(1000, 4)[kept])
    words = remove_cells(np.array([["a", "b"]] * 500), 0.5, 0)
    assert words.dtype == object and abs((words == None).mean() - 0.5) < 0.06  # noqa: E711
    assert remove_cells(np.zeros((3, 2), np.float32), 0.5, 0).dtype == np.float32


def test_remove_cells_keeps_frames_and_leaves_the_original_alone():
    frame = pd.DataFrame(
        {"n": range(400), "t": ["x", "y"] * 200, "b": [True, False] * 200, "r": np.linspace(0, 1, 400)}
    )
    before = frame.copy()
    holed = remove_cells(frame, 0.3, 0)
    pd.testing.assert_frame_equal(frame, before)
    assert list(holed.columns) == list(frame.columns) and holed["n"].dtype == "Int64" and holed["b"].dtype == "boolean"
    assert (holed.isna().mean() > 0.2).all() and holed["n"].dropna().isin(frame["n"]).all()
    polars = remove_cells(pl.from_pandas(frame), 0.3, 0)
    assert polars.schema == pl.from_pandas(frame).schema and min(polars.null_count().row(0)) > 80


def test_remove_cells_removes_the_same_cells_from_any_container():
    array = np.arange(60.0).reshape(20, 3)
    gone = np.isnan(remove_cells(array, 0.4, 7))
    assert np.array_equal(remove_cells(pd.DataFrame(array), 0.4, 7).isna().to_numpy(), gone)


def test_remove_cells_refuses_a_percentage():
    with pytest.raises(ValueError, match="fraction=25 must be between 0 and 1"):
        remove_cells(np.zeros((2, 2)), 25)
