"""Matrices that once went wrong: two rows of one name, odd units, features of odd shapes."""

import datetime
import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from matrices import QUICK, low_rank, triplets

import partita
from partita import BayesianSVD
from partita.data.validate import DataWarning
from partita.inference.loop import FitInterrupted

X, _ = low_rank(12, 9, 1)
SHORT = QUICK | {"burn_in": 8, "n_samples": 8, "n_chains": 1}


def test_two_rows_of_one_name_are_refused():
    """They were taken for one row, and the first came out empty."""
    frame = pd.DataFrame(X, index=[0, 0, *range(1, 11)])
    with pytest.raises(ValueError, match=r"the id 0 is listed twice.*reset_index"):
        BayesianSVD(**SHORT).fit(frame)
    assert BayesianSVD(**SHORT).fit(frame.reset_index(drop=True)).complete().shape == X.shape


@pytest.mark.parametrize("settings", [{}, {"prior": "paper"}, {"prior": "paper", "sampler": "coordinate"}])
@pytest.mark.parametrize("unit", [2.0**-40, 2.0**-10, 2.0**40])
def test_units_do_not_matter(settings, unit):
    """With the thesis's prior values in thousandths were all noise: its rates were not in the units of the data."""
    plain = BayesianSVD(**SHORT, **settings).fit(X)
    other = BayesianSVD(**SHORT, **settings).fit(X * unit)
    np.testing.assert_allclose(other.complete() / unit, plain.complete(), rtol=1e-4, atol=1e-4)
    assert other.noise_ / unit == pytest.approx(plain.noise_, rel=1e-4)
    assert other.rank_ == plain.rank_


@pytest.mark.parametrize("value", [1e-8, 0.5, 1e8])
def test_a_constant_matrix_is_completed_by_its_value(value):
    holed = np.where(np.isnan(X), np.nan, value)
    model = BayesianSVD(**SHORT).fit(holed)
    assert model.complete() == pytest.approx(np.full(X.shape, value), rel=0.2)


@pytest.mark.parametrize("unit", [1e-30, 1e30, 1e150, 1e300, 1e-200])
def test_values_beyond_single_precision_are_refused(unit):
    """They gave NaN, a wrong answer, a division by zero or an SVD that does not converge."""
    with pytest.raises(ValueError, match="Use other units: divide all values by"):
        BayesianSVD(**SHORT).fit(X * unit)


@pytest.mark.parametrize(
    ("features", "told"),
    [
        ({k: [1.0] * (1 + k % 2) for k in range(12)}, r"row_features: the line of 1 has shape \(2,\)"),
        ({k: float(k) for k in range(12)}, r"row_features: the line of 0 has shape \(\)"),
        ({k: ["old"] for k in range(12)}, r"row_features: the line of 0 is \['old'\], not a vector of numbers"),
        ({}, "row_features is an empty dict"),
        (np.arange(12.0), r"row_features has shape \(12,\)"),
        (pd.Series(np.arange(12.0)), r"row_features has shape \(12,\)"),
    ],
)
def test_features_of_odd_shapes_are_named(features, told):
    with pytest.raises(ValueError, match=told):
        BayesianSVD(**SHORT).fit(X, row_features=features)


def test_as_many_trials_as_cells():
    model = BayesianSVD(link="binomial", **SHORT).fit(np.where(np.isnan(X), np.nan, X > 2))
    low, high = model.predict_interval([0, 1, 2], 0, trials=[1, 2, 3])
    assert (low <= high).all() and (high <= [1, 2, 3]).all()
    with pytest.raises(ValueError, match=r"trials has shape \(2,\)"):
        model.predict_interval([0, 1, 2], 0, trials=[1, 2])


def test_what_partial_fit_cannot_go_on_with():
    """No sweep to keep was accepted, and another prior failed inside the sampler."""
    model = BayesianSVD(**SHORT).fit(X)
    new = ["new"], [0], [1.0]
    for sweeps in ({"n_samples": 0}, {"n_samples": 1.5}, {"burn_in": -1}):
        with pytest.raises(ValueError, match=r"partial_fit: .* must be an integer"):
            model.partial_fit(*new, **sweeps)
    with pytest.raises(ValueError, match="prior='paper', but the model has learnt with 'ard'"):
        model.set_params(prior="paper").partial_fit(*new)
    model.set_params(prior="ard").partial_fit(["new", "new"], [0, 1], [1e-25, 0.0], n_samples=2)
    assert "new" in model.row_ids_.tolist()
    for settings in ({"prior": "paper"}, {"prior": "paper", "sampler": "coordinate"}):
        BayesianSVD(**SHORT, **settings).fit(X).partial_fit(*new, n_samples=2)


@pytest.mark.parametrize("coverage", ["all", None, [0.5, 0.9], float("nan"), 1.0])
def test_a_coverage_is_a_number(coverage):
    with pytest.raises(ValueError, match="coverage must lie between 0 and 1"):
        BayesianSVD(**SHORT).fit(X).predict_interval(0, 0, coverage)


WIDE = pd.DataFrame(np.random.default_rng(0).integers(0, 100, (20, 3)), columns=["a", "b", "c"])


def test_a_matrix_of_three_whole_columns_is_not_taken_for_a_list_in_silence():
    with pytest.warns(DataWarning, match="columns a, b, c is read as a list of 20 entries.*pass entries=False"):
        BayesianSVD(**SHORT).fit(WIDE)
    model = BayesianSVD(**SHORT).fit(WIDE, entries=False)
    assert model.complete().shape == WIDE.shape and model.column_ids_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="repeat a cell") as told:
        BayesianSVD(**SHORT).fit(WIDE % 5)
    assert "pass entries=False" in told.value.__notes__[0]
    with pytest.raises(ValueError, match="entries=True: X must be a frame that lists entries, got ndarray"):
        BayesianSVD(**SHORT).fit(X, entries=True)


def test_a_list_of_whole_numbers_is_read_without_a_word(recwarn):
    row, column, value = triplets(X)
    model = BayesianSVD(**SHORT).fit(pd.DataFrame({"user": row, "item": column, "rating": value}))
    assert model.complete().shape == X.shape and not recwarn.list


IDS = {
    "date": lambda k: datetime.date(2020, 1, 1) + datetime.timedelta(k),
    "moment": lambda k: datetime.datetime(2020, 1, 1, 3, tzinfo=datetime.UTC) + datetime.timedelta(k),
    "stamp": lambda k: pd.Timestamp("2020-01-01") + pd.Timedelta(days=k),
    "bytes": lambda k: b"%d\0" % k,
    "set": lambda k: frozenset([k, "x"]),
    "pair": lambda k: (k, None),
    "uuid": lambda k: uuid.UUID(int=k),
    "decimal": lambda k: Decimal(k) / 3,
    "large": lambda k: 2**70 + k,
}


@pytest.mark.parametrize("kind", IDS)
def test_ids_of_any_kind_come_back_from_a_file(kind, tmp_path):
    row, column, value = triplets(X)
    ids = np.empty(len(row), dtype=object)
    ids[:] = [IDS[kind](int(k)) for k in row]
    model = BayesianSVD(**SHORT).fit_triplets(ids, column, value)
    partita.save(model, tmp_path / "model")
    again = partita.load(tmp_path / "model")
    assert again.row_ids_.tolist() == model.row_ids_.tolist()
    assert type(again.row_ids_[0]) is type(model.row_ids_[0])
    asked = np.empty(1, dtype=object)
    asked[0] = IDS[kind](3)
    assert again.predict(asked, [1]) == model.predict(asked, [1])


def test_an_id_that_no_file_can_hold_is_named_and_nothing_is_lost(tmp_path):
    class Own:
        def __repr__(self):
            return "<my row>"

    kept = BayesianSVD(**SHORT).fit(X)
    partita.save(kept, tmp_path / "model")
    model = BayesianSVD(**SHORT).fit_triplets([Own(), "b", "b"], [0, 1, 0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"row_ids_\[0\] is a .*Own, which a file cannot hold \(<my row>\)"):
        partita.save(model, tmp_path / "model")
    assert partita.load(tmp_path / "model").n_entries_ == kept.n_entries_


def test_ids_of_other_kinds_among_dates():
    """NumPy's own error came out where text was asked for."""
    row, column, value = triplets(X)
    days = np.array(["2020-01-01"], "M8[D]") + row
    model = BayesianSVD(**SHORT).fit_triplets(days, column, value)
    for strange in ("nobody", 5, 2.5, b"x"):
        with pytest.warns(DataWarning, match="1 of 1 row ids were not seen"):
            model.predict([strange], [0])
    told = [model.predict([day], [0]) for day in (days[0], "2020-01-01", datetime.date(2020, 1, 1))]
    assert told[0] == told[1] == told[2]
    folded = model.fold_in(["new"], [0], [2.0])
    assert folded.predict(["new"], [0]) != folded.predict([days[0]], [0])


def test_the_score_of_nothing_and_of_what_is_missing():
    model = BayesianSVD(**SHORT).fit(X)
    assert model.score_samples([], [], []).shape == (0,)
    with pytest.raises(ValueError, match="score: there is no cell to score"):
        model.score([], [], [])
    with pytest.raises(ValueError, match=r"entry 1 \(row 1, column 2\) is missing"):
        model.score_samples([0, 1], [0, 2], [1.0, np.nan])
    counts = BayesianSVD(link="binomial", **SHORT).fit_triplets([0, 1], [0, 1], [1, 1], [2, 2])
    assert counts.score_samples([0, 1], [0, 1], [1, 0], [2, 0])[1] == 0.0  # where nothing was tried


@pytest.mark.parametrize(
    "change", [{"n_chains": 3}, {"offsets": False}, {"unequal_noise": False}, {"link": "binomial"}]
)
def test_partial_fit_goes_on_with_the_same_model_only(change):
    model = BayesianSVD(**SHORT).fit(X).set_params(**change)
    with pytest.raises(ValueError, match=f"partial_fit: {next(iter(change))}=.*, but the model has learnt with"):
        model.partial_fit(["new"], [0], [1.0])
    paper = BayesianSVD(prior="paper", **SHORT).fit(X).set_params(sampler="coordinate", offsets=True)
    with pytest.raises(ValueError, match="sampler='coordinate', but the model has learnt with 'blocked'"):
        paper.partial_fit(["new"], [0], [1.0])


def test_chains_that_stand_at_different_sweeps_go_on_alike():
    """Burn-in was counted by the first chain, so that another kept sweeps of its burn-in, or dropped too many."""
    from partita.models.matrices import chains as svd_chains

    model = BayesianSVD(**SHORT | {"n_chains": 2}).fit(X)
    model._states[1].sweep += 7  # as after an interruption
    seen = []
    plain = svd_chains.SAMPLERS["blocked"].adapt

    def adapt(problem, rng, state, births, held, n_threads):
        seen.append(state.sweep)
        return plain(problem, rng, state, births, held, n_threads)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(svd_chains.SAMPLERS["blocked"], "adapt", adapt)
        model.partial_fit(["new"], [0], [1.0], n_samples=3, burn_in=4)
    assert sorted(seen) == sorted([*range(17, 21), *range(24, 28)])


def test_a_fit_out_of_time_can_go_on():
    with pytest.warns(FitInterrupted):
        model = BayesianSVD(n_samples=10**6, burn_in=3, time_budget=0.05, random_state=0).fit(X)
    model.set_params(time_budget=None).partial_fit(["new"], [0], [1.0], n_samples=2, burn_in=2)
    assert np.isfinite(model.complete()).all()


def test_an_index_that_does_not_count_from_zero_holds_ids():
    """A frame of features that counts from 1, or a slice of one, was taken line by line."""
    lines = np.random.default_rng(0).normal(size=(12, 2))
    row, column, value = triplets(X)
    by_number = BayesianSVD(**SHORT).fit_triplets(row + 1, column, value, row_features=dict(enumerate(lines, 1)))
    frame = pd.DataFrame(lines, index=pd.RangeIndex(1, 13))
    counted = BayesianSVD(**SHORT).fit_triplets(row + 1, column, value, row_features=frame)
    assert np.array_equal(counted.complete(), by_number.complete())
    with pytest.raises(ValueError, match="none of them for the row 0"):
        BayesianSVD(**SHORT).fit(X, row_features=frame)
    plain = BayesianSVD(**SHORT).fit(X, row_features=pd.DataFrame(lines))
    assert np.array_equal(plain.complete(), BayesianSVD(**SHORT).fit(X, row_features=lines).complete())


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_features_in_any_unit(unit, recwarn):
    """Their squares overflowed, and they said nothing."""
    lines = np.random.default_rng(0).normal(size=(12, 2))
    odd = BayesianSVD(**SHORT).fit(X, row_features=lines * unit)
    np.testing.assert_allclose(odd.complete(), BayesianSVD(**SHORT).fit(X, row_features=lines).complete(), rtol=1e-6)
    assert not recwarn.list


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.recommend([0, 1]), "recommend: row must be one id, got list"),
        (lambda m: m.recommend(np.arange(2)), "recommend: row must be one id, got ndarray"),
        (lambda m: m.acquire(1, "random", random_state="x"), "random_state='x' .* is not a seed"),
        (lambda m: m.predict_interval(0, 0, trials=5), "trials was passed, but link='gaussian' has none"),
        (lambda m: m.predict_interval(0, 0, trials="x"), "trials must be whole numbers of at least 1, got 'x'"),
        (lambda m: m.fit(X, row_features=np.ones((12, 0))), r"row_features has no columns \(shape \(12, 0\)\)"),
    ],
)
def test_a_question_that_makes_no_sense_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(BayesianSVD(**SHORT).fit(X))
