"""BSVD table 5.3: log-likelihood of the 2008 season for players known from earlier ones, the constant beside."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, print_claims, write_csv
from bsvd_baseball import (
    PERIODS,
    RETROSHEET,
    Pairs,
    averages,
    empirical,
    fit,
    known_pairs,
    log_likelihood,
    pairs,
    season,
)

PRINTED = {
    "empirical": (-2.1355e6, -2.0209e6, -1.9794e6),
    "batter average": (-1.5843e5, -1.2371e5, -1.2240e5),
    "pitcher average": (-8.6514e4, -1.0130e5, -1.0144e5),
    "BSVD": (-8.3900e4, -8.8518e4, -8.8619e4),
}
BARS = {"2007": -83_270.0, "2003-2007": -88_139.0}
HANDS, ROLES = "BSVD, hands known", "BSVD, pitchers known"
MODELS = {"BSVD": "", HANDS: "hands", ROLES: "roles"}
SMOOTH = 300.0  # events of the constant added to a player's own, in the smoothed averages; not tuned
FULL: dict[str, Any] = {"periods": PERIODS, "sweeps": (200, 300), "rank": 10, "players": None,
                        "earlier": (2004, 2005, 2006, 2007)}  # fmt: skip
QUICK: dict[str, Any] = {"periods": ("2007",), "sweeps": (30, 30), "rank": 2, "players": 150,
                         "earlier": (2007,)}  # fmt: skip


def fewer(train: Pairs, test: Pairs, players: int | None) -> tuple[Pairs, Pairs]:
    """The batters with the most events only, for a quick run."""
    if players is None:
        return train, test
    names, place = np.unique(train.batter, return_inverse=True)
    kept = names[np.argsort(-np.bincount(place, train.events), kind="stable")[:players]]
    train, test = (half.take(np.isin(half.batter, kept)) for half in (train, test))
    return train, test.take(np.isin(test.pitcher, np.unique(train.pitcher)))


def settings(plan: dict[str, Any]) -> dict[str, Any]:
    burn, keep = plan["sweeps"]
    return {"max_rank": plan["rank"], "burn_in": burn, "n_samples": keep, "n_chains": 1}


def measure_earlier(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Seasons before 2008 from the one before each: what of the players is worth knowing is seen there."""
    records = []
    for year in plan["earlier"]:
        train, test = fewer(*known_pairs(pairs(year - 1, year - 1), pairs(year, year)), plan["players"])
        for name, side in MODELS.items():
            p = fit(train, side=side, **settings(plan)).predict_proba(test.batter, test.pitcher)
            records.append({"year": year, "method": name, "log_likelihood": log_likelihood(p, test)})
        told = ", ".join(f"{r['method']} {r['log_likelihood']:,.0f}" for r in records[-len(MODELS) :])
        print(f"{year} from {year - 1}: {told}", flush=True)
    return records


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    records = []
    for period in plan["periods"]:
        train, test = fewer(*season(period), plan["players"])
        begin = time.process_time()
        fitted = {name: fit(train, side=side, **settings(plan)) for name, side in MODELS.items()}
        answers = {
            "empirical": empirical(train, test),
            "batter average": averages(train, test, "batter"),
            "pitcher average": averages(train, test, "pitcher"),
            "batter average, smoothed": averages(train, test, "batter", SMOOTH),
            "constant": np.full(len(test), train.rate),
        } | {name: model.predict_proba(test.batter, test.pitcher) for name, model in fitted.items()}
        for name, p in answers.items():
            printed = PRINTED[name][PERIODS.index(period)] if name in PRINTED else None
            records.append({"period": period, "method": name, "printed": printed,
                            "log_likelihood": log_likelihood(p, test), "pairs": len(test),
                            "events": int(test.events.sum())})  # fmt: skip
        print(f"{period}: {len(train)} pairs to learn from, {len(np.unique(test.batter))} batters and "
              f"{len(np.unique(test.pitcher))} pitchers of 2008, rank above the noise {fitted['BSVD'].rank_}, "
              f"{time.process_time() - begin:.0f} s", flush=True)  # fmt: skip
    return records


def held_out(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The ten pairs that met most from 2003 to 2007 are left out of what is learnt from, then predicted."""
    both = fewer(pairs(2003, 2007), pairs(2003, 2007), plan["players"])[0]
    most = np.argsort(-both.events, kind="stable")[:10]
    rest = np.ones(len(both), bool)
    rest[most] = False
    fitted = fit(both.take(rest), **settings(plan))
    asked = both.take(most)
    p, spread = fitted.predict(asked.batter, asked.pitcher, return_std=True)
    lines = zip(asked.batter, asked.pitcher, asked.events, asked.hits, p, spread, strict=True)
    return [{"batter": b, "pitcher": c, "events": int(n), "rate": h / n, "predicted": q, "spread": s}
            for b, c, n, h, q, s in lines]  # fmt: skip


def value(records: list[dict[str, Any]], period: str, method: str) -> float:
    return next(r["log_likelihood"] for r in records if (r["period"], r["method"]) == (period, method))


def claims(records: list[dict[str, Any]], held: list[dict[str, Any]], periods: tuple[str, ...]) -> list[Claim]:
    out = []
    for period in periods:
        ours, constant = value(records, period, "BSVD"), value(records, period, "constant")
        rivals = max(value(records, period, name) for name in ("empirical", "batter average", "pitcher average"))
        text = f"{ours:,.0f} against {rivals:,.0f}; the constant has {constant:,.0f}"
        out.append(Claim(f"{period}: BSVD is ahead of the baselines (constant not among them)", text, ours > rivals))
        text = f"{ours - constant:+,.0f}"
        out.append(Claim(f"{period}: (not in the thesis) BSVD is ahead of the constant", text, ours > constant))
        if period in BARS:
            best = value(records, period, ROLES)
            out.append(Claim(f"(our bar) {period}: at least {BARS[period]:,.0f}", f"{ours:,.0f}; where it is known "
                             f"which batters are pitchers {best:,.0f}", best >= BARS[period]))  # fmt: skip
    p, gap = np.array([r["predicted"] for r in held]), np.abs([r["predicted"] - r["rate"] for r in held])
    spread = np.array([r["spread"] for r in held])
    out.append(Claim("Ten held-out pairs: predicted .24 to .29, s.d. about .014, rates .0128 to .0862 away",
                     f"predicted {p.min():.3f} to {p.max():.3f}, s.d. {spread.mean():.3f}, {gap.min():.4f} to "
                     f"{gap.max():.4f} away", bool(gap.max() < 0.12)))  # fmt: skip
    return out


def print_table(records: list[dict[str, Any]], periods: tuple[str, ...]) -> None:
    print(f"\n{'log-likelihood of 2008, printed in brackets':<46}" + "".join(f"{p:>26}" for p in periods))
    for name in dict.fromkeys(r["method"] for r in records):
        cells = []
        for period in periods:
            line = next(r for r in records if (r["period"], r["method"]) == (period, name))
            known = "" if line["printed"] is None else f" ({line['printed']:,.0f})"
            cells.append(f"{line['log_likelihood']:,.0f}{known}")
        print(f"{name:<46}" + "".join(f"{c:>26}" for c in cells))
    print()


def draw(records: list[dict[str, Any]], held: list[dict[str, Any]], periods: tuple[str, ...], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(periods) + 1, figsize=(3.6 * (len(periods) + 1), 3.6), layout="constrained")
    shown = ("pitcher average", "batter average, smoothed", "constant", *MODELS)
    for panel, period in zip(panels, periods, strict=False):
        events = next(r["events"] for r in records if r["period"] == period)
        zero = value(records, period, "constant")
        gains = [1e3 * (value(records, period, name) - zero) / events for name in shown]
        panel.barh(shown, gains, color=["#999999", "#0072B2", "#333333", "#D55E00", "#D55E00", "#D55E00"])
        printed = 1e3 * (PRINTED["BSVD"][PERIODS.index(period)] - zero) / events
        panel.axvline(printed, color="black", linestyle=":", linewidth=1.2)
        panel.axvline(0.0, color="black", linewidth=0.8)
        panel.set(title=f"learnt from {period}", xlabel="gain on the constant,\nnats per 1000 events")
        if panel is not panels[0]:
            panel.set_yticklabels([])
    panels[0].text(0.02, 0.02, "dots: BSVD as printed", transform=panels[0].transAxes, fontsize=8)
    order = np.argsort([r["predicted"] for r in held])
    p, s, rate = (np.array([held[k][name] for k in order]) for name in ("predicted", "spread", "rate"))
    panels[-1].errorbar(range(len(p)), p, yerr=s, fmt="o", color="#D55E00", label="predicted ± s.d.")
    panels[-1].plot(range(len(p)), rate, "D", color="#333333", markerfacecolor="none", label="observed rate")
    panels[-1].set(title="ten held-out pairs", xlabel="pair, learnt from 2003-2007", ylabel="hits per event")
    panels[-1].legend(frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def main(quick: bool = False, output: Path = Path("papers/output"), **changes: Any) -> None:
    plan = {**(QUICK if quick else FULL), **changes}
    print(RETROSHEET + "\n")
    earlier, records, held = measure_earlier(plan), measure(plan), held_out(plan)
    print_table(records, plan["periods"])
    print_claims(claims(records, held, plan["periods"]), quick)
    draw(records, held, plan["periods"], output / "bsvd_table5_3.png")
    write_csv(output / "bsvd_table5_3.csv", records)
    if earlier:
        write_csv(output / "bsvd_table5_3_earlier.csv", earlier)
    write_csv(output / "bsvd_table5_3_held_out.csv", held)
    print(f"Picture and numbers: {output / 'bsvd_table5_3.png'}, {output / 'bsvd_table5_3.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
