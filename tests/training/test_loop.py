import json
import os
import shutil
import signal
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors import SafetensorError

from charm.arc.presets import PRESETS
from charm.arc.run import arc_job, train
from charm.commands.train import fit_to_device, train_preset
from charm.config import to_json
from charm.devices import Place
from charm.errors import CharmError
from charm.files import Terminated, lock_folder
from charm.models.canvas.config import CanvasConfig
from charm.paper.runs import VARIANTS
from charm.runs import checkpoint
from charm.runs.archive import read_pass
from charm.runs.settings import TrainConfig, read_config
from charm.tasks.keys import MemoryConfig
from charm.training.engine import Engine, Logs, compiles
from charm.training.job import ReasonerJob
from tests import forks
from tests.toy import refine, toy_config, write_toy_tasks
from tests.toy.runs import same_everything

HERE = Place(torch.device("cpu"))


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    return toy_config(write_toy_tasks(tmp_path / "tasks"))


def quiet(text: str) -> None:
    pass


def metrics(run: Path) -> list[dict[str, float]]:
    """The lines of a run's metrics without what depends on the clock."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in ("time", "samples_per_second")} for line in lines]


@pytest.mark.parametrize("memory", [MemoryConfig(rank=8, gate=True), MemoryConfig(design="table", rank=32)])
def test_interrupted_and_resumed_equals_uninterrupted(
    config: TrainConfig, tmp_path: Path, memory: MemoryConfig
) -> None:
    """Weights, rows, averages, moments and carried states agree bit for bit."""
    config = replace(config, memory=memory, steps=14)
    whole = train(config, tmp_path / "whole", HERE, say=quiet)
    train(replace(config, steps=6), tmp_path / "parts", HERE, say=quiet)
    resumed = train(config, tmp_path / "parts", HERE, resume=True, say=quiet)
    assert same_everything(whole, resumed)
    # The first part ended with a line at its last update; from the next whole line on they are the same.
    later = [[line for line in metrics(tmp_path / run) if line["step"] > 8] for run in ("whole", "parts")]
    assert later[0] == later[1]
    assert len(later[0]) == 2


def test_a_stop_in_the_middle_of_a_metrics_line_loses_nothing(config: TrainConfig, tmp_path: Path) -> None:
    config = replace(config, checkpoint_every=3)  # lines end every 4 updates
    train(config, tmp_path / "whole", HERE, say=quiet)
    (tmp_path / "parts").mkdir()
    engine = Engine(arc_job(config, HERE, quiet), config, tmp_path / "parts", HERE, quiet)
    for _ in range(3):
        engine.advance()
    engine.save()
    (tmp_path / "parts" / "config.json").write_text((tmp_path / "whole" / "config.json").read_text())
    train(config, tmp_path / "parts", HERE, resume=True, say=quiet)
    assert metrics(tmp_path / "parts") == metrics(tmp_path / "whole")


def test_a_run_killed_before_its_first_checkpoint_begins_again(config: TrainConfig, tmp_path: Path) -> None:
    train(config, tmp_path / "run", HERE, say=quiet)
    expected = metrics(tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "checkpoints")
    train(config, tmp_path / "run", HERE, resume=True, say=quiet)
    assert metrics(tmp_path / "run") == expected


def test_a_failure_to_compile_is_told_or_raised() -> None:
    attempts, undone, said = [], [], list[str]()

    def attempt() -> None:
        attempts.append(1)
        raise RuntimeError("no compiler")

    gpu, network = Place(torch.device("cuda")), SimpleNamespace(compile_parts=list, uncompile=lambda: undone.append(1))
    assert not compiles(network, attempt, "off", gpu, said.append)
    assert not compiles(network, attempt, "auto", HERE, said.append)
    assert (attempts, undone, said) == ([], [], [])
    assert not compiles(network, attempt, "auto", gpu, said.append)
    assert said == ["torch.compile failed (RuntimeError); running the model uncompiled"]
    assert undone == [1]
    with pytest.raises(CharmError, match=r"torch\.compile failed: no compiler"):
        compiles(network, attempt, "on", HERE, said.append)
    assert compiles(network, attempts.clear, "on", HERE, said.append)
    assert attempts == []


def test_twenty_steps_match_the_stored_curve(tmp_path: Path) -> None:
    """A change of numerics anywhere in the loop shows here; the curve was stored by this very test."""
    config = toy_config(write_toy_tasks(tmp_path / "tasks"), steps=20, log_every=1, checkpoint_every=20)
    train(config, tmp_path / "run", HERE, say=quiet)
    losses = [line["loss"] for line in metrics(tmp_path / "run")]
    stored = Path(__file__).with_name("toy_curve.json")
    assert losses == pytest.approx(json.loads(stored.read_text()), rel=2e-4)


def test_accumulation_equals_one_batch(config: TrainConfig, tmp_path: Path) -> None:
    """Split into micro-batches, all gradients are the same; rows get the gradients of their examples."""
    found = []
    for parts in (1, 4):
        trainer = arc_job(replace(config, accumulate=parts), HERE, quiet)
        (slots,) = trainer.learner.examples.groups.values()
        for step in range(3):  # one refinement is not enough to meet every slot's own state
            trainer.model.zero_grad(set_to_none=True)
            refine(trainer.model, slots, trainer.learner.examples.size, step, trainer.config.seed)
        gradients = {n: p.grad for n, p in trainer.model.named_parameters() if p.grad is not None}
        found.append({n: g.to_dense() if g.is_sparse else g for n, g in gradients.items()})
    assert "memory.residual.rows.weight" in found[0]
    assert found[0].keys() == found[1].keys()
    for name in found[0]:
        torch.testing.assert_close(found[0][name], found[1][name], rtol=1e-4, atol=1e-6)


def test_no_example_is_thrown_away(config: TrainConfig, tmp_path: Path) -> None:
    """Each slot takes exactly the examples of its stream, one by one, until each has halted."""
    trainer = arc_job(config, HERE, quiet)
    (slots,) = trainer.learner.examples.groups.values()
    met: list[list[int]] = [[] for _ in range(len(slots))]
    for step in range(12):
        halted = slots.halted_B.clone()
        refine(trainer.model, slots, trainer.learner.examples.size, step, config.seed)
        trainer.model.zero_grad(set_to_none=True)
        for slot in torch.nonzero(halted).flatten().tolist():
            met[slot].append(int(slots.row_B[slot]))
    for slot, rows in enumerate(met):
        expected = slots.stream.draw(np.full(len(rows), slot), np.arange(len(rows))).row_N
        assert rows == expected.tolist()
        assert slots.turn[slot] == len(rows)
    assert max(map(len, met)) >= 4  # three refinement steps at most


ENVIRONMENT = {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[2])}


def run_process(config_path: Path, out: Path, *more: str) -> forks.Program:
    return forks.Program("-m", "tests.training.run_toy", config_path, out, *more, env=ENVIRONMENT)


def run_processes(count: int, config_path: Path, out: Path, *more: str) -> forks.Group:
    return forks.Group(count, "-m", "tests.training.run_toy", config_path, out, *more, env=ENVIRONMENT)


def test_one_and_two_processes_give_the_same_curve(config: TrainConfig, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(to_json(replace(config, steps=8, log_every=2, checkpoint_every=8))))
    alone, pair = run_process(path, tmp_path / "run1"), run_processes(2, path, tmp_path / "run2")
    assert [alone.wait(120), pair.wait(120)] == [0, 0]
    one, two = (metrics(tmp_path / f"run{n}") for n in (1, 2))
    assert [line["step"] for line in one] == [line["step"] for line in two] == [2, 4, 6, 8]
    for a, b in zip(one, two, strict=True):
        assert a["loss"] == pytest.approx(b["loss"], rel=1e-4)
    rows = [
        checkpoint.read_tensors(checkpoint.folder_of(tmp_path / f"run{n}", 8) / "model.safetensors") for n in (1, 2)
    ]
    for name in rows[0]:  # on the mean: Muon, in bfloat16, may blow up the rounding of a single weight
        assert (rows[0][name] - rows[1][name]).abs().mean() < 1e-4, name


def test_divided_rows_learn_what_whole_ones_learn(config: TrainConfig, tmp_path: Path) -> None:
    """Two processes with the rows divided, resumed by four, against two that hold them whole; votes included."""
    whole = replace(config, steps=8, log_every=2, checkpoint_every=4, evaluate_every=4, keep_checkpoints=0)
    paths = {}
    for name, settings in (
        ("whole", whole),
        ("half", replace(whole, steps=4, shard_tables=True)),
        ("rest", replace(whole, shard_tables=True)),
    ):
        paths[name] = tmp_path / f"{name}.json"
        paths[name].write_text(json.dumps(to_json(settings)))
    started = [run_processes(2, paths[name], tmp_path / name) for name in ("whole", "half")]
    assert [process.wait(240) for process in started] == [0, 0]
    assert run_processes(4, paths["rest"], tmp_path / "half", "resume").wait(240) == 0
    for step in (4, 8):
        one, other = (
            checkpoint.read_tensors(checkpoint.folder_of(tmp_path / name, step) / "model.safetensors")
            for name in ("whole", "half")
        )
        assert one.keys() == other.keys()
        assert one["memory.residual.rows.weight"].any()
        for name in one:  # on the mean: Muon, in bfloat16, may blow up the rounding of a single weight
            assert one[name].shape == other[name].shape
            assert (one[name] - other[name]).abs().mean() < 1e-4, name
    losses = [[line["loss"] for line in metrics(tmp_path / name) if "loss" in line] for name in ("whole", "half")]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    voted = [read_pass(tmp_path / name / "votes", 8, 3).votes for name in ("whole", "half")]
    jobs = [sorted(zip(v.question_V.tolist(), v.row_V.tolist(), strict=True)) for v in voted]
    assert jobs[0] == jobs[1]


def test_divided_rows_need_rows(config: TrainConfig, tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="needs a memory with instance rows"):
        train(replace(config, memory=MemoryConfig(rank=0), shard_tables=True), tmp_path / "run", HERE)


def test_kill_and_termination(config: TrainConfig, tmp_path: Path) -> None:
    """kill -9 loses no checkpoint; SIGTERM saves and exits cleanly; both resume to the uninterrupted result."""
    path = tmp_path / "config.json"
    config = replace(config, steps=60, checkpoint_every=10, keep_checkpoints=0)
    path.write_text(json.dumps(to_json(config)))
    whole = run_process(path, tmp_path / "whole")
    for number, expected in ((signal.SIGKILL, -signal.SIGKILL), (signal.SIGTERM, 0)):
        out = tmp_path / f"run{int(number)}"
        process = run_process(path, out)
        deadline = time.monotonic() + 60
        while not checkpoint.steps_of(out) and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(number)
        code = process.wait(60)
        assert code == expected or (code == 0 and checkpoint.steps_of(out)[-1] == 60)
        assert checkpoint.last_good(out, quiet) is not None
        assert run_process(path, out, "resume").wait(120) == 0
        assert whole.wait(120) == 0
        final = [checkpoint.folder_of(run, 60) / "model.safetensors" for run in (out, tmp_path / "whole")]
        assert final[0].read_bytes() == final[1].read_bytes()


@pytest.mark.parametrize("place", ["update", "evaluation"])
def test_a_signal_at_a_checkpoint_stops_at_once(
    place: str, config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where every look at signals meets a checkpoint, and amid an evaluation, which is made after resuming."""
    config = replace(config, steps=30, checkpoint_every=10, evaluate_every=10, log_every=10)
    train(config, tmp_path / "whole", HERE, say=quiet)
    evaluations = []

    def signalled(self: Logs, text: str) -> None:
        evaluations.append(text)
        if place == "evaluation" and len(evaluations) == 1:
            os.kill(os.getpid(), signal.SIGTERM)

    def advanced(self: Engine[ReasonerJob]) -> None:
        advance(self)
        if place == "update" and self.step == 10:
            os.kill(os.getpid(), signal.SIGTERM)

    advance, said = Engine.advance, []
    with monkeypatch.context() as patch:
        patch.setattr(Logs, "report", signalled)
        patch.setattr(Engine, "advance", advanced)
        trainer = train(config, tmp_path / "parts", HERE, say=said.append)
    assert trainer.step == 10
    assert bool(evaluations) == (place == "evaluation")
    assert said[-1] == "stopped at step 10; use --resume to continue"
    assert not trainer.finished
    assert not any("evaluation/pass@1" in line for line in metrics(tmp_path / "parts"))
    train(config, tmp_path / "parts", HERE, resume=True, say=quiet)
    assert metrics(tmp_path / "parts") == metrics(tmp_path / "whole")


def test_a_signal_in_the_last_evaluation_leaves_the_run_unfinished(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = replace(config, steps=10, checkpoint_every=10, evaluate_every=10, log_every=10)
    signals = [signal.SIGTERM]

    def signalled(self: Logs, text: str) -> None:
        if signals:
            os.kill(os.getpid(), signals.pop())

    with monkeypatch.context() as patch:
        patch.setattr(Logs, "report", signalled)
        with pytest.raises(Terminated):
            train_preset("toy", config, ["--out", str(tmp_path / "run")])
    assert "finished" not in capsys.readouterr().out
    train_preset("toy", config, ["--out", str(tmp_path / "run"), "--resume"])
    assert "finished; next: charm eval" in capsys.readouterr().out


def test_a_damaged_checkpoint_is_passed_over(config: TrainConfig, tmp_path: Path) -> None:
    config = replace(config, steps=18, keep_checkpoints=0)
    whole = train(config, tmp_path / "run", HERE, say=quiet)
    for step, damage in ((18, "optimizers.safetensors"), (12, "checkpoint.json")):
        file = checkpoint.folder_of(tmp_path / "run", step) / damage
        file.write_bytes(file.read_bytes()[:-10])
    said: list[str] = []
    resumed = train(config, tmp_path / "run", HERE, resume=True, say=said.append)
    assert "optimizers.safetensors is truncated or damaged" in said[0]
    assert "checkpoint.json" in said[1]
    assert "resumed at step 6" in said[2]
    assert same_everything(whole, resumed)


@pytest.mark.parametrize("kind", [OSError, SafetensorError])
def test_a_full_disk_is_told_and_harms_no_checkpoint(
    kind: type[Exception], config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = checkpoint.write_tensors
    trainer = train(replace(config, steps=6), tmp_path / "run", HERE, say=quiet)

    def full(path: Path, tensors: dict[str, torch.Tensor]) -> None:
        if path.name.startswith("optimizers"):
            raise kind("No space left on device")
        write(path, tensors)

    monkeypatch.setattr(checkpoint, "write_tensors", full)
    trainer.step = 12
    with pytest.raises(CharmError, match="No space left on device"):
        trainer.save()
    assert checkpoint.steps_of(tmp_path / "run") == [6]
    assert checkpoint.verify(checkpoint.folder_of(tmp_path / "run", 6))["step"] == 6


def test_a_loss_that_is_not_finite_stops_the_run(config: TrainConfig, tmp_path: Path) -> None:
    broken = replace(config, optimizer=replace(config.optimizer, lr=1e30, warmup=0), log_every=2)
    with pytest.raises(CharmError, match=r"step \d+: the loss is (nan|inf)"):
        train(broken, tmp_path / "run", HERE, say=quiet)


def test_a_runaway_halt_head_stops_the_run(config: TrainConfig, tmp_path: Path) -> None:
    job = arc_job(config, HERE, quiet)
    means = {"loss": 1.0, "halted": 1.0, "early": 0.9, "exact_accuracy": 0.01, "halted_steps": 1.0}
    with pytest.raises(CharmError, match="step 400: the halt head has diverged: it stops 90% of the examples"):
        job.line(400, means)


def test_a_run_is_neither_overwritten_nor_resumed_with_other_settings(config: TrainConfig, tmp_path: Path) -> None:
    train(config, tmp_path / "run", HERE, say=quiet)
    with pytest.raises(CharmError, match="already contains a run at step 12"):
        train(config, tmp_path / "run", HERE, say=quiet)
    with pytest.raises(CharmError, match=r"different settings \(--batch 8, now 16\)"):
        train(replace(config, batch=16), tmp_path / "run", HERE, resume=True, say=quiet)
    assert train(replace(config, log_every=5), tmp_path / "run", HERE, resume=True, say=quiet).step == 12
    with pytest.raises(CharmError, match="contains no run to resume"):
        train(config, tmp_path / "other", HERE, resume=True, say=quiet)


def test_a_run_does_not_go_on_with_other_pairs(config: TrainConfig, tmp_path: Path) -> None:
    """A corrected demonstration keeps its rows, so rows alone do not show the change."""
    run, half = tmp_path / "run", replace(config, steps=6)
    train(half, run, HERE, say=quiet)
    task = tmp_path / "tasks" / "toy0.json"
    before = task.read_text()
    pairs = json.loads(before)
    pairs["train"][0]["output"][0][0] = 9
    task.write_text(json.dumps(pairs))
    with pytest.raises(CharmError, match="was trained on different pairs"):
        train(config, run, HERE, resume=True, say=quiet)
    answered = json.loads(before)
    answered["test"][0]["output"][0][0] = 9  # never trained on
    task.write_text(json.dumps(answered))
    assert train(config, run, HERE, resume=True, say=quiet).step == 12


def test_a_folder_takes_one_training_at_a_time(config: TrainConfig, tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    with lock_folder(run, "training run"), pytest.raises(CharmError, match="in use by another training run"):
        train(config, run, HERE, say=quiet)
    assert [path.name for path in run.iterdir()] == [".lock"]
    train(config, run, HERE, say=quiet)


def test_a_saved_model_is_not_taken_for_a_run(config: TrainConfig, tmp_path: Path) -> None:
    train(config, tmp_path / "run", HERE, say=quiet)
    with pytest.raises(CharmError, match=r"is a saved model, not a run folder"):
        read_config(checkpoint.folder_of(tmp_path / "run", 12))


@pytest.mark.parametrize("name", [*PRESETS, "sweep.L48-U4", "bases.cose-r32-t32", "bases.table-r512"])
def test_every_preset_takes_a_step_at_reduced_size(name: str, tmp_path: Path) -> None:
    """Its own recurrence, memory and optimizers on toy tasks, with everything wide or long cut down."""
    config = VARIANTS[name].full() if name in VARIANTS else PRESETS[name]()
    toy = toy_config(write_toy_tasks(tmp_path / "tasks"))
    rank = 32 if config.memory.rank == 512 else min(config.memory.rank, 8)
    small = replace(
        config,
        data=replace(toy.data, canvas={"vit": "large", "writer": "full"}.get(config.reasoner.kind, "fit")),
        reasoner=replace(config.reasoner, width=32, heads=2, inner_multiple=32, layers=min(config.reasoner.layers, 2)),
        memory=replace(config.memory, rank=rank),
        steps=2,
        device="cpu",
        log_every=1,
        checkpoint_every=2,
        evaluate_every=0,
    )
    trainer = train(small.sized(batch=4, tokens=2048), tmp_path / "run", HERE, say=quiet)
    assert trainer.step == 2
    assert all(np.isfinite(line["loss"]) for line in metrics(tmp_path / "run"))


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(CharmError, match="cannot be split into 5"):
        TrainConfig(batch=768, accumulate=5)
    with pytest.raises(CharmError, match="multiple of checkpoint_every"):
        TrainConfig(checkpoint_every=100, evaluate_every=150)
    with pytest.raises(CharmError, match="horizon must be <= its 6 recurrences, got 7"):
        TrainConfig(reasoner=CanvasConfig(recurrences=6, horizon=7))


@pytest.mark.parametrize(("name", "parts"), [("arc1", 24), ("varc-arc1", 8), ("base", 1)])
def test_a_cpu_splits_large_batches_of_networks_that_accumulate(name: str, parts: int) -> None:
    """768 and 256 canvases, in parts of 32; a writer, which counts tokens, has no parts."""
    said: list[str] = []
    assert fit_to_device(PRESETS[name](), HERE, said.append).accumulate == parts
    assert len(said) == (2 if parts > 1 else 1)
