"""The scripts of the iQGME thesis run and leave a picture and their numbers."""

import csv
import importlib

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.filterwarnings("ignore::partita.data.validate.DataWarning")
SMALL = {"training": (0.3,), "missing": (0.25,), "trials": 1, "partitions": 1, "columns": (12, 6), "sweeps": 10}


def run(name, tmp_path, monkeypatch, **changes):
    script = importlib.import_module(name)
    if hasattr(script, "QUICK"):
        monkeypatch.setattr(script, "QUICK", {k: v for k, v in SMALL.items() if k in script.QUICK} | changes)
    script.main(quick=True, output=tmp_path)
    assert (tmp_path / f"{name}.png").stat().st_size > 1000
    with open(tmp_path / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_the_number_of_components_and_the_concentration(tmp_path, monkeypatch):
    records = run("iqgme_fig3_3", tmp_path, monkeypatch)
    assert sum(float(r["prior"]) for r in records) == pytest.approx(1.0, abs=0.01)
    assert sum(float(r["posterior"]) for r in records) == pytest.approx(1.0, abs=0.01)


def test_predictions_by_means_and_by_the_full_posterior(tmp_path, monkeypatch):
    records = run("iqgme_fig3_4", tmp_path, monkeypatch)
    both = np.array([[float(r["full"]), float(r["means"])] for r in records])
    assert both.min() >= 0 and both.max() <= 1 and np.corrcoef(both.T)[0, 1] > 0.9


@pytest.mark.parametrize("name", ["iqgme_fig3_11", "iqgme_fig3_12", "iqgme_fig3_13"])
def test_stand_ins_say_so(name, tmp_path, monkeypatch, capsys):
    assert run(name, tmp_path, monkeypatch)
    assert "not public" in capsys.readouterr().out


@pytest.mark.data
@pytest.mark.parametrize("name", ["iqgme_fig3_5", "iqgme_fig3_9"])
def test_ionosphere(name, published_data, tmp_path, monkeypatch, capsys):
    assert run(name, tmp_path, monkeypatch)
    assert "holds here" in capsys.readouterr().out


@pytest.mark.data
def test_holes_and_splits(published_data):
    from iqgme_thesis import holed_split, real_table

    X, y = real_table("ionosphere")
    assert X.shape == (351, 34) and y.sum() == 126
    split = holed_split(X, y, 0.25, 0.1, [1])
    seen = ~np.isnan(split.holed)
    assert np.array_equal(split.holed[seen], split.whole[seen]) and abs(seen.mean() - 0.75) < 0.01
    assert len(split.train) == 35 and not set(split.train) & set(split.test)


def test_names_of_figures():
    from partita.cli.reproduce import published_name

    assert published_name("iqgme_fig3_2") == published_name("iqgme-fig3.2") == "iqgme-fig3.2"
    assert published_name("aclass_fig4") == "aclass-fig4" and published_name("kikuchi-table1") == "kikuchi-table1"
