"""Displays of groups: numbers that are computed, and that they are drawn."""

import numpy as np
import pytest

import partita
from partita import ClusterProfileDisplay, ComponentsPosteriorDisplay, SimilarityDisplay, TraceDisplay


def test_components_posterior_of_a_mixture(mixture):
    display = ComponentsPosteriorDisplay.from_estimator(mixture).plot(truth=3)
    assert display.posteriors == {"": mixture.n_components_posterior_}
    heights = [bar.get_height() for bar in display.ax_.patches]
    assert sum(heights) == pytest.approx(1) and display.figure_ is display.ax_.figure


def test_components_posterior_by_class(coins):
    display = ComponentsPosteriorDisplay.from_estimator(coins[2]).plot()
    assert list(display.posteriors) == [0, 1]
    assert sum(bar.get_height() for bar in display.ax_.patches) == pytest.approx(2)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["0", "1"]


def test_similarity_is_ordered_by_group(mixture):
    display = SimilarityDisplay.from_estimator(mixture).plot()
    assert np.array_equal(display.similarity, mixture.similarity()[np.ix_(display.order, display.order)])
    assert np.array_equal(display.groups, mixture.labels_[display.order])
    changes = np.count_nonzero(display.groups[1:] != display.groups[:-1])
    assert changes == len(np.unique(mixture.labels_)) - 1  # every group is one block
    assert display.ax_.images[0].get_array().shape == (120, 120)


def test_similarity_puts_large_groups_and_sure_rows_first():
    p = np.array([[1, 0, 0.9, 0.2], [0, 1, 0, 0], [0.9, 0, 1, 0.6], [0.2, 0, 0.6, 1.0]])
    display = SimilarityDisplay.from_similarity(p, [5, 7, 5, 5])
    assert display.order.tolist() == [2, 0, 3, 1] and display.groups.tolist() == [5, 5, 5, 7]


def test_similarity_is_thinned_and_takes_new_rows(mixture, mixed):
    display = SimilarityDisplay.from_estimator(mixture, mixed[0].head(50), max_rows=20)
    assert display.similarity.shape == (20, 20) and len(set(display.order)) == 20 and display.order.max() < 50


def test_similarity_errors():
    with pytest.raises(ValueError, match="similarity has shape"):
        SimilarityDisplay.from_similarity(np.eye(3), [0, 1])
    with pytest.raises(ValueError, match="max_rows"):
        SimilarityDisplay.from_estimator(None, max_rows=1)


def test_trace_of_chains(mixture):
    display = TraceDisplay.from_estimator(mixture, "n_groups").plot()
    assert display.trace.shape == (3, 30) and len(display.ax_.lines) == 3
    assert display.r_hat == mixture.diagnostics_["n_groups"]["r_hat"] and "R-hat" in display.ax_.get_title()


def test_trace_errors(mixture, mixed):
    with pytest.raises(ValueError, match="'nonsense' was not recorded"):
        TraceDisplay.from_estimator(mixture, "nonsense")
    stream = partita.CRPMixture(n_filters=1, random_state=0).partial_fit(mixed[0])
    with pytest.raises(ValueError, match="stream"):
        TraceDisplay.from_estimator(stream)


def test_cluster_profile_has_means_and_shares(mixture, mixed):
    full, clusters = mixed[1:]
    display = ClusterProfileDisplay.from_estimator(mixture, full, clusters).plot()
    assert sorted(display.groups) == [0, 1, 2] and (np.diff(display.sizes) <= 0).all()
    first = full[clusters == display.groups[0]]
    assert display.values[display.traits.index("height"), 0] == pytest.approx(first["height"].mean())
    assert display.values[display.traits.index("colour = blue"), 0] == pytest.approx((first["colour"] == "blue").mean())
    contrast = (first["height"].mean() - full["height"].mean()) / full["height"].std(ddof=0)
    assert display.contrast[display.traits.index("height"), 0] == pytest.approx(contrast)
    assert sum(trait.startswith("member") for trait in display.traits) == 1  # of two levels one says it all
    assert len(display.ax_.texts) == display.values.size


def test_cluster_profile_without_observed_cells_is_blank(mixture, mixed):
    holed = mixed[1].copy()
    holed.loc[mixed[2] == 0, "height"] = np.nan
    display = ClusterProfileDisplay.from_estimator(mixture, holed, mixed[2], columns=["height"]).plot()
    assert np.isnan(display.values[0, display.groups.index(0)]) and len(display.ax_.texts) == 2


def test_cluster_profile_errors(mixture, mixed):
    with pytest.raises(ValueError, match="one group per row"):
        ClusterProfileDisplay.from_estimator(mixture, mixed[0], [0, 1])
    with pytest.raises(ValueError, match="'weight'"):
        ClusterProfileDisplay.from_estimator(mixture, mixed[0], columns=["weight"])
    with pytest.raises(ValueError, match="min_rows"):
        ClusterProfileDisplay.from_estimator(mixture, mixed[0], min_rows=1000)


@pytest.mark.parametrize(
    "display", [partita.ComponentsPosteriorDisplay({"": {3: 0.2, 4: 0.8}}), partita.RankPosteriorDisplay({3: 1.0})]
)
def test_no_bar_hides_the_word_at_the_truth(display):
    ax = display.plot(truth=3).ax_
    ax.figure.draw_without_rendering()
    word = next(text for text in ax.texts if text.get_text() == "truth").get_window_extent()
    assert not any(word.overlaps(bar.get_window_extent()) for bar in ax.patches)
