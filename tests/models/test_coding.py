"""The coder: what becomes of missing cells, unseen levels and numbers, and that it survives a file."""

import numpy as np
import pandas as pd
import pytest

from partita.data import encode, learn_schema
from partita.data.archive import read_archive, write_archive
from partita.models.coded.coding import Coder
from partita.models.coded.cut_points import cut_points


def frame(n=200, seed=0):
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 2, n).astype(np.int32)
    table = pd.DataFrame(
        {
            "flag": rng.random(n) < 0.5,
            "colour": np.array(["red", "green", "blue"])[rng.integers(0, 3, n)],
            "visits": rng.poisson(1 + 8 * label),
            "height": rng.normal(170 + 25 * label, 8),
            "noise": rng.normal(size=n),
        }
    ).astype({"flag": object, "colour": object, "visits": float, "height": float})
    return table, label


def learn(X, label, unscaled=True, **settings):
    schema = learn_schema(X, {"visits": "count"}, scaled=not unscaled)
    return Coder.learn(encode(X, schema), label, int(label.max()) + 1, **settings)


def test_a_complete_table_has_no_missing_level_and_holes_are_integrated_out():
    X, label = frame()
    coder = learn(X, label)
    assert not coder.missing.any()
    assert coder.levels.dtype == np.int32 and coder.levels.tolist()[:2] == [2, 3] and coder.levels[4] == 1
    codes = coder.codes(encode(X, coder.schema))
    assert codes.dtype == np.int32 and codes.flags.c_contiguous and codes.shape == X.shape
    assert (codes >= 0).all() and (codes < coder.levels).all()
    holes = np.full(X.shape, None, object)
    assert (coder.codes(encode(holes, coder.schema)) == -1).all()


def test_missing_is_one_more_level_where_training_had_missing_cells():
    X, label = frame()
    X.loc[3, "colour"] = None
    X.loc[4, "height"] = np.nan
    coder = learn(X, label)
    assert coder.missing.tolist() == [False, True, False, True, False]
    codes = coder.codes(encode(X, coder.schema))
    assert codes[3, 1] == 3 == coder.own_levels[1] == coder.levels[1] - 1
    assert codes[4, 3] == coder.own_levels[3] == coder.levels[3] - 1
    unseen = X.assign(colour="mauve")
    assert (coder.codes(encode(unseen, coder.schema))[:, 1] == 3).all()


def test_an_unseen_level_is_as_a_missing_cell():
    X, label = frame()
    coder = learn(X, label)
    unseen, hole = X.assign(colour="mauve"), X.assign(colour=pd.array([None] * len(X), object))
    np.testing.assert_array_equal(coder.codes(encode(unseen, coder.schema)), coder.codes(encode(hole, coder.schema)))


def test_levels_that_training_never_showed_are_no_levels():
    """A constant column of ones, truth values that are all true, and columns of holes of any kind."""
    n, label = 40, (np.arange(40) % 2).astype(np.int32)
    X = pd.DataFrame(
        {"one": np.ones(n), "true": np.ones(n, bool), "hole": np.full(n, np.nan), "holes": np.full(n, np.nan)}
    )
    coder = Coder.learn(encode(X, learn_schema(X, {"holes": "real"})), label, 2)
    assert coder.levels.tolist() == [1, 1, 1, 1] and coder.own_levels.tolist() == [1, 1, 0, 0]
    assert coder.level_names() == [["1.0"], ["True"], ["missing"], ["missing"]]
    assert (coder.codes(encode(X, coder.schema)) == 0).all()
    new = pd.DataFrame({"one": [0.0], "true": [False], "hole": [1.0], "holes": [3.5]})
    assert coder.codes(encode(new, coder.schema)).tolist() == [[-1, -1, 0, 0]]


def test_levels_of_rows_that_do_not_count_are_not_seen():
    X, label = frame()
    schema = learn_schema(X, {"visits": "count"})
    weight = (X["colour"] != "green").to_numpy().astype(float)
    coder = Coder.learn(encode(X, schema), label, 2, weight)
    codes = coder.codes(encode(X, schema))[:, 1]
    assert coder.levels[1] == 2 and coder.level_names()[1] == ["blue", "red"]
    for level, code in {"blue": 0, "red": 1, "green": -1}.items():
        assert (codes[X["colour"] == level] == code).all()


def test_rows_without_label_or_weight_have_no_say():
    X, label = frame()
    extra = pd.concat([X, pd.DataFrame({name: [None] for name in X}, dtype=object)], ignore_index=True)
    extra = extra.astype({"visits": float, "height": float, "noise": float})
    for label_, weight in ((np.append(label, -1), None), (np.append(label, 0), np.append(np.ones(len(label)), 0.0))):
        coder = learn(extra, label_.astype(np.int32), weight=weight)
        assert not coder.missing.any()
        for mine, theirs in zip(coder.cuts, learn(X, label).cuts):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("unscaled", [True, False])
def test_bins_are_those_of_the_cut_points_in_the_callers_units(unscaled):
    X, label = frame()
    coder = learn(X, label, unscaled)
    codes = coder.codes(encode(X, coder.schema))
    cuts = coder.cut_points()
    assert len(cuts[3]) >= 1 and not len(cuts[0]) and not len(cuts[4])
    np.testing.assert_allclose(cuts[3], cut_points(X["height"].to_numpy(), label, 2), rtol=1e-12)
    np.testing.assert_array_equal(codes[:, 3], (X["height"].to_numpy()[:, None] > cuts[3]).sum(axis=1))
    np.testing.assert_array_equal(codes[:, 2], (X["visits"].to_numpy()[:, None] > cuts[2]).sum(axis=1))


def test_unscaled_cells_keep_what_scaling_loses():
    """Values over sixty orders of magnitude: the classes differ among the tiny ones only."""
    x = np.concatenate([10.0 ** -np.linspace(30, 50, 100), np.linspace(1, 1e10, 100)])
    label = (x < 1e-40).astype(np.int32)
    X = x[:, None]
    (scaled,) = learn_any(X, label, False).cut_points()[0]
    assert ((x > scaled) != (label == 0)).sum() == 50  # all tiny values have become one
    (cut,) = learn_any(X, label, True).cuts[0]
    assert ((x > cut) == (label == 0)).all()


def learn_any(X, label, unscaled):
    return Coder.learn(encode(X, learn_schema(X, scaled=not unscaled)), label, 2)


def test_forced_cuts_and_names():
    X, label = frame()
    X.loc[0, "noise"] = np.nan
    coder = learn(X, label, force_first_cut=True)
    assert len(coder.cuts[4]) == 1
    names = coder.level_names()
    assert [len(listed) for listed in names] == coder.levels.tolist()
    assert names[0] == ["False", "True"] and names[1] == ["blue", "green", "red"]
    assert names[4][0].startswith("<= ") and names[4][1].startswith("> ") and names[4][2] == "missing"
    assert learn(X, label).level_names()[4] == ["any", "missing"]


def test_it_survives_a_file(tmp_path):
    X, label = frame()
    X.loc[3, "colour"] = None
    coder = learn(X, label)
    write_archive(tmp_path / "coder", "coder", coder.to_tree())
    again = Coder.from_tree(read_archive(tmp_path / "coder", "coder"))
    table = encode(X, again.schema)
    np.testing.assert_array_equal(again.codes(table), coder.codes(table))
    assert again.level_names() == coder.level_names()
    with pytest.raises(ValueError, match="do not fit"):
        Coder.from_tree({**coder.to_tree(), "cuts": []})
    with pytest.raises(ValueError, match="do not rise"):
        Coder.from_tree({**coder.to_tree(), "cuts": [np.zeros(2)] * 5})
    with pytest.raises(ValueError, match="levels do not fit"):
        Coder.from_tree({**coder.to_tree(), "seen": [np.ones(2, bool)] * 5})
    with pytest.raises(ValueError, match="no numbers"):
        Coder.from_tree({**coder.to_tree(), "cuts": [np.arange(2.0)] * 5})


def test_cut_points_leave_out_missing_values_labels_and_weights():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.normal(0, 1, 60), rng.normal(4, 1, 60)])
    label = np.repeat([0, 1], 60).astype(np.int32)
    plain = cut_points(x, label, 2)
    assert len(plain) >= 1
    strange = cut_points(
        np.concatenate([x, [np.nan, 2.0, 2.0]]),
        np.concatenate([label, [0, -1, 1]]),
        2,
        np.concatenate([np.ones(120), [1, 1, 0]]),
    )
    np.testing.assert_array_equal(strange, plain)
