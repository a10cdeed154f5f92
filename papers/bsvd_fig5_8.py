"""BSVD figure 5.8: how unsure the probability of a hit is, by the number of events a batter has taken part in."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, print_claims, write_csv
from bsvd_baseball import RETROSHEET, fit, pairs
from bsvd_table5_4 import fewer

# The thesis averages over all pitchers; a random sample of them gives the mean of a batter to about 2 %.
FULL: dict[str, Any] = {"sweeps": (150, 150), "rank": 10, "players": None, "pitchers": 60}
QUICK: dict[str, Any] = {"sweeps": (30, 30), "rank": 2, "players": 200, "pitchers": 10}


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    train, begin = fewer(pairs(1954, 2008), plan["players"], [], []), time.process_time()
    fitted = fit(train, max_rank=plan["rank"], burn_in=plan["sweeps"][0], n_samples=plan["sweeps"][1], n_chains=1)
    records: list[dict[str, Any]] = []
    for side, other in (("batter", "pitcher"), ("pitcher", "batter")):
        names, place = np.unique(getattr(train, side), return_inverse=True)
        events = np.bincount(place, train.events)
        faced = np.random.default_rng(58).permutation(np.unique(getattr(train, other)))[: plan["pitchers"]]
        rows, columns = np.repeat(names, len(faced)), np.tile(faced, len(names))
        asked = (rows, columns) if side == "batter" else (columns, rows)
        p, spread = fitted.predict(*asked, return_std=True)
        means = [x.reshape(len(names), -1).mean(axis=1) for x in (p, spread)]
        for k in np.argsort(events, kind="stable"):
            records.append({"side": side, "player": names[k], "events": int(events[k]), "mean": float(means[0][k]),
                            "spread": float(means[1][k])})  # fmt: skip
    print(f"{len(train)} pairs, rank {fitted.rank_}, {time.process_time() - begin:.0f} s; the constant is "
          f"{train.rate:.4f}, the same for every pair\n")  # fmt: skip
    return records


def claims(records: list[dict[str, Any]]) -> list[Claim]:
    out = []
    for side in ("batter", "pitcher"):
        lines = [r for r in records if r["side"] == side]
        events, spread = np.array([r["events"] for r in lines]), np.array([r["spread"] for r in lines])
        tenth = max(len(lines) // 10, 1)
        few, many = spread[:tenth].mean(), spread[-tenth:].mean()
        said = "The s.d. falls from .25 to .05 with a batter's events" if side == "batter" else "Likewise for pitchers"
        text = (f"{side}s: {few:.3f} in the tenth with the fewest events, {many:.3f} with the most; events "
                f"{events.min()} to {events.max()}, median {np.median(events):.0f}")  # fmt: skip
        out.append(Claim(said, text, bool(few > 1.3 * many)))
    return out


def draw(records: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", sharey=True)
    for panel, side in zip(panels, ("batter", "pitcher"), strict=True):
        lines = [r for r in records if r["side"] == side]
        spread = np.array([r["spread"] for r in lines])
        panel.plot(spread, ".", markersize=2, color="#56B4E9", label=f"one {side}")
        width = max(len(lines) // 50, 1)
        smooth = [spread[k : k + width].mean() for k in range(0, len(lines), width)]
        panel.plot(np.arange(len(smooth)) * width + width / 2, smooth, color="#D55E00", label="mean of a fiftieth")
        marks = np.linspace(0, len(lines) - 1, 5).astype(int)
        panel.set_xticks(marks, [f"{k}\n({lines[k]['events']})" for k in marks])
        panel.set(xlabel=f"{side}s by events, fewest first (events)", ylim=(0, None))
        panel.legend(frameon=False)
    panels[0].set_ylabel("mean s.d. of the probability of a hit")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main(quick: bool = False, output: Path = Path("papers/output"), **changes: Any) -> None:
    plan = {**(QUICK if quick else FULL), **changes}
    print(RETROSHEET + "\n")
    records = measure(plan)
    print_claims(claims(records), quick)
    draw(records, output / "bsvd_fig5_8.png")
    write_csv(output / "bsvd_fig5_8.csv", records)
    print(f"Picture and numbers: {output / 'bsvd_fig5_8.png'}, {output / 'bsvd_fig5_8.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
