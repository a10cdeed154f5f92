"""Small tables for the tests of the evidence estimator."""

import numpy as np


def table(seed=0, n=240, levels=(3, 2, 4, 3), n_reals=2, n_classes=3, missing=0.1):
    """Codes, levels, reals, label: class depends on column 0, columns 1 and 3 together and the first real."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, k, n) for k in levels], axis=1).astype(np.int32)
    reals = rng.normal(size=(n, n_reals))
    logits = np.zeros((n, n_classes))
    logits[:, 1] = 1.5 * (codes[:, 0] == 1) + 2.0 * ((codes[:, 1] == 1) ^ (codes[:, 3] == 1)) - 1.0
    if n_reals:
        logits[:, -1] += 1.2 * reals[:, 0]
        reals[rng.random(reals.shape) < missing] = np.nan
    label = (logits + rng.gumbel(size=logits.shape)).argmax(axis=1).astype(np.int32)
    return codes, np.array(levels, np.int32), np.ascontiguousarray(reals), label
