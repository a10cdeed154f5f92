import gzip
import hashlib
import shutil
import zipfile

import numpy as np
import pandas as pd
import pytest

from partita import datasets
from partita.data import fetches, learn_schema, shelf


def test_breast_cancer_holed():
    table = datasets.load_breast_cancer_holed(fraction=0.25, random_state=0)
    assert table.data.shape == (569, 30) and abs(table.data.isna().to_numpy().mean() - 0.25) < 0.01
    array, y = datasets.load_breast_cancer_holed(as_frame=False, return_X_y=True)
    assert isinstance(array, np.ndarray) and np.array_equal(np.isnan(array), table.data.isna()) and y.mean() > 0.6


def test_digits_odd_even():
    X, y = datasets.load_digits_odd_even(fraction=0.1, return_X_y=True)
    assert X.shape == (1797, 30) and set(np.unique(X[~np.isnan(X)])) == {0.0, 1.0}
    assert abs(np.isnan(X).mean() - 0.1) < 0.01 and 0.45 < y.mean() < 0.55


def test_tic_tac_toe_by_its_rules():
    table = datasets.load_tic_tac_toe()
    assert table.data.shape == (958, 9) and table.target.sum() == 626 and len(table.data.drop_duplicates()) == 958
    cells = table.data.to_numpy()
    moves = (cells == "x").sum(axis=1) - (cells == "o").sum(axis=1)
    wins = {who: np.any([np.all(cells[:, line] == who, axis=1) for line in table.lines], axis=0) for who in "xo"}
    assert set(moves) == {0, 1} and not (wins["x"] & wins["o"]).any()
    assert np.array_equal(wins["x"], table.target == 1)
    assert (wins["x"] | wins["o"] | (cells != "b").all(axis=1)).all()  # the game had ended
    assert (moves[wins["x"]] == 1).all() and (moves[wins["o"]] == 0).all()  # by the last move
    array, y = datasets.load_tic_tac_toe(as_frame=False, return_X_y=True)
    assert np.array_equal(array, cells) and np.array_equal(y, table.target)


@pytest.mark.data
def test_tic_tac_toe_is_the_published_table(published_data):
    table, published = datasets.load_tic_tac_toe(), datasets.fetch_uci("tic-tac-toe")
    ours = {(*row, won) for row, won in zip(map(tuple, table.data.to_numpy()), table.target, strict=True)}
    theirs = zip(map(tuple, published.data.to_numpy()), published.target, strict=True)
    assert ours == {(*row, int(won == "p")) for row, won in theirs}


def test_components_come_from_the_training_part_only():
    rng = np.random.default_rng(0)
    train, test = rng.normal(size=(50, 6)), rng.normal(size=(20, 6))
    alone = datasets.binarised_components(train, 3)[0]
    first, second = datasets.binarised_components(train, 3, test)
    assert np.array_equal(alone, first) and second.shape == (20, 3)


@pytest.mark.data
def test_every_uci_table_agrees_with_the_index(published_data):
    lines = shelf.index()
    names = datasets.list_uci()
    assert len(names) >= 46
    for name in ("horse-colic", "voting", "lenses", "anneal", "zoo"):
        table = datasets.fetch_uci(name)
        assert table.data.shape == (int(lines[name]["rows"]), int(lines[name]["features"]))
        assert len(table.target_names) == int(lines[name]["classes"]) and "Licence" in table.description
        kinds = list(table.column_kinds.values())
        assert kinds.count("categorical") == int(lines[name]["categorical"])
        assert learn_schema(table.data, table.column_kinds).kinds == tuple(table.column_kinds[c] for c in table.data)


@pytest.mark.data
def test_collections(published_data):
    mnist = datasets.fetch_mnist()
    assert mnist.data.shape == (70000, 784) and mnist.n_train == 60000 and list(mnist.target[:5]) == [5, 0, 4, 1, 9]
    news = datasets.fetch_newsgroups()
    assert news.data.shape == (16242, 100) and len(news.feature_names) == 100 and len(set(news.target)) == 4
    mines = datasets.fetch_landmine()
    assert (
        mines.tasks.nunique() == 19
        and mines.tasks.notna().sum() == 9674
        and list(mines.data) == [f"f{i}" for i in range(1, 10)]
    )
    assert (datasets.fetch_letters().target == "j").sum() == 189
    assert "variable asia" in datasets.fetch_network("asia")
    small = datasets.fetch_movielens("100k")
    assert small.ratings.shape == (100000, 5) and len(small.users) == 943 and "redistribution" in small.description
    assert "Retrosheet" in datasets.fetch_baseball().description


@pytest.mark.data
def test_unknown_names_are_answered_with_the_known(published_data):
    with pytest.raises(ValueError, match=r"name='iriss'.*iris"):
        datasets.fetch_uci("iriss")
    with pytest.raises(ValueError, match="asia"):
        datasets.fetch_network("asiaa")


def test_absent_data_says_what_to_set(monkeypatch, tmp_path):
    monkeypatch.delenv("PARTITA_DATA", raising=False)
    for call in (datasets.list_uci, lambda: datasets.fetch_uci("iris"), datasets.fetch_newsgroups):
        with pytest.raises(FileNotFoundError, match="PARTITA_DATA"):
            call()
    monkeypatch.setenv("PARTITA_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"index\.csv"):
        datasets.fetch_uci("iris")


def make_folder(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    (folder / "uci").mkdir(parents=True)
    table = folder / "uci" / "tiny.csv.gz"
    pd.DataFrame({"a": [1, 2, None], "b": [3, 1, 2], "class": ["x", "y", "x"]}).to_csv(table, index=False)
    sha = hashlib.sha256(table.read_bytes()).hexdigest()
    header = "name,file,rows,features,target,source,licence,note,sha256"
    (folder / "index.csv").write_text(f"{header}\ntiny,uci/tiny.csv.gz,3,2,class,here,free,,{sha}\n")
    kinds = (
        "dataset,column,role,kind\ntiny,a,feature,numeric\ntiny,b,feature,categorical\ntiny,class,target,categorical\n"
    )
    (folder / "columns.csv").write_text(kinds)
    monkeypatch.setenv("PARTITA_DATA", str(folder))
    return table


def test_a_folder_of_ones_own(tmp_path, monkeypatch):
    make_folder(tmp_path, monkeypatch)
    table = datasets.fetch_uci("tiny")
    assert table.column_kinds == {"a": "real", "b": "categorical"} and list(table.target) == ["x", "y", "x"]
    assert table.data["a"].isna().sum() == 1


def test_a_changed_file_is_refused(tmp_path, monkeypatch):
    table = make_folder(tmp_path, monkeypatch)
    table.write_bytes(gzip.compress(b"a,b,class\n1,2,x\n"))
    with pytest.raises(ValueError, match=r"tiny\.csv\.gz is not the published file"):
        datasets.fetch_uci("tiny")


def serve(monkeypatch, tmp_path):
    """A cache of its own, and a folder that stands for the official place."""
    monkeypatch.delenv("PARTITA_DATA", raising=False)
    monkeypatch.setenv("PARTITA_CACHE", str(tmp_path / "cache"))
    place = tmp_path / "official"
    place.mkdir()
    return place


def idx(array):
    return gzip.compress(bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">i4").tobytes() + array.tobytes())


def test_mnist_download_is_cached_and_checked(monkeypatch, tmp_path):
    place = serve(monkeypatch, tmp_path)
    rng = np.random.default_rng(0)
    parts = {}
    for key, (file, _) in fetches._MNIST_FILES.items():
        n = 6 if "train" in key else 4
        array = rng.integers(0, 10, (n, 28, 28) if key[0] == "x" else n).astype(np.uint8)
        (place / file).write_bytes(idx(array))
        parts[key] = (file, hashlib.sha256((place / file).read_bytes()).hexdigest())
    monkeypatch.setattr(fetches, "_MNIST_FILES", parts)
    monkeypatch.setattr(fetches, "_MNIST", place.as_uri() + "/")
    mnist = datasets.fetch_mnist()
    assert mnist.data.shape == (10, 784) and mnist.n_train == 6 and mnist.target.shape == (10,)
    shutil.rmtree(place)
    assert np.array_equal(datasets.fetch_mnist().data, mnist.data)  # from the cache


def test_a_foreign_download_is_refused_and_not_kept(monkeypatch, tmp_path):
    place = serve(monkeypatch, tmp_path)
    (place / "ml-1m.zip").write_bytes(b"not the file")
    monkeypatch.setattr(fetches, "_MOVIELENS", place.as_uri() + "/")
    with pytest.raises(ValueError, match="not the published file"):
        datasets.fetch_movielens("1m")
    assert not list((tmp_path / "cache").iterdir())
    with pytest.raises(ConnectionError, match="PARTITA_DATA"):
        datasets.fetch_movielens("100k")


def test_movielens_archives_are_parsed(monkeypatch, tmp_path):
    place = serve(monkeypatch, tmp_path)
    flags = "|".join("0" * 19)
    small = {"u.data": "1\t2\t5\t10\n2\t1\t3\t11\n", "u.user": "1|24|M|technician|85711\n",
             "u.item": f"1|Toy Story (1995)|01-Jan-1995||http://x|{flags}\n", "u1.test": "1\t2\t5\t10\n",
             "u2.test": "2\t1\t3\t11\n", "u3.test": "", "u4.test": "", "u5.test": ""}  # fmt: skip
    large = {
        "ratings.dat": "1::2::5::10\n",
        "users.dat": "1::F::1::10::48067\n",
        "movies.dat": '1::"Toy" Story (1995)::A|B\n',
    }
    sums = {}
    for size, files in (("100k", small), ("1m", large)):
        with zipfile.ZipFile(place / f"ml-{size}.zip", "w") as archive:
            for name, text in files.items():
                archive.writestr(f"ml-{size}/{name}", text)
        sums[size] = hashlib.sha256((place / f"ml-{size}.zip").read_bytes()).hexdigest()
    monkeypatch.setattr(fetches, "_MOVIELENS_SUMS", sums)
    monkeypatch.setattr(fetches, "_MOVIELENS", place.as_uri() + "/")
    first, second = datasets.fetch_movielens("100k"), datasets.fetch_movielens("1m")
    assert list(first.ratings["fold"]) == [1, 2] and first.movies.shape == (1, 22)
    assert second.movies.loc[0, "year"] == 1995 and second.movies.loc[0, "title"] == '"Toy" Story (1995)'
    assert second.users.loc[0, "zip"] == 48067
