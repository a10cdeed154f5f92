"""Every script of papers/ runs, prints claims beside measurements and leaves a picture and its numbers."""

import csv
import importlib
from dataclasses import replace

import pytest
from aclass_peers import OURS, PEERS, aclass

pytest.importorskip("matplotlib")


def shrink(plan):
    """The smallest plan that still has every part."""
    if isinstance(plan, dict):
        return {"sizes": (20, 40), "truths": (1, 3), "repetitions": 2}
    return replace(plan, sizes=(20, 40), repetitions=2, n_jobs=1)


def run(name, monkeypatch, tmp_path, capsys):
    script = importlib.import_module(name)
    monkeypatch.setattr(script, "QUICK", shrink(script.QUICK))
    monkeypatch.setitem(PEERS, OURS, aclass(n_filters=4, n_sweeps=4))  # the smallest that still has views
    script.main(quick=True, output=tmp_path)
    printed = capsys.readouterr().out
    assert "the paper says" in printed and "Our default against" in printed
    assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    with open(tmp_path / f"{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", ["aclass_fig4", "aclass_fig5"])
def test_densities(name, monkeypatch, tmp_path, capsys):
    records = run(name, monkeypatch, tmp_path, capsys)
    per_setting = 4 if name == "aclass_fig4" else 5
    assert len(records) == 2 * 2 * 2 * per_setting
    assert {r["true"] for r in records} == {"1", "3"}


def test_synthetic_classes(monkeypatch, tmp_path, capsys):
    records = run("aclass_fig6", monkeypatch, tmp_path, capsys)
    assert len(records) == 3 * 2 * 2 * 6
    assert all(0 <= float(r["loss"]) <= 1 for r in records)


@pytest.mark.data
@pytest.mark.parametrize("name", ["aclass_fig7", "aclass_fig8", "aclass_raw_mnist"])
def test_published_sets(name, published_data, monkeypatch, tmp_path, capsys):
    records = run(name, monkeypatch, tmp_path, capsys)
    assert {r["rows"] for r in records} == {"20", "40"}
    if name == "aclass_raw_mnist":
        shares = [float(r["background"]) for r in records if r["method"].endswith("default")]
        assert all(0 <= share <= 1 for share in shares)


@pytest.mark.paper
@pytest.mark.parametrize("figure", ["fig4", "fig5", "fig6", "fig7", "fig8", "raw_mnist"])
def test_quick_run(figure, published_data, tmp_path):
    script = importlib.import_module(f"aclass_{figure}")
    script.main(quick=True, output=tmp_path)
    assert (tmp_path / f"aclass_{figure}.png").is_file()
