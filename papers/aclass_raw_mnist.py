"""AClass on raw binarised MNIST pixels, odd against even, without components: where the paper's filter fails."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, mean_and_error, print_claims, print_verdict, write_csv
from aclass_curves import INK, N_TEST, Curves, Plan, print_losses
from aclass_peers import NAIVE_BAYES, OURS, PEERS, POLYNOMIAL, TWENTY_PARTICLES
from aclass_pictures import draw_curve, finish, make_panels, rows_axis

from partita.datasets import fetch_mnist
from partita.kernels.contract import BACKGROUND, CLASS_ONLY

METHODS = (NAIVE_BAYES, POLYNOMIAL, TWENTY_PARTICLES, OURS)
FULL = Plan(sizes=(50, 100, 200, 400, 800, 1600), repetitions=10, missing=(0.0,), methods=METHODS)
QUICK = Plan(sizes=(50, 200), repetitions=2, missing=(0.0,), methods=METHODS)
INK_LEVEL = 127  # a pixel is a 1 above it
SAME = 0.01


@cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    mnist = fetch_mnist()
    return (mnist.data > INK_LEVEL).astype(np.float64), mnist.target % 2


def task(rows: int, repetition: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = digits()
    chosen = np.random.default_rng([9, repetition]).choice(len(X), rows, replace=False)
    return X[chosen], y[chosen]


def view_shares(model: Any) -> dict[str, float]:
    """Shares of columns that are background, or differ between classes only, over the kept states with views."""
    views = np.array([state.view for state in model._ensemble.states if state.log_weight.shape[0] > 1])
    if not len(views):
        return {"background": np.nan, "class_only": np.nan}
    return {"background": float(np.mean(views == BACKGROUND)), "class_only": float(np.mean(views == CLASS_ONLY))}


def measure(plan: Plan) -> Curves:
    records = []
    for repetition in range(plan.repetitions):
        X, y = task(max(plan.sizes) + N_TEST, repetition)
        for rows in plan.sizes:
            constant = float(np.mean(X[:rows].min(axis=0) == X[:rows].max(axis=0)))
            for method in plan.methods:
                answer = PEERS[method](X[:rows], y[:rows], X[-N_TEST:], repetition, plan.n_jobs)
                shares = {"background": np.nan, "class_only": np.nan}
                if method == OURS:
                    shares = view_shares(answer.model)
                record = {"missing": 0.0, "rows": rows, "method": method, "repetition": repetition}
                wrong = float(np.mean(answer.predicted != y[-N_TEST:]))
                records.append({**record, "loss": wrong, "groups": answer.groups, **shares, "constant": constant})
    return Curves(plan, records)


def claims(curves: Curves) -> list[Claim]:
    gap = curves.gap(TWENTY_PARTICLES, NAIVE_BAYES, 0.0)
    behind = curves.gap(TWENTY_PARTICLES, POLYNOMIAL, 0.0)
    return [
        Claim("Without PCA AClass performs as naive Bayes", f"AClass - naive Bayes: {gap}", abs(gap.mean) < SAME),
        Claim("and is beaten by polynomial RLS", f"AClass - RLS: {behind}", behind.word == "worse"),
    ]


def print_shares(curves: Curves) -> None:
    """What became of the 784 columns in the chains with views, beside the share that never varies in the rows."""
    for rows in curves.plan.sizes:
        keys = ("background", "class_only", "constant")
        background, class_only, constant = (curves.values(key, OURS, 0.0, rows).mean() for key in keys)
        found = f"{background:.1%} of columns background, {class_only:.1%} class only"
        print(f"{rows:>5} rows: {found}; {constant:.1%} are constant in the training rows")
    print()


def draw(curves: Curves, path: Path) -> None:
    """Losses on the left; on the right what became of the columns."""
    sizes = curves.plan.sizes
    figure, (left, right) = make_panels(2, 2, "Odd or even MNIST digits, 784 binary pixels", share_y=False)
    for method in curves.plan.methods:
        points = [mean_and_error(curves.values("loss", method, 0.0, n)) for n in sizes]
        draw_curve(left, sizes, [p[0] for p in points], [p[1] for p in points], method, INK[method])
    left.set_ylabel(f"0-1 loss on {N_TEST} test rows")
    shares = {
        "background": ("found background by our default", "three"),
        "class_only": ("found class only by our default", "one"),
        "constant": ("constant in the training rows", "rival"),
    }
    for key, (label, ink) in shares.items():
        points = [mean_and_error(100 * curves.values(key, OURS, 0.0, n)) for n in sizes]
        draw_curve(right, sizes, [p[0] for p in points], [p[1] for p in points], label, ink)
    right.set_ylabel("share of the columns (%)")
    for panel in (left, right):
        rows_axis(panel, sizes)
        panel.set_ylim(bottom=0)
    finish(figure, (left, right), path)


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    curves = measure(QUICK if quick else FULL)
    print_losses(curves)
    print_claims(claims(curves), quick)
    print_shares(curves)
    for rival in (NAIVE_BAYES, TWENTY_PARTICLES, POLYNOMIAL):
        print_verdict(curves.gaps_to(rival), "0-1 loss", rival)
    draw(curves, output / "aclass_raw_mnist.png")
    write_csv(output / "aclass_raw_mnist.csv", curves.records)
    print(f"Picture and numbers: {output / 'aclass_raw_mnist.png'}, {output / 'aclass_raw_mnist.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
