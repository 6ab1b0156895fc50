import hashlib

import numpy as np
import pytest

from charm.tasks.augment import color_pool, draw_views
from charm.tasks.task import Pair, Task
from charm.tasks.view import View, decode


def make_task(name: str, colors: int, seed: int = 0, pairs: int = 3) -> Task:
    rng = np.random.default_rng(seed)

    def grid() -> np.ndarray:
        return rng.integers(0, colors + 1, rng.integers(2, 6, 2)).astype(np.uint8)

    made = tuple(Pair(grid(), grid()) for _ in range(pairs))
    return Task(name, made[:-1], made[-1:])


def slow_content(task: Task, view: View) -> str:
    """Content as the reference defines it: the sorted pairs of the transformed task."""
    seen = sorted(pair.content for pair in view.apply_to_task(task).pairs)
    return hashlib.sha256(b"".join(hashlib.sha256(one).digest() for one in seen)).hexdigest()


@pytest.mark.parametrize("colors", [1, 2, 5, 9])
def test_views_are_distinct_in_content_and_begin_with_the_original(colors: int) -> None:
    task = make_task("t", colors)
    codes = draw_views(task, 200, seed=3)
    contents = {slow_content(task, View.from_code(int(code))) for code in codes}
    assert codes[0] == 0
    assert len(contents) == len(codes) <= 200


@pytest.mark.parametrize(("colors", "all_views"), [(1, 9 * 8), (2, 9 * 8 * 8)])
def test_few_colours_give_all_the_views_there_are(colors: int, all_views: int) -> None:
    """One colour may become any of nine, two any of 9 x 8; times the 8 symmetries of an asymmetric grid."""
    task = make_task("t", colors)
    assert all_views - 3 <= len(draw_views(task, 1000, seed=0)) <= all_views


def test_symmetric_and_swapped_content_counts_once() -> None:
    """A fully symmetric task has one view for each recolouring; pairs that trade places are the same content."""
    square = np.array([[1, 1], [1, 1]], np.uint8)
    task = Task("t", (Pair(square, square),), ())
    assert len(draw_views(task, 1000, seed=0)) == 9
    one, two = np.array([[1]], np.uint8), np.array([[2]], np.uint8)
    trade = Task("t", (Pair(one, one), Pair(two, two)), ())
    assert len(draw_views(trade, 1000, seed=0)) == 9 * 8 // 2


def test_drawing_depends_on_seed_and_puzzle_alone() -> None:
    task = make_task("t", 9)
    assert np.array_equal(draw_views(task, 300, 1), draw_views(task, 300, 1))
    assert not np.array_equal(draw_views(task, 300, 1), draw_views(task, 300, 2))
    renamed = Task("u", task.train, task.test)
    assert not np.array_equal(draw_views(task, 300, 1), draw_views(renamed, 300, 1))


def test_a_held_out_output_has_no_say() -> None:
    """Only the output is asymmetric: seen, it makes 8 views of each recolouring; blinded, it must not."""
    square, uneven = np.ones((3, 3), np.uint8), np.array([[1, 0], [0, 0]], np.uint8)
    task = Task("t", (Pair(square, square),), (Pair(square, uneven),))
    assert len(draw_views(task, 1000, 0)) == 9 * 4  # the uneven grid is its own transpose
    assert len(draw_views(task.blind(), 1000, 0)) == 9


def test_pool_restricts_colours() -> None:
    pool = color_pool(50, seed=0)
    assert len({tuple(row) for row in pool.tolist()}) == 50
    assert pool[0].tolist() == list(range(10))
    _, colors = decode(draw_views(make_task("t", 9), 300, 0, pool))
    assert len(colors) == 300
    assert {tuple(row) for row in colors.tolist()} <= {tuple(row) for row in pool.tolist()}


def test_every_symmetry_and_every_permutation_of_the_pool_is_drawn() -> None:
    """Of 4 x 8 views, 32 are all there are; and colours are drawn from all nine where there is no pool."""
    task = make_task("t", 9)
    pool = color_pool(4, seed=1)
    dihedrals, colors = decode(draw_views(task, 1000, 0, pool))
    drawn = {(int(d), tuple(c)) for d, c in zip(dihedrals, colors.tolist(), strict=True)}
    assert drawn == {(d, tuple(c)) for d in range(8) for c in pool.tolist()}
    _, free = decode(draw_views(task, 1000, 0))
    assert [len(np.unique(free[:, color])) for color in range(10)] == [1] + [9] * 9


def test_fixed_colors_never_move_and_all_others_do() -> None:
    rng = np.random.default_rng(3)
    grid = rng.integers(0, 10, (6, 6)).astype(np.uint8)
    task = Task("fixed", (Pair(grid, grid[::-1].copy()),), ())
    _, colors = decode(draw_views(task, 200, 0, fixed=(4, 7)))
    for color in (0, 4, 7):
        assert (colors[:, color] == color).all()
    for color in (1, 2, 3, 5, 6, 8, 9):
        assert set(colors[:, color].tolist()) == {1, 2, 3, 5, 6, 8, 9}
    assert (np.sort(colors, axis=1) == np.arange(10)).all()
