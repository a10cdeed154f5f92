"""Block nets figure 2.2: twelve nodes in three layers, 75 rows: edge and class marginals under every prior."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, print_claims, write_csv
from blocknets_figure import SETTINGS, measure, print_table
from blocknets_learners import PRIORS, THESIS, means
from blocknets_pictures import draw_layers
from blocknets_worlds import layered

ROWS = 75
# The thesis's own chain: ten searches of 2,000 iterations.
FULL: dict[str, Any] = {
    "sets": 5, "sizes": (ROWS,), "test": 2000, "priors": (*PRIORS, *THESIS), "settings": SETTINGS,
    "thesis": {"n_chains": 10, "n_sweeps": 2000},
}  # fmt: skip
QUICK: dict[str, Any] = FULL | {
    "sets": 1, "test": 200, "settings": {"n_chains": 2, "n_sweeps": 100},
    "thesis": {"n_chains": 2, "n_sweeps": 100},
}  # fmt: skip


def claims(records: list[dict[str, Any]]) -> list[Claim]:
    ap, kl, spurious, right = (
        {prior: means(records, prior, ROWS, what) for prior in (*PRIORS, *THESIS)}
        for what in ("ap", "kl", "spurious", "together")
    )
    return [
        Claim("Both block models discover the three classes",
              f"probability of one class, within less across layers: ordered {right['ordered']:.2f}, block "
              f"{right['block']:.2f}; by the thesis's chain {right['ordered, thesis']:.2f} and "
              f"{right['block, thesis']:.2f}", min(right["ordered"], right["block"]) > 0.5),
        Claim("and make accurate predictions about the edges",
              f"average precision: ordered {ap['ordered']:.2f}, block {ap['block']:.2f} (thesis's chain "
              f"{ap['ordered, thesis']:.2f}, {ap['block, thesis']:.2f}), one class {ap['one class']:.2f}",
              min(ap["ordered"], ap["block"]) > ap["one class"]),
        Claim("The uniform model is less accurate: confident of some edges that violate the layers",
              f"average precision {ap['uniform']:.2f}; expected edges that are not there {spurious['uniform']:.1f} "
              f"(ordered {spurious['ordered']:.1f}, block {spurious['block']:.1f})",
              ap["uniform"] < min(ap["ordered"], ap["block"])
              and spurious["uniform"] > max(spurious["ordered"], spurious["block"])),
        Claim("(divergence from the truth; not printed for this figure)",
              ", ".join(f"{prior} {kl[prior]:.2f}" for prior in PRIORS), kl["ordered"] < kl["uniform"]),
        Claim("(our bar) ordered at least .90", f"{ap['ordered']:.3f}", ap["ordered"] >= 0.90),
        Claim("(our bar) auto not under ordered by more than .02",
              f"{ap['auto'] - ap['ordered']:+.3f}", ap["auto"] >= ap["ordered"] - 0.02),
    ]  # fmt: skip


def main(quick: bool = False, output: Path = Path("papers/output"), **changes: Any) -> None:
    plan = {**(QUICK if quick else FULL), **changes}
    records, world, shown = measure("fig2.2", layered, plan)
    print_table(records, plan)
    print_claims(claims(records), quick)
    spread = np.std([r["ap"] for r in records if r["prior"] == "ordered"])
    print(f"Sets differ much: standard deviation of ordered's precision between them {spread:.2f}.")
    title = "Figure 2-2: three layers of four, 75 rows (set 0; orange: edges that are not there, or marks on true ones)"
    found = {prior: shown[prior, ROWS] for prior in plan["priors"]}
    draw_layers(world, found, title, output / "blocknets_fig2_2.png")
    write_csv(output / "blocknets_fig2_2.csv", records)
    print(f"Picture and numbers: {output / 'blocknets_fig2_2.png'}, {output / 'blocknets_fig2_2.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
