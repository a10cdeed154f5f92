"""`StructureLearner`: answers, what is known beforehand, holes, files, and what is refused."""

import warnings
from itertools import product

import networkx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import partita
from partita import StructureLearner
from partita.data.validate import DataWarning
from partita.estimators.net_agreement import warn_of_disagreement

QUICK = {"n_chains": 2, "n_sweeps": 60, "random_state": 0}
PRIORS = ["auto", "block", "ordered-block", "sparse", "uniform"]


def garden(n=150, seed=0):
    """Two causes, two effects, one column by itself."""
    rng = np.random.default_rng(seed)
    a, b, e = (rng.random(n) < p for p in (0.5, 0.4, 0.3))
    c = rng.random(n) < np.where(a | b, 0.9, 0.1)
    d = rng.random(n) < np.where(a & b, 0.9, 0.1)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e}).astype(int)


def many(n=60, d=18, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d))
    half = d // 2
    X[:, -half:] = X[:, :half] ^ (rng.random((n, half)) < 0.1)
    return X


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("exact", ["auto", False])
def test_what_is_learnt(prior, exact):
    X = garden()
    model = StructureLearner(prior, exact=exact, **QUICK).fit(X)
    edges = model.edge_probabilities_
    assert edges.shape == (5, 5) and edges.min() >= 0 and edges.max() <= 1 and not np.diag(edges).any()
    assert (edges + edges.T)[[0, 1, 0, 1], [2, 2, 3, 3]].min() > 0.9 and (edges + edges.T)[4].max() < 0.7
    assert model.edge_errors_.shape == (5, 5) and (model.edge_errors_ >= 0).all()
    assert np.allclose(np.diag(model.coassignment_), 1) and np.allclose(model.coassignment_, model.coassignment_.T)
    assert model.classes_map_.shape == (5,) and sum(model.n_classes_posterior_.values()) == pytest.approx(1)
    assert sum(model.prior_weights_.values()) == pytest.approx(1)
    assert model.top_models_[0]["probability"] >= model.top_models_[-1]["probability"] > 0
    for top in model.top_models_[:5]:
        assert networkx.is_directed_acyclic_graph(networkx.DiGraph(top["graph"]))
    graph = model.to_networkx(0.5)
    assert set(graph) == set("abcde") and all(p["probability"] >= 0.5 for _, _, p in graph.edges(data=True))


@pytest.mark.parametrize("prior", PRIORS)
def test_densities_sum_to_one_and_holes_are_summed_out(prior):
    model = StructureLearner(prior, **QUICK).fit(garden())
    rows = pd.DataFrame(list(product((0, 1), repeat=5)), columns=list("abcde"))
    density = np.exp(model.score_samples(rows))
    assert density.sum() == pytest.approx(1, abs=1e-9)
    holed = rows.astype(float)
    holed["c"] = np.nan
    pairs = density.reshape(2, 2, 2, 2, 2).sum(axis=2, keepdims=True)
    np.testing.assert_allclose(np.exp(model.score_samples(holed)), np.broadcast_to(pairs, (2,) * 5).ravel(), rtol=1e-9)


def test_networks_are_drawn():
    X = garden()
    model = StructureLearner("ordered-block", **QUICK).fit(X)
    networks = model.sample_networks(7)
    assert len(networks) == 7 and all(isinstance(one, partita.BayesianNetwork) for one in networks)
    parents = model.map_network_.parents_
    assert all({a, b} <= set("abcde") for a, b in model.map_network_.structure)  # by name, as they were given
    best = model.top_models_[0]["graph"]
    assert [list(of) for of in parents] == [np.flatnonzero(column).tolist() for column in best.T]
    assert model.map_network_.query("c", {"a": 1})[1] > 0.7
    again = partita.BayesianNetwork(best, pseudo_count=0.5).fit(X)
    np.testing.assert_allclose(again.score_samples(X), model.map_network_.score_samples(X), rtol=1e-9)
    with pytest.raises(ValueError, match="sample_networks: n must be"):
        model.sample_networks(0)
    with pytest.raises(ValueError, match="to_networkx: threshold"):
        model.to_networkx(2)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("table", ["few", "holes", "many"])
def test_edges_that_must_and_must_not_be(prior, table):
    X = many() if table == "many" else garden().to_numpy().astype(float)
    if table == "holes":
        X[::7, 2] = np.nan
    settings = QUICK | {"n_sweeps": 20}
    model = StructureLearner(
        prior, required_edges=[(3, 0)], forbidden_edges=[(0, 2), (2, 0)], max_parents=2, **settings
    ).fit(X)
    edges = model.edge_probabilities_
    assert edges[3, 0] == pytest.approx(1) and edges[0, 2] == edges[2, 0] == 0
    assert edges.sum(axis=0).max() <= 2 + 1e-9
    assert all(net.parents_[0].count(3) for net in model.sample_networks(5))


@pytest.mark.parametrize("prior", ["auto", "block", "ordered-block"])
@pytest.mark.parametrize("table", ["few", "many"])
def test_classes_that_are_known(prior, table):
    X = garden() if table == "few" else many()
    d = X.shape[1]
    classes = ["x"] * 2 + ["y"] * (d - 2)
    model = StructureLearner(prior, classes=classes, exact=False, **QUICK).fit(X)
    same = np.equal.outer(classes, classes)
    np.testing.assert_allclose(model.coassignment_, same)
    if prior == "ordered-block":
        assert not model.edge_probabilities_[same].any()


def test_a_template_that_is_known():
    X = garden()
    template = [[0.01, 0.6], [0.01, 0.01]]
    model = StructureLearner(classes=[0, 0, 1, 1, 1], template=template, random_state=0).fit(X)
    assert model.method_ == "exact" and model.edge_probabilities_[:2, 2:4].min() > 0.99
    assert model.edge_probabilities_[2:, :2].max() < 0.01
    sampled = StructureLearner(
        classes=[0, 0, 1, 1, 1], template=template, moves="thesis", n_sweeps=400, n_chains=2, random_state=0
    ).fit(X)
    assert np.abs(sampled.edge_probabilities_ - model.edge_probabilities_).max() < 0.05


@pytest.mark.parametrize("prior", PRIORS)
def test_holes_and_many_columns(prior):
    X = many().astype(float)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    model = StructureLearner(prior, **QUICK | {"n_sweeps": 30}).fit(X)
    skeleton = model.edge_probabilities_ + model.edge_probabilities_.T
    assert model.method_ == "sampled" and skeleton[np.arange(9), np.arange(9, 18)].mean() > 0.8
    assert np.isfinite(model.score_samples(X[:5])).all()


def test_a_column_of_holes_and_a_constant_one():
    X = garden().astype(float)
    X["e"], X["f"] = np.nan, 1.0
    with pytest.warns(DataWarning):
        model = StructureLearner("sparse", **QUICK).fit(X)
    assert model.edge_probabilities_.shape == (6, 6)


@pytest.mark.parametrize("prior", ["auto", "ordered-block", "block"])
@pytest.mark.parametrize("holes", [False, True])
def test_same_seed_same_bytes(prior, holes, tmp_path):
    X = many(40, 7).astype(float)
    if holes:
        X[::5, 3] = np.nan
    settings = {"n_chains": 2, "n_sweeps": 24, "random_state": 3}
    first = StructureLearner(prior, **settings).fit(X)
    other = StructureLearner(prior, n_jobs=2, **settings).fit(X)
    np.testing.assert_array_equal(first.edge_probabilities_, other.edge_probabilities_)
    path = tmp_path / "run.partita"
    with pytest.warns(UserWarning, match="stopped by the time budget"):
        StructureLearner(prior, checkpoint=path, time_budget=1e-3, **settings).fit(X)
    resumed = StructureLearner(prior, checkpoint=path, **settings).fit(X)
    np.testing.assert_array_equal(first.edge_probabilities_, resumed.edge_probabilities_)
    np.testing.assert_array_equal(first.coassignment_, resumed.coassignment_)
    assert first.prior_weights_ == resumed.prior_weights_


@pytest.mark.parametrize("prior", PRIORS)
def test_saved_and_loaded(prior, tmp_path):
    X = garden()
    model = StructureLearner(prior, required_edges=[("a", "c")], **QUICK).fit(X)
    partita.save(model, tmp_path / "model.partita")
    loaded = partita.load(tmp_path / "model.partita")
    np.testing.assert_array_equal(model.edge_probabilities_, loaded.edge_probabilities_)
    np.testing.assert_array_equal(model.score_samples(X), loaded.score_samples(X))
    assert loaded.sample_networks(1)[0].parents_ == model.sample_networks(1)[0].parents_
    assert clone(loaded).get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prior": "blocks"}, "StructureLearner: prior .*Did you mean 'block'"),
        ({"gamma": 0}, "StructureLearner: gamma"),
        ({"burn_in": 60}, "burn_in=60 must be less than n_sweeps=60"),
        ({"required_edges": [("a", "c")], "forbidden_edges": [("a", "c")]}, "'a' to 'c' is in required_edges and in"),
        ({"required_edges": [("a", "b"), ("b", "c"), ("c", "a")]}, "required_edges has a directed cycle"),
        ({"required_edges": [("a", "z")]}, "required_edges"),
        ({"required_edges": [("a", "c"), ("b", "c")], "max_parents": 1}, "max_parents=1 allows fewer"),
        ({"classes": [0, 1]}, "classes must name one class for each of the 5 columns"),
        ({"template": [[0.5]]}, "Pass classes as well"),
        ({"classes": [0, 0, 1, 1, 1], "template": [[0.5]]}, "template must be a 2 x 2 matrix"),
        ({"classes": [0, 0, 1, 1, 1], "required_edges": [("a", "b")]}, "lies within one of the given classes"),
        (
            {"prior": "ordered-block", "classes": [0, 0, 1, 1, 1], "required_edges": [("a", "c"), ("d", "b")]},
            "form a cycle among the given classes",
        ),
        ({"prior": "block", "exact": True, "moves": "thesis"}, "exact=True with moves='thesis' is not possible"),
    ],
)
def test_a_mistake_is_named(settings, message):
    with pytest.raises(ValueError, match=message):
        StructureLearner(**QUICK | settings).fit(garden())


@pytest.mark.parametrize("prior", ["block", "ordered-block", "sparse"])
def test_hyper_parameters_are_learnt(prior):
    settings = QUICK | {"alpha": "infer", "beta": "infer"}
    model = StructureLearner(prior, gamma="infer", **settings).fit(garden())
    assert 0.1 <= model.hyper_["alpha"] <= 10 and 0.1 <= model.hyper_["gamma"] <= 4
    assert 0.25 <= model.hyper_["beta1"] <= 4 and np.isfinite(model.score_samples(garden())).all()
    large = StructureLearner(prior, **settings | {"n_sweeps": 20}).fit(many())
    assert large.hyper_["gamma"] == 0.5 and len(np.unique(large.trace_[f"{prior}/beta1"])) > 1
    with pytest.raises(ValueError, match="gamma='infer' needs one table of complete"):
        StructureLearner(prior, gamma="infer").fit(many())
    with pytest.raises(ValueError, match="'infer' for alpha, beta or gamma goes with"):
        StructureLearner(prior, beta="infer", exact=True).fit(garden())


@pytest.mark.parametrize("table", ["few", "many"])
def test_hyper_parameters_are_learnt_under_all_priors(table):
    gamma = "infer" if table == "few" else 0.5
    X = garden() if table == "few" else many()
    model = StructureLearner("auto", alpha="infer", beta="infer", gamma=gamma, **QUICK | {"n_sweeps": 40}).fit(X)
    assert sum(model.prior_weights_.values()) == pytest.approx(1)
    assert {"ordered-block", "block"} <= {*model.prior_weights_}
    assert 0.1 <= model.hyper_["alpha"] <= 10 and 0.25 <= model.hyper_["beta2"] <= 4
    assert np.isfinite(model.score_samples(X)).all()
    with pytest.raises(ValueError, match="'infer' for alpha, beta or gamma goes with"):
        StructureLearner("uniform", beta="infer").fit(X)


@pytest.mark.parametrize("prior", PRIORS)
def test_averages_over_the_best_states(prior):
    X = garden()
    model = StructureLearner(prior, average="best", **QUICK).fit(X)
    top = model.top_models_
    weights = np.array([state["probability"] for state in top])
    graphs = np.array([state["graph"] for state in top])
    np.testing.assert_allclose(model.edge_probabilities_, np.tensordot(weights, graphs, 1), atol=1e-12)
    assert sum(model.n_classes_posterior_.values()) == pytest.approx(1) and np.isfinite(model.score_samples(X)).all()
    whole = StructureLearner(prior, **QUICK).fit(X)
    np.testing.assert_array_equal(whole.top_models_[0]["graph"], top[0]["graph"])
    assert np.abs(whole.edge_probabilities_ - model.edge_probabilities_).max() < 0.8
    holes = X.astype(float)
    holes.iloc[::9, 1] = np.nan
    assert np.isfinite(StructureLearner(prior, average="best", **QUICK).fit(holes).score_samples(X)).all()


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("table", ["few", "many", "several"])
def test_annealing_goes_on_from_the_best_state(prior, table):
    X = {"few": garden(), "many": many(), "several": [garden(60), garden(40, 1)]}[table]
    settings = QUICK | {"n_sweeps": 20}
    seen = StructureLearner(prior, **settings).fit(X)
    found = StructureLearner(prior, map_search="anneal", **settings).fit(X)
    assert found.top_models_[0]["log_joint"] >= seen.top_models_[0]["log_joint"] - 1e-9
    assert seen.prior_weights_ == found.prior_weights_
    for mine, theirs in zip(seen.edge_probabilities_, found.edge_probabilities_, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_what_annealing_cannot_do():
    with pytest.raises(ValueError, match="map_search='anneal' needs complete columns"):
        StructureLearner("block", map_search="anneal").fit(garden().assign(b=[np.nan, 1.0, 0.0] * 50))
    with pytest.raises(ValueError, match="'infer' for alpha, beta or gamma goes with"):
        StructureLearner("block", map_search="anneal", alpha="infer").fit(garden())


def test_what_exact_sums_cannot_do():
    with pytest.raises(ValueError, match="exact=True with 18 columns"):
        StructureLearner("uniform", exact=True).fit(many())
    with pytest.raises(ValueError, match="exact=True with missing cells"):
        StructureLearner("uniform", exact=True).fit(garden().assign(b=[np.nan, 1.0, 0.0] * 50))


def test_continuous_columns_are_refused_by_name():
    X = garden()
    X["weight"] = np.random.default_rng(0).normal(size=len(X))
    with pytest.raises(ValueError, match=r"'weight'.*MDLPDiscretizer.*KBinsDiscretizer.*quantile"):
        StructureLearner().fit(X)


def test_chains_that_do_not_agree_are_told():
    chains = np.zeros((2, 3, 3))
    chains[1, 0, 2] = 0.9
    with pytest.warns(ConvergenceWarning, match=r"edge from 'a' to 'c' has probability 0.00 in one and 0.90"):
        warn_of_disagreement(chains, list("abc"), "StructureLearner")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_disagreement(chains * 0.5, list("abc"), "StructureLearner")
        StructureLearner("uniform").fit(garden())  # exact: no chains
