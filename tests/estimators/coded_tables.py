"""Tables for the tests of the estimators that work on codes or on statistics of columns."""

import numpy as np
import pandas as pd


def coded(n=60, levels=(2, 3, 2, 4), n_classes=2, seed=0):
    """Categorical columns that depend on the class and on each other, as text, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    columns, last = {}, y
    for j, k in enumerate(levels):
        last = np.where(rng.random(n) < 0.6, last + y, rng.integers(0, k, n)) % k
        columns[f"c{j}"] = np.array([f"v{v}" for v in range(k)], object)[last]
    return pd.DataFrame(columns), np.array(["no", "yes", "maybe"])[y]
