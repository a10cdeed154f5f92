"""A small sampler for the loop's tests: its state is an array changed in place, as real samplers' states are."""

import numpy as np

from partita.inference.streams import spawn_streams


def start(n_chains):
    """States and streams of `n_chains` chains."""
    return [np.zeros(5) for _ in range(n_chains)], spawn_streams(11, n_chains)


def step(rng, state):
    state *= 0.9
    state += rng.standard_normal(5)
    rng.integers(10, dtype=np.int32)  # leaves half a draw in the generator's store
    return state, {"norm": float(state @ state), "first": state[0]}


def keep(chain, number, state):
    return state.copy() if number % 3 == 0 else None
