"""BayesianSVD: every input, every answer, ids of any kind."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from matrices import QUICK, low_rank, triplets
from scipy import sparse

from partita import BayesianSVD, load, save
from partita.data.validate import DataWarning

X, TRUTH = low_rank()
ROW, COLUMN, VALUE = triplets(X)
HOLES = np.isnan(X)


@pytest.fixture(scope="module")
def model():
    return BayesianSVD(**QUICK).fit(X)


def same_model(a, b):
    """Whether two models give the same bytes."""
    rows, columns = np.nonzero(np.ones(X.shape))
    said = [m.predict(m.row_ids_[rows], m.column_ids_[columns], return_std=True) for m in (a, b)]
    return all(np.array_equal(x, y) for x, y in zip(*said)) and a.rank_posterior_ == b.rank_posterior_


# ---- inputs ----


def test_holes_are_filled_nearly_right(model):
    filled = model.complete()
    assert np.array_equal(filled[~HOLES], X[~HOLES])
    error = np.sqrt(np.mean((filled - TRUTH)[HOLES] ** 2))
    assert error < 0.4 * TRUTH.std()
    assert model.n_features_in_ == X.shape[1] and model.row_ids_.tolist() == list(range(30))


def test_every_form_of_the_same_entries_gives_the_same_model(model):
    stored = sparse.coo_matrix((VALUE, (ROW, COLUMN)), shape=X.shape)
    order = np.random.default_rng(0).permutation(len(ROW))
    frame = pd.DataFrame({"r": ROW, "c": COLUMN, "v": VALUE}).iloc[order]
    forms = {
        "sparse": BayesianSVD(**QUICK).fit(stored),
        "csr": BayesianSVD(**QUICK).fit(stored.tocsr()),
        "triplets": BayesianSVD(**QUICK).fit_triplets(ROW[order], COLUMN[order], VALUE[order]),
        "frame of three columns": BayesianSVD(**QUICK).fit(frame),
        "polars": BayesianSVD(**QUICK).fit_triplets(pl.from_pandas(frame.reset_index(drop=True))),
        "names": BayesianSVD(**QUICK).fit_triplets("r", "c", "v", data=frame.assign(more=1)),
        "wide frame": BayesianSVD(**QUICK).fit(pd.DataFrame(X)),
        "lists": BayesianSVD(**QUICK).fit(X.tolist()),
    }
    for name, other in forms.items():
        assert same_model(model, other), name


def test_ids_come_back():
    names = [f"user {i}" for i in range(30)]
    items = [("item", j) for j in range(20)]
    named = BayesianSVD(**QUICK).fit_triplets([names[i] for i in ROW], [items[j] for j in COLUMN], VALUE)
    assert sorted(named.row_ids_.tolist()) == sorted(names) and named.column_ids_.tolist() == items
    assert named.predict(["user 3"], [("item", 4)]).shape == (1,)
    best = named.recommend("user 3", 3)
    assert len(best) == 3 and all(item in items for item in best.tolist())
    seen = {items[j] for i, j in zip(ROW, COLUMN) if i == 3}
    assert not seen & set(best.tolist())
    pairs = named.acquire(5)
    assert all(row in names and column in items for row, column in pairs)
    assert np.array_equal(named.predict(pairs), named.predict([r for r, _ in pairs], [c for _, c in pairs]))


def test_a_wide_frame_is_completed_as_one():
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(30)], columns=[f"c{j}" for j in range(20)])
    filled = BayesianSVD(**QUICK).fit(frame).complete()
    assert filled.index.equals(frame.index) and filled.columns.equals(frame.columns) and filled.notna().all().all()
    assert isinstance(BayesianSVD(**QUICK).fit(pl.from_pandas(frame)).complete(), pl.DataFrame)


def test_empty_rows_and_columns_have_their_prior():
    holed = X.copy()
    holed[4], holed[:, 7] = np.nan, np.nan
    model = BayesianSVD(**QUICK).fit(holed)
    mean, std = model.predict([4, 4, 5], [7, 0, 0], return_std=True)
    assert np.isfinite(mean).all() and std[0] > std[2] and std[1] > std[2]
    assert model.complete().shape == X.shape
    listed = BayesianSVD(**QUICK).fit_triplets(ROW, COLUMN, VALUE, row_ids=range(32))
    assert len(listed.row_ids_) == 32 and np.isfinite(listed.predict(31, 0)).all()


def test_duplicates():
    with pytest.raises(ValueError, match="1 entry repeats a cell that is there before: row 0"):
        BayesianSVD(**QUICK).fit_triplets([*ROW, ROW[0]], [*COLUMN, COLUMN[0]], [*VALUE, VALUE[0]])
    averaged = BayesianSVD(**QUICK, duplicates="mean").fit_triplets(
        [*ROW, ROW[0]], [*COLUMN, COLUMN[0]], [*VALUE, VALUE[0]]
    )
    assert same_model(averaged, BayesianSVD(**QUICK).fit(X))


# ---- answers ----


def test_predictions_have_their_shapes_and_agree(model):
    mean, std = model.predict(ROW[:7], COLUMN[:7], return_std=True)
    assert mean.shape == std.shape == (7,) and (std > 0).all()
    assert np.array_equal(model.predict(ROW[:7], COLUMN[:7]), mean)
    assert np.array_equal(model.predict(3, [0, 1, 2]), model.predict([3, 3, 3], [0, 1, 2]))
    one = np.concatenate([model.predict(r, c) for r, c in zip(ROW[:7], COLUMN[:7])])
    assert np.allclose(one, mean, rtol=1e-12)  # a cell is predicted alike in any batch
    assert model.predict([], []).shape == (0,)
    noisy = model.predict(ROW[:7], COLUMN[:7], return_std=True, noise=True)[1]
    assert (noisy > std).all()
    middle = model.predict(ROW[:7], COLUMN[:7], statistic="median")
    assert np.abs(middle - mean).max() < noisy.max()


def test_intervals_hold_about_what_they_promise(model):
    row, column = np.nonzero(HOLES)
    truth = TRUTH[HOLES] + 0.1 * np.random.default_rng(5).normal(size=HOLES.sum())
    low, high = model.predict_interval(row, column, coverage=0.9)
    assert 0.8 < np.mean((low <= truth) & (truth <= high)) < 0.99
    inner = model.predict_interval(row, column, coverage=0.5)
    assert (inner[0] > low).all() and (inner[1] < high).all()
    tight = model.predict_interval(row, column, noise=False)
    assert np.mean(tight[1] - tight[0]) < np.mean(high - low)


def test_the_completed_matrix_is_what_predict_says(model):
    filled, std = model.complete(return_std=True, keep_observed=False)
    row, column = np.nonzero(np.ones(X.shape))
    mean, spread = model.predict(row, column, return_std=True)
    assert np.allclose(filled.ravel(), mean) and np.allclose(std.ravel(), spread)
    kept, zero = model.complete(return_std=True)
    assert (zero[~HOLES] == 0).all() and np.allclose(kept[HOLES], filled[HOLES])


def test_recommendations_are_the_highest_unseen(model):
    ids, score = model.recommend(5, 4, return_score=True)
    value = model.predict(5, np.arange(20))
    free = np.flatnonzero(HOLES[5])
    expected = free[np.argsort(-value[free])][:4]
    assert ids.tolist() == expected.tolist() and np.allclose(score, value[expected])
    assert len(model.recommend(5, 100)) == HOLES[5].sum()
    assert len(model.recommend(5, 100, include_observed=True)) == 20


@pytest.mark.parametrize("strategy", ["variance", "line", "decorrelated", "random"])
def test_acquire_asks_for_unseen_cells(model, strategy):
    pairs = model.acquire(9, strategy=strategy)
    assert len(set(pairs)) == 9 and all(HOLES[r, c] for r, c in pairs)
    assert pairs == model.acquire(9, strategy=strategy)


def test_the_rank_is_a_posterior(model):
    assert sum(model.rank_posterior_.values()) == pytest.approx(1)
    assert model.rank_ == max(model.rank_posterior_, key=model.rank_posterior_.get)
    assert {"rank", "log_likelihood"} <= set(model.trace_) and model.trace_["rank"].shape == (2, 60)
    assert set(model.r_hat_) == set(model.trace_) - {"components"} and model.noise_ > 0


def test_scores_are_log_densities(model):
    said = model.score_samples(ROW[:5], COLUMN[:5], VALUE[:5])
    assert said.shape == (5,) and model.score(ROW[:5], COLUMN[:5], VALUE[:5]) == pytest.approx(said.mean())
    x = np.linspace(-20, 20, 4001)
    density = np.exp(model.score_samples(np.zeros(4001, int), np.zeros(4001, int), x))
    assert np.trapezoid(density, x) == pytest.approx(1, abs=1e-3)


# ---- unseen ids and features ----


def test_unseen_ids_are_answered_from_the_prior_with_a_warning(model):
    with pytest.warns(DataWarning, match=r"1 of 2 row ids were not seen in training \(for example 99\)"):
        mean, std = model.predict([99, 0], [0, 0], return_std=True)
    assert std[0] > std[1] and np.isfinite(mean).all()
    with pytest.warns(DataWarning, match="row ids"), pytest.warns(DataWarning, match="column ids"):
        low, high = model.predict_interval(["x"], ["y"])
    assert high[0] - low[0] > 1


def test_ids_that_repeat_are_counted_once(model):
    with pytest.warns(DataWarning, match=r"1 of 1 row ids were not seen"):
        model.recommend("nobody", 2)


def test_a_frame_of_cells_is_asked_as_it_is(model):
    frame = pd.DataFrame({"row": ROW[:5], "column": COLUMN[:5], "value": VALUE[:5]})
    by_ids = model.predict(ROW[:5], COLUMN[:5])
    for cells in (frame, frame[["row", "column"]], pl.DataFrame(frame.to_dict("list"))):
        assert np.array_equal(model.predict(cells), by_ids)
    assert np.array_equal(model.predict_interval(frame)[0], model.predict_interval(ROW[:5], COLUMN[:5])[0])
    with pytest.raises(ValueError, match="columns is missing, and the frame has 1 columns"):
        model.predict(frame[["row"]])


def with_features(seed=1):
    """A matrix whose row factors are features up to a little noise."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(60, 2))
    truth = features @ rng.normal(size=(2, 15)) * 2
    X = truth + 0.1 * rng.normal(size=truth.shape)
    X[rng.random(X.shape) > 0.6] = np.nan
    return X, truth, features


def test_features_speak_of_rows_never_seen():
    Z, truth, features = with_features()
    model = BayesianSVD(**QUICK).fit(Z[:50], row_features=features[:50])
    columns = np.tile(np.arange(15), 10)
    rows = np.repeat(np.arange(50, 60), 15)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = model.predict(rows, columns, row_features=features[rows])
        by_id = model.predict(rows, columns, row_features=pd.DataFrame(features, index=np.arange(60)).iloc[50:])
    assert np.corrcoef(said, truth[50:].ravel())[0, 1] > 0.9
    assert np.allclose(by_id, said)
    low, high = model.predict_interval(rows, columns, row_features=features[rows])
    assert np.mean((low <= truth[50:].ravel()) & (truth[50:].ravel() <= high)) > 0.75


def test_rows_known_by_features_alone():
    Z, truth, features = with_features()
    row, column, value = triplets(Z[:50])
    model = BayesianSVD(**QUICK).fit_triplets(row, column, value, row_features=features)
    assert len(model.row_ids_) == 60
    said = model.predict(np.repeat(np.arange(50, 60), 15), np.tile(np.arange(15), 10))
    assert np.corrcoef(said, truth[50:].ravel())[0, 1] > 0.9


def test_wrong_features_are_named():
    with pytest.raises(ValueError, match="row_features has 7 lines, but there are 30 rows"):
        BayesianSVD(**QUICK).fit(X, row_features=np.ones((7, 2)))
    with pytest.raises(ValueError, match="column_features has 7 lines, but there are 20 columns"):
        BayesianSVD(**QUICK).fit_triplets(ROW, COLUMN, VALUE, column_features=np.ones((7, 2)))
    with pytest.raises(ValueError, match="row_ids does not list 29"):
        BayesianSVD(**QUICK).fit_triplets(ROW, COLUMN, VALUE, row_ids=range(29))


# ---- new rows and columns ----


def test_fold_in_learns_a_row_from_a_few_cells(model):
    rng = np.random.default_rng(3)
    V = np.linalg.svd(TRUTH - TRUTH.mean(), full_matrices=False)[2][:2]
    new = TRUTH.mean() + np.array([6.0, -4.0]) @ V
    seen = rng.permutation(20)[:9]
    folded = model.fold_in(["new"] * 9, seen, new[seen])
    assert folded is not model and len(model.row_ids_) == 30 and folded.row_ids_[-1] == "new"
    rest = np.setdiff1d(np.arange(20), seen)
    mean, std = folded.predict("new", rest, return_std=True)
    with pytest.warns(DataWarning):
        prior = model.predict("new", rest, return_std=True)
    assert np.sqrt(np.mean((mean - new[rest]) ** 2)) < 0.5 * np.sqrt(np.mean((prior[0] - new[rest]) ** 2))
    assert (std < prior[1]).all()
    assert not set(folded.recommend("new", 30).tolist()) & set(seen.tolist())
    old = np.arange(30)
    assert np.array_equal(folded.predict(old, np.zeros(30, int)), model.predict(old, np.zeros(30, int)))


def test_fold_in_is_the_same_for_a_row_whatever_comes_with_it(model):
    one = model.fold_in(["a"] * 3, [0, 1, 2], [1.0, 2.0, 3.0])
    two = model.fold_in(["b", "a", "a", "a"], [5, 0, 1, 2], [9.0, 1.0, 2.0, 3.0])
    assert np.array_equal(one.predict("a", np.arange(20)), two.predict("a", np.arange(20)))


def test_fold_in_of_a_column_and_of_both(model):
    rows = np.arange(30)
    folded = model.fold_in(rows, ["new"] * 30, TRUTH[:, 0])
    assert folded.column_ids_[-1] == "new"
    assert np.corrcoef(folded.predict(rows, "new"), TRUTH[:, 0])[0, 1] > 0.97
    both = model.fold_in(["r", "r", 3], [0, "c", "c"], [1.0, 2.0, 3.0])
    assert np.isfinite(both.predict("r", "c")).all()
    with pytest.raises(ValueError, match=r"row 3, column 4 are both known .*partial_fit"):
        model.fold_in([3], [4], [1.0])


# ---- more entries ----


def test_partial_fit_goes_on():
    first = BayesianSVD(**QUICK).fit_triplets(ROW[:200], COLUMN[:200], VALUE[:200], row_ids=range(30))
    error = [np.sqrt(np.mean((first.complete() - TRUTH)[HOLES] ** 2))]
    more = first.partial_fit(ROW[200:], COLUMN[200:], VALUE[200:])
    error.append(np.sqrt(np.mean((more.complete() - TRUTH)[HOLES] ** 2)))
    assert more is first and error[1] < error[0] and more.n_entries_ == len(ROW)


def test_partial_fit_takes_new_rows_and_columns():
    old = (ROW < 20) & (COLUMN < 15)
    model = BayesianSVD(**QUICK).fit_triplets(ROW[old], COLUMN[old], VALUE[old])
    model.partial_fit(ROW[~old], COLUMN[~old], VALUE[~old])
    assert len(model.row_ids_) == 30 and len(model.column_ids_) == 20
    row, column = np.nonzero(HOLES)
    assert np.sqrt(np.mean((model.predict(row, column) - TRUTH[HOLES]) ** 2)) < 0.6 * TRUTH.std()
    with pytest.raises(ValueError, match="repeats a cell"):
        model.partial_fit(ROW[:1], COLUMN[:1], VALUE[:1])


def test_partial_fit_begins_where_there_is_no_model():
    assert same_model(BayesianSVD(**QUICK).partial_fit(ROW, COLUMN, VALUE), BayesianSVD(**QUICK).fit(X))


def test_a_folded_model_can_learn_on(model):
    folded = model.fold_in(["new"] * 3, [0, 1, 2], [1.0, 2.0, 3.0])
    folded.partial_fit(["new"], [3], [2.0])
    assert folded.n_entries_ == model.n_entries_ + 4 and np.isfinite(folded.predict("new", 5)).all()


# ---- files ----


@pytest.mark.parametrize("features", [None, "dense", "sparse"])
def test_a_saved_model_is_the_same_and_goes_on_the_same(tmp_path, features):
    lines = None if features is None else np.random.default_rng(0).normal(size=(30, 2))
    lines = sparse.csr_matrix(lines) if features == "sparse" else lines
    names = np.array([f"n{i:02d}" for i in range(30)], dtype=object)
    model = BayesianSVD(**QUICK).fit_triplets(names[ROW], COLUMN, VALUE, row_features=lines)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert same_model(model, again) and again.row_ids_.tolist() == names.tolist()
    assert again.acquire(5) == model.acquire(5)
    assert again.recommend("n03", 3).tolist() == model.recommend("n03", 3).tolist()
    save(again, tmp_path / "m2")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "m2").read_bytes()
    new = (["n03"], [int(np.flatnonzero(HOLES[3])[0])], [1.0])
    assert same_model(model.partial_fit(*new), again.partial_fit(*new))
    assert np.array_equal(
        model.fold_in(["z"], [0], [1.0]).predict("z", [1, 2]), again.fold_in(["z"], [0], [1.0]).predict("z", [1, 2])
    )


# ---- errors ----


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.predict([1, 2], [3, 4, 5]), "rows has 2 ids and columns 3"),
        (lambda m: m.predict([1, 2]), "columns is missing"),
        (lambda m: m.predict(1, 2, statistic="mode"), "statistic must be 'mean' or 'median', got 'mode'"),
        (lambda m: m.predict_interval(1, 2, coverage=90), "coverage must lie between 0 and 1, got 90"),
        (lambda m: m.predict_interval(1, 2, trials=0), "trials must be whole numbers of at least 1"),
        (lambda m: m.predict_proba(1, 2), "link='gaussian' has densities"),
        (lambda m: m.acquire(0), "n must be a whole number of at least 1, got 0"),
        (lambda m: m.acquire(3, "greedy"), "strategy must be one of 'variance', 'line', 'decorrelated', 'random'"),
        (lambda m: m.recommend(1, n=2.5), "n must be a whole number"),
    ],
)
def test_questions_that_cannot_be_answered(model, call, message):
    with pytest.raises(ValueError, match=message):
        call(model)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sampler": "coordinate"}, "sampler='coordinate' .* Pass prior='paper'"),
        ({"link": "binomial", "unequal_noise": True}, "unequal_noise=True has no meaning"),
        ({"link": "ordinal", "duplicates": "mean"}, "the mean of two levels is no level"),
        ({"column_kinds": {0: "real"}}, "column_kinds must be None: a matrix has one kind"),
        ({"max_rank": 0}, "max_rank must be an integer >= 1"),
        ({"init": "pca"}, "init must be"),
        ({"missingness_features": -1}, "missingness_features"),
        ({"link": "poisson"}, "link must be one of"),
    ],
)
def test_parameters_are_checked(settings, message):
    with pytest.raises(ValueError, match=message):
        BayesianSVD(**settings).fit(X)


def test_a_matrix_without_cells_is_refused():
    with pytest.raises(ValueError, match="no observed cell"):
        BayesianSVD(**QUICK).fit(np.full((3, 3), np.nan))
    with pytest.raises(ValueError, match=r"trials was passed .*, but link='gaussian'"):
        BayesianSVD(**QUICK).fit_triplets([1], [1], [1], [2])
