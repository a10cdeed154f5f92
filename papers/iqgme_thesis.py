"""What the scripts of the iQGME thesis share: one model with all it has learnt, options that may be absent, holes."""

from __future__ import annotations

import zlib
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from partita import IQGMEClassifier
from partita.datasets import fetch_uci
from partita.priors.sticks import Sticks


class Kept(IQGMEClassifier):
    """One model of the thesis, with its training responsibilities at hand."""

    def _take(self, learnt: Any) -> None:
        super()._take(learnt)
        self.rho_ = learnt.rho

    @property
    def counts(self) -> np.ndarray:
        """Expected training rows of every component, in the order of the sticks."""
        return self.rho_.sum(axis=0)

    @property
    def gated(self) -> Any:
        """Posterior of gates and experts."""
        return self._pool.whole[0]

    def sticks(self) -> Sticks:
        """q of the sticks and the concentration that these counts give, at its fixed point."""
        sticks = Sticks.begin(self.max_experts, self.tau_10, self.tau_20)
        for _ in range(200):
            sticks = sticks.posterior(self.counts)
        return sticks


def one_model(seed: int, **settings: Any) -> Kept:
    """The best bound of five starts, as the thesis advises, unless told otherwise."""
    return Kept(average=False, random_state=seed, n_jobs=1, **settings)


@cache
def works(option: str, value: Any) -> bool:
    """Whether this version takes the option to heart: one that is refused, or that changes nothing, is not there."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(int)
    fits = []
    for settings in ({}, {option: value}):
        try:
            model = IQGMEClassifier(average=False, n_restarts=1, max_iter=20, random_state=0, **settings).fit(X, y)
        except Exception:
            return False
        fits.append(model.predict_proba(X))
    return not np.array_equal(*fits)


def finite_model() -> Any:
    """`QGMEClassifier`, or None where this version has none."""
    import partita

    return getattr(partita, "QGMEClassifier", None)


def real_table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All columns as numbers, as in the thesis (34 of Ionosphere, 30 of WDBC), and classes, 1 the smaller."""
    bunch = fetch_uci(name)
    label = np.asarray(bunch.target).astype(str)
    names, counts = np.unique(label, return_counts=True)
    return bunch.data.to_numpy(float), (label == names[counts.argmin()]).astype(int)


class Split(NamedTuple):
    """Rows with holes, their classes, which are for training and for test, and the rows before cells were removed."""

    holed: np.ndarray
    y: np.ndarray
    train: np.ndarray
    test: np.ndarray
    whole: np.ndarray


def holed_split(X: np.ndarray, y: np.ndarray, missing: float, training: float, seed: Any) -> Split:
    """A share of the cells removed at random; rows without any cell go, both halves hold both classes, and holes and
    split are drawn independently, as in the thesis."""
    rng = np.random.default_rng([zlib.crc32(b"iqgme"), *np.atleast_1d(seed)])
    holed = np.where(rng.random(X.shape) < missing, np.nan, X)
    kept = ~np.isnan(holed).all(axis=1)
    holed, y, whole = holed[kept], y[kept], X[kept]
    size = round(training * len(y))
    while True:
        order = rng.permutation(len(y))
        train, test = order[:size], order[size:]
        if len(np.unique(y[train])) == 2 and len(np.unique(y[test])) == 2:
            return Split(holed, y, train, test, whole)
