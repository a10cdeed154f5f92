"""Features of rows and columns meet their ids."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from partita.data.ids import Ids
from partita.data.side_features import features_of, line_up
from partita.data.validate import DataWarning

NAMES = Ids(np.array(["a", "c"], dtype=object), "row")
F = np.array([[1.0, 0.0], [2.0, 5.0], [3.0, 1.0]])


def test_lines_by_id_make_ids_without_entries_known():
    for features in (pd.DataFrame(F, index=list("cab")), {"c": F[0], "a": F[1], "b": F[2]}):
        ids, matrix = line_up(features, NAMES, "row_features", fixed=False)
        assert ids.labels.tolist() == ["c", "a", "b"] and np.array_equal(matrix, F)
        ids, matrix = line_up(features, NAMES, "row_features", fixed=True)
        assert ids is NAMES and np.array_equal(matrix, F[[1, 0]])
    with pytest.raises(ValueError, match=r"none of them for the row 'c' \(1 of 2 rows"):
        line_up(pd.DataFrame(F, index=list("abd")), NAMES, "row_features", fixed=False)


def test_whole_numbers_are_lines_of_an_array():
    ids, matrix = line_up(F, Ids(np.array([0, 2]), "row"), "row_features", fixed=False)
    assert ids.labels.tolist() == [0, 1, 2] and np.array_equal(matrix, F)
    with pytest.warns(DataWarning, match=r"no entry is of row 0.*row_ids=range\(1, 3 \+ 1\)"):
        line_up(F, Ids(np.array([1, 2]), "row"), "row_features", fixed=False)
    ids, matrix = line_up(F, Ids(np.array([1, 2, 3]), "row"), "row_features", fixed=False)  # from 1: in their order
    assert ids.labels.tolist() == [1, 2, 3] and np.array_equal(matrix, F)


def test_an_array_of_the_wrong_height_is_refused():
    for features in (F, sparse.csr_matrix(F), F.tolist()):
        with pytest.raises(ValueError, match=r"row_features has 3 lines, but there are 2 rows.*frame whose index"):
            line_up(features, NAMES, "row_features", fixed=False)
    with pytest.raises(ValueError, match="column_features has 3 lines, but there are 2 columns"):
        line_up(F, Ids(np.arange(2), "column"), "column_features", fixed=True)


def test_features_are_numbers():
    with pytest.raises(ValueError, match="row_features: column 'job' holds text"):
        line_up(pd.DataFrame({"job": ["x", "y"]}), NAMES, "row_features", fixed=False)
    with pytest.raises(ValueError, match="row_features holds an infinite number in line 1"):
        line_up(np.array([[1.0], [np.inf]]), NAMES, "row_features", fixed=False)
    with pytest.raises(ValueError, match="listed twice"):
        line_up(pd.DataFrame(F, index=list("aac")), NAMES, "row_features", fixed=False)
    _, matrix = line_up(np.array([[1.0], [np.nan]]), NAMES, "row_features", fixed=False)
    assert np.isnan(matrix[1, 0])  # unknown


def test_features_of_ids_that_are_new():
    asked = np.array(["b", "z"], dtype=object)
    by_id = features_of(pd.DataFrame(F, index=list("cab")), asked, 2, NAMES, "row_features")
    assert np.array_equal(by_id[0], F[2]) and np.isnan(by_id[1]).all()
    assert np.array_equal(features_of(F[:2], asked, 2, NAMES, "row_features"), F[:2])
    assert np.isnan(features_of(None, asked, 2, NAMES, "row_features")).all()
    with pytest.raises(ValueError, match="has 3 lines, expected 2"):
        features_of(F, asked, 2, NAMES, "row_features")
    with pytest.raises(ValueError, match="has 2 columns, but the model was fitted with 3"):
        features_of(F, asked, 3, NAMES, "row_features")
    with pytest.raises(ValueError, match="fitted without row features"):
        features_of(F, asked, 0, NAMES, "row_features")
