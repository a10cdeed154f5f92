"""Streams of random numbers: one generator per chain, fixed by the seed and the chain's number alone."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

_BIT_GENERATORS = {
    kind.__name__: kind
    for kind in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)
}


def root_sequence(random_state: Any, name: str = "random_state") -> np.random.SeedSequence:
    """Seed sequence from what a user passes as `random_state`; `name` is the parameter's name for errors.

    None gives fresh entropy; an int or a SeedSequence always the same sequence (the caller's is not changed); a
    Generator or a legacy RandomState is asked for 64 bits once, so two calls with one generator differ.
    """
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.SeedSequence):
        return np.random.SeedSequence(**_sequence_to_tree(random_state))
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**64 - 1, dtype=np.uint64, endpoint=True)))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int.from_bytes(random_state.bytes(8), "little"))
    if isinstance(random_state, numbers.Integral) and not isinstance(random_state, (bool, np.bool_)):
        if int(random_state) >= 0:
            return np.random.SeedSequence(int(random_state))
        raise ValueError(f"{name}={random_state!r} is negative; give an int of at least 0")
    raise ValueError(
        f"{name}={random_state!r} ({type(random_state).__name__}) is not a seed; give None, an int of at least 0, "
        "a numpy.random.Generator, a numpy.random.SeedSequence or a numpy.random.RandomState"
    )


def spawn_streams(random_state: Any, n: int) -> list[np.random.Generator]:
    """The first `n` streams of a seed: stream k depends on the seed and k only, not on n.

    Children are numbered from those the sequence has spawned already, and the sequence is left as it was.
    """
    root = root_sequence(random_state)
    return [np.random.Generator(np.random.PCG64(child)) for child in root.spawn(n)]


def generator_to_tree(generator: np.random.Generator) -> dict[str, Any]:
    """Everything a generator needs to go on, as a JSON-able tree: its position and its seed sequence."""
    bits = generator.bit_generator
    sequence = bits.seed_seq
    return {
        "state": _plain(bits.state),
        "sequence": _sequence_to_tree(sequence) if isinstance(sequence, np.random.SeedSequence) else None,
    }


def generator_from_tree(tree: dict[str, Any]) -> np.random.Generator:
    """New generator that goes on where the one packed by `generator_to_tree` stood."""
    kind = tree["state"]["bit_generator"]
    if kind not in _BIT_GENERATORS:
        raise ValueError(f"bit generator {kind!r} is not one of NumPy's ({', '.join(_BIT_GENERATORS)})")
    sequence = tree["sequence"]
    bits = _BIT_GENERATORS[kind](0 if sequence is None else np.random.SeedSequence(**sequence))
    bits.state = tree["state"]
    return np.random.Generator(bits)


def _sequence_to_tree(sequence: np.random.SeedSequence) -> dict[str, Any]:
    """The four arguments that rebuild a seed sequence."""
    return {
        "entropy": _plain(sequence.entropy),
        "spawn_key": [int(key) for key in sequence.spawn_key],
        "pool_size": int(sequence.pool_size),
        "n_children_spawned": int(sequence.n_children_spawned),
    }


def _plain(value: Any) -> Any:
    """The value with arrays as lists and NumPy scalars as Python's."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
