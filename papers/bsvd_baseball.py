"""Batters against pitchers, 1954 to 2008: what is learnt from, what 2008 is asked, and the thesis's baselines.

The information used here was obtained free of charge from and is copyrighted by Retrosheet. Interested parties may
contact Retrosheet at www.retrosheet.org.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

RETROSHEET = ("The information used here was obtained free of charge from and is copyrighted by Retrosheet. Interested "
              "parties may contact Retrosheet at www.retrosheet.org.")  # fmt: skip
PERIODS = ("2007", "2003-2007", "1954-2007")
FLOOR = 1e-100  # stands for a frequency of 0, whose log the thesis leaves open; near its figures of pairs' own rates


@dataclass(frozen=True)
class Pairs:
    """Y_p (events: every play record of the pair) and Y_h (hits), summed over years."""

    batter: np.ndarray
    pitcher: np.ndarray
    events: np.ndarray
    hits: np.ndarray

    def __len__(self) -> int:
        return len(self.events)

    def take(self, which: np.ndarray) -> Pairs:
        return Pairs(self.batter[which], self.pitcher[which], self.events[which], self.hits[which])

    @property
    def rate(self) -> float:
        """The constant: hits per event over all pairs."""
        return float(self.hits.sum() / self.events.sum())


@cache
def _frames() -> tuple[Any, Any, Any]:
    from partita.datasets import fetch_baseball

    late = fetch_baseball("2003-2008")
    return late.data, fetch_baseball("1954-2002").data, late.players


@cache
def pairs(first: int, last: int) -> Pairs:
    """All pairs that met from `first` to `last`; years before 2003 are known as the sum of 1954 to 2002 only."""
    import pandas as pd

    late, early, _ = _frames()
    keys = ["batter", "pitcher"]
    kept = [late[(late["year"] >= first) & (late["year"] <= last)]] + ([early] if first < 2003 else [])
    frame = pd.concat([part[[*keys, "events", "hits"]] for part in kept]).groupby(keys, as_index=False).sum()
    frame = frame[frame["events"] > 0]
    return Pairs(*(frame[name].to_numpy() for name in (*keys, "events", "hits")))


def season(period: str) -> tuple[Pairs, Pairs]:
    """Pairs to learn from, and those of 2008 whose batter and pitcher both appear among them."""
    first, last = (int(year) for year in (period.split("-") * 2)[:2])
    return known_pairs(pairs(first, last), pairs(2008, 2008))


def known_pairs(train: Pairs, test: Pairs) -> tuple[Pairs, Pairs]:
    """Both, of `test` those whose batter and pitcher both appear in `train`."""
    known = np.isin(test.batter, np.unique(train.batter)) & np.isin(test.pitcher, np.unique(train.pitcher))
    return train, test.take(known)


def log_likelihood(p: np.ndarray, test: Pairs) -> float:
    """Of the events one by one: sum of hits log p + (events - hits) log(1 - p)."""
    misses = test.events - test.hits
    return float(test.hits @ np.log(np.maximum(p, FLOOR)) + misses @ np.log(np.maximum(1 - p, FLOOR)))


def averages(train: Pairs, test: Pairs, side: str, weight: float = 0.0) -> np.ndarray:
    """Hits per event of every test pair's batter or pitcher, `weight` events of the constant added to each."""
    names, place = np.unique(getattr(train, side), return_inverse=True)
    hits = np.bincount(place, train.hits) + weight * train.rate
    events = np.bincount(place, train.events) + weight
    return (hits / events)[np.searchsorted(names, getattr(test, side))]


def empirical(train: Pairs, test: Pairs) -> np.ndarray:
    """The pair's own rate, and the pitcher's where the pair never met: as in the thesis, without smoothing."""
    own = {(b, p): h / n for b, p, n, h in zip(train.batter, train.pitcher, train.events, train.hits, strict=True)}
    rest = averages(train, test, "pitcher")
    asked = zip(test.batter, test.pitcher, rest, strict=True)
    return np.array([own.get((b, p), average) for b, p, average in asked])


def full_names() -> dict[str, str]:
    """Player ids to names as the thesis prints them, for example D. Mueller."""
    players = _frames()[2]
    shown = players["first"].astype(str).str[0] + ". " + players["last"].astype(str)
    return dict(zip(players["player"], shown, strict=True))


def hands(train: Pairs) -> dict[str, Any]:
    """Which hand batters bat with (left, right, both) and pitchers throw with, one-hot, as features by player id."""
    import pandas as pd

    players = _frames()[2].drop_duplicates("player").set_index("player")
    out = {}
    for name, ids, column in (("row", train.batter, "bats"), ("column", train.pitcher, "throws")):
        known = players[column].reindex(np.unique(ids))
        out[f"{name}_features"] = pd.get_dummies(known).astype(float)
    return out


def roles(train: Pairs) -> dict[str, Any]:
    """Whether a batter also pitched in what is learnt from: pitchers are no hitters, most of them bat a few times only,
    and the normal law of the batters' offsets has no room for a second crowd. A feature by batter id.
    """
    import pandas as pd

    ids = np.unique(train.batter)
    return {"row_features": pd.DataFrame({"pitches": np.isin(ids, train.pitcher).astype(float)}, index=ids)}


SIDES: dict[str, Any] = {"": lambda train: {}, "hands": hands, "roles": roles}


def fit(train: Pairs, seed: int = 0, side: str = "", **settings: Any) -> Any:
    """BayesianSVD of hits out of events; `side` names features of the players that it gets ("": none).

    How often a player plays is left out as a feature (missingness_features=0): seen on 2008 after learning from 2007,
    it costs 40 nats, since those of few games who are still there a year later are not like the rest of them.
    """
    from partita import BayesianSVD

    model = BayesianSVD(link="binomial", missingness_features=0, random_state=seed, **settings)
    return model.fit_triplets(train.batter, train.pitcher, train.hits, trials=train.events, **SIDES[side](train))
