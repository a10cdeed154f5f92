import sys

import pandas as pd
import pytest

from partita.data import learn_schema
from partita.data.files import check_output, read_frame, suffix_of, write_frame

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


def test_folders_and_names_without_an_ending_are_told(tmp_path):
    (tmp_path / "table").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is a folder"):
        read_frame(tmp_path)
    with pytest.raises(ValueError, match=r"without an ending.*Call it \.csv"):
        read_frame(tmp_path / "table")


def test_without_duckdb_csv_works_and_the_rest_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    write_frame(TABLE, tmp_path / "t.csv")
    assert len(read_frame(tmp_path / "t.csv")) == 3
    write_frame(TABLE, tmp_path / "t.json")
    with pytest.raises(ImportError, match=r"partita\[cli\]"):
        read_frame(tmp_path / "t.json")


def test_suffix_looks_under_the_packing():
    assert suffix_of("a/b.c.CSV.gz") == ".csv" and suffix_of("x.parquet") == ".parquet"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "a,b\n1,2,3\n4,5,6\n", r"t\.csv.*header names 2 columns but the first row holds 3 fields"),
        ("t.csv", "a,b\n1,2,3,4\n4,5,6,7\n", r"header names 2 columns but the first row holds 4 fields"),
        ("t.csv", "a,b\n1,2,\n4,5,\n", r"remove a ',' at the end of rows"),
        ("t.tsv", "a\tb\n1\t2\t3\n", r"header names 2 columns but the first row holds 3 fields"),
        ("t.csv", "a,b,a\n1,2,3\n", r"t\.csv.*header names 'a' more than once"),
        ("t.csv", '"a",b,a.1,a,b\n1,2,3,4,5\n', r"header names 'a', 'b' more than once"),
        ("t.csv", "a;b\n1;2\n3;4\n", r"t\.csv.*one column, 'a;b', whose name holds ';'"),
        ("t.csv", "a\tb\n1\t2\n3\t4\n", r"tabs: call it \.tsv"),
        ("t.tsv", "a,b\n1,2\n", r"one column, 'a,b', whose name holds ','"),
        ("t.csv", "a;b\n1,5;2\n", r"holds ';'"),
    ],
)
def test_a_text_file_that_is_not_what_it_seems(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_frame(tmp_path / name)


def test_names_that_only_look_alike_and_unnamed_columns_are_read(tmp_path):
    (tmp_path / "t.csv").write_text(',a,A,a.1,"a,b",\n1,2,3,4,5,6\n')
    assert list(read_frame(tmp_path / "t.csv").columns) == ["Unnamed: 0", "a", "A", "a.1", "a,b", "Unnamed: 5"]


@pytest.mark.parametrize("name", ["t.parquet", "t.json", "t.csv"])
def test_marks_of_missing_among_numbers(tmp_path, name):
    frame = pd.DataFrame({"n": [1, -9, 3], "r": [0.5, -9.0, 1.0], "t": ["-9", "?", "x"], "b": [True, False, True]})
    write_frame(frame, tmp_path / name)
    back = read_frame(tmp_path / name, ["-9", "?"])
    assert back.isna().to_numpy().tolist() == [[False, False, True, False], [True, True, True, False], [False] * 4]
    if name != "t.json":  # DuckDB reads a negative integer of JSON as a double
        assert learn_schema(back).kinds == ("count", "real", "binary", "binary")


def test_an_output_is_checked_before_the_work(tmp_path):
    check_output(tmp_path / "t.csv.gz")
    check_output(tmp_path / "model", table=False)
    with pytest.raises(ValueError, match=r"o\.xlsx.*none of \.csv"):
        check_output(tmp_path / "o.xlsx")
    with pytest.raises(ValueError, match=r"no folder .*nowhere"):
        check_output(tmp_path / "nowhere" / "o.csv")
    with pytest.raises(ValueError, match="it is a folder"):
        check_output(tmp_path, table=False)
    (tmp_path / "t.csv").write_text("a\n1\n")
    with pytest.raises(ValueError, match="it is read here"):
        check_output(tmp_path / "t.csv", sources=[tmp_path / "x.csv", tmp_path / "." / "t.csv"])


@pytest.mark.filterwarnings("error")
def test_reading_and_writing_warn_of_nothing(tmp_path):
    for name in ("t.csv", "t.parquet", "t.json"):
        write_frame(TABLE, tmp_path / name)
        read_frame(tmp_path / name)


def test_what_was_read_is_what_was_written(tmp_path):
    """Codes with leading zeros, words that look like numbers, and the last digit of a number."""
    (tmp_path / "t.csv").write_text("zip,n,code,r\n01234,1,7,0.30000000000000004\n,2,,1.1\n00501,,8,\n")
    frame = read_frame(tmp_path / "t.csv", text=["code", "not there"])
    assert frame["zip"].tolist() == ["01234", pd.NA, "00501"] and frame["code"].tolist() == ["7", pd.NA, "8"]
    assert frame["r"][0] == 0.30000000000000004 and frame["n"].dtype == "Int64"
    write_frame(frame, tmp_path / "u.csv")
    assert (tmp_path / "u.csv").read_text() == (tmp_path / "t.csv").read_text()


def test_text_of_json_stays_text_where_it_looks_like_a_date(tmp_path):
    (tmp_path / "t.json").write_text(
        '[{"it\'s": "2024-01-02", "n": 1, "code": 7}, {"it\'s": "2024-1-3", "n": null, "code": 8},'
        ' {"it\'s": null, "n": 3, "code": 7}]'
    )
    frame = read_frame(tmp_path / "t.json", text=["code", "not there"])
    assert frame["it's"].tolist()[:2] == ["2024-01-02", "2024-1-3"] and frame["it's"].isna().tolist()[2]
    assert frame["n"].dtype == "Int64" and frame["code"].tolist() == ["7", "8", "7"]
    (tmp_path / "u.jsonl").write_text('{"at": "10:00", "stamp": "2024-01-02 10:00:00"}\n{"at": "11:00"}\n')
    frame = read_frame(tmp_path / "u.jsonl")
    assert frame["at"].tolist() == ["10:00", "11:00"] and frame["stamp"][0] == "2024-01-02 10:00:00"


def test_several_text_files_are_read_as_one(tmp_path):
    """Holes, codes and words by the rules of one file, whatever each of the parts holds; columns by name."""
    (tmp_path / "p1.csv").write_text("zip,n,x,day\n12345,1,NA,2024-01-02\n,2,?,2024-01-03\n")
    (tmp_path / "p2.csv").write_text('n,zip,x,day\n,01234,2.5,"a, ""b"""\n')
    frame = read_frame(f"{tmp_path}/p*.csv", ["?"])
    assert frame["zip"].tolist() == ["12345", pd.NA, "01234"] and frame["n"].dtype == "Int64"
    assert frame["x"].tolist() == [pd.NA, pd.NA, 2.5]
    assert frame["day"].tolist() == ["2024-01-02", "2024-01-03", 'a, "b"']
    assert read_frame(f"{tmp_path}/p*.csv", ["?"], ["n"])["n"].tolist() == ["1", "2", pd.NA]


def test_several_text_files_of_different_tables(tmp_path):
    (tmp_path / "p1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "p2.csv").write_text("a,c\n1,2\n")
    with pytest.raises(ValueError, match=r"p1\.csv.*p2\.csv.*different columns \('b', 'c'"):
        read_frame(f"{tmp_path}/p*.csv")
    (tmp_path / "p2.csv").write_text("a,b\n1,2,3\n")
    with pytest.raises(ValueError, match=r"p2\.csv.*header names 2 columns but the first row holds 3"):
        read_frame(f"{tmp_path}/p*.csv")
    with pytest.raises(FileNotFoundError, match=r"q\*\.csv"):
        read_frame(f"{tmp_path}/q*.csv")
