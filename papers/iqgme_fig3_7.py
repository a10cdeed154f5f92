"""iQGME figure 3.7: the finite model with preset numbers of experts against iQGME-VB, Ionosphere with holes."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, mean_and_error, print_claims, write_csv
from aclass_pictures import draw_curve, finish, make_panels
from iqgme_curves import EXPERTS, FINITE, OURS, VB, best_finite, mean_auc, scores, values
from iqgme_thesis import finite_model, holed_split, one_model, real_table

from partita import IQGMEClassifier

FULL = {"training": (0.1, 0.5, 0.9), "missing": (0.25, 0.5), "trials": 10}
QUICK = {"training": (0.1, 0.5), "missing": (0.25,), "trials": 2}


def one_trial(X: np.ndarray, y: np.ndarray, missing: float, training: float, trial: int) -> list[dict[str, Any]]:
    seed = [7, round(100 * missing), round(100 * training), trial]
    holed, label, train, test, _ = holed_split(X, y, missing, training, seed)
    kinds = ["real"] * X.shape[1]
    models: dict[str, Any] = {
        VB: one_model(trial, column_kinds=kinds, cell_folds=0),
        OURS: IQGMEClassifier(column_kinds=kinds, random_state=trial, n_jobs=1, cell_folds=0),
    }
    if (finite := finite_model()) is not None:
        for k in EXPERTS:
            models[f"{FINITE}, K = {k}"] = finite(n_experts=k, column_kinds=kinds, random_state=trial, cell_folds=0)
    where = {"missing": missing, "training": training, "trial": trial}
    return [
        {**where, "method": name, **scores(model.fit(holed[train], label[train]).predict_proba(holed[test])[:, 1],
                                           label[test])}
        for name, model in models.items()
    ]  # fmt: skip


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    X, y = real_table("ionosphere")
    records = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for trial in range(plan["trials"]):
            for missing in plan["missing"]:
                for training in plan["training"]:
                    records += one_trial(X, y, missing, training, trial)
    return records


def claims(records: list[dict[str, Any]], plan: dict[str, Any]) -> list[Claim]:
    settings = [(m, t) for m in plan["missing"] for t in plan["training"]]
    best = {place: best_finite(records, *place) for place in settings}
    if not all(best.values()):
        print("QGMEClassifier is not in this version: only the flexible model was measured.\n")
        return []
    chosen = sorted({best[place][0] for place in settings})
    most = {p: mean_auc(records, f"{FINITE}, K = {EXPERTS[-1]}", missing=p[0], training=p[1]) for p in settings}
    worse = sum(most[p] < np.mean(best[p][1]) - 1e-12 for p in settings)
    ahead = sum(mean_auc(records, VB, missing=m, training=t) >= np.mean(best[m, t][1]) for m, t in settings)
    n = len(settings)
    return [
        Claim("The best K differs between settings", f"best: K in {chosen}", len(chosen) > 1),
        Claim("With many experts (K = 20) the finite model gets worse", f"below its best K in {worse} of {n} settings",
              worse == n),
        Claim("iQGME-VB needs no K and is better", f"at least as good as the best K in {ahead} of {n} settings",
              ahead == n),
    ]  # fmt: skip


def draw(records: list[dict[str, Any]], plan: dict[str, Any], path: Path) -> None:
    n = len(plan["training"])
    figure, panels = make_panels(n * len(plan["missing"]), n, "Ionosphere: preset and inferred numbers of experts")
    places = [(m, t) for m in plan["missing"] for t in plan["training"]]
    for panel, (missing, training) in zip(panels, places, strict=True):
        where = {"missing": missing, "training": training}
        for name, ink in ((VB, "two"), (OURS, "ours")):
            mean, error = mean_and_error(values(records, name, **where))
            draw_curve(panel, EXPERTS, [mean] * len(EXPERTS), [error] * len(EXPERTS), name, ink)
        if finite_model() is not None:
            points = [mean_and_error(values(records, f"{FINITE}, K = {k}", **where)) for k in EXPERTS]
            draw_curve(panel, EXPERTS, [p[0] for p in points], [p[1] for p in points], FINITE, "baseline")
        panel.set_title(f"{missing:.0%} missing, {training:.0%} training", fontsize=10)
        panel.set_xticks(EXPERTS)
        panel.set_xlabel("K")
    panels[0].set_ylabel("AUC")
    finish(figure, panels, path)


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    plan = QUICK if quick else FULL
    records = measure(plan)
    for name in dict.fromkeys(r["method"] for r in records):
        cells = " ".join(f"{mean_auc(records, name, missing=m, training=t):.3f}" for m in plan["missing"]
                         for t in plan["training"])  # fmt: skip
        print(f"{name:20s} {cells}")
    print_claims(claims(records, plan), quick)
    draw(records, plan, output / "iqgme_fig3_7.png")
    write_csv(output / "iqgme_fig3_7.csv", records)
    print(f"Picture and numbers: {output / 'iqgme_fig3_7.png'}, {output / 'iqgme_fig3_7.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
