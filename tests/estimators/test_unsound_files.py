"""A valid archive whose arrays do not fit together is refused at load: no kernel ever sees them."""

import numpy as np
import pytest
from estimator_tables import holed_binary

from partita import AClass, CRPMixture, load, save
from partita.data.archive import ArchiveError, read_archive, write_archive

MODELS = {
    "chains": lambda X, y: AClass(n_filters=2, n_sweeps=2, random_state=0).fit(X, y),
    "stream": lambda X, y: AClass(n_filters=2, random_state=0, reservoir_size=40).partial_fit(X, y),
    "mixture": lambda X, y: CRPMixture(n_filters=2, n_sweeps=2, random_state=0).fit(X),
}


def arrays(tree, place=()):
    """Every array of a tree, with the way to it."""
    if isinstance(tree, np.ndarray):
        yield place, tree
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from arrays(value, (*place, key))
    elif isinstance(tree, list | tuple):
        for key, value in enumerate(tree):
            yield from arrays(value, (*place, key))


def put(tree, place, value):
    """The tree with one value changed; tuples are made anew."""
    if not place:
        return value
    if isinstance(tree, tuple):
        return tuple(put(item, place[1:], value) if k == place[0] else item for k, item in enumerate(tree))
    tree[place[0]] = put(tree[place[0]], place[1:], value)
    return tree


@pytest.mark.parametrize("name", MODELS)
def test_no_array_can_be_swapped_for_one_that_crashes(name, tmp_path):
    """Cut short or filled with large numbers, an array is refused, or the model answers without reading beyond it."""
    X, y = holed_binary()
    path = tmp_path / "model.partita"
    save(MODELS[name](X, y), path)
    whole, refused = read_archive(path), 0
    ways = [place for place, array in arrays(whole) if array.ndim and array.size > 1][:160]
    for place in ways:
        for change in (lambda a: np.ascontiguousarray(a[..., :1]), lambda a: np.full_like(a, 10**6)):
            tree = read_archive(path)
            array = dict(arrays(tree))[place]
            if array.dtype.kind in "US" or (array.dtype == np.float64 and change(array).shape == array.shape):
                continue
            tree = put(tree, place, change(array))
            other = tmp_path / "other.partita"
            write_archive(other, "model", tree)
            try:
                model = load(other)
            except ArchiveError:
                refused += 1
                continue
            try:
                model.score_samples(X)
            except (ValueError, IndexError):
                pass
    assert refused >= 10
