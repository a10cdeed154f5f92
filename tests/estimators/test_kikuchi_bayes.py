"""KikuchiBayesClassifier: what it finds, says and keeps."""

import signal
import threading
import warnings

import numpy as np
import pytest
from estimator_tables import mixed_frame

import partita
from partita import KikuchiBayesClassifier
from partita.data.validate import DataWarning
from partita.inference.loop import FitInterrupted
from partita.models.kikuchi.regions import counting_numbers


def parity(n=400, d=6, seed=0):
    """The class is the exclusive or of columns 1 and 4, and column 0 helps."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d)).astype(float)
    y = ((X[:, 1] != X[:, 4]) ^ (rng.random(n) < 0.1 + 0.2 * (X[:, 0] == 0))).astype(int)
    return X, np.array(["no", "yes"])[y]


def paper(**parameters):
    return KikuchiBayesClassifier(**{"estimate": "paper", **parameters})


def test_finds_an_interaction_that_single_columns_do_not_show():
    X, y = parity()
    model = paper().fit(X, y)
    assert (1, 4) in model.map_regions_ and model.theta_ == 1.0
    assert model.interaction_information_[(1, 4)] > 0.1
    assert model.region_graph_ == counting_numbers(model.map_regions_)
    assert np.mean(model.predict(X) == y) > 0.75


def test_path_is_a_frame_with_a_hilltop():
    X, y = parity()
    path = paper().fit(X, y).path_
    assert list(path["stage"]) == list(range(len(path))) and path["region"].iloc[0] == ()
    assert path["weight"].sum() == pytest.approx(1)
    assert path["weight"].idxmax() == path["log_posterior"].idxmax()
    hilltop = paper(averaging=False).fit(X, y).path_
    assert sorted(hilltop["weight"])[-2:] == [0.0, 1.0]


def test_explanations_sum_to_the_prediction():
    frame, y = mixed_frame()
    for model in (paper(), paper(averaging=False), KikuchiBayesClassifier(), KikuchiBayesClassifier(averaging=False)):
        model.fit(frame, y)
        told = model.explain(frame)
        assert told.contributions.shape == (len(frame), len(told.regions), 2)
        np.testing.assert_allclose(told.contributions.sum(axis=1), told.log_odds, atol=1e-12)
        p = np.exp(told.log_odds)
        np.testing.assert_allclose(p / p.sum(axis=1, keepdims=True), model.predict_proba(frame), atol=1e-12)


@pytest.mark.parametrize("estimate", ["evidence", "paper"])
def test_without_averaging_one_stage_answers(estimate):
    X, y = parity()
    many, one = (paper(estimate=estimate, averaging=a).fit(X, y).predict_proba(X) for a in (True, False))
    assert np.abs(many - one).max() > 1e-3
    np.testing.assert_allclose(one.sum(axis=1), 1.0)


@pytest.mark.parametrize("estimate", ["evidence", "paper"])
def test_any_number_of_threads_gives_the_same_bytes(estimate):
    X, y = parity(d=12)
    one, two = paper(estimate=estimate).fit(X, y), paper(estimate=estimate, n_jobs=2).fit(X, y)
    assert one.path_.equals(two.path_)
    assert one.predict_proba(X).tobytes() == two.predict_proba(X).tobytes()


def test_rows_are_predicted_alike_in_any_batch():
    frame, y = mixed_frame()
    model = paper().fit(frame, y)
    whole = model.predict_proba(frame)
    alone = np.vstack([model.predict_proba(frame.iloc[[i]]) for i in range(20)])
    np.testing.assert_allclose(alone, whole[:20], atol=1e-14)


def test_missing_cells_are_the_learnt_level_or_summed_out():
    X, y = parity()
    holed = X.copy()
    holed[:, 2] = np.where(y == "yes", np.nan, X[:, 2])  # being missing tells the class
    level = paper().fit(holed, y)
    assert (level.predict_proba(holed)[y == "yes", 1] > 0.9).all()
    model = paper().fit(X, y)
    row = X[:1].copy()
    row[0, 1] = np.nan
    filled = np.repeat(row, 2, axis=0)
    filled[:, 1] = 0, 1
    p = model.predict_proba(row)[0, 1]
    low, high = sorted(model.predict_proba(filled)[:, 1])
    assert low < p < high
    everything = model.predict_proba(np.full((1, X.shape[1]), np.nan))[0]
    np.testing.assert_allclose(everything, model.predict_proba(np.full((1, X.shape[1]), 7.0))[0])  # levels never seen


def test_weights_are_repetitions():
    X, y = parity(n=200)
    times = np.random.default_rng(1).integers(0, 3, 200)
    again = np.repeat(np.arange(200), times)
    weighted, repeated = paper().fit(X, y, sample_weight=times), paper().fit(X[again], y[again])
    assert weighted.map_regions_ == repeated.map_regions_
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-10)
    with pytest.raises(ValueError, match="sample_weight"):
        paper().fit(X, y, sample_weight=-np.ones(200))


def test_rows_without_a_label_do_not_count():
    X, y = parity(n=200)
    some = np.array([None if i % 5 == 0 else label for i, label in enumerate(y)], dtype=object)
    kept = np.array([label is not None for label in some])
    a, b = paper().fit(X, some), paper().fit(X[kept], y[kept])
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("estimate", ["evidence", "paper"])
def test_saved_and_loaded_it_predicts_the_same_bytes(tmp_path, estimate):
    frame, y = mixed_frame()
    model = paper(estimate=estimate).fit(frame, y)
    partita.save(model, tmp_path / "model")
    again = partita.load(tmp_path / "model")
    assert again.predict_proba(frame).tobytes() == model.predict_proba(frame).tobytes()
    assert again.path_.equals(model.path_) and again.region_graph_ == model.region_graph_
    assert again.map_regions_ == model.map_regions_


def test_a_checkpoint_is_taken_up_again(tmp_path, monkeypatch):
    X, y = parity(d=10)
    straight = paper().fit(X, y)
    from partita.models.kikuchi.search import Search
    from partita.models.kikuchi.work import Stopped

    climb = Search.climb
    monkeypatch.setattr(Search, "climb", lambda self, order: _stop(Stopped) if order == 2 else climb(self, order))
    with pytest.warns(FitInterrupted, match="of 2 attributes .*, and of 3 not at all"):
        stopped = paper(checkpoint=tmp_path / "c").fit(X, y)
    assert len(stopped.path_) < len(straight.path_)
    monkeypatch.undo()
    assert paper(checkpoint=tmp_path / "c").fit(X, y).path_.equals(straight.path_)
    with pytest.raises(ValueError, match="other data or other parameters"):
        paper(checkpoint=tmp_path / "c", theta=2.0).fit(X, y)


@pytest.mark.parametrize("max_candidates", [30, 60])
def test_a_screened_search_taken_up_again_is_the_same(tmp_path, monkeypatch, max_candidates):
    """Stopped before each of its steps in turn: the attributes kept are those of the moment they were screened."""
    from partita.models.kikuchi.search import Search
    from partita.models.kikuchi.work import Stopped

    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (600, 20))
    score = X[:, 0] + X[:, 1] - 2 * X[:, 2] * X[:, 3] + 1.5 * (X[:, 4] ^ X[:, 5]) + X[:, 6] * X[:, 7] * X[:, 8]
    y = score + rng.logistic(size=600) > 1
    warnings.simplefilter("ignore", DataWarning)
    straight = paper(max_candidates=max_candidates).fit(X, y)
    add = Search.add
    for stop in range(1, len(straight.path_)):
        monkeypatch.setattr(
            Search, "add", lambda self, *a, stop=stop: _stop(Stopped) if len(self.path) == stop else add(self, *a)
        )
        file = tmp_path / f"stop{stop}"
        assert len(paper(max_candidates=max_candidates, checkpoint=file).fit(X, y).path_) == stop
        monkeypatch.undo()
        again = paper(max_candidates=max_candidates, checkpoint=file).fit(X, y)
        assert again.path_.equals(straight.path_), stop


def _stop(error):
    raise error("time")


def test_time_budget_keeps_the_path_and_names_what_was_not_searched():
    X, y = parity(d=8)
    with pytest.warns(FitInterrupted, match=r"time_budget is spent.*not searched"):
        model = paper(time_budget=1e-9).fit(X, y)
    assert len(model.path_) >= 1 and model.not_searched_ == {"orders": [1, 2, 3]}
    assert model.predict_proba(X).shape == (400, 2)


def test_ctrl_c_keeps_the_path(monkeypatch, tmp_path):
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    X, y = parity(d=8)
    from partita.models.kikuchi.search import Search

    climb = Search.climb

    def pressed(self, order):
        if order == 2:
            signal.raise_signal(signal.SIGINT)
        return climb(self, order)

    monkeypatch.setattr(Search, "climb", pressed)
    with pytest.warns(FitInterrupted, match="Ctrl-C"):
        model = paper().fit(X, y)
    assert all(len(region) == 1 for region in model.map_regions_)
    assert model.not_searched_ == {"orders": [2, 3]}
    partita.save(model, tmp_path / "model.partita")
    assert partita.load(tmp_path / "model.partita").not_searched_ == {"orders": [2, 3]}


def test_too_many_candidates_are_screened_with_a_warning():
    X, y = parity(d=12)
    with pytest.warns(DataWarning, match="regions of 3 attributes.*max_candidates=70.*not searched"):
        model = paper(max_candidates=70).fit(X, y)  # 66 pairs, 220 triples
    assert (1, 4) in model.map_regions_
    shows = np.column_stack([X, y == "yes", (y == "yes") ^ (X[:, 0] == 1)])  # columns 12 and 13 promise most
    with pytest.warns(DataWarning, match="regions of 2 attributes") as told:
        paper(max_order=3, max_candidates=6).fit(shows, y)
    assert any("the 4 most promising" in str(w.message) and " 12" not in str(w.message) for w in told)


def levels_of_text(n=500, d=300, tells=250):
    X = np.random.default_rng(0).integers(0, 3, (n, d)).astype(str).astype(object)
    return X, X[:, tells] == "1"


@pytest.mark.parametrize("singles", ["greedy", "all"])
def test_single_attributes_are_screened_by_what_they_gain(singles):
    """Neither the number of levels nor the place of a column decides."""
    X, y = levels_of_text()
    X[:, :150] = np.random.default_rng(1).integers(0, 5, (500, 150)).astype(str)
    with pytest.warns(DataWarning, match="the 100 most promising") as told:
        model = paper(max_order=2, max_candidates=100, singles=singles).fit(X, y)
    assert not any(" 250" in str(w.message) for w in told)
    assert (250,) in model.map_regions_ and (singles == "all" or model.map_regions_ == [(250,)])


def test_attributes_in_the_model_are_screened_by_what_they_gain():
    """From naive Bayes all are in the model: the pair that acts together is among the last columns."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 30))
    y = (X[:, 27] & X[:, 29]) ^ (rng.random(400) < 0.05)
    with pytest.warns(DataWarning, match="regions of 2 attributes"):
        model = paper(max_order=3, max_candidates=45, singles="all").fit(X, y)  # ten attributes
    assert (27, 29) in model.map_regions_


def test_readings_of_the_paper():
    X, y = parity(d=5)
    never = paper(beyond="never").fit(X, y)
    assert set(never.path_["phase"]) <= {"start", "2-way", "3-way", "4-way"}
    assert len(paper(weight_cut=None).fit(X, y).path_) >= len(never.path_)
    every = paper(singles="all").fit(X, y)
    assert every.path_["df"].iloc[0] == 6 and every.map_regions_[:5] == [(j,) for j in range(5)]
    observed = paper(prior_cells="observed").fit(X, y)
    assert observed.path_["df"].iloc[0] == 1
    assert len(paper(max_order=2).fit(X, y).region_graph_) <= 6


@pytest.mark.parametrize("singles", ["greedy", "all"])
def test_interaction_information_is_told_of_all_that_was_found(singles):
    X, y = parity(d=5)
    model = paper(singles=singles).fit(X, y)
    regions = {*model.path_["region"], *model.map_regions_, *model.region_graph_} - {()}
    regions |= {(j,) for region in regions for j in region}
    assert set(model.interaction_information_) == regions and (1,) in regions
    graph = model.to_networkx()
    assert all(graph.nodes[r]["interaction"] is not None for r in graph if r)
    counts = np.array([[((X[:, 1] == a) & (y == c)).sum() for c in ("no", "yes")] for a in (0, 1)]) + 0.25
    p = counts / counts.sum()
    mutual = (p * np.log(p / p.sum(axis=0) / p.sum(axis=1, keepdims=True))).sum()
    assert model.interaction_information_[(1,)] == pytest.approx(mutual)


def test_one_class_and_one_column():
    X, y = parity(n=30)
    np.testing.assert_array_equal(paper().fit(X, ["a"] * 30).predict(X), ["a"] * 30)
    assert paper().fit(X[:, :1], y).predict_proba(X[:, :1]).shape == (30, 2)
    constant = paper().fit(np.ones((30, 2)), y)
    assert constant.map_regions_ == []


def test_region_graph_as_networkx():
    pytest.importorskip("networkx")
    X, y = parity()
    model = paper().fit(X, y)
    graph = model.to_networkx()
    assert {n: d["counting_number"] for n, d in graph.nodes(data=True)} == model.region_graph_
    assert all(set(b) < set(a) for a, b in graph.edges)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_order": 7}, "max_order must be an integer >= 2 and <= 6"),
        ({"theta": 0.0}, "theta"),
        ({"beyond": "ends"}, "Did you mean 'end'"),
        ({"estimate": "papers"}, "Did you mean 'paper'"),
    ],
)
def test_errors_name_the_parameter(parameters, message):
    X, y = parity(n=20)
    with pytest.raises(ValueError, match=message):
        paper(**parameters).fit(X, y)


def test_evidence_shares_the_path_and_has_a_stage_for_its_interactions():
    X, y = parity()
    paper_model, model = paper().fit(X, y), KikuchiBayesClassifier().fit(X, y)
    assert model.map_regions_ == paper_model.map_regions_ and model.path_.equals(paper_model.path_)
    assert (1, 4) in model.explain(X[:2]).regions
    assert np.mean(model.predict(X) == y) > 0.75
    averaged = model.predict_proba(np.where(np.arange(6) == 1, np.nan, X[:5]))  # column 1 was never missing
    assert np.isfinite(averaged).all()


@pytest.mark.data
def test_tic_tac_toe_is_figure_two(published_data):
    bunch = partita.datasets.fetch_uci("tic-tac-toe")
    for theta in (1e-4, 1.0):
        model = paper(theta=theta).fit(bunch.data, bunch.target)
        sizes = [len(region) for region in model.map_regions_]
        assert [sizes.count(k) for k in (1, 2, 3)] == [5, 4, 6]


@pytest.mark.parametrize("averaging", [True, False])
def test_tiny_probabilities_keep_their_logarithms(averaging):
    """Three hundred copies of the class have log odds beyond what a probability can hold."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = np.where(rng.random((400, 300)) < 0.02, 1 - y[:, None], y[:, None])
    model = paper(singles="all", max_order=2, averaging=averaging).fit(X, y)
    log_p, told = model.predict_log_proba(X[:20]), model.explain(X[:20]).log_odds
    assert np.isfinite(log_p).all() and log_p.min() < -800
    np.testing.assert_allclose(log_p - log_p.mean(axis=1, keepdims=True), told, rtol=1e-9)
