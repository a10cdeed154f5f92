"""Imputations, draws, samples, similarities and posteriors over the number of groups."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from estimator_tables import QUICK, holed_binary, mixed_frame, numbers

from partita import AClass, CRPMixture

FRAME, Y = mixed_frame()


@pytest.fixture(scope="module", params=["AClass", "AClass smc", "CRPMixture", "CRPMixture smc"])
def model(request):
    cls = AClass if request.param.startswith("AClass") else CRPMixture
    return cls(**QUICK, inference="smc" if request.param.endswith("smc") else "gibbs").fit(FRAME, Y)


def test_imputed_frames_keep_their_type_and_every_given_cell(model):
    filled = model.impute(FRAME)
    assert isinstance(filled, pd.DataFrame)
    assert not filled.isna().any().any()
    assert list(filled.columns) == list(FRAME.columns)
    for name in FRAME:
        seen = FRAME[name].notna()
        assert (filled.loc[seen, name] == FRAME.loc[seen, name]).all(), name
    assert set(filled["colour"]) <= {"red", "green", "blue"}
    assert (filled["visits"] >= 0).all() and (filled["visits"] % 1 == 0).all()
    assert model.impute(pl.from_pandas(FRAME)).null_count().sum_horizontal().item() == 0


def test_imputed_arrays_are_arrays():
    cells = numbers(FRAME)
    model = CRPMixture(**QUICK).fit(cells)
    filled, std = model.impute(cells, return_std=True)
    hole = np.isnan(cells)
    assert filled.dtype == np.float64 and not np.isnan(filled).any()
    np.testing.assert_array_equal(filled[~hole], cells[~hole])
    assert (std[~hole] == 0).all() and (std[hole] >= 0).all()
    assert (std[:, 1][hole[:, 1]] > 0).all()


def test_draws_are_completed_tables_around_the_mean(model):
    draws = model.impute(FRAME, n_draws=60, random_state=1)
    assert len(draws) == 60 and all(not draw.isna().any().any() for draw in draws)
    again = model.impute(FRAME, n_draws=60, random_state=1)
    pd.testing.assert_frame_equal(draws[-1], again[-1])
    assert all((draw["visits"] >= 0).all() and (draw["visits"] % 1 == 0).all() for draw in draws)
    hole = FRAME["height"].isna()
    drawn = np.array([draw.loc[hole, "height"] for draw in draws])
    filled, std = model.impute(FRAME, return_std=True)
    mean, spread = filled.loc[hole, "height"].to_numpy(), std[hole.to_numpy(), 5]
    assert (np.ptp(drawn, axis=0) > 0).all()
    # medians: with four sweeps a group may be small, and then the predictive has heavy tails
    assert (abs(np.median(drawn, axis=0) - mean) < 1.5 * spread).all()


def test_draws_of_an_array_are_one_array():
    cells, y = holed_binary()
    draws = AClass(**QUICK).fit(cells, y).impute(cells, n_draws=3)
    assert draws.shape == (3, *cells.shape) and set(np.unique(draws)) == {0.0, 1.0}
    with pytest.raises(ValueError, match="n_draws must be an integer >= 1"):
        AClass(**QUICK).fit(cells, y).impute(cells, n_draws=0)


def test_draws_have_the_means_and_spreads_of_the_filled_cells():
    """Through all lenses of the default: normal scores, levels of few values, and a spike with the rest beside it."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    dry = rng.random(300) < np.where(y == 1, 0.3, 0.9)
    cells = np.column_stack([rng.normal(size=(300, 2)) + y[:, None], np.where(dry, 0.0, rng.uniform(1, 9, 300))])
    cells = np.column_stack([cells, rng.integers(0, 5, 300) * 0.5])
    cells[rng.random(cells.shape) < 0.2] = np.nan
    model = AClass(n_filters=4, n_sweeps=6, random_state=0).fit(cells[:200], y[:200])
    rows = cells[200:]
    filled, std = model.impute(rows, return_std=True)
    drawn = model.impute(rows, n_draws=1500, random_state=1)
    hole = np.isnan(rows)
    error = (drawn.mean(axis=0) - filled)[hole] / (std[hole] / np.sqrt(1500))
    # heavy tails: a few means come from few draws
    assert np.quantile(abs(error), 0.9) < 4 and abs(np.median(error)) < 1
    assert (abs(np.log(drawn.std(axis=0)[hole] / std[hole])) < 0.35).mean() > 0.95
    rain = drawn[:, hole[:, 2], 2]
    assert 0.4 < (rain == 0).mean() < 0.8
    assert np.isin(drawn[:, hole[:, 3], 3], [0.0, 0.5, 1.0, 1.5, 2.0]).mean() > 0.3


def test_a_level_never_seen_is_no_hole():
    frame = pd.DataFrame({"s": ["x", "y", "z", "x"] * 10, "v": np.arange(40.0) ** 1.5})
    model = CRPMixture(n_filters=2, n_sweeps=4, random_state=0).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        filled, std = model.impute(frame.assign(s=["new", None] + ["x"] * 38), return_std=True)
    assert filled["s"][0] == "new" and std[0, 0] == 0 and std[1, 0] > 0


def test_samples_look_like_the_table(model):
    drawn = model.sample(400, random_state=2)
    rows, label = drawn if isinstance(model, AClass) else (drawn, None)
    assert isinstance(rows, pd.DataFrame) and list(rows.columns) == list(FRAME.columns) and len(rows) == 400
    assert not rows.isna().any().any()
    assert set(rows["colour"]) <= {"red", "green", "blue"} and set(rows["grade"]) <= {"low", "mid", "high"}
    assert set(rows["zero_one"]) <= {0, 1} and (rows["visits"] >= 0).all()
    assert (rows["visits"] % 1 == 0).all()
    assert abs(np.median(rows["height"]) - FRAME["height"].median()) < 4
    if label is not None:
        assert set(label) == {"no", "yes"}
        assert rows["visits"][label == "yes"].mean() > rows["visits"][label == "no"].mean()
    pd.testing.assert_frame_equal(
        rows, (lambda s: s[0] if isinstance(model, AClass) else s)(model.sample(400, random_state=2))
    )


@pytest.mark.parametrize("given", [True, False])
def test_similarity_is_a_probability(given):
    model = CRPMixture(**QUICK).fit(FRAME)
    s = model.similarity(FRAME if given else None)
    assert s.shape == (len(FRAME), len(FRAME))
    np.testing.assert_array_equal(np.diag(s), 1.0)
    np.testing.assert_allclose(s, s.T, atol=1e-12)
    assert s.min() >= 0 and s.max() <= 1


def test_similarity_tells_clear_groups_apart():
    cells = np.repeat([[0.0] * 8, [1.0] * 8], 15, axis=0)
    model = CRPMixture(random_state=0).fit(cells)
    for s in (model.similarity(), model.similarity(cells)):
        assert s[:15, :15].mean() > 0.8 and s[:15, 15:].mean() < 0.05
    with pytest.raises(ValueError, match="pass the rows as X"):
        CRPMixture(**QUICK, inference="smc").fit(cells).similarity()


def test_the_posterior_over_the_number_of_groups_sums_to_one(model):
    posterior = model.n_components_posterior_
    of_class = model.n_components_by_class_ if isinstance(model, AClass) else {}
    for one in (posterior, *of_class.values()):
        assert all(isinstance(size, int) and size >= 1 for size in one)
        assert sum(one.values()) == pytest.approx(1.0)
    if isinstance(model, CRPMixture):
        assert posterior[model.n_components_] == max(posterior.values())
    else:
        assert set(of_class) == {"no", "yes"}
        mean, *parts = [sum(size * p for size, p in one.items()) for one in (posterior, *of_class.values())]
        assert mean == pytest.approx(sum(parts))


def test_groups_are_numbered_as_in_predict(model):
    if isinstance(model, AClass):
        pytest.skip("classes, not groups")
    proba = model.predict_proba(FRAME)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(FRAME), proba.argmax(axis=1))
    assert model.labels_.shape == (len(FRAME),) and model.labels_.max() < proba.shape[1]


def test_log_probabilities_are_logs():
    model = AClass(**QUICK).fit(FRAME, Y)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(FRAME)), model.predict_proba(FRAME))


def test_a_single_chain_has_a_density():
    model = AClass(**{**QUICK, "n_filters": 1}).fit(FRAME, Y)
    assert np.isfinite(model.score_samples(FRAME)).all()


def test_odd_rows_have_low_density(model):
    odd = FRAME.assign(height=400.0, visits=pd.array([900] * len(FRAME), dtype="Int64"))
    assert np.median(model.score_samples(odd)) < model.score_samples(FRAME).min()
