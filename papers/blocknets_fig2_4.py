"""Block nets figure 2.4: ten diseases and twenty symptoms by noisy-or, as in QMR: marginals, and divergence by rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from aclass_claims import Claim, print_claims, write_csv
from blocknets_figure import measure, print_table
from blocknets_learners import PRIORS, means
from blocknets_pictures import draw_ladder
from blocknets_worlds import diseases

FULL: dict[str, Any] = {
    "sets": 2, "sizes": (20, 80, 320), "test": 1000, "priors": tuple(PRIORS),
    "settings": {"n_chains": 2, "n_sweeps": 600},
    "longer": {prior: {"n_sweeps": 1500} for prior in ("uniform", "one class", "block")},
}  # fmt: skip
QUICK: dict[str, Any] = FULL | {
    "sets": 1, "sizes": (20, 80), "test": 100, "settings": {"n_chains": 2, "n_sweeps": 60}, "longer": {},
}  # fmt: skip


def claims(records: list[dict[str, Any]]) -> list[Claim]:
    few, more = ({(w, p): means(records, p, size, w) for w in ("ap", "kl", "together", "right") for p in PRIORS}
                 for size in (20, 80))  # fmt: skip
    return [
        Claim("The unordered model makes accurate predictions about classes from 20 examples",
              f"probability of one class, within less across: block {few['together', 'block']:.2f}, ordered "
              f"{few['together', 'ordered']:.2f}", few["together", "block"] > 0.5),
        Claim("Both block models recover the classes (80 examples)",
              f"block {more['together', 'block']:.2f}, ordered {more['together', 'ordered']:.2f}; exact on "
              f"{more['right', 'block']:.0%} and {more['right', 'ordered']:.0%} of the sets",
              min(more["together", "block"], more["together", "ordered"]) > 0.8),
        Claim("With 80 examples the block model is accurate about the edges",
              f"average precision: block {more['ap', 'block']:.2f}, ordered {more['ap', 'ordered']:.2f}, one class "
              f"{more['ap', 'one class']:.2f}, uniform {more['ap', 'uniform']:.2f}", more["ap", "block"] > 0.9),
        Claim("and its predictive distribution is better than the uniform model's",
              f"nats: block {more['kl', 'block']:.2f}, uniform {more['kl', 'uniform']:.2f}",
              more["kl", "block"] < more["kl", "uniform"]),
        Claim("(our bar) block at least .945 at 80 rows", f"{more['ap', 'block']:.3f}", more["ap", "block"] >= 0.945),
        Claim("(our bar) ordered at least .40 at 20 rows", f"{few['ap', 'ordered']:.3f}",
              few["ap", "ordered"] >= 0.40),
    ]  # fmt: skip


def main(quick: bool = False, output: Path = Path("papers/output"), **changes: Any) -> None:
    plan = {**(QUICK if quick else FULL), **changes}
    records, world, shown = measure("fig2.4", diseases, plan)
    print_table(records, plan)
    print_claims(claims(records), quick)
    title = "Figure 2-4: diseases and symptoms (marginals of set 0, true edges marked; divergences are means)"
    draw_ladder(world, shown, records, plan["sizes"], plan["priors"], title, output / "blocknets_fig2_4.png")
    write_csv(output / "blocknets_fig2_4.csv", records)
    print(f"Picture and numbers: {output / 'blocknets_fig2_4.png'}, {output / 'blocknets_fig2_4.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
