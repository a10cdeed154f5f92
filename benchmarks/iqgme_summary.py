"""The tables of the accuracy bars of IQGMEClassifier, from the measurements kept so far."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.iqgme_peers import ONE, OURS, SVM, methods
from benchmarks.iqgme_record import Record, complete, mean_ranks
from benchmarks.iqgme_sets import THESIS, UNSEEN, UNSEEN_MIXED, UNSEEN_NUMERIC

KEYS = ("table", "missing", "training", "trial", "method")
CELL = ("table", "missing", "training")
LOSS = "log_loss_3"


def show(title: str, cells: dict, names: Sequence[str], falling: bool) -> None:
    """Mean and mean rank of every method over the cells, and where ours is not first and by how much. The single fit,
    which may be left out of a run, is shown where it was measured everywhere."""
    cells = complete(cells, [m for m in names if m != ONE])
    if not cells:
        return
    names = [m for m in names if all(m in each for each in cells.values())]
    sign = 1.0 if falling else -1.0
    print(f"\n{title}: {len(cells)} cells")
    for name, rank in zip(names, mean_ranks(cells, names, falling), strict=True):
        values = np.array([each[name] for each in cells.values()])
        gap = sign * np.array([each[OURS] - each[name] for each in cells.values()])
        ahead = f"ours ahead in {(gap > 0).sum():3d}, by {gap.mean():+.4f}"
        print(f"  {name:26s} mean {values.mean():.4f}  rank {rank:5.2f}  {ahead}")
    behind = []
    for place, each in cells.items():
        best = max((m for m in names if m not in (OURS, ONE)), key=lambda m: sign * each[m])
        if sign * each[best] > sign * each[OURS]:
            text = f"{' '.join(place)} {each[OURS]:.3f} ({best} {each[best]:.3f})"
            behind.append((sign * (each[OURS] - each[best]), text))
    print(f"  behind the best peer in {len(behind)}: " + "; ".join(text for _, text in sorted(behind)[:12]))


def summary_of_thesis() -> None:
    record, names = Record("iqgme_thesis", KEYS), methods()
    if not record.lines:
        return
    trials = {place: 0 for place in record.cells("auc", CELL)}
    for line in record.lines:
        trials[tuple(line[k] for k in CELL)] += line["method"] == OURS
    print(f"\nBar 1: AUC, {min(trials.values())} to {max(trials.values())} trials a cell (bar: mean rank <= 1.8)")
    cells = record.cells("auc", CELL)
    width = max(map(len, names))
    for table in THESIS:
        places = sorted((p for p in cells if p[0] == table), key=lambda p: (int(p[1]), int(p[2])))
        print(f"{table:<{width}} " + " ".join(f"{p[1]}/{p[2]}".rjust(6) for p in places))
        for name in names:
            print(f"{name:<{width}} " + " ".join(f"{cells[p].get(name, np.nan):6.3f}" for p in places))
    show("both tables, AUC", cells, names, True)
    for table in THESIS:
        show(f"{table}, AUC", record.cells("auc", CELL, table=table), names, True)
    show("both tables, log-loss", record.cells(LOSS, CELL), names, False)
    bar_two_ionosphere(record)


def bar_two_ionosphere(record: Record) -> None:
    cells = record.cells(LOSS, CELL, table="ionosphere")
    gaps = {p: each[OURS] - each[f"{SVM} + iterative"] for p, each in cells.items() if f"{SVM} + iterative" in each}
    if gaps:
        print(f"Bar 2, Ionosphere: log-loss less that of the calibrated SVM, mean {np.mean(list(gaps.values())):+.4f}, "
              f"largest {max(gaps.values()):+.4f} (bar: <= .02)")  # fmt: skip


def summary_of_unseen() -> None:
    record, names = Record("iqgme_unseen", KEYS), methods(("iterative",))
    if not record.lines:
        return
    groups = {"all unseen": UNSEEN, "numeric": UNSEEN_NUMERIC, "with categories": UNSEEN_MIXED}
    for value, falling in (("auc", True), (LOSS, False)):
        for title, tables in groups.items():
            for missing in (0, 25, 50):
                show(f"{title}, {missing} % missing, {value}", record.cells(value, CELL, table=tables, missing=missing),
                     names, falling)  # fmt: skip
        show(f"all unseen, all shares, {value}", record.cells(value, CELL, table=groups["all unseen"]), names, falling)
    complete_data(record)


def complete_data(record: Record) -> None:
    """Bar 3: on complete tables, our AUC less that of the best of the named peers."""
    rivals = {"numeric": ([*UNSEEN_NUMERIC, *THESIS], (f"{SVM} + iterative", "ExtraTrees"), 0.005),
              "with categories": (UNSEEN_MIXED, ("RandomForest + iterative",), 0.01)}  # fmt: skip
    for title, (tables, names, bar) in rivals.items():
        cells = complete(record.cells("auc", CELL, table=tables, missing=0), [OURS, *names])
        gaps = {p[0]: each[OURS] - max(each[m] for m in names) for p, each in cells.items()}
        if gaps:
            text = ", ".join(f"{t} {g:+.3f}" for t, g in sorted(gaps.items(), key=lambda item: item[1]))
            near = sum(g >= -bar for g in gaps.values())
            print(f"\nBar 3, complete {title} tables: ours less the best of {', '.join(names)}: mean "
                  f"{np.mean(list(gaps.values())):+.4f}, within {bar}: {near} of {len(gaps)}: {text}")  # fmt: skip
