"""Checkpoints: damaged ones never cost a whole one, a diverged run writes none, a kill leaves no half one."""

import json
import os
import shutil
import signal
import socket
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from charm.arc.run import arc_job, train
from charm.errors import CharmError
from charm.evaluation.evaluate import VoteOptions, evaluate_run
from charm.evaluation.protocols import Protocol
from charm.files import sweep, write_atomically
from charm.runs import checkpoint
from charm.runs.checkpoint import folder_of, prune, steps_of, verify
from charm.runs.folder import clear_run
from charm.training.engine import Engine
from charm.training.job import ReasonerJob
from tests.toy.damage import HERE, flip, quiet, toy, trained

ALL = Protocol(window="all", loops=(3,))


def damage(run: Path, step: int) -> None:
    flip(folder_of(run, step) / "optimizers.safetensors")


def test_pruning_never_removes_a_whole_checkpoint_in_favour_of_a_damaged_one(tmp_path: Path) -> None:
    """Both kept checkpoints but the oldest are damaged: the resumed run's new ones stay."""
    config = toy(tmp_path, steps=18, keep_checkpoints=3, evaluate_every=0)
    train(config, tmp_path / "run", HERE, say=quiet)
    for step in (12, 18):
        damage(tmp_path / "run", step)
    other = replace(config, checkpoint_every=4, keep_checkpoints=2)
    engine = Engine(arc_job(other, HERE, quiet), other, tmp_path / "run", HERE, quiet)
    assert engine.restore()
    for _ in range(4):
        engine.advance()
    engine.save()
    assert steps_of(tmp_path / "run") == [6, 10]
    assert verify(folder_of(tmp_path / "run", 10))["step"] == 10
    names = sorted(path.name for path in (tmp_path / "run" / "checkpoints").glob("*.damaged"))
    assert names == ["step_000000012.damaged", "step_000000018.damaged"]


def test_an_older_damaged_checkpoint_does_not_count_as_kept(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=18, keep_checkpoints=0, evaluate_every=0)
    damage(run, 12)
    checkpoint._whole.clear()  # as in another process
    prune(run, 2, 18)
    assert steps_of(run) == [6, 18]


def test_a_run_whose_checkpoints_are_all_damaged_does_not_begin_again_unasked(tmp_path: Path) -> None:
    run = trained(tmp_path)
    for step in steps_of(run):
        damage(run, step)
    kept = {path: path.read_bytes() for path in run.rglob("*.npz")}
    kept[run / "metrics.jsonl"] = (run / "metrics.jsonl").read_bytes()
    with pytest.raises(CharmError, match=r"none of its 2 checkpoints is whole; .* --restart"):
        train(toy(tmp_path), run, HERE, resume=True, say=quiet)
    assert all(path.read_bytes() == content for path, content in kept.items())
    said: list[str] = []
    clear_run(run, HERE, said.append)
    assert "erased the run" in said[0]
    assert train(toy(tmp_path), run, HERE, say=quiet).step == 12


def test_what_a_resumed_run_makes_again_is_removed_with_a_word(tmp_path: Path) -> None:
    run = trained(tmp_path)
    evaluations = {path.name: path.read_bytes() for path in (run / "eval").iterdir()}
    damage(run, 12)
    said: list[str] = []
    train(toy(tmp_path), run, HERE, resume=True, say=said.append)
    assert "removed metrics, votes and evaluations of steps after 6; they are made again" in said
    assert {path.name: path.read_bytes() for path in (run / "eval").iterdir()} == evaluations


@pytest.mark.parametrize("resume", [False, True])
def test_votes_of_a_run_without_checkpoints_are_not_taken_over(resume: bool, tmp_path: Path) -> None:
    run = trained(tmp_path)
    evaluate_run(run, "standard", ALL, HERE, VoteOptions(blank_memory=True))
    shutil.rmtree(run / "checkpoints")
    with pytest.raises(CharmError, match="votes and votes_blank and eval of an earlier run"):
        train(toy(tmp_path, seed=0 if resume else 1), run, HERE, resume, quiet)
    clear_run(run, HERE, quiet)
    assert not [path for path in run.rglob("*") if path.is_file() and path.name not in (".lock", "config.json")]
    assert train(toy(tmp_path, seed=1), run, HERE, say=quiet).step == 12


def test_a_folder_that_is_not_a_run_is_left_alone(tmp_path: Path) -> None:
    """Also one with a config.json and checkpoints of another program, and with --restart."""
    other = tmp_path / "other"
    (other / "checkpoints" / "step_1").mkdir(parents=True)
    for name in ("config.json", "metrics.jsonl", "checkpoints/step_1/weights.bin", "notes.txt"):
        (other / name).write_text('{"model_type": "bert"}')
    before = {path: path.read_bytes() for path in other.rglob("*") if path.is_file()}
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "notes.txt").write_text("years of work")
    for folder in (other, tmp_path / "alone"):
        with pytest.raises(CharmError, match=r"is not empty and has no config\.json of a run"):
            train(toy(tmp_path), folder, HERE, say=quiet)
        with pytest.raises(CharmError, match=r"is not empty and has no config\.json of a run"):
            clear_run(folder, HERE, quiet)
        assert not (folder / ".lock").exists()
    assert {path: path.read_bytes() for path in other.rglob("*") if path.is_file()} == before


def test_restart_erases_checkpoints_behind_a_link_and_nothing_of_others(tmp_path: Path) -> None:
    run, disk = trained(tmp_path), tmp_path / "disk"
    (run / "checkpoints").rename(disk)
    (run / "checkpoints").symlink_to(disk)
    others = [run / "notes.txt", disk / "notes.txt", run / "eval" / "notes.txt", run / "votes" / "notes.txt"]
    for notes in others:
        notes.write_text("years of work")
    clear_run(run, HERE, quiet)
    assert [path.name for path in disk.iterdir()] == ["notes.txt"]
    assert all(notes.is_file() for notes in others)
    assert train(toy(tmp_path), run, HERE, say=quiet).step == 12


def test_a_run_resumed_with_other_settings_says_which(tmp_path: Path) -> None:
    run, config = trained(tmp_path), toy(tmp_path)
    changed = replace(config, seed=7, optimizer=replace(config.optimizer, lr=0.5))
    with pytest.raises(CharmError, match=rf"\(--seed {config.seed}, now 7; --optimizer\.lr \S+, now 0\.5\)"):
        train(changed, run, HERE, resume=True, say=quiet)


def test_weights_that_are_not_finite_are_never_written(tmp_path: Path) -> None:
    """The loss is looked at every few updates only: a checkpoint may be due in between."""
    config = toy(tmp_path, steps=24, checkpoint_every=2, log_every=24, evaluate_every=0)
    train(replace(config, steps=4, log_every=4), tmp_path / "run", HERE, say=quiet)
    before = {path: path.read_bytes() for path in (tmp_path / "run" / "checkpoints").rglob("*.*")}
    engine = Engine(arc_job(config, HERE, quiet), config, tmp_path / "run", HERE, quiet)
    assert engine.restore()
    engine.step = 6
    with torch.no_grad():
        next(iter(engine.job.model.parameters())).view(-1)[0] = float("nan")
    with pytest.raises(CharmError, match=r"step 6 could not be written .* not finite.*earlier ones are intact"):
        engine.save()
    assert {path: path.read_bytes() for path in (tmp_path / "run" / "checkpoints").rglob("*.*")} == before


def test_a_huge_learning_rate_leaves_no_checkpoint_that_is_not_finite(tmp_path: Path) -> None:
    config = toy(tmp_path, steps=24, checkpoint_every=1, log_every=24, evaluate_every=0)
    config = replace(config, optimizer=replace(config.optimizer, lr=1e30, factor_lr=1e30, warmup=0))
    with pytest.raises(CharmError, match="finite"):
        train(config, tmp_path / "run", HERE, say=quiet)
    for step in steps_of(tmp_path / "run"):
        tensors = checkpoint.read_tensors(folder_of(tmp_path / "run", step) / "model.safetensors")
        assert all(torch.isfinite(tensor).all() for tensor in tensors.values())
    assert not list((tmp_path / "run" / "checkpoints").glob("*.tmp"))


@pytest.mark.parametrize("keep", [0, 2])
def test_a_run_that_was_stopped_and_resumed_has_the_scores_of_one_that_was_not(
    keep: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint of a stop can be evaluated, but it goes, with its votes, when a later one is there."""
    config = toy(tmp_path, steps=18, keep_checkpoints=keep, evaluate_every=0, evaluate_loops=(3,))
    train(config, tmp_path / "whole", HERE, say=quiet)
    advance = Engine.advance

    def signalled(self: Engine[ReasonerJob]) -> None:
        advance(self)
        if self.step in (13, 14):
            os.kill(os.getpid(), signal.SIGTERM)

    run = tmp_path / "parts"
    with monkeypatch.context() as patch:
        patch.setattr(Engine, "advance", signalled)
        assert train(config, run, HERE, say=quiet).step == 13
        assert steps_of(run) == [6, 12, 13]
        if not keep:  # otherwise step 6 would have votes that the other run does not have
            stopped = evaluate_run(run, "standard", ALL, HERE)
            assert stopped is not None
            assert stopped["checkpoints"] == [6, 12, 13]
        assert train(config, run, HERE, resume=True, say=quiet).step == 14
        assert steps_of(run) == [6, 12, 14]
    train(config, run, HERE, resume=True, say=quiet)
    assert steps_of(run) == steps_of(tmp_path / "whole")
    voted = [evaluate_run(one, "standard", ALL, HERE) for one in (tmp_path / "whole", run)]
    assert voted[0] == voted[1]


def test_a_finished_run_that_is_resumed_keeps_as_many_checkpoints_as_it_should(tmp_path: Path) -> None:
    """A kill may come between the last checkpoint and the removal of an older one."""
    config = toy(tmp_path, steps=18, keep_checkpoints=0, evaluate_every=0)
    train(config, tmp_path / "run", HERE, say=quiet)
    assert steps_of(tmp_path / "run") == [6, 12, 18]
    train(replace(config, keep_checkpoints=2), tmp_path / "run", HERE, resume=True, say=quiet)
    assert steps_of(tmp_path / "run") == [12, 18]


def test_a_link_in_the_place_of_a_temporary_folder_is_replaced(tmp_path: Path) -> None:
    """Nothing is written to or removed from the folder that it names."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("years of work")
    run = trained(tmp_path, steps=6, evaluate_every=0)
    for ending in ("tmp", "removed"):
        (run / "checkpoints" / f"step_000000012.{ending}").symlink_to(tmp_path / "other")
    config = toy(tmp_path, evaluate_every=0, keep_checkpoints=1)
    engine = Engine(arc_job(config, HERE, quiet), config, run, HERE, quiet)
    for engine.step in (12, 18):
        engine.save()
    assert [path.name for path in (run / "checkpoints").iterdir()] == ["step_000000018"]
    assert [path.name for path in (tmp_path / "other").iterdir()] == ["notes.txt"]


def test_a_kill_while_a_checkpoint_is_removed_leaves_no_half_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = trained(tmp_path, steps=18, keep_checkpoints=0, evaluate_every=0)
    whole = shutil.rmtree

    def killed(path: Path, ignore_errors: bool = False) -> None:
        if Path(path).is_dir():
            (Path(path) / "model.safetensors").unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            prune(run, 2, 18)
    assert shutil.rmtree is whole
    assert steps_of(run) == [12, 18]
    assert evaluate_run(run, "standard", ALL, HERE) is not None
    assert list((run / "checkpoints").glob("*.removed"))
    train(toy(tmp_path, steps=18, evaluate_every=0), run, HERE, resume=True, say=quiet)
    assert sorted(path.name for path in (run / "checkpoints").iterdir()) == [
        "step_000000012",
        "step_000000018",
    ]


def test_temporary_files_of_killed_processes_are_removed(tmp_path: Path) -> None:
    dead = next(pid for pid in range(2**22 - 1, 1, -1) if not Path(f"/proc/{pid}").exists())
    host = socket.gethostname()
    gone, alive = (tmp_path / f"rank_0.npz.{host}-{pid}.tmp" for pid in (dead, os.getpid()))
    other = tmp_path / f"rank_0.npz.{host}x-{dead}.tmp"  # of another machine, on a shared disk
    for path in (gone, alive, other):
        path.write_text("half")
    folder = tmp_path / f"export.{host}-{dead}.tmp"
    folder.mkdir()
    (folder / gone.name).write_text("half")
    sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == sorted((alive, other))
    write_atomically(tmp_path / "whole", "text")
    assert not list(tmp_path.glob("whole.*"))


def test_metrics_that_are_no_text_do_not_end_a_resumed_run(tmp_path: Path) -> None:
    run = trained(tmp_path, evaluate_every=0)
    lines = (run / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    (run / "metrics.jsonl").write_bytes(lines[0] + b"\xff\xfe" + lines[1] + lines[2])
    train(toy(tmp_path, evaluate_every=0), run, HERE, resume=True, say=quiet)
    assert [json.loads(line)["step"] for line in (run / "metrics.jsonl").read_text().splitlines()] == [4, 12]
