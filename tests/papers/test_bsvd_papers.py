"""The scripts of the Bayesian SVD thesis run and leave a picture and their numbers."""

import csv
import importlib

import numpy as np
import pytest

pytest.importorskip("matplotlib")
pytestmark = pytest.mark.filterwarnings("ignore::partita.data.validate.DataWarning")
TINY = {
    "bsvd_fig5_2": {"columns": (0.15,), "trials": 1, "sweeps": (20, 10)},
    "bsvd_fig5_4_5_5": {
        "settings": ((1, None),), "matrices": 1, "first": (15, 15), "later": (10, 10), "most": {1: 150},
    },
    "bsvd_table5_2": {"users": 60, "codes": ("0000", "1111")},
    "bsvd_fig5_6_5_7": {"users": 60},
    "bsvd_table5_3": {"players": 40, "sweeps": (5, 5)},
    "bsvd_table5_4": {"players": 40, "sweeps": (5, 5)},
    "bsvd_fig5_8": {"players": 40, "sweeps": (5, 5), "pitchers": 4},
}  # fmt: skip


def run(name, tmp_path):
    script = importlib.import_module(name)
    changes = dict(TINY[name])
    if isinstance(script.QUICK.get("sweeps"), dict):
        changes["sweeps"] = dict.fromkeys(script.QUICK["sweeps"], (4, 4))
    script.main(quick=True, output=tmp_path, **changes)
    assert (tmp_path / f"{name}.png").stat().st_size > 1000
    with open(tmp_path / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_recovery_map(tmp_path, capsys):
    records = run("bsvd_fig5_2", tmp_path)
    assert len(records) == 2 * len({r["rank"] for r in records}) and "holds here" in capsys.readouterr().out


def test_acquisition(tmp_path):
    records = run("bsvd_fig5_4_5_5", tmp_path)
    counts = {rule: [int(r["entries"]) for r in records if r["rule"] == rule] for rule in ("random", "line")}
    assert counts["random"][:2] == [50, 100] and counts["line"][0] == 50


@pytest.mark.data
@pytest.mark.parametrize("name", ["bsvd_table5_2", "bsvd_fig5_6_5_7"])
def test_movielens(name, published_data, tmp_path):
    records = run(name, tmp_path)
    assert all(0 < float(r["rmse"]) < 4 for r in records)  # of so few sweeps no more is promised


@pytest.mark.data
@pytest.mark.parametrize("name", ["bsvd_table5_3", "bsvd_table5_4", "bsvd_fig5_8"])
def test_baseball_names_its_source(name, published_data, tmp_path, capsys):
    assert run(name, tmp_path)
    printed = capsys.readouterr().out
    assert "copyrighted by Retrosheet" in printed and "constant" in printed


@pytest.mark.data
def test_partitions_hold_out_one_rating_of_every_user(published_data):
    from bsvd_splits import SEEDS, features, marlin

    split = marlin(SEEDS[0])
    assert len(split.test) == len(np.unique(split.test.user)) == 5000
    assert set(split.test.user) == set(split.train.user) and 780_000 < len(split.train) < 860_000
    again = marlin(SEEDS[0])
    assert np.array_equal(again.test.movie, split.test.movie)
    assert not np.array_equal(marlin(SEEDS[1]).test.user, split.test.user)
    side = features(split.part(300), "1111")
    assert side["row_features"].shape == (300, 2 + 7 + 21 + 10) and side["column_features"].shape == (3883, 19 + 10)


@pytest.mark.data
def test_published_splits(published_data):
    from bsvd_splits import bpmf, fold_one

    assert (len(fold_one().train), len(fold_one().test)) == (80_000, 20_000)
    assert (len(bpmf().train), len(bpmf().test)) == (900_000, 100_209)


@pytest.mark.data
def test_the_thesis_is_no_better_than_the_constant(published_data):
    """Erratum 6: its log-likelihoods are those of one probability for all pairs."""
    from bsvd_baseball import log_likelihood, season
    from bsvd_table5_3 import PRINTED

    train, test = season("2003-2007")
    assert (len(np.unique(test.batter)), len(np.unique(test.pitcher))) == (759, 528)  # as printed
    constant = log_likelihood(np.full(len(test), train.rate), test)
    assert PRINTED["BSVD"][1] < constant + 1 and constant == pytest.approx(-88_518, abs=2)


def test_tiles_lie_on_the_printed_axes():
    from bsvd_fig5_2 import COLUMNS, grid
    from bsvd_synthetic import freedom

    cells = grid(COLUMNS)
    assert len(set(cells)) == len(cells) == 79
    assert all(0 < freedom(rank) / m <= 1 for m, rank in cells)


def test_names_of_figures_and_tables():
    from partita.cli.reproduce import published_name

    for stem, name in (
        ("bsvd_fig5_2", "bsvd-fig5.2"), ("bsvd_fig5_4_5_5", "bsvd-fig5.4-5.5"), ("bsvd_table5_2", "bsvd-table5.2"),
        ("bsvd_fig5_6_5_7", "bsvd-fig5.6-5.7"), ("bsvd_fig5_8", "bsvd-fig5.8"),
    ):  # fmt: skip
        assert published_name(stem) == published_name(name) == name
