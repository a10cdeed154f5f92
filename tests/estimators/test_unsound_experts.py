"""A file of gated experts with a damaged array is refused when it is loaded, not when it answers."""

import numpy as np
import pytest
from estimator_tables import mixed_frame

from partita import IQGMEClassifier, QGMEClassifier, load, save
from partita.data.archive import ArchiveError, read_archive, write_archive

MODELS = {
    "average": IQGMEClassifier(max_iter=2, random_state=0),
    "gibbs": IQGMEClassifier(inference="gibbs", max_iter=4, n_restarts=1, max_experts=4, random_state=0),
    "em": QGMEClassifier(n_experts=2, max_iter=3, random_state=0),
}


def damages(tree):
    """Changes of the pool's tree, each of which must be refused."""
    model = tree["models"][0]
    yield model, "weight", model["weight"] * 2
    yield model, "reals", model["reals"] + 50
    yield model, "cells", model["cells"][:-1]
    yield model["gates"], "mean", model["gates"]["mean"][:, :-1]
    yield model["gates"], "mean", np.full_like(model["gates"]["mean"], np.nan)
    yield model["experts"], "mean", model["experts"]["mean"][:1]
    yield tree, "weight", tree["weight"][:-1]
    made = tree["tempering"]
    yield made, "temperature", float("nan")
    yield made, "enough", -1.0
    yield made, "offset", np.full_like(made["offset"], np.inf)
    yield made, "offset", made["offset"][:-1]
    yield made, "blank", np.zeros_like(made["blank"])
    yield tree, "n_classes", 9


@pytest.mark.parametrize("name", MODELS)
def test_a_damaged_file_is_refused(name, tmp_path):
    X, y = mixed_frame()
    path = tmp_path / "model.partita"
    save(MODELS[name].fit(X, y), path)
    whole = read_archive(path)
    place = whole["learnt"]["_pool"][1]
    for number, (node, key, value) in enumerate(damages(place)):
        before = node[key]
        node[key] = value
        write_archive(path, "model", whole)
        with pytest.raises(ArchiveError, match="cannot be loaded"):
            load(path)
            pytest.fail(f"damage {number} ({key}) was accepted")
        node[key] = before
    write_archive(path, "model", whole)
    np.testing.assert_array_equal(load(path).predict_proba(X), MODELS[name].predict_proba(X))
