"""iQGME figure 3.8: number of clusters found on Ionosphere, by training size, with 25 and 50 % of the cells missing."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, print_claims, write_csv
from aclass_pictures import finish, make_panels
from iqgme_thesis import Kept, holed_split, one_model, real_table
from iqgme_three_gaussians import dominant, drawn_weights, occupied, prior_weights

FULL = {"training": (0.1, 0.3, 0.5, 0.7, 0.9), "missing": (0.25, 0.5), "trials": 10}
QUICK = {"training": (0.1, 0.5), "missing": (0.25,), "trials": 2}


def measure(plan: dict[str, Any]) -> tuple[list[dict[str, Any]], Kept]:
    """The most probable number of components that hold rows, and that of weights above .005, in every trial; and the
    first fit, with the fewest rows."""
    X, y = real_table("ionosphere")
    records, first = [], None
    for missing in plan["missing"]:
        for training in plan["training"]:
            for trial in range(plan["trials"]):
                seed = [8, round(100 * missing), round(100 * training), trial]
                holed, label, train, _, _ = holed_split(X, y, missing, training, seed)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    model = one_model(trial, column_kinds=["real"] * X.shape[1], cell_folds=0)
                    model.fit(holed[train], label[train])
                first = first or model
                tail = np.bincount(dominant(drawn_weights(model, 2000))).argmax()
                records.append({"missing": missing, "training": training, "trial": trial, "occupied": occupied(model),
                                "dominant": int(tail), "iterations": model.n_iter_})  # fmt: skip
    assert first is not None
    return records, first


def numbers(records: list[dict[str, Any]], key: str, **where: Any) -> list[int]:
    return [int(r[key]) for r in records if all(r[k] == v for k, v in where.items())]


def claims(records: list[dict[str, Any]], plan: dict[str, Any]) -> list[Claim]:
    places = [(m, t) for m in plan["missing"] for t in plan["training"]]
    runs = {(m, t): numbers(records, "occupied", missing=m, training=t) for m, t in places}
    wide = {place: max(run) - min(run) for place, run in runs.items()}
    text = "; ".join(f"{m:.0%}/{t:.0%}: {min(runs[m, t])} to {max(runs[m, t])}" for m, t in runs)
    few = int(np.median([k for (m, t), run in runs.items() if t == min(plan["training"]) for k in run]))
    return [
        Claim("The number varies between trials of one setting", text, min(wide.values()) > 0),
        Claim("With 10 % of the rows, two clusters are most probable (one trial shown)",
              f"median {few} over the trials with the fewest rows", few in (1, 2, 3)),
    ]  # fmt: skip


def draw(records: list[dict[str, Any]], plan: dict[str, Any], first: Kept, path: Path) -> None:
    n = 1 + len(plan["missing"])
    figure, panels = make_panels(n, n, "Ionosphere: clusters", share_y=False)
    k = np.arange(0, 21)
    prior = dominant(prior_weights(20, first.tau_10, first.tau_20))
    laws = {"prior": prior, "posterior": dominant(drawn_weights(first))}
    for offset, (name, draws) in zip((-0.2, 0.2), laws.items(), strict=True):
        panels[0].bar(k + offset, np.bincount(draws, minlength=21)[:21] / len(draws), 0.4, label=name)
    panels[0].set(xlabel="components with weight above .005", ylabel="probability")
    panels[0].set_title("one trial, fewest rows", fontsize=10)
    for panel, missing in zip(panels[1:], plan["missing"], strict=True):
        runs = [numbers(records, "occupied", missing=missing, training=t) for t in plan["training"]]
        panel.boxplot(runs, tick_labels=[f"{t:.0%}" for t in plan["training"]])
        panel.set(xlabel="training rows", ylabel="components that hold rows", ylim=(0, None))
        panel.yaxis.get_major_locator().set_params(integer=True)
        panel.set_title(f"{missing:.0%} of the cells missing", fontsize=10)
    finish(figure, panels, path)


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    plan = QUICK if quick else FULL
    records, first = measure(plan)
    for missing in plan["missing"]:
        for t in plan["training"]:
            where = {"missing": missing, "training": t}
            print(f"{missing:.0%} missing, {t:.0%} training: occupied {numbers(records, 'occupied', **where)}, weights "
                  f"above .005 {numbers(records, 'dominant', **where)}, iterations "
                  f"{np.median(numbers(records, 'iterations', **where)):.0f} (median)")  # fmt: skip
    print_claims(claims(records, plan), quick)
    draw(records, plan, first, output / "iqgme_fig3_8.png")
    write_csv(output / "iqgme_fig3_8.csv", records)
    print(f"Picture and numbers: {output / 'iqgme_fig3_8.png'}, {output / 'iqgme_fig3_8.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
