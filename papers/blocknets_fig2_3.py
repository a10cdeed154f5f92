"""Block nets figure 2.3: random sparse graphs without block structure: marginals, and divergence by rows."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from aclass_claims import Claim, print_claims, write_csv
from blocknets_figure import SETTINGS, measure, print_table
from blocknets_learners import PRIORS, means
from blocknets_pictures import draw_ladder
from blocknets_worlds import sparse

FULL: dict[str, Any] = {
    "sets": 4, "sizes": (20, 75, 500), "test": 2000, "priors": tuple(PRIORS), "settings": SETTINGS,
}  # fmt: skip
QUICK: dict[str, Any] = FULL | {
    "sets": 1, "sizes": (20, 75), "test": 200, "settings": {"n_chains": 2, "n_sweeps": 100},
}  # fmt: skip


def claims(records: list[dict[str, Any]], sizes: tuple[int, ...]) -> list[Claim]:
    def by(what: str, prior: str) -> list[float]:
        return [means(records, prior, size, what) for size in sizes]

    def told(values: list[float]) -> str:
        return " ".join(f"{value:.2f}" for value in values)

    one = by("n_classes", "block")
    kl, ap = {p: by("kl", p) for p in PRIORS}, {p: by("ap", p) for p in PRIORS}
    fewer = [means(records, "block", s, "spurious") < means(records, "uniform", s, "spurious") for s in sizes]
    behind = max(abs(a / b - 1) for a, b in zip(kl["ordered"], kl["uniform"], strict=True))
    sparse_sizes = [k for k, size in enumerate(sizes) if size <= 250]
    rows = ", ".join(map(str, sizes))
    return [
        Claim("The block model finds no block structure: all nodes in a single class",
              f"mean number of classes at {rows} rows: {told(one)}; probability that two share one "
              f"{told(by('together', 'block'))}", max(one) < 1.5),
        Claim("Fewer mistaken predictions about edges than the uniform model",
              f"spurious edges {told(by('spurious', 'block'))}, uniform {told(by('spurious', 'uniform'))}", all(fewer)),
        Claim("and closer to the true distribution",
              f"nats, block {told(kl['block'])}, uniform {told(kl['uniform'])}",
              all(kl["block"][k] < kl["uniform"][k] for k in sparse_sizes)),
        Claim("The ordered model is comparable to the uniform one",
              f"nats {told(kl['ordered'])}", behind < 0.25),
        Claim("(the baseline the thesis lacked) the block prior ties one learnt density",
              f"nats, one class {told(kl['one class'])}; precision {told(ap['block'])} against {told(ap['one class'])}",
              max(abs(a - b) for a, b in zip(ap["block"], ap["one class"], strict=True)) < 0.02),
        Claim("(our bar) block and auto not under one class by more than .015 at 75 rows",
              f"block {ap['block'][1] - ap['one class'][1]:+.3f}, auto {ap['auto'][1] - ap['one class'][1]:+.3f}",
              min(ap["block"][1], ap["auto"][1]) >= ap["one class"][1] - 0.015),
    ]  # fmt: skip


def main(quick: bool = False, output: Path = Path("papers/output"), **changes: Any) -> None:
    plan = {**(QUICK if quick else FULL), **changes}
    records, world, shown = measure("fig2.3", sparse, plan)
    print_table(records, plan)
    print_claims(claims(records, plan["sizes"]), quick)
    title = "Figure 2-3: a random sparse graph (marginals of set 0, true edges marked; divergences are means)"
    draw_ladder(world, shown, records, plan["sizes"], plan["priors"], title, output / "blocknets_fig2_3.png")
    write_csv(output / "blocknets_fig2_3.csv", records)
    print(f"Picture and numbers: {output / 'blocknets_fig2_3.png'}, {output / 'blocknets_fig2_3.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
