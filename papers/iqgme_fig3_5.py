"""iQGME figure 3.5: AUC against training size, Ionosphere with 25 and 50 % of the cells missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, print_claims, print_verdict, write_csv
from iqgme_curves import FULL, QUICK, VB, common_claims, default_gaps, draw, mean_auc, measure, print_table
from iqgme_peers import NAMES


def claims(records: list[dict[str, Any]], plan: dict[str, Any]) -> list[Claim]:
    few = min(plan["training"])
    others = [name for name in NAMES if name != "SVM-RBF-Cond"]
    kernel, rest = (mean_auc(records, "SVM-RBF-Cond", training=few),
                    max(mean_auc(records, name, training=few) for name in others))  # fmt: skip
    ours = mean_auc(records, VB, training=few)
    text = f"{few:.0%} training: {kernel:.3f}, best other peer {rest:.3f}, iQGME-VB {ours:.3f}"
    pairs = [(f"SVM-RBF-{f}", f"SVM-Linear-{f}") for f in ("Cond", "Uncond")]
    gain = np.mean([mean_auc(records, kernel) - mean_auc(records, linear) for kernel, linear in pairs])
    return [
        *common_claims(records, plan, "Ionosphere"),
        Claim("SVM-RBF-Cond does well on Ionosphere, above all with few training rows", text, kernel >= rest),
        Claim("Kernel methods gain by the RBF kernel here", f"AUC {gain:+.3f} over the linear machine", bool(gain > 0)),
    ]


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    plan = QUICK if quick else FULL
    records = measure("ionosphere", plan)
    print_table(records, plan)
    print_claims(claims(records, plan), quick)
    for rival in (VB, "SVM-RBF-Cond"):
        print_verdict(default_gaps(records, plan, rival), "1 - AUC", rival)
    draw(records, plan, "Ionosphere", output / "iqgme_fig3_5.png")
    write_csv(output / "iqgme_fig3_5.csv", records)
    print(f"Picture and numbers: {output / 'iqgme_fig3_5.png'}, {output / 'iqgme_fig3_5.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
