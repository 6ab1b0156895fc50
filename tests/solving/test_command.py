"""`charm solve` as a command: what it writes, says and refuses, and how it continues after a kill."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from charm.errors import CharmError
from charm.evaluation.ranking import NO_ANSWER, Candidate
from charm.solving.options import SolveOptions
from charm.solving.solution import Solution
from charm.solving.solver import load_tasks
from charm.solving.submission import SubmissionInProgress
from charm.solving.vote_log import read_course
from charm.tasks.task import Question
from tests import forks
from tests.solving.conftest import ToySolve
from tests.toy.solves import run_solve


def test_what_cannot_be_written_is_told(toy: ToySolve) -> None:
    (toy.folder / "file").touch()
    with pytest.raises(CharmError, match=r"file/run\.json cannot be written"):
        toy.solve(device="cpu", out=toy.folder / "file" / "run.json")
    with pytest.raises(CharmError, match="unseen cannot be written"):
        toy.solve(device="cpu", out=toy.unseen)
    assert not toy.unseen.with_name("unseen.votes.jsonl").exists()


def test_a_wrong_checkpoint_leaves_an_earlier_submission_alone(unseen: Path, tmp_path: Path) -> None:
    out = tmp_path / "submission.json"
    out.write_text("precious")
    with pytest.raises(CharmError, match="neither a saved model nor a run"):
        run_solve((unseen,), checkpoint=tmp_path / "typo", device="cpu", out=out)
    assert out.read_text() == "precious"


def test_a_submission_is_named_after_its_only_task(
    toy: ToySolve, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No matter what else was named; and no share of exact demonstrations is shown where none was learned."""
    monkeypatch.chdir(toy.folder)
    bad = toy.folder / "bad.json"
    bad.write_text("{")
    file = (toy.unseen / "new1.json").rename(toy.folder / "new [b].json")
    with pytest.raises(SystemExit, match="1"):
        run_solve((bad, file), checkpoint=toy.base, steps=0, views=1, device="cpu")
    assert list(json.loads((toy.folder / "new [b].submission.json").read_text())) == ["new [b]"]
    printed = capsys.readouterr()
    assert f"left out: {bad}: invalid JSON" in printed.err
    assert "\n0 updates, 1 view, " in printed.out
    assert "new [b] test 0\nattempt 1" in printed.out
    bad.write_text(json.dumps({"a/\0\n": json.loads(file.read_text())}))
    toy.solve(bad, steps=0, views=1, out=None)
    assert (toy.folder / "a---.submission.json").is_file()


def test_solve_writes_a_whole_submission_from_the_start(
    toy: ToySolve, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A command that is stopped leaves an entry for every task, with the best answers so far."""
    from charm.solving.group import Solver

    real, solved, told = Solver.work, [], []

    def noted(self: Solver, tasks, *rest):  # type: ignore[no-untyped-def]
        told.append(tasks[0].id)
        return real(self, tasks, *rest)

    def stopping(self: Solver, tasks, *rest):  # type: ignore[no-untyped-def]
        if solved:
            raise KeyboardInterrupt
        solved.append(tasks[0].id)
        return real(self, tasks, *rest)

    monkeypatch.setattr(Solver, "work", stopping)
    out = toy.folder / "submission.json"
    with pytest.raises(KeyboardInterrupt):
        toy.solve(out=out)
    assert f"stopped with an answer to 1 of 4 tasks; --resume continues {out}" in capsys.readouterr().err
    submission = json.loads(out.read_text())
    assert sorted(submission) == ["new0", "new1", "new2", "new3"]
    unsolved = {"attempt_1": NO_ANSWER, "attempt_2": NO_ANSWER}
    assert [name for name, entries in submission.items() if entries != [unsolved]] == solved == ["new0"]
    # Resumed, it solves the others alone, and the whole is what one command would have made of it.
    told.clear()
    monkeypatch.setattr(Solver, "work", noted)
    toy.solve(out=out, resume=True)
    assert told == ["new1", "new2", "new3"]
    resumed = json.loads(out.read_text())
    left = sorted(path.name for path in toy.folder.glob("submission*"))
    assert left == ["submission.json", "submission.votes.jsonl"]
    toy.solve(out=toy.folder / "whole.json")
    assert resumed == json.loads((toy.folder / "whole.json").read_text())
    # Nothing is left to do; a task that comes later is solved, too.
    told.clear()
    toy.solve(out=out, resume=True)
    (toy.unseen / "new0.json").rename(toy.unseen / "new9.json")
    toy.solve(out=out, resume=True)
    assert told == ["new9"]
    assert json.loads(out.read_text())["new1"] == resumed["new1"]


def test_resuming_keeps_better_answers_and_refuses_other_settings(toy: ToySolve) -> None:
    """A task that was in progress when the command was killed starts again, and its answers only get better."""
    tasks = load_tasks([toy.unseen / "new0.json"])[0]
    out, options = toy.out, SolveOptions(steps=3)

    def answer(updates: int, views: int, color: int) -> Solution:
        candidate = Candidate(np.full((1, 1), color, np.uint8), 0, 1, 1.0, 1.0)
        return Solution({Question("new0", 0): [candidate]}, updates, views, 0.0, 0.0, 0.0)

    def on_disk() -> int:
        return int(json.loads(out.read_text())["new0"][0]["attempt_1"][0][0])

    killed = SubmissionInProgress(out, tasks, toy.base, options, resume=True)  # nothing is there yet
    assert on_disk() == 0
    for update, views, color in ((0, 8, 1), (3, 8, 2), (3, 16, 3)):
        killed.publish({"new0": answer(update, views, color)})
        assert on_disk() == color
    resumed = SubmissionInProgress(out, tasks, toy.base, replace(options, budget=5.0), resume=True)
    assert resumed.left == tasks
    for update, views, color in ((0, 8, 4), (3, 8, 5), (3, 16, 6), (3, 32, 7)):
        resumed.publish({"new0": answer(update, views, color)})
        assert on_disk() == (7 if views == 32 else 3)
    with pytest.raises(CharmError, match=r"other settings \(--steps 3, now 4\)"):
        SubmissionInProgress(out, tasks, toy.base, replace(options, steps=4), resume=True)
    for damage in ("", "[]", "{", "[" * 100_000):  # with a damaged log, the answer on disk stays
        out.with_name("out.votes.jsonl").write_text(damage)
        unknown = SubmissionInProgress(out, tasks, toy.base, options, resume=True)
        assert (unknown.unknown_settings, unknown.left, on_disk()) == (True, [], 7)


def test_two_solves_cannot_write_the_same_submission(toy: ToySolve) -> None:
    """The second is refused and harms nothing; the lock of a killed one blocks no one."""
    out = toy.folder / "new" / "out.json"
    program = ("-m", "charm", "solve", toy.unseen, "--checkpoint", toy.base, "--out", out)
    first = forks.Program(*program, "--device", "cpu", "--budget", "1h", "--steps", "1000000")
    try:
        while not out.is_file():
            assert first.poll() is None, "it ended before the second could start"
            time.sleep(0.01)
        files = {path.name for path in out.parent.iterdir() if path.suffix != ".tmp"}
        with pytest.raises(CharmError, match=r"out\.json is in use by another charm solve"):
            toy.solve(toy.unseen / "new0.json", out=out)
        with pytest.raises(CharmError, match=r"must end in \.json, got \S+out\.txt"):  # which has the same log
            toy.solve(toy.unseen / "new0.json", out=out.with_suffix(".txt"))
        assert {path.name for path in out.parent.iterdir() if path.suffix != ".tmp"} == files
        assert len(json.loads(out.read_text())) == 4
        assert first.poll() is None
        toy.solve(toy.unseen / "new0.json", out=out.with_name("other.json"))
    finally:
        first.kill()
    toy.solve(toy.unseen / "new0.json", out=out, replace=True)
    assert {path.name for path in out.parent.iterdir()} == {
        *("out.json", "out.votes.jsonl", "other.json", "other.votes.jsonl"),
    }
    assert list(json.loads(out.read_text())) == ["new0"]


@pytest.mark.parametrize("finished", [True, False])
@pytest.mark.parametrize("part", ["train", "test"])
def test_a_task_that_has_changed_is_solved_again(toy: ToySolve, part: str, finished: bool) -> None:
    """Under the same id and with as many test inputs; of the others nothing changes."""
    tasks, out = load_tasks([toy.unseen])[0], toy.out
    begun = SubmissionInProgress(out, tasks, toy.base, SolveOptions(seed=3), resume=False)
    candidate = Candidate(np.full((1, 1), 5, np.uint8), 0, 1, 1.0, 1.0)
    for task in tasks if finished else tasks[:3]:
        begun.publish({task.id: Solution({Question(task.id, 0): [candidate]}, 9, 9, 0.0, 0.0, 0.0)})
        begun.finish([task])
    content = json.loads((toy.unseen / "new1.json").read_text())
    content[part][0]["input"][0][0] = (content[part][0]["input"][0][0] + 1) % 10
    content["test"][0]["output"] = [[1]]  # which no answer depends on
    (toy.unseen / "new1.json").write_text(json.dumps(content))
    changed = load_tasks([toy.unseen])[0]
    resumed = SubmissionInProgress(out, changed, toy.base, SolveOptions(seed=3), resume=True)
    assert [task.id for task in resumed.left] == (["new1"] if finished else ["new1", "new3"])
    assert resumed.changed == ["new1"]
    answered = {name: entry[0]["attempt_1"] == [[5]] for name, entry in json.loads(out.read_text()).items()}
    assert answered == {"new0": True, "new1": False, "new2": True, "new3": finished}
    rounds = {name: len(course.rounds) for name, course in read_course(out)[1].items()}
    assert rounds == {"new0": 1, "new1": 0, "new2": 1, "new3": int(finished)}
    # Killed and resumed once more, it is still not finished.
    again = SubmissionInProgress(out, changed, toy.base, SolveOptions(seed=3), resume=True)
    assert again.left == resumed.left


def test_the_command_names_a_task_that_has_changed(toy: ToySolve, capsys: pytest.CaptureFixture[str]) -> None:
    toy.solve()
    (toy.unseen / "new2.json").write_text((toy.unseen / "new1.json").read_text())
    capsys.readouterr()
    toy.solve(resume=True)
    said = capsys.readouterr()
    assert "changed since the last solve, so solved again: new2\n3 of 4 tasks are finished" in said.err
    assert said.out.startswith("new2 test 0\n")
    assert "\n2 updates" in said.out
    toy.solve(resume=True)
    assert "4 of 4 tasks are finished" in capsys.readouterr().err


def test_an_entry_that_does_not_fit_its_task_is_not_resumed(toy: ToySolve) -> None:
    tasks = load_tasks([toy.unseen])[0]
    out, unanswered = toy.out, [{"attempt_1": [[5]], "attempt_2": [[5]]}]
    out.write_text(json.dumps({"new0": unanswered, "new1": "text", "new2": unanswered * 2, "new3": [{}]}))
    resumed = SubmissionInProgress(out, tasks, toy.base, SolveOptions(), resume=True)
    assert [task.id for task in resumed.left] == ["new1", "new2", "new3"]
    assert json.loads(out.read_text())["new0"] == unanswered
    out.with_name("out.votes.jsonl").unlink()
    for wrong in ("x", 3, [[10]], [[1], [1, 2]], []):
        out.write_text(json.dumps({"new0": unanswered, "new1": [{"attempt_1": [[5]], "attempt_2": wrong}]}))
        resumed = SubmissionInProgress(out, tasks[:2], toy.base, SolveOptions(), resume=True)
        assert resumed.left == tasks[1:2]
        out.with_name("out.votes.jsonl").unlink()


def test_a_malformed_task_of_a_competition_has_an_empty_entry(
    toy: ToySolve, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = {name: json.loads((toy.unseen / f"{name}.json").read_text()) for name in ("new0", "new1", "new2")}
    tasks["new1"]["test"] *= 2
    tasks["new1"]["train"] = []
    tasks["new2"] = None
    challenges, out = toy.folder / "challenges.json", toy.out
    challenges.write_text(json.dumps(tasks))
    with pytest.raises(SystemExit, match="1"):
        toy.solve(challenges)
    said = capsys.readouterr().err
    assert "left out: " in said
    assert said.splitlines()[-1] == "charm: 2 of the files and tasks could not be used and have no answer"
    empty = {"attempt_1": NO_ANSWER, "attempt_2": NO_ANSWER}
    found = json.loads(out.read_text())
    assert found.pop("new0") != [empty]
    assert found == {"new1": [empty, empty], "new2": [empty]}


def test_task_files_are_not_overwritten(toy: ToySolve) -> None:
    """Nor are solutions, scores, other JSON and what is no JSON; an empty file may be."""
    file, solutions = toy.unseen / "new0.json", toy.unseen / "solutions.json"
    solutions.write_text(json.dumps({"new0": [[[1]]]}))
    notes = toy.unseen.with_name("notes.json")
    notes.write_text("years of work")
    for other in (file, solutions, notes):
        before = other.read_text()
        with pytest.raises(CharmError, match=rf"{other.name} exists and is not a submission; choose another"):
            toy.solve(out=other)
        assert other.read_text() == before
    for text in ("", "{}"):
        solutions.write_text(text)
        SubmissionInProgress(solutions, load_tasks([file])[0], toy.base, SolveOptions(), resume=False)


@pytest.mark.parametrize("wrong", [{"choose": -1}, {"largest": -1}, {"dollars": -1.0}, {"dollars": float("nan")}])
def test_numbers_that_make_no_sense_are_refused(toy: ToySolve, wrong: dict[str, Any]) -> None:
    with pytest.raises(CharmError, match=f"{next(iter(wrong))} must be >= 0, got"):
        toy.solve(out=toy.unseen / "out.json", **wrong)


def test_a_resumed_task_has_the_seconds_of_a_task(
    toy: ToySolve, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from charm.solving import solver as solving

    monkeypatch.setattr(solving, "solve", lambda *rest, clock: {})
    out = toy.out
    out.write_text(json.dumps({f"new{i}": [{"attempt_1": [[5]], "attempt_2": [[5]]}] for i in range(3)}))
    toy.solve(resume=True, budget="7s/task")
    assert "1 task on cpu: about 7 s\n" in capsys.readouterr().err


def test_a_task_that_fails_is_named_in_the_end(
    toy: ToySolve, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command fails then, after the others were solved; resumed, it tries that task alone."""
    from charm.solving.group import Solver

    real, told = Solver.work, []

    def failing(self: Solver, tasks, *rest):  # type: ignore[no-untyped-def]
        told.append(tasks[0].id)
        if tasks[0].id == "new1" and len(told) < 5:
            raise CharmError("a bad day")
        return real(self, tasks, *rest)

    monkeypatch.setattr(Solver, "work", failing)
    out = toy.folder / "submission.json"
    with pytest.raises(SystemExit) as ended:
        toy.solve(out=out)
    assert ended.value.code == 1
    assert told == ["new0", "new1", "new2", "new3"]
    said = capsys.readouterr().err
    assert "charm: task new1 failed (a bad day); it has no answer" in said
    assert "1 of 4 tasks failed" in said
    unsolved = [{"attempt_1": NO_ANSWER, "attempt_2": NO_ANSWER}]
    found = json.loads(out.read_text())
    assert [name for name, entries in found.items() if entries == unsolved] == ["new1"]
    toy.solve(out=out, resume=True)
    assert told[4:] == ["new1"]
    assert unsolved not in json.loads(out.read_text()).values()


def test_a_task_without_an_answer_is_not_finished(toy: ToySolve) -> None:
    """The time may end before a large group has voted once."""
    tasks, out = load_tasks([toy.unseen])[0], toy.out
    begun = SubmissionInProgress(out, tasks, toy.base, SolveOptions(), resume=False)
    candidate = Candidate(np.full((1, 1), 5, np.uint8), 0, 1, 1.0, 1.0)
    begun.publish({"new1": Solution({Question("new1", 0): [candidate]}, 0, 1, 0.0, 0.0, 0.0)})
    begun.finish(tasks)
    assert list(begun.problems) == ["new0", "new2", "new3"]
    assert "no time for an answer" in begun.problems["new0"]
    problems = {name: course.problem for name, course in read_course(out)[1].items()}
    assert problems == {"new1": "", **begun.problems}
    resumed = SubmissionInProgress(out, tasks, toy.base, SolveOptions(), resume=True)
    assert [task.id for task in resumed.left] == ["new0", "new2", "new3"]
