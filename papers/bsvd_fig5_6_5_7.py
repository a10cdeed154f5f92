"""BSVD figures 5.6 and 5.7: error and inferred rank on MovieLens 1M against the share of ratings learnt from."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, mean_and_error, print_claims, write_csv
from aclass_pictures import draw_curve, finish, make_panels
from bsvd_splits import scores, share
from bsvd_table5_2 import OURS, THESIS, model

INKS = {THESIS: "baseline", OURS: "ours"}
# The thesis has five random choices a size and prints pictures only; GP-LVM's curves are there, its numbers are not.
FULL: dict[str, Any] = {
    "fractions": (0.1, 0.3, 0.5, 0.7, 0.9), "trials": 2, "users": None, "methods": (THESIS, OURS),
    "sweeps": {THESIS: (100, 200), OURS: (200, 200)}, "size": "1m",
}  # fmt: skip
QUICK: dict[str, Any] = {
    "fractions": (0.3, 0.9), "trials": 1, "users": 200, "methods": (THESIS, OURS),
    "sweeps": {THESIS: (20, 20), OURS: (20, 20)}, "size": "100k",
}  # fmt: skip


def measure(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """The basic model: neither side information nor missingness."""
    records = []
    for fraction in plan["fractions"]:
        for trial in range(plan["trials"]):
            split = share(fraction, 5600 + trial, plan["size"])
            split = split.part(plan["users"]) if plan["users"] else split
            known = np.isin(split.test.user, split.train.user)
            test = split.test.take(known)
            for method in plan["methods"]:
                begin = time.process_time()
                fitted = model(method, plan["sweeps"][method])
                fitted.fit_triplets(split.train.user, split.train.movie, split.train.stars)
                ranks = fitted.rank_posterior_
                line = {"fraction": fraction, "trial": trial, "method": method, "ratings": len(split.train),
                        **scores(fitted.predict(test.user, test.movie), test), "rank": float(fitted.rank_),
                        "rank_mean": sum(k * p for k, p in ranks.items()),
                        "seconds": time.process_time() - begin}  # fmt: skip
                records.append(line)
                print(f"{split.name}, {method}: RMSE {line['rmse']:.4f}, NMAE {line['nmae']:.4f}, rank "
                      f"{line['rank']:g} (mean {line['rank_mean']:.1f}), {line['seconds']:.0f} s",
                      flush=True)  # fmt: skip
    return records


def pick(records: list[dict[str, Any]], method: str, fraction: float, name: str) -> list[float]:
    return [r[name] for r in records if (r["method"], r["fraction"]) == (method, fraction)]


def claims(records: list[dict[str, Any]], plan: dict[str, Any]) -> list[Claim]:
    out, first, last = [], plan["fractions"][0], plan["fractions"][-1]
    for method in plan["methods"]:
        ranks = [np.mean(pick(records, method, f, "rank")) for f in plan["fractions"]]
        line = np.corrcoef(plan["fractions"], ranks)[0, 1] if len(set(ranks)) > 1 else 0.0
        errors = [np.mean(pick(records, method, f, "rmse")) for f in (first, last)]
        out.append(Claim("The rank grows nearly linearly with the training size",
                         f"{method}: {', '.join(f'{r:.1f}' for r in ranks)}; correlation {line:.2f}",
                         bool(ranks[-1] > ranks[0] and line > 0.9)))  # fmt: skip
        out.append(Claim("The error falls with the training size", f"{method}: RMSE {errors[0]:.4f} at {first:.0%}, "
                         f"{errors[1]:.4f} at {last:.0%}", bool(errors[1] < errors[0])))  # fmt: skip
    print("Cited only, not run: GP-LVM is worse at every size, and over-fits small sizes with 6 or 10 dimensions.\n")
    return out


def draw(records: list[dict[str, Any]], plan: dict[str, Any], path: Path) -> None:
    title = f"MovieLens {plan['size'].upper()}, no side information, by the share of ratings learnt from"
    figure, panels = make_panels(3, 3, title, share_y=False)
    for panel, name, word in zip(panels, ("rmse", "nmae", "rank"), ("RMSE", "NMAE, rounded", "rank"), strict=True):
        for method in plan["methods"]:
            points = [mean_and_error(pick(records, method, f, name)) for f in plan["fractions"]]
            draw_curve(panel, [100 * f for f in plan["fractions"]], [p[0] for p in points], [p[1] for p in points],
                       method, INKS[method])  # fmt: skip
        panel.set_xlabel("% of the ratings learnt from")
        panel.set_title(word, fontsize=10)
    finish(figure, panels, path)


def main(quick: bool = False, output: Path = Path("papers/output"), **changes: Any) -> None:
    plan = {**(QUICK if quick else FULL), **changes}
    print(f"{plan['trials']} random choices a size (thesis: five), seeds from 5600; the thesis prints pictures only\n")
    records = measure(plan)
    print()
    print_claims(claims(records, plan), quick)
    draw(records, plan, output / "bsvd_fig5_6_5_7.png")
    write_csv(output / "bsvd_fig5_6_5_7.csv", records)
    print(f"Picture and numbers: {output / 'bsvd_fig5_6_5_7.png'}, {output / 'bsvd_fig5_6_5_7.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
