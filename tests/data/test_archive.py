"""The file format: exact round trips, equal bytes, whole files only, and clear words about files that are not ours."""

import json
import math
import os
import struct
import subprocess
import sys
import time
import zipfile
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from partita.data import archive
from partita.data.archive import ArchiveError, archive_kind, read_archive, write_archive


def same(a, b):
    """Equal in type, value, dtype, shape and bytes, NaN included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a.items(), b.items()))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, (float, np.floating, np.complexfloating)):
        return a == b or (np.isnan(a) and np.isnan(b))
    return bool(a == b) or bool(np.isnat(a) and np.isnat(b))


dtypes = st.one_of(
    npst.boolean_dtypes(),
    npst.integer_dtypes(endianness="?"),
    npst.floating_dtypes(sizes=(16, 32, 64), endianness="?"),
    npst.complex_number_dtypes(),
    npst.datetime64_dtypes(),
    npst.unicode_string_dtypes(),
    npst.byte_string_dtypes(),
    npst.array_dtypes(allow_subarrays=True).filter(lambda dtype: repr(dtype.descr).isascii()),
)
arrays = npst.arrays(dtypes, npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
scalars = npst.arrays(
    st.one_of(npst.scalar_dtypes().filter(lambda d: d.type not in (np.longdouble, np.clongdouble))), ()
).map(lambda a: a[()])
leaves = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-(2**200), 2**200), st.floats(), st.text(), arrays, scalars
)
keys = st.one_of(st.text(), st.integers(), st.booleans(), st.tuples(st.text(), st.integers()))
trees = st.recursive(
    leaves,
    lambda t: st.one_of(
        st.lists(t, max_size=4), st.lists(t, max_size=4).map(tuple), st.dictionaries(keys, t, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=80)
@given(tree=trees)
def test_round_trip_is_exact_and_deterministic(tree, tmp_path_factory):
    path = tmp_path_factory.mktemp("archive") / "a"
    write_archive(path, "thing", tree)
    first = path.read_bytes()
    back = read_archive(path, "thing")
    assert same(back, tree)
    write_archive(path, "thing", back)
    assert path.read_bytes() == first


@pytest.mark.parametrize(
    "tree",
    [
        np.random.default_rng(3).bit_generator.state,
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(20).reshape(4, 5)[::2, ::-1],
        np.zeros(100_000),
        np.array(["a", "", "längste"]),
        np.str_("a\0"),
        np.void(b"ab"),
        np.zeros((0, 3), "<U5"),
        -0.0,
        10**5000,
    ],
    ids=lambda tree: type(tree).__name__,
)
def test_values_that_are_easy_to_lose(tree, tmp_path):
    write_archive(tmp_path / "a", "thing", tree)
    back = read_archive(tmp_path / "a")
    assert same(back, tree)
    if isinstance(tree, float):
        assert math.copysign(1, back) == math.copysign(1, tree)


def test_arrays_come_back_writable_and_in_their_memory_order(tmp_path):
    write_archive(tmp_path / "a", "thing", [np.asfortranarray(np.ones((300, 400))), np.ones(3)])
    large, small = read_archive(tmp_path / "a")
    assert large.flags.f_contiguous and large.flags.writeable and small.flags.writeable
    assert os.path.getsize(tmp_path / "a") < large.nbytes / 50


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ({"a": [0, {1, 2}]}, r"tree\['a'\]\[1\] is a builtins.set"),
        ({"a": np.array([None, "x"])}, r"tree\['a'\] is an array of dtype object"),
        (OrderedDict(a=1), "collections.OrderedDict"),
        ([lambda: 0], r"tree\[0\] is a builtins.function"),
        (np.ma.masked_array([1, 2]), "MaskedArray"),
        (np.zeros(2, [("größe", float)]), "non-ASCII field names"),
    ],
)
def test_what_cannot_be_held_is_refused_by_place_and_leaves_no_file(tree, words, tmp_path):
    with pytest.raises(ArchiveError, match=words):
        write_archive(tmp_path / "a", "thing", tree)
    assert list(tmp_path.iterdir()) == []


def test_a_tree_that_contains_itself_is_refused(tmp_path):
    tree: list = []
    tree.append(tree)
    with pytest.raises(ArchiveError, match="contains itself"):
        write_archive(tmp_path / "a", "thing", tree)


TREE = {"weights": np.arange(3000.0), "names": np.array(["x", "y"]), "n": 3}


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "model.partita"
    write_archive(path, "model", TREE)
    return path


def test_kind_is_told_and_checked(written):
    assert archive_kind(written) == "model"
    with pytest.raises(ArchiveError, match=r"model\.partita' holds a model, not a checkpoint"):
        read_archive(written, "checkpoint")


def test_every_truncation_is_told(written):
    data = written.read_bytes()
    for length in [1, 3, 4, 30, 200, len(data) // 2, len(data) - 30, len(data) - 1]:
        written.write_bytes(data[:length])
        with pytest.raises(ArchiveError, match=r"model\.partita"):
            read_archive(written)
    written.write_bytes(b"")
    with pytest.raises(ArchiveError, match="is empty"):
        read_archive(written)


def test_every_flipped_byte_is_told_or_harmless(written):
    data = written.read_bytes()
    told = 0
    for place in range(0, len(data), 37):
        written.write_bytes(data[:place] + bytes([data[place] ^ 0x55]) + data[place + 1 :])
        try:
            assert same(read_archive(written), TREE)
        except ArchiveError:
            told += 1
    assert told > 0.8 * len(range(0, len(data), 37))


def test_foreign_files_are_told(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ArchiveError, match=r"table\.csv' is not a partita file .*check the path"):
        read_archive(path)
    for name, text in [("readme.txt", "hi"), ("header.json", "not json"), ("header.json", '{"format": "other"}')]:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr(name, text)
        with pytest.raises(ArchiveError, match="a zip file but not one that partita wrote"):
            read_archive(path)
    with pytest.raises(FileNotFoundError):
        read_archive(tmp_path / "absent")


def forge(path, tree, entries=(), **changes):
    """An archive written by hand; entries are (name, bytes)."""
    header = {"format": "partita", "format_version": 1, "library_version": "9.9", "kind": "model", "tree": tree}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("header.json", json.dumps(header | changes))
        for name, data in entries:
            file.writestr(name, data)


def npy(header, data=b""):
    text = (header + "\n").encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def test_a_newer_format_names_both_versions(tmp_path):
    forge(tmp_path / "a", None, format_version=2)
    with pytest.raises(ArchiveError, match=r"written by partita 9\.9 in format 2.*up to 1; upgrade"):
        read_archive(tmp_path / "a")


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,)}"
OBJECTS = "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"
CODE = "{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (1,)}"


@pytest.mark.parametrize(
    ("tree", "entries"),
    [
        ({"array": 0}, []),
        ({"array": 0}, [("arrays/0.npy", npy(HUGE, b"12345678"))]),
        ({"array": 0}, [("arrays/0.npy", npy(OBJECTS, b"\x80\x04N."))]),
        ({"array": 0}, [("arrays/0.npy", npy(CODE, b"12345678"))]),
        ({"array": 0}, [("arrays/0.npy", b"\x80\x04N.")]),
        (None, [("../../outside.npy", npy(HUGE))]),
        (None, [("/etc/passwd", b"x")]),
        ({"exec": "1"}, []),
        ({"dict": 3}, []),
        ({"scalar": ["O", "00"]}, []),
        ({"items": [[{"dict": {}}, 1]]}, []),
    ],
)
def test_forged_contents_are_refused(tree, entries, tmp_path):
    forge(tmp_path / "a", tree, entries)
    with pytest.raises(ArchiveError, match="damaged"):
        read_archive(tmp_path / "a")


def test_a_zip_bomb_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "a"
    forge(path, {"array": 0}, [("arrays/0.npy", npy(HUGE, bytes(5000)))])
    data = bytearray(path.read_bytes())
    central = data.rindex(b"PK\x01\x02")
    data[central + 24 : central + 28] = struct.pack("<I", 2**32 - 2)  # the declared size
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match="claims 4,294,967,294 bytes"):
        read_archive(path)


def test_a_failed_write_leaves_the_old_file(written, monkeypatch):
    before = written.read_bytes()

    def fail(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises(OSError, match="disk full"):
        write_archive(written, "model", {"a": np.ones(3)})
    assert written.read_bytes() == before
    assert list(written.parent.iterdir()) == [written]


def test_a_killed_writer_leaves_a_whole_file(tmp_path):
    path = tmp_path / "a"
    code = (
        "import sys, numpy as np\nfrom partita.data.archive import write_archive\n"
        "n = 0\nwhile True:\n    write_archive(sys.argv[1], 'model', [n, np.full(200_000, n)]); n += 1"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(path)])
    try:
        while not path.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    number, values = read_archive(path)
    assert (values == number).all()


def test_the_file_has_ordinary_permissions_and_a_link_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_archive(tmp_path / "link", "model", 1)
    assert (tmp_path / "link").is_symlink() and read_archive(tmp_path / "target") == 1
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "target").stat().st_mode & 0o777 == 0o666 & ~umask


def test_the_library_version_has_a_fallback(monkeypatch):
    def absent(name):
        raise archive.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(archive.metadata, "version", absent)
    assert archive.library_version() == "unknown"
