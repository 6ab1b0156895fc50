import json
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from charm.commands.adapt import adapt
from charm.errors import CharmError
from charm.tasks.keys import MemoryConfig
from tests import forks
from tests.toy.runs import toy_run

SMALL: dict[str, Any] = {"steps": 2, "views": 4, "batch": 4, "device": "cpu"}


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
        *("cose-r8-memory-only-rows-h0-s0", "cose-r8-naive-full-h0.5-s0"),
        *("table.md", "results.json", "parameters.png", "retained.png"),
    }
    assert len(json.loads((tmp_path / "out" / "results.json").read_text())) == 2
    adapt(base, method="replay", buffer=1, shared_lr=1e-3, **small)  # type: ignore[arg-type]
    assert (tmp_path / "out" / "cose-r8-replay-composition-buffer1-shared_lr0.001-h0-s0" / "R.json").is_file()
    capsys.readouterr()
    adapt(base, method="memory-only", row_optimizer="adamw", json=True, **small)  # type: ignore[arg-type]
    other = json.loads(capsys.readouterr().out)
    assert other["settings"] == "rows adamw"
    paper, ours = (
        tmp_path / "out" / f"cose-r8-memory-only-rows{own}-h0-s0" / "rows" / "0001.safetensors"
        for own in ("", "-rowsadamw")
    )
    assert paper.read_bytes() != ours.read_bytes()
    with pytest.raises(CharmError, match="no method"):
        adapt(base, method="best", **small)  # type: ignore[arg-type]
    with pytest.raises(CharmError, match=r"different settings \(--batch 4, now 8\); use the same ones"):
        adapt(base, method="memory-only", **{**small, "batch": 8})  # type: ignore[arg-type]


def test_bases_are_compared_in_one_folder_and_blind_tasks_are_not_drawn(
    base: Path,
    unseen: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Tasks without answers, as those of a competition, can be learned but not scored: there is nothing to draw."""
    for path in unseen.glob("*.json"):
        content = json.loads(path.read_text())
        del content["test"][0]["output"]
        path.write_text(json.dumps(content))
    table = toy_run(tmp_path / "table", MemoryConfig(design="table", rank=8))
    monkeypatch.chdir(unseen)
    for run in (base, table):
        adapt(run, stream=".", steps=1, batch=4, tasks=1, device="cpu", out=tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    runs = {f"{memory}-memory-only-rows-h0-s0" for memory in ("cose-r8", "table-r8")}
    assert names == {*runs, "table.md", "results.json"}
    assert "Table (r=8)" in capsys.readouterr().out
    adapt(table, stream="..", steps=1, batch=4, tasks=1, device="cpu")
    assert {path.name for path in (table / "adapt").iterdir()} == {unseen.parent.stem}


def test_what_cannot_be_written_is_told(base: Path, unseen: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CharmError, match=r"file/cose-r8-memory-only-rows-h0-s0\S* cannot be written"):
        adapt(base, stream=str(unseen), tasks=1, device="cpu", out=tmp_path / "file")


def test_a_killed_command_ends_as_if_nothing_had_been(base: Path, unseen: Path, tmp_path: Path) -> None:
    """SIGKILL, which nothing can catch, after the first stage; then the same command again."""

    def command(out: str) -> forks.Program:
        small = ("--method", "naive", "--tasks", "3", "--steps", "3", "--batch", "4", "--recheck-every", "2")
        program = ("-m", "charm", "adapt", base, "--stream", unseen)
        return forks.Program(*program, *small, "--device", "cpu", "--out", tmp_path / out)

    killed = command("killed")
    stages = tmp_path / "killed" / "cose-r8-naive-composition-h0-s0" / "stages"
    while not (stages / "0001.json").is_file():
        assert killed.poll() is None, "it ended before it could be killed"
        time.sleep(0.005)
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    assert len(list(stages.glob("*.json"))) < 3
    for out in ("killed", "whole"):
        assert command(out).wait() == 0
    one, other = (tmp_path / out / stages.parent.name / "model" for out in ("killed", "whole"))
    ours, theirs = (load_file(folder / "model.safetensors") for folder in (one, other))
    assert all(torch.equal(ours[name].view(torch.int32), theirs[name].view(torch.int32)) for name in theirs)
