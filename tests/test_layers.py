"""Imports go downward only: the contracts of pyproject.toml, kept by import-linter."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def test_contracts_are_kept(monkeypatch, capsys):
    cli = pytest.importorskip("importlinter.cli")
    monkeypatch.chdir(ROOT)
    code = cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert code == cli.EXIT_STATUS_SUCCESS, capsys.readouterr().out


def test_no_contract_has_an_exception():
    import tomllib

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    assert len(settings["contracts"]) >= 3
    assert not any("ignore_imports" in contract for contract in settings["contracts"])
