"""AClass figure 4: number of groups recovered against the true number, for several training sizes and particles."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, Difference, mean_and_error, print_claims, print_verdict, write_csv
from aclass_densities import FILTERS, INK, OURS, coins, estimator, mean_groups
from aclass_pictures import draw_curve, finish, make_panels

NAMES = (*FILTERS, OURS)
FULL = {"sizes": (20, 50, 100, 250, 500, 1000), "truths": (1, 2, 5, 10, 15, 20, 25, 30), "repetitions": 10}
QUICK = {"sizes": (20, 200), "truths": (1, 10, 30), "repetitions": 2}
NEAR = 1.5  # groups: the mean distance to the groups present that we call accurate


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """One record per training size, true number, repetition and estimator; `present` counts groups that drew a row."""
    records = []
    for truth in plan["truths"]:
        for repetition in range(plan["repetitions"]):
            X, z, _ = coins(max(plan["sizes"]), truth, repetition, 4)
            for rows in plan["sizes"]:
                for name in NAMES:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # coins that never vary among few rows
                        model = estimator(name, repetition, 2).fit(X[:rows])
                    record = {"rows": rows, "true": truth, "repetition": repetition, "method": name}
                    records.append({**record, "present": len(np.unique(z[:rows])), "found": mean_groups(model)})
    return records


def select(records: list[dict[str, Any]], key: str, **where: Any) -> list[float]:
    return [float(r[key]) for r in records if all(r[k] == v for k, v in where.items())]


def distances(records: list[dict[str, Any]], **where: Any) -> np.ndarray:
    """Distance of the number found to the number of groups that drew a training row."""
    return np.abs(np.subtract(select(records, "found", **where), select(records, "present", **where)))


def print_table(records: list[dict[str, Any]], plan: dict[str, Any]) -> None:
    """Mean number of groups found, and present in the training rows, for every true number."""
    width = max(map(len, NAMES))
    for rows in plan["sizes"]:
        print(f"{f'{rows} rows, true groups:':<{width}} " + " ".join(f"{t:>5}" for t in plan["truths"]))
        lines = {
            name: [select(records, "found", rows=rows, true=t, method=name) for t in plan["truths"]] for name in NAMES
        }
        lines["present in the rows"] = [
            select(records, "present", rows=rows, true=t, method=OURS) for t in plan["truths"]
        ]
        for name, values in lines.items():
            print(f"{name:<{width}} " + " ".join(f"{np.mean(v):5.1f}" for v in values))
        print()


def claims(records: list[dict[str, Any]], plan: dict[str, Any]) -> list[Claim]:
    found = []
    small, large = min(plan["sizes"]), max(plan["sizes"])
    for name in FILTERS:
        off = float(distances(records, method=name, rows=large).mean())
        text = f"{name}: {off:.2f} groups off on average at {large} rows"
        found.append(Claim("The filter discovers the number of groups accurately", text, off < NEAR))
    most = max(plan["truths"])
    for name in FILTERS:
        got = float(np.mean(select(records, "found", method=name, rows=small, true=most)))
        present = float(np.mean(select(records, "present", method=name, rows=small, true=most)))
        text = f"{name}: {got:.1f} found of {most} at {small} rows, which hold {present:.1f}"
        found.append(Claim("With very few rows and many true groups it underestimates", text, got < most))
    return found


def verdict(records: list[dict[str, Any]], plan: dict[str, Any], rival: str) -> None:
    gaps = {
        f"{t} true, {n} rows": Difference.of(
            distances(records, method=OURS, rows=n, true=t), distances(records, method=rival, rows=n, true=t)
        )
        for n in plan["sizes"]
        for t in plan["truths"]
    }
    print_verdict(gaps, "distance to the number of groups present", rival)


def draw(records: list[dict[str, Any]], plan: dict[str, Any], path: Path) -> None:
    title = "Groups found and true groups, 50 binary columns"
    figure, panels = make_panels(len(plan["sizes"]), min(3, len(plan["sizes"])), title)
    truths = plan["truths"]
    for panel, rows in zip(panels, plan["sizes"], strict=False):
        present = [np.mean(select(records, "present", rows=rows, true=t, method=OURS)) for t in truths]
        panel.plot(truths, truths, color="black", linewidth=0.8, label="truth")
        panel.plot(truths, present, color="black", linewidth=0.8, linestyle=":", label="present in the rows")
        for name in NAMES:
            points = [mean_and_error(select(records, "found", rows=rows, true=t, method=name)) for t in truths]
            draw_curve(panel, truths, [p[0] for p in points], [p[1] for p in points], name, INK[name])
        panel.set_title(f"{rows} training rows", fontsize=10)
        panel.set_xlabel("true number of groups")
    panels[0].set_ylabel("groups found (posterior mean)")
    finish(figure, panels[: len(plan["sizes"])], path)


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    plan = QUICK if quick else FULL
    records = measure(plan)
    print_table(records, plan)
    print_claims(claims(records, plan), quick)
    for rival in FILTERS:
        verdict(records, plan, rival)
    draw(records, plan, output / "aclass_fig4.png")
    write_csv(output / "aclass_fig4.csv", records)
    print(f"Picture and numbers: {output / 'aclass_fig4.png'}, {output / 'aclass_fig4.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
