"""`partita complete`: entries or a matrix in, predictions with intervals or the completed table out."""

import numpy as np
import pandas as pd
import pytest
from command_line import run

import partita

FEW = ("--samples", 20, "--burn-in", 20, "--chains", 1, "--max-rank", 4, "--quiet", "--jobs", 1)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A matrix with holes as a wide table and as entries, and cells to ask for."""
    folder = tmp_path_factory.mktemp("matrices")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 2)) @ rng.normal(size=(2, 10)) + 0.1 * rng.normal(size=(15, 10))
    X[rng.random(X.shape) < 0.3] = np.nan
    wide = pd.DataFrame(X, columns=[f"m{j}" for j in range(10)])
    wide.insert(0, "name", [f"p{i}" for i in range(15)])
    wide.to_csv(folder / "wide.csv", index=False)
    long = wide.melt("name", var_name="film", value_name="grade").dropna()
    long.to_parquet(folder / "long.parquet")
    long.assign(year=2000)[["year", "grade", "film", "name"]].to_csv(folder / "mixed.csv", index=False)
    pd.DataFrame({"name": ["p3", "p4"], "film": ["m1", "m2"]}).to_csv(folder / "pairs.csv", index=False)
    return folder


def test_a_wide_table_is_completed(capsys, files, tmp_path):
    out = tmp_path / "filled.csv"
    code, said, err = run(capsys, "complete", files / "wide.csv", "--output", out, *FEW)
    before, after = pd.read_csv(files / "wide.csv"), pd.read_csv(out)
    assert code == 0 and "15 rows x 10 columns" in said and "rank above the noise" in said, err
    assert list(after.columns) == list(before.columns) and after.notna().all().all()
    known = before.iloc[:, 1:].notna().to_numpy()
    assert np.allclose(after.iloc[:, 1:].to_numpy()[known], before.iloc[:, 1:].to_numpy()[known])


def test_entries_give_predictions_with_intervals(capsys, files, tmp_path):
    out = tmp_path / "cells.parquet"
    code, _, err = run(capsys, "complete", files / "long.parquet", "--output", out, "--interval", 0.8, *FEW)
    cells = pd.read_parquet(out)
    assert code == 0, err
    assert list(cells.columns) == ["name", "film", "predicted grade", "std", "low 80%", "high 80%"]
    assert len(cells) == 150 - len(pd.read_parquet(files / "long.parquet"))
    assert ((cells["low 80%"] < cells["predicted grade"]) & (cells["predicted grade"] < cells["high 80%"])).all()


def test_named_columns_pairs_and_a_saved_model(capsys, files, tmp_path):
    model, first, second = tmp_path / "m.partita", tmp_path / "a.csv", tmp_path / "b.csv"
    named = ("--rows", "name", "--columns", "film", "--values", "grade")
    code, _, err = run(
        capsys, "complete", files / "mixed.csv", *named, "--predict", files / "pairs.csv", "--output", first, "--save",
        model, "--report", tmp_path / "page.html", *FEW,
    )  # fmt: skip
    assert code == 0, err
    assert pd.read_csv(first)["name"].tolist() == ["p3", "p4"]
    page = (tmp_path / "page.html").read_text()
    assert page.count("data:image/png") == 3 and "What stands in the holes" in page and "R-hat" in page
    assert isinstance(partita.load(model), partita.BayesianSVD)
    code, _, err = run(capsys, "complete", model, "--predict", files / "pairs.csv", "--output", second, "--quiet")
    assert code == 0, err
    assert np.array_equal(pd.read_csv(first).iloc[:, 2:].to_numpy(), pd.read_csv(second).iloc[:, 2:].to_numpy())
    code, _, err = run(capsys, "complete", model, "--form", "wide", "--output", second, "--quiet")
    assert code == 0 and pd.read_csv(second).shape == (15, 11), err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["FOLDER/wide.csv", "--interval", "90"], "--interval 90"),
        (["FOLDER/wide.csv", "--rows", "name"], "go together"),
        (["FOLDER/wide.csv", "--rows", "name", "--columns", "x", "--values", "m1"], "--values, --trials x"),
        (["FOLDER/wide.csv", "--id", "who"], "--id who"),
        (["FOLDER/nowhere.csv"], "nowhere.csv"),
        (["FOLDER/wide.csv", "--link", "binomial"], "link='binomial'"),
    ],
)
def test_mistakes_are_one_line(capsys, files, tmp_path, words, message):
    words = [word.replace("FOLDER", str(files)) for word in words]
    code, _, err = run(capsys, "complete", *words, "--output", tmp_path / "o.csv", *FEW)
    assert code == 2 and message in err and len(err.splitlines()) == 1, err


def test_a_model_of_another_kind_is_refused(capsys, files, tmp_path):
    path = tmp_path / "m.partita"
    partita.save(partita.NaiveBayes().fit([[0.0], [1.0]], [0, 1]), path)
    code, _, err = run(capsys, "complete", path, "--output", tmp_path / "o.csv", "--quiet")
    assert code == 2 and "is a saved NaiveBayes" in err
