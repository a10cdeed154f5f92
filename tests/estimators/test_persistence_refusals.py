"""Files that are not models of this version: each is refused, and the message says why and what to do."""

import numpy as np
import pytest
from estimator_tables import QUICK, holed_binary

from partita import AClass, load, save
from partita.data.archive import ArchiveError, read_archive, write_archive


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.partita"


@pytest.fixture
def tree(path):
    X, y = holed_binary()
    save(AClass(**QUICK).fit(X, y), path)
    return read_archive(path)


def test_a_truncated_file(path, tree):
    whole = path.read_bytes()
    for size in (len(whole) - 1, len(whole) // 2, 100):
        path.write_bytes(whole[:size])
        with pytest.raises(ArchiveError, match=r"model.partita.*(damaged|not a partita file).*restore it from a copy"):
            load(path)
    path.write_bytes(b"")
    with pytest.raises(ArchiveError, match="is empty"):
        load(path)


def test_foreign_files(path):
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ArchiveError, match="is not a partita file"):
        load(path)
    np.savez(path.with_suffix(".npz"), a=1)
    with pytest.raises(ArchiveError, match="a zip file but not one that partita wrote"):
        load(path.with_suffix(".npz"))
    with pytest.raises(FileNotFoundError):
        load(path.with_name("nowhere"))


def test_a_checkpoint_is_no_model(path):
    X, y = holed_binary()
    AClass(**QUICK, checkpoint=path).fit(X, y)
    with pytest.raises(ArchiveError, match="holds a checkpoint, not a model"):
        load(path)


def test_a_file_of_a_newer_format(path, tree, monkeypatch):
    monkeypatch.setattr("partita.data.archive.FORMAT_VERSION", 99)
    write_archive(path, "model", tree)
    monkeypatch.undo()
    with pytest.raises(ArchiveError, match=r"format 99.*upgrade partita"):
        load(path)


@pytest.mark.parametrize("name", ["TomorrowsClassifier", "RandomForestClassifier", "LogisticRegression", "os.system"])
def test_an_unknown_class_is_never_looked_up(name, path, tree):
    write_archive(path, "model", {**tree, "class": name})
    with pytest.raises(ArchiveError, match=f"model.partita.*holds an estimator '{name}', which this version.*upgrade"):
        load(path)


def test_parameters_of_another_version(path, tree):
    tree["parameters"]["sharpness"] = ["plain", 3]
    write_archive(path, "model", tree)
    with pytest.raises(ArchiveError, match=r"another version of partita, with parameters.*: sharpness"):
        load(path)


@pytest.mark.parametrize("broken", [{}, [], {"class": "AClass"}, "schema", "tag"])
def test_content_that_is_no_model(broken, path, tree):
    if broken == "schema":
        tree["learnt"]["schema_"] = ["Schema", {"columns": 3}]
    elif broken == "tag":
        tree["learnt"]["schema_"] = ["eval", "1"]
    else:
        tree = broken
    write_archive(path, "model", tree)
    with pytest.raises(ArchiveError, match=r"model.partita.*cannot be loaded"):
        load(path)
