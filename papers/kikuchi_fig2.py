"""Kikuchi-Bayes figure 2: the tic-tac-toe board with the interactions that decide the game drawn over it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, print_claims, write_csv

from partita import KikuchiBayesClassifier
from partita.datasets import load_tic_tac_toe

PUBLISHED = {1: 5, 2: 4, 3: 6}  # attributes of a region (the class apart) -> number of such regions in the MAP model
WAYS = {1: "2-way", 2: "3-way", 3: "4-way"}
INK = {1: "#009E73", 2: "#0072B2", 3: "#D55E00"}


def find(theta: float) -> Any:
    board = load_tic_tac_toe()
    return KikuchiBayesClassifier(estimate="paper", averaging=False, theta=theta).fit(board.data, board.target)


def claims(model: Any, theta: float) -> list[Claim]:
    sizes = [len(region) for region in model.map_regions_]
    return [
        Claim(f"{n} {WAYS[size]} interactions in the MAP model", f"{sizes.count(size)} (theta {theta:g})",
              sizes.count(size) == n)
        for size, n in PUBLISHED.items()
    ]  # fmt: skip


def draw(model: Any, path: Path) -> None:
    """Squares as in the table: top left, top middle, ..., bottom right."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(5.2, 5.6), layout="constrained")
    for k in (1, 2):
        ax.plot([k, k], [0, 3], color="#333333", linewidth=1.5)
        ax.plot([0, 3], [k, k], color="#333333", linewidth=1.5)
    centre = {j: np.array([j % 3 + 0.5, 2.5 - j // 3]) for j in range(9)}
    for region in model.map_regions_:
        points = np.array([centre[j] for j in region])
        if len(region) == 1:
            ax.add_patch(plt.Circle(points[0], 0.17, fill=False, color=INK[1], linewidth=3))
        else:
            ends = points[[0, -1]]
            along = (ends[1] - ends[0]) / np.linalg.norm(ends[1] - ends[0])
            aside = np.array([-along[1], along[0]]) * (0.06 if len(region) == 2 else -0.06)
            dashes = "-" if len(region) == 2 else (0, (4, 2))
            ends = ends + aside + np.outer([1, -1], along) * (0.2 if len(region) == 2 else -0.25)
            ax.plot(*ends.T, color=INK[len(region)], linestyle=dashes, linewidth=3, solid_capstyle="butt")
            if len(region) == 2:  # serifs
                for end in ends:
                    ax.plot(*(end + np.outer([-1, 1], [-along[1], along[0]]) * 0.06).T, color=INK[2], linewidth=3)
    for size, name in WAYS.items():
        n = sum(len(region) == size for region in model.map_regions_)
        ax.plot([], [], color=INK[size], linewidth=3, linestyle="--" if size == 3 else "-", label=f"{n} {name}")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False)
    ax.set(xlim=(-0.05, 3.05), ylim=(-0.05, 3.05), aspect="equal")
    ax.axis("off")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    thetas = (1e-4,) if quick else (1e-4, 1.0)
    models = {theta: find(theta) for theta in thetas}
    print_claims([claim for theta, model in models.items() for claim in claims(model, theta)])
    model = models[thetas[0]]
    names = model.feature_names_in_
    for region in model.map_regions_:
        print(f"{WAYS[len(region)]}: {', '.join(names[list(region)])}")
    draw(model, output / "kikuchi_fig2.png")
    records = [
        {"theta": theta, "size": len(region) + 1, "region": " ".join(names[list(region)]),
         "interaction_information": fitted.interaction_information_[region]}
        for theta, fitted in models.items() for region in fitted.map_regions_
    ]  # fmt: skip
    write_csv(output / "kikuchi_fig2.csv", records)
    print(f"Picture and numbers: {output / 'kikuchi_fig2.png'}, {output / 'kikuchi_fig2.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
