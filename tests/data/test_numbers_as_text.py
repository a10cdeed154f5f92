"""Columns whose numbers came as text: taken for words, and told of by name."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from partita import AClass
from partita.data import DataWarning, learn_schema

SAID = "hold numbers written as text"


@pytest.mark.parametrize(
    "values",
    [
        ["1.5", "2.5", "1.5", "3"],
        ["1.5", None, "?", "n/a", "2.25"],
        [" 0.5", "1e3", "-.25"],
        ["1,5", "2,5", "0,75"],
        ["1,000", "20,500", "3,250"],
        list(map(str, range(12))),
    ],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda d: np.array([d["a"]], object).T])
def test_they_are_told_by_name(values, make):
    with pytest.warns(DataWarning, match=SAID) as told:
        schema = learn_schema(make({"a": values}))
    (message,) = [str(w.message) for w in told if SAID in str(w.message)]
    assert message.endswith(": 'a'." if schema.named else ": 0.") and schema.kinds[0] in ("binary", "categorical")


@pytest.mark.parametrize(
    "values",
    [
        ["1", "2", "3", "1"],  # grades
        ["01234", "00501", *map(str, range(10_000, 10_012))],  # codes
        ["1.5", "a", "b", "c"],
        ["yes", "no", None],
        ["1.2.3", "1.2.4", "?"],
    ],
)
def test_words_are_words(values):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Columns that have as many levels")
        learn_schema(pd.DataFrame({"a": values}))


def test_who_says_what_it_is_is_not_told():
    values = ["1.5", "2.5", "1.5", "3"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learn_schema(pd.DataFrame({"a": values}), {"a": "categorical"})
        learn_schema(pd.DataFrame({"a": values}), {"a": ["1.5", "2.5", "3"]})
        learn_schema(pd.DataFrame({"a": pd.Categorical(values)}))


def test_a_fit_tells_and_numbers_that_come_as_text_later_are_refused():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(40, 9, 60).round(2), "dose": rng.normal(size=60)})
    y = rng.integers(0, 2, 60)
    model = AClass(n_filters=2, n_sweeps=4, random_state=0)
    with pytest.warns(DataWarning, match=f"{SAID}.*: 'age'"):
        model.fit(frame.astype({"age": str}), y)
    model.fit(frame, y)
    with pytest.raises(ValueError, match=r"column 'age' is of kind .real. but holds text.*Convert it to numbers"):
        model.predict(frame.astype({"age": str}))
