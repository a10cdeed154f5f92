"""Every model of the command line: fit, predict, report; what it found is told."""

import numpy as np
import pandas as pd
import pytest
from command_line import run

from partita import load
from partita.datasets import load_tic_tac_toe, remove_cells

NAMES = {"kikuchi": "KikuchiBayesClassifier", "naive-bayes": "NaiveBayes", "tan": "TANClassifier"}


@pytest.fixture(scope="module")
def boards(tmp_path_factory):
    """Boards of tic-tac-toe with a number, some of whose cells are missing."""
    table = load_tic_tac_toe()
    path = tmp_path_factory.mktemp("boards") / "boards.csv"
    noise = pd.DataFrame({"minutes": np.random.default_rng(0).normal(5, 1, len(table.data)).round(3)})
    frame = pd.concat([table.data, remove_cells(noise, 0.1, 0)], axis=1)
    frame.assign(outcome=np.where(table.target, "win", "other")).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_fit_and_predict(capsys, boards, tmp_path, name):
    model, out = tmp_path / "m.partita", tmp_path / "p.csv"
    words = ("fit", boards, "--target", "outcome", "--model", name, "--output", model, "--quiet")
    code, said, err = run(capsys, *words)
    assert code == 0 and said.startswith(NAMES[name]) and "other, win" in said, err
    assert type(load(model)).__name__ == NAMES[name]
    code, _, err = run(capsys, "predict", model, boards, "--append", "--output", out)
    answer = pd.read_csv(out)
    assert code == 0 and len(answer) == 958, err
    assert np.allclose(answer[["probability of other", "probability of win"]].sum(axis=1), 1)
    assert (answer["prediction"] == answer["outcome"]).mean() > (0.95 if name == "kikuchi" else 0.65)


@pytest.mark.parametrize("name", NAMES)
def test_report(capsys, boards, tmp_path, name):
    page = tmp_path / "r.html"
    words = ("report", boards, "--target", "outcome", "--model", name, "--output", page, "--quiet")
    code, _, err = run(capsys, *words)
    text = page.read_text()
    assert code == 0 and NAMES[name] in text and "calibration error" in text, err
    assert ("Which attributes act together?" in text) == (name == "kikuchi")
    assert text.count("data:image/png") == 1 + (name == "kikuchi")


def test_what_was_found_is_told(capsys, boards, tmp_path):
    words = ("fit", boards, "--target", "outcome", "--quiet", "--drop", "minutes", "--output", tmp_path / "m")
    said = {name: run(capsys, *words, "--model", name)[1] for name in NAMES}
    assert "5 attributes, 4 pairs, 6 triples" in said["kikuchi"] and "tl × mm × br" in said["kikuchi"]
    tree = next(line for line in said["tan"].splitlines() if "closest pairs" in line)
    assert tree.count(" × ") == 8  # nine attributes, one tree
    assert "acting together" not in said["naive-bayes"] and "closest pairs" not in said["naive-bayes"]


def test_a_model_that_found_nothing_is_reported(capsys, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 2, 80), "b": rng.normal(size=80), "who": ["x", "y"] * 40})
    frame.to_csv(tmp_path / "noise.csv", index=False)
    words = ("report", tmp_path / "noise.csv", "--target", "who", "--model", "kikuchi", "--quiet")
    code, _, err = run(capsys, *words, "--output", tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text()
    assert code == 0 and "no attributes" in text and "Which attributes act together?" not in text, err


def test_only_models_of_the_cells_fill_them(capsys, boards, tmp_path):
    out, model = tmp_path / "filled.csv", tmp_path / "m.partita"
    words = ("--target", "outcome", "--quiet", "--output")
    assert run(capsys, "impute", boards, "--model", "naive-bayes", *words, out)[0] == 0
    assert not pd.read_csv(out).isna().any().any()
    assert run(capsys, "fit", boards, "--model", "tan", *words, model)[0] == 0
    code, _, err = run(capsys, "impute", model, boards, *words, out)
    assert code == 2 and "TANClassifier" in err and "naive-bayes" in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("option", [("--checkpoint", "c"), ("--time-budget", "3")])
@pytest.mark.parametrize("name", ["naive-bayes", "tan"])
def test_options_of_long_fits_are_refused_by_models_of_one_pass(capsys, boards, tmp_path, name, option):
    words = ("fit", boards, "--target", "outcome", "--model", name, "--output", tmp_path / "m", *option)
    code, _, err = run(capsys, *words)
    assert code == 2 and f"{option[0]} has no use with --model {name}" in err


def test_a_target_of_fractions_is_named(capsys, boards, tmp_path):
    words = ("fit", boards, "--target", "minutes", "--model", "kikuchi", "--output", tmp_path / "m", "--quiet")
    code, _, err = run(capsys, *words)
    assert code == 2 and "--target minutes: Unknown label type: continuous" in err and "learns classes only" in err


def test_long_names_are_told_whole(capsys, tmp_path):
    rng = np.random.default_rng(0)
    names = [f"a rather long column name number {j}" for j in range(4)]
    frame = pd.DataFrame(rng.choice(["no", "yes"], (300, 4)), columns=names)
    frame.assign(y=frame[names[0]] == frame[names[2]]).to_csv(tmp_path / "t.csv", index=False)
    words = ("fit", tmp_path / "t.csv", "--target", "y", "--model", "kikuchi", "--output", tmp_path / "m", "--quiet")
    code, said, err = run(capsys, *words)
    assert code == 0 and "1 pair" in said and "1 pairs" not in said, err
    assert f"{names[0]} × {names[2]}" in " ".join(said.split())
