"""What `max_candidates` leaves out is named, and pairs that act only together are found all the same."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import partita
from partita import KikuchiBayesClassifier
from partita.data.validate import DataWarning

D, N, LIMIT = 120, 1500, 1500  # 7140 pairs


def together(seed=0):
    """Columns c70 and c110 decide the class together only; c3 says something alone."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (N, D))
    y = X[:, 70] ^ X[:, 110] ^ (rng.random(N) < 0.15)
    X[:, 3] = y ^ (rng.random(N) < 0.4)
    return pd.DataFrame(X.astype(str), columns=[f"c{j}" for j in range(D)]), y


@pytest.mark.parametrize("seed", range(3))
def test_a_pair_that_acts_only_together_is_not_screened_out(seed):
    X, y = together(seed)
    with pytest.warns(DataWarning):
        model = KikuchiBayesClassifier(max_order=3, max_candidates=LIMIT, random_state=0).fit(X[:1000], y[:1000])
    assert any((70, 110) in stage.keys for stage in model._built.stages)
    assert model.score(X[1000:], y[1000:]) > 0.75
    with pytest.warns(DataWarning):
        assert (70, 110) in model.map_regions_


def test_the_warning_names_pairs_and_the_attribute_holds_them_all(tmp_path):
    X, y = together()
    model = KikuchiBayesClassifier(max_order=3, max_candidates=LIMIT, random_state=0)
    with pytest.warns(DataWarning, match=r"pairs of attributes 'c\d+' with 'c\d+', .* and 5,632 more were not") as told:
        model.fit(X, y)
    assert "beyond a first look at 315 rows" in str(told[-1].message) and "not_searched_" in str(told[-1].message)
    with pytest.warns(DataWarning, match="regions of 2 attributes .*not searched: 'c.*not_searched_"):
        left = model.not_searched_
    assert left["pairs"].shape == (D * (D - 1) // 2 - LIMIT, 2) and set(left) == {"pairs", "attributes"}
    first = left["pairs"][0]
    assert f"pairs of attributes 'c{first[0]}' with 'c{first[1]}'" in str(told[-1].message)
    assert 3 not in left["attributes"][2] and 70 not in left["attributes"][2] and 110 not in left["attributes"][2]
    partita.save(model, tmp_path / "model.partita")
    again = partita.load(tmp_path / "model.partita").not_searched_
    assert np.array_equal(again["pairs"], left["pairs"]) and again["attributes"] == left["attributes"]


def test_triples_that_were_left_are_named_by_their_pairs():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 12))
    y = X[:, 0] ^ X[:, 1] ^ (rng.random(400) < 0.2)
    with pytest.warns(DataWarning, match=r"triples over the pairs \d+ with \d+"):
        model = KikuchiBayesClassifier(max_candidates=66, random_state=0).fit(X, y)
    left = model._built.omitted.triples_over
    assert len(left) > 0 and not any(np.array_equal(pair, (0, 1)) for pair in left)


def test_nothing_is_left_where_everything_was_searched():
    X, y = together()
    assert KikuchiBayesClassifier(random_state=0).fit(X.iloc[:, :8], y).not_searched_ == {}
    assert KikuchiBayesClassifier(estimate="paper").fit(X.iloc[:, :8], y).not_searched_ == {}


def test_the_same_for_any_number_of_threads():
    X, y = together()
    proba = []
    for n_jobs in (1, 2):
        with pytest.warns(DataWarning):
            model = KikuchiBayesClassifier(max_order=3, max_candidates=LIMIT, random_state=0, n_jobs=n_jobs).fit(X, y)
        proba.append(model.predict_proba(X))
    assert np.array_equal(*proba)
