"""Every board at which a game of tic-tac-toe can end: a table whose interactions are known from the rules."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from partita.data.files import need_pandas

SQUARES = ("tl", "tm", "tr", "ml", "mm", "mr", "bl", "bm", "br")
"""Top, middle, bottom; left, middle, right."""
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
"""Three in a row, as positions in SQUARES."""


def load_tic_tac_toe(as_frame: bool = True, return_X_y: bool = False) -> Any:
    """The 958 boards at which tic-tac-toe can end, x playing first; played through, not read from a file.

    Nine columns, one a square ("x", "o" or "b" for blank), and whether x has won: 626 boards. They are the boards of
    the UCI table of the same name, in the order of their squares.

    Returns a Bunch with data (a pandas frame, or an array of text), target (1 where x wins), target_names,
    feature_names, lines (the eight lines as tuples of column positions), description; or (data, target).
    """
    boards = sorted(_ends("b" * 9, "x", {}))
    data: Any = np.array([list(board) for board in boards], dtype=object)
    if as_frame:
        data = need_pandas("load_tic_tac_toe(as_frame=True)").DataFrame(data, columns=list(SQUARES))
    bunch = Bunch(
        data=data,
        target=np.array([int(_has_won(board, "x")) for board in boards]),
        target_names=np.array(["x does not win", "x wins"]),
        feature_names=list(SQUARES),
        lines=LINES,
        description="Boards at which a game of tic-tac-toe can end, and whether the first player has won.",
    )
    return (bunch.data, bunch.target) if return_X_y else bunch


def _ends(board: str, turn: str, known: dict[str, set[str]]) -> set[str]:
    """The boards at which a game can end that has come to `board`; whose turn it is follows from the board."""
    if board not in known:
        if "b" not in board or _has_won(board, "x") or _has_won(board, "o"):
            known[board] = {board}
        else:
            nexts = [board[:k] + turn + board[k + 1 :] for k in range(9) if board[k] == "b"]
            known[board] = set().union(*(_ends(later, "o" if turn == "x" else "x", known) for later in nexts))
    return known[board]


def _has_won(board: str, player: str) -> bool:
    return any(all(board[k] == player for k in line) for line in LINES)
