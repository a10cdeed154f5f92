"""Accuracy of BayesianSVD against peers on the same splits: bars 1 and 2 of its family.

    python -m benchmarks.svd_accuracy fold1 bpmf marlin      RMSE, NMAE, log score, with side information
    python -m benchmarks.svd_accuracy starts                 rank and RMSE from K = 1, K = 50 and an SVD, ML-100K
    python -m benchmarks.svd_accuracy starts-1m              the same on one Marlin-like partition
    python -m benchmarks.svd_accuracy synthetic              rank of 100 x 100 at 20 dB from the same starts
    python -m benchmarks.svd_accuracy summary                what the files hold, and the bars

--methods names some of the methods only, --sweeps N M gives the starts N + M sweeps for the default's, --seeds the
partitions; those of the bars are the default. Lines are appended to benchmarks/results/svd_*.csv; what is there already
is not run again. Peers: see benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from bsvd_splits import SEEDS, Split, bpmf, fold_one, marlin
from bsvd_synthetic import observe, relative_error, simulate

from benchmarks.iqgme_record import Record
from benchmarks.svd_methods import METHODS, ORDINAL, OURS, answer, measures, ours
from partita import BayesianSVD, kernels

STARTS = (1, 50, "svd")
BARS = {"ML-100K fold 1": 0.877, "BPMF split": 0.817, "Marlin-like": 0.842}


def run_splits(splits: list[Callable[[], Split]], methods: list[str]) -> None:
    record = Record("svd_accuracy", ("split", "method"))
    for make in splits:
        split = make()
        for name in methods:
            if record.has(split=split.name, method=name):
                continue
            found = answer(name, split)
            if found is None:
                continue
            line = measures(found, split)
            record.add({"split": split.name, "method": name, **line})
            told = ", ".join(f"{key} {value:.4f}" for key, value in line.items() if value == value)
            print(f"{split.name}, {name}: {told}", flush=True)


def run_starts(split: Split, sweeps: tuple[int, ...] = (), max_rank: int = 50) -> None:
    """Rank above the edge (posterior mean) and RMSE from each start, with and without side information."""
    record = Record("svd_starts", ("split", "side", "start"))
    own = dict(zip(("burn_in", "n_samples"), sweeps))
    for side in (False, True):
        for number, start in enumerate(STARTS):
            if record.has(split=split.name, side=side, start=start):
                continue
            found = ours(split, side=side, init=start, max_rank=max_rank, n_chains=1, random_state=10 + number, **own)
            record.add({"split": split.name, "side": side, "start": start, **measures(found, split)})
            print(f"{split.name}, side {side}, start {start}: rank {found.rank:.2f}, RMSE "
                  f"{measures(found, split)['rmse']:.4f}, {found.seconds:.0f} s", flush=True)  # fmt: skip


def run_synthetic(matrices: int = 10) -> None:
    """100 x 100, 30 % observed, 20 dB, rank 3 and 5: `defaults` leaves offsets and unequal noise to the estimator."""
    record = Record("svd_synthetic", ("rank", "matrix", "start", "defaults"))
    for rank in (3, 5):
        for number in range(matrices):
            rng = np.random.default_rng([100, rank, number])
            matrix = simulate(rank, rng, 20.0, side=100)
            holed = observe(matrix, 3000, rng)
            for k, start in enumerate(STARTS):
                for defaults in (False, True):
                    if record.has(rank=rank, matrix=number, start=start, defaults=defaults):
                        continue
                    own = {} if defaults else {"offsets": False, "unequal_noise": False, "missingness_features": 0}
                    model = BayesianSVD(init=start, max_rank=50, n_chains=1, burn_in=200, n_samples=200, n_jobs=1,
                                        random_state=k, progress=False, **own).fit(holed)  # fmt: skip
                    error = relative_error(model.complete(keep_observed=False), matrix.clean)
                    record.add({"rank": rank, "matrix": number, "start": start, "defaults": defaults,
                                "found": int(model.rank_), "error": error})  # fmt: skip
    for defaults in (False, True):
        lines = [line for line in record.lines if line["defaults"] == str(defaults)]
        exact = np.mean([line["found"] == line["rank"] for line in lines])
        how = "all defaults" if defaults else "no offsets, equal noise"
        print(f"100 x 100, 20 dB, {how}: exact rank in {exact:.3f} of {len(lines)}   bar >= .95 "
              f"{'reached' if exact >= 0.95 else 'MISSED'}", flush=True)  # fmt: skip


def summary() -> None:
    lines = Record("svd_accuracy", ("split", "method")).lines
    keys = ("rmse", "nmae", "nmae_median", "log_score", "covered", "rank", "seconds")
    print(f"{'split':<24}{'method':<20}" + "".join(f"{key:>13}" for key in keys))
    for line in lines:
        print(f"{line['split']:<24}{line['method']:<20}" + "".join(f"{float(line[key]):13.4f}" for key in keys))
    for family, goal in BARS.items():
        found = {(line["split"], line["method"]): line for line in lines if line["split"].startswith(family)}
        for name in dict.fromkeys(method for _, method in found):
            rmse = [float(line["rmse"]) for (_, method), line in found.items() if method == name]
            verdict = f"   bar <= {goal}  {'reached' if np.mean(rmse) <= goal else 'MISSED'}" if name == OURS else ""
            print(f"{family}, {name}: mean RMSE {np.mean(rmse):.4f} of {len(rmse)}{verdict}")
        ordinal = [line for (_, method), line in found.items() if method == ORDINAL]
        if ordinal and family == "Marlin-like":
            nmae, score = (np.mean([float(line[key]) for line in ordinal]) for key in ("nmae_median", "log_score"))
            print(f"Marlin-like, ordinal: NMAE of the median {nmae:.4f} (bar <= .379), log score {score:.4f} "
                  "(bar >= -1.125)")  # fmt: skip
    starts = Record("svd_starts", ("split", "side", "start")).lines
    for split, side in dict.fromkeys((line["split"], line["side"]) for line in starts):
        mine = [line for line in starts if (line["split"], line["side"]) == (split, side)]
        ranks, rmse = ([float(line[key]) for line in mine] for key in ("rank", "rmse"))
        print(f"{split}, side {side}, {len(mine)} starts: rank {min(ranks):.2f} to {max(ranks):.2f}, RMSE "
              f"{min(rmse):.4f} to {max(rmse):.4f}")  # fmt: skip


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = ("fold1", "bpmf", "marlin", "starts", "starts-1m", "synthetic", "summary")
    parser.add_argument("parts", nargs="+", choices=known)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--sweeps", nargs=2, type=int, default=(), metavar=("N", "M"))
    args = parser.parse_args(words)
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    warnings.simplefilter("ignore")
    splits = {"fold1": [fold_one], "bpmf": [bpmf], "marlin": [lambda s=seed: marlin(s) for seed in args.seeds]}
    for part in args.parts:
        if part in splits:
            run_splits(splits[part], args.methods)
        elif part == "synthetic":
            run_synthetic()
        elif part == "summary":
            summary()
        else:
            run_starts(fold_one() if part == "starts" else marlin(args.seeds[0]), tuple(args.sweeps))


if __name__ == "__main__":
    main()
