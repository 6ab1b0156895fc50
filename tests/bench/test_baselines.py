"""The comparison at equal minutes: its clock, its resume, its scores. Everything on two tasks with tiny models."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from benchmarks import baselines
from benchmarks.baselines import (
    TICKS,
    Plan,
    Student,
    build,
    configuration,
    evaluation_tasks,
    judge,
    table,
    train_for,
)
from charm.arc.run import arc_job
from charm.devices import place
from charm.solving.group import Solver
from charm.solving.options import SolveOptions
from charm.training.optimizers import lr_scale

PLAN = Plan(minutes=0.001, seconds=1.0, tasks=2, rearc=False, seed=0, tiny=True)


def run(out: Path, monkeypatch: pytest.MonkeyPatch, *systems: str) -> None:
    words = ["--size", "tiny", "--seconds", "5", "--device", "cpu", "--out", str(out), "--only", *systems]
    monkeypatch.setattr(sys, "argv", ["baselines.py", *words])
    baselines.main()


@pytest.mark.parametrize("name", ["charm", "varc", "trm"])
def test_building_kernels_moves_nothing_and_training_follows_the_clock(name: str) -> None:
    config = configuration(name, PLAN)
    rates = [lr_scale(tick, TICKS, config.optimizer) for tick in range(0, TICKS + 1, TICKS // 20)]
    assert max(rates[2:4]) == pytest.approx(1, abs=0.05)
    assert rates[0] < 1e-4
    assert rates[-1] == 0
    with place("cpu") as here:
        job = arc_job(config, here, say=lambda text: None)
        before = {key: value.clone() for key, value in job.model.state_dict().items()}
        build(job)
        assert all(torch.equal(value, before[key]) for key, value in job.model.state_dict().items())
        for limit in (0.3, 15.0):  # the second where an update takes long, on a busy machine
            began = time.perf_counter()
            pace, seconds = train_for(job, limit)
            assert limit <= seconds <= time.perf_counter() - began
            if len(pace.measured) > 1:
                break
        assert len(pace.measured) > 1
        assert all(0 <= exact <= 1 and loss > 0 for loss, exact in pace.measured)
        assert any(not torch.equal(value, before[key]) for key, value in job.model.state_dict().items())


def test_all_systems_have_the_same_data_and_no_averages() -> None:
    plan = replace(PLAN, tiny=False)
    for name in baselines.SYSTEMS:
        config = configuration(name, plan)
        data = config.data
        assert (data.train, data.evaluate, data.auxiliary, data.synthetic) == (("arc1/training",), (), (), ())
        assert set(data.without) == {"40853293", "caa06a1f"}
        assert config.optimizer.ema == 0
        assert config.optimizer.cooldown > 0


def test_an_interrupted_comparison_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, monkeypatch, "varc", "hrm")
    shown = capsys.readouterr().out
    whole = json.loads((tmp_path / "results.json").read_text())["systems"]
    assert [one["system"] for one in whole] == ["varc", "hrm"]
    assert [(one["tasks"], one["adaptation_updates"]) for one in whole] == [(2, 2), (2, 2)]
    assert shown.splitlines()[-1].startswith("| hrm | 27,522 |")

    # As if it had been killed after the first task of varc, while hrm's weights were written.
    record = tmp_path / "varc" / "tasks.json"
    first, second = json.loads(record.read_text())
    record.write_text(json.dumps([{**first, "seconds": 77.0}]))
    (tmp_path / "hrm" / "training.json").unlink()
    (tmp_path / "hrm" / "tasks.json").unlink()
    trained = (tmp_path / "varc" / "training.json").stat().st_mtime_ns
    run(tmp_path, monkeypatch, "varc", "hrm")
    done = json.loads(record.read_text())
    assert [one["task"] for one in done] == [first["task"], second["task"]]
    assert done[0]["seconds"] == 77
    assert (tmp_path / "varc" / "training.json").stat().st_mtime_ns == trained
    assert (tmp_path / "hrm" / "training.json").is_file()

    monkeypatch.setattr(sys, "argv", ["baselines.py", "--seed", "1", "--out", str(tmp_path), "--size", "tiny"])
    with pytest.raises(SystemExit, match="another plan"):
        baselines.main()


def test_a_system_that_fails_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = baselines.arc_job

    def job(config, here):  # type: ignore[no-untyped-def]
        if config.reasoner.kind == "vit":
            raise torch.OutOfMemoryError("no room")
        return made(config, here)

    monkeypatch.setattr(baselines, "arc_job", job)
    with pytest.raises(SystemExit, match="failed: varc"):
        run(tmp_path, monkeypatch, "varc", "trm")
    assert "| trm |" in capsys.readouterr().out


def test_a_vit_learns_one_task_at_a_time_and_the_others_all_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: dict[str, list[int]] = {}
    answer = Student.answer

    def counted(self, tasks, seconds):  # type: ignore[no-untyped-def]
        kind = self.solver.reasoner.kind
        groups.setdefault(kind, []).append(len(tasks))
        found = answer(self, tasks, seconds)
        start = self.start
        weights = {name: value.clone() for name, value in start.shared.items()}
        start.prepare(tasks)
        assert any(not torch.equal(value, weights[name]) for name, value in start.shared.items())
        assert all(torch.equal(value, start.base[name]) for name, value in start.shared.items())
        return found

    monkeypatch.setattr(Student, "answer", counted)
    run(tmp_path, monkeypatch, "varc", "trm")
    assert groups == {"vit": [1, 1, 1], "trm": [1, 2]}  # the first is the rehearsal
    # What was trained can be used by every command.
    with place("cpu") as here:
        assert Solver(tmp_path / "varc" / "model", SolveOptions(), here).reasoner.kind == "vit"


def test_scores_are_those_of_the_recorded_answers() -> None:
    first, second = evaluation_tasks(2)
    wrong = [[0]]
    answers = [[wrong, pair.output.tolist()] for pair in first.test if pair.output is not None]
    usual = {"updates": 10, "views": 2, "exact_accuracy": 0.5, "diverged": False}
    done = [
        {"task": first.id, "seconds": 1.0, **usual, "answers": answers},
        {"task": second.id, "seconds": 2.0, **usual, "answers": [[wrong] for _ in second.test]},
    ]
    found = judge(done, 2)
    assert (found["pass@1"], found["pass@2"], found["tasks"]) == (0, 0.5, 2)
    assert (found["adaptation_seconds"], found["adaptation_updates"]) == (1.5, 10)
    training = {"parameters": 5, "training_seconds": 2.0, "updates": 3, "batch": 8, "batch_of": "examples"}
    line = table([{"system": "x", **training, "exact_accuracy": 0.25, **found}]).splitlines()[-1]
    assert line == "| x | 5 | 2.0 s | 3 x 8 examples | 25.0% | 1.50 s | 10 | 50.0% | 0.0% | 50.0% |"
