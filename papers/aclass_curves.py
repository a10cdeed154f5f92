"""Learning curves of classifiers at several shares of missing cells: the experiment behind figures 6, 7 and 8."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from aclass_claims import Difference, mean_and_error
from aclass_peers import LOGISTIC, NAIVE_BAYES, ONE_PARTICLE, OURS, PEERS, POLYNOMIAL, TWENTY_PARTICLES
from aclass_pictures import draw_curve, finish, make_panels, rows_axis

from partita.datasets import remove_cells

N_TEST = 500
INK = {
    NAIVE_BAYES: "baseline",
    LOGISTIC: "rival",
    POLYNOMIAL: "second rival",
    ONE_PARTICLE: "one",
    TWENTY_PARTICLES: "two",
    OURS: "ours",
}

Task = Callable[[int, int], tuple[np.ndarray, np.ndarray]]
"""(rows, repetition) -> complete cells of 0.0 and 1.0, classes; fresh rows for every repetition."""


@dataclass
class Plan:
    """How much to run."""

    sizes: tuple[int, ...]
    repetitions: int
    missing: tuple[float, ...] = (0.0, 0.25, 0.5)
    n_jobs: int = 2
    methods: tuple[str, ...] = tuple(PEERS)


class Curves:
    """Measurements, one record per method, share of missing cells, training size and repetition."""

    def __init__(self, plan: Plan, records: list[dict[str, Any]]):
        self.plan, self.records = plan, records

    def values(self, key: str, method: str, missing: float, rows: int | None = None) -> np.ndarray:
        """`key` of every repetition; averaged over the training sizes where `rows` is None."""
        found = [r for r in self.records if r["method"] == method and r["missing"] == missing]
        by_repetition = [
            [r[key] for r in found if r["repetition"] == k and rows in (None, r["rows"])]
            for k in range(self.plan.repetitions)
        ]
        return np.array(by_repetition, float).mean(axis=1)

    def loss(self, method: str, missing: float, rows: int | None = None) -> float:
        return float(self.values("loss", method, missing, rows).mean())

    def gap(self, first: str, second: str, missing: float, rows: int | None = None) -> Difference:
        return Difference.of(self.values("loss", first, missing, rows), self.values("loss", second, missing, rows))

    def gaps_to(self, rival: str) -> dict[str, Difference]:
        """Our default against a rival in every setting."""
        plan = self.plan
        return {f"{n} rows {m:.0%} missing": self.gap(OURS, rival, m, n) for m in plan.missing for n in plan.sizes}


def measure(task: Task, plan: Plan) -> Curves:
    """Train every method on the first n rows of every repetition; all methods see the same rows and the same holes."""
    records = []
    for repetition in range(plan.repetitions):
        X, y = task(max(plan.sizes) + N_TEST, repetition)
        for missing in plan.missing:
            holed = remove_cells(X, missing, np.random.default_rng([repetition, round(100 * missing)]))
            for rows in plan.sizes:
                for method in plan.methods:
                    answer = PEERS[method](holed[:rows], y[:rows], holed[-N_TEST:], repetition, plan.n_jobs)
                    record = {"missing": missing, "rows": rows, "method": method, "repetition": repetition}
                    wrong = float(np.mean(answer.predicted != y[-N_TEST:]))
                    records.append({**record, "loss": wrong, "groups": answer.groups})
    return Curves(plan, records)


def print_losses(curves: Curves) -> None:
    """Mean 0-1 loss over the repetitions, a block per share of missing cells."""
    plan = curves.plan
    width = max(map(len, plan.methods))
    for missing in plan.missing:
        print(f"{f'{missing:.0%} missing, rows:':<{width}} " + " ".join(f"{n:>6}" for n in plan.sizes) + "   mean")
        for method in plan.methods:
            cells = " ".join(f"{curves.loss(method, missing, n):6.3f}" for n in plan.sizes)
            print(f"{method:<{width}} {cells} {curves.loss(method, missing):6.3f}")
        print()


def draw_losses(curves: Curves, title: str, path: Path) -> None:
    """One panel per share of missing cells, 0-1 loss against training size."""
    plan = curves.plan
    figure, panels = make_panels(len(plan.missing), len(plan.missing), title)
    for panel, missing in zip(panels, plan.missing, strict=True):
        for method in plan.methods:
            points = [mean_and_error(curves.values("loss", method, missing, n)) for n in plan.sizes]
            mean, error = [p[0] for p in points], [p[1] for p in points]
            draw_curve(panel, plan.sizes, mean, error, method, INK[method])
        panel.set_title(f"{missing:.0%} of the cells missing", fontsize=10)
        rows_axis(panel, plan.sizes)
    panels[0].set_ylabel(f"0-1 loss on {N_TEST} test rows")
    panels[0].set_ylim(bottom=0)
    finish(figure, panels, path)


def behind(curves: Curves, method: str, rivals: Sequence[str], missing: float) -> list[str]:
    """The rivals that the method does not beat in mean loss over the training sizes."""
    return [r for r in rivals if curves.loss(method, missing) >= curves.loss(r, missing)]
