"""Pictures of learnt structures: what they compute, that they draw, what they refuse."""

from itertools import pairwise
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

import partita
from partita.displays.column_matrix import draw_matrix
from partita.displays.network import depths, places
from partita.report.structures import roles

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
    P = model.edge_probabilities_
    assert len(shown.edges) == int(((P >= 0.3) & (P >= 2 * P.T)).sum())
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


def test_classes_have_the_numbers_of_the_model_in_pictures_and_in_words():
    table = partita.datasets.make_diseases(60, 1, 3, random_state=0).data
    learner = partita.StructureLearner("block", classes=["few", "many", "many", "many"], n_sweeps=30, n_chains=1)
    model = learner.set_params(random_state=0).fit(table)
    assert model.classes_map_.tolist() == [0, 1, 1, 1]
    network, template = partita.NetworkDisplay.from_estimator(model), partita.ClassTemplateDisplay.from_estimator(model)
    legend = network.plot().ax_.get_legend_handles_labels()[1]
    assert [word for word in legend if word.startswith("class")] == ["class 1", "class 0"]  # the larger one first
    ticks = [tick.get_text() for tick in template.plot().ax_.get_xticklabels()]
    assert ticks == ["class 1\n(3)", "class 0\n(1)"]
    names = table.columns.tolist()
    assert roles(model) == [("class 0", names[0]), ("class 1", ", ".join(names[1:]))]


def test_depths_put_children_below_their_parents():
    probabilities = np.zeros((4, 4))
    probabilities[0, 1] = probabilities[1, 2] = 0.9
    assert depths(probabilities).tolist() == [0, 1, 2, 0]
    where = places(np.array([0, 0, 1]), np.array([0, 0, 1]), [(0, 2, 0.9)])
    assert where[2, 1] < where[0, 1] == where[1, 1]


def test_traces_of_structures(model):
    name = next(iter(model.trace_))
    shown = partita.TraceDisplay.from_estimator(model, name).plot()
    assert shown.trace.shape == (2, 200) and shown.kept_from == 40  # a fifth is dropped
    assert shown.r_hat == model.diagnostics_["ordered-block"]["log_joint"]["r_hat"]
    assert shown.ax_.get_ylabel() == "ordered-block: log joint"


def test_exact_structures_have_no_chains_to_show():
    rows = np.random.default_rng(0).integers(0, 2, (50, 3))
    exact = partita.StructureLearner("uniform").fit(rows)
    with pytest.raises(ValueError, match="exact, no chain was run"):
        partita.TraceDisplay.from_estimator(exact)
    with pytest.raises(ValueError, match="edges are exact"):
        partita.EdgeAgreementDisplay.from_estimator(exact)


def test_agreement_of_chains(model):
    shown = partita.EdgeAgreementDisplay.from_estimator(model).plot()
    np.testing.assert_allclose(shown.together, model.edge_probabilities_, atol=1e-12)
    parent, child, gap = shown.largest
    assert gap == np.ptp(model.chain_edges_[:, parent, child]) == np.ptp(model.chain_edges_, axis=0).max()
    assert model.diagnostics_["ordered-block"]["edges"]["r_hat"] == shown.r_hat
    far = partita.EdgeAgreementDisplay(np.stack([np.zeros((2, 2)), np.ones((2, 2))]), ["a", "b"], 1e15).plot()
    assert "R-hat above 10" in far.ax_.get_title()


def test_chains_of_several_priors_are_weighed():
    made = partita.datasets.make_diseases(60, 2, 3, random_state=1)
    auto = partita.StructureLearner("auto", exact=False, n_sweeps=40, n_chains=2, random_state=0).fit(made.data)
    np.testing.assert_allclose(auto.chain_edges_.mean(axis=0), auto.edge_probabilities_, atol=1e-9)
    assert partita.EdgeAgreementDisplay.from_estimator(auto).plot().chains.shape == (2, 5, 5)


def test_pairs_whose_direction_is_open_are_dashed():
    rng = np.random.default_rng(0)
    first = rng.random(300) < 0.5
    second = np.where(rng.random(300) < 0.1, ~first, first)
    model = partita.StructureLearner("uniform", score="bdeu", gamma=1.0).fit(np.column_stack([first, second]))
    shown = partita.NetworkDisplay.from_estimator(model, threshold=0.6)
    assert shown.edges == [] and [pair[:2] for pair in shown.either_way] == [(0, 1)]
    assert shown.either_way[0][2] == pytest.approx(1.0, abs=1e-6)
    assert "direction open" in [text.get_text() for text in shown.plot().ax_.get_legend().get_texts()]
    assert model.edge_probabilities_.max() > 0.5  # by a hair: no ground for an arrow
    shown = partita.NetworkDisplay.from_estimator(model, threshold=0.45)
    assert shown.edges == [] and len(shown.either_way) == 1


@pytest.mark.parametrize("n", [5, 60, 110])
def test_names_of_many_columns_are_as_large_as_they_can_be_without_covering_each_other(n):
    columns = SimpleNamespace(names=[f"variable {k}" for k in range(n)], classes=np.zeros(n))
    shown = draw_matrix(columns, np.eye(n), None, "", ("", ""), False)
    shown.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in shown.ax_.get_yticklabels()]
    assert all(a.y0 >= b.y1 for a, b in pairwise(boxes))
    assert boxes[0].height / shown.figure_.dpi * 72 >= min(8.0, 400 / n)


@pytest.mark.parametrize("name", ["Network", "Coassignment", "EdgeProbabilities", "ClassTemplate", "EdgeAgreement"])
def test_pictures_are_of_one_table(name):
    rng = np.random.default_rng(0)
    tables = [rng.integers(0, 2, (40, 3)), rng.integers(0, 2, (30, 2))]
    model = partita.StructureLearner("block", n_sweeps=20, n_chains=2, random_state=0).fit(tables)
    display = getattr(partita, f"{name}Display")
    with pytest.raises(ValueError, match=r"fitted to 2 tables.*estimator\.tables_"):
        display.from_estimator(model)
    display.from_estimator(model.tables_[1]).plot()
