"""Rows cut into pieces that run side by side."""

import threading
import time

import numpy as np
import pytest

from partita.models.matrices.pieces import cut_evenly, cut_rows, run_pieces


def test_pieces_hold_every_row_once():
    first = np.concatenate([[0], np.cumsum(np.random.default_rng(0).integers(0, 2000, 300))])
    for pieces in (cut_rows(first, 500.0, 100.0), cut_evenly(300, 1e5), cut_evenly(0, 1.0), cut_evenly(1, 1e12)):
        held = [row for begin, end in pieces for row in range(begin, end)]
        assert held == list(range(len(held)))


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_piece_runs_once_in_at_most_so_many_threads(n_threads):
    ran, threads = [], set()

    def work(number, piece):
        time.sleep(0.001)
        ran.append((number, piece))
        threads.add(threading.get_ident())

    pieces = [(k, k + 1) for k in range(20)]
    run_pieces(work, pieces, n_threads)
    assert sorted(ran) == list(enumerate(pieces))
    assert len(threads) <= n_threads
    run_pieces(work, [], n_threads)


@pytest.mark.parametrize("bad", range(4))
def test_a_mistake_comes_out_when_no_piece_is_running_any_more(bad):
    begun, ended = [], []

    def work(number, _):
        begun.append(number)
        if number == bad:
            raise ValueError(f"piece {number}")
        time.sleep(0.01)
        ended.append(number)

    with pytest.raises(ValueError, match=f"piece {bad}"):
        run_pieces(work, [(k, k + 1) for k in range(4)], 2)
    assert set(begun) == {*ended, bad}
