"""iQGME figure 3.9: missing values within one and two standard deviations of their means, Ionosphere, 25 % missing."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, mean_and_error, print_claims, write_csv
from aclass_pictures import draw_curve, finish, make_panels
from iqgme_thesis import holed_split, one_model, real_table

FULL = {"training": (0.1, 0.2, 0.3, 0.5, 0.7, 0.9), "trials": 10}
QUICK = {"training": (0.1, 0.5), "trials": 2}
NAMES = {"within_1": "1 sd", "within_2": "2 sd", "in_80": "80 % quantiles", "in_95": "95 % quantiles"}
INK = {"within_1": "one", "within_2": "two", "in_80": "ours", "in_95": "rival"}
ENDS = (0.1, 0.9, 0.025, 0.975)


def one_trial(X: np.ndarray, y: np.ndarray, training: float, trial: int) -> dict[str, Any]:
    """Of the missing cells of the training rows: shares in intervals by standard deviations, and by quantiles."""
    holed, label, train, _, whole = holed_split(X, y, 0.25, training, [9, round(100 * training), trial])
    rows, truth = holed[train], whole[train]
    model = one_model(trial, column_kinds=["real"] * X.shape[1]).fit(rows, label[train])
    hole = np.isnan(rows) & (np.nanstd(rows, axis=0) > 0)
    mean, sd = model.impute(rows, return_std=True)
    low80, high80, low95, high95 = model.impute(rows, quantiles=ENDS)
    off = np.abs(truth - mean)[hole] / np.maximum(np.asarray(sd)[hole], 1e-12)
    inside = {"in_80": (truth >= low80) & (truth <= high80), "in_95": (truth >= low95) & (truth <= high95)}
    return {"training": training, "trial": trial, "within_1": float((off < 1).mean()),
            "within_2": float((off < 2).mean()), **{k: float(v[hole].mean()) for k, v in inside.items()}}  # fmt: skip


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    X, y = real_table("ionosphere")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [one_trial(X, y, t, trial) for t in plan["training"] for trial in range(plan["trials"])]


def shares(records: list[dict[str, Any]], key: str, training: float) -> list[float]:
    return [float(r[key]) for r in records if r["training"] == training]


def claims(records: list[dict[str, Any]], plan: dict[str, Any]) -> list[Claim]:
    small, large = min(plan["training"]), max(plan["training"])
    one, two = (float(np.mean(shares(records, key, large))) for key in ("within_1", "within_2"))
    less = float(np.mean(shares(records, "within_2", small)))
    worst = {s: max(abs(np.mean(shares(records, f"in_{s}", t)) - s / 100) for t in plan["training"]) for s in (80, 95)}
    return [
        Claim("With enough rows most missing values lie in a reasonable range",
              f"{large:.0%} training: {one:.2f} within one sd, {two:.2f} within two", two > 0.9),
        Claim("With few rows the estimates are not so satisfying", f"{small:.0%} training: {less:.2f} within two sd",
              less < two),
        Claim("(ours) Quantile intervals hold what they say, to three points, in every setting",
              f"largest distance {100 * worst[80]:.1f} points at 80 %, {100 * worst[95]:.1f} at 95 %",
              max(worst.values()) <= 0.03),
    ]  # fmt: skip


def draw(records: list[dict[str, Any]], plan: dict[str, Any], path: Path) -> None:
    figure, panels = make_panels(1, 1, "Ionosphere: values within intervals")
    for key, name in NAMES.items():
        points = [mean_and_error(shares(records, key, t)) for t in plan["training"]]
        draw_curve(panels[0], [100 * t for t in plan["training"]], [p[0] for p in points], [p[1] for p in points], name,
                   INK[key])  # fmt: skip
    for nominal in (0.683, 0.8, 0.95):
        panels[0].axhline(nominal, color="#999999", linewidth=0.7, linestyle=":")
    panels[0].set(xlabel="training rows, % of the table", ylabel="share of missing values")
    finish(figure, panels, path)


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    plan = QUICK if quick else FULL
    records = measure(plan)
    for t in plan["training"]:
        line = ", ".join(f"{name} {np.mean(shares(records, key, t)):.3f}" for key, name in NAMES.items())
        print(f"{t:.0%} training: {line}")
    print_claims(claims(records, plan), quick)
    draw(records, plan, output / "iqgme_fig3_9.png")
    write_csv(output / "iqgme_fig3_9.csv", records)
    print(f"Picture and numbers: {output / 'iqgme_fig3_9.png'}, {output / 'iqgme_fig3_9.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
