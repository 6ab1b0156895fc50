import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from charm.commands.adapt import adapt
from charm.commands.solve import solve
from charm.errors import CharmError


def test_adapt_writes_tables_and_figures_over_all_methods_so_far(
    base: Path, unseen: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = {
        "stream": str(unseen),
        "steps": 2,
        "batch": 4,
        "tasks": 2,
        "device": "cpu",
        "out": tmp_path / "out",
    }
    adapt(base, method="memory-only", **small)  # type: ignore[arg-type]
    assert "memory-only" in capsys.readouterr().out
    adapt(base, method="naive", scope="full", halt_weight=0.5, json=True, **small)  # type: ignore[arg-type]
    found = json.loads(capsys.readouterr().out)
    assert (found["method"], found["scope"], found["halt_weight"]) == ("naive", "full", 0.5)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        *("memory-only-rows-h0-s0", "naive-full-h0.5-s0"),
        *("table.md", "results.json", "parameters.png", "retained.png"),
    }
    assert len(json.loads((tmp_path / "out" / "results.json").read_text())) == 2
    with pytest.raises(CharmError, match="no method"):
        adapt(base, method="best", **small)  # type: ignore[arg-type]


def test_solve_writes_a_whole_submission_from_the_start(
    base: Path, unseen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that is stopped leaves an entry for every task, with the best answers so far."""
    from charm.adaptation.solve import Solver

    real, solved = Solver.solve, []

    def stopping(self: Solver, task, *rest):  # type: ignore[no-untyped-def]
        if solved:
            raise KeyboardInterrupt
        solved.append(task.id)
        return real(self, task, *rest)

    monkeypatch.setattr(Solver, "solve", stopping)
    out = tmp_path / "submission.json"
    with pytest.raises(KeyboardInterrupt):
        solve((unseen,), checkpoint=base, steps=2, views=4, batch=4, device="cpu", out=out)
    submission = json.loads(out.read_text())
    assert sorted(submission) == ["new0", "new1", "new2", "new3"]
    unsolved = {"attempt_1": [[0]], "attempt_2": [[0]]}
    assert [name for name, entries in submission.items() if entries != [unsolved]] == solved == ["new0"]


def test_a_killed_command_ends_as_if_nothing_had_been(base: Path, unseen: Path, tmp_path: Path) -> None:
    """SIGKILL, which nothing can catch, after the first stage; then the same command again."""

    def command(out: str) -> subprocess.Popen[bytes]:
        small = ("--method", "naive", "--tasks", "3", "--steps", "3", "--batch", "4", "--recheck-every", "2")
        program = [sys.executable, "-m", "charm", "adapt", str(base), "--stream", str(unseen)]
        return subprocess.Popen([*program, *small, "--device", "cpu", "--out", str(tmp_path / out)])

    killed = command("killed")
    stages = tmp_path / "killed" / "naive-composition-h0-s0" / "stages"
    while not (stages / "0001.json").is_file():
        assert killed.poll() is None, "it ended before it could be killed"
        time.sleep(0.005)
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    assert len(list(stages.glob("*.json"))) < 3
    for out in ("killed", "whole"):
        assert command(out).wait() == 0
    one, other = (tmp_path / out / "naive-composition-h0-s0" / "model" for out in ("killed", "whole"))
    ours, theirs = (load_file(folder / "model.safetensors") for folder in (one, other))
    assert all(torch.equal(ours[name].view(torch.int32), theirs[name].view(torch.int32)) for name in theirs)
