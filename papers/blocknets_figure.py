"""What the scripts of figures 2-2 to 2-6 share: worlds, tables of several sizes, every prior on each, a table of
means."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from blocknets_learners import Found, learn
from blocknets_worlds import World

SETTINGS: dict[str, Any] = {"n_chains": 2, "n_sweeps": 500}
# Above 16 columns chains walk over graphs: a sweep is cheap, and many are needed.
LARGER: dict[str, Any] = {
    "settings": {"n_chains": 4, "n_sweeps": 600},
    "longer": {prior: {"n_sweeps": 4000} for prior in ("uniform", "one class", "block")},
}
COLUMNS = {
    "ap": "edges", "skeleton": "either way", "kl": "nats", "spurious": "spurious", "together": "classes",
    "right": "exact", "apart": "apart", "cpu": "CPU s",
}  # fmt: skip
LEGEND = (
    "edges, either way: average precision of directed and of undirected edges; nats: divergence from the truth; "
    "spurious: expected\nedges that are not there; classes: mean probability of one class over pairs that share one, "
    "less that over pairs that do not\n(one true class: the former); exact: share of sets with exactly the true "
    "classes; apart: largest difference between chains."
)


def measure(
    figure: str, maker: Callable[[np.random.Generator], World], plan: dict[str, Any]
) -> tuple[list[dict[str, Any]], World, dict[tuple[str, int], Found]]:
    """Every prior of the plan on every set and size: all records, and the first world with what was found in it.

    A larger table of a set begins with the rows of the smaller ones; all priors see the same rows.
    """
    records: list[dict[str, Any]] = []
    worlds, shown = [], {}
    for number in range(plan["sets"]):
        rng = np.random.default_rng([2000 + int(figure.split(".")[-1]), number])
        world = maker(rng)
        worlds.append(world)
        rows, test = world.draw(max(plan["sizes"]), rng), world.draw(plan["test"], rng)
        for size in plan["sizes"]:
            begun = time.process_time()
            for prior in plan["priors"]:
                found = learn(world, rows[:size], test, prior, plan, number)
                records.append({"figure": figure, "set": number, "rows": size, "prior": prior, **found.record})
                if number == 0:
                    shown[prior, size] = found
            told = ", ".join(f"{r['prior']} {r['ap']:.2f}" for r in records[-len(plan["priors"]) :])
            print(f"set {number}, {size} rows: {told}  ({time.process_time() - begun:.0f} s)", flush=True)
    return records, worlds[0], shown


def print_table(records: list[dict[str, Any]], plan: dict[str, Any]) -> None:
    """Means over the sets, one line for every size and prior."""
    print(f"\n{'rows':>5} {'prior':<16}" + "".join(f"{head:>11}" for head in COLUMNS.values()))
    for size in plan["sizes"]:
        for prior in plan["priors"]:
            lines = [r for r in records if (r["rows"], r["prior"]) == (size, prior)]
            means = [float(np.mean([r[name] for r in lines])) for name in COLUMNS]
            print(f"{size:>5} {prior:<16}" + "".join(f"{value:>11.3f}" for value in means))
    print(f"{LEGEND}\n")
