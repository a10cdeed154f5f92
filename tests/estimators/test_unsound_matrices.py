"""A file of a matrix model with a damaged array is refused when it is loaded, not when it answers."""

import numpy as np
import pytest
from matrices import QUICK, low_rank

from partita import BayesianSVD, load, save
from partita.data.archive import ArchiveError, read_archive, write_archive

X, _ = low_rank()


def damages(learnt):
    """Changes of what was learnt, each of which must be refused."""
    draws, entries = learnt["_posterior"][1], learnt["_matrix"][1]["entries"]
    yield draws["U"], "cells", draws["U"]["cells"][:-1]
    yield draws["U"], "cells", np.full_like(draws["U"]["cells"], np.nan)
    yield draws["row_offset"], "shapes", draws["row_offset"]["shapes"] - 1
    yield draws["theta"], "shapes", draws["theta"]["shapes"] + 1
    yield draws, "n", 0
    yield draws, "levels", np.arange(3.0)
    yield draws, "link", "ordinal"
    yield entries, "values", np.full_like(entries["values"], np.inf)
    yield entries, "n_rows", entries["n_rows"] + 1
    yield entries, "n_rows", 3
    yield entries, "row", entries["row"][:-1]
    yield entries, "trials", entries["values"]


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "model.partita"
    model = BayesianSVD(**QUICK).fit(X, row_features=np.arange(30.0)[:, None])
    save(model, path)
    whole = read_archive(path)
    for number, (node, key, value) in enumerate(damages(whole["learnt"])):
        before = node[key]
        node[key] = value
        write_archive(path, "model", whole)
        with pytest.raises(ArchiveError, match="cannot be loaded"):
            load(path)
            pytest.fail(f"damage {number} ({key}) was accepted")
        node[key] = before
    write_archive(path, "model", whole)
    np.testing.assert_array_equal(load(path).complete(), model.complete())
