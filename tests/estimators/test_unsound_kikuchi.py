"""A file of a Kikuchi-Bayes model, or of a tree, with one damaged entry is refused when it is loaded."""

import numpy as np
import pytest
from coded_tables import coded
from estimator_tables import mixed_frame

from partita import KikuchiBayesClassifier, TANClassifier, load, save
from partita.data.archive import ArchiveError, read_archive, write_archive


def leaves(node, place=()):
    """Places of all arrays and plain values of a tree."""
    if isinstance(node, dict | list):
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            yield from leaves(value, (*place, key))
    else:
        yield place, node


def damaged(value):
    """What may have become of a value: another type, another shape, no number, out of range."""
    if isinstance(value, np.ndarray):
        yield value.astype(np.float32 if value.dtype == np.float64 else np.int16)
        yield np.concatenate([value, value[:1]]) if len(value) else np.zeros(1, value.dtype)
        yield value[None]
        if value.size and value.dtype != bool:
            bad = value.copy()
            bad.flat[-1] = np.nan if value.dtype == np.float64 else 1_000_000
            yield bad
    elif isinstance(value, str):
        yield 3
    else:
        yield from (None, "x", -7, float("nan"))


def put(node, place, value):
    for key in place[:-1]:
        node = node[key]
    node[place[-1]] = value


def accepted(model, X, y, part, path):
    """Damages of a part of the model's file that are not refused."""
    save(model.fit(X, y), path)
    tree = read_archive(path)
    out = []
    for place, value in list(leaves(tree["learnt"][part][1])):
        for bad in damaged(value):
            put(tree["learnt"][part][1], place, bad)
            write_archive(path, "model", tree)
            try:
                load(path)
                out.append((place, bad))
            except ArchiveError as error:
                assert "cannot be loaded" in str(error)
        put(tree["learnt"][part][1], place, value)
    write_archive(path, "model", tree)
    load(path)  # whole again
    return out


def test_a_damaged_evidence_model(tmp_path):
    frame, y = mixed_frame()
    assert accepted(KikuchiBayesClassifier(max_order=3), frame, y, "_built", tmp_path / "m") == []


def test_a_damaged_path(tmp_path):
    X, y = coded(levels=(2, 3, 2), n_classes=3)
    assert accepted(KikuchiBayesClassifier(estimate="paper", max_order=3), X, y, "_built", tmp_path / "m") == []


def test_a_damaged_tree(tmp_path):
    X, y = coded()
    assert accepted(TANClassifier(), X, y, "_tree", tmp_path / "m") == []


@pytest.mark.parametrize("value", [None, "x", -7.0, float("nan"), float("inf")])
def test_a_damaged_temperature(tmp_path, value):
    X, y = coded()
    save(KikuchiBayesClassifier().fit(X, y), tmp_path / "m")
    tree = read_archive(tmp_path / "m")
    put(tree, ("learnt", "_built", 1, "temperature"), value)
    write_archive(tmp_path / "m", "model", tree)
    with pytest.raises(ArchiveError, match="cannot be loaded"):
        load(tmp_path / "m")


def test_one_class_less(tmp_path):
    X, y = coded()
    for model in (KikuchiBayesClassifier(), KikuchiBayesClassifier(estimate="paper"), TANClassifier()):
        model.fit(X, y)
        model.classes_ = model.classes_[:1]
        save(model, tmp_path / "m")
        with pytest.raises(ArchiveError, match="cannot be loaded"):
            load(tmp_path / "m")
