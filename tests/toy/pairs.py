"""Random grids and pairs, folders of generated pairs, and a stream of examples."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from charm.tasks.instances import Instances
from charm.tasks.pairs_file import (
    Manifest,
    PairBlock,
    Plan,
    TaskRecord,
    pack_pairs,
    write_block,
    write_manifest,
)
from charm.tasks.sampling import IndexBlock, Mixture, Stream
from charm.tasks.task import Pair
from charm.tasks.view import View

GRIDS = hnp.arrays(np.uint8, hnp.array_shapes(min_dims=2, max_dims=2, max_side=30), elements=st.integers(0, 9))
PLAN = Plan("rearc", "test", seed=0, pairs=3, time_limit=20.0)


def random_pairs(rng: np.random.Generator, count: int, longest: int = 30, absent: float = 0.0) -> list[Pair]:
    """Draw pairs of noise; a share `absent` of them has no output."""

    def grid() -> np.ndarray:
        return rng.integers(0, 10, rng.integers(1, longest + 1, 2)).astype(np.uint8)

    return [Pair(grid(), None if absent and rng.random() < absent else grid()) for _ in range(count)]


def slow_place(grid: np.ndarray, side: int, top: int, left: int, scale: int = 1, is_output: bool = True) -> np.ndarray:
    """Place an enlarged grid on a canvas of any side, token by token: what is at (r, c)?"""
    large = side > 30
    height, width = scale * grid.shape[0], scale * grid.shape[1]
    tokens = np.zeros((side, side), np.uint8)
    for row in range(side):
        for column in range(side):
            r, c = row - top, column - left
            if 0 <= r < height and 0 <= c < width:
                tokens[row, column] = grid[r // scale, c // scale] + 2
            elif large and not is_output:
                continue
            elif (
                (r == height and 0 <= c < width)
                or (c == width and 0 <= r < height)
                or (large and r == height and c == width)
            ):
                tokens[row, column] = 1
    return tokens


def block_of(seed: int, count: int, step: int = 1) -> PairBlock:
    """Pack pairs of noise, made by every `step`-th attempt."""
    return pack_pairs(random_pairs(np.random.default_rng(seed), count), range(0, count * step, step))


def write_pairs(
    folder: Path,
    tasks: Mapping[str, PairBlock | Sequence[Pair]],
    unfinished: Sequence[str] = (),
    plan: Plan = PLAN,
) -> None:
    """Write a folder of generated pairs with its manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    records = {}
    for task, pairs in tasks.items():
        block = pairs if isinstance(pairs, PairBlock) else pack_pairs(pairs, range(len(pairs)))
        write_block(folder, task, block)
        records[task] = TaskRecord(len(block), 9, {"bad": 2}, block.content(), None)
    write_manifest(folder, Manifest(plan, list(unfinished), records))


def key_at(instances: Instances, row: int) -> tuple[str, View]:
    """Return the puzzle and the view of a memory row."""
    puzzle, code = instances.table()
    return instances.puzzles[puzzle[row]], View.from_code(int(code[row]))


def row_of(instances: Instances, puzzle: str, view: View) -> int:
    """Return the memory row of a puzzle under a view."""
    return int(instances.rows(puzzle)[instances.codes(puzzle).tolist().index(view.code)])


def make_stream(slots: int = 8, seed: int = 0) -> Stream:
    """A stream over three blocks of twenty pairs of random shapes."""
    rng = np.random.default_rng(0)
    shapes = rng.integers(1, 31, (20, 4))
    blocks = [
        IndexBlock(np.arange(0, 5, dtype=np.int32), np.arange(1, 4, dtype=np.int32)),
        IndexBlock(np.arange(5, 7, dtype=np.int32), np.arange(4, 14, dtype=np.int32), repeats=2),
        IndexBlock(np.array([7, 19], np.int32), np.array([20], np.int32)),
    ]
    return Stream(Mixture(blocks), shapes, rng.integers(0, 8, 21), 30, slots, seed)
