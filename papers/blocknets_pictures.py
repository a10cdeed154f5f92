"""Edge and class marginals as in figures 2-2 to 2-6 of the thesis: matrices by prior and rows, and divergences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from aclass_pictures import INK, plt
from blocknets_learners import Found
from blocknets_worlds import World

CURVES = {"uniform": "baseline", "block": "rival", "ordered": "ours", "one class": "one", "auto": "three"}
TRUE = "#D55E00"


def matrix(panel: Any, values: np.ndarray, classes: np.ndarray, edges: np.ndarray | None = None) -> None:
    """Probabilities from white to black, a line between true classes, and a mark on true edges where they are given."""
    panel.imshow(values, cmap="Greys", vmin=0, vmax=1, interpolation="nearest")
    for cut in np.flatnonzero(np.diff(classes)) + 0.5:
        panel.axhline(cut, color="#0072B2", linewidth=0.8)
        panel.axvline(cut, color="#0072B2", linewidth=0.8)
    if edges is not None:
        parents, children = np.nonzero(edges)
        size = 60 / len(values)
        panel.scatter(children, parents, s=size, marker="s", facecolors="none", edgecolors=TRUE, linewidths=0.6)
    panel.set(xticks=[], yticks=[])


def classes_of(panel: Any, prior: str, together: np.ndarray, classes: np.ndarray) -> None:
    """Marginals of classes; a word where the prior has none."""
    if prior in ("uniform", "one class"):
        panel.text(0.5, 0.5, "no\nclasses", ha="center", va="center", fontsize=8, color="#777777",
                   transform=panel.transAxes)  # fmt: skip
        panel.set(xticks=[], yticks=[], aspect="equal")
        panel.spines[:].set_color("#CCCCCC")
    else:
        matrix(panel, together, classes)


def label(panel: Any, text: str) -> None:
    panel.set_ylabel(text, fontsize=10)


def draw_ladder(
    world: World, found: dict[tuple[str, int], Found], records: list[dict[str, Any]], sizes: tuple[int, ...],
    priors: tuple[str, ...], title: str, path: Path,
) -> None:  # fmt: skip
    """The true graph, marginals of edges and classes by prior (down) and rows (across), divergences by rows."""
    figure = plt.figure(figsize=(3.0 + 2.9 * len(sizes) + 4.0, 1.55 * len(priors) + 1.0), layout="constrained")
    figure.suptitle(title, fontsize=12)
    left, middle, right = figure.subfigures(1, 3, width_ratios=[2.6, 2.9 * len(sizes), 4.0])
    panel = left.subplots()
    matrix(panel, world.graph, world.classes)
    panel.set_title("true edges\n(parents down,\nchildren across)", fontsize=10)
    grid = middle.subplots(len(priors), 2 * len(sizes), squeeze=False)
    for i, prior in enumerate(priors):
        for k, size in enumerate(sizes):
            one = found[prior, size]
            matrix(grid[i, 2 * k], one.edges, world.classes, world.graph)
            classes_of(grid[i, 2 * k + 1], prior, one.together, world.classes)
            if i == 0:
                grid[i, 2 * k].set_title(f"{size} rows\nedges", fontsize=9)
                grid[i, 2 * k + 1].set_title("\nclasses", fontsize=9)
        label(grid[i, 0], prior)
    draw_divergences(right.subplots(), records, sizes, priors)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_divergences(panel: Any, records: list[dict[str, Any]], sizes: tuple[int, ...], priors: Any) -> None:
    """Mean divergences as shares of the uniform prior's, whose nats stand on the line at 1."""
    means = {
        prior: np.array([np.mean([r["kl"] for r in records if (r["prior"], r["rows"]) == (prior, n)]) for n in sizes])
        for prior in priors
    }
    for prior, values in means.items():
        style = {"linewidth": 1.5, "markersize": 5, **INK[CURVES[prior]]}
        panel.plot(sizes, values / means["uniform"], label=prior, **style)
    for size, nats in zip(sizes, means["uniform"], strict=True):
        panel.annotate(f"{nats:.2g}", (size, 1.0), xytext=(0, 9), textcoords="offset points", ha="center", fontsize=8)
    panel.set(xscale="log", xlabel="training rows", ylabel="divergence from the truth / that of uniform (its nats)")
    panel.set_xticks(list(sizes), [str(size) for size in sizes])
    panel.minorticks_off()
    panel.margins(0.12, 0.12)
    panel.grid(alpha=0.25)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, fontsize=9)


def graph(panel: Any, edges: np.ndarray, true: np.ndarray, classes: np.ndarray, least: float = 0.05) -> None:
    """Nodes in their true layers, edges as dark as they are sure; those that are not there in another colour."""
    place = np.zeros((len(classes), 2))
    for layer in np.unique(classes):
        row = np.flatnonzero(classes == layer)
        place[row] = np.column_stack([np.arange(len(row)) - (len(row) - 1) / 2, np.full(len(row), -float(layer))])
    for i, j in np.argwhere(edges >= least):
        level = classes[i] == classes[j]
        bend = 0.35 if level else 0.12 if classes[j] < classes[i] else 0.0
        panel.annotate(
            "", xy=place[j], xytext=place[i],
            arrowprops={
                "arrowstyle": "-|>", "color": "#222222" if true[i, j] else TRUE,
                "alpha": float(np.clip(edges[i, j], 0, 1)), "linewidth": 1.1, "shrinkA": 7, "shrinkB": 7,
                "connectionstyle": f"arc3,rad={bend}",
            },
        )  # fmt: skip
    panel.scatter(*place.T, s=120, c="#BFD7EA", edgecolors="#222222", linewidths=0.8, zorder=3)
    for k, (x, y) in enumerate(place):
        panel.text(x, y, str(k + 1), ha="center", va="center", fontsize=7, zorder=4)
    panel.set(xlim=(place[:, 0].min() - 0.6, place[:, 0].max() + 0.6), ylim=(-classes.max() - 0.5, 0.5))
    panel.axis("off")


def draw_layers(world: World, found: dict[str, Found], title: str, path: Path) -> None:
    """Figure 2-2: graphs above, edge and class marginals below, one column a prior."""
    figure, grid = plt.subplots(3, 1 + len(found), figsize=(2.3 * (1 + len(found)), 7.2), layout="constrained")
    figure.suptitle(title, fontsize=12)
    true_classes = world.classes[:, None] == world.classes
    columns = {"truth": (world.graph.astype(float), true_classes.astype(float))}
    columns |= {name: (one.edges, one.together) for name, one in found.items()}
    for k, (name, (edges, together)) in enumerate(columns.items()):
        graph(grid[0, k], edges, world.graph, world.classes)
        grid[0, k].set_title(name, fontsize=10)
        matrix(grid[1, k], edges, world.classes, None if k == 0 else world.graph)
        classes_of(grid[2, k], name, together, world.classes)
    label(grid[1, 0], "edges\n(parents down)")
    label(grid[2, 0], "same class")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)
