from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from charm.errors import CharmError
from charm.tasks.pairs_file import PairBlock, Plan, load_pairs, pack_pairs, read_manifest, write_block, write_manifest
from charm.tasks.task import Pair
from tests.toy.pairs import block_of, random_pairs, write_pairs

MANIFEST_TEXT = '{"plan": {"provider": "toy", "version": "1", "seed": 3, "pairs": %s, "time_limit": 5.0}}'
PLAN = Plan("toy", "1", seed=3, pairs=20, time_limit=5.0)


write_folder = partial(write_pairs, plan=PLAN)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_folder(tmp_path, {f"task{n}": block_of(n, 20, 2) for n in range(3)})
    return tmp_path


def test_what_was_written_is_loaded(folder: Path) -> None:
    blocks = load_pairs(folder)
    assert list(blocks) == ["task0", "task1", "task2"]
    for n, block in enumerate(blocks.values()):
        pairs = random_pairs(np.random.default_rng(n), 20)
        assert [Pair(*block.pair(k)) for k in range(len(block))] == pairs
        assert block.index.tolist() == list(range(0, 40, 2))
        assert (block.cells.dtype, block.shapes.dtype, block.index.dtype) == (np.uint8, np.uint8, np.uint32)
        assert block.shapes[4].tolist() == [*pairs[4].grids()[0].shape, *pairs[4].grids()[1].shape]
    assert list(load_pairs(folder, ["task2", "task0"])) == ["task0", "task2"]


def test_grids_are_read_only_windows(folder: Path) -> None:
    block = load_pairs(folder)["task1"]
    grid, _ = block.pair(7)
    assert np.shares_memory(grid, block.cells)
    with pytest.raises(ValueError, match="read-only"):
        grid[0, 0] = 1
    for k in (-1, 20):
        with pytest.raises(IndexError):
            block.pair(k)


def test_a_task_without_pairs_is_an_empty_block(tmp_path: Path) -> None:
    write_folder(tmp_path, {"none": pack_pairs([], [])})
    assert len(load_pairs(tmp_path)["none"]) == 0


def test_manifest_round_trip(folder: Path) -> None:
    manifest = read_manifest(folder)
    assert manifest.plan == PLAN
    assert manifest.tasks["task0"].rejects == {"bad": 2}
    before = (folder / "manifest.json").read_bytes()
    manifest.tasks = dict(reversed(manifest.tasks.items()))  # the order of finishing does not show
    write_manifest(folder, manifest)
    assert (folder / "manifest.json").read_bytes() == before


def test_content_depends_on_every_part() -> None:
    block = block_of(0, 4)
    others = [
        PairBlock(block.cells ^ np.uint8(1), block.shapes, block.index),
        PairBlock(block.cells, block.shapes[:, [1, 0, 2, 3]], block.index),
        PairBlock(block.cells, block.shapes, block.index + np.uint32(1)),
    ]
    assert len({block.content(), *(other.content() for other in others)}) == 4


def test_missing_folder_names_the_command(tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="nowhere: no synthetic pairs; run `charm data rearc` to"):
        load_pairs(tmp_path / "nowhere")
    with pytest.raises(CharmError, match=f"run `charm rearc2 build --data {tmp_path}` to build them"):
        load_pairs(tmp_path / "rearc2")


def test_missing_tasks_are_named(folder: Path) -> None:
    with pytest.raises(CharmError, match=r"1 tasks have no pairs \(zebra\); run `charm data rearc --seed 3 "):
        load_pairs(folder, ["task1", "zebra"])


def test_an_interrupted_build_loads_only_by_name(tmp_path: Path) -> None:
    write_folder(tmp_path, {"a": block_of(0, 2)}, unfinished=("b", "c"))
    with pytest.raises(
        CharmError,
        match="2 tasks are not built yet; run `charm data rearc --seed 3 --pairs 20` to finish them",
    ):
        load_pairs(tmp_path)
    assert list(load_pairs(tmp_path, ["a"])) == ["a"]


@pytest.mark.parametrize("keep", [0, 1, 100, 0.5, 0.9, -1])
def test_truncated_file_is_named(folder: Path, keep: float) -> None:
    path = folder / "task1.npz"
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep) if isinstance(keep, float) else keep])
    with pytest.raises(CharmError, match=r"task1\.npz: truncated or not a file of pairs"):
        load_pairs(folder)
    assert list(load_pairs(folder, ["task0"])) == ["task0"]


def test_missing_file_is_named(folder: Path) -> None:
    (folder / "task2.npz").unlink()
    with pytest.raises(CharmError, match=r"task2\.npz: the manifest lists this file, but it is missing"):
        load_pairs(folder)


def test_changed_file_is_refused(folder: Path) -> None:
    write_block(folder, "task2", block_of(9, 20))
    with pytest.raises(CharmError, match=r"task2\.npz: the pairs do not match the manifest"):
        load_pairs(folder)


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"plan": 1}', '{"plan": {}, "tasks": {}, "unfinished": []}']
    + [MANIFEST_TEXT % digits for digits in ("9" * 400, '3, "pairs": 1')],
)
def test_broken_manifest_is_named(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(CharmError, match=r"manifest\.json: not a manifest of synthetic pairs"):
        load_pairs(folder)


def test_manifest_is_plain_json(folder: Path) -> None:
    data = json.loads((folder / "manifest.json").read_text())
    assert data["plan"] == {"provider": "toy", "version": "1", "seed": 3, "pairs": 20, "time_limit": 5.0}
    assert data["unfinished"] == []
    assert data["tasks"]["task0"]["pairs"] == 20
