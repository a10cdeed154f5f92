import importlib.util

import matplotlib
import numpy as np
import pytest

from partita.displays.picture import draw_png
from partita.displays.probabilities import ProbabilitiesDisplay
from partita.displays.reliability import ReliabilityDisplay

matplotlib.use("Agg")


def flips(n, seed=0):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return (rng.random(n) < p).astype(int), np.column_stack([1 - p, p])


def test_true_probabilities_lie_on_the_line():
    y, p = flips(50_000)
    display = ReliabilityDisplay.from_predictions(y, p, [0, 1])
    assert len(display.predicted) == 10 and display.counts.sum() == 50_000
    assert np.abs(display.observed - display.predicted).max() < 0.03 and display.calibration_error < 0.01
    inside = (display.low <= display.predicted) & (display.predicted <= display.high)
    assert inside.sum() >= 7


def test_overconfidence_is_seen():
    y, p = flips(20_000)
    sharp = p**3 / (p**3).sum(axis=1, keepdims=True)
    assert ReliabilityDisplay.from_predictions(y, sharp, [0, 1]).calibration_error > 0.1


def test_pos_label_turns_the_picture():
    y, p = flips(1000)
    first = ReliabilityDisplay.from_predictions(y, p, [0, 1], pos_label=0)
    second = ReliabilityDisplay.from_predictions(y, p, [0, 1])
    assert np.allclose(first.predicted, 1 - second.predicted[::-1]) and first.label == "probability of 0"


def test_many_classes_use_the_predicted_one():
    y = np.array(["a", "b", "c", "a"])
    p = np.array([[0.75, 0.15, 0.1], [0.15, 0.75, 0.1], [0.75, 0.15, 0.1], [0.75, 0.15, 0.1]])
    display = ReliabilityDisplay.from_predictions(y, p, ["a", "b", "c"])
    assert display.observed.tolist() == [0.75] and display.calibration_error == pytest.approx(0)


def test_errors_say_what_is_wrong():
    with pytest.raises(ValueError, match=r"shape \(2, 3\), expected \(2, 2\)"):
        ReliabilityDisplay.from_predictions([0, 1], np.ones((2, 3)) / 3, [0, 1])
    with pytest.raises(ValueError, match="not in classes: 7"):
        ReliabilityDisplay.from_predictions([0, 7], np.ones((2, 2)) / 2, [0, 1])
    with pytest.raises(ValueError, match="pos_label=5"):
        ReliabilityDisplay.from_predictions([0, 1], np.ones((2, 2)) / 2, [0, 1], pos_label=5)


def test_computing_needs_no_figure_and_drawing_keeps_its_axes():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    y, p = flips(200)
    display = ReliabilityDisplay.from_predictions(y, p, [0, 1], name="model")
    assert plt.get_fignums() == before
    figure, ax = plt.subplots()
    assert display.plot(ax=ax).ax_ is ax and display.figure_ is figure and "model" in ax.get_title()
    plt.close(figure)


def test_probabilities_by_true_class():
    y, p = flips(500)
    display = ProbabilitiesDisplay.from_predictions(y, p, [0, 1])
    assert [len(c) for c in display.chances] == np.bincount(y).tolist()
    assert display.chances[1].mean() > display.chances[0].mean()


def test_picture_is_a_png_and_leaves_no_figure():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    y, p = flips(100)
    png = draw_png(
        ReliabilityDisplay.from_predictions(y, p, [0, 1]), ProbabilitiesDisplay.from_predictions(y, p, [0, 1])
    )
    assert png.startswith(b"\x89PNG") and plt.get_fignums() == before


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    display = ProbabilitiesDisplay.from_predictions(["a", "b"], np.eye(2), np.array(["a", "b"]))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for draw in (display.plot, lambda: draw_png(display)):
        with pytest.raises(ImportError, match=r"pip install \"partita\[plot\]\""):
            draw()
