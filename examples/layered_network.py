"""Layers found in a table: twelve binary columns, 75 rows, and nobody says that they form three layers.

Every column depends on all four of the layer before. With so few rows a prior that treats all graphs alike believes in
many edges that are not there; one that groups columns into ordered classes finds the layers, and with them the edges.
The picture shows the true edges, and the edge probabilities under both priors. (Data as in figure 2-2 of Mansinghka's
thesis; sets differ much from each other, and this is the first seed, not the best.)

    python examples/layered_network.py [folder for the picture]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import average_precision_score

import partita


def main(folder: Path, n_sweeps: int = 1500) -> Path:
    """Draw the picture and say where it is."""
    made = partita.datasets.make_layers(75, random_state=0)
    ordered = partita.StructureLearner("ordered-block", n_sweeps=n_sweeps, n_chains=2, n_jobs=-1, random_state=0)
    models = {"uniform": partita.StructureLearner("uniform"), "ordered classes": ordered}
    off = ~np.eye(len(made.classes), dtype=bool)

    figure, axes = plt.subplots(1, 3, figsize=(15, 5.6), layout="compressed")
    numbers = np.array([int(name.split()[1]) for name in made.data.columns])
    order = np.lexsort((numbers, made.classes))
    image = axes[0].imshow(made.edges[np.ix_(order, order)], cmap="PuBu", vmin=0, vmax=1)
    axes[0].set_title("true edges, layer by layer")
    for ax, (name, model) in zip(axes[1:], models.items(), strict=True):
        model.fit(made.data)
        found = average_precision_score(made.edges[off], model.edge_probabilities_[off])
        print(f"{name}: average precision of the edges {found:.2f}")
        ax.imshow(model.edge_probabilities_[np.ix_(order, order)], cmap="PuBu", vmin=0, vmax=1)
        ax.set_title(f"{name}: average precision {found:.2f}")
    for ax in axes:
        ax.set_xticks(range(len(order)), numbers[order])
        ax.set_yticks(range(len(order)), numbers[order])
        ax.tick_params(length=0)
        ax.set(xlabel="child", ylabel="parent")
        for edge in np.flatnonzero(np.diff(made.classes[order])) + 0.5:
            ax.axhline(edge, color="#27384a", linewidth=0.7)
            ax.axvline(edge, color="#27384a", linewidth=0.7)
    figure.colorbar(image, ax=axes, shrink=0.8, label="probability of an edge")
    path = folder / "layered_network.png"
    figure.savefig(path, dpi=120)
    return path


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "docs" / "images"
    chosen.mkdir(parents=True, exist_ok=True)
    print(main(chosen))
