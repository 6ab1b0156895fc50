from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from charm.errors import CharmError
from charm.tasks.task import Pair, Task, as_grid, check_unique, grid_hash, task_from_json, task_to_json

grids = arrays(np.uint8, array_shapes(min_dims=2, max_dims=2, max_side=30), elements=st.integers(0, 9))


def pair(a: list[list[int]], b: list[list[int]] | None = None) -> Pair:
    return Pair(as_grid(a, "a"), None if b is None else as_grid(b, "b"))


@given(grids)
def test_grid_is_the_same_from_lists_tuples_and_arrays(cells: np.ndarray) -> None:
    for form in (cells, cells.astype(np.int64), cells.tolist(), tuple(map(tuple, cells.tolist()))):
        grid = as_grid(form, "here")
        assert grid.dtype == np.uint8
        assert np.array_equal(grid, cells)


def test_grid_is_a_read_only_copy() -> None:
    cells = np.ones((2, 2), np.uint8)
    grid = as_grid(cells, "here")
    cells[0, 0] = 5
    assert grid[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        grid[0, 0] = 2


@pytest.mark.parametrize(
    ("cells", "complaint"),
    [
        (None, "not a list of rows"),
        (7, "not a list of rows"),
        ("12", "not a list of rows"),
        ({"0": [1]}, "not a list of rows"),
        ([1, 2], "not a list of rows"),
        (["12", "34"], "not a list of rows"),
        ([[1], 2], "not a list of rows"),
        (np.zeros(4, np.uint8), "not a list of rows"),
        (np.array(3), "not a list of rows"),
        ([], "empty"),
        ([[]], "empty"),
        ([[1], []], "empty"),
        (np.zeros((3, 0), np.uint8), "empty"),
        ([[1, 2], [3]], "ragged"),
        ([[1, "2"]], "must contain only integers"),
        ([[1, 2.0]], "must contain only integers"),
        ([[1, True]], "must contain only integers"),
        ([[1, None]], "must contain only integers"),
        ([[1, [2]]], "must contain only integers"),
        (np.zeros((2, 2)), "must contain only integers"),
        (np.zeros((2, 2), bool), "must contain only integers"),
        (np.zeros((2, 2, 2), np.uint8), "must contain only integers"),
        ([[0, 10]], "colours must be in 0..9, got 10"),
        ([[0, -1]], "colours must be in 0..9, got -1"),
        ([[0, 256]], "colours must be in 0..9, got 256"),
        ([[0, 10**30]], f"colours must be in 0..9, got {10**30}"),
        ([[0] * 31], "at most 30x30, got 1x31"),
        ([[0]] * 31, "at most 30x30, got 31x1"),
    ],
)
def test_bad_grid(cells: Any, complaint: str) -> None:
    with pytest.raises(CharmError, match=f"^the place: .*{complaint}"):
        as_grid(cells, "the place")


def test_pairs_are_equal_by_content() -> None:
    assert pair([[1, 2]], [[3]]) == pair([[1, 2]], [[3]])
    assert hash(pair([[1, 2]], [[3]])) == hash(pair([[1, 2]], [[3]]))
    different = [
        pair([[1, 2]], [[3]]),
        pair([[1], [2]], [[3]]),  # the same cells in another shape
        pair([[3]], [[1, 2]]),
        pair([[1, 2]], None),
        pair([[1, 2]], [[4]]),
    ]
    assert len(set(different)) == len(different)


def test_content_ignores_names_and_order_but_not_the_split() -> None:
    a, b, c = pair([[1]], [[2]]), pair([[3]], [[4]]), pair([[5]], [[6]])
    content = Task("x", (a, b), (c,)).content()
    assert Task("y", (b, a), (c,)).content() == content
    assert Task("x", (a, c), (b,)).content() != content
    assert Task("x", (a,), (b, c)).content() != content
    assert Task("x", (a, a, b), (c,)).content() != content
    assert Task("x", (a, b), (c,)).blind().content() != content


def test_blind_hides_test_outputs_only() -> None:
    task = Task("x", (pair([[1]], [[2]]),), (pair([[3]], [[4]]),))
    blind = task.blind()
    assert blind.train == task.train
    assert blind.answers() == [None]
    assert np.array_equal(blind.test[0].input, task.test[0].input)
    assert task.answers()[0] is not None


@given(st.lists(st.tuples(grids, grids), min_size=1, max_size=3), grids, st.none() | grids)
def test_json_round_trip(train: list[tuple[Any, Any]], question: Any, answer: Any) -> None:
    task = Task("x", tuple(Pair(a, b) for a, b in train), (Pair(question, answer),))
    assert task_from_json(task_to_json(task), "x", "here") == task


GOOD = {"input": [[1]], "output": [[2]]}


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        ([], "task t is not a JSON object"),
        ({"test": [GOOD]}, "task t has no demonstration"),
        ({"train": [], "test": [GOOD]}, "task t has no demonstration"),
        ({"train": [GOOD]}, "task t has no test input"),
        ({"train": [GOOD], "test": []}, "task t has no test input"),
        ({"train": {"0": GOOD}, "test": [GOOD]}, "task t, 'train' is not a list of pairs"),
        ({"train": [GOOD], "test": "x"}, "task t, 'test' is not a list of pairs"),
        ({"train": [GOOD, 5], "test": [GOOD]}, "task t, train pair 1: 'input' is missing"),
        ({"train": [{"output": [[1]]}], "test": [GOOD]}, "task t, train pair 0: 'input' is missing"),
        (
            {"train": [{"input": [[1]]}], "test": [GOOD]},
            "task t, train pair 0: a demonstration has no 'output'",
        ),
        ({"train": [GOOD], "test": [{"input": None}]}, "task t, test pair 0, input: .*not a list of rows"),
        ({"train": [GOOD], "test": [GOOD, {"input": [[1, 2], [3]]}]}, "task t, test pair 1, input: .*ragged"),
        (
            {"train": [GOOD], "test": [{"input": [[1]], "output": [[11]]}]},
            "task t, test pair 0, output: .*11",
        ),
    ],
)
def test_bad_task(data: Any, complaint: str) -> None:
    with pytest.raises(CharmError, match=f"^f.json: {complaint}"):
        task_from_json(data, "t", "f.json")


def test_check_unique() -> None:
    a, b = Task("a", (), ()), Task("b", (), ())
    assert check_unique(iter([a, b]), "here") == (a, b)
    with pytest.raises(CharmError, match=r"^here: task id a appears twice"):
        check_unique([a, b, a], "here")


def test_the_hash_of_a_grid_covers_its_shape_and_its_cells() -> None:
    some = [np.array(cells, np.uint8) for cells in ([[1, 2]], [[1], [2]], [[2, 1]], [[1, 2, 0]])]
    assert len({grid_hash(grid) for grid in some}) == 4
    assert grid_hash(some[0]) == grid_hash(np.array([[1, 2]], np.uint8)) == "30ace33963fd17c4"
