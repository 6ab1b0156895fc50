from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from charm.errors import CharmError
from charm.tasks.pairs_file import (
    Manifest,
    PairBlock,
    Plan,
    TaskRecord,
    load_pairs,
    pack_pairs,
    read_archive,
    read_manifest,
    write_archive,
    write_block,
    write_manifest,
)
from charm.tasks.task import Pair

MANIFEST_TEXT = '{"plan": {"provider": "toy", "version": "1", "seed": 3, "pairs": %s, "time_limit": 5.0}}'
PLAN = Plan("toy", "1", seed=3, pairs=20, time_limit=5.0)


def random_pairs(seed: int, count: int) -> list[Pair]:
    rng = np.random.default_rng(seed)

    def grid() -> np.ndarray:
        return rng.integers(0, 10, rng.integers(1, 31, 2), np.uint8)

    return [Pair(grid(), grid()) for _ in range(count)]


def write_folder(folder: Path, blocks: dict[str, PairBlock], unfinished: tuple[str, ...] = ()) -> None:
    for task, block in blocks.items():
        write_block(folder, task, block)
    records = {
        task: TaskRecord(len(block), 9, {"bad": 2}, block.content(), None) for task, block in blocks.items()
    }
    write_manifest(folder, Manifest(PLAN, list(unfinished), records))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_folder(tmp_path, {f"task{n}": pack_pairs(random_pairs(n, 20), range(0, 40, 2)) for n in range(3)})
    return tmp_path


def test_what_was_written_is_loaded(folder: Path) -> None:
    blocks = load_pairs(folder)
    assert list(blocks) == ["task0", "task1", "task2"]
    for n, block in enumerate(blocks.values()):
        pairs = random_pairs(n, 20)
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
    block = pack_pairs(random_pairs(0, 4), range(4))
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
    write_folder(tmp_path, {"a": pack_pairs(random_pairs(0, 2), [0, 1])}, unfinished=("b", "c"))
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
    write_block(folder, "task2", pack_pairs(random_pairs(9, 20), range(20)))
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


def test_an_archive_is_the_same_bytes_and_unpacks_to_the_same_pairs(tmp_path: Path) -> None:
    blocks = {task: pack_pairs(random_pairs(n, 5), range(5)) for n, task in enumerate(("aa", "bb"))}
    (tmp_path / "from").mkdir()
    write_folder(tmp_path / "from", blocks)
    hashes = [write_archive(tmp_path / "from", tmp_path / name) for name in ("one.zip", "two.zip")]
    assert hashes[0] == hashes[1]
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    manifest = read_archive(tmp_path / "one.zip", tmp_path / "to")
    assert manifest == read_manifest(tmp_path / "from")
    found = load_pairs(tmp_path / "to")
    assert {task: block.content() for task, block in found.items()} == {
        task: block.content() for task, block in blocks.items()
    }
    with pytest.raises(CharmError, match="not empty"):
        read_archive(tmp_path / "one.zip", tmp_path / "to")


def test_a_damaged_or_hostile_archive_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "from").mkdir()
    write_folder(tmp_path / "from", {"aa": pack_pairs(random_pairs(0, 5), range(5))})
    file = tmp_path / "file.zip"
    write_archive(tmp_path / "from", file)
    whole = file.read_bytes()
    for bad in (whole[:-200], b"text", whole[:300] + bytes([whole[300] ^ 1]) + whole[301:]):
        file.write_bytes(bad)
        with pytest.raises(CharmError):
            read_archive(file, tmp_path / "to")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("../evil.npz", b"")
    with pytest.raises(CharmError, match="it holds"):
        read_archive(file, tmp_path / "to")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.zip", "from"]


def test_an_unfinished_folder_is_not_packed(tmp_path: Path) -> None:
    write_folder(tmp_path, {"aa": pack_pairs(random_pairs(0, 5), range(5))}, unfinished=("bb",))
    with pytest.raises(CharmError, match="not built yet"):
        write_archive(tmp_path, tmp_path / "file.zip")
