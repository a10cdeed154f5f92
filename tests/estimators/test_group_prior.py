"""The law of the groups as a parameter, and chains that stop when nothing moves any more."""

import numpy as np
import pytest

from partita import AClass, CRPMixture, load, save
from partita.datasets import make_coin_classes, make_coin_mixture
from partita.models.mixtures import chains


@pytest.fixture(scope="module")
def table():
    X, y, _ = make_coin_classes(160, missing=0.5, random_state=0)
    return X, y


def test_the_laws_give_different_answers_that_are_saved(table, tmp_path):
    X, y = table
    answers = {}
    for prior in ("crp", "infer"):
        model = AClass(group_prior=prior, n_filters=2, n_sweeps=8, random_state=0).fit(X, y)
        answers[prior] = model.predict_proba(X[:20])
        save(model, tmp_path / prior)
        again = load(tmp_path / prior)
        assert again.group_prior == prior
        np.testing.assert_array_equal(again.predict_proba(X[:20]), answers[prior])
    assert not np.array_equal(answers["crp"], answers["infer"])


def test_a_given_alpha_and_a_stream_mean_the_restaurant(table):
    X, y = table
    for arguments in ({"alpha": 1.0, "n_sweeps": 6}, {"inference": "smc"}):
        crp, infer = (
            AClass(group_prior=prior, n_filters=2, random_state=0, **arguments).fit(X, y).predict_proba(X[:10])
            for prior in ("crp", "infer")
        )
        np.testing.assert_array_equal(crp, infer)


def test_mixtures_of_equal_groups_are_found_finite():
    X, _, _ = make_coin_mixture(300, 40, 6, random_state=1)
    model = CRPMixture(group_prior="infer", n_filters=4, n_sweeps=40, random_state=0).fit(X)
    assert model.n_components_ == 6


def test_an_unknown_law_is_refused(table):
    with pytest.raises(ValueError, match="group_prior"):
        AClass(group_prior="finite").fit(*table)


def test_chains_rest_when_no_row_moves():
    X, y, _ = make_coin_classes(400, random_state=0)  # complete: groups are found at once
    model = AClass(n_filters=3, n_views=1, n_sweeps=30, random_state=0).fit(X, y)
    assert model.trace_["moved"].shape[1] < 30
    assert (model.score(X, y)) > 0.99
    two = AClass(n_filters=3, n_views=1, n_sweeps=30, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X[:50]), two.predict_proba(X[:50]))


def test_at_rest():
    still = [0.0] * chains.SWEEPS_AT_REST
    assert not chains.at_rest(500, {"moved": still})  # too early to tell
    assert chains.at_rest(500, {"moved": [0.9, 0.5, 0.1, *still]})
    assert not chains.at_rest(500, {"moved": [0.9, 0.5, 0.1, *still[:-1], chains.AT_REST]})
    assert not chains.at_rest(6, {"moved": [0.9, 0.5, 0.1, *still]})  # six rows often stay by chance
    assert chains.at_rest(6, {"moved": [0.9, 0.5, 0.1, *[0.0] * 34]})
