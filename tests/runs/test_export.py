"""Exported weights are those of the run, rounded, and every command takes them."""

import json
import signal
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from charm.arc.run import train
from charm.cli import main
from charm.devices import Place
from charm.errors import CharmError
from charm.models.model import CharmModel
from charm.paths import model_at, released_model
from charm.runs.checkpoint import newest_checkpoint
from charm.runs.export import export_model
from charm.tasks.keys import MemoryConfig
from tests.toy import toy_config, write_toy_tasks


@pytest.fixture
def run(tmp_path: Path) -> Path:
    config = toy_config(write_toy_tasks(tmp_path / "tasks"), memory=MemoryConfig(rank=0), steps=2, checkpoint_every=2)
    train(config, tmp_path / "run", Place(torch.device("cpu")), say=lambda text: None)
    return tmp_path / "run"


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_weights_are_rounded_and_the_index_keeps_one_view(run: Path, tmp_path: Path, dtype: torch.dtype) -> None:
    size = export_model(run, tmp_path / "small", dtype)
    whole = CharmModel.from_pretrained(newest_checkpoint(run))
    small = CharmModel.from_pretrained(tmp_path / "small")
    assert size == sum(file.stat().st_size for file in (tmp_path / "small").iterdir())
    assert (tmp_path / "small" / "model.safetensors").stat().st_size < (0.6 if dtype == torch.bfloat16 else 1.1) * sum(
        4 * parameter.numel() for parameter in whole.parameters()
    )
    for name, tensor in whole.state_dict().items():
        assert torch.equal(small.state_dict()[name], tensor.to(dtype).float()), name
    assert small.instances.puzzles == whole.instances.puzzles
    assert small.trained_by is not None
    assert small.trained_by["data"]["canvas"] == "fit"  # as the run was trained
    assert (len(small.instances), len(whole.instances)) == (4, 19)  # and the blank row


def test_weights_that_a_type_cannot_hold_are_not_called_diverged(tmp_path: Path, run: Path) -> None:
    model = CharmModel.from_pretrained(newest_checkpoint(run))
    with torch.no_grad():
        next(model.parameters()).view(-1)[0] = 1e5  # float16 ends at 65,504
    model.save(tmp_path / "large")
    with pytest.raises(CharmError, match=r"^weights are too large for float16, choose bfloat16 or float32: "):
        export_model(tmp_path / "large", tmp_path / "small", torch.float16)
    assert not (tmp_path / "small").exists()
    assert export_model(tmp_path / "large", tmp_path / "small", torch.bfloat16) > 0


def test_the_command_refuses_a_folder_that_exists(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["export", str(run), "--out", str(tmp_path / "small")])
    assert "MB; use it with" in capsys.readouterr().err
    assert json.loads((tmp_path / "small" / "config.json").read_text())["memory"]["rank"] == 0
    with pytest.raises(CharmError, match="exists already"):
        export_model(run, tmp_path / "small")


def test_a_stopped_export_leaves_nothing(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(tmp_path.iterdir())

    def stopped(self: CharmModel, folder: Path, dtype: torch.dtype) -> None:
        (folder / "half").write_text("")
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(CharmModel, "save", stopped)
    with pytest.raises(KeyboardInterrupt):
        export_model(run, tmp_path / "small")
    assert sorted(tmp_path.iterdir()) == before
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_full_disk_is_one_sentence(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*rest: object) -> None:
        raise SafetensorError("No space left on device")

    model = CharmModel.from_pretrained(newest_checkpoint(run))
    monkeypatch.setattr("charm.models.model.save_file", full)
    with pytest.raises(CharmError, match=r"small: cannot be written \(No space left on device\)"):
        export_model(run, tmp_path / "small")
    assert not (tmp_path / "small").exists()
    with pytest.raises(CharmError, match=r"mine: cannot be written \(No space left on device\)"):
        model.save_pretrained(tmp_path / "mine")


def test_models_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert model_at(None) == model_at("base") == released_model()
    assert model_at("nothing") == Path("nothing")
    assert model_at("../released") == Path("../released")
    (tmp_path / "speedrun").mkdir()  # a folder of the user's own comes first
    assert model_at(Path("speedrun")) == Path("speedrun")


def test_a_released_model_is_exported_by_its_name(tmp_path: Path) -> None:
    """With how often its answers are right."""
    main(["export", "base", "--out", str(tmp_path / "copy")])
    for name in ("model.safetensors", "calibration.json"):
        assert (tmp_path / "copy" / name).read_bytes() == (released_model() / name).read_bytes()


def test_who_may_read_the_folder_may_read_the_weights(run: Path) -> None:
    """safetensors writes files that only their owner can read."""
    for folder in (run / "checkpoints").iterdir():
        modes = {path.name: oct(path.stat().st_mode & 0o777) for path in folder.iterdir() if path.is_file()}
        assert set(modes.values()) == {modes["config.json"]}


def test_the_card_says_what_the_model_is(run: Path, tmp_path: Path) -> None:
    export_model(run, tmp_path / "small")
    card = (tmp_path / "small" / "README.md").read_text()
    assert card.startswith(
        "---\nlicense: apache-2.0\nlibrary_name: charm-arc\ntags:\n- arc-agi\n- charm\n---\n\n# small"
    )
    assert "with a memory of tasks: a recurrent reasoner (URM).\n" in card
    card = CharmModel.from_pretrained(released_model()).card("base")
    assert "(writer)" not in card.lower()
    assert "{" not in card
