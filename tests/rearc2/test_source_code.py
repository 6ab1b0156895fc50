"""What may not stand in a package's source is found, and what may is left alone."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from charm.tasks.task import Pair
from rearc2.workbench.packages import ROOT
from rearc2.workbench.source_code import find_copies, find_forbidden, independence

GRID = np.random.default_rng(0).integers(0, 10, (6, 6)).astype(np.uint8)
PAIRS = {"train 0": Pair(GRID, GRID.T)}


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "from pathlib import Path",
        "import random",
        "from random import choice",
        "from functools import cache",
        "from rearc2.tasks import other",
        "open('x')",
        "np.random.rand()",
        "np.load('x')",
        "rng = Random(3)",
        "SEEN = []\ndef generate(rng):\n    SEEN.append(1)",
        "SEEN = {}\ndef generate(rng):\n    SEEN[1] = 2",
        "COUNT = 0\ndef generate(rng):\n    global COUNT",
        "x = ().__class__",
        "hash('a')",
    ],
)
def test_forbidden_means(source: str) -> None:
    assert len(find_forbidden(ast.parse(source))) == 1


def test_allowed_means() -> None:
    source = "from random import Random\nimport numpy as np\nfrom rearc2.helpers import place\n"
    source += "NAMES = {}\ndef verify(input):\n    return input\n"
    source += "def generate(rng: Random):\n    seen = []\n    seen.append(NAMES[1])\n    seen[0] = 1"
    assert find_forbidden(ast.parse(source)) == []


@pytest.mark.parametrize(
    "literal",
    [
        repr(GRID.tolist()),
        repr(tuple(map(tuple, GRID[1:4, 2:6].tolist()))),
        repr(GRID.ravel().tolist()),
        repr(["".join(map(str, row)) for row in GRID.tolist()]),
        repr(" ".join("".join(map(str, row)) for row in GRID.tolist())),
        repr("".join(map(str, GRID.ravel().tolist()))),
        repr(int("1" + "".join(map(str, GRID.ravel().tolist())))),
        repr("z" * 100),
    ],
)
def test_copied_grids_are_found(literal: str) -> None:
    assert find_copies(ast.parse(f"GRID = {literal}"), PAIRS)


@pytest.mark.parametrize(
    "literal",
    [
        repr(GRID[:2, :2].tolist()),  # too small to matter
        repr(((GRID + 1) % 10).tolist()),  # another grid
        "[[0] * 6] * 6",
        repr("a sentence with many words, as messages have them, longer than sixty characters"),
    ],
)
def test_what_is_no_copy_is_left_alone(literal: str) -> None:
    assert find_copies(ast.parse(f'"""Docstring {GRID.tolist()}"""\nGRID = {literal}'), PAIRS) == []


def test_a_table_of_many_numbers_is_suspicious() -> None:
    assert "holds 400 cells" in find_copies(ast.parse(f"A = {[[1] * 20] * 20}"), {})[0]
    assert "holds 400 cells" in find_copies(ast.parse(f"A = {['1' * 20] * 20}"), {})[0]
    assert find_copies(ast.parse(f"A = {['a word'] * 100}"), {}) == []


def test_independence_through_other_functions() -> None:
    source = "def generate(rng): return _both(rng)\ndef verify(grid): return grid\ndef _both(rng): return verify(rng)"
    assert independence(ast.parse(source))[0] == ["generate uses verify; the two must be independent"]
    source = "def generate(rng): return _a(rng)\ndef verify(grid): return _a(grid)\ndef _a(x): return x"
    assert independence(ast.parse(source)) == ([], ["generate and verify both use _a(); read it twice"])
    source = "def generate(rng): return rival(1)\ndef verify(grid): return 1\ndef rival(grid): return 1"
    assert "generate uses rival" in independence(ast.parse(source))[0][0]


def test_the_shipped_packages_use_nothing_forbidden() -> None:
    for path in (ROOT / "tasks").glob("[!_]*.py"):
        assert find_forbidden(ast.parse(path.read_bytes())) == []
