"""Files from anywhere are read or refused in one sentence, and never cost much memory."""

import io
import json
import tracemalloc
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from charm.automata.keys import CarKey
from charm.config import read_run_config, to_json
from charm.errors import CharmError
from charm.models.model import CharmModel
from charm.runs.settings import TrainConfig
from charm.tasks.instances import Instances
from charm.tasks.keys import ArcKey
from charm.tasks.pairs_file import MANIFEST, read_manifest, write_block
from rearc2.workbench.archive import read_archive, write_archive
from tests.toy import toy_config
from tests.toy.pairs import block_of, write_pairs

LIMIT = 24 * 2**20  # bytes that a hostile file of a few kilobytes may cost


def peak_of(action: Any, *arguments: Any) -> int:
    """The most bytes that Python and numpy hold at once during an action, which must raise a CharmError."""
    tracemalloc.start()
    try:
        with pytest.raises(CharmError) as raised:
            action(*arguments)
        assert "\n" not in str(raised.value)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def read_or_refused(action: Any, *arguments: Any) -> None:
    """Anything but a CharmError fails the test."""
    with suppress(CharmError):
        action(*arguments)


def zeros_file(count: int) -> bytes:
    """A file of pairs that is small and says it holds this many cells."""
    buffer = io.BytesIO()
    shapes = np.full((1, 4), 30, np.uint8)
    np.savez_compressed(buffer, cells=np.zeros(count, np.uint8), shapes=shapes, index=np.zeros(1, np.uint32))
    return buffer.getvalue()


def manifest(task: str, pairs: int = 1) -> str:
    record = {"pairs": pairs, "attempts": 1, "rejects": {}, "sha256": "0" * 64, "shortfall": None}
    plan = {"provider": "toy", "version": "1", "seed": 0, "pairs": pairs, "time_limit": 1.0}
    return json.dumps({"plan": plan, "unfinished": [], "tasks": {task: record}})


def test_a_small_archive_does_not_become_a_huge_one(tmp_path: Path) -> None:
    """Compressed twice, a kilobyte becomes a gigabyte."""
    file, large = tmp_path / "bomb.zip", 64 * 2**20
    for compression in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
        with zipfile.ZipFile(file, "w", compression) as archive:
            archive.writestr(MANIFEST, manifest("aa"))
            archive.writestr("aa.npz", zeros_file(large if compression == zipfile.ZIP_DEFLATED else 10**7))
        assert file.stat().st_size < 70_000
        assert peak_of(read_archive, file, tmp_path / "to") < LIMIT
    assert [path.name for path in tmp_path.iterdir()] == ["bomb.zip"]


def test_an_archive_whose_parts_overlap_is_refused(tmp_path: Path) -> None:
    """Many names for the same bytes: the parts are larger than the whole."""
    file, buffer = tmp_path / "bomb.zip", io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(MANIFEST, manifest("aa"))
        archive.writestr("aa.npz", b"x" * 10_000)
        for number in range(50):
            entry = zipfile.ZipInfo(f"bb{number}.npz")
            entry.header_offset = archive.getinfo("aa.npz").header_offset
            entry.file_size = entry.compress_size = 10_000
            entry.CRC = archive.getinfo("aa.npz").CRC
            archive.filelist.append(entry)
    file.write_bytes(buffer.getvalue())
    assert file.stat().st_size < 20_000
    with pytest.raises(CharmError, match="larger than the whole"):
        read_archive(file, tmp_path / "to")


def npy(kind: str, shape: str, content: bytes = b"") -> bytes:
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + content


HOSTILE_ARRAYS = {
    "huge": npy("|u1", "(1000000000000,)"),
    "huge by dimensions": npy("|u1", "(4294967296, 4294967296, 4)"),
    "negative": npy("|u1", "(-1,)"),
    "objects": npy("|O", "(1,)", b"cos\nsystem\n(S'false'\ntR."),
    "floats": npy("<f8", "(1,)", bytes(8)),
    "deep": npy("|u1", "(" * 3000 + ")" * 3000),
    "no header": b"\x93NUMPY\x01\x00\xff\xff",
    "no array": b"hello",
    "empty": b"",
}


@pytest.mark.parametrize("name", HOSTILE_ARRAYS)
def test_arrays_are_checked_before_they_are_read(name: str, tmp_path: Path) -> None:
    good = {"puzzles": b'["a"]', "number": bytes(4), "length": b"\1\0\0\0", "code": bytes(4)}
    kinds = {"puzzles": "|u1", "number": "<i4", "length": "<i4", "code": "<u4"}
    whole = {key: npy(kinds[key], f"({len(value) // int(kinds[key][2])},)", value) for key, value in good.items()}
    path = tmp_path / "instances.npz"

    def write(arrays: dict[str, bytes]) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for key, content in arrays.items():
                archive.writestr(f"{key}.npy", content)

    write(whole)
    assert len(Instances.load(path)) == 2
    for key in whole:
        write({**whole, key: HOSTILE_ARRAYS[name]})
        assert peak_of(Instances.load, path) < LIMIT
        write({other: content for other, content in whole.items() if other != key})
        assert peak_of(Instances.load, path) < LIMIT


@pytest.mark.parametrize(
    "change",
    [
        {"puzzles": b'{"a": 1}'},
        {"puzzles": b"[1]"},
        {"puzzles": b"[" * 50_000},
        {"puzzles": b'["a", "a"]'},
        {"puzzles": b"[]"},
        {"number": np.array([-1], "<i4").tobytes()},
        {"number": np.array([1], "<i4").tobytes()},
        {"number": np.array([0, 0], "<i4").tobytes()},
        {"length": np.array([-1], "<i4").tobytes()},
        {"length": np.array([2**31 - 1], "<i4").tobytes()},
        {"length": np.array([3, -1], "<i4").tobytes(), "number": np.zeros(2, "<i4").tobytes()},
        {"code": np.array([2**32 - 1, 1], "<u4").tobytes()},
        {"code": np.array([1, 1], "<u4").tobytes()},
        {"length": np.ones(2, "<i4").tobytes(), "number": bytes(8), "code": np.ones(2, "<u4").tobytes()},
    ],
    ids=repr,
)
def test_an_index_that_contradicts_itself_is_refused(change: dict[str, bytes], tmp_path: Path) -> None:
    kinds = {"puzzles": "u1", "number": "<i4", "length": "<i4", "code": "<u4"}
    good = {
        "puzzles": b'["a"]',
        "number": bytes(4),
        "length": np.array([2], "<i4").tobytes(),
        "code": np.array([0, 1], "<u4").tobytes(),
    }
    path = tmp_path / "instances.npz"
    np.savez(path, **{name: np.frombuffer(content, kinds[name]) for name, content in good.items()})  # type: ignore[arg-type]
    assert len(Instances.load(path)) == 3
    changed = {**good, **change}
    np.savez(path, **{name: np.frombuffer(content, kinds[name]) for name, content in changed.items()})  # type: ignore[arg-type]
    assert peak_of(Instances.load, path) < LIMIT


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """A sound index and a sound archive, as bytes."""
    folder = tmp_path_factory.mktemp("files")
    instances = Instances()
    for name in ("one", "two"):
        instances.add(name, np.arange(5, dtype=np.uint32))
    instances.save(folder / "instances.npz")
    (folder / "pairs").mkdir()
    write_pairs(folder / "pairs", {"aa": block_of(0, 3)})
    write_archive(folder / "pairs", folder / "pairs.zip")
    return {name: (folder / name).read_bytes() for name in ("instances.npz", "pairs.zip")}


@settings(max_examples=150, deadline=None)
@given(name=st.sampled_from(["instances.npz", "pairs.zip"]), data=st.data())
def test_damage_anywhere_is_refused_or_harmless(
    name: str, data: st.DataObject, files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    content = bytearray(files[name])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        end = data.draw(st.integers(at, min(at + 8, len(content))))
        content[at:end] = data.draw(st.binary(max_size=8))
        if not content:
            break
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / name).write_bytes(content)
    if name == "instances.npz":
        read_or_refused(Instances.load, folder / name)
    else:
        read_or_refused(read_archive, folder / name, folder / "to")


def test_a_block_of_no_grids_is_refused(tmp_path: Path) -> None:
    """Though its hash is the one that its manifest, by the same hand, says."""
    block = block_of(0, 2)
    hostile = {
        "a side of 0": replace(block, shapes=block.shapes * np.uint8(0)),
        "a side of 255": replace(block, shapes=block.shapes | np.uint8(255)),
        "an eleventh colour": replace(block, cells=block.cells + np.uint8(10)),
        "cells missing": replace(block, cells=block.cells[:-1]),
        "too few pairs": replace(block, index=block.index[:-1]),
    }
    for number, wrong in enumerate(hostile.values()):
        folder = tmp_path / f"{number}"
        folder.mkdir()
        write_pairs(folder, {"aa": wrong})
        with zipfile.ZipFile(tmp_path / "file.zip", "w") as archive:
            for name in (MANIFEST, "aa.npz"):
                archive.writestr(name, (folder / name).read_bytes())
        with pytest.raises(CharmError, match="does not contain pairs of grids"):
            read_archive(tmp_path / "file.zip", tmp_path / "to")
    folder = tmp_path / "count"
    folder.mkdir()
    write_pairs(folder, {"aa": block})
    text = (folder / MANIFEST).read_text().replace('"pairs": 2,', '"pairs": 3,')
    (folder / MANIFEST).write_text(text)
    write_block(folder, "aa", block)
    with zipfile.ZipFile(tmp_path / "file.zip", "w") as archive:
        for name in (MANIFEST, "aa.npz"):
            archive.writestr(name, (folder / name).read_bytes())
    with pytest.raises(CharmError, match=r"lists 3 pairs for .*, got 2"):
        read_archive(tmp_path / "file.zip", tmp_path / "to")


VALUES: list[Any] = [
    *(None, True, False, -1, 0, 1, 3, 2**16, 10**9, 10**30, 10**400, 0.5, -1.5, 1e308, float("nan")),
    *(float("inf"), "", "x", "\0", "cose", [], [[]], ["x"], [1] * 5, {}, {"x": 1}),
]


def changes(data: Any) -> Iterator[Any]:
    """The JSON value with each of its parts replaced by each hostile value, or removed."""
    if isinstance(data, dict):
        for name in data:
            for value in [*VALUES, *changes(data[name])]:
                yield {**data, name: value}
            yield {other: value for other, value in data.items() if other != name}
    elif isinstance(data, list):
        for number in range(len(data)):
            for value in VALUES:
                yield [*data[:number], value, *data[number + 1 :]]


def test_a_hostile_configuration_of_a_saved_model(tmp_path: Path) -> None:
    config = toy_config(tmp_path)
    instances = Instances()
    instances.add("one", np.arange(4, dtype=np.uint32))
    CharmModel(config.reasoner, config.memory, ArcKey(instances)).save_pretrained(tmp_path)
    (tmp_path / "checkpoint.json").unlink()  # it would refuse every change
    path = tmp_path / "config.json"
    whole = json.loads(path.read_text())
    CharmModel.from_pretrained(tmp_path)
    for changed in changes(whole):
        path.write_text(json.dumps(changed))
        read_or_refused(CharmModel.from_pretrained, tmp_path)
    for content in (b"", b"[", b"[" * 100_000, b"NaN", b"null", b'"x"', b"\xff"):
        path.write_bytes(content)
        with pytest.raises(CharmError):
            CharmModel.from_pretrained(tmp_path)


def test_a_hostile_configuration_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    for changed in changes(to_json(toy_config(tmp_path))):
        path.write_text(json.dumps(changed))
        read_or_refused(read_run_config, tmp_path, TrainConfig)
    path.write_text("[" * 100_000)
    with pytest.raises(CharmError, match="not a run folder"):
        read_run_config(tmp_path, TrainConfig)


def test_a_hostile_manifest(tmp_path: Path) -> None:
    write_pairs(tmp_path, {"aa": block_of(0, 2)}, ("bb",))
    path = tmp_path / MANIFEST
    for changed in changes(json.loads(path.read_text())):
        path.write_text(json.dumps(changed))
        read_or_refused(read_manifest, tmp_path)
    for content in (b"\xff", b"[" * 100_000, b"{}"):
        path.write_bytes(content)
        with pytest.raises(CharmError, match="not a manifest"):
            read_manifest(tmp_path)


def test_hostile_combinations_of_a_model_of_automata(tmp_path: Path) -> None:
    instances = Instances()
    for name in ("one", "two"):
        instances.add(name, np.arange(2, dtype=np.uint32))
    CarKey(instances, np.arange(2), np.arange(2), 1).save(tmp_path)
    path = tmp_path / "combinations.json"
    for changed in changes(json.loads(path.read_text())):
        path.write_text(json.dumps(changed))
        try:
            keys = CarKey.load(tmp_path)
        except CharmError:
            continue
        assert keys.sizes().rules <= 2**31
