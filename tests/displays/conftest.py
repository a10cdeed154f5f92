"""Models that the tests of displays look at."""

import numpy as np
import pytest

import partita

pytest.importorskip("matplotlib").use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="session")
def mixed():
    """A mixed frame with holes, the same without, and the clusters."""
    pytest.importorskip("pandas")
    full, clusters = partita.datasets.make_mixed_clusters(120, 3, missing=0.0, random_state=1)
    return partita.datasets.remove_cells(full, 0.15, random_state=2), full, clusters


@pytest.fixture(scope="session")
def mixture(mixed):
    return partita.CRPMixture(n_filters=3, n_sweeps=30, random_state=0).fit(mixed[0])


@pytest.fixture(scope="session")
def coins():
    """A classification table of 0, 1 and NaN, and a classifier of it."""
    X, y, _ = partita.datasets.make_coin_classes(200, 12, (1, 2), missing=0.1, random_state=0)
    return X, y, partita.AClass(n_filters=4, n_sweeps=5, random_state=0).fit(X, y)


@pytest.fixture
def rng():
    return np.random.default_rng(0)
