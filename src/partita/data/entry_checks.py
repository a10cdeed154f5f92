"""Entries that cannot be: the same cell twice, more successes than trials, too many levels. Each is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from partita.data.entries import Observed

MAX_LEVELS = 100
MOST_SIZE = 1e20  # of measurements, and one over it the least
_NAMED = 3  # how many offending cells a message lists


def without_duplicates(observed: Observed, how: str) -> Observed:
    """Every cell once. A cell given twice is an error that names it; with how="mean" values are averaged, successes
    and trials summed.
    """
    key = observed.row * np.int64(max(len(observed.columns), 1)) + observed.column
    order = np.argsort(key, kind="stable")
    new = np.ones(len(key), bool)
    new[1:] = key[order][1:] != key[order][:-1]
    if new.all():
        return observed
    if how == "error":
        again = order[~new]
        cells = list(dict.fromkeys(observed.cell(int(k)) for k in again[: 50 * _NAMED]))
        more = f", and {len(again) - _NAMED:,} more" if len(again) > _NAMED and len(cells) >= _NAMED else ""
        told = "1 entry repeats" if len(again) == 1 else f"{len(again):,} entries repeat"
        raise ValueError(
            f"{told} a cell that is there before: {'; '.join(cells[:_NAMED])}{more}. Remove what is there twice, or "
            "average it by duplicates='mean'."
        )
    group = np.cumsum(new) - 1
    count = np.bincount(group)
    values = np.bincount(group, observed.values[order])
    trials = None if observed.trials is None else np.bincount(group, observed.trials[order])
    first = observed.take(order[new])
    return replace(first, values=values if trials is not None else values / count, trials=trials)


def check_trials(observed: Observed, dropped: bool = True) -> Observed:
    """Successes and trials: whole numbers, 0 <= successes <= trials; without trials, one trial each.

    Cells where nothing was tried are dropped, unless `dropped` is False."""
    values = observed.values
    trials = np.ones(len(values)) if observed.trials is None else observed.trials
    for wrong, words in (
        (~np.isfinite(trials), "has no finite number of trials"),
        ((values != np.rint(values)) | (trials != np.rint(trials)), "is no pair of whole numbers"),
        (values < 0, "has a negative number of successes"),
        (values > trials, "has more successes than trials"),
    ):
        if wrong.any():
            k = int(np.argmax(wrong))
            told = "" if observed.trials is not None else " Pass trials=, or use another link."
            raise ValueError(
                f"link='binomial': the cell of {observed.cell(k)} {words}: {values[k]:g} of {trials[k]:g}. Give whole "
                f"numbers with 0 <= successes <= trials.{told}"
            )
    kept = (trials > 0) | (not dropped)
    return replace(observed, trials=trials).take(kept) if not kept.all() else replace(observed, trials=trials)


def check_range(observed: Observed) -> None:
    """Measurements so large or small that single precision cannot hold them and their precisions are refused."""
    size = np.abs(observed.values)
    largest = float(size.max(initial=0.0))
    if largest > MOST_SIZE or 0 < largest < 1 / MOST_SIZE:
        k = int(size.argmax())
        raise ValueError(
            f"The cell of {observed.cell(k)} is {observed.values[k]:g}, the largest in size; it must lie between "
            f"{1 / MOST_SIZE:g} and {MOST_SIZE:g}. Use other units: divide all values by {largest:.0e}."
        )


def learn_levels(observed: Observed) -> np.ndarray:
    """The levels of ordinal values, ascending."""
    levels = np.unique(observed.values)
    if len(levels) < 2 or len(levels) > MAX_LEVELS:
        raise ValueError(
            f"link='ordinal' needs 2 to {MAX_LEVELS} distinct values, got {len(levels)}. "
            + ("Use link='gaussian' for measurements." if len(levels) > 2 else "One level teaches nothing.")
        )
    return levels


def level_codes(observed: Observed, levels: np.ndarray) -> np.ndarray:
    """(m,) place of every value among the levels; one that training did not see is named."""
    place = np.minimum(np.searchsorted(levels, observed.values), len(levels) - 1)
    strange = levels[place] != observed.values
    if strange.any():
        k = int(np.argmax(strange))
        known = ", ".join(f"{level:g}" for level in levels)
        raise ValueError(
            f"link='ordinal': the cell of {observed.cell(k)} is {observed.values[k]:g}, a level that was not seen in "
            f"training ({known}). Leave it out, or fit again with all levels."
        )
    return place.astype(np.float64)
