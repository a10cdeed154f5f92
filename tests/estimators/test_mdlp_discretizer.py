"""The discretiser as a transformer: shapes and containers, missing cells, names, pipelines, weights, bad input."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimator_tables import mixed_frame
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from partita import MDLPDiscretizer, load, save
from partita.models.coded.cut_points import cut_points

FRAME, Y = mixed_frame()


def steps(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return np.stack([rng.normal(4 * y, 1), rng.normal(size=n), -7.0 * y + rng.random(n)], axis=1), y


def test_codes_are_the_number_of_cuts_below():
    X, y = steps()
    bins = MDLPDiscretizer().fit(X, y)
    codes = bins.transform(X)
    assert codes.shape == X.shape and np.issubdtype(codes.dtype, np.integer)
    assert [len(cuts) for cuts in bins.cut_points_] == [2, 0, 2] and bins.n_levels_.tolist() == [3, 1, 3]
    for j, cuts in enumerate(bins.cut_points_):
        np.testing.assert_array_equal(cuts, cut_points(X[:, j], y, 3))
        np.testing.assert_array_equal(codes[:, j], (X[:, [j]] > cuts).sum(axis=1))
    np.testing.assert_array_equal(bins.fit_transform(X, y), codes)


def test_missing_cells_have_a_code_of_their_own_in_every_column():
    X, y = steps()
    holed = X.copy()
    holed[::7, 0] = np.nan
    bins = MDLPDiscretizer().fit(holed, y)
    assert bins.n_levels_.tolist() == [len(bins.cut_points_[0]) + 2, 1, 3]
    assert bins.level_names_[0][-1] == "missing" and "missing" not in bins.level_names_[2]
    codes = bins.transform(np.full((2, 3), np.nan))
    assert codes.tolist() == [[len(cuts) + 1 for cuts in bins.cut_points_]] * 2
    assert codes[0, 0] == bins.n_levels_[0] - 1
    present = bins.transform(X)
    assert (present < codes[0]).all()


def test_frames_come_back_as_frames_with_names_and_index():
    bins = MDLPDiscretizer().fit(FRAME, Y)
    turned = FRAME.iloc[5:20][FRAME.columns[::-1]]
    codes = bins.transform(turned)
    assert isinstance(codes, pd.DataFrame) and list(codes.columns) == list(FRAME.columns)
    assert codes.index.equals(turned.index)
    assert all(np.issubdtype(dtype, np.integer) for dtype in codes.dtypes)
    frame = pl.from_pandas(FRAME).with_columns(pl.col("grade").cast(pl.Enum(["low", "mid", "high"])))
    theirs = MDLPDiscretizer().fit(frame, Y).transform(frame)
    assert isinstance(theirs, pl.DataFrame) and theirs.columns == list(FRAME.columns)
    np.testing.assert_array_equal(theirs.to_numpy(), bins.transform(FRAME).to_numpy())
    assert list(bins.get_feature_names_out()) == list(FRAME.columns)


def test_set_output_has_the_last_word():
    X, y = steps()
    bins = MDLPDiscretizer().fit(X, y)
    assert isinstance(bins.transform(X), np.ndarray)
    assert list(clone(bins).set_output(transform="pandas").fit(X, y).transform(X).columns) == ["x0", "x1", "x2"]
    out = MDLPDiscretizer().set_output(transform="polars").fit(FRAME, Y).transform(FRAME)
    assert isinstance(out, pl.DataFrame) and out.columns == list(FRAME.columns)


def test_levels_of_other_columns_are_kept_and_unseen_ones_are_missing():
    bins = MDLPDiscretizer().fit(FRAME, Y)
    names = dict(zip(FRAME.columns, bins.level_names_))
    assert names["colour"] == ["blue", "green", "red", "missing"] and names["grade"][:3] == ["low", "mid", "high"]
    cuts = dict(zip(FRAME.columns, bins.cut_points_))
    assert not len(cuts["colour"]) and not len(cuts["flag"]) and len(cuts["visits"])
    strange = bins.transform(FRAME.assign(colour="mauve"))
    assert (strange["colour"] == 3).all()


def test_forced_cuts_and_kinds():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 30, (80, 1)), rng.integers(0, 2, 80)
    assert not len(MDLPDiscretizer().fit(X, y).cut_points_[0])
    assert len(MDLPDiscretizer(force_first_cut=True).fit(X, y).cut_points_[0]) == 1
    levels = MDLPDiscretizer(column_kinds=["categorical"]).fit(X, y)
    assert levels.n_levels_[0] == len(np.unique(X)) and levels.transform(X).max() == levels.n_levels_[0] - 1


def test_rows_order_weights_and_class_names_change_nothing():
    X, y = steps()
    rng = np.random.default_rng(1)
    weight = rng.integers(0, 4, len(y))
    plain = MDLPDiscretizer().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    order = rng.permutation(len(y))
    for other in (
        MDLPDiscretizer().fit(X, y, sample_weight=weight),
        MDLPDiscretizer().fit(X[order], np.array(["z", "x", "y"])[y[order]], sample_weight=weight[order]),
        MDLPDiscretizer().fit(pd.DataFrame(X), list(y), sample_weight=pd.Series(weight)),
    ):
        for mine, theirs in zip(other.cut_points_, plain.cut_points_):
            np.testing.assert_array_equal(mine, theirs)


def test_columns_are_cut_one_by_one():
    X, y = steps()
    bins = MDLPDiscretizer().fit(X, y)
    turned = MDLPDiscretizer().fit(X[:, ::-1], y)
    for mine, theirs in zip(bins.cut_points_, turned.cut_points_[::-1]):
        np.testing.assert_array_equal(mine, theirs)


def test_rows_without_a_label_are_left_out():
    X, y = steps()
    known = np.arange(len(y)) % 3 > 0
    some = MDLPDiscretizer().fit(X, np.where(known, y, np.nan))
    for mine, theirs in zip(some.cut_points_, MDLPDiscretizer().fit(X[known], y[known]).cut_points_):
        np.testing.assert_array_equal(mine, theirs)


def test_it_stands_in_a_pipeline():
    X, y = steps()
    X[::5, 2] = np.nan
    chain = make_pipeline(MDLPDiscretizer(), CategoricalNB(min_categories=5)).fit(X, y)
    assert chain.score(X, y) > 0.9
    encoded = make_pipeline(MDLPDiscretizer(), OneHotEncoder(handle_unknown="ignore")).fit(FRAME, Y)
    assert encoded.transform(FRAME).shape[0] == len(FRAME)


def test_it_survives_a_file(tmp_path):
    bins = MDLPDiscretizer(force_first_cut=True).fit(FRAME, Y)
    save(bins, tmp_path / "bins")
    again = load(tmp_path / "bins")
    assert again.transform(FRAME).equals(bins.transform(FRAME)) and again.level_names_ == bins.level_names_
    for mine, theirs in zip(again.cut_points_, bins.cut_points_):
        np.testing.assert_array_equal(mine, theirs)
    save(again, tmp_path / "again")
    assert (tmp_path / "bins").read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": None}, "requires y to be passed"),
        ({"y": [0.5] * 119 + [1.5]}, "continuous"),
        ({"y": [None] * 120}, "y holds no observed label"),
        ({"y": [0, 1]}, "inconsistent numbers of samples"),
        ({"sample_weight": [-1.0] * 120}, r"sample_weight must be finite numbers >= 0, got -1.0 in row 0"),
        ({"sample_weight": [1.0] * 5}, "sample_weight has 5 entries but X has 120 rows"),
        ({"sample_weight": np.ones((120, 2))}, "sample_weight must be 1D"),
        ({"sample_weight": ["heavy"] * 120}, "sample_weight must be numbers"),
        ({"sample_weight": np.zeros(120)}, "zero for all 120 rows"),
        ({"sample_weight": [np.nan] * 120}, "finite"),
    ],
)
def test_wrong_labels_and_weights_are_named(arguments, message):
    X, y = steps()
    with pytest.raises(ValueError, match=message):
        MDLPDiscretizer().fit(X, **{"y": y, **arguments})


def test_wrong_parameters_and_unfitted_use():
    X, y = steps()
    with pytest.raises(ValueError, match="MDLPDiscretizer: force_first_cut must be True or False"):
        MDLPDiscretizer(force_first_cut="yes").fit(X, y)
    with pytest.raises(NotFittedError):
        MDLPDiscretizer().transform(X)
    with pytest.raises(ValueError, match="X has 2 features, but MDLPDiscretizer is expecting 3"):
        MDLPDiscretizer().fit(X, y).transform(X[:, :2])
    with pytest.raises(ValueError, match="no row has both a label and a weight"):
        MDLPDiscretizer().fit(X[:2], [0, None], sample_weight=[0, 1])
