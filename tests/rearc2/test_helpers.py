"""The helpers against slow obvious versions, exact inverses and what their contracts promise."""

from __future__ import annotations

from random import Random

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rearc2 import helpers as h

SEEDS = st.integers(0, 2**32)


def some_grid(rng: Random, side: int = 9, palette: tuple[int, ...] = (0, 0, 1, 2)) -> h.Grid:
    return h.random_cells(rng, (rng.randint(1, side), rng.randint(1, side)), palette)


def slow_components(grid: h.Grid, background: int | None, diagonal: bool, same_color: bool) -> list[set]:
    """Merges sets of touching cells until nothing changes."""
    cells = [place for place in np.ndindex(*grid.shape) if background is None or grid[place] != background]
    parts = [{place} for place in cells]

    def touch(one: set, other: set) -> bool:
        for (r, c), (y, x) in ((a, b) for a in one for b in other):
            near = max(abs(r - y), abs(c - x)) == 1 and (diagonal or r == y or c == x)
            if near and (not same_color or grid[r, c] == grid[y, x]):
                return True
        return False

    merged = True
    while merged:
        merged = False
        for i in range(len(parts)):
            for j in range(i):
                if not merged and touch(parts[i], parts[j]):
                    parts[j] |= parts.pop(i)
                    merged = True
    return sorted(parts, key=min)


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.booleans(), st.booleans(), st.sampled_from([None, 0, 1]))
def test_objects_are_the_connected_components(seed: int, diagonal: bool, same_color: bool, ground: int | None) -> None:
    grid = some_grid(Random(seed), side=6)
    found = h.objects(grid, ground, diagonal, same_color)
    assert [set(thing.cells) for thing in found] == slow_components(grid, ground, diagonal, same_color)
    for thing in found:
        assert thing.size == len(thing.cells)
        assert np.array_equal(thing.patch[thing.mask], grid[thing.slices][thing.mask])
        rows, columns = zip(*thing.cells, strict=True)
        assert (thing.top, thing.bottom) == (min(rows), max(rows))
        assert (thing.left, thing.right) == (min(columns), max(columns))


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.booleans())
def test_label_numbers_components_in_reading_order(seed: int, diagonal: bool) -> None:
    mask = some_grid(Random(seed), side=6) > 0
    labels, count = h.label(mask, diagonal)
    parts = slow_components(mask.astype(int), 0, diagonal, True)
    assert count == len(parts)
    for number, part in enumerate(parts, 1):
        assert {tuple(place) for place in np.argwhere(labels == number).tolist()} == part


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.booleans())
def test_flood_outside_and_holes(seed: int, diagonal: bool) -> None:
    wall = some_grid(Random(seed), palette=(0, 1)) > 0
    reached = np.zeros_like(wall)
    border = [(r, c) for r, c in np.ndindex(*wall.shape) if r in (0, wall.shape[0] - 1) or c in (0, wall.shape[1] - 1)]
    waiting = [place for place in border if not wall[place]]
    while waiting:
        r, c = waiting.pop()
        if 0 <= r < wall.shape[0] and 0 <= c < wall.shape[1] and not wall[r, c] and not reached[r, c]:
            reached[r, c] = True
            steps = [(y, x) for y in (-1, 0, 1) for x in (-1, 0, 1) if diagonal or 0 in (y, x)]
            waiting += [(r + y, c + x) for y, x in steps]
    assert np.array_equal(h.outside(wall, diagonal), reached)
    assert np.array_equal(h.holes(wall, diagonal), ~wall & ~reached)
    assert not h.flood(np.zeros((3, 3), bool), (1, 1)).any()


@given(SEEDS, st.booleans())
def test_grow_is_the_neighbourhood(seed: int, diagonal: bool) -> None:
    mask = some_grid(Random(seed)) == 1
    near = np.zeros_like(mask)
    for r, c in np.argwhere(mask):
        for y, x in np.ndindex(*mask.shape):
            distance = max(abs(r - y), abs(c - x)) if diagonal else abs(r - y) + abs(c - x)
            near[y, x] |= distance <= 1
    assert np.array_equal(h.grow(mask, diagonal), near)


def test_box_crop_and_common_colors() -> None:
    grid = np.array([[0, 0, 0, 0], [0, 3, 0, 0], [0, 0, 4, 0]])
    assert h.box(grid > 0) == (1, 1, 2, 2)
    assert h.crop(grid).tolist() == [[3, 0], [0, 4]]
    assert h.crop(grid, grid == 4).tolist() == [[4]]
    assert h.background(grid) == 0
    assert h.most_common(grid, without=[0]) == 3  # the smaller of two equally common ones


@settings(deadline=None)
@given(SEEDS, st.integers(1, 9), st.integers(1, 9), st.floats(0, 1), st.booleans())
def test_a_random_shape_is_connected_and_fills_its_box(
    seed: int, height: int, width: int, density: float, diagonal: bool
) -> None:
    shape = h.random_shape(Random(seed), height, width, density, diagonal)
    assert shape.shape == (height, width)
    assert h.box(shape) == (0, 0, height, width)
    assert h.label(shape, diagonal)[1] == 1
    assert shape.sum() >= density * height * width


@settings(deadline=None)
@given(SEEDS, st.integers(1, 8), st.integers(1, 8), st.sampled_from(["lr", "ud", "both"]))
def test_a_symmetric_shape_is_symmetric_and_connected(seed: int, height: int, width: int, flips: str) -> None:
    shape = h.symmetric_shape(Random(seed), height, width, flips=flips)
    assert h.label(shape, diagonal=False)[1] == 1
    assert h.box(shape) == (0, 0, height, width)
    if flips in ("lr", "both"):
        assert np.array_equal(shape, shape[:, ::-1])
    if flips in ("ud", "both"):
        assert np.array_equal(shape, shape[::-1])


def test_noise_has_the_asked_density_and_palette() -> None:
    rng = Random(0)
    assert h.scatter(rng, (300, 300), 0.3).mean() == pytest.approx(0.3, abs=0.01)
    assert not h.scatter(rng, (9, 9), 0.0).any()
    assert h.scatter(rng, (9, 9), 1.0).all()
    cells = h.random_cells(rng, (300, 300), [0, 0, 7, 9])
    shares = np.bincount(cells.ravel(), minlength=10) / cells.size
    assert shares[[0, 7, 9]] == pytest.approx([0.5, 0.25, 0.25], abs=0.01)
    assert shares.sum() == pytest.approx(shares[[0, 7, 9]].sum())


@given(SEEDS)
def test_colors_are_distinct_and_allowed(seed: int) -> None:
    found = h.colors(Random(seed), 5, without=[0, 3])
    assert len(set(found)) == 5
    assert set(found) <= {1, 2, 4, 5, 6, 7, 8, 9}


def test_mostly_is_near_and_at_times_far() -> None:
    rng = Random(5)
    draws = [h.mostly(rng, 3, 6, 20) for _ in range(2000)]
    assert set(draws) == set(range(3, 21))
    near = sum(draw <= 6 for draw in draws) / len(draws)
    assert abs(near - (0.75 + 0.25 * 4 / 18)) < 0.03
    assert {h.mostly(rng, 5, 4, 4) for _ in range(20)} == {5}


def test_retrying_is_bounded() -> None:
    calls: list[int] = []

    def third_time() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise h.Retry
        return "done"

    assert h.retrying(third_time, tries=3) == "done"
    calls.clear()
    with pytest.raises(h.Retry):
        h.retrying(third_time, tries=2)
    assert len(calls) == 2


@settings(deadline=None)
@given(SEEDS, st.integers(0, 2), st.integers(0, 2))
def test_places_keep_gap_and_margin(seed: int, gap: int, margin: int) -> None:
    rng = Random(seed)
    sizes = [(rng.randint(1, 5), rng.randint(1, 5)) for _ in range(rng.randint(1, 5))]
    taken = h.scatter(rng, (20, 18), 0.01)
    try:
        places = h.place(rng, (20, 18), sizes, gap, margin, taken)
    except h.Retry:
        return
    boxes = [(top, left, *size) for (top, left), size in zip(places, sizes, strict=True)]
    boxes += [(r, c, 1, 1) for r, c in np.argwhere(taken).tolist()]
    for number, (top, left, height, width) in enumerate(boxes[: len(sizes)]):
        assert top >= margin
        assert left >= margin
        assert top + height <= 20 - margin
        assert left + width <= 18 - margin
        for y, x, rows, columns in boxes[:number] + boxes[len(sizes) :]:
            between = max(y - top - height, top - y - rows, x - left - width, left - x - columns)
            assert between >= gap


def test_what_cannot_be_placed_is_a_retry() -> None:
    with pytest.raises(h.Retry):
        h.place(Random(0), (5, 5), [(3, 3), (3, 3)])
    with pytest.raises(h.Retry):
        h.place(Random(0), (5, 5), [(6, 1)])


@given(SEEDS, st.integers(1, 4), st.integers(1, 4))
def test_spots_are_the_free_boxes(seed: int, height: int, width: int) -> None:
    taken = h.scatter(Random(seed), (7, 6), 0.2)
    slow = [
        [r, c]
        for r in range(7 - height + 1)
        for c in range(6 - width + 1)
        if not taken[r : r + height, c : c + width].any()
    ]
    assert h.spots(taken, height, width).tolist() == slow


@given(SEEDS, st.integers(1, 3), st.integers(1, 3), st.integers(1, 2))
def test_split_undoes_join(seed: int, rows: int, columns: int, thickness: int) -> None:
    rng = Random(seed)
    heights, widths = ([rng.randint(1, 4) for _ in range(n)] for n in (rows, columns))
    panels = [[h.random_cells(rng, (a, b), (0, 1, 2)) for b in widths] for a in heights]
    found = h.split(h.join(panels, 5, thickness), 5)
    assert [[panel.tolist() for panel in row] for row in found] == [[p.tolist() for p in row] for row in panels]


def test_splits_are_full_lines() -> None:
    grid = np.array([[1, 5, 2], [5, 5, 5], [0, 5, 0]])
    assert h.splits(grid) == ([1], [1])
    assert h.splits(grid, 5) == ([1], [1])
    assert h.splits(grid, 0) == ([], [])


@pytest.mark.parametrize(("side", "place"), [("top", (0, 1)), ("bottom", (2, 1)), ("left", (1, 0)), ("right", (1, 3))])
def test_to_top_turns_a_side_up_and_back(side: str, place: tuple[int, int]) -> None:
    grid = np.zeros((3, 4), int)
    grid[place] = 7
    turned = h.to_top(grid, side)
    assert 7 in turned[0]
    assert np.array_equal(h.undo_to_top(turned, side), grid)


def test_the_eight_symmetries_in_order() -> None:
    grid = np.arange(6).reshape(2, 3)
    left, half, right, mirror, transpose, flip, anti = h.symmetries(grid)[1:]
    assert np.array_equal(left, grid.T[::-1])
    assert np.array_equal(half, grid[::-1, ::-1])
    assert np.array_equal(right, grid.T[:, ::-1])
    assert np.array_equal(mirror, grid[:, ::-1])
    assert np.array_equal(transpose, grid.T)
    assert np.array_equal(flip, grid[::-1])
    assert np.array_equal(anti, grid[::-1, ::-1].T)


def drawn(draw: object, *args: object, **options: object) -> list[list[int]]:
    grid = h.canvas(4, 5)
    draw(grid, *args, **options)  # type: ignore[operator]
    return grid.tolist()


def test_drawing() -> None:
    assert drawn(h.fill, 2, 3, 9, 9, 6) == [[0] * 5, [0] * 5, [0, 0, 0, 6, 6], [0, 0, 0, 6, 6]]
    assert drawn(h.fill, -3, -3, 4, 4, 6) == [[6, 0, 0, 0, 0], [0] * 5, [0] * 5, [0] * 5]
    assert drawn(h.frame, 0, 0, 3, 3, 2) == [[2, 2, 2, 0, 0], [2, 0, 2, 0, 0], [2, 2, 2, 0, 0], [0] * 5]
    assert drawn(h.line, (0, 0), (2, 2), 3) == [[3, 0, 0, 0, 0], [0, 3, 0, 0, 0], [0, 0, 3, 0, 0], [0] * 5]
    assert drawn(h.line, (3, 4), (3, 1), 3)[3] == [0, 3, 3, 3, 3]
    patch: npt.NDArray[np.int64] = np.array([[1, 0], [2, 3]])
    assert drawn(h.paint, patch, 3, -1) == [[0] * 5, [0] * 5, [0] * 5, [0, 0, 0, 0, 0]]
    assert drawn(h.paint, patch, 2, 3) == [[0] * 5, [0] * 5, [0, 0, 0, 1, 0], [0, 0, 0, 2, 3]]
    assert drawn(h.paint, patch > 0, 2, 3, 9) == [[0] * 5, [0] * 5, [0, 0, 0, 9, 0], [0, 0, 0, 9, 9]]
    with pytest.raises(ValueError, match="neither straight nor diagonal"):
        h.line(h.canvas(4, 4), (0, 0), (1, 3), 1)


def test_a_ray_stops_at_what_is_not_background() -> None:
    grid = h.canvas(3, 6)
    grid[1, 4] = 8
    assert h.ray(grid, (1, 0), (0, 1), 2) == [(1, 1), (1, 2), (1, 3)]
    assert grid[1].tolist() == [0, 2, 2, 2, 8, 0]
    assert h.ray(grid, (1, 4), (1, 1), 3) == [(2, 5)]
    assert len(h.ray(grid, (1, 0), (0, 1), 5, through=None)) == 5


@given(SEEDS)
def test_gravity_drops_each_column_in_order(seed: int) -> None:
    grid = some_grid(Random(seed))
    fallen = h.gravity(grid)
    for before, after in zip(grid.T.tolist(), fallen.T.tolist(), strict=True):
        rest = [cell for cell in before if cell]
        assert after == [0] * (len(before) - len(rest)) + rest


def test_upscale_is_a_kronecker_product() -> None:
    grid = np.array([[1, 2], [0, 3]])
    assert np.array_equal(h.upscale(grid, 3), np.kron(grid, np.ones((3, 3), int)))
