"""Ratings made up with known truth: people with tastes, films with traits, and holes that are not at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from partita.data.files import need_pandas

GENRES = ("comedy", "drama", "horror", "western")
_TASTE, _LIKING = 0.55, 0.6


def make_ratings(
    n_users: int = 300, n_films: int = 150, n_factors: int = 3, mean_ratings: float = 25.0, random_state: Any = 0
) -> Bunch:
    """Stars from 1 to 5 that some users gave to some films.

    Every film has a genre and every user an age; both shape the factors in part. Users differ in how many films they
    rate, films in how often they are rated, and a film that a user would like is rated more often: the pattern of holes
    tells something.

    n_factors       factors beside the offsets of users and films.
    mean_ratings    ratings of a user on average.

    Returns a Bunch with ratings (frame user, film, stars), users (frame of their age, index user), films
    (frame of 0/1 columns, index film), expected (frame users by films, what stars are noise around) and description.
    """
    pd = need_pandas("make_ratings")
    rng = np.random.default_rng(random_state)
    genre, age = rng.integers(len(GENRES), size=n_films), rng.uniform(15, 75, size=n_users)
    traits = 0.7 * rng.normal(size=(len(GENRES), n_factors))[genre] + 0.7 * rng.normal(size=(n_films, n_factors))
    taste = 0.5 * np.outer((age - 45) / 17, rng.normal(size=n_factors)) + 0.85 * rng.normal(size=(n_users, n_factors))
    liking = _TASTE * taste @ traits.T
    expected = 3.4 + 0.4 * rng.normal(size=(n_users, 1)) + 0.45 * rng.normal(size=n_films) + liking
    pull = rng.normal(0, 0.8, size=(n_users, 1)) + rng.normal(0, 0.8, size=n_films) + _LIKING * liking
    seen = rng.random(liking.shape) < _chances(pull, mean_ratings / n_films)
    noise = rng.gamma(4.0, 0.25, size=(n_users, 1)) ** -0.5 * 0.7 * rng.normal(size=liking.shape)
    row, column = np.nonzero(seen)
    stars = np.clip(np.rint(expected + noise), 1, 5).astype(int)[row, column]
    users, films = [f"user {k:03d}" for k in range(n_users)], [f"film {k:03d}" for k in range(n_films)]
    return Bunch(
        ratings=pd.DataFrame({"user": np.array(users)[row], "film": np.array(films)[column], "stars": stars}),
        users=pd.DataFrame({"age": age.round(1)}, index=pd.Index(users, name="user")),
        films=pd.DataFrame({name: (genre == k).astype(int) for k, name in enumerate(GENRES)},
                           index=pd.Index(films, name="film")),
        expected=pd.DataFrame(expected, index=users, columns=films),
        description=f"{len(row):,} made-up ratings of {n_films} films by {n_users} users, {n_factors} factors.",
    )  # fmt: skip


def _chances(pull: np.ndarray, share: float) -> np.ndarray:
    """1 / (1 + exp(-(pull + c))), with c such that they are `share` on average."""
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 / (1 + np.exp(-pull - middle))).mean() < share else (low, middle)
    return 1 / (1 + np.exp(-pull - low))
