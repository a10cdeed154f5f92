"""BayesianSVD of levels and of successes, of the thesis's prior and sampler: inputs, answers, files."""

import numpy as np
import pandas as pd
import pytest
from matrices import QUICK, low_rank, stars, triplets
from scipy.special import ndtr
from scipy.stats import norm

from partita import BayesianSVD, load, save
from partita.inference.loop import FitInterrupted

STARS = stars()
ROW, COLUMN, VALUE = triplets(STARS)
X, TRUTH = low_rank()


@pytest.fixture(scope="module")
def ordinal():
    return BayesianSVD(**QUICK, link="ordinal").fit(STARS)


@pytest.fixture(scope="module")
def counts():
    """Successes and trials of a matrix of chances, and a model of them."""
    rng = np.random.default_rng(0)
    f = -0.5 + 0.5 * rng.normal(size=(30, 1)) + 0.3 * rng.normal(size=20)
    row, column = np.nonzero(rng.random(f.shape) < 0.6)
    trials = rng.integers(1, 60, size=len(row))
    chance = norm.cdf(f)
    hits = rng.binomial(trials, chance[row, column])
    model = BayesianSVD(**QUICK, link="binomial").fit_triplets(row, column, hits, trials)
    return row, column, hits, trials, chance, model


# ---- levels ----


def test_probabilities_of_levels(ordinal):
    chance = ordinal.predict_proba(ROW[:50], COLUMN[:50])
    assert ordinal.levels_.tolist() == [1, 2, 3, 4, 5] and chance.shape == (50, 5)
    assert np.allclose(chance.sum(axis=1), 1) and (chance >= 0).all()
    mean, std = ordinal.predict(ROW[:50], COLUMN[:50], return_std=True)
    assert np.allclose(mean, chance @ ordinal.levels_) and (std > 0).all()
    median = ordinal.predict(ROW, COLUMN, statistic="median")
    assert set(median) <= {1, 2, 3, 4, 5}
    assert np.abs(median - VALUE).mean() < 0.7 * np.abs(3 - VALUE).mean()


def test_intervals_of_levels_are_levels_that_hold_enough(ordinal):
    low, high = ordinal.predict_interval(ROW, COLUMN, coverage=0.8)
    assert set(low) | set(high) <= {1, 2, 3, 4, 5} and (low <= high).all()
    chance = ordinal.predict_proba(ROW, COLUMN)
    inside = (ordinal.levels_ >= low[:, None]) & (ordinal.levels_ <= high[:, None])
    assert ((chance * inside).sum(axis=1) >= 0.8 - 1e-9).all()


def test_completed_levels_and_scores(ordinal):
    filled = ordinal.complete()
    assert np.array_equal(filled[ROW, COLUMN], VALUE) and filled.min() >= 1 and filled.max() <= 5
    said = ordinal.score_samples(ROW[:9], COLUMN[:9], VALUE[:9])
    chance = ordinal.predict_proba(ROW[:9], COLUMN[:9])
    assert np.allclose(said, np.log(chance[np.arange(9), VALUE[:9].astype(int) - 1]))


def test_levels_that_training_did_not_see_are_named(ordinal):
    for call in (
        lambda: ordinal.partial_fit([0], [int(np.flatnonzero(np.isnan(STARS[0]))[0])], [6]),
        lambda: ordinal.fold_in(["new"], [0], [2.5]),
        lambda: ordinal.score_samples([0], [0], [0]),
    ):
        with pytest.raises(ValueError, match=r"a level that was not seen in training \(1, 2, 3, 4, 5\)"):
            call()
    with pytest.raises(ValueError, match=r"2 to 100 distinct values, got .*link='gaussian'"):
        BayesianSVD(**QUICK, link="ordinal").fit(np.random.default_rng(0).normal(size=(20, 20)))


def test_levels_of_any_spacing():
    odd = np.array([np.nan, -3.0, 0.5, 10.0, 11.0, 40.0])[np.nan_to_num(STARS).astype(int)]
    model = BayesianSVD(**QUICK, link="ordinal").fit(odd)
    assert model.levels_.tolist() == [-3.0, 0.5, 10.0, 11.0, 40.0]
    same = BayesianSVD(**QUICK, link="ordinal").fit(STARS)
    assert np.array_equal(model.predict_proba(ROW, COLUMN), same.predict_proba(ROW, COLUMN))


def test_new_rows_of_levels(ordinal):
    folded = ordinal.fold_in(["high"] * 6 + ["low"] * 6, [*range(6)] * 2, [5] * 6 + [1] * 6)
    high, low = (folded.predict(who, np.arange(6, 25)).mean() for who in ("high", "low"))
    assert high > low + 0.5 and folded.predict_proba("high", 7).shape == (1, 5)


def test_more_levels_later(ordinal):
    model = BayesianSVD(**QUICK, link="ordinal").fit_triplets(ROW[30:], COLUMN[30:], VALUE[30:])
    model.partial_fit(ROW[:30], COLUMN[:30], VALUE[:30])
    assert model.n_entries_ == len(ROW) and np.isfinite(model.complete()).all()


# ---- successes ----


def test_chances_of_success(counts):
    row, column, hits, trials, chance, model = counts
    said = model.predict_proba(row, column)
    assert said.shape == row.shape and ((said > 0) & (said < 1)).all()
    assert np.array_equal(said, model.predict(row, column))
    error = np.abs(said - chance[row, column]).mean()
    assert error < 0.7 * np.abs(hits / trials - chance[row, column]).mean()
    low, high = model.predict_interval(row, column, coverage=0.9, noise=False)
    assert ((low < said) & (said < high)).all()
    assert 0.75 < np.mean((low <= chance[row, column]) & (chance[row, column] <= high)) <= 1


def test_intervals_of_counts(counts):
    row, column, _, trials, _, model = counts
    low, high = model.predict_interval(row, column, trials=trials)
    assert (low == np.rint(low)).all() and (low >= 0).all() and (high <= trials).all() and (low <= high).all()
    again = np.random.default_rng(1).binomial(trials, counts[4][row, column])
    assert np.mean((low <= again) & (again <= high)) > 0.85


def test_many_trials_are_never_written_out():
    row, column = np.nonzero(np.ones((12, 9)))
    trials = np.full(len(row), 10_000_000)
    chance = norm.cdf(np.linspace(-1, 1, 12))[row]
    hits = np.rint(trials * chance)
    model = BayesianSVD(**QUICK, link="binomial").fit_triplets(row, column, hits, trials)
    assert np.abs(model.predict_proba(row, column) - chance).max() < 0.01


def test_forms_of_counts(counts):
    row, column, hits, trials, _, model = counts
    frame = pd.DataFrame({"who": row, "against": column, "hits": hits, "at bats": trials})
    listed = BayesianSVD(**QUICK, link="binomial").fit(frame)
    dense, tried = np.full((30, 20), np.nan), np.zeros((30, 20))
    dense[row, column], tried[row, column] = hits, trials
    matrix = BayesianSVD(**QUICK, link="binomial").fit(dense, trials=tried)
    for other in (listed, matrix):
        assert np.array_equal(other.predict_proba(row, column), model.predict_proba(row, column))
    kept = model.complete()
    assert np.allclose(kept[row, column], hits / trials) and np.isfinite(kept).all()
    with pytest.raises(ValueError, match="more successes than trials"):
        BayesianSVD(**QUICK, link="binomial").fit_triplets(row, column, trials + 1, trials)


def test_the_pattern_of_trials_is_a_feature_when_asked_for_only(counts):
    row, column, hits, trials, _, model = counts
    assert not model._row_side.features.blocks
    asked = BayesianSVD(**QUICK, link="binomial", missingness_features=3).fit_triplets(row, column, hits, trials)
    assert asked._row_side.vectors and np.isfinite(asked.predict(row, column)).all()


def test_new_rows_of_counts(counts):
    model = counts[-1]
    folded = model.fold_in(["star", "star"], [0, 1], [80, 90], [100, 100])
    assert folded.predict_proba("star", 2)[0] > 0.6
    low, high = folded.predict_interval("star", 2, noise=False)
    assert 0.3 < low[0] < high[0] < 1


# ---- the thesis's prior ----


@pytest.mark.parametrize("sampler", ["blocked", "coordinate"])
def test_the_papers_prior(sampler):
    centred = X - np.nanmean(X)
    model = BayesianSVD(**{**QUICK, "burn_in": 60}, prior="paper", sampler=sampler).fit(centred)
    holes = np.isnan(X)
    error = np.sqrt(np.mean((model.complete() - (TRUTH - np.nanmean(X)))[holes] ** 2))
    assert error < TRUTH.std() and sum(model.rank_posterior_.values()) == pytest.approx(1)
    folded = model.fold_in(["new"] * 5, range(5), centred[np.isfinite(centred)][:5])
    assert np.isfinite(folded.predict("new", np.arange(20))).all()


# ---- files ----


@pytest.mark.parametrize("which", ["ordinal", "binomial", "paper", "coordinate"])
def test_saved_models_are_the_same(which, ordinal, counts, tmp_path):
    model = {"ordinal": lambda: ordinal, "binomial": lambda: counts[-1]}.get(
        which, lambda: BayesianSVD(**QUICK, prior="paper", sampler="blocked" if which == "paper" else which).fit(X)
    )()
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    rows, columns = np.arange(10), np.arange(10)
    assert np.array_equal(again.predict(rows, columns), model.predict(rows, columns))
    (row, column), *_ = model.acquire(1)
    more = ([row], [column], [1.0], [2.0] if which == "binomial" else None)
    assert np.array_equal(
        load(tmp_path / "m").partial_fit(*more).predict(rows, columns), again.partial_fit(*more).predict(rows, columns)
    )


PAPER = {"prior": "paper"}
THESIS = {**PAPER, "sampler": "coordinate"}


@pytest.mark.parametrize(
    "settings",
    [
        {"link": "ordinal"},
        {"link": "binomial"},
        THESIS,
        {"link": "binomial", **PAPER},
        {"link": "ordinal", **THESIS},
        {"link": "binomial", **THESIS},
    ],
    ids=str,
)
def test_threads_and_resumes_do_not_change_a_byte(settings, tmp_path):
    data = {"ordinal": STARS, "binomial": (STARS > 3).astype(float)}.get(settings.get("link"), X)
    named = {**QUICK, **settings}
    whole = BayesianSVD(**named).fit(data)
    path = tmp_path / "fit.checkpoint"
    with pytest.warns(FitInterrupted):
        BayesianSVD(**named, checkpoint=path, time_budget=1e-3).fit(data)
    for other in (BayesianSVD(**named, n_jobs=3).fit(data), BayesianSVD(**named, checkpoint=path).fit(data)):
        assert np.array_equal(other.complete(keep_observed=False), whole.complete(keep_observed=False))


@pytest.mark.parametrize(
    "settings", [{"link": "binomial", **PAPER}, {"link": "ordinal", **THESIS}, {"link": "binomial", **THESIS}], ids=str
)
def test_the_prior_of_the_thesis_learns_from_other_cells_than_reals(settings):
    rng = np.random.default_rng(4)
    f = np.outer(rng.normal(size=40), rng.normal(size=30))
    row, column = np.nonzero(rng.random(f.shape) < 0.6)
    trials = np.full(len(row), 30.0)
    seen = rng.binomial(30, ndtr(f[row, column])).astype(float)
    if settings["link"] == "ordinal":
        trials, seen = None, np.searchsorted([-0.7, 0.0, 0.7], f[row, column] + 0.3 * rng.normal(size=len(row))) + 1.0
    model = BayesianSVD(**{**QUICK, "burn_in": 90}, **settings).fit_triplets(row, column, seen, trials)
    hidden = np.nonzero(np.isin(np.arange(f.size), row * 30 + column, invert=True).reshape(f.shape))
    said = model.predict(*hidden)
    assert np.corrcoef(said, f[hidden])[0, 1] > 0.8
    (asked, at), *_ = model.acquire(1)
    model.partial_fit([asked], [at], [1.0], None if trials is None else [2.0], n_samples=3)
    folded = model.fold_in(["new"] * 2, [0, 1], [1.0, 2.0], None if trials is None else [5.0, 5.0])
    assert np.isfinite(folded.predict("new", np.arange(30))).all()


# ---- cut points of rows ----


def raters(seed=0, n=120, p=60):
    """Half of the rows keep the ends of the scale for the best and the worst, the others do not."""
    rng = np.random.default_rng(seed)
    taste = rng.normal(size=(n, 2)) @ rng.normal(size=(2, p)) + rng.normal(size=(n, p))
    shy = np.arange(n) < n // 2
    cuts = np.where(shy[:, None], [-3.2, -0.6, 0.6, 3.2], [-1.0, -0.6, 0.6, 1.0])
    levels = 1.0 + (taste[:, :, None] > cuts[:, None, :]).sum(axis=2)
    row, column = np.nonzero(rng.random((n, p)) < 0.5)
    test = rng.random(len(row)) < 0.2
    cells = row, column, levels[row, column]
    return [part[~test] for part in cells], [part[test] for part in cells], levels


RATERS = {"link": "ordinal", "burn_in": 100, "n_samples": 100, "n_chains": 1, "max_rank": 4, "random_state": 0}


def test_rows_that_use_levels_in_their_own_way(tmp_path):
    train, test, levels = raters()
    own, shared = (BayesianSVD(**RATERS, cut_points=which).fit_triplets(*train) for which in (None, "shared"))
    assert own.score(*test) > shared.score(*test) + 0.05
    stretch = np.mean([draw.row_stretch for draw in own._posterior.draws], axis=0)
    assert (stretch[:60].mean(axis=0)[[0, 2]] > stretch[60:].mean(axis=0)[[0, 2]] + 0.5).all()
    save(own, tmp_path / "raters")
    again = load(tmp_path / "raters")
    assert np.array_equal(again.predict_proba(*test[:2]), own.predict_proba(*test[:2]))
    # a new row of the shy kind, from all of its cells but ten
    known = np.arange(50)
    folded = own.fold_in(np.full(50, 999), known, levels[7, known])
    said = folded.predict_proba(999, np.arange(50, 60))
    assert said[:, [0, 4]].mean() < own.predict_proba(70, np.arange(50, 60))[:, [0, 4]].mean()
    more = own.partial_fit(np.full(50, 999), known, levels[7, known], n_samples=5, burn_in=5)
    assert more._posterior.draws[0].row_stretch.shape == (121, 3)
    with pytest.raises(ValueError, match=r"partial_fit: cut_points='shared', but the model has learnt with 'rows'"):
        own.set_params(cut_points="shared").partial_fit([0], [100], [3.0])


def test_cut_points_go_with_levels_only():
    with pytest.raises(ValueError, match=r"cut_points='rows', but link='gaussian' has none"):
        BayesianSVD(cut_points="rows").fit(np.eye(4))
    with pytest.raises(ValueError, match="shared by all rows"):
        BayesianSVD(link="ordinal", prior="paper", sampler="coordinate", cut_points="rows").fit(np.eye(4))
    two = BayesianSVD(**RATERS).fit(np.eye(6))
    assert two._posterior.draws[0].row_stretch.shape == (6, 0)
    two.partial_fit([9], [0], [1.0], n_samples=2, burn_in=2)
