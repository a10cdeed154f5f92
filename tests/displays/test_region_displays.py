"""Displays of regions: numbers that are computed, and that they are drawn."""

import numpy as np
import pytest

from partita import (
    ContributionsDisplay,
    InteractionMatrixDisplay,
    KikuchiBayesClassifier,
    RegionGraphDisplay,
    RegionPathDisplay,
)
from partita.displays.names import shorten


@pytest.fixture(scope="module")
def parity():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 5))
    y = X[:, 1] ^ X[:, 3] ^ (rng.random(400) < 0.05 + 0.2 * X[:, 0])
    frame = pd.DataFrame(X, columns=["a", "b", "a name that is much too long for a picture", "d", "e"])
    return frame, y, KikuchiBayesClassifier(estimate="paper").fit(frame, y)


def test_path_and_its_hilltop(parity):
    model = parity[2]
    display = RegionPathDisplay.from_estimator(model).plot()
    assert display.regions[0] == "class" and "b × d" in display.regions
    assert display.hilltop == int(np.argmax(model.path_["log_posterior"]))
    assert len(display.ax_.lines) == 3 and display.figure_ is display.ax_.figure


def test_a_long_path_names_some_stages_only():
    n = 200
    names, hill = [f"r{k}" for k in range(n)], -np.abs(np.arange(n) - 90.0)
    display = RegionPathDisplay(names, np.arange(n) * 1.0, hill, np.ones(n))
    assert display.plot().hilltop == 90 and "r90" in [t.get_text() for t in display.ax_.get_xticklabels()]
    assert len(display.ax_.get_xticks()) <= 42


def test_graph_has_the_counting_numbers(parity):
    model = parity[2]
    display = RegionGraphDisplay.from_estimator(model).plot()
    assert dict(zip(display.regions, display.numbers.tolist(), strict=True)) == model.region_graph_
    assert all(set(display.regions[b]) < set(display.regions[a]) for a, b in display.edges)
    assert len(display.ax_.texts) == len(display.regions)
    assert len(RegionGraphDisplay.from_estimator(model, max_regions=1).regions) == 1
    with pytest.raises(ValueError, match="max_regions"):
        RegionGraphDisplay.from_estimator(model, max_regions=0)


def test_contributions_are_the_log_odds_of_the_class(parity):
    frame, _, model = parity
    p = model.predict_proba(frame.iloc[[7]])[0]
    display = ContributionsDisplay.from_estimator(model, frame, row=7, target=1).plot()
    assert display.log_odds == pytest.approx(np.log(p[1] / p[0]))
    assert display.contributions.sum() == pytest.approx(display.log_odds)
    few = ContributionsDisplay.from_estimator(model, frame, row=7, max_bars=2)
    assert len(few.names) == 2 and few.contributions.sum() == pytest.approx(few.log_odds)
    with pytest.raises(ValueError, match="row='7' must be a whole number"):
        ContributionsDisplay.from_estimator(model, frame, row="7")
    with pytest.raises(ValueError, match="row=4000"):
        ContributionsDisplay.from_estimator(model, frame, row=4000)
    with pytest.raises(ValueError, match="target='x'"):
        ContributionsDisplay.from_estimator(model, frame, target="x")


def test_contributions_of_the_evidence_estimate(parity):
    frame, y, _ = parity
    model = KikuchiBayesClassifier(random_state=0).fit(frame, y)
    p = model.predict_proba(frame.iloc[[2]])[0]
    display = ContributionsDisplay.from_estimator(model, frame, row=2, target=1).plot()
    assert display.contributions.sum() == pytest.approx(np.log(p[1] / p[0]))


def test_interaction_matrix(parity):
    model = parity[2]
    display = InteractionMatrixDisplay.from_estimator(model).plot()
    b, d = display.names.index("b"), display.names.index("d")
    assert display.information[b, d] == display.information[d, b] == model.interaction_information_[(1, 3)] > 0.2
    assert np.array_equal(display.together > 0, np.isfinite(display.strongest))
    assert (1,) not in model.map_regions_  # the diagonal is there also where no attribute was chosen alone
    told = [model.interaction_information_[(j,)] for j in sorted({j for r in model.map_regions_ for j in r})]
    np.testing.assert_array_equal(np.diag(display.information), told)
    empty = KikuchiBayesClassifier(estimate="paper").fit(np.ones((20, 1)), [0, 1] * 10)
    with pytest.raises(ValueError, match="No region"):
        InteractionMatrixDisplay.from_estimator(empty).plot()


def test_interaction_matrix_of_triples():
    X = np.array([[a, b, c, d] for a in (0, 1) for b in (0, 1) for c in (0, 1) for d in (0, 1)] * 20)
    model = KikuchiBayesClassifier(estimate="paper").fit(X, X[:, 0] ^ X[:, 1] ^ X[:, 3])
    display = InteractionMatrixDisplay.from_estimator(model).plot()
    assert model.map_regions_ == [(0, 1, 3)] and display.names == ["column 0", "column 1", "column 3"]
    apart = ~np.eye(3, dtype=bool)
    assert (display.together == apart).all() and np.isnan(display.information[apart]).all()
    np.testing.assert_allclose(np.diag(display.information), 0.0, atol=1e-12)  # alone they say nothing
    np.testing.assert_array_equal(display.strongest[apart], model.interaction_information_[(0, 1, 3)])
    assert np.isnan(display.strongest[~apart]).all() and len(display.ax_.collections[0].get_offsets()) == 6


def test_interaction_matrix_of_a_path_from_naive_bayes(parity):
    frame, y, _ = parity
    model = KikuchiBayesClassifier(estimate="paper", singles="all").fit(frame, y)
    assert len(model.path_) > 1  # a path of its own after the singles
    display = InteractionMatrixDisplay.from_estimator(model).plot()
    assert len(display.names) == 5 and np.isfinite(np.diag(display.information)).all()


def overlapping(display):
    display.figure_.canvas.draw()
    boxes = [text.get_bbox_patch().get_window_extent() for text in display.ax_.texts]
    return sum(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


@pytest.mark.parametrize(("n", "letters"), [(5, 26), (3, 40), (9, 10)])
def test_boxes_of_long_names_do_not_lie_on_each_other(n, letters):
    regions = [*((j, j + 1) for j in range(n)), ()]
    names = [*(f"{j:02d}".ljust(min(letters, 28), "m") for j in range(n)), "class"]
    display = RegionGraphDisplay(regions, np.ones(n + 1, int), names, [(j, n) for j in range(n)]).plot()
    assert overlapping(display) == 0


def test_names_are_cut_in_the_middle_and_dollars_are_no_formula():
    assert (
        shorten("a rather long column name number 10", 18) == "a rather …umber 10" and shorten("short", 18) == "short"
    )
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 2, (300, 2)), columns=["price ($)", "cost ($)"])
    model = KikuchiBayesClassifier(estimate="paper").fit(frame, frame.iloc[:, 0] ^ frame.iloc[:, 1])
    texts = []
    for kind in (RegionPathDisplay, RegionGraphDisplay, InteractionMatrixDisplay):
        ax = kind.from_estimator(model).plot().ax_
        texts += [*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels()]
    texts += ContributionsDisplay.from_estimator(model, frame).plot().ax_.get_yticklabels()
    named = [text for text in texts if "$" in text.get_text()]
    assert len(named) > 5 and not any(text.get_parse_math() for text in named)


def test_contributions_of_three_classes_do_not_pass_for_log_odds():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 2))
    model = KikuchiBayesClassifier(estimate="paper").fit(X, X[:, 0])
    display = ContributionsDisplay.from_estimator(model, X, target=1).plot()
    log_p = model.predict_log_proba(X[:1])[0]
    assert display.log_odds == pytest.approx(log_p[1] - np.delete(log_p, 1).mean())
    assert display.ax_.get_title().startswith("log probability of 1 over the mean of the others: ")


def test_nothing_beyond_the_hilltop_is_not_shaded():
    display = RegionPathDisplay(["class", "a"], np.array([-2.0, -1.0]), np.array([-2.0, -1.5]), np.ones(2)).plot()
    assert not display.ax_.patches and display.ax_.get_title() == "1 region to the hilltop, 0 beyond"
