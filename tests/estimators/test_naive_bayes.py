"""Naive Bayes against direct computation, any parting of the rows, holes, other libraries, files and bad input."""

import numpy as np
import pandas as pd
import pytest
from coded_tables import coded
from estimator_tables import holed_binary, mixed_frame
from scipy.special import logsumexp
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from partita import NaiveBayes, load, save
from partita.families import BetaBernoulli, DirichletCategorical, GammaPoisson, NormalInverseChiSquared

FRAME, Y = mixed_frame()


def codes_of(column, levels):
    return np.array([levels.index(v) if v in levels else -1 for v in column])


def direct(X, y, rows, counts="normal", class_rows=1, level_rows=0.5, count_rows=1, mean_rows=0.1, variance_rows=1):
    """log p(class, row) from the families alone, in the caller's units, column by column."""
    classes = sorted(set(y))
    weight = np.array([(y == c).sum() for c in classes]) + class_rows
    out = np.tile(np.log(weight / weight.sum()), (len(rows), 1))
    levels = {"colour": ["blue", "green", "red"], "grade": ["low", "mid", "high"]}
    for name in X:
        for k, c in enumerate(classes):
            mine = X.loc[y == c, name]
            if name in ("flag", "zero_one"):
                prior = BetaBernoulli(level_rows, level_rows)
                both = mine.astype(object), rows[name].astype(object)
                cells, asked = (part.fillna(-1).astype(int).to_numpy() for part in both)
            elif name in levels:
                prior = DirichletCategorical(np.full(3, level_rows))
                cells, asked = codes_of(mine, levels[name]), codes_of(rows[name], levels[name])
            else:
                whole, cells, asked = (part.astype(float).to_numpy() for part in (X[name], mine, rows[name]))
                seen = whole[~np.isnan(whole)]
                if name == "visits" and counts == "poisson":
                    prior = GammaPoisson(count_rows * (seen.sum() + 0.5) / (len(seen) + 1), count_rows)
                else:
                    prior = NormalInverseChiSquared(seen.mean(), mean_rows, variance_rows, seen.var())
            out[:, k] += prior.posterior(prior.statistics(cells)).log_predictive(asked)
    return out


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"counts": "poisson"},
        {"counts": "normal", "class_rows": 3.0, "level_rows": 2.0, "mean_rows": 2.0, "variance_rows": 7.0},
        {"counts": "poisson", "count_rows": 0.2, "level_rows": 1.0},
    ],
    ids=str,
)
def test_answers_are_those_of_the_families(settings):
    model = NaiveBayes(**settings).fit(FRAME, Y)
    joint = direct(FRAME, Y, FRAME, **settings)
    np.testing.assert_allclose(model.score_samples(FRAME), logsumexp(joint, axis=1), rtol=1e-9)
    log_proba = joint - logsumexp(joint, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(FRAME), log_proba, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(FRAME), np.exp(log_proba), rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(model.predict(FRAME), model.classes_[joint.argmax(axis=1)])


def test_counts_are_poisson_only_where_that_explains_them():
    """True counts are; amounts, whose spread has nothing to do with their mean, are better taken as real."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    amounts = np.maximum(np.rint(rng.normal(80 + 8 * y, 30)), 0)
    X = np.stack([rng.poisson(3 + 4 * y), amounts], axis=1).astype(int)
    assert NaiveBayes().fit(X, y).schema_.kinds == ("count", "count")
    auto, poisson, normal = (NaiveBayes(counts=how).fit(X, y) for how in ("auto", "poisson", "normal"))
    assert [sight.what for sight in auto._ensemble.lenses[0].sights] == ["count", "standard"]
    one, other = X.copy().astype(float), X.copy().astype(float)
    one[:, 1], other[:, 0] = np.nan, np.nan
    np.testing.assert_array_equal(auto.score_samples(one), poisson.score_samples(one))
    np.testing.assert_array_equal(auto.score_samples(other), normal.score_samples(other))
    evidence = [np.log(model.predict_proba(X)[np.arange(300), y]).mean() for model in (auto, poisson)]
    assert evidence[0] > evidence[1] + 0.5
    filled = auto.impute(other)
    assert (filled == np.rint(filled)).all()


def test_whole_numbers_far_from_zero_lose_nothing():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    small = rng.integers(0, 50, (300, 1)) + 20 * y[:, None]
    huge = small + 10**12
    near, far = NaiveBayes().fit(small - 25.0, y), NaiveBayes().fit(huge, y)
    np.testing.assert_allclose(far.predict_proba(huge), near.predict_proba(small - 25.0), rtol=1e-6)
    parted = NaiveBayes()
    for rows in parts_of(300, 0):
        parted.partial_fit(huge[rows], y[rows], classes=[0, 1])
    np.testing.assert_allclose(parted.predict_proba(huge), far.predict_proba(huge), rtol=1e-6)


def parts_of(n, seed):
    """The rows in some order, cut at some places."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(n, 6, replace=False))
    return [np.sort(part) for part in np.split(rng.permutation(n), places) if len(part)]


@pytest.mark.filterwarnings("ignore::partita.data.validate.DataWarning")
@pytest.mark.parametrize("seed", range(6))
def test_any_parting_of_the_rows_gives_the_same_model(seed):
    weight = np.random.default_rng(seed).gamma(1.0, size=len(Y))
    whole = NaiveBayes().fit(FRAME, Y, sample_weight=weight)
    parted = NaiveBayes()
    for rows in parts_of(len(Y), seed):
        parted.partial_fit(FRAME.iloc[rows], Y[rows], classes=["no", "yes"], sample_weight=weight[rows])
    assert parted.schema_.kinds == whole.schema_.kinds
    np.testing.assert_allclose(parted.predict_log_proba(FRAME), whole.predict_log_proba(FRAME), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(parted.score_samples(FRAME), whole.score_samples(FRAME), rtol=1e-9)
    np.testing.assert_allclose(parted.class_weight_, whole.class_weight_)
    begun = NaiveBayes().fit(FRAME.iloc[:70], Y[:70], sample_weight=weight[:70])
    begun.partial_fit(FRAME.iloc[70:], Y[70:], sample_weight=weight[70:])
    np.testing.assert_allclose(begun.score_samples(FRAME), whole.score_samples(FRAME), rtol=1e-9)


@pytest.mark.filterwarnings("ignore::partita.data.validate.DataWarning")
@pytest.mark.parametrize("order", [range(9), [8, 7, 6, 5, 4, 3, 2, 1, 0], [4, 0, 8, 2, 6, 1, 3, 5, 7]], ids=str)
def test_columns_may_turn_out_to_be_more_than_they_seemed(order):
    """One row at a time: zeros and ones become counts or real, two words three, a column of holes anything."""
    frame = pd.DataFrame(
        {
            "count": pd.array([0, 1, 1, 0, 3, 0, 1, 7, 2], dtype="Int64"),
            "signed": pd.array([0, 1, 5, 0, -3, 1, 1, 0, 0], dtype="Int64"),
            "real": [0.0, 1.0, 0.0, np.nan, 0.25, 1.0, 1.0, 0.0, 0.0],
            "word": ["a", "b", "a", None, "c", "b", "a", "d", "b"],
            "late": [np.nan, np.nan, 4.5, 2.5, np.nan, 1.5, 0.0, 1.0, np.nan],
        }
    )
    y = np.array(list("ababababa"))
    whole, parted = NaiveBayes().fit(frame, y), NaiveBayes()
    for row in order:
        parted.partial_fit(frame.iloc[[row]], y[[row]], classes=["a", "b"])
    assert parted.schema_.kinds == whole.schema_.kinds == ("count", "real", "real", "categorical", "real")
    np.testing.assert_allclose(parted.score_samples(frame), whole.score_samples(frame), rtol=1e-9)


def test_a_weight_is_a_number_of_rows():
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(Y))
    rows = np.repeat(np.arange(len(Y)), weight)
    one = NaiveBayes().fit(FRAME, Y, sample_weight=weight)
    other = NaiveBayes().fit(FRAME.iloc[rows], Y[rows])
    np.testing.assert_allclose(one.score_samples(FRAME), other.score_samples(FRAME), rtol=1e-9)


def test_the_order_of_rows_columns_levels_and_classes_does_not_matter():
    X, y = coded(n_classes=3)
    model = NaiveBayes().fit(X, y)
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(y))
    again = NaiveBayes().fit(X.iloc[rows, ::-1], y[rows])
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    renamed = X.map(lambda v: {"v0": "z", "v1": "b", "v2": "y", "v3": "a"}[v])
    other = NaiveBayes().fit(renamed, np.array([{"no": "3", "yes": "1", "maybe": "2"}[v] for v in y]))
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    np.testing.assert_allclose(other.predict_proba(renamed)[:, [1, 2, 0]], model.predict_proba(X), rtol=1e-12)


def test_scikit_learn_agrees_on_categories():
    X, y = coded(200, n_classes=3)
    codes = np.stack([pd.factorize(X[name], sort=True)[0] for name in X], axis=1)
    theirs = CategoricalNB(alpha=0.5).fit(codes, y)
    mine = NaiveBayes(level_rows=0.5, class_rows=1e-12).fit(X, y)
    np.testing.assert_allclose(mine.predict_log_proba(X), theirs.predict_log_proba(codes), rtol=1e-8, atol=1e-10)


def test_many_rows_and_a_faint_prior_come_to_gaussian_naive_bayes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    X = rng.normal(size=(20_000, 3)) * [1, 30, 0.01] + y[:, None] * [0.5, 10, 0.01] + 100
    theirs = GaussianNB(var_smoothing=1e-12).fit(X, y)
    mine = NaiveBayes(mean_rows=1e-9, variance_rows=1e-9, class_rows=1e-9).fit(X, y)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=2e-3)


def test_a_missing_cell_drops_out():
    model = NaiveBayes().fit(FRAME, Y)
    for name in FRAME:
        hole = FRAME.assign(**{name: pd.array([None] * len(FRAME), FRAME[name].dtype)})
        without = direct(FRAME.drop(columns=name), Y, FRAME.drop(columns=name))
        np.testing.assert_allclose(model.score_samples(hole), logsumexp(without, axis=1), rtol=1e-9)
    strange = FRAME.assign(colour="mauve")
    hole = FRAME.assign(colour=pd.array([None] * len(FRAME), FRAME["colour"].dtype))
    np.testing.assert_array_equal(model.predict_proba(strange), model.predict_proba(hole))


def test_a_row_is_answered_alike_in_any_company_and_by_any_number_of_threads():
    many = pd.concat([FRAME] * 40, ignore_index=True)
    model = NaiveBayes().fit(FRAME, Y)
    whole = model.predict_proba(FRAME)
    np.testing.assert_array_equal(model.predict_proba(FRAME.iloc[[3]]), whole[[3]])
    np.testing.assert_array_equal(NaiveBayes(n_jobs=2).fit(FRAME, Y).predict_proba(many), np.tile(whole, (40, 1)))


def test_rows_without_a_label_are_left_out():
    known = np.arange(len(Y)) % 3 > 0
    some = NaiveBayes().fit(FRAME, np.where(known, Y, None))
    only = NaiveBayes().fit(FRAME[known], Y[known])
    np.testing.assert_allclose(some.score_samples(FRAME), only.score_samples(FRAME), rtol=1e-12)
    marked = NaiveBayes(missing_label="?").fit(FRAME, np.where(known, Y, "?"))
    np.testing.assert_array_equal(marked.predict_proba(FRAME), some.predict_proba(FRAME))
    before = some.class_weight_.copy()
    some.partial_fit(FRAME, [None] * len(Y))
    np.testing.assert_array_equal(some.class_weight_, before)


def test_imputed_cells_are_means_under_the_posterior_of_the_class():
    model = NaiveBayes().fit(FRAME, Y)
    row = FRAME.iloc[[0]].assign(height=np.nan, income=50.0)
    p = model.predict_proba(row)[0]
    heights = FRAME["height"].dropna()
    means = []
    for name in model.classes_:
        mine = FRAME.loc[Y == name, "height"].dropna()
        means.append((mine.sum() + 0.1 * heights.mean()) / (len(mine) + 0.1))
    filled, spread = model.impute(row, return_std=True)
    assert filled["height"].iloc[0] == pytest.approx(p @ means, rel=1e-9)
    assert filled["income"].iloc[0] == 50.0 and spread[0, 5] > 1 and spread[0, 6] == 0
    draws = model.impute(FRAME, n_draws=3, random_state=0)
    assert len(draws) == 3 and not any(draw.isna().any().any() for draw in draws)


def test_samples_look_like_the_table():
    model = NaiveBayes(random_state=0).fit(FRAME, Y)
    rows, labels = model.sample(4000)
    assert list(rows.columns) == list(FRAME.columns) and set(labels) == {"no", "yes"}
    assert (labels == "yes").mean() == pytest.approx((Y == "yes").mean(), abs=0.05)
    for name in ("no", "yes"):
        drawn, given = rows[labels == name], FRAME[Y == name]
        assert drawn["height"].median() == pytest.approx(given["height"].mean(), abs=2)
        assert drawn["visits"].mean() == pytest.approx(given["visits"].mean(), rel=0.3)
    again, _ = model.sample(4000)
    assert again.equals(rows)


@pytest.mark.parametrize("constant", [5.0, 5.5, -3.0, 5000.0, 12345678.9])
@pytest.mark.parametrize("counts", ["auto", "normal"])
def test_a_constant_column_says_nothing_whatever_comes_later(constant, counts):
    """In particular not that the smaller class, of which less is known, is the likelier one."""
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.2).astype(int)
    x = np.where(rng.random(400) < 0.05, 1 - y, y).astype(float)
    X = np.column_stack([x, np.full(400, constant)])
    X[rng.random(400) < 0.1, 1] = np.nan
    X[y == 1, 1] = np.where(rng.random((y == 1).sum()) < 0.5, np.nan, constant)
    model = NaiveBayes(counts=counts).fit(X, y)
    alone = NaiveBayes().fit(x[:, None], y).predict_proba([[0.0], [1.0]])
    for later in (constant, constant + 0.1, constant + 2, -constant, 1e9, np.nan):
        np.testing.assert_allclose(model.predict_proba([[0.0, later], [1.0, later]]), alone, rtol=1e-9)
    rows, _ = model.sample(200)
    assert np.abs(rows[:, 1] - constant).max() < 0.5  # samples stay where the column is
    varied = np.where(np.arange(400) % 2, X[:, 1] + y, X[:, 1])
    parts = model.partial_fit(np.column_stack([x, varied]), y)  # it may turn out to vary
    apart = parts.predict_proba([[1.0, constant], [1.0, constant + 1]])
    assert abs(apart[0, 1] - apart[1, 1]) > 0.01


def test_huge_and_tiny_numbers_are_safe():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.stack([1e300 * rng.normal(size=200), 1e-300 * (rng.normal(size=200) + 3 * y), 1e8 + rng.normal(5 * y, 1)], 1)
    model = NaiveBayes().fit(X, y)
    assert np.isfinite(model.predict_log_proba(X)).all() and model.score(X, y) > 0.95


def test_it_survives_a_file_and_goes_on(tmp_path):
    model = NaiveBayes(level_rows=0.7, random_state=3).partial_fit(FRAME.iloc[:80], Y[:80])
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    save(again, tmp_path / "again")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "again").read_bytes()
    for each in (model, again):
        each.partial_fit(FRAME.iloc[80:], Y[80:])
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
    assert again.impute(FRAME).equals(model.impute(FRAME))
    assert again.sample(5)[0].equals(model.sample(5)[0])


def test_classes_are_fixed_by_the_first_call():
    X, y = holed_binary()
    model = NaiveBayes().partial_fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="label that is not in classes"):
        model.partial_fit(X[1:], y[1:])
    model = NaiveBayes().partial_fit(X[:1], y[:1], classes=[0, 1])
    with pytest.raises(ValueError, match="differs from those of the first call"):
        model.partial_fit(X[1:], y[1:], classes=[0, 1, 2])
    assert model.partial_fit(X[1:], y[1:], classes=[1, 0]).classes_.tolist() == [0, 1]


def test_columns_that_contradict_what_was_learnt_are_named():
    first = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"], "c": [0, 1]})
    model = NaiveBayes(column_kinds={"c": "binary"}).fit(first, [0, 1])
    with pytest.raises(ValueError, match=r"column 'a' was \"real\".*is \"binary\""):
        model.partial_fit(first.assign(a=["u", "v"]), [0, 1])
    with pytest.raises(ValueError, match=r"column 'b' was \"binary\""):
        model.partial_fit(first.assign(b=[1.5, 2.5]), [0, 1])
    with pytest.raises(ValueError, match="column 'c' is said to be \"binary\""):
        model.partial_fit(first.assign(c=[2, 1]), [0, 1])
    with pytest.raises(ValueError, match="yet now missing:\n- b"):
        model.partial_fit(first[["a", "c"]], [0, 1])
    np.testing.assert_allclose(model.class_weight_, [1, 1])  # nothing was counted


def test_a_wrong_word_for_counts_is_named():
    with pytest.raises(ValueError, match=r"NaiveBayes: counts must be .*Did you mean 'poisson'"):
        NaiveBayes(counts="poison").fit([[0.5], [1.5]], [0, 1])


@pytest.mark.parametrize("name", ["class_rows", "level_rows", "count_rows", "mean_rows", "variance_rows"])
@pytest.mark.parametrize("value", [0, -1.0, "much", np.inf])
def test_wrong_priors_are_named(name, value):
    with pytest.raises(ValueError, match=f"NaiveBayes: {name} must be a finite number > 0"):
        NaiveBayes(**{name: value}).fit([[0.5], [1.5]], [0, 1])


@pytest.mark.parametrize("kind", ["count", "real"])
def test_a_nearly_constant_column_is_not_sure_of_what_it_has_not_seen(kind):
    """One six among four hundred fives: a seven, never seen, cannot tell the classes apart by thousands to one."""
    X = np.full((401, 1), 5.0)
    X[0] = 6.0
    y = np.arange(401) % 2
    model = NaiveBayes(column_kinds=[kind]).fit(X, y)
    p = model.predict_proba([[5.0], [6.0], [7.0], [4.0], [50.0]])
    assert p.min() > 0.1 and p[1, 0] > 0.5
    parts = NaiveBayes(column_kinds=[kind])
    for rows in np.array_split(np.arange(401), 7):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1])
    np.testing.assert_allclose(parts.predict_proba([[5.0], [7.0]]), p[[0, 2]], rtol=1e-6)


def test_kurtosis_does_not_depend_on_offset_or_parts():
    rng = np.random.default_rng(0)
    X = np.rint(1000 + 30 * rng.standard_t(4, size=(500, 1)))
    y = rng.integers(0, 2, 500)
    z = X[:, 0] - X.mean()
    truth = (z**4).mean() / (z**2).mean() ** 2
    whole = NaiveBayes(column_kinds=["count"]).fit(X, y)
    parts = NaiveBayes(column_kinds=["count"])
    for rows in np.array_split(np.arange(500), 3):
        parts.partial_fit(X[rows], y[rows], classes=[0, 1])
    for model in (whole, parts):
        assert model._statistics.kurtosis(0) == pytest.approx(truth, rel=1e-6)
