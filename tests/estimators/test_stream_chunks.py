"""`partial_fit`: how the rows are cut into calls does not matter, and the first call fixes what may come."""

import numpy as np
import pytest
from estimator_tables import QUICK, holed_binary, mixed_frame

from partita import AClass, CRPMixture

X, Y = holed_binary(430)
CUTS = {
    "one call": [],
    "two rows first": [2],
    "blocks": [100, 200, 300],
    "ragged": [37, 41, 250],
    "sevens": range(7, 430, 7),
}


def learn(model, cuts, X=X, y=Y):
    for rows in np.split(np.arange(len(X)), cuts):
        model.partial_fit(X[rows], y[rows]) if isinstance(model, AClass) else model.partial_fit(X[rows])
    return model


@pytest.mark.parametrize("settings", [{}, {"n_particles": 3}, {"reservoir_size": 30}], ids=str)
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_chunks_do_not_matter(cls, settings):
    whole, *others = [learn(cls(**QUICK, **settings), cuts).score_samples(X) for cuts in CUTS.values()]
    for other in others:
        np.testing.assert_array_equal(other, whole)


@pytest.mark.parametrize("settings", [{}, {"n_particles": 3}, {"n_sweeps": 0, "n_particles": 3}], ids=str)
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_chunks_do_not_matter_to_cells_that_are_drawn(cls, settings):
    """Missing cells of a correlated block are drawn as part of the state; inside a fit the clock cuts the rows."""
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(430, 3)) @ rng.normal(size=(3, 3)) + 3.0 * Y[:, None]
    cells[rng.random(cells.shape) < 0.3] = np.nan
    changed = {**QUICK, **settings, "correlated": True}
    cuts = [[50, *(at for at in each if at > 50)] for each in CUTS.values()]  # the first rows fix centring and scale
    whole, *others = [learn(cls(**changed), each, X=cells).score_samples(cells) for each in cuts]
    for other in others:
        np.testing.assert_array_equal(other, whole)


@pytest.mark.parametrize("n_filters", [1, 3])
@pytest.mark.parametrize("missing_labels", [False, True])
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_chunks_do_not_matter_to_the_plain_filter(cls, missing_labels, n_filters):
    settings = {**QUICK, "n_sweeps": 0, "n_particles": 3, "n_filters": n_filters}
    y = np.where(np.arange(len(Y)) % 7 == 3, np.nan, Y) if missing_labels else Y
    whole, *others = [learn(cls(**settings), cuts, y=y) for cuts in CUTS.values()]
    for other in others:
        np.testing.assert_array_equal(other.score_samples(X), whole.score_samples(X))
        assert other.log_evidence_ == whole.log_evidence_


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_the_plain_filter_infers_neither_alpha_nor_the_columns(cls):
    settings = {**QUICK, "inference": "smc", "n_sweeps": 0}
    told = cls(**settings, alpha=1.0, column_prior=0.5).fit(X, Y)
    np.testing.assert_array_equal(cls(**settings).fit(X, Y).score_samples(X), told.score_samples(X))


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_fit_by_smc_is_one_pass_of_the_stream(cls):
    fitted = cls(**QUICK, inference="smc").fit(X, Y)
    np.testing.assert_array_equal(fitted.score_samples(X), learn(cls(**QUICK), []).score_samples(X))


def test_asking_in_between_changes_nothing():
    quiet = learn(AClass(**QUICK), [100, 217])
    asked = AClass(**QUICK)
    for rows in np.split(np.arange(len(X)), [100, 217]):
        asked.partial_fit(X[rows], Y[rows])
        asked.predict_proba(X)
        asked.impute(X[:5], n_draws=2)
        asked.sample(3)
    np.testing.assert_array_equal(asked.predict_proba(X), quiet.predict_proba(X))


def test_the_first_call_fixes_the_classes():
    model = AClass(**QUICK).partial_fit(X[:50], np.zeros(50, int), classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape == (430, 3)
    with pytest.raises(ValueError, match=r"y holds a label that is not in classes: 7 in row 1"):
        model.partial_fit(X[:2], [1, 7])
    with pytest.raises(ValueError, match="not in classes"):
        AClass(**QUICK).partial_fit(X[:2], [0, 3], classes=[0, 1])


def test_a_refused_call_leaves_the_model_as_it_was():
    model = learn(AClass(**QUICK), [100])
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match="not in classes"):
        model.partial_fit(X[:2], [1, 7])
    with pytest.raises(ValueError, match="6 features"):
        model.partial_fit(X[:2, :3], [1, 0])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.n_rows_seen_ == 430


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_fit_begins_anew(cls):
    model = learn(cls(**QUICK), [100])
    again = model.fit(X, Y).score_samples(X)
    np.testing.assert_array_equal(again, cls(**QUICK).fit(X, Y).score_samples(X))
    assert not hasattr(model, "log_evidence_")


def test_a_stream_takes_all_kinds():
    frame, y = mixed_frame(300)
    model = AClass(**QUICK)
    for start in range(0, 300, 75):
        model.partial_fit(frame.iloc[start : start + 75], y[start : start + 75])
    assert model.n_rows_seen_ == 300
    assert (model.predict(frame) == y).mean() > 0.7
