"""Tables that the tests of the estimators share, and settings that end soon."""

import numpy as np
import pandas as pd

QUICK = {"n_filters": 2, "n_sweeps": 4, "random_state": 0}


def holed_binary(n=120, d=6, missing=0.2, seed=0):
    """Binary rows of two kinds, which are the classes too, with holes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    y[:2] = 0, 1
    X = (rng.random((n, d)) < np.where(y[:, None] == 1, 0.8, 0.2)).astype(float)
    X[:2] = [[0], [1]]
    X[2:][rng.random((n - 2, d)) < missing] = np.nan
    return X, y


def mixed_frame(n=150, missing=0.15, seed=1):
    """A pandas table with a column of every kind and dtype, with holes, and labels that depend on it."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame(
        {
            "flag": pd.array(rng.random(n) < 0.3 + 0.4 * y, dtype="boolean"),
            "zero_one": rng.integers(0, 2, n).astype(float),
            "colour": pd.Series(np.array(["red", "green", "blue"])[(rng.integers(0, 2, n) + y) % 3], dtype="str"),
            "grade": pd.Categorical(
                np.array(["low", "mid", "high"])[rng.integers(0, 3, n)], categories=["low", "mid", "high"]
            ),
            "visits": pd.array(rng.poisson(2 + 3 * y) + 11 * (rng.random(n) < 0.1), dtype="Int64"),
            "height": rng.normal(170 + 5 * y, 8),
            "income": np.where(rng.random(n) < 0.3, 0.0, rng.lognormal(3 + y, 1)),
        }
    )
    for name in frame:
        frame.loc[rng.random(n) < missing, name] = None
    return frame, np.array(["no", "yes"])[y]


def numbers(frame):
    """The numeric columns of `mixed_frame` as an array."""
    return frame[["zero_one", "height", "income"]].to_numpy(dtype=float, na_value=np.nan).copy()
