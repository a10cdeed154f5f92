"""Block nets figure 2.5: regulators that act on each other and on genes: marginals, and divergence by rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, print_claims, write_csv
from blocknets_figure import measure, print_table
from blocknets_learners import PRIORS, Found, means
from blocknets_pictures import draw_ladder
from blocknets_worlds import World, regulators

FULL: dict[str, Any] = {
    "sets": 1, "sizes": (50, 200, 1000), "test": 2000, "priors": tuple(PRIORS),
    "settings": {"n_chains": 2, "n_sweeps": 250},
}  # fmt: skip
QUICK: dict[str, Any] = FULL | {
    "sets": 1, "sizes": (50, 1000), "test": 200, "settings": {"n_chains": 2, "n_sweeps": 60},
}  # fmt: skip


def among(one: Found, world: World) -> tuple[float, float]:
    """Expected true and mistaken edges into regulators, edges among two regulators counted either way as true."""
    edges, true = one.edges, world.graph | world.graph.T
    into = edges[:, :4]
    return float((into * true[:, :4]).sum()), float((into * (1 - true[:, :4])).sum())


def claims(records: list[dict[str, Any]], world: World, shown: dict[tuple[str, int], Found]) -> list[Claim]:
    last = max(r["rows"] for r in records)
    first = min(r["rows"] for r in records)
    together = {(p, s): means(records, p, s, "together") for p in PRIORS for s in (first, last)}
    right = {p: np.mean([r["right"] for r in records if (r["prior"], r["rows"]) == (p, last)]) for p in PRIORS}
    block = shown["block", last].edges
    pair = {prior: shown[prior, last].edges[:2, :2] for prior in PRIORS}
    wrong = {prior: among(shown[prior, last], world)[1] for prior in PRIORS}
    ap = {prior: means(records, prior, last, "ap") for prior in PRIORS}
    return [
        Claim(f"After {last} samples the block model is confident of the correct classes",
              f"probability of one class, within less across: {together['block', last]:.2f} (ordered "
              f"{together['ordered', last]:.2f}); exact on {right['block']:.0%} of the sets",
              together["block", last] > 0.8),
        Claim("and considers the edge between regulators 1 and 2, unsure of its direction (set 0)",
              f"P(1 -> 2) {block[0, 1]:.2f}, P(2 -> 1) {block[1, 0]:.2f}; 3 and 4: {block[2, 3]:.2f} and "
              f"{block[3, 2]:.2f}",
              bool(block[0, 1] + block[1, 0] > 0.1 and min(block[0, 1], block[1, 0]) > 0.02)),
        Claim("The uniform model has similar beliefs about it, and mistaken ones about other influences on regulators",
              f"P(1 - 2) {pair['uniform'].sum():.2f}, block {pair['block'].sum():.2f}; expected mistaken edges into "
              f"regulators (set 0): uniform {wrong['uniform']:.2f}, block {wrong['block']:.2f}",
              wrong["uniform"] > wrong["block"]),
        Claim("The ordered model infers class differences earlier",
              f"at {first} rows: ordered {together['ordered', first]:.2f}, block {together['block', first]:.2f}",
              together["ordered", first] > together["block", first]),
        Claim("(average precision; not printed)", ", ".join(f"{p} {value:.2f}" for p, value in ap.items()),
              max(ap["block"], ap["ordered"]) > ap["uniform"]),
    ]  # fmt: skip


def main(quick: bool = False, output: Path = Path("papers/output"), **changes: Any) -> None:
    plan = {**(QUICK if quick else FULL), **changes}
    records, world, shown = measure("fig2.5", regulators, plan)
    print_table(records, plan)
    print_claims(claims(records, world, shown), quick)
    title = "Figure 2-5: four regulators and their genes (marginals of set 0, true edges marked; divergences are means)"
    draw_ladder(world, shown, records, plan["sizes"], plan["priors"], title, output / "blocknets_fig2_5.png")
    write_csv(output / "blocknets_fig2_5.csv", records)
    print(f"Picture and numbers: {output / 'blocknets_fig2_5.png'}, {output / 'blocknets_fig2_5.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
