import sys

import pandas as pd
import pytest

from partita.data import learn_schema
from partita.data.files import read_frame, suffix_of, write_frame

TABLE = pd.DataFrame({"n": pd.array([1, None, 3], "Int64"), "t": ["a", None, "b"], "r": [0.5, 1.25, None]})


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.parquet", "t.json"])
def test_what_is_written_is_read(tmp_path, name):
    write_frame(TABLE, tmp_path / name)
    back = read_frame(tmp_path / name)
    assert back["n"].isna().tolist() == [False, True, False] and back["n"].dropna().tolist() == [1, 3]
    assert back["t"].dropna().tolist() == ["a", "b"] and back["r"].dropna().tolist() == [0.5, 1.25]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.json"])
def test_a_hole_does_not_change_the_kind(tmp_path, name):
    write_frame(TABLE, tmp_path / name)
    assert learn_schema(read_frame(tmp_path / name)).kinds == ("count", "binary", "real")


def test_marks_of_missing(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n?,x\n2,?\n3,-\n")
    frame = read_frame(tmp_path / "t.csv", ["?", "-"])
    assert frame["a"].dropna().tolist() == [2, 3] and frame["b"].isna().sum() == 2


def test_a_pattern_reads_several_files(tmp_path):
    for k in range(2):
        write_frame(TABLE, tmp_path / f"part-{k}.parquet")
    assert len(read_frame(f"{tmp_path}/part-*.parquet")) == 6


def test_errors_name_the_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        read_frame("nowhere.csv")
    (tmp_path / "e.csv").write_text("")
    with pytest.raises(ValueError, match=r"e\.csv"):
        read_frame(tmp_path / "e.csv")
    (tmp_path / "h.csv").write_text("a,b\n")
    with pytest.raises(ValueError, match="at least one row"):
        read_frame(tmp_path / "h.csv")
    (tmp_path / "p.parquet").write_text("no")
    with pytest.raises(ValueError, match="Parquet"):
        read_frame(tmp_path / "p.parquet")
    (tmp_path / "x.foo").write_text("a")
    with pytest.raises(ValueError, match="DuckDB"):
        read_frame(tmp_path / "x.foo")
    with pytest.raises(ValueError, match=r"\.xyz"):
        write_frame(TABLE, tmp_path / "t.xyz")


def test_without_duckdb_csv_works_and_the_rest_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    write_frame(TABLE, tmp_path / "t.csv")
    assert len(read_frame(tmp_path / "t.csv")) == 3
    write_frame(TABLE, tmp_path / "t.json")
    with pytest.raises(ImportError, match=r"partita\[cli\]"):
        read_frame(tmp_path / "t.json")


def test_suffix_looks_under_the_packing():
    assert suffix_of("a/b.c.CSV.gz") == ".csv" and suffix_of("x.parquet") == ".parquet"
