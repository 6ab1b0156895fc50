"""The rounds of votes of a solve on disk."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from charm.errors import CharmError
from charm.evaluation.ranking import Candidate
from charm.solving.options import SolveOptions
from charm.solving.solution import Solution
from charm.solving.solver import load_tasks
from charm.solving.submission import SubmissionInProgress
from charm.solving.vote_log import SHOWN, read_course, round_json
from charm.tasks.task import Question, digits


def solution(task: str, updates: int, *votes: int) -> Solution:
    """Candidates 1 x 1 of colours 0, 1, ... with these votes, the best first."""
    grids = [
        Candidate(np.full((1, 1), color % 10, np.uint8), 0, count, count, 0.25) for color, count in enumerate(votes)
    ]
    return Solution({Question(task, 0): grids}, updates, 8, float("nan"), 1.0, 1.23)


def test_rounds_are_written_as_they_come_and_go_on_after_a_kill(base: Path, unseen: Path, tmp_path: Path) -> None:
    tasks = load_tasks([unseen / "new0.json", unseen / "new1.json"])[0]
    out, votes = tmp_path / "out.json", tmp_path / "out.votes.jsonl"
    begun = SubmissionInProgress(out, tasks, base, SolveOptions(steps=3), resume=False)
    about, found = read_course(out)
    assert (about["model"], about["mode"], about["budget"]) == (base.name, "auto", 60.0)
    assert {name: one.inputs for name, one in found.items()} == {
        task.id: [digits(task.test[0].input)] for task in tasks
    }
    assert not any(one.rounds for one in found.values())

    begun.publish({"new0": solution("new0", 0, 5, 3), "new1": solution("new1", 0)})
    begun.publish({"new0": solution("new0", 3, *[1] * 50)})
    begun.publish({"new0": solution("new0", 2, 8)})  # worse than what is there
    begun.finish(tasks[:1])
    begun.finish(tasks[1:], "it broke")
    found = read_course(out)[1]
    first, second = found["new0"].rounds
    assert first["tests"] == [
        [{"grid": "0", "votes": 5, "confidence": 0.25}, {"grid": "1", "votes": 3, "confidence": 0.25}]
    ]
    assert (first["seconds"], first["updates"], first["views"], first["loss"]) == (1.2, 0, 8, None)
    assert len(second["tests"][0]) == SHOWN
    assert found["new1"].rounds[0]["tests"] == [[]]
    assert [one.problem for one in found.values()] == ["", "it broke"]

    with votes.open("a") as file:
        file.write('{"task": "new1", "ti')  # a kill
    resumed = SubmissionInProgress(out, tasks, base, SolveOptions(steps=3), resume=True)
    assert [task.id for task in resumed.left] == ["new1"]
    resumed.publish({"new1": solution("new1", 3, 4)})
    found = read_course(out)[1]
    assert [len(one.rounds) for one in found.values()] == [2, 2]
    assert [one.problem for one in found.values()] == ["", None]  # it is being solved again
    for line in votes.read_text().splitlines():
        json.loads(line)

    anew = SubmissionInProgress(out, tasks, base, SolveOptions(steps=3), resume=False, anew=True)
    anew.finish(tasks, "no answer")
    assert [len(one.rounds) for one in read_course(out)[1].values()] == [
        2,
        2,
    ]  # they stay until there is a new one
    anew.publish({"new1": solution("new1", 3, 4)})
    assert [len(one.rounds) for one in read_course(out)[1].values()] == [0, 1]


def test_shares_are_of_all_votes() -> None:
    """A vit has several votes for each view."""
    found = round_json(replace(solution("a", 3, 60, 20), per_view=10), [Question("a", 0)])
    assert (found["views"], found["cast"]) == (8, 80)


def test_a_damaged_line_is_left_out(tmp_path: Path) -> None:
    about = {"model": "m", "mode": "auto", "budget": 1, "settings": {}, "tasks": {"a": ["0"]}, "contents": {}}
    good = {"task": "a", "time": 1.0, **round_json(solution("a", 3, 60), [Question("a", 0)])}
    lines = (about, good, good | {"tests": 3}, good | {"tests": [[], []]}, good | {"task": []}, {"task": "a"}, 7)
    (tmp_path / "out.votes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_course(tmp_path / "out.json")[1]["a"].lines == [good]


@pytest.mark.parametrize("content", ["", "[]", '{"tasks": 3}', '{"tasks": {"a": []}}\n{"task": "a"}'])
def test_another_file_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "out.votes.jsonl").write_text(content)
    with pytest.raises(CharmError, match="not the votes of a solve"):
        read_course(tmp_path / "out.json")
