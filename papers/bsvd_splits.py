"""MovieLens as the thesis on Bayesian SVD cuts it: ratings to learn from, ratings to ask for, features of both sides.

Ids are those of the files. Ratings are sorted by (user, movie) first, so that a seed alone fixes a split.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

USERS = 5000  # of a Marlin-like partition
SEEDS = (6101, 6102, 6103)  # of the three partitions, drawn anew: those of Marlin (2004) were not found
NMAE_SCALE = 1.6  # expected absolute difference of two uniform ratings from 1 to 5 [Marlin 2004]
AGES_1M = (1, 18, 25, 35, 45, 50, 56)  # Table 5.1: under 18, 18-24, ..., 56 and over
BANDS_100K = (18, 25, 35, 45, 50, 56)


@dataclass(frozen=True)
class Ratings:
    """Some entries: ids of users and of movies, and the stars."""

    user: np.ndarray
    movie: np.ndarray
    stars: np.ndarray

    def __len__(self) -> int:
        return len(self.stars)

    def take(self, which: np.ndarray) -> Ratings:
        return Ratings(self.user[which], self.movie[which], self.stars[which])


@dataclass(frozen=True)
class Split:
    """What is learnt from and what is asked; `size` is "1m" or "100k", `seed` None where it is published."""

    name: str
    size: str
    train: Ratings
    test: Ratings
    seed: int | None = None

    def part(self, n: int, seed: int = 0) -> Split:
        """A small version for trials: the n users with the most common ids, all their ratings."""
        users = np.random.default_rng(seed).permutation(np.unique(self.train.user))[:n]
        cut = [half.take(np.isin(half.user, users)) for half in (self.train, self.test)]
        return replace(self, name=f"{self.name}, {n} users", train=cut[0], test=cut[1])


@cache
def ratings(size: str) -> tuple[Ratings, np.ndarray | None]:
    """All ratings sorted by user and movie, and which belong to the published test set (None: not known)."""
    from partita.datasets import fetch_movielens

    frame = fetch_movielens(size).ratings.sort_values(["user", "item"])
    out = Ratings(frame["user"].to_numpy(), frame["item"].to_numpy(), frame["rating"].to_numpy(float))
    if size == "100k":
        return out, frame["fold"].to_numpy() == 1
    return out, (frame["split"] == "probe").to_numpy() if "split" in frame else None


def marlin(seed: int) -> Split:
    """Weak generalisation [Marlin 2004]: 5,000 random users of MovieLens 1M, one random rating of each held out."""
    whole, _ = ratings("1m")
    rng = np.random.default_rng(seed)
    users = rng.permutation(np.unique(whole.user))[:USERS]
    kept = whole.take(np.isin(whole.user, users))
    order = rng.permutation(len(kept))
    test = np.zeros(len(kept), bool)
    test[order[np.unique(kept.user[order], return_index=True)[1]]] = True  # the first of each user in random order
    return Split(f"Marlin-like, seed {seed}", "1m", kept.take(~test), kept.take(test), seed)


def share(fraction: float, seed: int, size: str = "1m") -> Split:
    """A random share of all ratings to learn from, the others asked (Figure 5.6)."""
    whole, _ = ratings(size)
    order = np.random.default_rng(seed).permutation(len(whole))
    n = round(fraction * len(whole))
    return Split(f"{fraction:.0%} of {size}, seed {seed}", size, whole.take(order[:n]), whole.take(order[n:]), seed)


def bpmf() -> Split:
    """MovieLens 1M as Salakhutdinov and Mnih's code cuts it: 900,000 and 100,209 ratings."""
    whole, probe = ratings("1m")
    if probe is None:
        raise ValueError("The BPMF split is not in the official download: set PARTITA_DATA to the folder that has it.")
    return Split("BPMF split", "1m", whole.take(~probe), whole.take(probe))


def fold_one() -> Split:
    """MovieLens 100K, first official fold (u1.base, u1.test)."""
    whole, test = ratings("100k")
    assert test is not None
    return Split("ML-100K fold 1", "100k", whole.take(~test), whole.take(test))


@cache
def user_features(size: str) -> Any:
    """Gender, age band and occupation one-hot, a line per user id: 2 + 7 + 21 = 30 columns (Table 5.1; the text counts
    29).
    """
    import pandas as pd

    from partita.datasets import fetch_movielens

    users = fetch_movielens(size).users.sort_values("user")
    age = users["age"].to_numpy()
    band = np.searchsorted(AGES_1M, age) if size == "1m" else np.searchsorted(BANDS_100K, age, side="right")
    blocks = [one_hot(users["gender"]), one_hot(band), one_hot(users["occupation"])]
    return pd.DataFrame(np.hstack(blocks), index=users["user"].to_numpy())


@cache
def movie_features(size: str) -> Any:
    """Genres as 0/1, a line per movie id: 18 of 1M and one for none of them, 19 of 100K."""
    import pandas as pd

    from partita.datasets import fetch_movielens

    movies = fetch_movielens(size).movies.sort_values("item")
    if size == "1m":
        flags = movies["genres"].str.get_dummies("|").to_numpy(float)
        flags = np.column_stack([flags, flags.sum(axis=1) == 0])
    else:
        flags = movies.iloc[:, -19:].to_numpy(float)
    return pd.DataFrame(flags.astype(float), index=movies["item"].to_numpy())


def one_hot(column: Any) -> np.ndarray:
    return (np.asarray(column)[:, None] == np.unique(column)[None, :]).astype(float)


def mask_vectors(train: Ratings, n: int = 10) -> tuple[Any, Any]:
    """The first n left and right singular vectors of the 0/1 mask of the training ratings, times the root of their
    lengths so that a feature has unit mean square: a frame by user and one by movie.
    """
    import pandas as pd
    from scipy.sparse import csr_matrix
    from scipy.sparse.linalg import svds

    users, row = np.unique(train.user, return_inverse=True)
    movies, column = np.unique(train.movie, return_inverse=True)
    mask = csr_matrix((np.ones(len(train)), (row, column)), shape=(len(users), len(movies)))
    left, _, right = svds(mask, k=n, random_state=0)
    by_user = pd.DataFrame(left * np.sqrt(len(users)), index=users)
    return by_user, pd.DataFrame(right.T * np.sqrt(len(movies)), index=movies)


def features(split: Split, code: str = "1010") -> dict[str, Any]:
    """Side information by the code of Table 5.2, as arguments of `fit_triplets`: movie genre, movie missingness, user
    data, user missingness, each 0 or 1. Users without a rating to learn from are left out; movies are all there, and
    those without missingness vectors have zeros.
    """
    import pandas as pd

    of_user, of_movie = mask_vectors(split.train) if "1" in code[1::2] else (None, None)
    out: dict[str, Any] = {}
    sides = (("row", np.unique(split.train.user), user_features, of_user, code[2:]),
             ("column", None, movie_features, of_movie, code[:2]))  # fmt: skip
    for name, ids, known, vectors, flags in sides:
        ids = known(split.size).index if ids is None else ids
        blocks = [known(split.size).loc[ids]] if flags[0] == "1" else []
        blocks += [vectors.reindex(ids, fill_value=0.0)] if flags[1] == "1" else []
        if blocks:
            out[f"{name}_features"] = pd.DataFrame(np.hstack([b.to_numpy() for b in blocks]), index=ids)
    return out


def scores(mean: np.ndarray, test: Ratings, median: np.ndarray | None = None) -> dict[str, float]:
    """RMSE of predictions clipped to 1 .. 5, NMAE of those ROUNDED to stars (so the figures of Table 5.2 come out), and
    NMAE of the ordinal median where there is one.
    """
    clipped = np.clip(mean, 1, 5)
    out = {
        "rmse": float(np.sqrt(np.mean((clipped - test.stars) ** 2))),
        "nmae": float(np.abs(np.rint(clipped) - test.stars).mean() / NMAE_SCALE),
    }
    if median is not None:
        out["nmae_median"] = float(np.abs(median - test.stars).mean() / NMAE_SCALE)
    return out
