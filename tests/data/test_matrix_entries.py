"""Entries of a matrix in every form; ids of any kind come back; what cannot be is named."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from partita.data.entries import is_long, read_matrix, read_triplets
from partita.data.entry_checks import check_trials, learn_levels, level_codes, without_duplicates
from partita.data.ids import Ids, as_labels, given_ids, learn_ids

FRAME = pd.DataFrame({"user": ["b", "a", "b"], "item": [7, 9, 9], "stars": [5.0, 3.0, 1.0]})


def cells(observed):
    """Every cell as (row id, column id, value)."""
    rows, columns = observed.rows.labels[observed.row], observed.columns.labels[observed.column]
    return set(zip(rows.tolist(), columns.tolist(), observed.values.tolist()))


@pytest.mark.parametrize(
    "labels",
    [
        [3, 1, 3, 10**12],
        ["b", "a", "b", "é"],
        [(1, 2), ("x", 3), (1, 2), (0,)],
        [1, "one", 1, None.__class__],
        [1.5, 2.0, 1.5, -3.0],
        [datetime.date(2020, 1, 2), datetime.date(2019, 1, 1), datetime.date(2020, 1, 2), datetime.date(2021, 1, 1)],
        [frozenset({1}), frozenset({2}), frozenset({1}), frozenset()],
        [True, False, True, "x"],
    ],
    ids=lambda labels: type(labels[0]).__name__ + type(labels[-1]).__name__,
)
def test_ids_of_any_hashable_type_come_back(labels):
    ids, place = learn_ids(as_labels(labels, "row"), "row")
    assert [ids.labels[k] for k in place] == labels and len(ids) == 3
    assert ids.codes(as_labels(labels, "row")).tolist() == place.tolist()


def test_ids_that_can_be_sorted_are_and_others_keep_their_order():
    assert learn_ids(as_labels(["c", "a", "b"], "row"), "row")[0].labels.tolist() == ["a", "b", "c"]
    assert learn_ids(as_labels([30, -1, 2], "row"), "row")[0].labels.tolist() == [-1, 2, 30]
    assert learn_ids(as_labels(["c", 1, "a"], "row"), "row")[0].labels.tolist() == ["c", 1, "a"]


def test_unknown_ids_have_no_place():
    for labels, asked in (([5, 3], [3, 4, 5, -1]), (["a", "b"], ["b", "z", 3]), ([0, 1, 2], [2, 3, -1])):
        ids, _ = learn_ids(as_labels(labels, "row"), "row")
        expected = [ids.labels.tolist().index(x) if x in labels else -1 for x in asked]
        assert ids.codes(asked).tolist() == expected
    assert Ids(np.array([3, 5]), "row").codes(np.array([3.0, 4.0])).tolist() == [0, -1]
    assert Ids(np.zeros(0, int), "row").codes([1, 2]).tolist() == [-1, -1]


def test_dates_of_frames_are_ids():
    days = pd.Series(pd.to_datetime(["2020-01-02", "2020-01-01"]))
    ids, place = learn_ids(as_labels(days, "row"), "row")
    assert place.tolist() == [1, 0] and ids.codes(list(days)).tolist() == [1, 0]


def test_ids_grow_at_the_end():
    ids = Ids(np.array([2, 5]), "row")
    grown = ids.extended(as_labels([5, 1, 9], "row"))
    assert grown.labels.tolist() == [2, 5, 1, 9] and grown.codes([1, 2, 5]).tolist() == [2, 0, 1]
    assert ids.extended(as_labels(["x"], "row")).labels.tolist() == [2, 5, "x"]
    assert ids.extended(as_labels([5], "row")) is ids


@pytest.mark.parametrize("pandas_dtype", [object, "string", "category"])
def test_frames_of_three_columns(pandas_dtype):
    frame = FRAME.astype({"user": pandas_dtype})
    expected = {("b", 7, 5.0), ("a", 9, 3.0), ("b", 9, 1.0)}
    assert cells(read_triplets(frame)) == expected
    assert cells(read_triplets(pl.from_pandas(FRAME))) == expected
    shuffled = frame[["stars", "item", "user"]].assign(when=0)
    assert cells(read_triplets("user", "item", "stars", data=shuffled)) == expected
    nullable = frame.astype({"item": "Int64", "stars": "Float64"})
    assert cells(read_triplets(nullable)) == expected
    assert cells(read_triplets(frame.set_axis(["id", "id", ("a", "value")], axis=1))) == expected


def test_a_frame_lists_entries_or_is_the_matrix():
    assert is_long(FRAME, "gaussian") and is_long(pl.from_pandas(FRAME), "gaussian")
    four = FRAME.assign(trials=3)
    assert is_long(four, "binomial") and not is_long(four, "gaussian")
    wide = pd.DataFrame(np.eye(3), columns=list("abc"))
    assert not is_long(wide, "gaussian") and not is_long(np.eye(3), "gaussian")
    assert not is_long(FRAME.assign(user=["a", None, "b"]), "gaussian")
    assert not is_long(FRAME.rename(columns={"user": 0}), "gaussian")


def test_dense_and_sparse_matrices():
    X = np.array([[1.0, np.nan, 0.0], [np.nan, np.nan, np.nan], [2.0, 3.0, np.nan]])
    expected = {(0, 0, 1.0), (0, 2, 0.0), (2, 0, 2.0), (2, 1, 3.0)}
    dense = read_matrix(X)
    assert cells(dense) == expected and len(dense.rows) == 3 and len(dense.columns) == 3  # an empty row is a row
    stored = sparse.coo_matrix(([1.0, 0.0, 2.0, 3.0], ([0, 0, 2, 2], [0, 2, 0, 1])), shape=(3, 3))
    for form in ("coo", "csr", "csc", "lil"):
        assert cells(read_matrix(stored.asformat(form))) == expected, form
    assert cells(read_matrix(sparse.csr_array(stored))) == expected
    objects = X.astype(object)
    objects[0, 1] = None
    assert cells(read_matrix(objects)) == expected


def test_a_wide_frame_keeps_its_names():
    frame = pd.DataFrame({"x": [1.0, None], "y": [2.0, 3.0]}, index=["r", "s"])
    assert cells(read_matrix(frame)) == {("r", "x", 1.0), ("r", "y", 2.0), ("s", "y", 3.0)}
    assert cells(read_matrix(pl.from_pandas(frame))) == {(0, "x", 1.0), (0, "y", 2.0), (1, "y", 3.0)}
    assert cells(read_matrix(frame.astype("Float64"))) == {("r", "x", 1.0), ("r", "y", 2.0), ("s", "y", 3.0)}


def test_a_missing_value_is_no_entry_but_its_ids_are_known():
    observed = read_triplets(["a", "b"], [1, 2], [3.0, np.nan])
    assert cells(observed) == {("a", 1, 3.0)} and observed.rows.labels.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: read_triplets(["a"], ["x"], [np.inf]), r"row 'a', column 'x' is inf \(infinity\)"),
        (lambda: read_matrix([[1.0, -np.inf]]), r"X: the cell of row 0, column 1 is -inf"),
        (lambda: read_triplets([1], [2], ["five"]), "entry 0 is 'five', which is no number"),
        (lambda: read_triplets([1, 2], [2, 2], ["5", "x"]), "entry 1 is 'x', which is no number"),
        (lambda: read_triplets([1, 2], [2, 2], ["5", "6"]), "entry 0 is '5', which is no number"),
        (lambda: read_triplets([1, 2], [2, 2], pd.Series([1, "x"])), "entry 1 is 'x', which is no number"),
        (lambda: read_matrix(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})), "column 'a' holds text .row 0: 'x'"),
        (lambda: read_triplets([1, None], [2, 2], [1, 2]), "the id of entry 1 is missing"),
        (lambda: read_triplets([1, np.nan], [2, 2], [1, 2]), "the id of entry 1 is missing"),
        (lambda: read_triplets([1], [2, 2], [1, 2]), "different lengths: rows 1, columns 2, values 2"),
        (lambda: read_triplets([1], [2]), "columns and values are missing"),
        (lambda: read_triplets([[1], [2]], [1, 2], [1, 2]), "every id must be hashable"),
        (lambda: read_triplets(np.eye(2), [1, 2], [1, 2]), r"shape \(2, 2\)"),
        (lambda: read_triplets("user", "movie", "stars", data=FRAME), "no column 'movie'. Its columns: user, item"),
        (lambda: read_triplets(FRAME.assign(a=1, b=2)), "three columns .* got 5"),
        (lambda: read_triplets("a", "a", "b", data=FRAME.set_axis(["a", "a", "b"], axis=1)), "2 columns of the name"),
        (lambda: read_triplets("user", "item", "stars", data=[1]), "data must be a pandas or polars frame, got list"),
        (lambda: read_matrix(sparse.csr_matrix(np.eye(2) * 1j)), "Complex data not supported"),
        (lambda: read_matrix(np.eye(2), trials=np.ones(3)), r"shape of X, \(2, 2\), got \(3,\)"),
        (lambda: given_ids(["a", "b", "a"], "row", "row_ids"), "row_ids: the id 'a' is listed twice"),
    ],
)
def test_what_cannot_be_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_duplicates_are_named_or_averaged():
    observed = read_triplets(["a", "b", "a", "a"], ["x", "x", "x", "y"], [1.0, 2.0, 4.0, 8.0])
    with pytest.raises(ValueError, match=r"1 entry repeats .*row 'a', column 'x'\. Remove what is .*'mean'"):
        without_duplicates(observed, "error")
    assert cells(without_duplicates(observed, "mean")) == {("a", "x", 2.5), ("b", "x", 2.0), ("a", "y", 8.0)}
    trials = read_triplets(["a", "a"], ["x", "x"], [1, 2], [3, 5])
    summed = without_duplicates(trials, "mean")
    assert summed.values.tolist() == [3] and summed.trials.tolist() == [8]
    many = read_triplets([0] * 20, list(range(10)) * 2, np.arange(20.0))
    with pytest.raises(ValueError, match=r"10 entries repeat .*, and 7 more"):
        without_duplicates(many, "error")


@pytest.mark.parametrize(
    ("values", "trials", "message"),
    [
        ([3], [2], "more successes than trials: 3 of 2"),
        ([-1], [2], "negative number of successes"),
        ([0.5], [2], "no pair of whole numbers"),
        ([1], [np.inf], "no finite number of trials"),
        ([2], None, r"more successes than trials: 2 of 1.* Pass trials="),
    ],
)
def test_successes_and_trials_are_checked(values, trials, message):
    with pytest.raises(ValueError, match=f"row 'a', column 7 .*{message}"):
        check_trials(read_triplets(["a"], [7], values, trials))


def test_cells_without_trials_are_no_entries():
    kept = check_trials(read_triplets(["a", "b"], [1, 1], [0, 1], [0, 4]))
    assert kept.values.tolist() == [1] and kept.trials.tolist() == [4] and len(kept.rows) == 2
    assert check_trials(read_triplets(["a"], [1], [1])).trials.tolist() == [1]


def test_levels():
    observed = read_triplets(["a", "b", "c"], [1, 1, 1], [4.5, 0.5, 4.5])
    assert learn_levels(observed).tolist() == [0.5, 4.5]
    assert level_codes(observed, np.array([0.5, 1.0, 4.5])).tolist() == [2, 0, 2]
    with pytest.raises(ValueError, match=r"row 'a', column 1 is 4.5, a level that was not seen in training \(0.5, 1\)"):
        level_codes(observed, np.array([0.5, 1.0]))
    with pytest.raises(ValueError, match="2 to 100 distinct values, got 1"):
        learn_levels(observed.take(np.array([0])))
    with pytest.raises(ValueError, match=r"got 200.*link='gaussian'"):
        learn_levels(read_triplets(range(200), range(200), np.linspace(0, 1, 200)))
