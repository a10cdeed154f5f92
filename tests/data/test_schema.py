"""A schema survives a file, exactly."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita.data import Column, Schema, encode, learn_schema

finite = st.floats(allow_nan=False, allow_infinity=False)
levels = st.lists(st.one_of(st.text(), st.integers(), finite, st.booleans()), max_size=5).map(tuple)
columns = st.builds(
    Column,
    st.one_of(st.text(), st.integers()),
    st.sampled_from(["binary", "categorical", "count", "real"]),
    levels,
    finite,
    finite,
    st.sampled_from(["int", "text"]),
)


@given(st.lists(columns, max_size=4), st.booleans(), st.sampled_from(["numpy", "pandas", "polars"]))
def test_tree_round_trip_through_json(columns, named, container):
    schema = Schema(tuple(columns), named, container)
    back = Schema.from_tree(json.loads(json.dumps(schema.to_tree())))
    assert repr(back) == repr(schema) and back == schema


def test_empty_parts_have_shape():
    schema = learn_schema(np.array([[0.5], [1.5]]))
    table = encode(np.array([[0.5], [1.5]]), schema)
    assert table.codes.shape == (2, 0) and schema.n_levels.shape == (0,)
    schema = learn_schema(np.array([[0.0], [1.0]]))
    table = encode(np.array([[0.0], [np.nan]]), schema)
    assert table.reals.shape == (2, 0)
    assert schema.log_jacobian(table).tolist() == [0.0, 0.0]


def test_schema_is_frozen():
    with pytest.raises(AttributeError):
        learn_schema(np.eye(2)).named = True
