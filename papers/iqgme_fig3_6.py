"""iQGME figure 3.6: AUC against training size, WDBC with 25 and 50 % of the cells missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, print_claims, print_verdict, write_csv
from iqgme_curves import FULL, QUICK, VB, common_claims, default_gaps, draw, mean_auc, measure, print_table


def claims(records: list[dict[str, Any]], plan: dict[str, Any]) -> list[Claim]:
    fills = ("Cond", "Uncond")
    kernel, linear = (np.mean([mean_auc(records, f"SVM-{k}-{f}") for f in fills]) for k in ("RBF", "Linear"))
    return [
        *common_claims(records, plan, "WDBC"),
        Claim("The RBF kernel is inferior on WDBC", f"AUC {kernel:.3f}, linear machine {linear:.3f}",
              bool(kernel < linear)),
    ]  # fmt: skip


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    plan = QUICK if quick else FULL
    records = measure("wdbc", plan)
    print_table(records, plan)
    print_claims(claims(records, plan), quick)
    for rival in (VB, "SVM-RBF-Cond"):
        print_verdict(default_gaps(records, plan, rival), "1 - AUC", rival)
    draw(records, plan, "Wisconsin diagnostic breast cancer", output / "iqgme_fig3_6.png")
    write_csv(output / "iqgme_fig3_6.csv", records)
    print(f"Picture and numbers: {output / 'iqgme_fig3_6.png'}, {output / 'iqgme_fig3_6.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
