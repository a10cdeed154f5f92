"""Checkpoints: what every chain needs to go on, written to a file so that a killed run resumes byte for byte."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from partita.data.archive import read_archive, write_archive
from partita.inference.streams import generator_from_tree, generator_to_tree

KIND = "checkpoint"
STAGES = (".look", ".pilot")
"""A fit of several stages writes a file for each: the caller's path, and these behind it."""
# Writing may take at most about this share of the time: a run with much to keep is written less often than `every`.
_SHARE_OF_TIME = 0.2


@dataclass
class Chain:
    """One chain: its state, its random stream, how many steps it has done, and what it has to show for them."""

    state: Any
    rng: np.random.Generator
    done: int = 0
    kept: list[Any] = field(default_factory=list)
    infos: dict[str, list[float]] = field(default_factory=dict)
    converged: bool = False  # by the loop's stopping rule, which looks at `infos` alone

    def record(self, info: Mapping[str, float]) -> None:
        """Add the info of one step; a name that a step does not give is NaN there."""
        for name, value in info.items():
            trace = self.infos.setdefault(name, [])
            trace.extend([float("nan")] * (self.done - len(trace)))
            trace.append(float(value))

    def trace(self, name: str, length: int) -> np.ndarray:
        values = self.infos.get(name, [])
        trace = np.full(length, np.nan)
        trace[: len(values)] = values
        return trace


def _same(value: Any) -> Any:
    return value


@dataclass
class Checkpoint:
    """Where and how often a run is written, and how its states become trees (see `partita.data.archive`).

    `pack` and `unpack` turn a chain's state into a tree and back, `pack_kept` and `unpack_kept` do so for kept objects;
    by default both are trees already. `fingerprint` (see the function of that name) stands for the data and the
    parameters: a file with another one is refused. `every` is in seconds; 0 writes after every round.
    """

    path: str | os.PathLike[str]
    fingerprint: str
    pack: Callable[[Any], Any] = _same
    unpack: Callable[[Any], Any] = _same
    pack_kept: Callable[[Any], Any] = _same
    unpack_kept: Callable[[Any], Any] = _same
    every: float = 30.0
    _next: float = field(default=0.0, init=False, repr=False)

    def begin(self, chains: list[Chain]) -> None:
        """Put the chains where the file says they were, if there is a file; start the clock."""
        path = Path(self.path)
        if path.is_dir() or not path.absolute().parent.is_dir():
            raise ValueError(
                f"checkpoint={os.fspath(self.path)!r} cannot be written: it must be a file in a folder that exists; "
                "create the folder or choose another path"
            )
        if path.exists():
            self._restore(chains)
        self._next = time.monotonic() + self.every

    def steps_saved(self) -> int:
        """Steps of the chain that got farthest, as the file has it; 0 where there is none."""
        if not Path(self.path).is_file():
            return 0
        return max((saved["done"] for saved in self._read()["chains"]), default=0)

    def due(self) -> bool:
        return time.monotonic() >= self._next

    def save(self, chains: list[Chain]) -> None:
        """Write all chains. To be called between steps only: samplers change their states in place."""
        start = time.monotonic()
        trees = [self._chain_to_tree(chain) for chain in chains]
        write_archive(self.path, KIND, {"fingerprint": self.fingerprint, "chains": trees})
        end = time.monotonic()
        self._next = end + (max(self.every, (end - start) / _SHARE_OF_TIME) if self.every > 0 else 0.0)

    def _chain_to_tree(self, chain: Chain) -> dict[str, Any]:
        return {
            "state": self.pack(chain.state),
            "generator": generator_to_tree(chain.rng),
            "done": chain.done,
            "kept": [self.pack_kept(kept) for kept in chain.kept],
            "infos": {name: np.asarray(trace) for name, trace in chain.infos.items()},
        }

    def _read(self, n_chains: int | None = None) -> dict[str, Any]:
        tree = read_archive(self.path, KIND)
        if tree["fingerprint"] != self.fingerprint or n_chains not in (None, len(tree["chains"])):
            first, *files = files_of_stages(os.fspath(self.path))
            raise ValueError(
                f"checkpoint={first!r} was written by a fit with other data or other parameters; delete "
                f"the file{'s' * (len(files) > 1)} {' and '.join(files)} to start anew, or choose another path"
            )
        return tree

    def _restore(self, chains: list[Chain]) -> None:
        tree = self._read(len(chains))
        for chain, saved in zip(chains, tree["chains"]):
            chain.state = self.unpack(saved["state"])
            chain.rng = generator_from_tree(saved["generator"])
            chain.done = saved["done"]
            chain.kept = [self.unpack_kept(kept) for kept in saved["kept"]]
            chain.infos = {name: trace.tolist() for name, trace in saved["infos"].items()}


def files_of_stages(path: str) -> list[str]:
    """The path that the caller gave, then the files of all stages that are there."""
    first = path
    for stage in STAGES:
        first = first.removesuffix(stage)
    return [first, *(name for name in (first, *(first + stage for stage in STAGES)) if Path(name).exists())]


def fingerprint(*parts: Any) -> str:
    """SHA-256 over arrays (dtype, shape, bytes), text, numbers, seed sequences, and dicts, lists and tuples of them.

    The order of a dict's keys does not count; the order of everything else does.
    """
    digest = hashlib.sha256()
    _feed(digest, parts)
    return digest.hexdigest()


def _feed(digest: Any, part: Any) -> None:
    """Add one part; each begins with its type and length, so that no two different inputs give the same bytes."""

    def say(kind: str, size: object) -> None:
        digest.update(f"{kind} {size};".encode())

    if isinstance(part, (np.ndarray, np.generic)):
        array = np.asarray(part)
        if array.dtype.hasobject:
            raise ValueError(f"fingerprint: an array of dtype {array.dtype} has no bytes of its own; encode it first")
        say("array", f"{array.dtype.str if array.dtype.names is None else array.dtype.descr} {array.shape}")
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.nbytes else b"")
    elif isinstance(part, (str, bytes)):
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        say(type(part).__name__, len(data))
        digest.update(data)
    elif part is None or isinstance(part, (bool, int, float)):
        say(type(part).__name__, repr(part))
    elif isinstance(part, (list, tuple)):
        say(type(part).__name__, len(part))
        for item in part:
            _feed(digest, item)
    elif isinstance(part, Mapping):
        say("dict", len(part))
        for key in sorted(part, key=lambda key: (type(key).__name__, repr(key))):
            _feed(digest, (key, part[key]))
    elif isinstance(part, np.random.SeedSequence):
        _feed(digest, [part.entropy, part.spawn_key, part.n_children_spawned])
    else:
        raise ValueError(
            f"fingerprint: a {type(part).__name__} cannot be hashed; give arrays, text, numbers, dicts, lists or tuples"
        )
