"""Published sets other than single tables: images, documents, ratings, several tasks."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from partita.data import shelf
from partita.data.files import need_pandas
from partita.data.sets import describe_line, read_packed_csv

_MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist/"
_MNIST_FILES = {
    "x_train": ("train-images-idx3-ubyte.gz", "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"),
    "y_train": ("train-labels-idx1-ubyte.gz", "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"),
    "x_test": ("t10k-images-idx3-ubyte.gz", "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"),
    "y_test": ("t10k-labels-idx1-ubyte.gz", "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"),
}
_MOVIELENS = "https://files.grouplens.org/datasets/movielens/"
_MOVIELENS_SUMS = {
    "100k": "50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
    "1m": "a6898adb50b9ca05aa231689da44c217cb524e7ebd39d264c56e2832f2c54e20",
}
_MOVIELENS_TERMS = (
    "MovieLens (Harper and Konstan 2015): research use with citation; no redistribution and no commercial use "
    "without the permission of GroupLens."
)
_GENRES_100K = (
    "unknown Action Adventure Animation Children's Comedy Crime Documentary Drama Fantasy Film-Noir Horror Musical "
    "Mystery Romance Sci-Fi Thriller War Western"
).split()


def fetch_mnist() -> Bunch:
    """MNIST: a Bunch with data (70000, 784) uint8, target (70000,) digits, n_train = 60000 (the first rows)."""
    path = shelf.local_file("mnist")
    if path is not None:
        with np.load(path) as arrays:
            parts = {name: arrays[name] for name in _MNIST_FILES}
    else:
        parts = {key: _read_idx(shelf.downloaded(_MNIST + file, sha)) for key, (file, sha) in _MNIST_FILES.items()}
    images = np.concatenate([parts["x_train"], parts["x_test"]])
    return Bunch(
        data=images.reshape(len(images), -1),
        target=np.concatenate([parts["y_train"], parts["y_test"]]).astype(np.int64),
        n_train=len(parts["x_train"]),
        description="MNIST handwritten digits (LeCun, Cortes): 28 x 28 grey pixels, 60000 to train, 10000 to test.",
    )


def fetch_newsgroups() -> Bunch:
    """20-newsgroups w100, documents by words.

    A Bunch with data (16242, 100) of 0 and 1 (word in document or not), target (names of four groups), feature_names
    (the words), target_names, description.
    """
    with np.load(shelf.require_file("20news-w100", "20-newsgroups w100")) as arrays:
        parts = {name: arrays[name] for name in ("X", "y", "words", "groups")}
    return Bunch(
        data=parts["X"],
        target=parts["groups"][parts["y"].astype(int) - 1],
        feature_names=parts["words"].tolist(),
        target_names=parts["groups"],
        description=describe_line(shelf.index()["20news-w100"]),
    )


def fetch_landmine() -> Bunch:
    """Landmine detection in 29 fields.

    A Bunch with data (frame f1..f9), target (1 = mine), tasks (1..19, missing in the other ten fields), fields (1..29),
    description.
    """
    frame = read_packed_csv(shelf.require_file("landmine", "The landmine data"))
    features = [name for name in frame.columns if name not in ("task", "task29", "class")]
    return Bunch(
        data=frame[features],
        target=frame["class"],
        tasks=frame["task"],
        fields=frame["task29"],
        description=describe_line(shelf.index()["landmine"]),
    )


def fetch_letters() -> Bunch:
    """Handwritten letters: a Bunch with data (52152, 128) of 0 and 1 (16 x 8 pixels), target (a..z), word, fold."""
    with np.load(shelf.require_file("letters", "The handwritten letters")) as arrays:
        parts = {name: arrays[name] for name in ("X", "y", "word", "fold")}
    return Bunch(
        data=parts["X"],
        target=parts["y"],
        word=parts["word"],
        fold=parts["fold"],
        description=describe_line(shelf.index()["letters"]),
    )


def fetch_baseball(years: str = "2003-2008") -> Bunch:
    """Major-league batters against pitchers.

    A Bunch with data (frame batter, pitcher, events, pa, ab, hits, and year where kept), players (frame), description.

    years       "2003-2008" (one line per year and pair) or "1954-2002" (summed over the years).
    """
    if years not in ("2003-2008", "1954-2002"):
        raise ValueError(f'years must be "2003-2008" or "1954-2002", got {years!r}. Add the two frames for all years.')
    name = f"mlb-pairs-{years}"
    return Bunch(
        data=read_packed_csv(shelf.require_file(name, f"The baseball data of {years}")),
        players=read_packed_csv(shelf.require_file("mlb-players", "The baseball players")),
        description=describe_line(shelf.index()[name]),
    )


def fetch_movielens(size: str = "100k") -> Bunch:
    """MovieLens ratings: a Bunch with ratings, users, movies (frames), description with the terms of use.

    size        "100k" or "1m".

    `ratings` has user, item, rating. Of 100k also timestamp and fold (the official test file that holds the row); of 1m
    also split (train or probe) from a data folder, timestamp from the official download.
    """
    if size not in _MOVIELENS_SUMS:
        raise ValueError(f'size must be "100k" or "1m", got {size!r}.')
    parts = {"ratings": "ratings", "users": "users", "movies": "items"}  # a Bunch is a dict, whose `items` is taken
    paths = {part: shelf.local_file(f"ml-{size}-{name}") for part, name in parts.items()}
    if all(paths.values()):
        frames = {part: read_packed_csv(path) for part, path in paths.items()}
    else:
        archive = shelf.downloaded(f"{_MOVIELENS}ml-{size}.zip", _MOVIELENS_SUMS[size])
        frames = _read_100k(archive) if size == "100k" else _read_1m(archive)
    return Bunch(**frames, description=_MOVIELENS_TERMS)


def fetch_network(name: str) -> str:
    """The text (BIF) of a Bayesian network of the bnlearn repository, for example "asia" or "alarm"."""
    known = [line[3:] for line in shelf.index() if line.startswith("bn-")]
    if known and name not in known:
        raise ValueError(f"name={name!r} is no network of the data folder. Known: {', '.join(known)}.")
    with gzip.open(shelf.require_file(f"bn-{name}", f"The network {name!r}"), "rt", encoding="utf-8") as file:
        return file.read()


def _read_idx(path: Path) -> np.ndarray:
    """An array in MNIST's own format: two zero bytes, type 8, the number of axes, their lengths, the bytes."""
    raw = gzip.decompress(path.read_bytes())
    n_axes = raw[3]
    shape = np.frombuffer(raw, ">i4", n_axes, offset=4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * n_axes).reshape(shape)


def _member(archive: Path, name: str, separator: str, columns: list[str], use: list[str] | None = None) -> Any:
    pd = need_pandas("Reading MovieLens")
    with zipfile.ZipFile(archive) as packed:
        text = packed.read(name).decode("latin-1")
    if separator == "::":  # pandas wants one character; no field of MovieLens holds a tab
        text, separator = text.replace("::", "\t"), "\t"
    return pd.read_csv(io.StringIO(text), sep=separator, names=columns, usecols=use, quoting=csv.QUOTE_NONE)


def _read_100k(archive: Path) -> dict[str, Any]:
    keys = ["user", "item", "rating", "timestamp"]
    ratings = _member(archive, "ml-100k/u.data", "\t", keys)
    folds = [_member(archive, f"ml-100k/u{k}.test", "\t", keys).assign(fold=k) for k in range(1, 6)]
    ratings = ratings.merge(need_pandas("Reading MovieLens").concat(folds), on=keys, how="left")
    users = _member(archive, "ml-100k/u.user", "|", ["user", "age", "gender", "occupation", "zip"])
    named = ["item", "title", "release_date", "video_date", "url", *_GENRES_100K]
    movies = _member(archive, "ml-100k/u.item", "|", named, ["item", "title", "release_date", *_GENRES_100K])
    return {"ratings": ratings, "users": users, "movies": movies}


def _read_1m(archive: Path) -> dict[str, Any]:
    movies = _member(archive, "ml-1m/movies.dat", "::", ["item", "title", "genres"])
    movies.insert(2, "year", movies["title"].str.extract(r"\((\d{4})\)\s*$", expand=False).astype("int64"))
    return {
        "ratings": _member(archive, "ml-1m/ratings.dat", "::", ["user", "item", "rating", "timestamp"]),
        "users": _member(archive, "ml-1m/users.dat", "::", ["user", "gender", "age", "occupation", "zip"]),
        "movies": movies,
    }
