"""iQGME figure 3.2: three Gaussians cut by lines, the weights of the components found, and the components."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, print_claims, write_csv
from aclass_pictures import finish, make_panels
from iqgme_three_gaussians import (
    CENTRES,
    COVARIANCES,
    DOMINANT,
    INK,
    LINES,
    draw_rows,
    drawn_weights,
    ellipse,
    fitted,
    gates_of,
    grid,
    occupied,
)


def measure(repetitions: int) -> list[dict[str, Any]]:
    """Fresh rows for every repetition: dominant and occupied components, iterations, and how far the means are off."""
    records = []
    for repetition in range(repetitions):
        model, X, y = fitted(repetition)
        weights = drawn_weights(model).mean(axis=0)
        # occupied components only: an empty stick has no place
        centres = np.array([m for m, _ in gates_of(model)])[model.counts > 1]
        far = [float(np.linalg.norm(centres - c, axis=1).min()) for c in CENTRES]
        records.append({
            "repetition": repetition, "rows": len(X), "dominant": int((weights > DOMINANT).sum()),
            "occupied": occupied(model), "weights": " ".join(f"{w:.3f}" for w in weights[:5]),
            "largest_distance_of_a_mean": max(far), "iterations": model.n_iter_,
            "training_error": float((model.predict(X) != y).mean()),
        })  # fmt: skip
    return records


def claims(records: list[dict[str, Any]]) -> list[Claim]:
    n = len(records)
    three = sum(r["occupied"] == 3 for r in records)
    dominant = sum(r["dominant"] == 3 for r in records)
    error = float(np.mean([r["training_error"] for r in records]))
    return [
        Claim("Three dominant components (mean weight above .005)",
              f"three hold rows in {three} of {n} tables; three weights above .005 in {dominant}", three > n / 2),
        Claim("Three local linear rules make the nonlinear rule", f"training error {error:.3f}", error < 0.05),
    ]  # fmt: skip


def draw(path: Path) -> None:
    model, X, y = fitted(0)
    figure, panels = make_panels(3, 3, "Three Gaussians, each cut by a line", share_y=False)
    draw_rows(panels[0], X, y)
    for mean, covariance, (slope, intercept) in zip(CENTRES, COVARIANCES, LINES, strict=True):
        panels[0].plot(*ellipse(mean, covariance).T, color="black", linestyle="--", linewidth=1)
        x = mean[0] + np.array([-1.6, 1.6])
        panels[0].plot(x, slope * x + intercept, color="black", linewidth=1)
    panels[0].set_title("rows, true Gaussians and lines", fontsize=10)
    weights = drawn_weights(model)
    panels[1].bar(np.arange(1, weights.shape[1] + 1), weights.mean(axis=0), yerr=weights.std(axis=0), color="#0072B2",
                  ecolor="#333333", capsize=2)  # fmt: skip
    panels[1].set(xlabel="component", ylabel="weight, ± standard deviation")
    panels[1].set_title("posterior weights", fontsize=10)
    draw_found(panels[2], model, X, y)
    panels[2].set(xlim=panels[0].get_xlim(), ylim=panels[0].get_ylim())
    finish(figure, panels, path)


def draw_found(panel: Any, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    """Components that hold rows: two standard deviations of the Gaussian, and where the expert says one half."""
    draw_rows(panel, X, y)
    a, b, points = grid(X)
    each = model.explain(points).class_probabilities[:, :, 1]
    for h, (mean, covariance) in enumerate(gates_of(model)):
        if model.counts[h] < 1:
            continue
        panel.plot(*ellipse(mean, covariance).T, color=INK[h % len(INK)])
        near = np.abs(points[:, 0] - mean[0]) < 1.6
        half = np.where(near, each[:, h], np.nan).reshape(len(b), len(a))
        panel.contour(a, b, half, levels=[0.5], colors=[INK[h % len(INK)]])
    panel.set_title("components found", fontsize=10)


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    records = measure(2 if quick else 10)
    for r in records:
        print(f"table {r['repetition']}: occupied {r['occupied']}, weights {r['weights']}, "
              f"means off by at most {r['largest_distance_of_a_mean']:.2f}, {r['iterations']} iterations")  # fmt: skip
    print()
    print_claims(claims(records), quick)
    draw(output / "iqgme_fig3_2.png")
    write_csv(output / "iqgme_fig3_2.csv", records)
    print(f"Picture and numbers: {output / 'iqgme_fig3_2.png'}, {output / 'iqgme_fig3_2.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
