"""Why is this row predicted so? What every region adds to the log odds of a class."""

from __future__ import annotations

from typing import Any

import numpy as np

from .canvas import ACCENT, GROUPS, INK, canvas
from .names import wrapped
from .region_names import names_of, region_name

LINE = 56  # letters across the figure


class ContributionsDisplay:
    """Bars of one row, the largest first; the rest is one bar.

    names               what the regions are called; "all other" last where some are put together.
    contributions       (names,) nats that each adds; they sum to `log_odds`.
    log_odds            two classes: log odds of the class against the other one. More: its log probability less the
                        mean of those of the others, so an all but impossible class raises it; no log(p / (1 - p)).
    target              the class.
    n_classes           how many there are.
    """

    def __init__(
        self, names: list[str], contributions: np.ndarray, log_odds: float, target: Any, n_classes: int = 2
    ) -> None:
        self.names = names
        self.contributions = contributions
        self.log_odds = log_odds
        self.target = target
        self.n_classes = n_classes

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, row: int = 0, target: Any = None, max_bars: int = 12
    ) -> ContributionsDisplay:
        """Of one row of X and a fitted `KikuchiBayesClassifier`.

        target          the class that is asked about; by default the most probable one.
        """
        names = names_of(cls, estimator)
        for name, value in (("row", row), ("max_bars", max_bars)):
            if not isinstance(value, (int, np.integer)):
                raise ValueError(f"{name}={value!r} must be a whole number.")
        if max_bars < 2:
            raise ValueError(f"max_bars={max_bars!r} must be at least 2: one region and all other.")
        told = estimator.explain(X)
        if not -len(told.log_odds) <= row < len(told.log_odds):
            raise ValueError(f"row={row!r} is not in X, which has {len(told.log_odds)} rows.")
        classes = estimator.classes_.tolist()
        if target is not None and target not in classes:
            raise ValueError(f"target={target!r} is no class. Classes: {', '.join(map(repr, classes))}.")
        k = int(told.log_odds[row].argmax()) if target is None else classes.index(target)
        # centred log probabilities: times C / (C - 1) they are log odds against the mean of the other classes
        values = told.contributions[row, :, k] * len(classes) / max(len(classes) - 1, 1)
        order = np.argsort(-np.abs(values), kind="stable")
        shown = order if len(order) <= max_bars else order[: max_bars - 1]
        listed = [region_name(told.regions[i], names) for i in shown]
        amounts = values[shown]
        if len(shown) < len(order):
            listed.append(f"all other ({len(order) - len(shown)})")
            amounts = np.append(amounts, values.sum() - amounts.sum())
        return cls(listed, amounts, float(values.sum()), classes[k], len(classes))

    def plot(self, ax: Any = None) -> ContributionsDisplay:
        """Draw on `ax` (by default a new figure); `ax_` and `figure_` keep where."""
        ax = canvas(ax, (5.8, 0.27 * len(self.names) + 1.4))
        places = np.arange(len(self.names))[::-1]
        ax.barh(places, self.contributions, color=[ACCENT if x < 0 else GROUPS[0] for x in self.contributions])
        room = 0.01 * max(np.ptp([0.0, *self.contributions]), 1e-9)
        for y, x in zip(places, self.contributions, strict=True):
            ax.text(x + (room if x >= 0 else -room), y, f"{x:+.2f}", va="center", ha="left" if x >= 0 else "right",
                    fontsize=7, color=INK)  # fmt: skip
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.margins(x=0.14)
        ax.set_yticks(places, self.names, fontsize=8, parse_math=False)
        ax.tick_params(axis="y", length=0)
        if self.n_classes > 2:
            told = f"log probability of {self.target} over the mean of the others"
        else:
            told = f"log odds of {self.target}"
        ax.set_xlabel(wrapped(f"contribution to the {told} (nats)", LINE), parse_math=False)
        ax.set_title(wrapped(f"{told}: {self.log_odds:+.2f}", LINE), fontsize="medium", parse_math=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
