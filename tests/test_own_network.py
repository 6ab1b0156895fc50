"""examples/own_network.py: a network of one file is trained, evaluated, and used by `charm solve` and `charm adapt`."""

import json
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch.utils.flop_counter import FlopCounterMode

from charm.arc.presets import PRESETS
from charm.cli import main
from charm.errors import CharmError
from charm.evaluation.ranking import NO_ANSWER
from charm.models.layers import rms_norm
from charm.models.model import CharmModel
from charm.models.networks import NETWORKS
from charm.runs.checkpoint import newest_checkpoint
from tests.toy import write_toy_tasks
from tests.toy.runs import write_unseen

EXAMPLE = Path(__file__).parents[1] / "examples" / "own_network.py"
SMALL = "--steps 60 --batch 8 --checkpoint-every 60 --evaluate-every 0 --log-every 10 --device cpu"
SMALL += " --reasoner.width 32 --reasoner.heads 4 --reasoner.layers 1 --memory.rank 4 --optimizer.warmup 5"
SMALL += " --data.tasks --data.train --data.auxiliary --data.views 4 --data.evaluate"
QUICK = "--steps 2 --batch 4 --device cpu"


@pytest.fixture(scope="module")
def own() -> Iterator[ModuleType]:
    spec = spec_from_file_location("own_network", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "own_network", module)  # where flags look for the texts of fields
        spec.loader.exec_module(module)
        yield module
    del NETWORKS["mixer"], PRESETS["mixer"]


@pytest.fixture(scope="module")
def run(own: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixer")
    tasks = write_toy_tasks(folder / "tasks")
    main(["train", "mixer", *SMALL.split(), str(tasks), "--out", str(folder / "run")])
    return folder / "run"


def test_it_is_trained_and_evaluated(own: ModuleType, run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = CharmModel.from_pretrained(newest_checkpoint(run))
    assert isinstance(model.reasoner, own.Mixer)
    assert "of width 32, with a memory of tasks: a network without attention.\n" in model.card("mine")
    losses = [json.loads(line)["token_loss"] for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert losses[-1] < 0.7 * losses[0]
    capsys.readouterr()
    main(["eval", str(run), "--device", "cpu", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["step"], found["puzzles"], found["protocol"]["loops"]) == (60, 3, [1])
    assert all(output["candidates"] for task in found["tasks"] for output in task["outputs"])


def test_it_solves_an_unseen_task(run: Path, tmp_path: Path) -> None:
    task = write_unseen(tmp_path / "unseen") / "new0.json"
    out = tmp_path / "answers.json"
    main(["solve", str(task), "--checkpoint", str(run), "--views", "2", *QUICK.split(), "--out", str(out)])
    (attempts,) = json.loads(out.read_text())["new0"]
    assert set(attempts) == {"attempt_1", "attempt_2"}
    assert attempts["attempt_1"] != NO_ANSWER


def test_it_learns_a_stream_in_the_memory_alone(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stream = write_unseen(tmp_path / "unseen")
    flags = f"--stream {stream} --method memory-only --tasks 2 --views 2 {QUICK} --json --out {tmp_path / 'out'}"
    main(["adapt", str(run), *flags.split()])
    found = json.loads(capsys.readouterr().out)
    assert (found["stages"], found["changed_values"]) == (2, 0)
    (saved,) = (tmp_path / "out").glob("*/model/model.safetensors")
    old, new = load_file(newest_checkpoint(run) / "model.safetensors"), load_file(saved)
    assert all(torch.equal(new[name][: len(value)], value) for name, value in old.items())
    grown = {name: new[name][len(value) :] for name, value in old.items() if len(new[name]) > len(value)}
    assert {name: len(rows) for name, rows in grown.items()} == {
        "memory.base.rows.weight": 2,
        "memory.residual.rows.weight": 4,
    }
    assert all(rows.any(1).all() for rows in grown.values())  # they start at zero


def test_a_layer_is_two_products_of_matrices_for_each_channel(own: ModuleType) -> None:
    """Written out channel by channel, on a canvas that is smaller than the matrices."""
    config = own.MixerConfig(width=8, heads=4, layers=1, inner_multiple=8, compute_dtype="float32")
    layer = config.build(1).blocks[0]
    x, task = torch.randn(5, 5, 8), torch.randn(8)
    scale, shift, gate = F.linear(task, layer.task.weight).split(8)
    y = rms_norm(x) * (1 + scale) + shift
    mixed = torch.empty_like(x)
    for channel in range(8):
        cells = y[:, :, channel] if channel < 4 else y[:, :, channel].T
        rows, columns = (part[channel // 2, :5, :5] for part in (layer.rows, layer.columns))
        mixed[:, :, channel] = rows @ cells @ columns.T
    after = x + F.linear(mixed * (1 + gate), layer.out.weight)
    torch.testing.assert_close(layer(x[None], task[None])[0], after + layer.feed_forward(rms_norm(after)))


def test_its_operations_are_what_torch_counts(own: ModuleType) -> None:
    config = own.MixerConfig(width=16, heads=4, layers=2, inner_multiple=8, compute_dtype="float32")
    network = config.build()
    with FlopCounterMode(display=False) as counter:
        network(network.initial_state(1, 121), torch.zeros(1, 121, dtype=torch.uint8), torch.zeros(1, 16), 11)
    assert counter.get_total_flops() == config.flops(11)[0]


def test_what_it_cannot_do_is_refused(own: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["train", "mixer", "--reasoner.recurrences", "2", "--out", str(tmp_path / "run")])
    assert "recurrences" in capsys.readouterr().err
    network = own.MixerConfig(width=16).build()
    with pytest.raises(CharmError, match="side 30 at most, got 64"):
        network(network.initial_state(1, 4096), torch.zeros(1, 4096), torch.zeros(1, 16), 64)


def test_the_file_is_short() -> None:
    assert len(EXAMPLE.read_text().splitlines()) <= 150
