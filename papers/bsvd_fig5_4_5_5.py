"""BSVD figures 5.4 and 5.5: error against entries asked for, by the rule that chooses them, without and with noise."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, mean_and_error, print_claims, write_csv
from aclass_pictures import draw_curve, finish, make_panels
from bsvd_synthetic import SIDE, freedom, relative_error, simulate

from partita import BayesianSVD

STEP = 50  # entries to begin with, and entries a step
GOAL = 0.1  # relative error whose price in entries is compared
SETTINGS = ((1, None), (5, None), (10, None), (5, 20.0), (10, 20.0), (5, 10.0), (10, 10.0))  # rank, decibel
RULES = {"random": "baseline", "variance": "rival", "line": "ours", "decorrelated": "three"}
MOST = {1: 600, 5: 1500, 10: 1800}  # entries at which a curve ends: the error has levelled off by then
# The thesis has 10 matrices a setting and asks until all is seen. Sweeps: of the first fit, of every later step.
FULL: dict[str, Any] = {"settings": SETTINGS, "matrices": 5, "first": (300, 100), "later": (200, 100), "most": MOST}
QUICK: dict[str, Any] = {
    "settings": ((1, None), (5, 20.0)), "matrices": 1, "first": (100, 50), "later": (50, 50), "most": {1: 250, 5: 300},
}  # fmt: skip


def ask(rule: str, rank: int, decibel: float | None, number: int, plan: dict[str, Any]) -> list[dict[str, Any]]:
    """One matrix, one rule: fit, ask, go on with the same chain and the new entries. All rules see the same matrix and
    the same first entries. Errors are against the matrix without noise.
    """
    rng = np.random.default_rng([5400, rank, int(decibel or 0), number])
    matrix = simulate(rank, rng, decibel)
    rows, columns = np.divmod(rng.permutation(SIDE**2)[:STEP], SIDE)
    model = BayesianSVD(
        max_rank=20, offsets=False, unequal_noise=False, missingness_features=0, n_chains=1, burn_in=plan["first"][0],
        n_samples=plan["first"][1], random_state=number, n_jobs=1, progress=False,
    )  # fmt: skip
    holed = np.full((SIDE, SIDE), np.nan)
    holed[rows, columns] = matrix.noisy[rows, columns]
    model.fit(holed)
    records = []
    while True:
        seen = int((~np.isnan(holed)).sum())
        error = relative_error(model.complete(keep_observed=False), matrix.clean)
        records.append({"rule": rule, "rank": rank, "decibel": decibel, "matrix": number, "entries": seen,
                        "error": error, "found": int(model.rank_)})  # fmt: skip
        if seen >= plan["most"][rank] or (decibel is None and error < 1e-3):
            return records
        pairs = model.acquire(min(STEP, SIDE**2 - seen), strategy=rule)
        rows, columns = (np.array(side, int) for side in zip(*pairs, strict=True))
        holed[rows, columns] = matrix.noisy[rows, columns]
        burn, keep = plan["later"]
        model.partial_fit(rows, columns, matrix.noisy[rows, columns], burn_in=burn, n_samples=keep)


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for rank, decibel in plan["settings"]:
        begin = time.process_time()
        for number in range(plan["matrices"]):
            for rule in RULES:
                records += ask(rule, rank, decibel, number, plan)
        told = ", ".join(f"{rule} {np.mean(prices(records, rule, rank, decibel)):.0f}" for rule in RULES)
        print(f"rank {rank}, {noise(decibel)}: entries to error {GOAL}: {told}  "
              f"({time.process_time() - begin:.0f} s)", flush=True)  # fmt: skip
    return records


def noise(decibel: float | None) -> str:
    return "no noise" if decibel is None else f"{decibel:g} dB"


def curve(records: list[dict[str, Any]], rule: str, rank: int, decibel: float | None, number: int) -> np.ndarray:
    """(steps, 2): entries, error."""
    key = (rule, rank, decibel, number)
    lines = [r for r in records if (r["rule"], r["rank"], r["decibel"], r["matrix"]) == key]
    return np.array([[r["entries"], r["error"]] for r in lines])


def prices(records: list[dict[str, Any]], rule: str, rank: int, decibel: float | None) -> list[float]:
    """Entries at which the error of each matrix first is GOAL or less, between steps by log-linear interpolation; the
    last count where it never was.
    """
    out = []
    for number in sorted({r["matrix"] for r in records if (r["rank"], r["decibel"]) == (rank, decibel)}):
        path = curve(records, rule, rank, decibel, number)
        below = np.flatnonzero(path[:, 1] <= GOAL)
        if not len(below):
            out.append(float(path[-1, 0]))
        elif below[0] == 0:
            out.append(float(path[0, 0]))
        else:
            (n0, e0), (n1, e1) = path[below[0] - 1], path[below[0]]
            out.append(float(n0 + (n1 - n0) * np.log(e0 / GOAL) / np.log(e0 / max(e1, 1e-12))))
    return out


def claims(records: list[dict[str, Any]], plan: dict[str, Any]) -> list[Claim]:
    out = []
    for rank, decibel in plan["settings"]:
        price = {rule: float(np.mean(prices(records, rule, rank, decibel))) for rule in RULES}
        saved = {rule: 1 - price[rule] / price["random"] for rule in RULES if rule != "random"}
        told = ", ".join(f"{rule} {share:+.0%}" for rule, share in saved.items())
        if decibel is None or decibel >= 20:
            out.append(Claim(f"Active learning needs fewer entries: rank {rank}, {noise(decibel)}",
                             f"saved to reach {GOAL}: {told}; random needs {price['random']:.0f}",
                             saved["variance"] > 0))  # fmt: skip
        line = price["line"]
        if decibel is None and rank > 1:
            limit = 1.06 * freedom(rank)
            out.append(Claim(f"(our bar) rank {rank}: at most 1.06 r (2 I - r) = {limit:.0f} entries by one rule",
                             f"line {line:.0f} = {line / freedom(rank):.2f} r (2 I - r)", line <= limit))  # fmt: skip
        elif decibel in (None, 20.0):
            least = 0.4 if decibel is None else 0.2
            out.append(Claim(f"(our bar) rank {rank}, {noise(decibel)}: at least {least:.0%} fewer than random",
                             f"line {saved['line']:.0%}", saved["line"] >= least))  # fmt: skip
    return out


def draw(records: list[dict[str, Any]], plan: dict[str, Any], path: Path) -> None:
    settings = plan["settings"]
    title = "Relative error against entries asked for (mean and standard error)"
    figure, panels = make_panels(len(settings), min(len(settings), 4), title, share_y=False)
    for panel, (rank, decibel) in zip(panels, settings, strict=False):
        numbers = sorted({r["matrix"] for r in records if (r["rank"], r["decibel"]) == (rank, decibel)})
        grid = np.arange(STEP, plan["most"][rank] + 1, STEP)
        for rule, ink in RULES.items():
            paths = [curve(records, rule, rank, decibel, number) for number in numbers]
            # a curve that ended early had recovered the matrix and stays there
            logs = np.array([np.interp(grid, p[:, 0], np.log10(np.maximum(p[:, 1], 1e-12))) for p in paths])
            points = [mean_and_error(column) for column in logs.T]
            draw_curve(panel, grid, [p[0] for p in points], [p[1] for p in points], rule, ink)
        panel.axvline(freedom(rank), color="black", linewidth=0.7, linestyle=":")
        panel.set_title(f"rank {rank}, {noise(decibel)} (dots: r (2 I - r))", fontsize=10)
        panel.set_xlabel("entries")
    panels[0].set_ylabel("log10 of the relative error")
    finish(figure, panels[: len(settings)], path)


def main(quick: bool = False, output: Path = Path("papers/output"), **changes: Any) -> None:
    plan = {**(QUICK if quick else FULL), **changes}
    print(f"{SIDE} x {SIDE}, {STEP} random entries first, {STEP} a step; {plan['matrices']} matrices a setting "
          f"(thesis: 10), {plan['later'][0]} + {plan['later'][1]} sweeps a step; seeds [5400, rank, dB, "
          "matrix]\n")  # fmt: skip
    records = measure(plan)
    print()
    print_claims(claims(records, plan), quick)
    draw(records, plan, output / "bsvd_fig5_4_5_5.png")
    write_csv(output / "bsvd_fig5_4_5_5.csv", records)
    print(f"Picture and numbers: {output / 'bsvd_fig5_4_5_5.png'}, {output / 'bsvd_fig5_4_5_5.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
