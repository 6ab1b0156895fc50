"""The engine with the smallest job there is: a number that counts its updates."""

import json
import os
import signal
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest
import torch

from charm.devices import Place
from charm.errors import CharmError
from charm.files import read_sealed
from charm.runs import checkpoint
from charm.runs.config import EngineConfig
from charm.training.engine import Engine, Exam, Job, LogEntry, train

HERE = Place(torch.device("cpu"))


@dataclass(frozen=True, kw_only=True)
class CountConfig(EngineConfig):
    domain: ClassVar[str] = "count"
    start: float = 0.0


@dataclass(frozen=True, kw_only=True)
class EndsConfig(CountConfig):
    evaluates_ends: ClassVar[bool] = True


class Count(Job):
    """Adds the number of the step to a sum; its loss is the sum."""

    def __init__(self, config: CountConfig) -> None:
        self.manifest = {"numbers": "natural"}
        self.work = (2, "numbers")
        self.sum = torch.tensor(config.start, dtype=torch.float64)
        self.calls: list[str] = []
        self.signal_at: int | None = None

    def begin(self, out: Path, step: int) -> None:
        self.calls.append(f"begin {step}")

    def update(self, step: int) -> dict[str, torch.Tensor]:
        self.sum = self.sum + step
        if step == self.signal_at:
            os.kill(os.getpid(), signal.SIGTERM)
        return {"loss": self.sum}

    def evaluate(self, exam: Exam) -> LogEntry | None:
        self.calls.append(f"evaluate {exam.step}")
        return None if exam.stop() else LogEntry({"sum": float(self.sum)}, "counted")

    def save(self, folder: Path) -> None:
        self.calls.append("save")
        checkpoint.write_tensors(folder / "sum.safetensors", {"sum": self.sum})

    def restore(self, folder: Path, step: int) -> None:
        self.sum = checkpoint.read_tensors(folder / "sum.safetensors")["sum"]

    def close(self) -> None:
        self.calls.append("close")


def run(config: CountConfig, out: Path, resume: bool = False, job: Count | None = None) -> Engine[Count]:
    return train(config, partial(lambda made: made, job or Count(config)), out, HERE, resume, lambda text: None)


def lines(out: Path) -> list[dict[str, float]]:
    found = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in one.items() if k not in ("time", "numbers_per_second")} for one in found]


def test_lines_are_means_and_evaluations_keep_their_schedule(tmp_path: Path) -> None:
    engine = run(CountConfig(steps=7, log_every=3, checkpoint_every=4, evaluate_every=2), tmp_path)
    sums = [0, 1, 3, 6, 10, 15, 21]
    evaluated = [{"step": step, "evaluation/sum": float(sums[step - 1])} for step in (2, 4, 6, 7)]
    logged = [
        {"step": last, "loss": sum(sums[first:last]) / (last - first)} for first, last in ((0, 3), (3, 6), (6, 7))
    ]
    expected = [evaluated[0], logged[0], evaluated[1], logged[1], evaluated[2], logged[2], evaluated[3]]
    assert lines(tmp_path) == expected
    assert engine.job.calls == [
        *("begin 0", "evaluate 2", "save", "evaluate 4", "evaluate 6", "save", "evaluate 7", "close")
    ]
    settings = read_sealed(tmp_path / "config.json")
    assert (settings["domain"], settings["start"]) == ("count", 0.0)
    assert read_sealed(tmp_path / "data.json") == {"numbers": "natural"}


@pytest.mark.parametrize(("every", "expected"), [(3, [0, 3, 6, 7]), (0, [7])])
def test_a_domain_may_also_evaluate_at_both_ends(every: int, expected: list[int], tmp_path: Path) -> None:
    engine = run(EndsConfig(steps=7, evaluate_every=every), tmp_path)
    assert [call for call in engine.job.calls if "evaluate" in call] == [f"evaluate {one}" for one in expected]


@pytest.mark.parametrize("signal_at", [3, 4, 13])
def test_a_stopped_run_resumes_to_the_same_lines(signal_at: int, tmp_path: Path) -> None:
    """Also amid an evaluation: with update 4 the signal comes as one is due."""
    config = CountConfig(steps=25, log_every=4, checkpoint_every=25, evaluate_every=5)
    run(config, tmp_path / "whole")
    job = Count(config)
    job.signal_at = signal_at
    stopped = run(config, tmp_path / "parts", job=job)
    assert stopped.step == signal_at + 1
    assert job.calls[-1] == "close"
    resumed = run(config, tmp_path / "parts", resume=True)
    assert resumed.job.calls[0] == f"begin {stopped.step}"
    assert lines(tmp_path / "parts") == lines(tmp_path / "whole")
    assert float(resumed.job.sum) == sum(range(25))


def test_a_stop_amid_an_exam_loses_no_update(tmp_path: Path) -> None:
    """The exam of step 5 is between two checkpoints: the run is saved there, and examined when it is resumed."""

    class Interrupted(Count):
        def evaluate(self, exam: Exam) -> LogEntry | None:
            if exam.step == 5:
                os.kill(os.getpid(), signal.SIGTERM)
            return super().evaluate(exam)

    config = CountConfig(steps=10, log_every=5, checkpoint_every=4, evaluate_every=5)
    run(config, tmp_path / "whole")
    stopped = run(config, tmp_path / "parts", job=Interrupted(config))
    assert stopped.step == 5
    assert stopped.job.calls == ["begin 0", "save", "evaluate 5", "save", "close"]
    assert checkpoint.steps_of(tmp_path / "parts") == [4, 5]
    resumed = run(config, tmp_path / "parts", resume=True)
    assert resumed.job.calls[:2] == ["begin 5", "evaluate 5"]
    assert lines(tmp_path / "parts") == lines(tmp_path / "whole")


def test_a_death_amid_an_exam_loses_no_update(tmp_path: Path) -> None:
    """A checkpoint that is due with an exam is made before it."""

    class Dies(Count):
        def evaluate(self, exam: Exam) -> LogEntry | None:
            raise OSError("a power cut")

    config = CountConfig(steps=8, checkpoint_every=4, evaluate_every=4)
    with pytest.raises(OSError, match="power cut"):
        run(config, tmp_path, job=Dies(config))
    assert checkpoint.steps_of(tmp_path) == [4]


def test_a_loss_that_is_not_finite_ends_the_run_and_closes_the_job(tmp_path: Path) -> None:
    config = CountConfig(steps=4, start=float("inf"))
    job = Count(config)
    with pytest.raises(CharmError, match="step 4: the loss is inf"):
        run(config, tmp_path, job=job)
    assert job.calls == ["begin 0", "close"]


def test_free_fields_may_change_and_others_not(tmp_path: Path) -> None:
    config = CountConfig(steps=4)
    run(config, tmp_path)
    run(CountConfig(steps=4, log_every=1), tmp_path, resume=True)
    with pytest.raises(CharmError, match=r"different settings \(--start"):
        run(CountConfig(steps=4, start=1.0), tmp_path, resume=True)
    with pytest.raises(CharmError, match=r"different settings \(--steps"):
        run(CountConfig(steps=5), tmp_path, resume=True)
