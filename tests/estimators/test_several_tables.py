"""`StructureLearner` on several tables: what is shared, what stands in lists, files, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

import partita
from partita import StructureLearner
from partita.data.validate import DataWarning
from partita.displays.class_template import ClassTemplateDisplay
from partita.displays.edge_probabilities import EdgeProbabilitiesDisplay

QUICK = {"n_chains": 2, "n_sweeps": 80, "random_state": 0}
PRIORS = ["auto", "block", "ordered-block", "sparse", "uniform"]


def layered(n, causes, effects, seed):
    """Causes that act on all effects: an effect is likely where any of its causes is there."""
    rng = np.random.default_rng(seed)
    a = rng.random((n, causes)) < 0.4
    b = rng.random((n, effects)) < np.where(a.mean(axis=1) > 0.4, 0.9, 0.1)[:, None]
    return np.column_stack([a, b]).astype(int)


def tables():
    first = pd.DataFrame(layered(150, 3, 3, 0), columns=list("abcdef"))
    second = pd.DataFrame(layered(30, 2, 3, 1), columns=list("uvwxy"))
    return [first, second]


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("holes", [False, True])
def test_what_is_learnt(prior, holes, tmp_path):
    X = tables()
    if holes:
        X = [table.astype(float) for table in X]
        X[0].iloc[::11, 2], X[1].iloc[::5, 4] = np.nan, np.nan
    model = StructureLearner(prior, **QUICK).fit(X)
    shapes = [edges.shape for edges in model.edge_probabilities_]
    assert shapes == [(6, 6), (5, 5)] == [errors.shape for errors in model.edge_errors_]
    assert [len(classes) for classes in model.classes_map_] == [6, 5] and model.n_features_in_ == 11
    assert model.coassignment_.shape == (11, 11) and np.allclose(np.diag(model.coassignment_), 1)
    K = len(np.unique(np.concatenate(model.classes_map_)))
    assert model.template_.shape == (K, K) and sum(model.n_classes_posterior_.values()) == pytest.approx(1)
    top = model.top_models_[0]
    assert [graph.shape for graph in top["graph"]] == [(6, 6), (5, 5)]
    assert [list(of) for of in model.map_network_[1].parents_] == [
        np.flatnonzero(column).tolist() for column in top["graph"][1].T
    ]
    for k, table in enumerate(X):
        one = model.tables_[k]
        np.testing.assert_array_equal(one.edge_probabilities_, model.edge_probabilities_[k])
        density = model.score_samples(table, table=k)
        assert np.isfinite(density).all()
        np.testing.assert_array_equal(density, one.score_samples(table))
        assert len(model.sample_networks(3, table=k)) == 3
        assert set(model.to_networkx(0.3, table=k)) == set(table.columns)
        EdgeProbabilitiesDisplay.from_estimator(one)
        ClassTemplateDisplay.from_estimator(one)
    assert model.query("u", {"v": 1}, table=1).probabilities.sum() == pytest.approx(1)
    partita.save(model, tmp_path / "model")
    loaded = partita.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.score_samples(X[1], table=1), model.score_samples(X[1], table=1))
    np.testing.assert_array_equal(loaded.coassignment_, model.coassignment_)


def test_nothing_is_shared_without_classes():
    X = tables()
    model = StructureLearner("uniform", **QUICK).fit(X)
    for k, table in enumerate(X):
        alone = StructureLearner("uniform", **QUICK).fit(table)
        np.testing.assert_allclose(model.edge_probabilities_[k], alone.edge_probabilities_, atol=1e-12)
        assert model.top_models_[0]["graph"][k].tolist() == alone.top_models_[0]["graph"].tolist()


def test_one_table_in_a_list_is_that_table():
    X = tables()[0]
    for prior in ("block", "ordered-block"):
        several, alone = (StructureLearner(prior, **QUICK).fit(of) for of in ([X], X))
        np.testing.assert_array_equal(several.edge_probabilities_, alone.edge_probabilities_)
    assert not hasattr(several, "tables_")
    rows = [[0, 1], [1, 0], [1, 1], [0, 0]]
    assert StructureLearner("uniform").fit(rows).edge_probabilities_.shape == (2, 2)


def test_the_same_bytes_for_any_number_of_threads_and_after_a_resume(tmp_path):
    X, settings = tables(), {"n_chains": 2, "n_sweeps": 30, "random_state": 3}
    for prior in ("ordered-block", "block"):
        first = StructureLearner(prior, **settings).fit(X)
        other = StructureLearner(prior, n_jobs=2, **settings).fit(X)
        path = tmp_path / prior
        with pytest.warns(UserWarning, match="stopped by the time budget"):
            StructureLearner(prior, checkpoint=path, time_budget=1e-3, **settings).fit(X)
        resumed = StructureLearner(prior, checkpoint=path, **settings).fit(X)
        for model in (other, resumed):
            np.testing.assert_array_equal(first.edge_probabilities_[1], model.edge_probabilities_[1])
            np.testing.assert_array_equal(first.coassignment_, model.coassignment_)


@pytest.mark.parametrize("prior", PRIORS)
def test_what_is_known_of_each_table(prior):
    model = StructureLearner(
        prior, required_edges=[[("a", "d")], None], forbidden_edges=[None, [("u", "w"), ("w", "u")]],
        **QUICK | {"n_sweeps": 30},
    ).fit(tables())  # fmt: skip
    assert model.edge_probabilities_[0][0, 3] == pytest.approx(1)
    assert model.edge_probabilities_[1][0, 2] == model.edge_probabilities_[1][2, 0] == 0
    if prior not in ("sparse", "uniform"):
        classes = [["cause"] * 3 + ["effect"] * 3, ["cause"] * 2 + ["effect"] * 3]
        model = StructureLearner(prior, classes=classes, **QUICK | {"n_sweeps": 30}).fit(tables())
        labels = np.concatenate(classes)
        np.testing.assert_allclose(model.coassignment_, labels[:, None] == labels)
        assert model.template_[0, 1] > model.template_[1, 1]


def test_hyper_parameters_and_a_template():
    model = StructureLearner("block", alpha="infer", beta="infer", **QUICK).fit(tables())
    assert 0.1 <= model.hyper_["alpha"] <= 10 and len(np.unique(model.trace_["block/alpha"])) > 1
    model = StructureLearner("auto", beta="infer", **QUICK).fit(tables())
    assert sum(model.prior_weights_.values()) == pytest.approx(1)
    classes = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1]]
    model = StructureLearner(classes=classes, template=[[0.01, 0.6], [0.01, 0.01]], **QUICK).fit(tables())
    assert model.method_ == "exact" and model.edge_probabilities_[0][3:, :3].max() < 0.1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"required_edges": [("a", "d")]}, "with 2 tables required_edges must be a list with one entry for each"),
        ({"classes": [0] * 11}, "with 2 tables classes must be a list with one entry for each .* got a list of 11"),
        ({"classes": [[0] * 6, [0] * 4]}, r"classes\[1\] must name one class for each of the 5 columns of table 1"),
        ({"classes": [[0] * 6, None]}, r"classes\[1\] must name one class"),
        ({"column_kinds": {"a": "binary"}}, "with 2 tables column_kinds must be a list"),
        ({"prior": "block", "exact": True}, "exact=True with 2 tables that share classes is not possible"),
        ({"prior": "block", "gamma": "infer"}, "gamma='infer' needs one table"),
        ({"required_edges": [None, [("a", "u")]]}, "required_edges names 'a', which is no column"),
    ],
)
def test_a_mistake_is_named(settings, message):
    with pytest.raises(ValueError, match=message):
        StructureLearner(**QUICK | settings).fit(tables())


def test_which_table_is_asked_is_said():
    model = StructureLearner("sparse", **QUICK).fit(tables())
    for ask in (model.query, model.score_samples):
        with pytest.raises(ValueError, match="2 tables were fitted; say which one is asked by table=0 .. 1, got None"):
            ask("u")
    with pytest.raises(ValueError, match="got 2"):
        model.sample_networks(1, table=2)
    with pytest.raises(ValueError, match="one table was fitted"):
        model.tables_[0].sample_networks(1, table=1)
    with pytest.raises(ValueError, match="X is an empty list"):
        StructureLearner().fit([])
    with pytest.raises(ValueError, match=r"X\[1\] is NoneType, not a table"):
        StructureLearner().fit([tables()[0], None])


@pytest.mark.parametrize("prior", PRIORS)
def test_odd_tables(prior):
    """A table of one column, one with a constant and an empty column, one with more than 16, one of one row."""
    rng = np.random.default_rng(0)
    odd = pd.DataFrame({"a": [0, 1] * 8, "same": 1, "none": None, "name": [f"row {k}" for k in range(16)]})
    X = [rng.integers(0, 2, (20, 1)), odd, rng.integers(0, 2, (30, 17)), rng.integers(0, 2, (1, 2))]
    with pytest.warns(DataWarning) as told:
        model = StructureLearner(prior, n_chains=1, n_sweeps=6, random_state=0).fit(X)
    said = " ".join(str(one.message) for one in told)
    assert "'none'" in said and "'same'" in said and "'name'" in said
    assert [edges.shape for edges in model.edge_probabilities_] == [(1, 1), (4, 4), (17, 17), (2, 2)]
    for k, table in enumerate(X):
        assert np.isfinite(model.score_samples(table, table=k)).all()


def test_a_small_table_learns_from_a_large_one():
    """Three layers of four columns in both tables: edges of the second with 25 rows alone, and beside 500 rows of other
    columns."""
    rng, gains = np.random.default_rng(5), []
    layer = np.repeat(np.arange(3), 4)
    graph = layer[None, :] == layer[:, None] + 1
    off = ~np.eye(12, dtype=bool)
    for _ in range(3):
        made = []
        for n_rows in (500, 25):
            X = np.zeros((n_rows, 12), int)
            for j in range(12):
                parents = np.flatnonzero(graph[:, j])
                table = rng.beta(0.5, 0.5, 1 << len(parents))
                X[:, j] = rng.random(n_rows) < table[X[:, parents] @ (1 << np.arange(len(parents)))]
            made.append(X)
        settings = {"n_chains": 3, "n_sweeps": 300, "random_state": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a column that happens to be constant
            alone = StructureLearner("ordered-block", **settings).fit(made[1]).edge_probabilities_
            together = StructureLearner("ordered-block", **settings).fit(made).edge_probabilities_[1]
        gains.append(
            average_precision_score(graph[off], together[off]) - average_precision_score(graph[off], alone[off])
        )
    assert np.mean(gains) > 0.05, gains
