"""Batched decoding against plain one-grid NumPy, written the slow and obvious way."""

import hashlib

import numpy as np
import pytest
import torch

from charm.evaluation.decode import OUTSIDE, collect, crop_batch, hash_grid, hash_grids, invert_views
from charm.tasks.view import DIHEDRALS, View

SIDES = (1, 5, 30)


def slow_crop(tokens: np.ndarray) -> tuple[int, int]:
    """Try every rectangle at the origin, the lowest first, and keep the first of the largest."""
    best = (0, 0)
    for height in range(1, len(tokens) + 1):
        for width in range(1, len(tokens) + 1):
            corner = tokens[:height, :width]
            if corner.min() >= 2 and corner.max() <= 11 and height * width > best[0] * best[1]:
                best = (height, width)
    return best


def random_view(rng: np.random.Generator, dihedral: int) -> View:
    return View(dihedral, (0, *(int(c) + 1 for c in rng.permutation(9))))


def padded(grids: list[np.ndarray], side: int) -> torch.Tensor:
    canvas = np.full((len(grids), side, side), OUTSIDE, np.uint8)
    for n, grid in enumerate(grids):
        canvas[n, : grid.shape[0], : grid.shape[1]] = grid
    return torch.from_numpy(canvas)


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64])
def test_crop_tries_every_rectangle(side: int, dtype: torch.dtype) -> None:
    rng = np.random.default_rng(side)
    tokens = rng.integers(0, 12, (40, side, side)).astype(np.uint8)
    for n in range(30):  # mostly colours in a corner, so that areas are large, holes included
        height, width = rng.integers(1, side + 1, 2)
        corner = tokens[n, :height, :width]
        corner[rng.random(corner.shape) > 0.02 * (n % 4)] = 5
    heights, widths = crop_batch(torch.from_numpy(tokens).to(dtype))
    assert [*zip(heights.tolist(), widths.tolist(), strict=True)] == [slow_crop(canvas) for canvas in tokens]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["0222", "2222", "2222", "2222"], (0, 0)),  # nothing at the origin
        (["1000", "0000", "0000", "0000"], (0, 0)),
        (["2222", "2200", "2000", "2000"], (1, 4)),  # 1x4, 2x2 and 4x1 tie: the lowest wins
        (["2201", "2201", "1101", "2222"], (2, 2)),  # boundary ends the grid, colours beyond it do not count
        (["2222", "2222", "2222", "2222"], (4, 4)),
        (["2220", "2220", "2000", "0000"], (2, 3)),
    ],
)
def test_crop_by_hand(rows: list[str], expected: tuple[int, int]) -> None:
    tokens = torch.tensor([[int(token) for token in row] for row in rows])[None]
    heights, widths = crop_batch(tokens)
    assert (int(heights[0]), int(widths[0])) == expected


@pytest.mark.parametrize("dihedral", range(DIHEDRALS))
def test_invert_views_equals_one_view_at_a_time(dihedral: int) -> None:
    rng = np.random.default_rng(dihedral)
    sizes = [(1, 1), (1, 30), (30, 1), (30, 30), *((int(h), int(w)) for h, w in rng.integers(1, 31, (20, 2)))]
    seen = [rng.integers(0, 10, size).astype(np.uint8) for size in sizes]
    views = [random_view(rng, dihedral) for _ in seen]
    canvas = padded(seen, 30)
    noise = torch.from_numpy(rng.integers(0, 256, canvas.shape).astype(np.uint8))
    canvas = torch.where(canvas == OUTSIDE, noise, canvas)  # cells outside the grid must not matter
    heights, widths = torch.tensor(sizes).unbind(1)
    symmetries = torch.tensor([view.dihedral for view in views], dtype=torch.uint8)
    colors = torch.tensor([view.colors for view in views], dtype=torch.uint8)

    grids, heights, widths = invert_views(canvas, heights, widths, symmetries, colors)

    expected = [view.invert(grid) for view, grid in zip(views, seen, strict=True)]
    assert [*zip(heights.tolist(), widths.tolist(), strict=True)] == [grid.shape for grid in expected]
    assert torch.equal(grids, padded(expected, 30))


def test_invert_views_trims_and_takes_an_empty_batch() -> None:
    none = torch.empty(0, dtype=torch.long)
    grids, heights, _ = invert_views(torch.empty(0, 30, 30, dtype=torch.uint8), none, none, none, none.view(0, 10))
    assert len(grids) == 0
    assert len(heights) == 0
    one = torch.zeros(1, 30, 30, dtype=torch.uint8)
    grids, _, _ = invert_views(one, torch.tensor([2]), torch.tensor([3]), torch.tensor([1]), torch.arange(10)[None])
    assert grids.shape == (1, 3, 3)


def exact_hash(grid: np.ndarray) -> int:
    """The definition in Python's unbounded integers."""
    stream = hashlib.shake_128(b"charm grid hash").digest(7200)
    total = 0
    for (row, column), color in np.ndenumerate(grid):
        start = 8 * (30 * row + column)
        total += (int(color) + 1) * int.from_bytes(stream[start : start + 8], "little")
    return total % 2**64


def test_hash_is_its_definition_for_any_padding_and_under_autocast() -> None:
    rng = np.random.default_rng(0)
    grids = [rng.integers(0, 10, size).astype(np.uint8) for size in ((1, 1), (3, 7), (7, 3), (20, 11), (30, 30))]
    grids += [np.full((30, 30), 9, np.uint8), np.zeros((0, 0), np.uint8)]
    expected = [exact_hash(grid) for grid in grids]
    assert [hash_grid(grid) for grid in grids] == expected
    assert hash_grids(padded(grids, 30)).numpy().view(np.uint64).tolist() == expected
    assert hash_grids(padded(grids[:3], 9)).numpy().view(np.uint64).tolist() == expected[:3]
    with torch.autocast("cpu", torch.bfloat16):
        assert hash_grids(padded(grids, 30)).numpy().view(np.uint64).tolist() == expected


def test_hash_stays_what_votes_files_hold() -> None:
    assert hash_grid(np.array([[0, 1], [2, 3]], np.uint8)) == 4743856627570797097


def test_hash_tells_shapes_and_single_cells_apart() -> None:
    shapes = [np.zeros((h, w), np.uint8) for h in range(1, 31) for w in range(1, 31)]
    cells = []
    for place in range(900):
        for color in range(1, 10):
            grid = np.zeros(900, np.uint8)
            grid[place] = color
            cells.append(grid.reshape(30, 30))
    hashes = torch.cat([hash_grids(padded(grids, 30)) for grids in (shapes, cells)])
    assert len(hashes.unique()) == 900 + 900 * 9


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_votes_are_the_same_on_the_gpu() -> None:
    rng = np.random.default_rng(0)
    tokens = torch.from_numpy(rng.integers(0, 12, (2000, 900)).astype(np.uint8))
    for n, (height, width) in enumerate(rng.integers(0, 31, (2000, 2))):
        tokens[n].view(30, 30)[:height, :width] = 2 + n % 10
    batch = (
        tokens,
        torch.from_numpy(rng.random(2000, np.float32)),
        torch.from_numpy(rng.integers(0, 5, 2000)),
        torch.from_numpy(rng.integers(0, 8 * 362880, 2000)),
        torch.arange(2000),
    )
    here, there = collect(*batch, loops=16), collect(*(part.cuda() for part in batch), loops=16)
    for name in ("candidate_V", "row_V", "logit_V", "loops_V", "question_V"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    for name in ("question_K", "hash_K", "shape_K2", "cells"):
        np.testing.assert_array_equal(getattr(here.candidates, name), getattr(there.candidates, name))
