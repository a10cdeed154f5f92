"""Missing cells and rows by a posterior over networks, against its own densities over all rows."""

import itertools

import numpy as np
import pandas as pd
import pytest

from partita import StructureLearner

LEVELS = [(0, 1), (0, 1, 2), (0, 1), (0, 1)]


def rows_of(n, rng):
    a = rng.integers(0, 2, n)
    b = (a + rng.integers(0, 2, n)) % 3
    c = np.where(rng.random(n) < 0.8, b > 0, b == 0).astype(int)
    return np.column_stack([a, b, c, rng.integers(0, 2, n)])


@pytest.fixture(scope="module", params=[0.0, 0.1], ids=["complete", "holes"])
def learnt(request):
    rng = np.random.default_rng(3)
    X = rows_of(60, rng).astype(float)
    X[rng.random(X.shape) < request.param] = np.nan
    kinds = ["categorical"] * 4
    return StructureLearner("sparse", column_kinds=kinds, n_sweeps=60, n_chains=2, random_state=0).fit(X)


def joint(model, row):
    """Probabilities of every completion of a row, by `score_samples`."""
    free = [k for k in range(4) if np.isnan(row[k])]
    every = np.array([row] * int(np.prod([len(LEVELS[k]) for k in free])))
    every[:, free] = list(itertools.product(*(LEVELS[k] for k in free)))
    p = np.exp(model.score_samples(every))
    return free, every, p / p.sum()


@pytest.mark.parametrize("row", [[np.nan, 1, np.nan, 0], [np.nan] * 4, [0, np.nan, 1, np.nan]])
def test_the_most_probable_level_of_every_hole(learnt, row):
    row = np.array(row, float)
    free, every, p = joint(learnt, row)
    filled = learnt.impute(row[None])[0]
    seen = ~np.isnan(row)
    assert np.array_equal(filled[seen], row[seen])
    for k in free:
        marginal = [p[every[:, k] == level].sum() for level in LEVELS[k]]
        assert filled[k] == LEVELS[k][int(np.argmax(marginal))]


def test_draws_follow_the_joint_law(learnt):
    row = np.array([np.nan, np.nan, 1, np.nan])
    _, every, p = joint(learnt, row)
    drawn = learnt.impute(np.repeat(row[None], 3000, axis=0), n_draws=2, random_state=1)
    assert drawn.shape == (2, 3000, 4)
    places = {tuple(r): k for k, r in enumerate(every)}
    counts = np.bincount([places[tuple(r)] for r in drawn.reshape(-1, 4)], minlength=len(p))
    assert (((counts - 6000 * p) ** 2 / (6000 * p)).sum()) < len(p) + 5 * np.sqrt(2 * len(p))


def test_rows_follow_the_predictive_law(learnt):
    _, every, p = joint(learnt, np.full(4, np.nan))
    rows = learnt.sample(6000, random_state=2)
    places = {tuple(r): k for k, r in enumerate(every)}
    counts = np.bincount([places[tuple(r)] for r in np.asarray(rows)], minlength=len(p))
    assert (((counts - 6000 * p) ** 2 / (6000 * p)).sum()) < len(p) + 5 * np.sqrt(2 * len(p))


def test_frames_stay_frames_and_nothing_missing_stays_as_it_is():
    X = pd.DataFrame({"a": ["x", "y", None, "x"] * 10, "b": ["u", "v", "v", None] * 10, "c": ["one"] * 40})
    model = StructureLearner("uniform", n_sweeps=40, n_chains=1, random_state=0)
    with pytest.warns(match="one value only"):
        model.fit(X)
    filled, spread = model.impute(X, return_std=True)
    assert list(filled.columns) == ["a", "b", "c"] and filled.notna().all().all()
    assert filled.a[0] == "x" and np.isnan(spread[2, 0]) and spread[0, 0] == 0
    pd.testing.assert_frame_equal(model.impute(filled), filled)
    assert list(model.sample(3, random_state=0).columns) == ["a", "b", "c"]
    for wrong in ({"n_draws": 0}, {"n_draws": 2, "return_std": True}):
        with pytest.raises(ValueError, match="n_draws"):
            model.impute(X, **wrong)
    with pytest.raises(ValueError, match="n_samples"):
        model.sample(0)
