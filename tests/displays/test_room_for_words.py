"""Long names and many groups: words stay inside their picture and do not run into each other."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest

import partita
from partita import AnomalyDisplay, ClusterProfileDisplay, DensityDisplay, LearningCurveDisplay, NaiveBayes
from partita.displays.probabilities import ProbabilitiesDisplay

LONG = "quite long column name, in millimetres per second (number two)"


def boxes(texts, figure):
    figure.draw_without_rendering()
    return [text.get_window_extent() for text in texts if text.get_text()]


def test_names_of_strange_rows_stand_above_the_bars():
    scores = np.random.default_rng(0).normal(-3, 0.6, 120)
    names = [f"a person with a rather long name {i}" for i in range(120)]
    display = AnomalyDisplay(scores, np.argsort(scores)[:5], names).plot()
    frame, highest = display.ax_.get_window_extent(), max(bar.get_height() for bar in display.ax_.patches)
    over = display.ax_.transData.transform((0, highest))[1]
    # the box of an annotation holds its line too: of the text alone, its upper edge and its left one
    found = boxes(display.ax_.texts, display.figure_)
    assert all(box.x0 >= frame.x0 - 1 and box.x1 <= frame.x1 and over < box.y1 <= frame.y1 for box in found)
    assert all(upper.y1 - lower.y1 > 8 for upper, lower in pairwise(found))
    plt.close(display.figure_)


def test_a_name_too_long_for_any_picture_is_cut():
    scores = np.linspace(-5, 0, 50)
    display = AnomalyDisplay(scores, np.array([0]), ["x" * 200] * 50).plot()
    assert len(display.ax_.texts[0].get_text()) == 40
    plt.close(display.figure_)


def test_long_names_of_columns_fit_beside_their_axis():
    cells = np.random.default_rng(0).normal(size=(30, 2))
    grid = np.linspace(-2, 2, 9)
    display = DensityDisplay([LONG, LONG], cells, [grid, grid], np.ones((9, 9)), None).plot()
    box, = boxes([display.ax_.yaxis.label], display.figure_)
    assert 0 <= box.y0 and box.y1 <= display.figure_.bbox.height
    plt.close(display.figure_)


@pytest.mark.parametrize("n", [20, 30])
def test_many_classes_have_a_colour_each_and_a_legend_beside_the_bars(n):
    y = np.arange(4 * n) % n
    display = ProbabilitiesDisplay.from_predictions(y, np.full((4 * n, n), 1 / n), np.arange(n)).plot()
    colours = {container[0].get_facecolor() for container in display.ax_.containers}
    assert len(colours) == n
    display.figure_.draw_without_rendering()
    legend = display.ax_.get_legend().get_window_extent()
    assert legend.x0 >= display.ax_.get_window_extent().x1 and legend.x1 <= display.figure_.bbox.width + 1
    plt.close(display.figure_)


@pytest.mark.parametrize(("n_groups", "panel"), [(14, True), (14, False), (4, True)])
def test_numbers_of_a_profile_do_not_touch(n_groups, panel):
    figure, axes = plt.subplots(2, 2, figsize=(11, 8.6), layout="constrained")
    values = np.full((3, n_groups), 0.25)
    values[0] = 12_345.0
    display = ClusterProfileDisplay(
        ["height", LONG, "c = a"], list(range(n_groups)), np.full(n_groups, 123), values, values * 0,
        np.array([False, False, True]),
    ).plot(axes[1, 1] if panel else None)  # fmt: skip
    for line in range(3):
        own = [text for text in display.ax_.texts if text.get_position()[1] == line]
        assert all(a.x1 < b.x0 for a, b in pairwise(boxes(own, display.figure_)))
    ticks = boxes(display.ax_.get_xticklabels(), display.figure_)
    assert len(ticks) == n_groups and all(a.x1 < b.x0 for a, b in pairwise(ticks))
    assert len(display.ax_.texts) == (0 if panel and n_groups == 14 else 3 * n_groups)
    plt.close(figure)
    plt.close(display.figure_)


def test_a_learning_curve_of_one_class_says_so():
    with pytest.raises(ValueError, match="one class only; a learning curve needs two"):
        LearningCurveDisplay.from_estimator(NaiveBayes(), [([[0.0]], ["a"])], [[0.0]], ["a"], classes=["a"])


def cut(figure) -> list[str]:
    """Titles and labels that run over the figure's edge."""
    words = [text for ax in figure.axes for text in (ax.title, ax.xaxis.label, ax.yaxis.label)]
    page, places = figure.bbox, boxes(words, figure)
    inside = [box.x0 >= -1 and box.y0 >= -1 and box.x1 <= page.x1 + 1 and box.y1 <= page.y1 + 1 for box in places]
    return [text for text, fits in zip([text.get_text() for text in words if text.get_text()], inside) if not fits]


def test_many_classes_have_a_colour_each_in_the_posterior_of_groups():
    posteriors = {f"class number {k} of many": {1: 0.5, 2: 0.3, 7: 0.2} for k in range(12)}
    display = partita.ComponentsPosteriorDisplay(posteriors).plot()
    legend = display.ax_.get_legend()
    assert len({handle.get_facecolor() for handle in legend.get_patches()}) == 12
    display.figure_.draw_without_rendering()
    assert legend.get_window_extent().x0 >= display.ax_.get_window_extent().x1 - 1  # beside the bars


def test_a_long_class_name_is_not_cut_in_contributions():
    target = "a class whose name is longer than any figure is wide"
    display = partita.ContributionsDisplay(["a", "b"], np.array([1.0, -0.5]), 0.5, target, n_classes=3).plot()
    assert not cut(display.figure_)


def test_the_profile_of_two_columns_has_room_for_its_words():
    values = np.zeros((2, 5))
    sizes, shares = np.full(5, 3), np.zeros(2, bool)
    display = partita.ClusterProfileDisplay(["a", "b"], list(range(5)), sizes, values, values, shares)
    assert not cut(display.plot().figure_)


def test_sweeps_and_numbers_of_groups_are_whole_at_the_axes():
    ax = partita.TraceDisplay(np.array([[1, 2, 4, 3], [2, 2, 3, 3]]), "n_groups").plot().ax_
    assert ax.get_ylabel() == "number of groups"
    assert all(tick == int(tick) for axis in (ax.xaxis, ax.yaxis) for tick in axis.get_ticklocs())
