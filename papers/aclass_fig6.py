"""AClass figure 6: 0-1 loss against training size on the four-class synthetic problem, with and without holes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from aclass_claims import Claim, print_claims, print_verdict, write_csv
from aclass_curves import Curves, Plan, behind, draw_losses, measure, print_losses
from aclass_peers import LOGISTIC, NAIVE_BAYES, ONE_PARTICLE, OURS, POLYNOMIAL, TWENTY_PARTICLES

from partita.datasets import make_coin_classes

FULL = Plan(sizes=(25, 50, 100, 200, 400, 800, 1600), repetitions=10)
QUICK = Plan(sizes=(50, 200), repetitions=2)
RIVALS = (NAIVE_BAYES, LOGISTIC, POLYNOMIAL)
SAME = 0.01  # two losses this near are "essentially" the same


def task(rows: int, repetition: int) -> tuple[np.ndarray, np.ndarray]:
    """Classes with 4, 10, 5 and 20 modes over 100 coins."""
    X, y, _ = make_coin_classes(rows, random_state=1000 + repetition)
    return X, y


def claims(curves: Curves) -> list[Claim]:
    """The paper's sentences about this figure; losses are means over training sizes and repetitions."""
    found = []
    for missing in curves.plan.missing:
        beaten_by = behind(curves, TWENTY_PARTICLES, RIVALS, missing)
        losses = ", ".join(f"{m} {curves.loss(m, missing):.3f}" for m in (TWENTY_PARTICLES, *RIVALS))
        found.append(Claim(f"AClass outperforms the others with {missing:.0%} missing", losses, not beaten_by))
        others = [m for m in curves.plan.methods if m not in (NAIVE_BAYES, OURS)]
        worst = max(others, key=lambda m: curves.loss(m, missing))
        bayes = curves.loss(NAIVE_BAYES, missing)
        numbers = f"naive Bayes {bayes:.3f}, worst other: {worst} {curves.loss(worst, missing):.3f}"
        found.append(
            Claim(f"Naive Bayes is least effective ({missing:.0%})", numbers, bayes > curves.loss(worst, missing))
        )
    whole = curves.gap(ONE_PARTICLE, TWENTY_PARTICLES, curves.plan.missing[0])
    found.append(
        Claim(
            "Without holes one particle does essentially as well", f"1 - 20 particles: {whole}", abs(whole.mean) < SAME
        )
    )
    holed = curves.gap(ONE_PARTICLE, TWENTY_PARTICLES, curves.plan.missing[-1])
    found.append(
        Claim("With half missing one particle suffers slightly", f"1 - 20 particles: {holed}", holed.word == "worse")
    )
    return found


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    curves = measure(task, QUICK if quick else FULL)
    print_losses(curves)
    print_claims(claims(curves), quick)
    for rival in (TWENTY_PARTICLES, POLYNOMIAL):
        print_verdict(curves.gaps_to(rival), "0-1 loss", rival)
    draw_losses(curves, "Four classes with 4, 10, 5 and 20 modes, 100 binary columns", output / "aclass_fig6.png")
    write_csv(output / "aclass_fig6.csv", curves.records)
    print(f"Picture and numbers: {output / 'aclass_fig6.png'}, {output / 'aclass_fig6.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
