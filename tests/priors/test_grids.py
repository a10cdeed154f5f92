"""Griddy Gibbs: draws of a point of a grid."""

import numpy as np
import pytest

from partita.priors import grids


def test_draws_are_in_proportion_and_never_impossible():
    log_weights = np.log([0.2, 0.5, 0.3]) + 700
    log_weights = np.concatenate([[-np.inf], log_weights, [-np.inf]])
    uniforms = np.append((np.arange(1000) + 0.5) / 1000, [0.0, np.nextafter(1, 0)])
    counts = np.bincount(grids.draw_index(log_weights, uniforms), minlength=5)
    np.testing.assert_allclose(counts, [0, 201, 500, 301, 0], atol=1)
    assert grids.draw_index(np.zeros((2, 3)), np.array([0.1, 0.9])).tolist() == [0, 2]
    with pytest.raises(ValueError, match="one point at least"):
        grids.draw_index([-np.inf, -np.inf], 0.5)
