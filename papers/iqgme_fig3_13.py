"""iQGME figure 3.13: wide data, more columns than rows, with the factor form (a synthetic stand-in for sepsis).

The sepsis data are not public. The stand-in has their size (121 patients of whom 31 die, 521 and 100 features) and some
blocks of features missing together, as assays fail: ten latent factors, of which three bear on the outcome.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, mean_and_error, print_claims, write_csv
from aclass_pictures import draw_curve, finish, make_panels
from iqgme_peers import peer_answers
from iqgme_thesis import holed_split, one_model, works
from sklearn.metrics import roc_auc_score

FACTOR_FORM = "iQGME-VB, factors"
PEERS = ("SVM-RBF-Uncond", "SVM-Linear-Uncond", "Logistic-Uncond")
FULL = {"training": (0.3, 0.5, 0.7), "partitions": 10, "columns": (521, 100)}
QUICK = {"training": (0.5,), "partitions": 2, "columns": (60, 20)}
INK = {FACTOR_FORM: "ours", "SVM-RBF-Uncond": "rival", "SVM-Linear-Uncond": "second rival", "Logistic-Uncond": "one"}
PATIENTS, DEATHS, FACTORS, TELLING = 121, 31, 10, 3


def make_patients(seed: int, columns: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Features with holes, and 1 for death: the patients with the highest risk, which three factors and noise make."""
    rng = np.random.default_rng([313, seed])
    factors = rng.normal(size=(PATIENTS, FACTORS))
    risk = factors[:, :TELLING].sum(axis=1) + 0.5 * rng.normal(size=PATIENTS)
    y = np.zeros(PATIENTS, int)
    y[np.argsort(-risk)[:DEATHS]] = 1
    p = sum(columns)
    loading = rng.normal(size=(FACTORS, p)) * (rng.random((FACTORS, p)) < 0.3)
    X = factors @ loading + rng.normal(size=(PATIENTS, p))
    for block in np.array_split(np.arange(p), 12):  # an assay fails for a patient with probability .15
        X[np.ix_(rng.random(PATIENTS) < 0.15, block)] = np.nan
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    records = []
    ours = works("n_factors", 2)
    for partition in range(plan["partitions"]):
        X, y = make_patients(partition, plan["columns"])
        for training in plan["training"]:
            holed, label, train, test, _ = holed_split(X, y, 0.0, training, [13, round(100 * training), partition])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.process_time()
                answers = peer_answers(holed[train], label[train], holed[test], PEERS)
                seconds = dict.fromkeys(answers, time.process_time() - start)
                if ours:
                    start = time.process_time()
                    model = one_model(partition, n_factors="auto").fit(holed[train], label[train])
                    answers[FACTOR_FORM] = model.predict_proba(holed[test])[:, 1]
                    seconds[FACTOR_FORM] = time.process_time() - start
            for name, p in answers.items():
                records.append({"training": training, "partition": partition, "method": name,
                                "auc": float(roc_auc_score(label[test], p)), "seconds": seconds[name]})  # fmt: skip
    return records


def values(records: list[dict[str, Any]], method: str, training: float) -> list[float]:
    return [float(r["auc"]) for r in records if r["method"] == method and r["training"] == training]


def claims(records: list[dict[str, Any]], plan: dict[str, Any]) -> list[Claim]:
    if FACTOR_FORM not in {r["method"] for r in records}:
        print("The factor form (n_factors) is not in this version: only peers were measured.\n")
        return []
    gaps = {t: float(np.mean(values(records, FACTOR_FORM, t)) - max(np.mean(values(records, m, t)) for m in PEERS))
            for t in plan["training"]}  # fmt: skip
    text = ", ".join(f"{t:.0%}: {gap:+.3f}" for t, gap in gaps.items())
    return [Claim("The factor form improves on machines after imputation", f"AUC less the best peer's, {text}",
                  min(gaps.values()) > 0)]  # fmt: skip


def draw(records: list[dict[str, Any]], plan: dict[str, Any], path: Path) -> None:
    figure, panels = make_panels(2, 2, "Made-up patients: pattern (black observed), and AUC", share_y=False)
    X, _ = make_patients(0, plan["columns"])
    panels[0].imshow(np.isnan(X), aspect="auto", cmap="gray", interpolation="nearest")
    panels[0].set(xlabel="feature", ylabel="patient")
    for name, ink in INK.items():
        if any(r["method"] == name for r in records):
            points = [mean_and_error(values(records, name, t)) for t in plan["training"]]
            draw_curve(panels[1], [100 * t for t in plan["training"]], [p[0] for p in points], [p[1] for p in points],
                       name, ink)  # fmt: skip
    panels[1].set(xlabel="training rows, % of the table", ylabel="AUC")
    finish(figure, panels, path)


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    plan = QUICK if quick else FULL
    records = measure(plan)
    print("The sepsis data are not public: these are made-up patients, as many and as wide.\n")
    for name in dict.fromkeys(r["method"] for r in records):
        print(f"{name:20s} " + " ".join(f"{t:.0%}: {np.mean(values(records, name, t)):.3f}" for t in plan["training"]))
    print_claims(claims(records, plan), quick)
    draw(records, plan, output / "iqgme_fig3_13.png")
    write_csv(output / "iqgme_fig3_13.csv", records)
    print(f"Picture and numbers: {output / 'iqgme_fig3_13.png'}, {output / 'iqgme_fig3_13.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
