"""Who acts with whom at tic-tac-toe: a search that knows nothing of the game finds its lines.

The table has every board at which a game can end, a column for each of the nine squares, and whether x has won. By the
rules the squares of a line act together, and nothing else does. The model is told neither where a square is nor what a
line is. It adds regions, sets of squares, one at a time: first squares by themselves, then pairs, then triples.

With all 958 boards the hilltop of the path has six triples, and all six are lines; the other two do not pay for their
parameters. The centre, which is in four lines, says most by itself, and the corners, which are in three, come next.
With fewer boards (`n_boards`) fewer lines are found and pairs come in that are no part of the rules, as the last line
printed says for half of the boards: a region that was found is a guess, and more rows make it a better one.

    python examples/tic_tac_toe_interactions.py [folder for the picture]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import partita

SQUARE, PAIR, LINE = "#5a9367", "#2f6f9f", "#d1495b"
CENTRES = np.array([(j % 3 + 0.5, 2.5 - j // 3) for j in range(9)])  # of the squares, in the order of the columns


def find(table: Any, n_boards: int | None = None) -> partita.KikuchiBayesClassifier:
    """Learn from some boards, drawn at random, or from all; say what was found."""
    rows = np.random.default_rng(0).permutation(len(table.data))[:n_boards]
    y = table.target_names[table.target[rows]]
    model = partita.KikuchiBayesClassifier(estimate="paper").fit(table.data.iloc[rows], y)
    triples = [region for region in model.map_regions_ if len(region) == 3]
    pairs = [region for region in model.map_regions_ if len(region) == 2]
    lines = sum(region in table.lines for region in triples)
    part = sum(any(set(pair) <= set(line) for line in table.lines) for pair in pairs)
    print(f"{len(rows)} boards: {lines} of {len(triples)} triples are lines, {part} of {len(pairs)} pairs lie in one")
    return model


def draw_board(model: partita.KikuchiBayesClassifier, ax: Any) -> None:
    """The regions of the hilltop over the board; what a square says by itself is the size of its disc."""
    for k in (1, 2):
        ax.plot([k, k], [0, 3], [0, 3], [k, k], color="0.75", linewidth=1.2, zorder=0)
    information = model.interaction_information_
    largest = max((information[r] for r in model.map_regions_ if len(r) == 1), default=1.0)
    for region in sorted(model.map_regions_, key=len, reverse=True):
        points = CENTRES[list(region)]
        if len(region) == 1:
            ax.scatter(*points.T, s=900 * information[region] / largest, color=SQUARE, zorder=3)
        else:
            along = points[-1] - points[0]
            along = along / np.hypot(*along)
            aside = np.array([-along[1], along[0]]) * (0.09 if len(region) == 2 else -0.05)
            reach = np.outer([-1, 1], along) * (0.28 if len(region) == 3 else -0.1)
            ax.plot(*(points[[0, -1]] + aside + reach).T, color=PAIR if len(region) == 2 else LINE, linewidth=3)
    for colour, word, size in ((SQUARE, "squares", 1), (PAIR, "pairs", 2), (LINE, "triples", 3)):
        n = sum(len(region) == size for region in model.map_regions_)
        ax.plot([], [], color=colour, linewidth=4, label=f"{n} {word}")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=3, frameon=False)
    ax.set(xlim=(-0.1, 3.1), ylim=(-0.1, 3.1), aspect="equal")
    ax.axis("off")


def main(folder: Path, n_boards: int | None = None) -> Path:
    """Draw the picture and say where it is."""
    table = partita.datasets.load_tic_tac_toe()
    model = find(table, n_boards)
    board = table.data[(table.data[["tl", "mm", "br"]] == "x").all(axis=1)].iloc[[0]]

    figure, axes = plt.subplots(2, 2, figsize=(11.5, 9.6), layout="constrained")
    draw_board(model, axes[0, 0])
    partita.RegionPathDisplay.from_estimator(model).plot(axes[0, 1])
    partita.InteractionMatrixDisplay.from_estimator(model).plot(axes[1, 0])
    partita.ContributionsDisplay.from_estimator(model, board, target="x wins").plot(axes[1, 1])
    axes[0, 0].set_title("what was found, drawn on the board", fontsize="medium")
    axes[0, 1].set_title(f"one region at a time; {axes[0, 1].get_title()}", fontsize="medium")
    shown = " / ".join("".join(board.iloc[0, k : k + 3]) for k in (0, 3, 6)).replace("b", "·")
    axes[1, 1].set_title(f"why does x win on {shown}?", fontsize="medium")
    path = folder / "tic_tac_toe_interactions.png"
    figure.savefig(path, dpi=100)
    plt.close(figure)
    find(table, len(table.data) // 2)
    return path


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "docs" / "images"
    chosen.mkdir(parents=True, exist_ok=True)
    print(main(chosen))
