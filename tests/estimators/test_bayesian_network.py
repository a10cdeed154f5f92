"""`BayesianNetwork`: given graphs in every form, answers, holes, files, and what is refused."""

import networkx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import partita
from partita import BayesianNetwork
from partita.data.validate import DataWarning

NAMES = ["cloudy", "rain", "sprinkler", "grass"]
EDGES = [("cloudy", "rain"), ("cloudy", "sprinkler"), ("rain", "grass"), ("sprinkler", "grass")]


def garden(n=400, seed=0, holes=0.0):
    rng = np.random.default_rng(seed)
    cloudy = rng.random(n) < 0.5
    rain = rng.random(n) < np.where(cloudy, 0.8, 0.2)
    sprinkler = rng.random(n) < np.where(cloudy, 0.1, 0.5)
    wet = rng.choice(["dry", "damp", "wet"], n)
    mostly = np.where(rng.random(n) < 0.7, "wet", "damp")
    wet = np.where(rain & sprinkler, "wet", np.where(rain | sprinkler, mostly, wet))
    frame = pd.DataFrame({"cloudy": cloudy, "rain": np.where(rain, "yes", "no"), "sprinkler": sprinkler, "grass": wet})
    return frame.astype(object).mask(rng.random(frame.shape) < holes)


@pytest.mark.parametrize(
    "structure",
    [
        EDGES,
        [(0, 1), (0, 2), (1, 3), (2, 3)],
        {"rain": ["cloudy"], "sprinkler": "cloudy", "grass": ["rain", "sprinkler"]},
        networkx.DiGraph(EDGES),
        np.array([[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]),
    ],
    ids=["names", "positions", "parents", "networkx", "matrix"],
)
def test_graphs_in_every_form_are_the_same(structure):
    model = BayesianNetwork(structure).fit(garden())
    assert model.parents_ == [(), (0,), (0,), (1, 2)]
    assert set(model.to_networkx().edges) == set(EDGES)
    assert model.query("rain", {"cloudy": True})["yes"] == pytest.approx(0.8, abs=0.08)


def test_posterior_means_are_counts_with_pseudo_counts():
    frame = garden()
    model = BayesianNetwork(EDGES, pseudo_count=0.5).fit(frame)
    for cloudy in (False, True):
        some = frame[frame.cloudy == cloudy]
        expected = (np.sum(some.rain == "yes") + 0.5) / (len(some) + 1.0)
        assert model.query("rain", {"cloudy": cloudy})["yes"] == pytest.approx(expected, abs=1e-12)
    ml = BayesianNetwork(EDGES, estimate="ml").fit(frame).query("rain", {"cloudy": True})["yes"]
    assert ml == pytest.approx(np.mean(frame.rain[frame.cloudy == True] == "yes"), abs=1e-12)  # noqa: E712
    mode = BayesianNetwork(EDGES, estimate="map", pseudo_count=3.0).fit(frame).query("rain", {"cloudy": True})["yes"]
    some = frame[frame.cloudy == True]  # noqa: E712
    assert mode == pytest.approx((np.sum(some.rain == "yes") + 2.0) / (len(some) + 4.0), abs=1e-12)


def test_seeing_is_not_doing():
    model = BayesianNetwork(EDGES).fit(garden(5000))
    seen = model.query("cloudy", {"rain": "yes"})[True]
    done = model.query("cloudy", do={"rain": "yes"})[True]
    assert seen > 0.75 and done == pytest.approx(model.query("cloudy")[True], abs=1e-12)
    joint = model.query(["rain", "grass"], {"sprinkler": True})
    assert joint.probabilities.shape == (2, 3) and joint.probabilities.sum() == pytest.approx(1.0)
    assert sum(joint.to_dict().values()) == pytest.approx(1.0) and "rain, grass" in repr(joint)
    assert joint["yes", "wet"] == pytest.approx(joint.to_dict()["yes", "wet"])


def test_a_row_is_scored_alike_in_any_batch_and_a_dropped_cell_is_one_never_had():
    frame = garden(holes=0.3)
    model = BayesianNetwork(EDGES).fit(frame)
    scores = model.score_samples(frame)
    np.testing.assert_allclose([model.score_samples(frame.iloc[[i]])[0] for i in range(30)], scores[:30], atol=1e-12)
    row = garden(1)
    total = 0.0
    for level in ("dry", "damp", "wet"):
        total += np.exp(model.score_samples(row.assign(grass=level))[0])
    assert np.log(total) == pytest.approx(model.score_samples(row.assign(grass=None))[0], abs=1e-12)
    law = model.predict_proba(row, "grass")
    np.testing.assert_allclose(law, model.predict_proba(row.assign(grass=None), "grass"), atol=1e-15)
    np.testing.assert_allclose(law.sum(axis=1), 1.0)


def test_holes_are_learnt_from_and_the_objective_rises():
    full = garden(3000)
    holed = full.mask(np.random.default_rng(1).random(full.shape) < 0.3)
    for estimate in ("ml", "map", "bayes"):
        model = BayesianNetwork(EDGES, estimate=estimate).fit(holed)
        assert (np.diff(model.objective_) > -1e-7).all() and model.n_iter_ > 2
        whole = BayesianNetwork(EDGES, estimate=estimate).fit(full)
        for table, other in zip(model.tables_[:3], whole.tables_[:3]):
            np.testing.assert_allclose(table, other, atol=0.06)


def test_imputing_keeps_what_is_there_and_draws_jointly():
    frame = garden(200, holes=0.4)
    model = BayesianNetwork(EDGES, random_state=3).fit(frame)
    filled = model.impute(frame)
    assert isinstance(filled, pd.DataFrame) and not filled.isna().any().any()
    kept = frame.notna().to_numpy()
    assert (filled.to_numpy()[kept] == frame.to_numpy()[kept]).all()
    draws = model.impute(frame, n_draws=3)
    assert len(draws) == 3 and all(not draw.isna().any().any() for draw in draws)
    pd.testing.assert_frame_equal(model.impute(frame, n_draws=1)[0], draws[0])
    assert isinstance(model.impute(pl.from_pandas(frame.astype({"rain": "str", "grass": "str"}))), pl.DataFrame)


def test_samples_are_rows_of_the_network():
    model = BayesianNetwork(EDGES, random_state=0).fit(garden(5000))
    drawn = model.sample(20_000)
    assert list(drawn.columns) == NAMES
    assert np.mean(drawn.rain == "yes") == pytest.approx(model.query("rain")["yes"], abs=0.015)
    forced = model.sample(500, do={"rain": "no"})
    assert (forced.rain == "no").all()


def test_weights_count_rows():
    frame = garden(60)
    weight = np.random.default_rng(2).integers(0, 4, 60)
    model = BayesianNetwork(EDGES).fit(frame, sample_weight=weight)
    repeated = BayesianNetwork(EDGES).fit(frame.loc[np.repeat(np.arange(60), weight)])
    for table, other in zip(model.tables_, repeated.tables_):
        np.testing.assert_allclose(table, other, atol=1e-12)


def test_saved_and_loaded_and_cloned(tmp_path):
    frame = garden(holes=0.2)
    model = BayesianNetwork(EDGES, n_restarts=2, random_state=0).fit(frame)
    partita.save(model, tmp_path / "net.partita")
    again = partita.load(tmp_path / "net.partita")
    assert (again.score_samples(frame) == model.score_samples(frame)).all()
    assert clone(model).get_params().keys() == model.get_params().keys()
    other = BayesianNetwork(EDGES, n_restarts=2, random_state=0, n_jobs=2).fit(frame)
    assert all((a == b).all() for a, b in zip(model.tables_, other.tables_))


def test_bif_files_keep_the_network(tmp_path):
    model = BayesianNetwork(EDGES).fit(garden())
    model.write_bif(tmp_path / "garden.bif")
    again = BayesianNetwork.read_bif(tmp_path / "garden.bif")
    assert again.parents_ == model.parents_
    for table, other in zip(model.tables_, again.tables_):
        np.testing.assert_allclose(table, other, rtol=1e-15)
    assert again.query("rain", {"cloudy": "True"})["yes"] == pytest.approx(model.query("rain", {"cloudy": True})["yes"])
    assert set(again.sample(50, random_state=0).columns) == set(NAMES)


def test_a_killed_fit_resumes_to_the_same_tables(tmp_path):
    frame = garden(300, holes=0.3)
    settings = {"n_restarts": 3, "random_state": 1, "max_iter": 40, "tol": 0}
    whole = BayesianNetwork(EDGES, **settings).fit(frame)
    path = tmp_path / "run.checkpoint"
    with pytest.warns(UserWarning, match="time budget"):
        BayesianNetwork(EDGES, **settings, checkpoint=path, time_budget=1e-6).fit(frame)
    resumed = BayesianNetwork(EDGES, **settings, checkpoint=path).fit(frame)
    assert all((a == b).all() for a, b in zip(whole.tables_, resumed.tables_))


@pytest.mark.parametrize(
    ("structure", "said"),
    [
        ([("rain", "snow")], "'snow', which is no column. The columns are 'cloudy'"),
        ([("rain", "rain")], "from column 'rain' to itself"),
        ([("rain", "grass"), ("grass", "cloudy"), ("cloudy", "rain")], "directed cycle, .*'cloudy'"),
        (networkx.Graph(EDGES), "undirected"),
        (np.zeros((3, 3)), r"matrix of shape \(3, 3\)"),
        (7, "must be a list of"),
    ],
)
def test_graphs_that_are_none_are_named(structure, said):
    with pytest.raises(ValueError, match=said):
        BayesianNetwork(structure).fit(garden(20))


def test_what_is_refused_and_how():
    frame = garden(50)
    with pytest.raises(ValueError, match=r"column 'size' is of kind 'real'.*MDLPDiscretizer.*quantile"):
        BayesianNetwork().fit(frame.assign(size=np.random.default_rng(0).normal(size=50)))
    with pytest.raises(ValueError, match="no mode"):
        BayesianNetwork(EDGES, estimate="map", pseudo_count=0.5).fit(frame)
    with pytest.raises(ValueError, match="Did you mean 'bayes'"):
        BayesianNetwork(EDGES, estimate="baye").fit(frame)
    with pytest.raises(NotFittedError):
        BayesianNetwork(EDGES).query("rain")
    model = BayesianNetwork(EDGES).fit(frame)
    with pytest.raises(ValueError, match="evidence: 'maybe' is no level of column 'rain'"):
        model.query("grass", {"rain": "maybe"})
    with pytest.raises(ValueError, match="twice"):
        model.query("rain", {"rain": "yes"})
    with pytest.raises(ValueError, match="names 'snow'"):
        model.query("snow")
    ml = BayesianNetwork([("rain", "grass")], estimate="ml").fit(frame[frame.grass != "dry"].assign(rain="yes"))
    assert ml.query("grass").probabilities.sum() == pytest.approx(1.0)


def test_impossible_evidence_is_said():
    frame = pd.DataFrame({"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", "v"]})
    model = BayesianNetwork([("a", "b")], estimate="ml").fit(frame)
    more = BayesianNetwork([("a", "b")], estimate="ml").fit(frame.assign(c=["p", "p", "p", "q"]))
    with pytest.raises(ValueError, match="probability zero"):
        more.query("c", {"a": "x", "b": "v"})
    assert model.score_samples(pd.DataFrame({"a": ["x"], "b": ["v"]}))[0] == -np.inf


def test_columns_that_say_nothing_are_accepted():
    frame = garden(40).assign(empty=None, same="a")
    with pytest.warns(DataWarning):
        model = BayesianNetwork([*EDGES, ("same", "grass"), ("empty", "rain")]).fit(frame)
    assert np.isfinite(model.score_samples(frame)).all()
    assert model.query("same")["a"] == 1.0


@pytest.mark.data
def test_published_networks_answer(published_data):
    asia = BayesianNetwork.read_bif(published_data / "networks" / "asia.bif.gz")
    law = asia.query("lung", {"xray": "yes", "dysp": "yes"})
    # by hand: sum over asia, tub, smoke, bronc, either
    joint = np.zeros(2)
    t = dict(zip(asia.schema_.names, asia.tables_))
    for a, tub, s, lung, b in np.ndindex(2, 2, 2, 2, 2):
        e = 0 if 0 in (tub, lung) else 1
        joint[lung] += (
            t["asia"][a] * t["tub"][a, tub] * t["smoke"][s] * t["lung"][s, lung] * t["bronc"][s, b]
            * t["xray"][e, 0] * t["dysp"][b, e, 0]
        )  # fmt: skip
    np.testing.assert_allclose(law.probabilities, joint / joint.sum(), atol=1e-10)
    alarm = BayesianNetwork.read_bif(published_data / "networks" / "alarm.bif.gz")
    drawn = alarm.sample(300, random_state=0)
    assert np.isfinite(alarm.score_samples(drawn.mask(np.random.default_rng(0).random(drawn.shape) < 0.5))).all()
