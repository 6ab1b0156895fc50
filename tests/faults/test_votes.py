"""Votes: damaged ones are made again or named, never left out in silence; those of another run do not count."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from charm.arc.run import train
from charm.errors import CharmError
from charm.evaluation.protocols import Protocol
from charm.evaluation.run import evaluate_run
from charm.report.folder import evaluations
from charm.report.page import ranked
from charm.runs.checkpoint import folder_of, run_of, steps_of
from tests.faults.toy_run import HERE, empty, flip, quiet, toy, trained, truncate

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
        evaluate_run(run, "standard", ALL, HERE, rank_only=True)
    found = evaluate_run(run, "standard", replace(ALL, window=1), HERE)
    assert found is not None
    assert found["checkpoints"] == [12]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_report_names_damaged_votes(damage: str, run: Path) -> None:
    DAMAGES[damage](votes_of(run, 6))
    with pytest.raises(CharmError, match=r"step_6/loops_3: votes are missing or damaged"):
        ranked(run, None, None)


def test_votes_and_evaluations_of_an_earlier_run_do_not_count(run: Path, tmp_path: Path) -> None:
    """Checkpoints of another seed were put into the folder: the existing votes are not theirs."""
    evaluate_run(run, "standard", ALL, HERE, blank_memory=True)
    other = trained(tmp_path / "other", seed=1)
    expected = evaluate_run(other, "standard", ALL, HERE, blank_memory=True)
    votes = {file: file.read_bytes() for file in sorted(other.glob("votes*/step_*/loops_3/rank_0.npz"))}
    assert len(votes) == 3
    for name in ("checkpoints", "config.json"):
        shutil.rmtree(run / name) if (run / name).is_dir() else (run / name).unlink()
    shutil.copytree(other / "checkpoints", run / "checkpoints")
    shutil.copy(other / "config.json", run / "config.json")
    assert run_of(run) == run_of(other) != ""
    with pytest.raises(CharmError, match=r"blank\.json is of an earlier run"):
        evaluations(run)
    with pytest.raises(CharmError, match="made by another run"):
        ranked(run, ALL, None)
    with pytest.raises(CharmError, match="made by another run"):
        evaluate_run(run, "standard", ALL, HERE, rank_only=True)
    assert evaluate_run(run, "standard", ALL, HERE) is not None
    assert evaluate_run(run, "standard", ALL, HERE, blank_memory=True) == expected
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
