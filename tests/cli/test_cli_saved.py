"""Saved models of every family in the hands of every command: an answer, or one line that says where to go."""

import numpy as np
import pandas as pd
import pytest
from command_line import run

import partita

NETWORKS = ("structure", "network")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table and models of it: networks, a matrix, bins, one that was not fitted, a structure of two tables."""
    folder = tmp_path_factory.mktemp("saved")
    table = partita.datasets.make_diseases(60, 1, 3, missing=0.1, random_state=0).data
    y = np.arange(len(table)) % 2
    table.to_csv(folder / "table.csv", index=False)
    learner = partita.StructureLearner("sparse", n_sweeps=20, n_chains=1, random_state=0)
    models = {
        "structure": learner.fit(table),
        "network": partita.BayesianNetwork([(0, 1)]).fit(table),
        "matrix": partita.BayesianSVD(max_rank=2, n_samples=5, burn_in=5, n_chains=1, random_state=0).fit(table),
        "bins": partita.MDLPDiscretizer().fit(table, y),
        "unfitted": partita.AClass(),
        "two tables": partita.StructureLearner("uniform").fit([table, table]),
    }
    for name, model in models.items():
        partita.save(model, folder / name)
    return folder


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_says_how_probable_rows_are(capsys, folder, tmp_path, name):
    code, _, err = run(capsys, "predict", folder / name, folder / "table.csv", "--output", tmp_path / "p.csv")
    assert code == 0, err
    answer, model = pd.read_csv(tmp_path / "p.csv"), partita.load(folder / name)
    assert list(answer.columns) == ["log_density"]
    assert np.allclose(answer["log_density"], model.score_samples(pd.read_csv(folder / "table.csv")))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_network_fills_holes(capsys, folder, tmp_path, name):
    code, _, err = run(capsys, "impute", folder / name, folder / "table.csv", "--output", tmp_path / "p.csv")
    assert code == 0 and not pd.read_csv(tmp_path / "p.csv").isna().any().any(), err


@pytest.mark.parametrize(
    ("command", "name", "said"),
    [
        *((command, "matrix", "partita complete") for command in ("predict", "impute", "report")),
        *((command, "unfitted", "not fitted") for command in ("predict", "impute", "report")),
        *((command, "two tables", "several tables") for command in ("predict", "impute", "report")),
        ("predict", "bins", "predicts nothing"),
        ("impute", "bins", "cannot fill cells"),
    ],
)
def test_what_has_no_answer_says_so_in_one_line(capsys, folder, tmp_path, command, name, said):
    output = tmp_path / ("o.html" if command == "report" else "o.csv")
    code, _, err = run(capsys, command, folder / name, folder / "table.csv", "--output", output)
    assert code == 2 and err.startswith("partita: error: ") and said in err and len(err.splitlines()) == 1, err


def test_a_saved_matrix_is_known_by_its_content(capsys, folder, tmp_path):
    code, out, err = run(capsys, "complete", folder / "matrix", "--output", tmp_path / "o.csv", "--quiet")
    assert code == 0 and "60 rows x 4 columns" in out, err


@pytest.mark.parametrize("command", ["describe", "structure"])
def test_a_model_in_the_place_of_a_table_is_told(capsys, folder, command):
    code, _, err = run(capsys, command, folder / "network")
    assert code == 2 and "is a saved model, and a table is wanted here" in err


def test_a_model_that_is_not_there_is_told_as_a_table_is(capsys, folder, tmp_path):
    code, _, err = run(capsys, "predict", "nowhere", folder / "table.csv", "--output", tmp_path / "o.csv")
    assert code == 2 and err == "partita: error: No file 'nowhere'. Check the path.\n"


def test_a_picture_is_a_png(capsys, folder):
    code, _, err = run(capsys, "structure", folder / "table.csv", "--picture", "net.pdf", "--quiet")
    assert code == 2 and ".png" in err


def test_names_of_published_results_are_in_the_order_of_their_numbers():
    from partita.cli.reproduce import find_scripts

    names = [name for name in find_scripts() if name.startswith("iqgme-fig")]
    assert names.index("iqgme-fig3.9") < names.index("iqgme-fig3.10")
