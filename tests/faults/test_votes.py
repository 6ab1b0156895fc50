"""Votes: damaged ones are made again or named, never left out in silence; those of another run do not count."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from charm.arc.run import train
from charm.errors import CharmError
from charm.evaluation import predict
from charm.evaluation.evaluate import VoteOptions, evaluate_run
from charm.evaluation.protocols import Protocol
from charm.report.folder import evaluations
from charm.report.page import ranked, write_report
from charm.runs.checkpoint import folder_of, run_of, steps_of
from charm.runs.votes import Votes
from tests.toy import toy_config
from tests.toy.damage import HERE, empty, flip, quiet, toy, trained, truncate

ALL = Protocol(views=4, window="all", loops=(3,))
DAMAGES = {"truncated": truncate, "empty": empty, "missing": Path.unlink}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = trained(tmp_path_factory.mktemp("whole"))
    evaluate_run(run, "standard", ALL, HERE)
    return run


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run"))


def votes_of(run: Path, step: int, folder: str = "votes") -> Path:
    return run / folder / f"step_{step}" / "loops_3" / "rank_0.npz"


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_votes_are_made_again_where_the_checkpoint_is_there(
    damage: str, run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores, file = (run / "eval" / "standard.json").read_text(), votes_of(run, 6)
    content = file.read_bytes()
    DAMAGES[damage](file)
    evaluate_run(run, "standard", ALL, HERE)
    assert (run / "eval" / "standard.json").read_text() == scores
    assert json.loads(scores)["checkpoints"] == [6, 12]
    assert file.read_bytes() == content
    assert "votes of step 6 are missing or damaged and are made again" in capsys.readouterr().err


@pytest.mark.parametrize("damage", [*DAMAGES, "folder"])
def test_damaged_votes_are_refused_where_the_checkpoint_is_gone(damage: str, run: Path) -> None:
    shutil.rmtree(folder_of(run, 6))
    if damage == "folder":
        shutil.rmtree(run / "votes" / "step_6")
    else:
        DAMAGES[damage](votes_of(run, 6))
    with pytest.raises(CharmError, match=r"step 6 .* its checkpoint was deleted; --window 1"):
        evaluate_run(run, "standard", ALL, HERE)
    with pytest.raises(CharmError, match="votes of step 6 are missing or damaged"):
        evaluate_run(run, "standard", ALL, HERE, VoteOptions(rank_only=True))
    found = evaluate_run(run, "standard", replace(ALL, window=1), HERE)
    assert found is not None
    assert found["checkpoints"] == [12]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_report_names_damaged_votes(damage: str, run: Path) -> None:
    DAMAGES[damage](votes_of(run, 6))
    with pytest.raises(CharmError, match=r"step_6/loops_3: votes are missing or damaged"):
        ranked(run, None, None)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_report_names_damaged_votes_without_the_memory(damage: str, run: Path) -> None:
    evaluate_run(run, "standard", ALL, HERE, VoteOptions(blank_memory=True))
    DAMAGES[damage](votes_of(run, 12, "votes_blank"))
    with pytest.raises(CharmError, match=r"votes_blank.*: votes are missing or damaged"):
        write_report(run)


def test_votes_and_evaluations_of_an_earlier_run_do_not_count(run: Path, tmp_path: Path) -> None:
    """Checkpoints of another seed were put into the folder: the existing votes are not theirs."""
    evaluate_run(run, "standard", ALL, HERE, VoteOptions(blank_memory=True))
    other = trained(tmp_path / "other", seed=1)
    expected = evaluate_run(other, "standard", ALL, HERE, VoteOptions(blank_memory=True))
    votes = {file: file.read_bytes() for file in sorted(other.glob("votes*/step_*/loops_3/rank_0.npz"))}
    assert len(votes) == 3
    for name in ("checkpoints", "config.json"):
        shutil.rmtree(run / name) if (run / name).is_dir() else (run / name).unlink()
    shutil.copytree(other / "checkpoints", run / "checkpoints")
    shutil.copy(other / "config.json", run / "config.json")
    shutil.copy(other / "data.json", run / "data.json")
    assert run_of(run) == run_of(other) != ""
    with pytest.raises(CharmError, match=r"blank\.json is of an earlier run"):
        evaluations(run)
    with pytest.raises(CharmError, match="made by another run"):
        ranked(run, ALL, None)
    with pytest.raises(CharmError, match="made by another run"):
        evaluate_run(run, "standard", ALL, HERE, VoteOptions(rank_only=True))
    assert evaluate_run(run, "standard", ALL, HERE) is not None
    assert evaluate_run(run, "standard", ALL, HERE, VoteOptions(blank_memory=True)) == expected
    for file, content in votes.items():
        assert (run / file.relative_to(other)).read_bytes() == content
    assert sorted(evaluations(run)) == ["blank", "standard"]


def test_a_flipped_bit_in_an_evaluation_is_refused(run: Path) -> None:
    path = run / "eval" / "standard.json"
    text = path.read_text()
    flip(path, text.index('"pass@2": ') + 10)
    with pytest.raises(CharmError, match=r"standard\.json"):
        evaluations(run)


def test_a_resumed_run_keeps_its_name(run: Path, tmp_path: Path) -> None:
    config = toy(tmp_path)
    train(config, tmp_path / "one", HERE, say=quiet)
    name = run_of(tmp_path / "one")
    train(replace(config, steps=18, keep_checkpoints=0), tmp_path / "one", HERE, resume=True, say=quiet)
    assert run_of(tmp_path / "one") == name
    assert steps_of(tmp_path / "one") == [6, 12, 18]
    assert evaluate_run(tmp_path / "one", "standard", ALL, HERE) is not None


def change_test(task: Path) -> None:
    """Another test input of the same task."""
    found = json.loads(task.read_text())
    found["test"][0]["input"][0][0] ^= 1
    task.write_text(json.dumps(found))


def add_task(task: Path) -> None:
    shutil.copy(task, task.with_name("new.json"))


CHANGES = {
    "toy0 test 0 has changed": change_test,
    "toy0 test 0 is gone": Path.unlink,
    "new test 0 is new": add_task,
}


@pytest.mark.parametrize("change", CHANGES)
def test_votes_on_other_questions_are_refused(change: str, tmp_path: Path) -> None:
    """Whoever reads votes: they were made before the files of the tasks changed."""
    run = trained(tmp_path)
    evaluate_run(run, "standard", ALL, HERE)
    votes = votes_of(run, 12).read_bytes()
    CHANGES[change](tmp_path / "tasks" / "toy0.json")
    for rank_only in (False, True):
        with pytest.raises(CharmError, match=change):
            evaluate_run(run, "standard", ALL, HERE, VoteOptions(rank_only=rank_only))
    with pytest.raises(CharmError, match=change):
        write_report(run)
    if change == "toy0 test 0 has changed":  # the others change what is trained on, which was refused before
        config = replace(toy_config(tmp_path / "tasks"), evaluate_every=6, evaluate_views=4, steps=18)
        with pytest.raises(CharmError, match=change):
            train(config, run, HERE, resume=True, say=quiet)
        assert steps_of(run) == [6, 12]
        shutil.rmtree(run / "votes")
        found = evaluate_run(run, "standard", ALL, HERE)
        assert found is not None
        assert found["puzzles"] == 3
        assert votes_of(run, 12).read_bytes() != votes


def test_votes_made_without_the_memory_do_not_count_as_real_ones(run: Path) -> None:
    evaluate_run(run, "standard", ALL, HERE, VoteOptions(blank_memory=True))
    for source, place, problem in (
        ("votes_blank", "votes", "made with the memory zeroed"),
        ("votes", "votes_blank", "made with the memory;"),
    ):
        kept = votes_of(run, 12, place).read_bytes()
        votes_of(run, 12, place).write_bytes(votes_of(run, 12, source).read_bytes())
        for rank_only in (False, True):
            with pytest.raises(CharmError, match=problem):
                evaluate_run(
                    run,
                    "standard",
                    ALL,
                    HERE,
                    VoteOptions(rank_only=rank_only, blank_memory=place != "votes"),
                )
        with pytest.raises(CharmError, match=problem):
            write_report(run)
        votes_of(run, 12, place).write_bytes(kept)


def test_a_task_that_the_run_does_not_evaluate_is_refused(run: Path) -> None:
    with pytest.raises(CharmError, match="task 'zzz' is not one of the tasks that this run evaluates"):
        evaluate_run(run, "standard", ALL, HERE, VoteOptions(tasks=("toy1", "zzz")))
    assert not (run / "eval" / "tasks.json").exists()


def test_weights_and_answers_that_are_not_numbers_have_no_score(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder_of(run, 12) / "model.safetensors"
    tensors = load_file(path)
    tensors["reasoner.head.weight"][0, 0] = float("nan")
    save_file(tensors, path)
    (path.parent / "checkpoint.json").unlink()
    shutil.rmtree(run / "votes")
    shutil.rmtree(run / "eval")
    with pytest.raises(CharmError, match=r"reasoner\.head\.weight has values that are not finite"):
        evaluate_run(run, "standard", replace(ALL, window=1), HERE)
    tensors["reasoner.head.weight"][0, 0] = 0.0
    save_file(tensors, path)
    answers = predict.collect

    def broken(*arguments: Any) -> Votes:
        found = answers(*arguments)
        return replace(found, logit_V=np.full_like(found.logit_V, np.nan))

    monkeypatch.setattr(predict, "collect", broken)
    with pytest.raises(CharmError, match="answers are not numbers"):
        evaluate_run(run, "standard", replace(ALL, window=1), HERE)
    assert not (run / "eval").exists()
