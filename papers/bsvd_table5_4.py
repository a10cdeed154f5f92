"""BSVD table 5.4: top batters of 1954 and 2008 against top pitchers of 1954 and 2008, all years learnt from."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, print_claims, write_csv
from bsvd_baseball import RETROSHEET, Pairs, fit, full_names, pairs

BATTERS = ("D. Mueller", "S. Burgess", "B. Skowron", "C. Zambrano", "P. Sandoval", "R. Furcal")
PITCHERS = ("D. Mossi", "B. Turley", "R. Narleski", "C. Marmol", "G. Balfour", "B. Morrow")
PRINTED = np.array([
    [0.2829, 0.2340, 0.2543, 0.1472, 0.1755, 0.1627],
    [0.2619, 0.2277, 0.2391, 0.1338, 0.1550, 0.1502],
    [0.2657, 0.2141, 0.2339, 0.1254, 0.1530, 0.1407],
    [0.2652, 0.2215, 0.2384, 0.1313, 0.1566, 0.1475],
    [0.3570, 0.3316, 0.3402, 0.2612, 0.2792, 0.2740],
    [0.2971, 0.2599, 0.2748, 0.1721, 0.1948, 0.1876],
])  # fmt: skip
SPREAD = np.array([
    [0.0166, 0.0171, 0.0176, 0.0192, 0.0217, 0.0211],
    [0.0147, 0.0131, 0.0152, 0.0163, 0.0195, 0.0154],
    [0.0135, 0.0133, 0.0144, 0.0153, 0.0200, 0.0193],
    [0.0217, 0.0225, 0.0219, 0.0235, 0.0276, 0.0267],
    [0.0355, 0.0400, 0.0386, 0.0529, 0.0500, 0.0522],
    [0.0140, 0.0141, 0.0144, 0.0158, 0.0187, 0.0189],
])  # fmt: skip
FULL: dict[str, Any] = {"sweeps": (150, 150), "rank": 10, "players": None}
QUICK: dict[str, Any] = {"sweeps": (30, 30), "rank": 2, "players": 200}


def fewer(train: Pairs, players: int | None, batters: list[str], pitchers: list[str]) -> Pairs:
    """For a quick run: batters and pitchers with the most events, and those of the table."""
    if players is None:
        return train
    for side, kept in (("batter", batters), ("pitcher", pitchers)):
        names, place = np.unique(getattr(train, side), return_inverse=True)
        top = names[np.argsort(-np.bincount(place, train.events), kind="stable")[:players]]
        train = train.take(np.isin(getattr(train, side), [*top, *kept]))
    return train


def tops(year: Pairs, side: str, best: bool) -> list[str]:
    """Three players of a season with at least the median number of events and the highest (lowest) rate of hits."""
    names, place = np.unique(getattr(year, side), return_inverse=True)
    events, hits = np.bincount(place, year.events), np.bincount(place, year.hits)
    rate = np.where(events >= np.median(events), hits / events, -np.inf if best else np.inf)
    return [full_names()[names[k]] for k in np.argsort(-rate if best else rate, kind="stable")[:3]]


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    ids = {name: key for key, name in full_names().items() if name in (*BATTERS, *PITCHERS)}
    batters, pitchers = ([ids[name] for name in names] for names in (BATTERS, PITCHERS))
    train, begin = fewer(pairs(1954, 2008), plan["players"], batters, pitchers), time.process_time()
    fitted = fit(train, max_rank=plan["rank"], burn_in=plan["sweeps"][0], n_samples=plan["sweeps"][1], n_chains=1)
    rows, columns = np.repeat(batters, len(pitchers)), np.tile(pitchers, len(batters))
    p, spread = fitted.predict(rows, columns, return_std=True)
    print(f"{len(train)} pairs, {len(np.unique(train.batter))} batters, {len(np.unique(train.pitcher))} pitchers; the "
          f"constant is {train.rate:.4f}; rank {fitted.rank_}; {time.process_time() - begin:.0f} s\n")  # fmt: skip
    met = {(b, c): (int(n), int(h)) for b, c, n, h in
           zip(train.batter, train.pitcher, train.events, train.hits, strict=True)
           if b in batters and c in pitchers}  # fmt: skip
    records = []
    for k, (row, column) in enumerate(zip(rows, columns, strict=True)):
        i, j = divmod(k, len(pitchers))
        events, hits = met.get((row, column), (0, 0))
        records.append({"batter": BATTERS[i], "pitcher": PITCHERS[j], "printed": PRINTED[i, j],
                        "printed_spread": SPREAD[i, j], "predicted": float(p[k]), "spread": float(spread[k]),
                        "events": events, "hits": hits, "constant": train.rate})  # fmt: skip
    return records


def square(records: list[dict[str, Any]], name: str) -> np.ndarray:
    return np.array([r[name] for r in records]).reshape(len(BATTERS), len(PITCHERS))


def claims(records: list[dict[str, Any]]) -> list[Claim]:
    p, season = square(records, "predicted"), pairs(2008, 2008)
    found = (tops(season, "batter", True), tops(season, "pitcher", False))
    order = np.corrcoef(p.ravel(), PRINTED.ravel())[0, 1]
    early, late = p[:, :3].mean(), p[:, 3:].mean()
    return [
        Claim("2008: C. Zambrano, P. Sandoval, R. Furcal; C. Marmol, G. Balfour, B. Morrow",
              f"{', '.join(found[0])}; {', '.join(found[1])} (1954 alone is not in the data)",
              found == (list(BATTERS[3:]), list(PITCHERS[3:]))),
        Claim("Hitters do much better against the pitchers of 1954 (mean .265) than of 2008 (.180)",
              f"{early:.3f} and {late:.3f}", early > late + 0.02),
        Claim("The printed probabilities", f"correlation {order:.2f}; mean absolute difference "
              f"{np.abs(p - PRINTED).mean():.3f}, mean s.d. {square(records, 'spread').mean():.3f} (printed "
              f"{SPREAD.mean():.3f})", order > 0.7),
    ]  # fmt: skip


def print_table(records: list[dict[str, Any]]) -> None:
    print(f"{'predicted ± s.d. (printed)':<14}")
    print(" " * 13 + "".join(f"{name:>24}" for name in PITCHERS))
    for batter in BATTERS:
        line = [r for r in records if r["batter"] == batter]
        cells = [f"{r['predicted']:.3f} ± {r['spread']:.3f} ({r['printed']:.3f})" for r in line]
        print(f"{batter:<13}" + "".join(f"{cell:>24}" for cell in cells))
    print(f"the constant for all: {records[0]['constant']:.4f}\n")


def draw(records: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 2, figsize=(11.5, 4.4), layout="constrained")
    for panel, values, spreads, title in (
        (panels[0], PRINTED, SPREAD, "as printed"),
        (panels[1], square(records, "predicted"), square(records, "spread"), "measured"),
    ):
        image = panel.imshow(values, cmap="viridis", vmin=0.1, vmax=0.36)
        for (i, j), p in np.ndenumerate(values):
            panel.text(j, i, f"{p:.3f}\n± {spreads[i, j]:.3f}", ha="center", va="center", fontsize=8,
                       color="white" if p < 0.25 else "black")  # fmt: skip
        panel.set_xticks(range(len(PITCHERS)), PITCHERS, rotation=30, ha="right")
        panel.set_yticks(range(len(BATTERS)), BATTERS)
        panel.axvline(2.5, color="white")
        panel.axhline(2.5, color="white")
        panel.set_title(f"{title}: left and above 1954, right and below 2008", fontsize=10)
    figure.colorbar(image, ax=panels, label="probability of a hit per event")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main(quick: bool = False, output: Path = Path("papers/output"), **changes: Any) -> None:
    plan = {**(QUICK if quick else FULL), **changes}
    print(RETROSHEET + "\n")
    records = measure(plan)
    print_table(records)
    print_claims(claims(records), quick)
    draw(records, output / "bsvd_table5_4.png")
    write_csv(output / "bsvd_table5_4.csv", records)
    print(f"Picture and numbers: {output / 'bsvd_table5_4.png'}, {output / 'bsvd_table5_4.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
