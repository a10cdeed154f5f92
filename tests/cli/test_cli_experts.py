"""Gated experts at the command line: fit, predict, impute, report; and a model that is not there."""

import re

import numpy as np
import pandas as pd
import pytest
from command_line import run

import partita
from partita.cli import models
from partita.report.experts import gate_facts, heaviest_columns
from partita.report.html import render_report
from partita.report.summary import summary

MODEL = ["--target", "who", "--model", "iqgme", "--quiet"]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A file of two real columns that matter, one that does not, and a word; a tenth of the cells missing."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(90, 3)), columns=["noise", "length", "width"])
    who = np.where(X["length"] + X["width"] + 0.3 * rng.normal(size=90) > 0, "right", "left")
    X["colour"] = rng.choice(["red", "blue", "green"], 90)
    path = tmp_path_factory.mktemp("experts") / "table.csv"
    partita.datasets.remove_cells(X, 0.1, random_state=1).assign(who=who).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def fitted(table):
    frame = pd.read_csv(table)
    X, y = frame.drop(columns="who"), frame["who"]
    return X, partita.IQGMEClassifier(average=False, n_restarts=2, max_iter=30, random_state=0).fit(X, y)


def test_fit_predict_and_impute(capsys, table, tmp_path):
    model, out, filled = tmp_path / "m.partita", tmp_path / "p.csv", tmp_path / "f.csv"
    code, said, err = run(capsys, "fit", table, *MODEL, "--output", model)
    assert code == 0 and said.startswith("IQGMEClassifier") and "experts that hold rows" in said, err
    assert "15 small fits" in said and "lower bound" in said
    assert type(partita.load(model)).__name__ == "IQGMEClassifier"
    assert run(capsys, "predict", model, table, "--append", "--output", out)[0] == 0
    answer = pd.read_csv(out)
    assert np.allclose(answer[["probability of left", "probability of right"]].sum(axis=1), 1)
    assert (answer["prediction"] == answer["who"]).mean() > 0.85
    assert run(capsys, "impute", model, table, "--output", filled)[0] == 0
    assert not pd.read_csv(filled).isna().any().any()


def test_report(capsys, table, tmp_path):
    page = tmp_path / "r.html"
    code, _, err = run(capsys, "report", table, *MODEL, "--output", page)
    text = page.read_text()
    assert code == 0 and "Which experts are there?" in text and "calibration error" in text, err
    assert text.count("data:image/png") == 2


def test_what_was_found_is_told(fitted):
    X, model = fitted
    said = summary(model, X)
    size = max(model.n_experts_posterior_, key=model.n_experts_posterior_.get)
    assert re.search(rf"experts that hold rows +{size} \(", said) and "small fits" not in said
    assert f"{model.lower_bounds_[-1]:,.1f} after {model.n_iter_} iterations" in said


def test_gates_in_words(fitted):
    X, model = fitted
    facts, told = gate_facts(model, X), model.explain(X)
    share = np.sort(told.responsibilities.mean(axis=0))[::-1]
    np.testing.assert_allclose([fact.share for fact in facts], share[: len(facts)])
    h = int(np.argmax(told.responsibilities.mean(axis=0)))
    own = told.responsibilities[:, h]
    right = own @ told.class_probabilities[:, h, 1] / own.sum()
    assert f"right {100 * right:.1f} %" in facts[0].says
    assert heaviest_columns(model, X) == [1, 2]


def test_a_table_without_two_real_columns_has_the_bound_alone(fitted):
    X = fitted[0][["length", "colour"]]
    model = partita.IQGMEClassifier(average=False, n_restarts=1, max_iter=10, random_state=0)
    page = render_report(model.fit(X, fitted[1].predict(fitted[0])), X)
    assert "Which experts are there?" in page and page.count("data:image/png") == 1


def test_a_model_that_is_not_in_this_release_is_named(capsys, table, tmp_path, monkeypatch):
    monkeypatch.setitem(models.CLASSIFIERS, "qgme", "NoSuchClassifier")
    words = ("fit", table, "--target", "who", "--model", "qgme", "--output", tmp_path / "m", "--quiet")
    code, _, err = run(capsys, *words)
    assert code == 2 and "NoSuchClassifier is not in this release" in err and "iqgme" in err


def test_experts_need_a_target_and_have_no_sweeps(capsys, table, tmp_path):
    code, _, err = run(capsys, "fit", table, "--model", "iqgme", "--output", tmp_path / "m")
    assert code == 2 and "--model iqgme needs --target" in err
    code, _, err = run(capsys, "fit", table, *MODEL, "--sweeps", "3", "--output", tmp_path / "m")
    assert code == 2 and "--sweeps has no use with --model iqgme" in err
