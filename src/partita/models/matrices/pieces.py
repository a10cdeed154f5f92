"""Rows cut into pieces of about equal work, which run side by side.

Where the cuts fall depends on the cells and the work alone, never on the number of threads, and every piece adds up in
its own order: same bytes for any number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise

import numpy as np

PIECE_WORK = 4e6  # multiplications: a millisecond or so
MOST_PIECES = 32

Piece = tuple[int, int]


def cut_rows(first: np.ndarray, per_cell: float, per_row: float) -> list[Piece]:
    """Pieces (begin, end) of the rows with the cells first[i] : first[i + 1]."""
    n = len(first) - 1
    work = per_cell * (first - first[0]) + per_row * np.arange(n + 1)
    count = int(np.clip(work[-1] // PIECE_WORK, 1, min(MOST_PIECES, max(n, 1))))
    cuts = np.searchsorted(work, work[-1] * np.arange(1, count) / count)
    ends = np.unique(np.concatenate([[0], cuts, [n]])).tolist()
    return list(pairwise(ends))


def cut_evenly(n: int, per_row: float) -> list[Piece]:
    """Pieces of n rows that are alike."""
    return cut_rows(np.zeros(n + 1, np.int64), 0.0, per_row)


def run_pieces(work: Callable[[int, Piece], None], pieces: list[Piece], n_threads: int) -> None:
    """`work(number, piece)` of all pieces, in at most `n_threads` threads, of which the caller's is one."""
    left = iter(enumerate(pieces))  # every thread takes the next piece there is

    def share() -> None:
        for number, piece in left:
            work(number, piece)

    others = min(n_threads, len(pieces)) - 1
    helping = [_pool(n_threads - 1, os.getpid()).submit(share) for _ in range(others)]
    try:
        share()
    finally:  # what a thread has begun it ends, for it writes to the caller's arrays
        begun = [helper for helper in helping if not helper.cancel()]
        wait(begun)
    for helper in begun:
        helper.result()


@cache
def _pool(n_threads: int, process: int) -> ThreadPoolExecutor:
    """Threads that wait from call to call, as starting them takes as long as a piece; a forked process has its own."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="partita-pieces")
