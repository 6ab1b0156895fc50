"""What a solve writes for others: a submission of each set, and the folder of the official benchmark."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from charm.errors import CharmError
from charm.evaluation.ranking import NO_ANSWER
from charm.solving.benchmarking import require_free, write_benchmarking
from charm.solving.solver import load_tasks
from charm.solving.submission import write_sets
from charm.solving.vote_log import TaskCourse, read_course
from charm.tasks.task import Pair, Question
from tests.toy.solves import run_solve


def test_each_set_has_its_own_submission_with_its_own_ids_and_order(unseen: Path, tmp_path: Path) -> None:
    task = load_tasks([unseen / "new0.json"])[0][0]
    other = Pair(task.train[0].input, None)
    assert other.input.tolist() != task.test[0].input.tolist()
    twin = replace(task, id="some/set:new0", test=(task.test[0], other))
    own = replace(task, test=(other, task.test[0]))
    first, second = ({"attempt_1": [[color]], "attempt_2": [[color]]} for color in (1, 2))
    submission = {twin.id: [first, second]}
    for name, start in (("both.json", "both."), ("submission.json", "")):
        written = write_sets(tmp_path / name, submission, {"arc2/evaluation": [(own, twin)]})
        assert written == [tmp_path / f"{start}arc2-evaluation.submission.json"]
        assert json.loads(written[0].read_text()) == {"new0": [second, first]}
    assert write_sets(tmp_path / "both.json", submission, {}) == []


def test_attempts_in_the_official_format_by_hand(unseen: Path, tmp_path: Path) -> None:
    """A known and right answer, a known and wrong one, one without an output, and a task without a record."""
    solved, other = load_tasks([unseen])[0][:2]
    right = solved.test[0].output
    assert right is not None
    solved = replace(solved, id="set:new0", test=(solved.test[0], Pair(right, None)))
    answers = {
        Question(solved.id, 0): [right.tolist(), [[9]]],
        Question(solved.id, 1): [[[1]], [[1]]],
    }
    lines = [
        {"time": 1010.0, "seconds": 10.0, "tests": []},
        {"time": 1030.0, "seconds": 30.0, "tests": []},
        {"time": 1031.0, "ended": ""},
    ]
    courses = {solved.id: TaskCourse([], "", lines)}  # type: ignore[arg-type]
    about = {"model": "base", "mode": "auto", "budget": 9.0, "charm": "1", "settings": {"seed": 7, "budget": 1.0}}
    write_benchmarking(tmp_path / "out", [solved, other], answers, courses, about, 0.5)
    found = json.loads((tmp_path / "out" / "set-new0.json").read_text())
    metadata = {
        "model": "base",
        "provider": "charm",
        "start_timestamp": datetime.fromtimestamp(1000, UTC).isoformat(),
        "end_timestamp": datetime.fromtimestamp(1031, UTC).isoformat(),
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "[[9]]"}}],
        "kwargs": {"seed": 7, "budget": 9.0, "charm": "1", "seconds": 30.0, "task_sha256": solved.content()},
        "usage": {
            "prompt_tokens": 0,
            "completion_tokens": 0,
            "total_tokens": 0,
            "completion_tokens_details": {
                "reasoning_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        },
        "cost": {"prompt_cost": 0.0, "completion_cost": 0.125, "total_cost": 0.125},
        "task_id": "set:new0",
        "pair_index": 0,
        "test_id": "out",
    }
    assert found[0]["attempt_2"] == {"answer": [[9]], "correct": False, "metadata": metadata}
    assert (found[0]["attempt_1"]["answer"], found[0]["attempt_1"]["correct"]) == (right.tolist(), True)
    assert found[1]["attempt_1"] == found[1]["attempt_2"]
    assert (found[1]["attempt_1"]["correct"], found[1]["attempt_1"]["metadata"]["pair_index"]) == (None, 1)
    unanswered = json.loads((tmp_path / "out" / f"{other.id}.json").read_text())
    assert unanswered == [{"attempt_1": None, "attempt_2": None}]
    before = datetime.now(UTC)
    write_benchmarking(tmp_path, [solved], answers, {}, about)  # without a log, and without a price
    bare = json.loads((tmp_path / "set-new0.json").read_text())[0]["attempt_1"]["metadata"]
    assert bare.keys() == metadata.keys()
    assert before <= datetime.fromisoformat(bare["start_timestamp"]) <= datetime.now(UTC)
    assert bare["kwargs"]["seconds"] is None
    assert not any(bare["cost"].values())


def test_the_command_exports_what_it_solved(
    base: Path, unseen: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    small = {"steps": 1, "views": 2, "batch": 4, "device": "cpu"}
    run_solve((unseen,), checkpoint=base, out=out, format="arc-agi-benchmarking", dollars=3600.0, **small)
    assert f"attempts for arc-agi-benchmarking in {tmp_path / 'out'}" in capsys.readouterr().err
    submission, courses = json.loads(out.read_text()), read_course(out)[1]
    files = sorted((tmp_path / "out").iterdir())
    assert [file.stem for file in files] == sorted(submission)
    costs = []
    for file in files:
        (entry,) = json.loads(file.read_text())
        for name, one in entry.items():
            assert (one or {"answer": NO_ANSWER})["answer"] == submission[file.stem][0][name]
            if one:
                assert one["metadata"]["kwargs"]["seconds"] == courses[file.stem].rounds[-1]["seconds"]
                assert one["metadata"]["kwargs"]["views"] == small["views"]
                costs.append(one["metadata"]["cost"]["total_cost"])
    assert costs
    assert 0 < sum(costs) < 600  # a dollar for each second


def test_attempts_never_replace_files_of_others(base: Path, unseen: Path, tmp_path: Path) -> None:
    """The folder is named after the submission: that of unseen.json is the folder of the tasks."""
    before = {file: file.read_bytes() for file in unseen.iterdir()}
    small = {"steps": 1, "views": 2, "batch": 4, "device": "cpu", "checkpoint": base}
    with pytest.raises(CharmError, match=r"unseen/new0\.json exists and has no attempts at a task; choose another"):
        run_solve((unseen,), out=unseen.with_suffix(".json"), format="arc-agi-benchmarking", **small)
    assert {file: file.read_bytes() for file in unseen.iterdir()} == before
    assert not unseen.with_suffix(".json").exists()
    out = tmp_path / "again.json"
    for more in ({}, {"resume": True}):  # its own files it replaces
        run_solve((unseen,), out=out, format="arc-agi-benchmarking", **small, **more)
    task = load_tasks([unseen / "new0.json"])[0][0]
    with pytest.raises(CharmError, match=r"tasks a:b and a/b would both be written to \S+a-b\.json"):
        require_free(tmp_path, [replace(task, id="a:b"), replace(task, id="a/b")])


def test_charm_solve_has_at_most_28_flags(capsys: pytest.CaptureFixture[str]) -> None:
    from charm.cli import main

    with pytest.raises(SystemExit):
        main(["solve", "--help"])
    flags = {*re.findall(r"--[a-z][\w.-]*\w", capsys.readouterr().out)} - {"--help"}
    assert {"--search", "--until-end", "--format", "--writer.lr"} <= flags
    assert len(flags) <= 28
