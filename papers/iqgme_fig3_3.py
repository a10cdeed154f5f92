"""iQGME figure 3.3: prior and posterior of the number of components and of the concentration, three Gaussians."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Claim, print_claims, write_csv
from aclass_pictures import finish, make_panels
from iqgme_thesis import Kept
from iqgme_three_gaussians import dominant, drawn_weights, fitted, prior_weights
from scipy.stats import gamma

MOST = 20


def shares(numbers: np.ndarray) -> np.ndarray:
    """Share of the draws with 0, 1, .. MOST components."""
    return np.bincount(numbers, minlength=MOST + 1)[: MOST + 1] / len(numbers)


def measure(model: Kept) -> list[dict[str, Any]]:
    prior = shares(dominant(prior_weights(MOST, model.tau_10, model.tau_20)))
    posterior = shares(dominant(drawn_weights(model)))
    held = model.n_experts_posterior_
    return [
        {"components": k, "prior": prior[k], "posterior": posterior[k], "occupied": held.get(k, 0.0)}
        for k in range(1, MOST + 1)
    ]


def claims(records: list[dict[str, Any]], model: Kept) -> list[Claim]:
    law = np.array([r["posterior"] for r in records])
    top = int(records[int(law.argmax())]["components"])
    sticks = model.sticks()
    prior_sd, sd = np.sqrt(model.tau_10) / model.tau_20, np.sqrt(sticks.shape) / sticks.rate
    before = f"{model.tau_10 / model.tau_20:.2f} ± {prior_sd:.2f}"
    return [
        Claim("The posterior of the number of dominant components peaks at three",
              f"most probable {top} ({law.max():.2f}); occupied: three with probability {records[2]['occupied']:.2f}",
              top == 3),
        Claim("There remains uncertainty on the number", f"probability of other numbers {1 - law.max():.2f}",
              law.max() < 0.99),
        Claim("The posterior of the concentration is sharper than its diffuse prior",
              f"mean {sticks.mean_concentration:.2f} ± {sd:.2f} from {before}",
              bool(sd < prior_sd)),
    ]  # fmt: skip


def draw(records: list[dict[str, Any]], model: Kept, path: Path) -> None:
    figure, panels = make_panels(2, 2, "Three Gaussians: number of components, and concentration", share_y=False)
    k = np.array([r["components"] for r in records])
    for name, offset, ink in (("prior", -0.3, "#999999"), ("posterior", 0.0, "#0072B2"), ("occupied", 0.3, "#D55E00")):
        panels[0].bar(k + offset, [r[name] for r in records], 0.3, color=ink, label=name)
    panels[0].set(xlabel="components (weight above .005; with a row)", ylabel="probability")
    sticks = model.sticks()
    x = np.linspace(1e-3, 3 * sticks.mean_concentration + 1, 400)
    after = gamma(sticks.shape, scale=1 / sticks.rate).pdf(x)
    panels[1].plot(x, gamma(model.tau_10, scale=1 / model.tau_20).pdf(x), color="#999999")
    panels[1].plot(x, after, color="#0072B2")
    panels[1].set(xlabel="concentration", ylabel="density", ylim=(0, 1.2 * after.max()))
    finish(figure, panels, path)


def main(quick: bool = False, output: Path = Path("papers/output")) -> None:
    model, _, _ = fitted(0, 100 if quick else 300)
    records = measure(model)
    print_claims(claims(records, model), quick)
    draw(records, model, output / "iqgme_fig3_3.png")
    write_csv(output / "iqgme_fig3_3.csv", records)
    print(f"Picture and numbers: {output / 'iqgme_fig3_3.png'}, {output / 'iqgme_fig3_3.csv'}")


if __name__ == "__main__":
    main(quick="--quick" in sys.argv)
