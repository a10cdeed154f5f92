"""Coverage of 90 % intervals, overall and in each tenth of user activity and movie popularity: bar 4 of BayesianSVD.

    python -m benchmarks.svd_intervals                     the BPMF split (100,209 ratings asked) and ML-100K fold 1
    python -m benchmarks.svd_intervals fold1 --link ordinal

Tenths are of the ratings that are asked, by the number of ratings their user (or movie) has in training: a tenth of the
BPMF split holds 10,000 of them, and its coverage has a standard error of .003; of ML-100K 2,000 and .007. A rating that
is asked twice as often counts twice. Stars are discrete: an interval covers a star when it lies between its ends.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from bsvd_splits import SEEDS, Split, bpmf, fold_one, marlin, scores

from benchmarks.svd_methods import fitted
from partita import BayesianSVD, kernels

SPLITS = {"bpmf": bpmf, "fold1": fold_one, "marlin": lambda: marlin(SEEDS[0])}


def tenths(split: Split, side: str) -> np.ndarray:
    """(n,) 0 .. 9, the tenth of each test rating; ties are broken at random, so that tenths are of equal size."""
    ids, counts = np.unique(getattr(split.train, side), return_counts=True)
    asked = getattr(split.test, side)
    place = np.minimum(np.searchsorted(ids, asked), len(ids) - 1)
    count = np.where(ids[place] == asked, counts[place], 0)
    order = np.lexsort((np.random.default_rng(4).random(len(asked)), count))
    out = np.empty(len(asked), int)
    out[order] = 10 * np.arange(len(asked)) // len(asked)
    return out


def run(name: str, link: str, side: bool, sweeps: tuple[int, int]) -> None:
    split = SPLITS[name]()
    model = fitted(split, link == "ordinal", side, burn_in=sweeps[0], n_samples=sweeps[1])
    low, high = model.predict_interval(split.test.user, split.test.movie, coverage=0.9)
    held = (low <= split.test.stars) & (split.test.stars <= high)
    gap = abs(held.mean() - 0.9)
    error = scores(model.predict(split.test.user, split.test.movie), split.test)["rmse"]
    print(f"{split.name}, {link}, side {side}: RMSE {error:.4f}, {held.mean():.4f} of {len(held):,}, mean width "
          f"{np.mean(high - low):.3f}, R-hat {worst_r_hat(model):.3f}   bar within .01  "
          f"{'reached' if gap <= 0.01 else 'MISSED'}", flush=True)  # fmt: skip
    for word, column in (("user activity", "user"), ("movie popularity", "movie")):
        group = tenths(split, column)
        shares = np.array([held[group == k].mean() for k in range(10)])
        worst = np.abs(shares - 0.9).max()
        told = " ".join(f"{share:.3f}" for share in shares)
        print(f"  by {word:17s} {told}   worst {worst:.3f}   bar .02  {'reached' if worst <= 0.02 else 'MISSED'}")


def worst_r_hat(model: BayesianSVD) -> float:
    """Of what is traced, but for the rank, which is a whole number and often the same all along."""
    return max(value for name, value in model.r_hat_.items() if name != "rank")


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("splits", nargs="*", help=", ".join(SPLITS))
    parser.add_argument("--link", default="gaussian", choices=("gaussian", "ordinal"))
    parser.add_argument("--no-side", action="store_true", help="neither features nor missingness features")
    parser.add_argument("--sweeps", nargs=2, type=int, default=(200, 300), help="of burn-in and of samples")
    args = parser.parse_args(words)
    assert kernels.BACKEND == "native", "benchmarks need the native kernels"
    warnings.simplefilter("ignore")
    for name in args.splits or ["bpmf", "fold1"]:
        run(name, args.link, not args.no_side, tuple(args.sweeps))


if __name__ == "__main__":
    main()
