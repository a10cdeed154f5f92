"""iQGME figure 3.12: AUC and accuracy against training size, targets of one or two sensors (a synthetic stand-in)."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, mean_and_error, print_claims, write_csv
from aclass_pictures import draw_curve, finish, make_panels
from iqgme_fig3_11 import STATEMENT
from iqgme_peers import NAMES, peer_answers
from iqgme_thesis import holed_split, one_model
from iqgme_two_sensors import make_targets
from sklearn.metrics import roc_auc_score

from partita import IQGMEClassifier

VB, OURS = "iQGME-VB", "IQGMEClassifier()"
FULL = {"training": (0.1, 0.3, 0.5, 0.7, 0.9), "partitions": 20}
QUICK = {"training": (0.3, 0.7), "partitions": 2}
INK = {VB: "two", OURS: "ours", "SVM-RBF-Cond": "rival", "SVM-RBF-Uncond": "second rival", "Logistic-Cond": "one"}
NEAR = 0.02  # of the best in a setting: what we call robust


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Fresh targets for every partition, which the real data could not give."""
    records = []
    for partition in range(plan["partitions"]):
        X, y = make_targets(partition)
        for training in plan["training"]:
            holed, label, train, test, _ = holed_split(X, y, 0.0, training, [12, round(100 * training), partition])
            rows, labels, asked = holed[train], label[train], holed[test]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answers = {VB: one_model(partition, cell_folds=0).fit(rows, labels).predict_proba(asked)[:, 1]}
                default = IQGMEClassifier(random_state=partition, n_jobs=1, cell_folds=0).fit(rows, labels)
                answers[OURS] = default.predict_proba(asked)[:, 1]
                answers |= peer_answers(rows, labels, asked)
            for name, p in answers.items():
                records.append({"training": training, "partition": partition, "method": name,
                                "auc": float(roc_auc_score(label[test], p)),
                                "accuracy": float(((p > 0.5) == label[test]).mean())})  # fmt: skip
    return records


def values(records: list[dict[str, Any]], key: str, method: str, training: float) -> list[float]:
    return [float(r[key]) for r in records if r["method"] == method and r["training"] == training]


def claims(records: list[dict[str, Any]], plan: dict[str, Any]) -> list[Claim]:
    out = []
    for name in (VB, OURS):
        for key in ("auc", "accuracy"):
            gaps = [np.mean(values(records, key, name, t)) - max(np.mean(values(records, key, m, t)) for m in NAMES)
                    for t in plan["training"]]  # fmt: skip
            text = f"{name}, {key}: {min(gaps):+.3f} to {max(gaps):+.3f} from the best peer"
            out.append(Claim("iQGME-VB is robust in all settings by both criteria", text, min(gaps) >= -NEAR))
    return out


def draw(records: list[dict[str, Any]], plan: dict[str, Any], path: Path) -> None:
    figure, panels = make_panels(2, 2, "Made-up targets of two sensors", share_y=False)
    for panel, key in zip(panels, ("auc", "accuracy"), strict=True):
        for name, ink in INK.items():
            points = [mean_and_error(values(records, key, name, t)) for t in plan["training"]]
            mean, error = zip(*points, strict=True)
            draw_curve(panel, [100 * t for t in plan["training"]], mean, error, name, ink)
        panel.set(xlabel="training rows, % of the table", ylabel={"auc": "AUC", "accuracy": "accuracy"}[key])
    finish(figure, panels, path)


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    plan = QUICK if quick else FULL
    records = measure(plan)
    print(STATEMENT + "\n")
    for key in ("auc", "accuracy"):
        print(f"{key}, training:        " + " ".join(f"{t:>6.0%}" for t in plan["training"]))
        for name in dict.fromkeys(r["method"] for r in records):
            print(f"{name:22s} " + " ".join(f"{np.mean(values(records, key, name, t)):6.3f}" for t in plan["training"]))
    print_claims(claims(records, plan), quick)
    draw(records, plan, output / "iqgme_fig3_12.png")
    write_csv(output / "iqgme_fig3_12.csv", records)
    print(f"Picture and numbers: {output / 'iqgme_fig3_12.png'}, {output / 'iqgme_fig3_12.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
