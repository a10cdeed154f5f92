"""A stream holds groups and a reservoir, not the rows it has seen; particles hold the groups they share once."""

import numpy as np
import pytest

from partita import AClass, CRPMixture
from partita.datasets import make_coin_classes


def held(thing) -> int:
    """Bytes of all arrays in a tree of dicts and lists."""
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    parts = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list | tuple) else ()
    return sum(held(part) for part in parts)


@pytest.mark.parametrize("n_particles", [1, 4])
@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_a_stream_does_not_grow_with_the_rows(cls, n_particles):
    rng = np.random.default_rng(0)
    frequencies = rng.beta(0.5, 0.5, (2, 6, 8))
    model = cls(n_filters=2, n_particles=n_particles, n_sweeps=1, max_components=10, reservoir_size=200, random_state=0)
    sizes = []
    for _ in range(20):
        y, group = rng.integers(0, 2, 500), rng.integers(0, 6, 500)
        X = (rng.random((500, 8)) < frequencies[y, group]).astype(float)
        X[rng.random(X.shape) < 0.1] = np.nan
        model.partial_fit(X, y) if cls is AClass else model.partial_fit(X)
        sizes.append(held(model._online.to_tree()))
    assert model.n_rows_seen_ == 10_000
    assert max(sizes[10:]) <= max(sizes[:10])  # room for groups is made in steps, up to the cap
    assert sizes[-1] < 10_000 * 8 * 8  # less than the rows themselves


@pytest.mark.parametrize("cls", [AClass, CRPMixture])
def test_no_more_groups_than_the_cap(cls):
    rng = np.random.default_rng(0)
    X, y = 5.0 * rng.integers(0, 9, (400, 1)) + rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
    for settings in ({}, {"inference": "smc", "n_particles": 5}):
        model = cls(max_components=3, random_state=0, **settings).fit(X, y)
        found = model.n_components_by_class_.values() if cls is AClass else [model.n_components_posterior_]
        assert all(max(sizes) <= 3 for sizes in found)


def test_particles_share_their_groups():
    """Most groups of most particles are the same: they are held, and scored, once."""
    X, y, _ = make_coin_classes(1000, random_state=0)
    paper = {"inference": "smc", "n_filters": 1, "n_sweeps": 0, "alpha": 1.0, "column_prior": 0.5}
    model = AClass(n_particles=20, random_state=0, **paper).fit(X, y)
    (bank,) = model._online.banks
    seats = sum(int(one.used.sum()) for one in bank.filters)
    distinct = sum(int((one.refs[1:] > 0).sum()) for one in bank.filters)  # the first is the empty group
    assert len(bank.filters) == 4 and distinct < 0.3 * seats
