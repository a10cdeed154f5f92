"""iQGME figure 3.4: prediction in the plane with the full posterior and with posterior means, three Gaussians."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, print_claims, write_csv
from aclass_pictures import finish, make_panels
from iqgme_thesis import Kept
from iqgme_three_gaussians import INK, by_means, draw_rows, fitted, grid
from scipy.stats import norm

SIMILAR = 0.05  # mean difference of the two predictions at the rows


def expert_spreads(model: Kept) -> tuple[np.ndarray, np.ndarray]:
    """Standard deviations of the experts' weights: under their common prior (expected precision), and posterior."""
    experts = model.gated.experts
    prior = np.sqrt(model.b_0 / model.a_0 * (1.0 + 1.0 / model.gamma_0)) * np.ones(experts.mean.shape[-1])
    held = model.counts > 1
    return prior, np.sqrt(np.diagonal(experts.covariance[held], axis1=1, axis2=2))


def measure(model: Kept, X: np.ndarray, steps: int) -> list[dict[str, Any]]:
    _, _, points = grid(X, steps)
    full, means = model.predict_proba(points)[:, 1], by_means(model, points)
    density = model.score_samples(points)
    return [
        {"x1": p[0], "x2": p[1], "full": f, "means": m, "log_density": d}
        for p, f, m, d in zip(points, full, means, density, strict=True)
    ]


def claims(records: list[dict[str, Any]], model: Kept, X: np.ndarray) -> list[Claim]:
    full, means, density = (np.array([r[k] for r in records]) for k in ("full", "means", "log_density"))
    off = float(np.abs(model.predict_proba(X)[:, 1] - by_means(model, X)).mean())
    scarce = density < np.quantile(density, 0.5)
    doubt = {name: float(np.minimum(p, 1 - p)[scarce].mean()) for name, p in (("full", full), ("means", means))}
    prior, posterior = expert_spreads(model)
    return [
        Claim("Both predictions are fairly similar", f"mean absolute difference at the rows {off:.3f}", off < SIMILAR),
        Claim("The full posterior allows more uncertainty where data are scarce",
              f"mean probability of the other class there {doubt['full']:.3f}, with means {doubt['means']:.3f}",
              doubt["full"] > doubt["means"]),
        Claim("Posteriors of the experts are peaked, their common prior is broad",
              f"largest posterior sd of a weight {posterior.max():.2f}, prior sd {prior[0]:.2f}",
              bool(posterior.max() < prior[0])),
    ]  # fmt: skip


def draw(records: list[dict[str, Any]], model: Kept, X: np.ndarray, y: np.ndarray, path: Path) -> None:
    figure, panels = make_panels(4, 2, "Predictions, and experts before and after", share_y=False)
    steps = round(np.sqrt(len(records)))
    a, b, _ = grid(X, steps)
    for panel, key, title in ((panels[0], "full", "full posterior"), (panels[1], "means", "posterior means")):
        surface = np.array([r[key] for r in records]).reshape(steps, steps)
        shade = panel.contourf(a, b, surface, levels=np.linspace(0, 1, 11), cmap="RdBu_r", alpha=0.7)
        draw_rows(panel, X, y)
        panel.set_title(title, fontsize=10)
    figure.colorbar(shade, ax=panels[1], label="probability of class 1")
    prior, _ = expert_spreads(model)
    experts, held = model.gated.experts, np.flatnonzero(model.counts > 1)
    top = max(4.0, 1.5 * float(np.abs(experts.mean[held]).max()))
    line = np.linspace(-top, top, 400)
    panels[2].plot(line, norm(0, prior[0]).pdf(line), color="#999999")
    panels[2].set_title("common prior of a weight", fontsize=10)
    for h in held:
        for j, dash in enumerate(("-", "--", ":")):
            law = norm(experts.mean[h, 0, j], np.sqrt(experts.covariance[h, j, j]))
            panels[3].plot(line, law.pdf(line), color=INK[h % len(INK)], linestyle=dash)
    panels[3].set_title("posteriors (two slopes and the intercept)", fontsize=10)
    finish(figure, panels, path)


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    model, X, y = fitted(0, 100 if quick else 300)
    records = measure(model, X, 40 if quick else 120)
    print_claims(claims(records, model, X), quick)
    draw(records, model, X, y, output / "iqgme_fig3_4.png")
    write_csv(output / "iqgme_fig3_4.csv", records)
    print(f"Picture and numbers: {output / 'iqgme_fig3_4.png'}, {output / 'iqgme_fig3_4.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
