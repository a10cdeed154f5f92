"""One cell that is far off (a slip, a mark such as 999999) does not blind a column."""

import numpy as np
import pytest

from partita import AClass, CRPMixture

pytestmark = pytest.mark.filterwarnings("ignore::partita.data.DataWarning")
rng = np.random.default_rng(1)
Z = rng.integers(0, 2, 500)
X = np.column_stack([rng.normal(Z * 5, 1), rng.normal(size=500)])


@pytest.mark.parametrize("far", [1e4, 999_999, 1e9])
def test_groups_and_classes_are_found_all_the_same(far):
    cells = X.copy()
    cells[7, 0] = far
    plain, model = (CRPMixture(n_filters=2, random_state=0).fit(part[:300]) for part in (X, cells))
    assert model.score_samples(X[300:]).mean() > plain.score_samples(X[300:]).mean() - 0.1
    assert model.score_samples(cells[:300]).argmin() == 7
    stream = AClass(random_state=0).partial_fit(cells[:300], Z[:300])
    batch = AClass(n_filters=4, n_sweeps=8, random_state=0).fit(cells[:300], Z[:300])
    for classifier in (stream, batch):
        assert (classifier.predict(X[300:]) == Z[300:]).mean() > 0.97
