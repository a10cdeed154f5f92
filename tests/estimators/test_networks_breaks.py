"""Tables of levels that once went wrong."""

import numpy as np
import pandas as pd
import pytest

from partita import BayesianNetwork, StructureLearner, load, save

TABLE = pd.DataFrame({"same": ["x"] * 40, "none": [None] * 40, "c": [0, 1] * 20, "d": [0, 0, 0, 1] * 10})


@pytest.mark.filterwarnings("ignore:Columns that hold")
@pytest.mark.parametrize("prior", ["auto", "block", "ordered-block", "sparse", "uniform"])
def test_a_level_that_was_never_seen_has_no_probability(prior, tmp_path):
    """A column of one text had a second level without a name: queries failed, draws had holes, densities lost mass."""
    model = StructureLearner(prior, n_sweeps=10, n_chains=1, random_state=0).fit(TABLE)
    network = model.map_network_
    for answers in (model, network):
        assert answers.query("same")["x"] == pytest.approx(1.0)
        assert answers.query("c", {"same": "x"}).probabilities.sum() == pytest.approx(1.0)
    assert (network.sample(200, random_state=0)["same"] == "x").all()
    rows = pd.DataFrame({"same": ["x"] * 4, "none": [None] * 4, "c": [0, 0, 1, 1], "d": [0, 1, 0, 1]})
    assert np.exp(model.score_samples(rows)).sum() == pytest.approx(1.0)
    network.write_bif(tmp_path / "net.bif")
    again = BayesianNetwork.read_bif(tmp_path / "net.bif")
    for mine, read in zip(network.tables_, again.tables_, strict=True):
        np.testing.assert_allclose(mine, read, rtol=1e-12)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").score_samples(rows), model.score_samples(rows))


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"classes": [0, None]}, "classes has no class for some columns"),
        ({"classes": [0, np.nan]}, "classes has no class for some columns"),
        ({"classes": np.array([0, "a"], dtype=object)}, "classes must be numbers or words that can be sorted"),
        ({"classes": [0, 1], "template": "no"}, "template must be a 2 x 2 matrix"),
    ],
)
def test_classes_and_templates_that_are_none(settings, told):
    with pytest.raises(ValueError, match=told):
        StructureLearner("block", **settings).fit(TABLE[["c", "d"]])


@pytest.mark.parametrize("asked", [None, 1.5])
def test_a_column_that_is_none_is_named(asked):
    with pytest.raises(ValueError, match=r"variables names .* which is no column"):
        BayesianNetwork().fit(TABLE[["c", "d"]]).query(asked)
