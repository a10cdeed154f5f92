"""The one file format: a tree of plain values and arrays in a zip file, for saved models and checkpoints alike.

A file holds ``header.json`` (format name, format version, library version, kind, the tree) and one ``.npy`` entry per
array; the tree refers to arrays by number. Nothing is pickled and reading runs no code: what comes back is made of
dict, list, tuple, None, bool, int, float, str, NumPy arrays and NumPy scalars. Equal trees give equal bytes, and a file
appears under its name only when it is whole.
"""

from __future__ import annotations

import json
import math
import os
import re
import secrets
import zipfile
import zlib
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import numpy as np

from partita.data.archive_tree import ArchiveError, decode, encode

FORMAT = "partita"
FORMAT_VERSION = 1

_HEADER = "header.json"
_ARRAY_NAME = re.compile(r"arrays/\d+\.npy")
_MAX_HEADER = 2**28  # bytes of JSON
_DEFLATE_FROM = 4096  # bytes; smaller entries gain nothing
_SAMPLE = 2**15  # bytes looked at to see whether an array shrinks
_CHUNK = 2**20  # bytes read at once
_MAX_RATIO = 1100  # deflate shrinks at most 1032-fold, so a larger claim is a lie


def library_version() -> str:
    """Version of the installed library, or "unknown" when it runs from a bare source tree."""
    try:
        return metadata.version("partita")
    except metadata.PackageNotFoundError:
        return "unknown"


# ------------------------------------------------------------------------------------------------------------- writing


def write_archive(path: str | os.PathLike[str], kind: str, tree: Any) -> None:
    """Write `tree` to `path` as an archive of the given `kind` (a short name such as "model" or "checkpoint").

    The bytes go to a hidden file in the same folder, which replaces `path` once they are on disk, so that a crash at
    any moment leaves the old file or the new one, never a part.
    """
    arrays: list[np.ndarray] = []
    body = encode(tree, arrays)
    header = {"format": FORMAT, "format_version": FORMAT_VERSION, "library_version": library_version(), "kind": kind,
              "tree": body}  # fmt: skip
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode("ascii")
    if len(text) > _MAX_HEADER:
        raise ArchiveError(
            f"the tree takes {len(text):,} bytes of JSON and at most {_MAX_HEADER:,} are allowed; "
            "put long lists into arrays"
        )
    with _replacing(Path(os.path.realpath(path))) as file, zipfile.ZipFile(file, "w") as archive:
        with archive.open(_entry(_HEADER, len(text), deflate=len(text) >= _DEFLATE_FROM), "w") as stream:
            stream.write(text)
        for number, array in enumerate(arrays):
            with archive.open(_entry(f"arrays/{number}.npy", array.nbytes, _worth_deflating(array)), "w") as stream:
                np.lib.format.write_array(stream, array, version=(1, 0), allow_pickle=False)


def _worth_deflating(array: np.ndarray) -> bool:
    """Whether the array is large and its first bytes shrink; deflating noise would only cost time."""
    if array.nbytes < _DEFLATE_FROM:
        return False
    sample = array.reshape(-1, order="A")[: max(1, _SAMPLE // array.itemsize)].tobytes()
    return len(zlib.compress(sample, 1)) < 0.9 * len(sample)


def _entry(name: str, size: int, deflate: bool) -> zipfile.ZipInfo:
    """Zip entry without time or machine in it; `size` is about its length in bytes."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    info.external_attr = 0o644 << 16
    info.file_size = size + 1024  # room for the npy header, so that zipfile takes the large-file form when it must
    if deflate:
        info.compress_type = zipfile.ZIP_DEFLATED
        info._compresslevel = 1  # type: ignore[attr-defined]  # public from Python 3.13 only
    return info


@contextmanager
def _replacing(path: Path):
    """A new binary file that takes the place of `path` at a clean end and vanishes at an exception."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    # os.open, unlike tempfile, gives the file the permissions that the user's umask asks for.
    handle = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            draft.unlink()
        raise
    with suppress(OSError):  # makes the new name itself durable; not every system can sync a folder
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


# ------------------------------------------------------------------------------------------------------------- reading


def read_archive(path: str | os.PathLike[str], kind: str | None = None) -> Any:
    """Tree of the archive at `path`, its arrays writable; with `kind`, an archive of another kind is refused."""
    with _reading(path) as (file, archive):
        header = _read_header(path, file, archive)
        if kind is not None and header["kind"] != kind:
            raise ArchiveError(f"{_name(path)} holds a {header['kind']}, not a {kind}; give the path of a {kind} file")
        names = [name for name in archive.namelist() if name != _HEADER]
        arrays = {int(name[len("arrays/") : -len(".npy")]): _read_array(archive, name) for name in names}
        return decode(header["tree"], arrays)


def archive_kind(path: str | os.PathLike[str]) -> str:
    """Kind of the archive at `path`, without reading its arrays."""
    with _reading(path) as (file, archive):
        return _read_header(path, file, archive)["kind"]


def _name(path: str | os.PathLike[str]) -> str:
    return repr(os.fspath(path))


@contextmanager
def _reading(path: str | os.PathLike[str]):
    """The open file and zip; whatever goes wrong inside is an ArchiveError that names the path."""
    with open(path, "rb") as file:
        start = file.read(4)
        file.seek(0)
        if not start:
            raise ArchiveError(f"{_name(path)} is empty; write it again or restore it from a copy")
        if start != b"PK\x03\x04":
            raise ArchiveError(f"{_name(path)} is not a partita file (it does not begin as one); check the path")
        try:
            with zipfile.ZipFile(file) as archive:
                yield file, archive
        except ArchiveError:
            raise
        except Exception as error:  # damage can surface as almost any exception of zipfile, zlib, json and NumPy
            raise ArchiveError(
                f"{_name(path)} is damaged, perhaps cut short while it was copied ({type(error).__name__}: {error}); "
                "write it again or restore it from a copy"
            ) from error


def _read_header(path: str | os.PathLike[str], file: IO[bytes], archive: zipfile.ZipFile) -> dict[str, Any]:
    foreign = ArchiveError(f"{_name(path)} is a zip file but not one that partita wrote; check the path")
    if _HEADER not in archive.namelist():
        raise foreign
    _check_sizes(file, archive)
    text = archive.read(_HEADER)
    try:
        header = json.loads(text)
    except ValueError:
        raise foreign from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise foreign
    version = header.get("format_version")
    if type(version) is not int or version < 1:
        raise ArchiveError(f"{_name(path)} claims the format {version!r}, which never was; restore it from a copy")
    if version > FORMAT_VERSION:
        raise ArchiveError(
            f"{_name(path)} was written by partita {header.get('library_version')} in format "
            f"{version}, but this is partita {library_version()}, which reads formats up to "
            f"{FORMAT_VERSION}; upgrade partita"
        )
    if not all(name == _HEADER or _ARRAY_NAME.fullmatch(name) for name in archive.namelist()):
        raise ValueError("an entry with a foreign name")
    return header


def _check_sizes(file: IO[bytes], archive: zipfile.ZipFile) -> None:
    """Refuse entries that claim more bytes than the file can hold, before any of them is read."""
    entries = archive.infolist()
    if len({entry.filename for entry in entries}) < len(entries):
        raise ValueError("two entries of one name")
    if sum(entry.compress_size for entry in entries) > os.fstat(file.fileno()).st_size:
        raise ValueError("entries that overlap")
    for entry in entries:
        limit = entry.compress_size * (_MAX_RATIO if entry.compress_type == zipfile.ZIP_DEFLATED else 1)
        if entry.file_size > limit or (entry.filename == _HEADER and entry.file_size > _MAX_HEADER):
            raise ValueError(f"entry {entry.filename!r} claims {entry.file_size:,} bytes")


def _read_array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Array of one entry, its claimed shape compared with the bytes that are there before memory is taken."""
    with archive.open(name) as stream:
        if np.lib.format.read_magic(stream) != (1, 0):
            raise ValueError(f"entry {name!r} is in another version of npy")
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        if dtype.hasobject:
            raise ValueError(f"entry {name!r} holds Python objects")
        count = math.prod(shape)
        if min(shape, default=0) < 0 or count * dtype.itemsize != archive.getinfo(name).file_size - stream.tell():
            raise ValueError(f"entry {name!r} claims the shape {shape}")
        array = np.empty(count, dtype)
        room = array.view(np.uint8) if array.nbytes else np.empty(0, np.uint8)
        for begin in range(0, room.size, _CHUNK):
            part = room[begin : begin + _CHUNK]
            data = stream.read(part.size)
            if len(data) < part.size:
                raise EOFError(f"entry {name!r} ends early")
            part[:] = np.frombuffer(data, np.uint8)
    return array.reshape(shape, order="F" if fortran else "C")
