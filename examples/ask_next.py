"""Which cell should be measured next? A matrix of responses, filled by asking.

Forty samples by forty instruments, rank 3 and noise of a tenth of the signal. Every measurement costs; we begin with
a tenth of the cells and ask for forty more at a time, by three rules: at random, where the model is least sure
("variance"), and whole rows and columns in turn ("line"). After every batch the chains go on from where they stood
(`partial_fit`); nothing is fitted anew. Left: the error of all cells against the number asked.

The model also says how far it can be trusted while it learns. Middle: its 90 % intervals of cells not asked yet, early
(160 cells known) and, right, at the end. They are wide where little is known, they shrink, and they hold the truth
about as often as they say: the shares are in the titles.

    python examples/ask_next.py [folder for the picture]
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import partita

RULES = {"random": "#9aa7b4", "variance": "#2f6f9f", "line": "#d1495b"}


def make_responses(n: int, p: int, rank: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """What instruments would read, and what lies behind it."""
    signal = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p))
    return signal + 0.1 * signal.std() * rng.normal(size=signal.shape), signal


def ask(rule: str, readings: np.ndarray, signal: np.ndarray, n_batches: int, sweeps: int, seed: int) -> tuple:
    """Numbers of cells known, errors, and with the first and the last of them the model and which cells it knows."""
    n, p = readings.shape
    first = np.random.default_rng(seed).permutation(n * p)[: n * p // 10]
    rows, columns = first // p, first % p
    settings = {"max_rank": 8, "n_chains": 1, "burn_in": 2 * sweeps, "n_samples": sweeps, "random_state": seed}
    model = partita.BayesianSVD(**settings, offsets=False, unequal_noise=False, missingness_features=0)
    model.fit_triplets(rows, columns, readings[rows, columns], row_ids=range(n), column_ids=range(p))
    asked = np.zeros((n, p), bool)
    known, errors, models = [], [], []
    for batch in range(n_batches + 1):
        asked[rows, columns] = True
        error = np.linalg.norm(model.complete(keep_observed=False) - signal) / np.linalg.norm(signal)
        known.append(model.n_entries_)
        errors.append(error)
        if batch == 0 or batch == n_batches:
            models.append((copy.copy(model), asked.copy()))  # partial_fit leaves what it replaces as it was
        if batch < n_batches:
            rows, columns = np.array(model.acquire(n, strategy=rule)).T
            model.partial_fit(rows, columns, readings[rows, columns], burn_in=sweeps)
    return known, errors, models


def draw_intervals(ax: plt.Axes, model: partita.BayesianSVD, asked: np.ndarray, readings: np.ndarray) -> None:
    """Intervals of cells that were not asked, by their expected values."""
    rows, columns = np.nonzero(~asked)
    shown = partita.IntervalCalibrationDisplay.from_estimator(model, rows, columns, readings[rows, columns])
    shown.draw_intervals(ax, 150)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(f"{model.n_entries_} cells known: {ax.get_title()}", fontsize="medium")
    ax.set_xlabel("cells not asked, by their expected value")


def main(folder: Path, n: int = 40, p: int = 40, n_batches: int = 10, sweeps: int = 100) -> Path:
    """Draw the picture and say where it is."""
    readings, signal = make_responses(n, p, 3, np.random.default_rng(0))
    figure, axes = plt.subplots(1, 3, figsize=(15, 4.4), layout="constrained")
    for rule, colour in RULES.items():
        known, errors, models = ask(rule, readings, signal, n_batches, sweeps, seed=1)
        axes[0].plot(known, errors, color=colour, marker="o", markersize=3, label=rule)
        print(f"{rule:9s} error {errors[0]:.2f} with {known[0]} cells, {errors[-1]:.3f} with {known[-1]}", end="")
        print(f"; rank {models[-1][0].rank_}")
        if rule == "line":
            for ax, (model, asked) in zip(axes[1:], models):
                draw_intervals(ax, model, asked, readings)
    axes[0].set(yscale="log", xlabel="cells asked", ylabel="relative error of all cells", title="three rules of asking")
    axes[0].spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False)
    path = folder / "ask_next.png"
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return path


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "docs" / "images"
    chosen.mkdir(parents=True, exist_ok=True)
    print(main(chosen))
