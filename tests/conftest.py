"""Shared by all tests: where the published data sets are, and what a busy machine must not change."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Neither how long an example takes nor how long it takes to make one says that something is wrong.
settings.register_profile("partita", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("partita")


@pytest.fixture
def published_data(monkeypatch):
    """The folder of published data sets, with PARTITA_DATA set to it; the test is skipped where there is none."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("PARTITA_DATA") or beside)
    if not (folder / "index.csv").is_file():
        pytest.skip("published data sets not found: set PARTITA_DATA to their folder")
    monkeypatch.setenv("PARTITA_DATA", str(folder))
    return folder


def pytest_configure(config):
    """Started in the background, a process ignores Ctrl-C and so do its children: the tests of Ctrl-C need it back."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
