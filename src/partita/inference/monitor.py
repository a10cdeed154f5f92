"""Monitors: consumers of the loop's progress. The loop hands out numbers and knows nothing of screens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Monitor(Protocol):
    def update(self, done: int, info: Mapping[str, float]) -> None:
        """`done` steps of all chains together are done; `info` is the latest of the first chain."""

    def close(self) -> None:
        """The loop has ended, well or not."""


class Silent:
    """Says nothing."""

    def update(self, done: int, info: Mapping[str, float]) -> None:
        pass

    def close(self) -> None:
        pass


class Bar:
    """A tqdm bar, in a terminal or a notebook: steps done of `total`, and the first `shown` entries of the info."""

    def __init__(self, total: int | None, label: str = "", shown: int = 3) -> None:
        self.total = total
        self.label = label
        self.shown = shown
        self._bar: Any = None

    def update(self, done: int, info: Mapping[str, float]) -> None:
        if self._bar is None:
            from tqdm.auto import tqdm  # here, because a silent fit should not pay for it

            # The first report may come after a resume; steps done before do not count for the speed shown.
            self._bar = tqdm(total=self.total, desc=self.label or None, initial=done, unit="step")
        if info:
            latest = {name: f"{value:.6g}" for name, value in list(info.items())[: self.shown]}
            self._bar.set_postfix(latest, refresh=False)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def aim(self, total: int | None) -> None:
        """There is another number of steps to do than was foreseen."""
        self.total = total
        if self._bar is None or self._bar.total == total:
            return
        self._bar.total = total
        widget = getattr(self._bar, "container", None)  # in a notebook: text, a bar with a length of its own, text
        if widget is not None and total is not None:
            widget.children[1].max = total

    def complete(self) -> None:
        """All that there was to do is done, where that came to less than was foreseen."""
        if self._bar is not None:
            self.aim(self._bar.n)
            self._bar.refresh()


class Part:
    """One of several runs of a fit that share a bar: it goes on where the run before it ended, maybe to a new total,
    and outlasts the run.
    """

    def __init__(self, bar: Bar, total: int | None) -> None:
        self.bar, self.total = bar, total

    def update(self, done: int, info: Mapping[str, float]) -> None:
        self.bar.aim(self.total)
        self.bar.update(done, info)

    def close(self) -> None:
        pass


def make_monitor(progress: bool, total: int | None, label: str = "") -> Monitor:
    """A bar if `progress`, else silence."""
    return Bar(total, label) if progress else Silent()
