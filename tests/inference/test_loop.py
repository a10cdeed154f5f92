"""The one long loop: same bytes for any number of threads, equal shares, and an orderly end in every case."""

import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from loop_sampler import keep, start, step

from partita.inference import loop
from partita.inference.loop import FitInterrupted, count_workers, run
from partita.inference.monitor import Bar, Silent, make_monitor
from partita.inference.runner import Runner


def same(a, b):
    assert a.steps_done == b.steps_done and a.interrupted == b.interrupted
    assert [s.tobytes() for s in a.states] == [s.tobytes() for s in b.states]
    assert [[k.tobytes() for k in kept] for kept in a.kept] == [[k.tobytes() for k in kept] for kept in b.kept]
    assert list(a.infos) == list(b.infos)
    assert all(a.infos[name].tobytes() == b.infos[name].tobytes() for name in a.infos)
    assert [s.bit_generator.state for s in a.streams] == [s.bit_generator.state for s in b.streams]


@pytest.fixture(scope="module")
def plain():
    """Three chains of forty steps, by the bare definition."""
    states, streams = start(3)
    infos, kept = np.empty((3, 40)), [[], [], []]
    for c in range(3):
        for s in range(40):
            states[c], info = step(streams[c], states[c])
            infos[c, s] = info["norm"]
            if s % 3 == 0:
                kept[c].append(states[c].copy())
    return states, infos, kept


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5, -1])
def test_same_bytes_for_any_number_of_threads(plain, n_jobs):
    states, infos, kept = plain
    outcome = run(step, *start(3), 40, keep=keep, n_jobs=n_jobs)
    assert [s.tobytes() for s in outcome.states] == [s.tobytes() for s in states]
    assert outcome.infos["norm"].tobytes() == infos.tobytes()
    assert np.array_equal(outcome.kept, kept)
    assert outcome.steps_done == [40, 40, 40] and outcome.interrupted is None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_cutting_into_rounds_changes_nothing(monkeypatch, n_jobs):
    whole = run(step, *start(4), 50, keep=keep)
    for seconds in (1e-9, 10.0):
        monkeypatch.setattr(loop, "_ROUND_SECONDS", seconds)
        same(run(step, *start(4), 50, keep=keep, n_jobs=n_jobs), whole)


def test_a_round_grows_and_shrinks_towards_its_length():
    assert loop._next_block(1, 1e-9) == 4
    assert loop._next_block(100, loop._ROUND_SECONDS * 2) == 50
    assert loop._next_block(1, 60.0) == 1


def test_threads_work_at_the_same_time():
    meeting = threading.Barrier(2, timeout=900)

    def meet(rng, state):
        meeting.wait()
        return state, {}

    outcome = run(meet, *start(2), 3, n_jobs=2)
    assert outcome.steps_done == [3, 3] and outcome.infos == {}


def test_infos_are_padded_where_a_step_gave_none():
    def now_and_then(rng, state):
        state += 1
        return state, {"all": state[0]} | ({"even": state[0]} if state[0] % 2 == 0 else {})

    infos = run(now_and_then, *start(1), 5).infos
    np.testing.assert_array_equal(infos["even"], [[np.nan, 2, np.nan, 4, np.nan]])
    np.testing.assert_array_equal(infos["all"], [[1, 2, 3, 4, 5]])


def test_no_steps_at_all():
    outcome = run(step, *start(2), 0)
    assert outcome.steps_done == [0, 0] and outcome.infos == {} and outcome.kept == [[], []]


def test_an_earlier_outcome_is_continued():
    whole = run(step, *start(3), 30, keep=keep)
    part = run(step, *start(3), 13, keep=keep)
    same(run(step, [], [], 30, keep=keep, start=part), whole)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_time_budget_ends_after_equal_shares(n_jobs):
    with pytest.warns(FitInterrupted, match="stopped by the time budget"):
        outcome = run(step, *start(4), 10**9, n_jobs=n_jobs, time_budget=0.3)
    assert outcome.interrupted == "time"
    assert len(set(outcome.steps_done)) == 1 and 1 < outcome.steps_done[0] < 10**9
    assert outcome.infos["norm"].shape == (4, outcome.steps_done[0])


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_budget_too_small_for_anything_gives_one_step(n_jobs):
    with pytest.warns(FitInterrupted, match="after 1 of 100"):
        assert run(step, *start(3), 100, n_jobs=n_jobs, time_budget=1e-9).steps_done == [1, 1, 1]


def test_a_finished_run_is_not_called_interrupted():
    assert run(step, *start(2), 1, time_budget=1e-9).interrupted is None


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failing_chain_stops_the_others_and_is_heard(n_jobs):
    done = []

    def fragile(rng, state):
        if state is None:
            raise ZeroDivisionError("chain 1")
        time.sleep(0.002)
        done.append(1)
        return state, {}

    states, streams = start(3)
    with pytest.raises(ZeroDivisionError, match="chain 1"):
        run(fragile, [states[0], None, states[2]], streams, 1000, n_jobs=n_jobs)
    stopped_at = len(done)
    time.sleep(0.02)
    assert len(done) == stopped_at < 10


def press_at(number, times=1):
    """A step that presses Ctrl-C in the middle of the call of that number; each state counts its own half-steps."""
    calls = []

    def pressing(rng, state):
        calls.append(1)
        state += 1
        if len(calls) == number:
            for _ in range(times):
                signal.raise_signal(signal.SIGINT)
        state += 1
        return state, {"count": state[0]}

    return pressing


def test_ctrl_c_finishes_the_step_and_keeps_all():
    with pytest.warns(FitInterrupted, match="3 of 1000 steps per chain; the result keeps"):
        outcome = run(press_at(3), *start(1), 1000)
    assert outcome.interrupted == "keyboard" and outcome.steps_done == [3]
    assert outcome.states[0].tolist() == [6.0] * 5 and outcome.infos["count"].tolist() == [[2, 4, 6]]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupted_run_has_unequal_chains_and_can_be_continued():
    with pytest.warns(FitInterrupted, match="1 to 2 of 10 steps"):
        outcome = run(press_at(4), *start(3), 10)
    assert outcome.steps_done == [2, 1, 1]
    assert {name: trace.shape for name, trace in outcome.common_infos().items()} == {"count": (3, 1)}
    again = run(press_at(-1), [], [], 10, start=outcome)
    assert again.infos["count"].tolist() == [list(range(2, 22, 2))] * 3


def test_a_second_ctrl_c_ends_at_once():
    with pytest.raises(KeyboardInterrupt):
        run(press_at(3, times=2), *start(1), 1000)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_any_step_is_done_is_raised():
    class Impatient(Silent):
        def update(self, done, info):
            if done == 0:
                signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run(step, *start(2), 10, progress=Impatient())


def test_somebody_elses_handler_is_left_in_place():
    heard = []
    previous = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        assert run(press_at(2), *start(1), 5).steps_done == [5]
    finally:
        signal.signal(signal.SIGINT, previous)
    assert heard == [1]


def test_a_keyboard_interrupt_while_threads_work_lets_them_finish():
    def raising(*_):
        raise KeyboardInterrupt

    main, calls = threading.main_thread().ident, []

    def pressing(rng, state):
        calls.append(1)
        if len(calls) == 30:
            signal.pthread_kill(main, signal.SIGINT)
        time.sleep(0.002)
        return step(rng, state)

    previous = signal.signal(signal.SIGINT, raising)
    try:
        with pytest.warns(FitInterrupted):
            outcome = run(pressing, *start(2), 10**6, n_jobs=2)
    finally:
        signal.signal(signal.SIGINT, previous)
    assert outcome.interrupted == "keyboard" and 0 < min(outcome.steps_done) < 10**6
    reference = run(step, *start(2), max(outcome.steps_done))
    for chain, done in enumerate(outcome.steps_done):
        assert (outcome.infos["norm"][chain, :done] == reference.infos["norm"][chain, :done]).all()


SCRIPT = """
import sys, time, warnings
from partita.inference.loop import run
from loop_sampler import start, step
def slow(rng, state):
    time.sleep(0.01)
    return step(rng, state)
class Tell:
    def update(self, done, info):
        if done >= 6: print("going", flush=True)
    def close(self): pass
warnings.simplefilter("always")
outcome = run(slow, *start(3), 10**6, n_jobs=int(sys.argv[1]), progress=Tell())
print("kept", outcome.interrupted, min(outcome.steps_done) > 0, outcome.infos["norm"].shape[0])
"""


@pytest.mark.parametrize("n_jobs", ["1", "2"])
def test_a_real_ctrl_c_keeps_the_steps(n_jobs):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, n_jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
    )
    try:
        assert process.stdout.readline() == "going\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=900)
    finally:
        process.kill()
    assert process.returncode == 0, err
    assert out.splitlines()[-1] == "kept keyboard True 3"
    assert "FitInterrupted: stopped by Ctrl-C after" in err


def test_outside_the_main_thread_it_just_runs():
    results = []
    thread = threading.Thread(target=lambda: results.append(run(step, *start(2), 5, n_jobs=2)))
    thread.start()
    thread.join()
    same(results[0], run(step, *start(2), 5))


def test_progress_counts_all_chains_and_is_closed():
    class Recorder:
        def __init__(self):
            self.seen, self.closed = [], False

        def update(self, done, info):
            self.seen.append((done, dict(info)))

        def close(self):
            self.closed = True

    recorder = Recorder()
    outcome = run(step, *start(3), 20, n_jobs=2, progress=recorder)
    counts = [done for done, _ in recorder.seen]
    assert counts[0] == 0 and counts[-1] == 60 and counts == sorted(counts) and recorder.closed
    assert recorder.seen[-1][1]["norm"] == outcome.infos["norm"][0, -1]


def test_the_bar_shows_steps_and_info(capsys):
    run(step, *start(2), 10, progress=make_monitor(True, 20, "sweeps"))
    shown = capsys.readouterr().err
    assert "sweeps: 100%" in shown and "20/20" in shown and "norm=" in shown
    run(step, *start(2), 10, progress=make_monitor(False, 20, "sweeps"))
    assert capsys.readouterr().err == ""


def test_the_bar_begins_where_a_resumed_run_stands(capsys):
    bar = Bar(10, "sweeps")
    bar.update(6, {})
    assert bar._bar.initial == 6
    bar.update(8, {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0})
    assert bar._bar.n == 8 and "d=" not in bar._bar.postfix
    bar.close()


def test_runs_of_a_fit_share_one_bar(capsys):
    runner = Runner(progress=True, label="sweeps")
    with runner.one_bar() as bar:
        outcome = run(step, *start(2), 5, progress=runner.monitor(20))
        run(step, [], [], 8, start=outcome, progress=runner.monitor(24))
        bar.complete()
    shown = capsys.readouterr().err
    assert "0/20" in shown and "16/16" in shown and shown.count("\n") == 1
    assert runner.bar is None
    with Runner().one_bar() as bar:
        assert bar is None


def test_a_bar_in_a_notebook_knows_its_new_length():
    bar, width = Bar(10), SimpleNamespace(max=10)
    bar._bar = SimpleNamespace(total=10, n=7, container=SimpleNamespace(children=(None, width, None)), refresh=list)
    bar.aim(40)
    assert bar._bar.total == width.max == 40
    bar.complete()
    assert bar._bar.total == width.max == 7


def test_a_part_of_a_longer_run_speaks_of_the_whole():
    with pytest.warns(FitInterrupted, match=r"after 1 of 90 steps"):
        run(step, *start(1), 9, time_budget=1e-9, whole=90)


def test_number_of_workers():
    assert count_workers(None) == count_workers(1) == 1 and count_workers(np.int64(3)) == 3
    assert count_workers(-1) >= 1 and count_workers(-1000) == 1
    for wrong in (0, 1.5, True, "2"):
        with pytest.raises(ValueError, match=r"^n_jobs="):
            count_workers(wrong)


@pytest.mark.parametrize("wrong", [0, -1.0, float("nan")])
def test_a_time_budget_that_is_none(wrong):
    with pytest.raises(ValueError, match=r"^time_budget="):
        run(step, *start(1), 1, time_budget=wrong)


def test_a_stopping_rule_looks_at_each_chain_alone():
    """Every chain stops by its own trace, for any number of threads, and a run that goes on sees that it had."""

    def step(rng, state):
        return state + 1, {"bound": 1.0 - 0.5**state}

    def stop(trace):
        bound = trace["bound"]
        return len(bound) > 1 and bound[-1] - bound[-2] < 0.1

    for n_jobs in (1, 3):
        streams = [np.random.default_rng(k) for k in range(3)]
        out = run(step, [0, 2, 9], streams, 50, stop=stop, n_jobs=n_jobs)
        assert out.steps_done == [5, 3, 2] and out.states == [5, 5, 11] and out.interrupted is None
        again = run(step, [0, 2, 9], streams, 50, stop=stop, start=out)
        assert again.steps_done == out.steps_done


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_chains_meet_before_any_goes_on(n_jobs):
    done = [0, 0, 0]

    def count(rng, state):
        done[state[0]] += 1
        return (state[0], state[1] + 1), {"x": float(rng.random())}

    def together(states, traces):
        met.append((list(done), [steps for _, steps in states]))
        return [(k, steps + 100 * (steps < 100)) for k, steps in states]  # seen states are given back as they are

    met: list = []
    outcome = run(count, [(k, 0) for k in range(3)], start(3)[1], 9, n_jobs=n_jobs, meet=([4, 6], together))
    assert met[0] == ([4, 4, 4], [4, 4, 4])
    assert met[-1] == ([6, 6, 6], [106, 106, 106])
    assert outcome.states == [(k, 109) for k in range(3)]


def test_a_meeting_sees_all_infos_and_may_end_chains_later():
    def together(states, traces):
        seen.append([len(trace["x"]) for trace in traces])
        return [state + 1000 for state in states]

    def count(rng, state):
        return state + 1, {"x": float(state)}

    seen: list = []
    outcome = run(count, [0, 10], start(2)[1], 50, stop=lambda trace: trace["x"][-1] > 1008, meet=([3, 5], together))
    assert seen == [[3, 3]]  # the second chain has ended before the second meeting
    assert outcome.steps_done == [10, 4]


def test_a_meeting_changes_nothing_else():
    met, alone = (run(step, *start(3), 40, keep=keep, meet=meet) for meet in (([17, 23], lambda old, _: old), None))
    assert all(np.array_equal(met.infos[name], alone.infos[name]) for name in alone.infos)
