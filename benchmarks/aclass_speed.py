"""Speed and memory of AClass and CRPMixture, as ratios to peers within one run.

    python -m benchmarks.aclass_speed            all of it, some minutes
    python -m benchmarks.aclass_speed fit gibbs  only these parts: fit, particles, rows, stream, predict, gibbs, threads
    python -m benchmarks.aclass_speed --cpu fit  by CPU time of all threads, for a machine that has other work too

Peers (optional): xgboost, lightgbm, pylace. Times are the least of several repetitions of the same call.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable

import numpy as np

from benchmarks.parts import chosen_parts
from partita import AClass, CRPMixture, kernels
from partita.data import encode, learn_schema
from partita.datasets import make_coin_classes, make_coin_mixture
from partita.inference import loop
from partita.inference.streams import spawn_streams
from partita.kernels.contract import Chain
from partita.models.lens import plain_lens
from partita.models.mixtures import mixture
from partita.models.mixtures.problem import Problem, Settings, make_grids

PAPER = {"inference": "smc", "n_filters": 1, "n_sweeps": 0, "alpha": 1.0, "column_prior": 0.5}


def best_time(call: Callable[[], object], repetitions: int = 5) -> float:
    clock = time.process_time if "--cpu" in sys.argv else time.perf_counter
    times = []
    for _ in range(repetitions):
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


def bar(name: str, value: float, goal: str, reached: bool) -> None:
    print(f"  {name:62s} {value:9.2f}   bar {goal:10s} {'reached' if reached else 'MISSED'}", flush=True)


def boosters(n_jobs: int) -> dict[str, Callable[[], object]]:
    from sklearn.ensemble import HistGradientBoostingClassifier

    models: dict[str, Callable[[], object]] = {"HistGradientBoosting": HistGradientBoostingClassifier}
    try:
        from lightgbm import LGBMClassifier

        models["LightGBM"] = lambda: LGBMClassifier(n_jobs=n_jobs, verbose=-1)
    except ImportError:
        print("  (LightGBM is not installed)")
    try:
        from xgboost import XGBClassifier

        models["XGBoost"] = lambda: XGBClassifier(n_jobs=n_jobs)
    except ImportError:
        print("  (XGBoost is not installed)")
    return models


def part_fit() -> None:
    """Fit, 20 particles, 1000 x 100 binary, 4 classes, one thread."""
    X, y, _ = make_coin_classes(1000, random_state=0)
    ours = best_time(lambda: AClass(n_particles=20, random_state=0, **PAPER).fit(X, y), 9)
    print(f"fit of the paper's filter with 20 particles, 1000 x 100, 4 classes: {1e3 * ours:.1f} ms")
    goals = {"XGBoost": 10, "LightGBM": 15, "HistGradientBoosting": 80}
    for name, make in boosters(1).items():
        ratio = best_time(lambda make=make: make().fit(X, y), 3) / ours
        bar(f"{name} / ours, one thread", ratio, f">= {goals[name]}", ratio >= goals[name])
    for n in (1, 2):
        default = best_time(lambda n=n: AClass(n_jobs=n, random_state=0).fit(X, y), 3)
        for name, make in boosters(n).items():
            if name == "XGBoost":
                ratio = default / best_time(lambda make=make: make().fit(X, y), 3)
                bar(f"default AClass / XGBoost, threads: {n}", ratio, "<= 1", ratio <= 1)


def part_particles() -> None:
    """Cost grows with distinct groups, not with particles."""
    X, y, _ = make_coin_classes(2000, random_state=1)
    one = best_time(lambda: AClass(n_particles=1, random_state=0, **PAPER).fit(X, y), 9)
    twenty = best_time(lambda: AClass(n_particles=20, random_state=0, **PAPER).fit(X, y), 9)
    bar("20 particles / 1 particle", twenty / one, "< 6", twenty / one < 6)


def part_rows() -> None:
    """Time is linear in rows."""
    per_row = {}
    for n in (1_000, 10_000, 100_000, 1_000_000):
        X, _, _ = make_coin_mixture(n, 20, 10, random_state=2)
        model = CRPMixture(n_particles=4, max_components=50, random_state=0, **PAPER)
        per_row[n] = best_time(lambda X=X, model=model: model.fit(X), 3 if n < 1_000_000 else 1) / n
        print(f"  {n:9,d} rows: {1e6 * per_row[n]:.2f} microseconds a row")
    ratio = per_row[1_000_000] / per_row[1_000]
    bar("seconds a row, 1,000,000 / 1,000 rows", ratio, "< 1.3", ratio < 1.3)


def part_stream() -> None:
    """A stream of ten million rows in constant memory; a tenth of a million through the default with its reservoir."""
    plain = AClass(n_particles=2, max_components=30, reservoir_size=0, random_state=0, **PAPER)
    grown = grown_by_stream(plain, 10_000_000, 100_000)
    bar("megabytes grown after the first 100,000 rows", grown, "< 50", grown < 50)
    grown = grown_by_stream(AClass(max_components=30, random_state=0), 110_000, 10_000)
    bar("the default (reservoir of 1,000 rows), after 10,000 of 110,000", grown, "< 50", grown < 50)


def grown_by_stream(model: AClass, n_rows: int, chunk: int) -> float:
    """Megabytes of resident memory grown after the first chunk; every chunk is new rows of the same classes."""
    rng, (theta, shares) = np.random.default_rng(3), stream_classes()
    start, before = time.perf_counter(), 0.0
    for k in range(n_rows // chunk):
        y = rng.integers(0, len(theta), chunk)
        group = (rng.random(chunk) * shares).astype(int)
        X = (rng.random((chunk, theta.shape[2])) < theta[y, group]).astype(float)
        model.partial_fit(X, y, classes=range(len(theta)))
        before = resident() if k == 0 else before
    print(f"  {model.n_rows_seen_:,d} rows in {time.perf_counter() - start:.0f} s")
    return (resident() - before) / 1e6


def stream_classes(n_classes: int = 4, n_groups: int = 5, n_columns: int = 10) -> tuple[np.ndarray, int]:
    """Coins (classes, groups, columns), and the number of groups of a class."""
    return np.random.default_rng(4).beta(0.5, 0.5, (n_classes, n_groups, n_columns)), n_groups


def resident() -> float:
    """Resident bytes now (peak where the system does not tell)."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def part_predict() -> None:
    """A batch of 100,000 rows against the bare matrix product of the same size."""
    X, y, _ = make_coin_classes(101_000, random_state=4)
    model = AClass(n_particles=20, random_state=0, **PAPER).fit(X[:1000], y[:1000])
    batch = np.ascontiguousarray(X[1000:])
    indicator = np.concatenate([batch == 1, batch == 0], axis=1).astype(float)
    groups = int(sum(state.used.sum() for state in model._ensemble.states))
    table = np.random.default_rng(0).random((indicator.shape[1], groups))
    ours = best_time(lambda: model.predict_proba(batch), 3)
    product = best_time(lambda: indicator @ table, 3)
    print(f"  {groups} groups: prediction {ours:.2f} s, bare product {product:.2f} s")
    bar("prediction / bare product, one thread", ours / product, "<= 2", ours / product <= 2)
    default = AClass(random_state=0, n_views=1).fit(X[:1000], y[:1000])
    groups = int(sum(state.used.sum() for state in default._ensemble.states))
    table = np.random.default_rng(0).random((indicator.shape[1], groups))
    part = slice(0, 20_000)
    ratio = best_time(lambda: default.predict_proba(batch[part]), 2) / best_time(lambda: indicator[part] @ table, 2)
    bar(f"the same, kept states of one-view chains ({groups} groups)", ratio, "<= 2", ratio <= 2)


def part_gibbs() -> None:
    """A Gibbs sweep over 10,000 x 100 binary rows with 50 groups against a pip-installable sampler."""
    ours, X = gibbs_seconds()
    print(f"  our sweep: {1e3 * ours:.1f} ms")
    try:
        import lace
        import pandas as pd
    except ImportError:
        print("  (pylace is not installed: pip install pylace)")
        return
    frame = pd.DataFrame(X.astype(int), columns=[f"c{k}" for k in range(X.shape[1])])
    frame.index = [f"r{k}" for k in range(len(X))]
    engine = lace.Engine.from_df(frame, n_states=1, rng_seed=0, flat_columns=True)
    rows = [lace.StateTransition.row_assignment(lace.RowKernel.gibbs())]
    engine.update(2, transitions=rows)
    theirs = best_time(lambda: engine.update(1, transitions=rows), 2)
    bar("lace's Gibbs sweep / ours", theirs / ours, ">= 20", theirs / ours >= 20)


def gibbs_seconds() -> tuple[float, np.ndarray]:
    X, _, _ = make_coin_mixture(10_000, 100, 50, random_state=5)
    problem = coin_problem(X)
    rng = spawn_streams(0, 1)[0]
    chain = mixture.init(rng, problem)
    for _ in range(10):
        chain, _ = mixture.step(rng, chain, problem)
    print(f"  {int(chain.used.sum())} groups")
    return best_time(lambda: mixture.sweep_rows(rng, problem, chain), 5), X


def coin_problem(X: np.ndarray) -> Problem:
    table = encode(X, learn_schema(X))
    lens = plain_lens(table)
    settings = Settings(grids=make_grids(len(X)))
    return Problem(lens.layout, lens.rows(table).listed(), np.zeros(len(X), np.int32), settings)


def part_threads() -> None:
    """Eight chains of Gibbs sweeps over 10,000 x 100 rows of 50 groups on two threads against one, same bytes."""
    X, _, _ = make_coin_mixture(10_000, 100, 50, random_state=5)
    problem = coin_problem(X)
    ends, ratios, shared, least = {}, [], [], {1: np.inf, 2: np.inf}
    for _ in range(7):  # taking turns, so that both meet the same other work
        seconds, busiest = {}, {}
        for n in least:
            seconds[n], busiest[n], ends[n] = sweeps_on_threads(problem, n)
            least[n] = min(least[n], seconds[n])
        ratios.append(seconds[1] / seconds[2])
        shared.append(busiest[1] / busiest[2])
    same = all(np.array_equal(a.z, b.z) for a, b in zip(*ends.values(), strict=True))
    ratio = least[1] / least[2]
    bar(f"one thread / two threads (same bytes: {same})", ratio, ">= 1.7", ratio >= 1.7 and same)
    print(f"  median of {len(ratios)} pairs of runs: {np.median(ratios):.2f}; a turn of one thread {least[1]:.2f} s")
    print(f"  CPU time of the one thread / of the busier of two, median: {np.median(shared):.2f} (whatever else runs)")
    print(f"  two threads that share nothing but the machine: {machine_gain():.2f} times one")


def sweeps_on_threads(
    problem: Problem, n_threads: int, n_chains: int = 8, n_steps: int = 20
) -> tuple[float, float, list]:
    """Seconds of sweeps with the moves of hyper-parameters, from the same starts; CPU seconds of the busiest thread;
    where the chains have come to.
    """
    busy: Counter[int] = Counter()

    def step(rng: np.random.Generator, chain: Chain) -> tuple[Chain, dict[str, float]]:
        began = time.thread_time()
        chain, info = mixture.step(rng, chain, problem)
        busy[threading.get_ident()] += time.thread_time() - began
        return chain, info

    streams = spawn_streams(np.random.SeedSequence(0), n_chains)
    chains = [mixture.init(rng, problem) for rng in streams]
    clock = time.process_time if "--cpu" in sys.argv else time.perf_counter
    start = clock()
    outcome = loop.run(step, chains, streams, n_steps, n_jobs=n_threads)
    return clock() - start, max(busy.values()), outcome.states


def machine_gain() -> float:
    """What two threads of pure arithmetic on their own small arrays gain: the ceiling of this machine at this time."""

    def burn() -> None:
        cells = np.random.default_rng(0).random(4000)
        for _ in range(6000):
            np.exp(cells, out=np.empty_like(cells))

    def both() -> None:
        threads = [threading.Thread(target=burn) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return 2 * best_time(burn, 3) / best_time(both, 3)


PARTS = {name[5:]: part for name, part in list(globals().items()) if name.startswith("part_")}


def main(names: list[str]) -> None:
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    for name in chosen_parts(PARTS, [name for name in names if name != "--cpu"], __doc__):
        print(f"{name}: {PARTS[name].__doc__}", flush=True)
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
