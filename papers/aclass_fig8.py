"""AClass figure 8: 0-1 loss against training size, odd or even MNIST digits by signs of 50 principal components."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
from aclass_claims import Claim, print_claims, print_verdict, write_csv
from aclass_curves import Curves, Plan, draw_losses, measure, print_losses
from aclass_peers import LOGISTIC, NAIVE_BAYES, POLYNOMIAL, TWENTY_PARTICLES

from partita.datasets import binarised_components, fetch_mnist

FULL = Plan(sizes=(25, 50, 100, 200, 400, 800, 1600), repetitions=10)
QUICK = Plan(sizes=(50, 200), repetitions=2)
N_COMPONENTS, N_EXAMPLES = 50, 5000
NEAR, SAME = 0.02, 0.01  # "competitive" and "almost identical"


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    mnist = fetch_mnist()
    return mnist.data, mnist.target % 2


def task(rows: int, repetition: int) -> tuple[np.ndarray, np.ndarray]:
    """Signs of the components of 5000 random digits; train and test rows are among the 5000, as in the paper."""
    pixels, odd = digits()
    chosen = np.random.default_rng([8, repetition]).choice(len(pixels), N_EXAMPLES, replace=False)
    signs = binarised_components(pixels[chosen].astype(np.float64), N_COMPONENTS)[0]
    return signs[:rows], odd[chosen[:rows]]


def claims(curves: Curves) -> list[Claim]:
    """The paper's sentences about this figure; losses are means over training sizes and repetitions."""
    found = []
    for missing in curves.plan.missing[:2]:
        gap = curves.gap(TWENTY_PARTICLES, POLYNOMIAL, missing)
        found.append(
            Claim(
                f"AClass is competitive with polynomial RLS ({missing:.0%} missing)",
                f"AClass - RLS: {gap}",
                gap.mean < NEAR,
            )
        )
    for rival in (NAIVE_BAYES, LOGISTIC):
        gap = curves.gap(TWENTY_PARTICLES, rival, curves.plan.missing[0])
        found.append(
            Claim(
                f"On complete rows AClass is significantly better than {rival}",
                f"AClass - {rival}: {gap}",
                gap.word == "better",
            )
        )
    gap = curves.gap(TWENTY_PARTICLES, NAIVE_BAYES, curves.plan.missing[-1])
    found.append(
        Claim(
            "With half missing AClass and naive Bayes are almost identical",
            f"AClass - naive Bayes: {gap}",
            abs(gap.mean) < SAME,
        )
    )
    return found


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    curves = measure(task, QUICK if quick else FULL)
    print_losses(curves)
    print_claims(claims(curves), quick)
    for rival in (TWENTY_PARTICLES, POLYNOMIAL, NAIVE_BAYES):
        print_verdict(curves.gaps_to(rival), "0-1 loss", rival)
    draw_losses(
        curves, "Odd or even MNIST digits from the signs of 50 principal components", output / "aclass_fig8.png"
    )
    write_csv(output / "aclass_fig8.csv", curves.records)
    print(f"Picture and numbers: {output / 'aclass_fig8.png'}, {output / 'aclass_fig8.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
