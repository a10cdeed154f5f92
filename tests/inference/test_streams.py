"""Random streams: fixed by seed and number alone, and packed and unpacked without losing their place."""

import json

import numpy as np
import pytest

from partita.inference.streams import generator_from_tree, generator_to_tree, root_sequence, spawn_streams


def draws(streams):
    return [stream.random(3).tolist() for stream in streams]


@pytest.mark.parametrize("seed", [0, 7, np.int64(7), 2**100, np.random.SeedSequence(5)])
def test_stream_k_depends_on_the_seed_and_k_only(seed):
    five = draws(spawn_streams(seed, 5))
    assert draws(spawn_streams(seed, 2)) == five[:2]
    assert len({tuple(values) for values in five}) == 5


def test_the_callers_sequence_is_left_alone_and_its_children_are_not_repeated():
    sequence = np.random.SeedSequence(5)
    own = draws([np.random.default_rng(child) for child in sequence.spawn(2)])
    ours = draws(spawn_streams(sequence, 2))
    assert sequence.n_children_spawned == 2
    assert ours == draws(spawn_streams(sequence, 2))
    assert all(values not in own for values in ours)


def test_other_seeds_give_other_streams():
    assert draws(spawn_streams(1, 1)) != draws(spawn_streams(2, 1)) != draws(spawn_streams(None, 1))
    assert draws(spawn_streams(None, 1)) != draws(spawn_streams(None, 1))


def test_a_generator_is_asked_once():
    generator, twin = np.random.default_rng(1), np.random.default_rng(1)
    first = draws(spawn_streams(generator, 4))
    twin.integers(2**64 - 1, dtype=np.uint64, endpoint=True)
    assert generator.random() == twin.random()
    assert first == draws(spawn_streams(np.random.default_rng(1), 4))
    assert first != draws(spawn_streams(generator, 4))


def test_a_legacy_random_state_is_a_seed_too():
    first = draws(spawn_streams(np.random.RandomState(1), 2))
    assert first == draws(spawn_streams(np.random.RandomState(1), 2))
    assert first != draws(spawn_streams(np.random.RandomState(2), 2))


@pytest.mark.parametrize("wrong", ["7", 1.0, True, -1, [1, 2], np.random])
def test_what_is_no_seed_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=r"^random_state=.*give .*int of at least 0"):
        root_sequence(wrong)
    with pytest.raises(ValueError, match=r"^seed="):
        root_sequence(wrong, name="seed")


KINDS = [np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64]


@pytest.mark.parametrize("kind", KINDS)
def test_a_packed_generator_goes_on_where_it_stood(kind):
    generator = np.random.Generator(kind(np.random.SeedSequence(3).spawn(2)[1]))
    generator.integers(10, size=7, dtype=np.int32)  # leaves half of a 64-bit draw in store
    generator.spawn(2)
    back = generator_from_tree(json.loads(json.dumps(generator_to_tree(generator))))
    for _ in range(2):
        assert (back.integers(10, size=9, dtype=np.int32) == generator.integers(10, size=9, dtype=np.int32)).all()
        assert (back.standard_normal(700) == generator.standard_normal(700)).all()
    assert back.spawn(1)[0].random() == generator.spawn(1)[0].random()


def test_an_unknown_bit_generator_is_refused():
    tree = generator_to_tree(np.random.default_rng(1))
    tree["state"]["bit_generator"] = "os.system"
    with pytest.raises(ValueError, match=r"'os\.system' is not one of NumPy's"):
        generator_from_tree(tree)
