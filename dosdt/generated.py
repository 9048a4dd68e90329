"""Data sets that follow from their rules: every row is derived here, so no file is needed.

Each function returns the features as a DataFrame and the label as a Series. Values that are names are
words, because a column of digits would be read as numbers and split by thresholds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd

SQUARES = (
    *("top-left", "top-middle", "top-right"),
    *("middle-left", "middle-middle", "middle-right"),
    *("bottom-left", "bottom-middle", "bottom-right"),
)
# Indices into SQUARES: rows, columns, diagonals.
LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))

# The robots of the MONK's problems; the first word of each is the attribute's value 1, and so on.
ROBOT = {
    "head_shape": ("round", "square", "octagon"),
    "body_shape": ("round", "square", "octagon"),
    "is_smiling": ("yes", "no"),
    "holding": ("sword", "balloon", "flag"),
    "jacket_color": ("red", "yellow", "green", "blue"),
    "has_tie": ("yes", "no"),
}


def tic_tac_toe() -> tuple[pd.DataFrame, pd.Series]:
    """Return the 958 boards at the end of a game that x began (x, o, or b for blank), and whether x won."""
    boards = sorted(_final_boards(), reverse=True)
    return _frame(SQUARES, boards, "x_wins", ["yes" if _wins(board, "x") else "no" for board in boards])


def monk(number: Literal[1, 2, 3]) -> tuple[pd.DataFrame, pd.Series]:
    """Return all 432 robots and their class, 0 or 1, in the MONK's problem of that number, without noise."""
    robots = list(product(*ROBOT.values()))
    in_class = _MONK_RULES[number]
    return _frame(ROBOT, robots, "class", [int(in_class(*robot)) for robot in robots])


def balance_scale() -> tuple[pd.DataFrame, pd.Series]:
    """Return all 625 loads of a balance and where it tips: L, R, or B when it balances."""
    columns = ("left-weight", "left-distance", "right-weight", "right-distance")
    loads = list(product(range(1, 6), repeat=4))
    return _frame(columns, loads, "class", [_tips(*load) for load in loads])


def _final_boards() -> set[str]:
    # Move by move rather than filtering all 3^9 boards: a game stops at the first line, so only boards
    # that play can really reach are kept. Boards reached by several orders of moves are met once.
    final: set[str] = set()
    current = {"b" * 9}
    for move in range(9):
        player = "xo"[move % 2]
        following: set[str] = set()
        for board in current:
            for square in range(9):
                if board[square] == "b":
                    played = board[:square] + player + board[square + 1 :]
                    over = _wins(played, player) or "b" not in played
                    (final if over else following).add(played)
        current = following
    return final


def _wins(board: str, player: str) -> bool:
    return any(all(board[square] == player for square in line) for line in LINES)


def _monk1(head: str, body: str, _smiling: str, _holding: str, jacket: str, _tie: str) -> bool:
    return head == body or jacket == "red"


def _monk2(*robot: str) -> bool:
    return sum(value == values[0] for value, values in zip(robot, ROBOT.values(), strict=True)) == 2


def _monk3(_head: str, body: str, _smiling: str, holding: str, jacket: str, _tie: str) -> bool:
    return (jacket == "green" and holding == "sword") or (jacket != "blue" and body != "octagon")


_MONK_RULES: dict[int, Callable[..., bool]] = {1: _monk1, 2: _monk2, 3: _monk3}


def _tips(left_weight: int, left_distance: int, right_weight: int, right_distance: int) -> str:
    left, right = left_weight * left_distance, right_weight * right_distance
    if left == right:
        return "B"
    return "L" if left > right else "R"


def _frame(
    columns: Iterable[str], rows: Iterable[Iterable[object]], target: str, labels: list[str] | list[int]
) -> tuple[pd.DataFrame, pd.Series]:
    import pandas as pd

    X = pd.DataFrame([tuple(row) for row in rows], columns=list(columns))
    return X, pd.Series(labels, name=target)
