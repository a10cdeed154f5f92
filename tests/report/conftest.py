import pytest

from partita import AClass, CRPMixture
from partita.datasets import make_mixed_clusters


@pytest.fixture(scope="session")
def clusters():
    """A mixed table with holes and the names of its clusters."""
    X, cluster = make_mixed_clusters(120, 2, missing=0.15, random_state=0)
    return X, cluster


@pytest.fixture(scope="session")
def mixture(clusters):
    return CRPMixture(n_filters=2, n_sweeps=10, random_state=0).fit(clusters[0])


@pytest.fixture(scope="session")
def classifier(clusters):
    X, cluster = clusters
    return AClass(n_filters=2, n_sweeps=5, random_state=0).fit(X, ["left" if c else "right" for c in cluster])
