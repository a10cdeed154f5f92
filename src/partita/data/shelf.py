"""Where the published data sets lie: the folder PARTITA_DATA, or a cache of official downloads. Always checksummed.

The folder holds ``index.csv`` (one line per file: name, file, source, licence, note, sha256, ...), ``columns.csv`` (one
line per column of every UCI table: dataset, column, role, kind) and the files themselves.
"""

from __future__ import annotations

import csv
import hashlib
import os
import shutil
import urllib.error
import urllib.request
from pathlib import Path

_CHUNK = 1 << 20
_TIMEOUT = 60.0  # seconds without a byte


def data_folder() -> Path | None:
    """The folder that PARTITA_DATA names, or None where the variable is not set."""
    named = os.environ.get("PARTITA_DATA")
    if not named:
        return None
    folder = Path(named).expanduser()
    if not (folder / "index.csv").is_file():
        raise ValueError(
            f"PARTITA_DATA={named!r} is no folder with an index.csv. Set PARTITA_DATA to the data folder, or unset it."
        )
    return folder


def index() -> dict[str, dict[str, str]]:
    """The lines of index.csv by name; empty without a data folder."""
    folder = data_folder()
    if folder is None:
        return {}
    with open(folder / "index.csv", encoding="utf-8", newline="") as file:
        return {line["name"]: line for line in csv.DictReader(file)}


def columns(name: str) -> list[dict[str, str]]:
    """The lines of columns.csv about one table, in the order of its columns."""
    folder = data_folder()
    if folder is None or not (folder / "columns.csv").is_file():
        return []
    with open(folder / "columns.csv", encoding="utf-8", newline="") as file:
        return [line for line in csv.DictReader(file) if line["dataset"] == name]


def local_file(name: str) -> Path | None:
    """The file of the data set `name` in the data folder, its checksum verified; None where it is not there."""
    folder, line = data_folder(), index().get(name)
    if folder is None or line is None or not (folder / line["file"]).is_file():
        return None
    path = folder / line["file"]
    check_sum(path, line["sha256"])
    return path


def require_file(name: str, what: str) -> Path:
    """`local_file`, or an error that says to set PARTITA_DATA."""
    path = local_file(name)
    if path is None:
        raise absent(what)
    return path


def absent(what: str) -> FileNotFoundError:
    folder = os.environ.get("PARTITA_DATA")
    where = (
        f"is not in the data folder PARTITA_DATA={folder!r}" if folder else "has no official download in one known form"
    )
    return FileNotFoundError(
        f"{what} {where}. Set the environment variable PARTITA_DATA to a folder with it (index.csv and the files)."
    )


def cache_folder() -> Path:
    """Where downloads are kept: PARTITA_CACHE, else ~/.cache/partita."""
    named = os.environ.get("PARTITA_CACHE")
    return Path(named).expanduser() if named else Path.home() / ".cache" / "partita"


def downloaded(url: str, sha256: str) -> Path:
    """The file at `url`, from the cache if it is there; a download with another checksum is refused and removed."""
    path = cache_folder() / url.rsplit("/", 1)[-1]
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with urllib.request.urlopen(url, timeout=_TIMEOUT) as response, open(draft, "wb") as file:
                shutil.copyfileobj(response, file, _CHUNK)
            check_sum(draft, sha256)
            os.replace(draft, path)
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            raise ConnectionError(
                f"{url} could not be downloaded ({error}). Set the environment variable PARTITA_DATA to a folder "
                f"that holds the data, or put the file at {path}."
            ) from error
        finally:
            draft.unlink(missing_ok=True)
    check_sum(path, sha256)
    return path


def check_sum(path: Path, sha256: str) -> None:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    if digest.hexdigest() != sha256:
        raise ValueError(
            f"{path} is not the published file: its sha256 is {digest.hexdigest()}, expected {sha256}. "
            "Delete it and fetch again."
        )
