"""iQGME figure 3.11: missing pattern of targets seen by one or two sensors (a synthetic stand-in)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from aclass_claims import Claim, print_claims, write_csv
from aclass_pictures import finish, make_panels
from iqgme_two_sensors import ORDNANCE, TARGETS, make_targets

STATEMENT = "The unexploded-ordnance data are not public: these are made-up targets, as many and with such a pattern."


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    X, y = make_targets(0)
    hole = np.isnan(X)
    patterns, counts = np.unique(hole, axis=0, return_counts=True)
    print(STATEMENT)
    print_claims([
        Claim(f"{TARGETS} targets, {ORDNANCE} of them ordnance, six features", f"{len(y)}, {y.sum()}, {X.shape[1]}",
              (len(y), int(y.sum()), X.shape[1]) == (TARGETS, ORDNANCE, 6)),
        Claim("A target lacks a whole sensor or nothing", f"{len(patterns)} patterns, {counts.tolist()} targets",
              len(patterns) == 3),
    ])  # fmt: skip
    figure, panels = make_panels(1, 1, "Made-up targets: white is missing")
    panels[0].imshow(hole.T, aspect="auto", cmap="gray", interpolation="nearest")
    panels[0].grid(False)
    panels[0].set(xlabel="target", ylabel="feature (three of each sensor)")
    finish(figure, panels, output / "iqgme_fig3_11.png")
    records = [
        {"ordnance": int(c), **{f"x{j}": cell for j, cell in enumerate(row)}} for row, c in zip(X, y, strict=True)
    ]
    write_csv(output / "iqgme_fig3_11.csv", records)
    print(f"Picture and numbers: {output / 'iqgme_fig3_11.png'}, {output / 'iqgme_fig3_11.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
