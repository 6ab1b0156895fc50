"""Checkpoints on disk: how many are kept, and that any damage to any of their files is noticed."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from charm.arc.run import train
from charm.devices import Place
from charm.errors import CharmError
from charm.runs import checkpoint
from tests.toy import toy_config, write_toy_tasks

HERE = Place(torch.device("cpu"))


@pytest.mark.parametrize(("keep", "steps"), [(1, [10]), (2, [8, 10]), (3, [6, 8, 10]), (0, [2, 4, 6, 8, 10])])
def test_as_many_checkpoints_stay_as_asked_for(keep: int, steps: list[int], tmp_path: Path) -> None:
    config = toy_config(write_toy_tasks(tmp_path / "tasks"))
    config = replace(config, steps=10, checkpoint_every=2, keep_checkpoints=keep)
    train(config, tmp_path / "run", HERE, say=lambda text: None)
    assert checkpoint.steps_of(tmp_path / "run") == steps
    newest = checkpoint.newest_checkpoint(tmp_path / "run")
    assert newest == checkpoint.folder_of(tmp_path / "run", 10)
    assert sorted(path.name for path in newest.parent.iterdir()) == [f"step_{step:09d}" for step in steps]


def test_one_flipped_bit_in_any_file_is_noticed(tmp_path: Path) -> None:
    """The length stays, and most of these files would still be read without complaint."""
    run = tmp_path / "run"
    config = replace(toy_config(write_toy_tasks(tmp_path / "tasks")), steps=4, checkpoint_every=2)
    train(config, run, HERE, say=lambda text: None)
    folder = checkpoint.folder_of(run, 4)
    listed = checkpoint.verify(folder)["files"]
    assert set(listed) == {path.name for path in folder.iterdir()} - {checkpoint.RECORD}
    assert {"model.safetensors", "raw.safetensors", "optimizers.safetensors", "instances.npz"} <= set(listed)
    for name in listed:
        whole = (folder / name).read_bytes()
        for place in (0, len(whole) // 2, len(whole) - 1):
            damaged = bytearray(whole)
            damaged[place] ^= 1
            (folder / name).write_bytes(damaged)
            with pytest.raises(CharmError, match=name):
                checkpoint.verify(folder)
            said: list[str] = []
            found = checkpoint.last_good(run, said.append)
            assert found is not None
            assert found[0] == 2
            assert name in said[0]
        (folder / name).write_bytes(whole)
    assert checkpoint.verify(folder)["step"] == 4
    record = folder / checkpoint.RECORD
    edited = record.read_text().replace('"world": 1', '"world": 3')
    assert edited != record.read_text()
    record.write_text(edited)
    with pytest.raises(CharmError, match=checkpoint.RECORD):
        checkpoint.verify(folder)
