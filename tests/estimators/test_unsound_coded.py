"""Files of the coded-table models whose parts do not fit together are refused, and say so."""

import numpy as np
import pytest
from coded_tables import coded

from partita import MDLPDiscretizer, NaiveBayes, TANClassifier, load, save
from partita.data.archive import ArchiveError, read_archive, write_archive


def tree_of(model, path):
    X, y = coded()
    save(model.fit(X, y), path)
    return read_archive(path)


def refused(path, tree):
    write_archive(path, "model", tree)
    with pytest.raises(ArchiveError, match="cannot be loaded"):
        load(path)


def test_statistics_of_other_columns(tmp_path):
    tree = tree_of(NaiveBayes(), tmp_path / "model")
    tree["learnt"]["_statistics"][1]["counts"].pop()
    refused(tmp_path / "model", tree)


def test_statistics_that_are_no_numbers(tmp_path):
    tree = tree_of(NaiveBayes(), tmp_path / "model")
    tree["learnt"]["_statistics"][1]["class_weight"] = np.full(2, np.nan)
    refused(tmp_path / "model", tree)


def test_a_coder_of_other_columns(tmp_path):
    tree = tree_of(MDLPDiscretizer(), tmp_path / "model")
    tree["learnt"]["_coder"][1]["schema"]["columns"][0]["levels"] = ["x", "y"]
    refused(tmp_path / "model", tree)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("levels", np.array([2, 3, 2, 5], np.int32)),
        ("order", np.array([0, 1, 2, 2], np.int32)),
        ("parent", np.array([1, 0, 0, 0], np.int32)),
        ("log_table", []),
    ],
)
def test_a_tree_that_does_not_fit(tmp_path, part, value):
    tree = tree_of(TANClassifier(), tmp_path / "model")
    tree["learnt"]["_tree"][1][part] = value
    refused(tmp_path / "model", tree)
