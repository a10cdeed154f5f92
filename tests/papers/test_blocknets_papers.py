"""The scripts of chapter 2 of Mansinghka's thesis run and leave a picture and their numbers; their worlds are right."""

import csv
import importlib

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::partita.data.validate.DataWarning")
TINY = {"n_chains": 2, "n_sweeps": 30}


def run(name, tmp_path, monkeypatch, **changes):
    script = importlib.import_module(name)
    small = {"test": 40, "settings": TINY, "thesis": TINY, "longer": {}}
    monkeypatch.setattr(script, "QUICK", script.QUICK | small | changes)
    script.main(quick=True, output=tmp_path)
    assert (tmp_path / f"{name}.png").stat().st_size > 20_000
    with open(tmp_path / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("figure", ["2_2", "2_3"])
def test_small_worlds(figure, tmp_path, monkeypatch, capsys):
    records = run(f"blocknets_fig{figure}", tmp_path, monkeypatch)
    assert {r["prior"] for r in records} >= {"uniform", "block", "ordered", "one class", "auto"}
    assert all(0 <= float(r["ap"]) <= 1 and np.isfinite(float(r["kl"])) for r in records)
    assert "holds here" in capsys.readouterr().out


@pytest.mark.parametrize("figure", ["2_4", "2_5"])
def test_larger_worlds(figure, tmp_path, monkeypatch, capsys):
    from blocknets_learners import PRIORS

    few = {"ordered": "ordered-block", "uniform": "uniform", "block": "block", "one class": "sparse", "auto": "sparse"}
    monkeypatch.setattr(importlib.import_module("blocknets_learners"), "PRIORS", few)  # auto is tested above
    records = run(f"blocknets_fig{figure}", tmp_path, monkeypatch)
    assert {r["prior"] for r in records} == set(PRIORS) and "holds here" in capsys.readouterr().out


@pytest.mark.data
def test_published_worlds(published_data, tmp_path, monkeypatch):
    records = run("blocknets_networks", tmp_path, monkeypatch)
    assert {(r["network"], r["nodes"], r["edges"]) for r in records} == {("asia", "8", "8"), ("child", "20", "25")}


@pytest.mark.data
def test_the_piece_of_hepar(published_data):
    from blocknets_worlds import hepar

    world = hepar()
    assert world.graph.shape == (21, 21) and np.bincount(world.classes).tolist() == [6, 5, 10]
    rows = world.draw(20_000, np.random.default_rng(0))
    assert np.array_equal(rows.max(axis=0) + 1, world.arities)
    # the marginal law of the piece: frequencies of one row, of which most of the network is summed out
    values, counts = np.unique(rows, axis=0, return_counts=True)
    top = values[counts.argmax()][None]
    p = float(np.exp(world.log_density(top))[0])
    assert counts.max() / len(rows) == pytest.approx(p, abs=5 * np.sqrt(p / len(rows)))
    fibrosis = hepar("with fibrosis")
    only = fibrosis.graph[fibrosis.names.index("fibrosis")]
    assert only.sum() == 1 and fibrosis.classes[only.argmax()] == 1  # one edge, to another disorder


def test_worlds_draw_from_their_density():
    from blocknets_worlds import diseases, layered, regulators, sparse

    for maker in (layered, sparse, diseases, regulators):
        world = maker(np.random.default_rng(1))
        rows = world.draw(4000, np.random.default_rng(2))
        logs = world.log_density(rows)
        again = world.log_density(world.draw(4000, np.random.default_rng(3)))
        assert abs(logs.mean() - again.mean()) < 5 * logs.std() / np.sqrt(2000)
    assert (diseases(np.random.default_rng(0)).graph[10:] == 0).all()


def test_noisy_or_tables():
    from blocknets_worlds import diseases

    world = diseases(np.random.default_rng(4))
    for node in range(10, 30):
        table = world.net.tables[node][..., 0]  # silent: the leak times one factor for each disease that is there
        first = table.flat[0]
        assert first == pytest.approx(0.95)
        each = [table[tuple(int(k == axis) for k in range(table.ndim))] / 0.95 for axis in range(table.ndim)]
        assert table.flat[-1] == pytest.approx(0.95 * np.prod(each)) and 0.1 <= min(each) <= max(each) <= 0.5


def test_levels_that_no_row_shows_have_their_share():
    from blocknets_learners import unseen_levels
    from blocknets_worlds import layered

    world = layered(np.random.default_rng(0))
    rows, test = np.zeros((20, 12), int), np.zeros((2, 12), int)
    test[1, 3] = 1
    log_p = unseen_levels(world, rows, test)  # a model of one level a column says 0 of every row
    assert log_p[0] == pytest.approx(12 * np.log(20.5 / 21))
    assert log_p[1] - log_p[0] == pytest.approx(np.log(0.5 / 20.5))
    rows[0] = 1
    assert unseen_levels(world, rows, test) == pytest.approx(0)


def test_precision_of_the_truth_is_one_and_names():
    from blocknets_learners import precision, same_classes, separation
    from blocknets_worlds import layered

    from partita.cli.reproduce import published_name

    world = layered(np.random.default_rng(0))
    assert precision(world.graph, world.graph.astype(float)) == {"ap": 1.0, "skeleton": 1.0}
    assert same_classes(2 - world.classes, world.classes) and not same_classes(np.zeros(12, int), world.classes)
    assert separation((world.classes[:, None] == world.classes).astype(float), world.classes) == 1.0
    assert published_name("blocknets_fig2_2") == published_name("blocknets-fig2.2") == "blocknets-fig2.2"
    assert published_name("blocknets_networks") == "blocknets-networks"
