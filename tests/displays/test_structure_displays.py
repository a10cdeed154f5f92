"""Pictures of learnt structures: what they compute, that they draw, what they refuse."""

import matplotlib
import numpy as np
import pytest

import partita
from partita.displays.network import depths, places

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def model():
    made = partita.datasets.make_diseases(200, 3, 6, random_state=1)
    return partita.StructureLearner("ordered-block", n_sweeps=200, n_chains=2, random_state=0).fit(made.data)


def test_matrices_show_the_estimator_class_by_class(model):
    shown = partita.EdgeProbabilitiesDisplay.from_estimator(model)
    assert (np.diff(shown.classes) >= 0).all() and sorted(shown.names) == sorted(model.schema_.names)
    order = [model.schema_.names.index(name) for name in shown.names]
    np.testing.assert_array_equal(shown.probabilities, model.edge_probabilities_[np.ix_(order, order)])
    together = partita.CoassignmentDisplay.from_estimator(model)
    np.testing.assert_array_equal(together.coassignment, model.coassignment_[np.ix_(order, order)])
    for display in (shown, together):
        assert display.plot() is display and display.ax_.figure is display.figure_


def test_networks_have_the_edges_above_the_threshold(model):
    shown = partita.NetworkDisplay.from_estimator(model, threshold=0.3)
    assert len(shown.edges) == int((model.edge_probabilities_ >= 0.3).sum())
    assert [p for _, _, p in shown.edges] == sorted(p for _, _, p in shown.edges)
    depth = -np.ceil(shown.places[:, 1])  # ordered classes stand in layers, the first on top
    np.testing.assert_array_equal(depth, shown.classes)
    shown.plot()
    with pytest.raises(ValueError, match="threshold=0"):
        partita.NetworkDisplay.from_estimator(model, threshold=0)


def test_templates_are_means_over_pairs_of_classes(model):
    shown = partita.ClassTemplateDisplay.from_estimator(model)
    assert shown.sizes.sum() == len(model.classes_map_)
    rows = [model.schema_.names.index(name) for name in shown.members[0]]
    columns = [model.schema_.names.index(name) for name in shown.members[-1]]
    if len(shown.sizes) > 1:
        assert shown.template[0, -1] == pytest.approx(model.edge_probabilities_[np.ix_(rows, columns)].mean())
    shown.plot()


def test_depths_put_children_below_their_parents():
    probabilities = np.zeros((4, 4))
    probabilities[0, 1] = probabilities[1, 2] = 0.9
    assert depths(probabilities).tolist() == [0, 1, 2, 0]
    where = places(np.array([0, 0, 1]), np.array([0, 0, 1]), [(0, 2, 0.9)])
    assert where[2, 1] < where[0, 1] == where[1, 1]


def test_traces_of_structures(model):
    name = next(iter(model.trace_))
    assert partita.TraceDisplay.from_estimator(model, name).plot().trace.shape[0] == 2
