"""Labels arrive late: an online classifier learns from rows before anyone says what they are.

Handwritten digits come in as a stream, odd or even, with a quarter of their cells missing. For the first half of the
stream the labels are missing (None); from then on every row has one. Three learners see the same stream: one whose
labels were on time, one that learns from the rows without labels too, and one that throws them away. `partial_fit`
takes all three.

Rows without labels are no gift. Before the first label there is nothing to tell the classes apart: the probabilities
are a coin's, and the stream seats those rows by guess and remembers them after they have left its reservoir. The last
line printed says which of the two late learners ended ahead; make that comparison on your own stream before you feed it
rows without labels.

    python examples/online_labels_late.py [folder for the picture]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import partita
from partita import LearningCurveDisplay

KEPT, DROPPED = "labels late, all rows learnt", "labels late, rows without them thrown away"


def batches(X: np.ndarray, y: np.ndarray, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for start in range(0, len(X), size):
        yield X[start : start + size], y[start : start + size]


def learn(
    name: str, X: np.ndarray, y: np.ndarray, test: tuple[Any, Any], size: int, before: int
) -> LearningCurveDisplay:
    """The learning curve of one learner; `before` rows had passed when it began."""
    model = partita.AClass(random_state=0, n_jobs=-1)
    curve = LearningCurveDisplay.from_estimator(model, batches(X, y, size), *test, classes=[0, 1], name=name)
    rows, loss = curve.curves[name]
    print(f"{name}: log-loss {loss[-1]:.3f} after {rows[-1]} rows learnt")
    return LearningCurveDisplay({name: (rows + before, loss)})


def main(folder: Path, n_stream: int = 1200, size: int = 60) -> Path:
    """Draw the picture and say where it is."""
    X, y = partita.datasets.load_digits_odd_even(fraction=0.25, return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    late = n_stream // 2
    X, y, test = X[:n_stream], y[:n_stream].astype(object), (X[n_stream:], y[n_stream:])
    y_late = np.where(np.arange(n_stream) < late, None, y)

    curves = learn("labels on time", X, y, test, size, 0)
    curves |= learn(KEPT, X, y_late, test, size, 0)
    curves |= learn(DROPPED, X[late:], y[late:], test, size, late)
    print(f"ahead at the end: {min((KEPT, DROPPED), key=lambda name: curves.curves[name][1][-1])}")
    figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
    curves.plot(ax, events={late: "labels begin to arrive"})
    ax.axhline(np.log(2), color="0.6", linewidth=0.8, zorder=0)
    ax.annotate("a coin", (n_stream, np.log(2)), ha="right", va="bottom", fontsize="small", color="0.45")
    path = folder / "online_labels_late.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent / "docs" / "images"
    chosen.mkdir(parents=True, exist_ok=True)
    print(main(chosen))
