"""KikuchiBayesClassifier with the default estimate: what a stop and the limits leave, and that they are told."""

import signal
import threading
import warnings

import numpy as np
import pytest

from partita import KikuchiBayesClassifier
from partita.data.validate import DataWarning
from partita.estimators import kikuchi_bayes
from partita.inference.loop import FitInterrupted
from partita.models.evidence.path import Path
from partita.models.kikuchi.search import Search


def parity(n=600, d=8, seed=0):
    """The class is the exclusive or of columns 1 and 4, one row in ten at random."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n, d)).astype(float)
    return X, ((X[:, 1] != X[:, 4]) ^ (rng.random(n) < 0.1)).astype(int)


def press_before(monkeypatch, owner, name):
    """Ctrl-C just before a method is called for the first time."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    method, pressed = getattr(owner, name), []

    def wrapped(self, *arguments):
        if not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)
        return method(self, *arguments)

    monkeypatch.setattr(owner, name, wrapped)


def test_the_search_leaves_half_of_the_time_to_the_evidence(monkeypatch):
    X, y = parity()
    given = []
    find_path = kikuchi_bayes.find_path

    def watched(problem, choices, runner, *rest):
        given.append(runner.time_budget)
        return find_path(problem, choices, runner, *rest)

    monkeypatch.setattr(kikuchi_bayes, "find_path", watched)
    KikuchiBayesClassifier(time_budget=1000.0).fit(X, y)
    KikuchiBayesClassifier(max_order=5).fit(X, y)
    KikuchiBayesClassifier(time_budget=1000.0, estimate="paper").fit(X, y)
    KikuchiBayesClassifier().fit(X, y)  # searches when asked for what the search finds
    assert 400 < given[0] <= 500 and given[1:] == [None, 1000.0]


def test_what_the_search_found_is_used_when_the_time_is_over(monkeypatch):
    X, y = parity()
    fit_evidence = kikuchi_bayes.fit_evidence
    over = lambda: True  # noqa: E731
    monkeypatch.setattr(kikuchi_bayes, "fit_evidence", lambda *given, **more: fit_evidence(*given[:-1], over, **more))
    with pytest.warns(FitInterrupted, match=r"time_budget is spent: stages .* pairs, triples"):
        model = KikuchiBayesClassifier(random_state=0, time_budget=1000.0).fit(X, y)
    assert (1, 4) in model.map_regions_
    X, y = parity(n=2000, seed=1)
    assert np.mean(model.predict(X) == y) > 0.85


@pytest.mark.parametrize("name", ["_scan_pairs", "_find_triples"])
def test_ctrl_c_in_the_evidence_keeps_what_is_fitted(monkeypatch, name):
    X, y = parity()
    press_before(monkeypatch, Path, name)
    with pytest.warns(FitInterrupted, match=r"stopped by Ctrl-C: stages .*triples"):
        model = KikuchiBayesClassifier(random_state=0, time_budget=1000.0).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.85
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_the_search_is_not_asked_for_again(monkeypatch):
    X, y = parity()
    climb = Search.climb

    def pressed(self, order):
        if order == 3:
            signal.raise_signal(signal.SIGINT)
        return climb(self, order)

    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")
    monkeypatch.setattr(Search, "climb", pressed)
    with pytest.warns(FitInterrupted) as told:
        model = KikuchiBayesClassifier(random_state=0, time_budget=1000.0).fit(X, y)
    assert any("pairs, triples" in str(w.message) for w in told)
    assert np.mean(model.predict(X) == y) > 0.85


def test_limits_of_the_evidence_search_are_told():
    X, y = parity(d=12)
    X = np.column_stack([X, y])  # column 12 is surely kept
    with pytest.warns(DataWarning) as told:
        KikuchiBayesClassifier(max_candidates=20, random_state=0).fit(X, y)
    texts = [str(w.message) for w in told]
    pairs = next(text for text in texts if text.startswith("pairs of attributes with"))
    assert "max_candidates=20" in pairs and "12" not in pairs.split("were")[0]
    with pytest.warns(DataWarning, match=r"triples over the pairs \d+ with \d+, .* and \d+ more were not"):
        KikuchiBayesClassifier(max_candidates=100, random_state=0).fit(*parity(d=12))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KikuchiBayesClassifier(random_state=0).fit(*parity(d=12))


def test_what_the_search_found_is_fitted_in_small_tables_too(monkeypatch):
    """A hilltop of few rows has no stage of its own, unless a stop left out the stages that find its regions anew."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (150, 6))
    y = X[:, 0] ^ X[:, 1]
    whole = KikuchiBayesClassifier(max_order=5, random_state=0).fit(X, y)
    assert "path" not in [stage.name for stage in whole._built.stages]
    monkeypatch.setattr(Path, "_goes_on", lambda self, *stages: bool(self.omitted.stages.extend(stages)))
    with pytest.warns(FitInterrupted, match="the one of map_regions_"):
        model = KikuchiBayesClassifier(time_budget=1000.0, random_state=0).fit(X, y)
    assert (0, 1) in model.map_regions_ and (0, 1) in model.explain(X).regions
    assert model.score(X, y) == 1.0
