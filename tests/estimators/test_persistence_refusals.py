"""Files that are not models of this version: each is refused, and the message says why and what to do."""

import os

import numpy as np
import pytest
from estimator_tables import QUICK, holed_binary

from partita import AClass, CRPMixture, HybridClassifier, load, save
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


@pytest.mark.parametrize("version", [-1, 0, True, None, "1", 1.0])
def test_a_format_that_never_was(version, path, tree, monkeypatch):
    monkeypatch.setattr("partita.data.archive.FORMAT_VERSION", version)
    write_archive(path, "model", tree)
    monkeypatch.undo()
    with pytest.raises(ArchiveError, match=r"model.partita.*claims the format"):
        load(path)


MODELS = {
    "chains": lambda X, y: AClass(**QUICK).fit(X, y),
    "stream": lambda X, y: AClass(n_filters=2, random_state=0).partial_fit(X, y),
    "mixture": lambda X, y: CRPMixture(**QUICK).fit(X),
    "filter": lambda X, y: CRPMixture(n_filters=2, inference="smc", random_state=0).fit(X),
    "hybrid": lambda X, y: HybridClassifier(CRPMixture(**QUICK), random_state=0).fit(X, y),
    "draws": lambda X, y: HybridClassifier(CRPMixture(**QUICK), n_draws=2, random_state=0).fit(X, y),
}
NEEDED = {
    "chains": ["_built", "_online", "classes_"],
    "stream": ["_built", "_online", "classes_"],
    "mixture": ["_built", "_online"],
    "filter": ["_built", "_online"],
    "hybrid": ["generative_", "discriminative_", "classes_", "_draw_seed"],
    "draws": ["generative_", "discriminative_", "classes_", "_draw_seed"],
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_that_lacks_a_part_is_refused(name, path):
    save(MODELS[name](*holed_binary()), path)
    load(path)
    for part in NEEDED[name]:
        tree = read_archive(path)
        del tree["learnt"][part]
        write_archive(path.with_name("other"), "model", tree)
        with pytest.raises(ArchiveError, match=r"other.*cannot be loaded"):
            load(path.with_name("other"))


@pytest.mark.parametrize("name", ["chains", "stream", "hybrid", "draws"])
@pytest.mark.parametrize("classes", [np.array([0]), np.array([0, 1, 2])])
def test_another_number_of_classes_is_refused(name, classes, path):
    save(MODELS[name](*holed_binary()), path)
    tree = read_archive(path)
    tree["learnt"]["classes_"] = ["plain", classes]
    write_archive(path, "model", tree)
    with pytest.raises(ArchiveError, match=r"cannot be loaded.*classes"):
        load(path)


@pytest.mark.parametrize("bad", ["an open file", None, b"model", ["model"]])
def test_a_path_is_text_or_a_path(bad, path, tree):
    bad = os.open(path, os.O_RDONLY) if bad == "an open file" else bad  # a number, which `open` takes for this file
    with pytest.raises(ValueError, match="load: path must be text or a path"):
        load(bad)
    with pytest.raises(ValueError, match="save: path must be text or a path"):
        save(AClass(), bad)


def test_a_folder_that_is_not_there(tmp_path):
    X, y = holed_binary()
    model = AClass(**QUICK).fit(X, y)
    with pytest.raises(ValueError, match=r"there is no folder .*nowhere.*Create it"):
        save(model, tmp_path / "nowhere" / "model.partita")
    with pytest.raises(ValueError, match="it is a folder"):
        save(model, tmp_path)
    assert not list(tmp_path.iterdir())
