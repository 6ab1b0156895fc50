import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from charm.arc.presets import preset
from charm.arc.run import train
from charm.cli import main
from charm.devices import Place
from charm.tasks.task import Pair
from tests.tasks.test_dataset import add_synthetic
from tests.toy import toy_config, write_toy_tasks


def test_arc2_means_the_same_whatever_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARM_DATA", str(tmp_path))
    without = preset("arc2")
    add_synthetic(tmp_path / "rearc2", {"a": [Pair(np.ones((2, 2), np.uint8), np.zeros((2, 2), np.uint8))]})
    assert preset("arc2") == without
    assert (without.data.synthetic, without.data.synthetic_views) == (("rearc", "rearc2"), "own")
    rearc = preset("arc2-rearc").data
    assert (rearc.synthetic, rearc.synthetic_views) == (("rearc",), "shared")
    assert replace(without, data=rearc) == preset("arc2-rearc")


def test_missing_data_are_named_with_the_command_that_builds_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = tmp_path / "some data"
    flags = ["--data.data", str(where), "--device", "cpu", "--out", str(tmp_path / "run")]
    for built, command in (("", "charm data rearc"), ("rearc", "charm rearc2 build")):
        if built:
            pair = Pair(np.ones((2, 2), np.uint8), np.zeros((2, 2), np.uint8))
            add_synthetic(where / built, {"00576224": [pair]})
        with pytest.raises(SystemExit) as stopped:
            main(["train", "arc2", "--data.partial", *flags])
        assert stopped.value.code not in (None, 0)
        assert f"run `{command} --data '{where}'` to build them" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_training_on_partial_data_is_printed_and_recorded(tmp_path: Path) -> None:
    config = toy_config(write_toy_tasks(tmp_path / "asked", 1), steps=2)
    learned = write_toy_tasks(tmp_path / "learned", 2)
    (learned / "toy0.json").rename(learned / "toy9.json")
    (learned / "toy1.json").unlink()
    add_synthetic(tmp_path / "rearc", {"toy9": [Pair(np.ones((2, 2), np.uint8), np.zeros((2, 2), np.uint8))]})
    data = replace(config.data, train=(str(learned),), synthetic=("rearc",), partial=True, data=tmp_path)
    said: list[str] = []
    train(replace(config, data=data), tmp_path / "run", Place(torch.device("cpu")), say=said.append)
    lacking = "rearc: has pairs for 1 of 400 tasks"
    assert f"training on part of the data: {lacking}" in said
    assert json.loads((tmp_path / "run" / "data.json").read_text())["partial"] == [lacking]
