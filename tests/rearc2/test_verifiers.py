"""Rules on inputs that their generators do not draw but a reader of the official pairs would answer the same way."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from rearc2.workbench.packages import apply_rule, load_package


def grid(text: str) -> npt.NDArray[np.int64]:
    return np.array([[int(cell) for cell in row.replace(".", "0")] for row in text.split()])


CASES = {
    "a figure with one notch leaves a block over": (
        "42f14c03",
        """
        8888888888888
        8444883838888
        8484883338888
        8888883838888
        8888888888888
        8688888868888
        8888888888888
        """,
        "363 333 363",
    ),
    "one block does not fill two notches": (
        "42f14c03",
        """
        88888888888888
        84848838338888
        84448833338888
        84848838838888
        88888888888888
        86888888778888
        88888888888888
        """,
        "3633 3333 3773",
    ),
    "what is on top stays on top in every colour": (
        "c6e1b8da",
        """
        ..........
        .8888.....
        .8822222..
        .8822222..
        ...22222..
        ..........
        ..555.....
        ..55555...
        ..555.....
        ..........
        """,
        """
        ..........
        .8888.....
        .8822222..
        .8822222..
        ...22222..
        ..........
        ....555...
        ....555...
        ....555...
        ..........
        """,
    ),
    "the enlarged squares fill a frame of any side": (
        "e7a25a18",
        """
        ........
        2222222.
        2.....2.
        2.....2.
        2..13.2.
        2..46.2.
        2.....2.
        2222222.
        """,
        "2222222 2111332 2111332 2111332 2444662 2444662 2222222",
    ),
    "a piece may begin at the end of its first column": (
        "d017b73f",
        "....... 22.11.. ...1...",
        "..11 221. ....",
    ),
    "a rectangle may touch the left column": (
        "6cbe9eb8",
        """
        .1.1.1.1.1.1
        1.1.1.1.1.1.
        3333331.1.1.
        3888831.4441
        3888831.444.
        388883.1.1.1
        3333331.1.1.
        .1.1.1.1.1.1
        1.1.1.1.1.1.
        """,
        "333333 388883 344483 344483 333333",
    ),
    "a copy may show cells that no larger copy shows": (
        "f8cc533f",
        """
        44444444444444
        43433444114444
        43444444414444
        43343441414444
        44444444444444
        """,
        """
        44444444444444
        43433414114444
        43443414414444
        43343411414444
        44444444444444
        """,
    ),
    "the grid may cut the pyramid off": (
        "af726779",
        "33333 73737 33333",
        "33333 73737 33333",
    ),
    "the figure may be grey like the marks": (
        "fbf15a0b",
        "58888 88885 58885 88888 88858 88888",
        "88888 88885 88885",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rule_reaches_beyond_its_generator(name: str) -> None:
    task, before, after = CASES[name]
    assert apply_rule(load_package(task).verify, grid(before)).tolist() == grid(after).tolist()
