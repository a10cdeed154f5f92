"""A stream knows the levels that the caller declares, whether or not its first rows hold them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import partita
from partita import AClass, CRPMixture
from partita.data.validate import DataWarning

Y = [0, 1] * 20


def frame(values, categories=("p", "q", "r")) -> pd.DataFrame:
    values = list(values) * (40 // len(values))
    return pd.DataFrame({"c": pd.Categorical(values, categories=categories), "a": np.arange(40.0)})


def in_polars(values) -> pl.DataFrame:
    return pl.DataFrame({"c": pl.Series(list(values) * 20, dtype=pl.Enum(["p", "q", "r"])), "a": np.arange(40.0)})


@pytest.mark.parametrize("make", [frame, in_polars])
def test_declared_categories_are_levels_of_a_stream(make):
    model = AClass(random_state=0).partial_fit(make("pq"), Y)
    assert model.schema_.columns[0].levels == ("p", "q", "r") and model.schema_.columns[0].kind == "categorical"
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        model.partial_fit(make("pr"), Y)
    P = model.predict_proba(make("rp"))  # what came later was learnt: r goes with the second class, p with the first
    assert P[0, 1] > 0.7 and P[1, 1] < 0.3


def test_a_filter_knows_them_too_and_chains_keep_to_what_they_saw():
    assert len(CRPMixture(inference="smc", random_state=0).fit(frame("pq")).schema_.columns[0].levels) == 3
    assert CRPMixture(n_sweeps=2, random_state=0).fit(frame("pq")).schema_.columns[0].levels == ("p", "q")


def test_declared_categories_of_a_column_of_holes():
    empty = frame("pq").assign(c=pd.Categorical([None] * 40, categories=["p", "q", "r"]))
    with pytest.warns(DataWarning, match="no observed cell"):
        model = CRPMixture(random_state=0).partial_fit(empty)
    model.partial_fit(frame("r"))
    filled = model.impute(empty)
    assert (filled["c"] == "r").mean() > 0.9
    assert (model.sample(50, random_state=0)["c"] == "r").mean() > 0.4


@pytest.mark.parametrize("container", ["pandas", "numpy"])
def test_levels_named_in_column_kinds(container):
    table = frame("pq").astype({"c": object})
    first = table.assign(c=None)
    later = table.assign(c="r")
    kinds = {"c": ["p", "q", "r"]}
    if container == "numpy":
        first, later, kinds = first.to_numpy(dtype=object), later.to_numpy(dtype=object), {0: ["p", "q", "r"]}
    with pytest.warns(DataWarning, match="no observed cell"):
        model = AClass(random_state=0, column_kinds=kinds).partial_fit(first, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", DataWarning)
        model.partial_fit(later, Y)
    filled = pd.DataFrame(model.impute(first))
    assert (filled.iloc[:, 0] == "r").mean() > 0.9


def test_a_model_with_named_levels_is_saved(tmp_path):
    model = CRPMixture(random_state=0, column_kinds={"c": ["p", "q", "r"]}).partial_fit(frame("pq"))
    partita.save(model, tmp_path / "m.partita")
    again = partita.load(tmp_path / "m.partita")
    assert again.schema_ == model.schema_ and list(again.column_kinds["c"]) == ["p", "q", "r"]


def test_a_binary_column_takes_its_two_levels_as_they_come():
    kinds, holes = {"c": "binary"}, frame("pq").assign(c=None)
    with pytest.warns(DataWarning):
        model = CRPMixture(random_state=0, column_kinds=kinds).partial_fit(holes)
    model.partial_fit(holes.assign(c="q")).partial_fit(holes.assign(c=["p", "q"] * 20))
    assert model.schema_.columns[0].levels == ("q", "p") and model.schema_.columns[0].observed
    assert set(model.impute(holes)["c"]) == {"q"}
    with pytest.warns(DataWarning, match="name the levels beforehand"):
        model.partial_fit(holes.assign(c="s"))


def test_without_a_level_one_is_told_what_to_do():
    with pytest.warns(DataWarning, match="begins without a level of column 'c'.*pandas Categorical"):
        CRPMixture(random_state=0, column_kinds={"c": "categorical"}).partial_fit(frame("pq").assign(c=None))


def test_labels_that_are_wrong_leave_the_levels_as_they_were():
    model = AClass(random_state=0).partial_fit(frame("p", ["p"]), Y)
    before = model.schema_
    with pytest.raises(ValueError, match="not in classes"):
        model.partial_fit(frame("q", ["q"]), [2] * 40)
    assert model.schema_ == before


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ({"c": ["p", "p"]}, "all differ"), ({"c": []}, "at least one"), ({"c": 3}, "a list of levels"),
        ({"c": ["p", "s"]}, "holds 'q' in row 1, which is none of the levels"),
    ],
)  # fmt: skip
def test_levels_that_cannot_be(kinds, said):
    with pytest.raises(ValueError, match=said):
        CRPMixture(column_kinds=kinds).fit(frame("pq"))
