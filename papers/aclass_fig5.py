"""AClass figure 5: divergence of the learnt density from the true one against training size, by number of particles."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, Difference, mean_and_error, print_claims, print_verdict, write_csv
from aclass_densities import FILTERS, INK, ONE_COMPONENT, OURS, coins, estimator
from aclass_pictures import draw_curve, finish, make_panels, rows_axis

from partita.datasets import coin_mixture_log_density

NAMES = (ONE_COMPONENT, *FILTERS, OURS)
FULL = {"sizes": (20, 50, 100, 250, 500, 1000), "truths": (1, 5, 10, 20, 30), "repetitions": 10}
QUICK = {"sizes": (50, 200), "truths": (1, 10, 30), "repetitions": 2}
N_TEST = 1000
NEAR = 0.1  # nats: two divergences this near "agree"
TWICE = (1.5, 2.5)  # ratios that we call "roughly twice"


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Monte Carlo: mean of log true density - log learnt density over fresh rows from the truth."""
    records = []
    for truth in plan["truths"]:
        for repetition in range(plan["repetitions"]):
            X, _, theta = coins(max(plan["sizes"]) + N_TEST, truth, repetition, 5)
            asked = X[-N_TEST:]
            true_density = coin_mixture_log_density(asked, theta)
            for rows in plan["sizes"]:
                for name in NAMES:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # coins that never vary among few rows
                        learnt = estimator(name, repetition, 2).fit(X[:rows]).score_samples(asked)
                    record = {"true": truth, "rows": rows, "repetition": repetition, "method": name}
                    records.append({**record, "kl": float(np.mean(true_density - learnt))})
    return records


def values(records: list[dict[str, Any]], **where: Any) -> list[float]:
    return [float(r["kl"]) for r in records if all(r[k] == v for k, v in where.items())]


def print_table(records: list[dict[str, Any]], plan: dict[str, Any]) -> None:
    width = max(map(len, NAMES))
    for truth in plan["truths"]:
        print(f"{f'{truth} true groups, rows:':<{width}} " + " ".join(f"{n:>7}" for n in plan["sizes"]))
        for name in NAMES:
            cells = [np.mean(values(records, true=truth, rows=n, method=name)) for n in plan["sizes"]]
            print(f"{name:<{width}} " + " ".join(f"{c:7.2f}" for c in cells))
        print()


def claims(records: list[dict[str, Any]], plan: dict[str, Any]) -> list[Claim]:
    """The paper's sentences; divergences are means over training sizes and repetitions."""

    def kl(**where: Any) -> float:
        return float(np.mean(values(records, **where)))

    found, forty = [], FILTERS[-1]
    for truth in plan["truths"]:
        one, many = kl(true=truth, method=ONE_COMPONENT), kl(true=truth, method=forty)
        numbers = f"one component {one:.2f}, {forty} {many:.2f} nats"
        if truth == 1:
            found.append(Claim("They agree when the truth has one mode", numbers, abs(one - many) < NEAR))
        else:
            text = f"One mode is substantially worse than a CRP mixture ({truth} groups)"
            found.append(Claim(text, numbers, one > 1.5 * many))
    largest, last = max(plan["truths"]), max(plan["sizes"])
    single, several = kl(true=largest, rows=last, method=FILTERS[0]), kl(true=largest, rows=last, method=forty)
    numbers = f"{single:.2f} and {several:.2f} nats at {largest} groups, {last} rows: ratio {single / several:.2f}"
    text = "40 particles are roughly twice as accurate as 1 when there are many groups"
    found.append(Claim(text, numbers, TWICE[0] < single / several < TWICE[1]))
    return found


def verdict(records: list[dict[str, Any]], plan: dict[str, Any], rival: str) -> None:
    gaps = {
        f"{t} true, {n} rows": Difference.of(
            values(records, true=t, rows=n, method=OURS), values(records, true=t, rows=n, method=rival)
        )
        for t in plan["truths"]
        for n in plan["sizes"]
    }
    print_verdict(gaps, "divergence", rival)


def draw(records: list[dict[str, Any]], plan: dict[str, Any], path: Path) -> None:
    truths = plan["truths"]
    figure, panels = make_panels(len(truths), 3, "Divergence from the true density, 50 binary columns", share_y=False)
    for panel, truth in zip(panels, truths, strict=False):
        for name in NAMES:
            points = [mean_and_error(values(records, true=truth, rows=n, method=name)) for n in plan["sizes"]]
            draw_curve(panel, plan["sizes"], [p[0] for p in points], [p[1] for p in points], name, INK[name])
        panel.set_title(f"{truth} true group" + "s" * (truth > 1), fontsize=10)
        rows_axis(panel, plan["sizes"])
        panel.set_ylim(bottom=0)
        panel.set_ylabel("KL divergence (nats)")
    finish(figure, panels[: len(truths)], path)


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    plan = QUICK if quick else FULL
    records = measure(plan)
    print_table(records, plan)
    print_claims(claims(records, plan), quick)
    for rival in FILTERS:
        verdict(records, plan, rival)
    draw(records, plan, output / "aclass_fig5.png")
    write_csv(output / "aclass_fig5.csv", records)
    print(f"Picture and numbers: {output / 'aclass_fig5.png'}, {output / 'aclass_fig5.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
