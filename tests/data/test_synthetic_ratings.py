"""Made-up ratings: their shape, their seed, and holes that tell something."""

import numpy as np
import pytest

from partita.datasets import make_ratings


def test_ratings_are_stars_of_known_users_and_films():
    made = make_ratings(80, 40, random_state=1)
    assert set(made.ratings["stars"]) <= {1, 2, 3, 4, 5}
    assert set(made.ratings["user"]) <= set(made.users.index) and set(made.ratings["film"]) <= set(made.films.index)
    assert made.expected.shape == (80, 40) and (made.films.sum(axis=1) == 1).all()
    assert len(made.ratings) == pytest.approx(80 * 25, rel=0.1)
    assert not made.ratings.duplicated(["user", "film"]).any()


def test_the_seed_decides():
    assert make_ratings(20, 15, random_state=3).ratings.equals(make_ratings(20, 15, random_state=3).ratings)
    assert not make_ratings(20, 15, random_state=3).ratings.equals(make_ratings(20, 15, random_state=4).ratings)


def test_what_is_liked_is_rated_more_often():
    made = make_ratings(200, 100, random_state=0)
    rows, columns = (made.expected.index.get_indexer(made.ratings["user"]),
                     made.expected.columns.get_indexer(made.ratings["film"]))  # fmt: skip
    seen = made.expected.to_numpy()[rows, columns]
    assert seen.mean() > made.expected.to_numpy().mean() + 0.05
    assert np.corrcoef(seen, made.ratings["stars"])[0, 1] > 0.6
