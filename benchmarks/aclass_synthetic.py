"""Accuracy bars on synthetic tasks: the defaults against the prototype, the stream and the limits, on fresh data.

    python -m benchmarks.aclass_synthetic --repetitions 20 --first 1000
    python -m benchmarks.aclass_synthetic --repetitions 20 --first 1000 --only-limits

Prints means over repetitions of 0-1 loss and log-loss (K: Kullback-Leibler divergence) and CPU seconds of fitting.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from pathlib import Path

import numpy as np
from scipy.special import logsumexp

from benchmarks.tasks import classes, density, digits, loss, told_groups, true_prior
from partita import AClass, CRPMixture, kernels

PROTOTYPES = Path(__file__).resolve().parents[2] / "shared" / "prototypes"


def settled() -> float:
    """The process's CPU time once nothing of the method before is running on: its threads, its garbage."""
    gc.collect()
    before, now = -1.0, time.process_time()
    while now - before > 0.001:
        time.sleep(0.1)
        before, now = now, time.process_time()
    return now


def jobs(seed: int) -> dict[str, dict]:
    return {
        "A75": classes(seed, 1000, 0.75), "B50": classes(seed, 200, 0.5), "K": density(seed),
        "D0": digits(seed, 0.0), "D25": digits(seed, 0.25),
    }  # fmt: skip


def ours(job: dict, seed: int, stream: bool) -> tuple[tuple[float, ...], float]:
    start = settled()
    if "truth" in job:
        model = CRPMixture(random_state=seed)
        model = model.partial_fit(job["x"]) if stream else model.fit(job["x"])
        seconds = time.process_time() - start
        return (float((job["truth"] - model.score_samples(job["xt"])).mean()),), seconds
    model = AClass(random_state=seed)
    model = model.partial_fit(job["x"], job["y"]) if stream else model.fit(job["x"], job["y"])
    seconds = time.process_time() - start
    return loss(model.predict_proba(job["xt"]), job["yt"]), seconds


def prototype(job: dict, seed: int):
    import aclass

    start = settled()
    y = job.get("y", np.zeros(len(job["x"]), int))
    model = aclass.CRPChains(seed=seed).fit(job["x"], y)
    seconds = time.process_time() - start
    if "truth" in job:
        return (float((job["truth"] - model.logp(job["xt"])[:, 0]).mean()),), seconds
    return loss(model.predict_proba(job["xt"]), job["yt"]), seconds


def limit(job: dict, seed: int, told: bool):
    rng = np.random.default_rng(seed)

    def one(x, groups, k):
        return told_groups(x, groups, k, job["xt"]) if told else true_prior(x, groups, k, job["xt"], rng)

    if "truth" in job:
        return (float((job["truth"] - one(job["x"], job["groups"], 30)).mean()),), 0.0
    logp = np.stack(
        [one(job["x"][job["y"] == c], job["groups"][job["y"] == c], len(t)) for c, t in enumerate(job["theta"])], axis=1
    ) + np.log(np.bincount(job["y"], minlength=len(job["theta"])) + 1.0)
    return loss(np.exp(logp - logsumexp(logp, axis=1, keepdims=True)), job["yt"]), 0.0


def compare(what: str, mine: list, theirs: list) -> None:
    """Differences on the same data, with their standard errors."""
    difference = (np.array(mine) - np.array(theirs))[:, :-1]
    if len(difference) > 1:
        error = difference.std(axis=0, ddof=1) / np.sqrt(len(difference))
        pairs = zip(difference.mean(axis=0), error, strict=True)
        print(f"     {what}: " + " / ".join(f"{d:+.4f} +- {e:.4f}" for d, e in pairs))


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--no-limits", action="store_true")
    parser.add_argument("--only-limits", action="store_true")
    parser.add_argument("--tasks", nargs="*", default=["A75", "B50", "K", "D0", "D25"])
    options = parser.parse_args(arguments)
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    with_prototype = PROTOTYPES.is_dir() and not options.only_limits
    if with_prototype:
        sys.path.insert(0, str(PROTOTYPES))
        prototype(classes(0, 50, 0.0), 0)  # compiles
        gc.freeze()  # the compiler's many objects are no work of any method
    results: dict[tuple[str, str], list] = {}
    for seed in range(options.first, options.first + options.repetitions):
        for name, job in jobs(seed).items():
            if name not in options.tasks:
                continue
            runs = {}
            if not options.only_limits:
                runs = {"partita": ours(job, seed, False), "partita, stream": ours(job, seed, True)}
            if with_prototype:
                runs["prototype"] = prototype(job, seed)
            if "theta" in job and not options.no_limits:
                runs["true prior given"] = limit(job, seed, False)
                runs["told the groups"] = limit(job, seed, True)
            for method, (score, seconds) in runs.items():
                results.setdefault((name, method), []).append((*score, seconds))
    print(f"means of {options.repetitions} repetitions: 0-1 loss / log-loss (K: divergence), CPU seconds of the fit")
    for (name, method), rows in results.items():
        *score, seconds = np.mean(rows, axis=0)
        error = np.std(rows, axis=0, ddof=1)[:-1] / np.sqrt(len(rows)) if len(rows) > 1 else np.zeros(len(score))
        text = " / ".join(f"{v:.4f}" for v in score)
        print(f"{name:4s} {method:18s} {text:18s} (standard error {error[-1]:.4f})  {seconds:6.3f} s")
        if method == "prototype":
            ratio = np.mean([r[-1] for r in results[name, "partita"]]) / seconds
            print(f"     CPU time of the default fit / prototype: {ratio:.2f}")
            compare("default - prototype", results[name, "partita"], rows)
    for name in dict.fromkeys(name for name, method in results if method == "partita"):
        compare(f"{name} stream - default", results[name, "partita, stream"], results[name, "partita"])


if __name__ == "__main__":
    main(sys.argv[1:])
