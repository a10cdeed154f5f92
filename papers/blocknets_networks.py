"""Block nets on larger known networks: asia, sachs, child, insurance, alarm; precision, divergence and time."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import write_csv
from aclass_pictures import INK, plt
from blocknets_learners import PRIORS, learn, means
from blocknets_pictures import CURVES
from blocknets_worlds import published

FULL: dict[str, Any] = {
    "networks": ("asia", "sachs", "child", "insurance", "alarm"), "sizes": (1000,), "sets": 1, "test": 1000,
    "priors": tuple(PRIORS), "settings": {"n_chains": 2, "n_sweeps": 500},
    "longer": {prior: {"n_sweeps": 2000} for prior in ("uniform", "one class", "block")},
}  # fmt: skip
QUICK: dict[str, Any] = FULL | {
    "networks": ("asia", "child"), "sizes": (200,), "test": 50, "priors": ("uniform", "one class", "ordered"),
    "settings": {"n_chains": 2, "n_sweeps": 40}, "longer": {},
}  # fmt: skip


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    records = []
    for name in plan["networks"]:
        world = published(name)
        for number in range(plan["sets"]):
            rng = np.random.default_rng([2100, number])
            rows, test = world.draw(max(plan["sizes"]), rng), world.draw(plan["test"], rng)
            for size in plan["sizes"]:
                for prior in plan["priors"]:
                    found = learn(world, rows[:size], test, prior, plan, number).record
                    records.append({"network": name, "nodes": len(world.names), "edges": int(world.graph.sum()),
                                    "set": number, "rows": size, "prior": prior, **found})  # fmt: skip
                    print(f"{name} {size} rows, {prior}: edges {found['ap']:.3f}, either way {found['skeleton']:.3f}, "
                          f"{found['kl']:.3f} nats, {found['n_classes']} classes, chains {found['apart']:.2f} apart, "
                          f"{found['cpu']:.1f} s", flush=True)  # fmt: skip
    return records


def print_table(records: list[dict[str, Any]], plan: dict[str, Any]) -> None:
    """Directed / either-way precision and divergence for every network, size and prior."""
    print(f"\n{'network':<18}{'rows':>6}" + "".join(f"{prior:>24}" for prior in plan["priors"]))
    for name in plan["networks"]:
        lines = [r for r in records if r["network"] == name]
        for size in plan["sizes"]:
            values = [
                [means(lines, prior, size, what) for what in ("ap", "skeleton", "kl")] for prior in plan["priors"]
            ]
            head = f"{name} ({lines[0]['nodes']}, {lines[0]['edges']})"
            print(f"{head:<18}{size:>6}" + "".join(f"{a:>12.3f} {b:.3f} {c:>5.2f}" for a, b, c in values))
    print("(nodes, edges); average precision of directed edges and of edges either way, divergence in nats\n")


def draw(records: list[dict[str, Any]], plan: dict[str, Any], path: Path) -> None:
    """One panel a measure at the largest size: networks across, one mark a prior."""
    figure, panels = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    last = max(plan["sizes"])
    titles = {"ap": "precision of directed edges", "skeleton": "precision of edges either way", "kl": "nats"}
    for panel, (what, title) in zip(panels, titles.items(), strict=True):
        for k, prior in enumerate(plan["priors"]):
            values = [means([r for r in records if r["network"] == name], prior, last, what)
                      for name in plan["networks"]]  # fmt: skip
            style = {**INK[CURVES[prior]], "linestyle": "none"}
            place = np.arange(len(values)) + 0.12 * (k - (len(plan["priors"]) - 1) / 2)
            panel.plot(place, values, label=prior, **style)
        panel.set_xticks(range(len(plan["networks"])), plan["networks"])
        panel.set_title(title, fontsize=10)
        panel.grid(alpha=0.25, axis="y")
        panel.spines[["top", "right"]].set_visible(False)
    panels[2].set_yscale("log")
    figure.suptitle(f"Known networks, {last} rows", fontsize=12)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(quick: bool = False, output: Path = Path("papers/output"), **changes: Any) -> None:
    plan = {**(QUICK if quick else FULL), **changes}
    records = measure(plan)
    print_table(records, plan)
    draw(records, plan, output / "blocknets_networks.png")
    write_csv(output / "blocknets_networks.csv", records)
    print(f"Picture and numbers: {output / 'blocknets_networks.png'}, {output / 'blocknets_networks.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
