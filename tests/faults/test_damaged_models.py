"""A damaged model is refused with one sentence by every command that would use it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from charm.automata.run import CarEvaluation, evaluate, train_car
from charm.continual.run import StreamOptions, run_stream
from charm.errors import CharmError
from charm.evaluation.evaluate import evaluate_run
from charm.evaluation.protocols import Protocol
from charm.models.model import CharmModel
from charm.report.film import make_films
from charm.runs.checkpoint import folder_of, newest_checkpoint, verify
from charm.solving.group import Solver
from charm.solving.options import SolveOptions
from charm.training.adaptation import Recipe
from tests.toy import automata, write_toy_tasks
from tests.toy.damage import HERE, flip, quiet, trained

ALL = Protocol(window="all", loops=(3,))
FEW = StreamOptions("", recipe=Recipe(2, 4), views=2, evaluate_views=2, base_views=2, base_tasks=1)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return trained(tmp_path_factory.mktemp("whole"), evaluate_every=0)


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


@pytest.fixture
def unseen(tmp_path: Path) -> Path:
    folder = write_toy_tasks(tmp_path / "unseen", 2, seed=9)
    for number in range(2):
        (folder / f"toy{number}.json").rename(folder / f"new{number}.json")
    return folder


def adapt(run: Path, unseen: Path, out: Path) -> None:
    run_stream(run, out, replace(FEW, stream=str(unseen)), HERE, quiet)


def timeless(out: Path) -> dict[str, object]:
    return {
        **json.loads((out / "result.json").read_text()),
        "seconds": 0,
        "seconds_per_task": 0,
        "record_sha256": "",
    }


@pytest.mark.parametrize("name", ["model.safetensors", "instances.npz", "config.json"])
def test_one_flipped_bit_is_refused_by_every_command_that_loads_a_model(
    name: str, run: Path, unseen: Path, tmp_path: Path
) -> None:
    flip(newest_checkpoint(run) / name)
    refused = pytest.raises(CharmError, match=f"{name} is truncated or damaged")
    with refused:
        CharmModel.from_pretrained(newest_checkpoint(run))
    with refused:
        evaluate_run(run, "standard", ALL, HERE)
    with refused:
        Solver(run, SolveOptions(), HERE)
    with refused:
        adapt(run, unseen, tmp_path / "adapted")
    with refused:
        make_films(run, None, 1, "cpu")  # type: ignore[arg-type]  # it ends before it looks at the scores


@pytest.mark.parametrize("bit", range(8))
def test_a_damaged_record_is_refused(bit: int, run: Path) -> None:
    """Every change alters the content of the record or its hash, or the file is no longer JSON."""
    record = newest_checkpoint(run) / "checkpoint.json"
    text = record.read_text()
    flip(record, text.index('"model.safetensors"') + 3 + bit, bit)
    with pytest.raises(CharmError, match=r"checkpoint\.json"):
        CharmModel.from_pretrained(record.parent)


def test_a_saved_model_carries_its_hashes_and_an_old_one_loads_without(run: Path, tmp_path: Path) -> None:
    model = CharmModel.from_pretrained(newest_checkpoint(run))
    model.save_pretrained(tmp_path / "saved")
    listed = json.loads((tmp_path / "saved" / "checkpoint.json").read_text())["files"]
    assert sorted(listed) == ["config.json", "instances.npz", "model.safetensors"]
    CharmModel.from_pretrained(tmp_path / "saved")
    (tmp_path / "saved" / "checkpoint.json").unlink()
    CharmModel.from_pretrained(tmp_path / "saved")


def test_a_checkpoint_under_another_name_is_no_checkpoint_of_that_step(run: Path) -> None:
    folder_of(run, 12).rename(folder_of(run, 99))
    with pytest.raises(CharmError, match="is of step 12"):
        verify(folder_of(run, 99))


def test_without_its_configuration_a_run_is_not_asked_on_another_canvas(run: Path) -> None:
    (run / "config.json").unlink()
    with pytest.raises(CharmError, match=r"not a run folder: it has no config\.json"):
        Solver(run, SolveOptions(), HERE)


def test_a_changed_digit_in_a_configuration_is_refused(run: Path) -> None:
    path = run / "config.json"
    path.write_text(path.read_text().replace('"views": 6', '"views": 7'))
    with pytest.raises(CharmError, match="does not match its hash"):
        evaluate_run(run, "standard", ALL, HERE)


@pytest.mark.parametrize("kind", ["rows", "stages", "rechecks", "config", "data", "stream"])
def test_a_damaged_stream_is_refused_or_mended(kind: str, run: Path, unseen: Path, tmp_path: Path) -> None:
    out = tmp_path / "adapted"
    adapt(run, unseen, out)
    expected = timeless(out)
    file = {
        "rows": out / "rows" / "0001.safetensors",
        "stages": out / "stages" / "0001.json",
        "rechecks": out / "rechecks" / "0000.json",
        "config": out / "config.json",
        "data": out / "data.json",
        "stream": out / "stream.json",
    }[kind]
    text = file.read_bytes()
    if kind == "stream":  # written again
        flip(file)
        adapt(run, unseen, out)
        assert file.read_bytes() == text
        assert timeless(out) == expected
        return
    if kind == "rows":
        flip(file, len(text) - 2)
    else:
        digit = next(n for n in range(len(text) - 1, 0, -1) if chr(text[n]).isdigit() and n < len(text) - 90)
        file.write_bytes(text[:digit] + (b"7" if text[digit : digit + 1] != b"7" else b"3") + text[digit + 1 :])
    with pytest.raises(CharmError, match=file.name):
        adapt(run, unseen, out)
    file.unlink()
    with pytest.raises(CharmError, match=file.name):
        adapt(run, unseen, out)


def test_a_damaged_model_of_cellular_automata_is_refused(tmp_path: Path) -> None:
    config = replace(automata.toy_config(automata.write_toy_benchmark(tmp_path / "data")), evaluate_every=0)
    run = tmp_path / "run"
    train_car(config, run, HERE, say=quiet)
    for name in ("model.safetensors", "config.json"):
        flip(newest_checkpoint(run) / name)
        with pytest.raises(CharmError, match=rf"{name} is truncated or damaged"):
            evaluate(run, CarEvaluation(), HERE)
