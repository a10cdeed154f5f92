"""Calls the peers of BayesianSVD (benchmarks/peers_svd.txt) in processes of their own, and the prototype in this one.

The peers are looked for in this Python, or in the one that PARTITA_PEERS_PYTHON names. A peer that is not there is left
out with a word.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from bsvd_splits import Split, movie_features, user_features

from benchmarks.peer_python import importable, python

HERE = Path(__file__).resolve().parent
BESIDE = HERE.parents[1] / "shared"
os.environ.setdefault("PARTITA_DATA", str(BESIDE / "data"))
PACKAGES = {"myfm": "myfm", "myfm-ordinal": "myfm", "smurff": "smurff"}


def present(peer: str) -> bool:
    return importable(PACKAGES[peer])


@cache
def prototype() -> ModuleType | None:
    """The single-file prototype, where it lies beside the repository and numba is installed."""
    path = BESIDE / "prototypes" / "bsvd.py"
    if not path.is_file() or importlib.util.find_spec("numba") is None:
        print("  (the prototype is not beside the repository, or numba is missing: it is left out)", flush=True)
        return None
    spec = importlib.util.spec_from_file_location("bsvd_prototype", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def coded(split: Split, side: bool) -> dict[str, Any]:
    """A split as places 0, 1, ... in all users and movies of the files (users: those to learn from), for the peers."""
    users, movies = np.unique(split.train.user), movie_features(split.size).index.to_numpy()
    out = {"shape": np.array([len(users), len(movies)]), "values": split.train.stars}
    for half, word in ((split.train, ""), (split.test, "test_")):
        out[f"{word}rows"] = np.searchsorted(users, half.user)
        out[f"{word}columns"] = np.searchsorted(movies, half.movie)
    if side:
        out["row_features"] = user_features(split.size).loc[users].to_numpy()
        out["column_features"] = movie_features(split.size).to_numpy()
    return out


def ask(peer: str, data: dict[str, Any], rank: int, burn: int, keep: int) -> dict[str, np.ndarray]:
    """The peer's answer: `mean` at the test cells, `cpu` seconds of every sweep, `proba` of ordinal ones."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(source, **data)
        words = [python(), str(HERE / "svd_peer.py"), peer, str(source), str(target),
                 "--rank", str(rank), "--burn", str(burn), "--keep", str(keep)]  # fmt: skip
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{peer} failed: {done.stderr[-2000:]}")
        with np.load(target) as file:
            return {name: file[name] for name in file.files}
