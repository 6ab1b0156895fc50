"""All pairs of a folder in one file, and back."""

import zipfile
from pathlib import Path

import pytest

from charm.errors import CharmError
from charm.tasks.pairs_file import load_pairs, read_manifest
from rearc2.workbench.archive import read_archive, write_archive
from tests.toy.pairs import block_of, write_pairs


def test_an_archive_is_the_same_bytes_and_unpacks_to_the_same_pairs(tmp_path: Path) -> None:
    blocks = {task: block_of(n, 5) for n, task in enumerate(("aa", "bb"))}
    write_pairs(tmp_path / "from", blocks)
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
    write_pairs(tmp_path / "from", {"aa": block_of(0, 5)})
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
    write_pairs(tmp_path, {"aa": block_of(0, 5)}, unfinished=("bb",))
    with pytest.raises(CharmError, match="not built yet"):
        write_archive(tmp_path, tmp_path / "file.zip")
