"""Checkpoints: a run that failed, was killed or was stopped goes on byte for byte as if nothing had happened."""

import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from loop_sampler import keep, start, step

from partita.data.archive import ArchiveError, read_archive, write_archive
from partita.inference import loop
from partita.inference.checkpoint import Checkpoint, fingerprint
from partita.inference.loop import FitInterrupted, run

N = 60


def content(outcome):
    """Everything in an outcome, as bytes."""
    streams = [stream.bit_generator.state for stream in outcome.streams]
    infos = {name: trace.tobytes() for name, trace in outcome.infos.items()}
    arrays = [s.tobytes() for s in outcome.states], [[k.tobytes() for k in kept] for kept in outcome.kept]
    return pickle.dumps((arrays, infos, outcome.steps_done, outcome.interrupted, streams))


@pytest.fixture(scope="module")
def whole():
    return content(run(step, *start(3), N, keep=keep))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.partita"


def every_round(path, **changes):
    return Checkpoint(path, **({"fingerprint": "f", "every": 0.0} | changes))


class Stop(Exception):
    pass


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("place", ["step", "keep"])
def test_a_run_that_fails_resumes_byte_for_byte(path, whole, place, n_jobs, monkeypatch):
    monkeypatch.setattr(loop, "_ROUND_SECONDS", 1e-9)  # one step a round
    calls = []

    def count():
        calls.append(1)
        if len(calls) == 70:
            raise Stop

    def failing_step(rng, state):
        if place == "step":
            rng.random()
            state += 7  # what a step has half done must not be seen after the resume
            count()
            state -= 7
        return step(rng, state)

    def failing_keep(chain, number, state):
        if place == "keep":
            count()
        return keep(chain, number, state)

    reference_step = failing_step if place == "step" else step
    with pytest.raises(Stop):
        run(failing_step, *start(3), N, keep=failing_keep, n_jobs=n_jobs, checkpoint=every_round(path))
    done = [chain["done"] for chain in read_archive(path, "checkpoint")["chains"]]
    assert 0 < min(done) < N
    resumed = run(reference_step, *start(3), N, keep=keep, n_jobs=n_jobs, checkpoint=every_round(path))
    expected = whole if place == "keep" else content(run(reference_step, *start(3), N, keep=keep))
    assert content(resumed) == expected


def test_a_finished_run_is_returned_at_once(path, whole):
    run(step, *start(3), N, keep=keep, checkpoint=every_round(path))

    def never(rng, state):
        raise AssertionError("a step of a finished run")

    assert content(run(never, *start(3), N, keep=keep, checkpoint=every_round(path))) == whole


def test_time_and_ctrl_c_leave_a_file_to_resume_from(path, whole):
    def slow(rng, state):
        time.sleep(0.001)
        return step(rng, state)

    def pressed(rng, state):
        signal.raise_signal(signal.SIGINT)
        return step(rng, state)

    checkpoint = Checkpoint(path, "f")  # not due before the end
    assert run(slow, *start(3), N, keep=keep, time_budget=0.02, checkpoint=checkpoint).interrupted == "time"
    with pytest.warns(FitInterrupted):
        run(pressed, *start(3), N, keep=keep, checkpoint=Checkpoint(path, "f"))
    outcome = run(step, *start(3), N, keep=keep, checkpoint=Checkpoint(path, "f"))
    assert content(outcome) == whole


def test_a_tiny_budget_still_advances_at_every_call(path, whole):
    for calls in range(1, N + 1):
        outcome = run(step, *start(3), N, keep=keep, time_budget=1e-9, checkpoint=every_round(path))
        assert outcome.steps_done == [calls] * 3
    assert content(outcome) == whole


def test_states_are_packed_and_unpacked_by_the_caller(path):
    def boxed(rng, state):
        array, info = step(rng, state["array"])
        return {"array": array}, info

    states, streams = start(2)
    states = [{"array": state} for state in states]
    how = {
        "pack": lambda state: [state["array"]],
        "unpack": lambda tree: {"array": tree[0]},
        "pack_kept": lambda kept: float(kept),
        "unpack_kept": lambda tree: np.float64(tree),
    }

    def first(chain, number, state):
        return state["array"][0]

    run(boxed, states, streams, 10, keep=first, checkpoint=every_round(path, **how))
    states, streams = [{"array": state} for state in start(2)[0]], start(2)[1]
    outcome = run(boxed, states, streams, 20, keep=first, checkpoint=every_round(path, **how))
    expected = run(step, *start(2), 20, keep=lambda chain, number, state: state[0])
    assert outcome.kept == expected.kept and (outcome.infos["norm"] == expected.infos["norm"]).all()


def test_it_is_written_when_due_and_at_the_end_only(path, monkeypatch):
    monkeypatch.setattr(loop, "_ROUND_SECONDS", 1e-9)
    writes = []
    monkeypatch.setattr("partita.inference.checkpoint.write_archive", lambda *args: writes.append(1))
    run(step, *start(2), 20, checkpoint=Checkpoint(path, "f", every=1000))
    assert len(writes) == 1
    run(step, *start(2), 20, checkpoint=every_round(path))
    assert len(writes) == 1 + 20


def test_other_data_more_chains_or_fewer_steps_are_refused(path):
    run(step, *start(2), 5, checkpoint=every_round(path))
    before = path.read_bytes()
    for n_chains, name in [(2, "other"), (3, "f")]:
        with pytest.raises(ValueError, match=r"run\.partita' was written by a fit with other data .* delete the file"):
            run(step, *start(n_chains), 5, checkpoint=every_round(path, fingerprint=name))
    with pytest.raises(ValueError, match="has more than the 4 steps"):
        run(step, *start(2), 4, checkpoint=every_round(path))
    assert path.read_bytes() == before
    write_archive(path, "model", {})
    with pytest.raises(ArchiveError, match="holds a model, not a checkpoint"):
        run(step, *start(2), 5, checkpoint=every_round(path))


def test_a_path_that_cannot_be_written_is_told_before_the_work(tmp_path):
    def never(rng, state):
        raise AssertionError("work before the check")

    for wrong in (tmp_path, tmp_path / "absent" / "run"):
        with pytest.raises(ValueError, match=r"^checkpoint=.*create the folder or choose another path"):
            run(never, *start(1), 5, checkpoint=every_round(wrong))


SCRIPT = """
import os, signal, sys
from loop_sampler import keep, start, step
from partita.inference.checkpoint import Checkpoint
from partita.inference.loop import run
calls = []
def deadly(rng, state):
    calls.append(1)
    if len(calls) == 100:
        os.kill(os.getpid(), signal.SIGKILL)
    return step(rng, state)
run(deadly, *start(3), 60, keep=keep, n_jobs=2, checkpoint=Checkpoint(sys.argv[1], "f", every=0.0))
"""


def test_a_killed_process_resumes_byte_for_byte(path, whole):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
    process = subprocess.run([sys.executable, "-c", SCRIPT, str(path)], env=env)
    assert process.returncode == -signal.SIGKILL
    assert 0 < read_archive(path)["chains"][0]["done"] < N
    assert content(run(step, *start(3), N, keep=keep, checkpoint=every_round(path))) == whole


def test_fingerprints_tell_inputs_apart():
    array = np.arange(6.0)
    sequence = np.random.SeedSequence(1)
    parts = [
        (array,), (array.reshape(2, 3),), (array.astype(np.float32),), (array.astype(np.int64),), (array, None),
        (array[::-1],), ("ab", "c"), ("a", "bc"), (["a", "bc"],), (b"ab", "c"), (1,), (True,), (1.0,), ("1",),
        (np.int64(1),), ({"a": 1},), ({"a": 2},), ({"b": 1},), (None,), (), (float("nan"),), (np.array(["a", "b"]),),
        (sequence,), (sequence.spawn(1)[0],), (np.zeros((0, 3)),), (np.zeros((0, 2)),),
    ]  # fmt: skip
    assert len({fingerprint(*part) for part in parts}) == len(parts)


def test_fingerprints_of_equal_inputs_are_equal():
    array = np.arange(6.0).reshape(2, 3)
    assert fingerprint(array) == fingerprint(np.asfortranarray(array)) == fingerprint(array.copy()[:, :])
    assert fingerprint({"a": 1, "b": [2, None]}) == fingerprint({"b": [2, None], "a": 1})
    assert len(fingerprint()) == 64
    with pytest.raises(ValueError, match="dtype object"):
        fingerprint(np.array([None]))
    with pytest.raises(ValueError, match="a set cannot be hashed"):
        fingerprint({1, 2})
