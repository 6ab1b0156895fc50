import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from charm.errors import CharmError
from charm.tasks.canvas import crop, fitting_side, place
from tests.toy.pairs import GRIDS


@given(GRIDS)
def test_crop_undoes_place_at_the_origin(grid: np.ndarray) -> None:
    assert np.array_equal(crop(place(grid)), grid)


@given(GRIDS, st.data())
def test_place_draws_the_grid_and_its_boundary(grid: np.ndarray, data: st.DataObject) -> None:
    height, width = grid.shape
    top, left = data.draw(st.integers(0, 30 - height)), data.draw(st.integers(0, 30 - width))
    tokens = place(grid, 30, top, left)
    for row in range(30):
        for column in range(30):
            r, c = row - top, column - left
            if 0 <= r < height and 0 <= c < width:
                expected = grid[r, c] + 2
            elif (r == height and 0 <= c < width) or (c == width and 0 <= r < height):
                expected = 1
            else:
                expected = 0
            assert tokens[row, column] == expected


def slow_crop(tokens: np.ndarray) -> tuple[int, int]:
    best = (0, 0)
    for height in range(1, 31):
        for width in range(1, 31):
            if (tokens[:height, :width] >= 2).all() and height * width > best[0] * best[1]:
                best = (height, width)
    return best


@pytest.mark.parametrize("seed", range(20))
def test_crop_takes_the_largest_rectangle_at_the_origin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    tokens = (rng.integers(2, 12, (30, 30)) * (rng.random((30, 30)) < rng.choice([0.9, 0.99]))).astype(np.uint8)
    grid = crop(tokens)
    assert grid.size == np.prod(slow_crop(tokens))
    assert np.array_equal(grid, tokens[: grid.shape[0], : grid.shape[1]].astype(int) - 2)


def test_crop_of_equals_takes_the_flattest_and_may_be_empty() -> None:
    tokens = np.zeros((30, 30), np.uint8)
    assert crop(tokens).shape == (0, 0)
    tokens[0, :4] = 5
    tokens[1, :2] = 5
    assert crop(tokens).shape == (1, 4)


def test_fitting_side_leaves_room_for_the_boundary() -> None:
    assert [fitting_side(n) for n in (1, 10, 11, 15, 16, 20, 21, 29, 30)] == [
        11,
        11,
        16,
        16,
        21,
        21,
        30,
        30,
        30,
    ]
    with pytest.raises(CharmError, match="side 21"):
        fitting_side(21, (11, 21))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(CharmError, match="does not fit"):
        place(np.zeros((3, 4), np.uint8), 30, 28, 0)
    with pytest.raises(CharmError, match="does not fit"):
        place(np.zeros((3, 4), np.uint8), 30, 0, -1)
