"""Resuming a submission: with the same model and settings only, and nothing in it is lost."""

import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from charm.errors import CharmError
from charm.evaluation.ranking import NO_ANSWER, Candidate, Submission
from charm.paths import released_model
from charm.solving.options import SolveOptions, WriterRecipe
from charm.solving.scores import measured, scores_table
from charm.solving.solution import Solution
from charm.solving.solver import load_tasks
from charm.solving.submission import SubmissionInProgress
from charm.solving.vote_log import read_course
from charm.tasks.keys import MemoryConfig
from charm.tasks.sources import find_task, load_source
from charm.tasks.task import Pair, Question, Task
from tests.toy.runs import toy_run
from tests.toy.solves import ToySolve

OPTIONS = SolveOptions(steps=3)
EMPTY = [{"attempt_1": NO_ANSWER, "attempt_2": NO_ANSWER}]


def answer(begun: SubmissionInProgress, tasks: list[Task], color: int) -> None:
    """Answer and finish tasks: a cell of this colour each."""
    candidate = Candidate(np.full((1, 1), color, np.uint8), 0, 1, 1.0, 1.0)
    for task in tasks:
        begun.publish({task.id: Solution({Question(task.id, 0): [candidate]}, 9, 9, 0.0, 0.0, 0.0)})
        begun.finish([task])


def colors(submission: Submission) -> dict[str, int]:
    return {name: entry[0]["attempt_1"][0][0] for name, entry in sorted(submission.items())}


@pytest.mark.parametrize("finished", [True, False])
def test_a_submission_is_resumed_with_its_own_settings_only(toy: ToySolve, finished: bool) -> None:
    """Whether or not all its tasks are finished, and the sentence says what differs."""
    tasks, out = load_tasks([toy.unseen])[0], toy.out
    begun = SubmissionInProgress(out, tasks, toy.base, OPTIONS, resume=False)
    answer(begun, tasks if finished else tasks[:2], 5)
    before = {path.name: path.read_bytes() for path in toy.folder.iterdir() if path.is_file()}
    other = toy_run(toy.folder / "other", MemoryConfig(rank=4))
    other = other.rename(toy.folder / "other" / "small")
    longer = toy.folder / "longer" / toy.base.name
    longer.parent.mkdir()
    longer.symlink_to(other)
    for model, options, difference in (
        (toy.base, replace(OPTIONS, steps=4), "--steps 3, now 4"),
        (toy.base, replace(OPTIONS, steps=None), "--steps 3, now the default"),
        (toy.base, replace(OPTIONS, mode="full", seed=1), "--mode auto, now full; --seed 0, now 1"),
        (toy.base, replace(OPTIONS, writer=WriterRecipe(task_lr=0.5)), "--writer.task-lr 0.01, now 0.5"),
        (other, OPTIONS, f"model {toy.base.name}, now small"),
        (longer, OPTIONS, f"other weights of the model {toy.base.name}"),
    ):
        with pytest.raises(CharmError) as refused:
            SubmissionInProgress(out, tasks, model, options, resume=True)
        assert str(refused.value) == (
            f"{out} was solved with other settings ({difference}); use the earlier ones to resume it, "
            "choose another --out, or use --replace to start over"
        )
    assert {path.name: path.read_bytes() for path in toy.folder.iterdir() if path.is_file()} == before
    # The budget may change, and the model may have moved.
    moved = SubmissionInProgress(out, tasks, toy.base, replace(OPTIONS, budget=5.0), resume=True)
    assert moved.left == ([] if finished else tasks[2:])


def test_the_command_refuses_other_settings(toy: ToySolve) -> None:
    out = toy.out
    toy.solve()
    before = out.read_bytes()
    with pytest.raises(CharmError, match=r"other settings \(--mode auto, now full\)"):
        toy.solve(resume=True, mode="full")
    assert out.read_bytes() == before
    toy.solve(resume=True, budget="1s")


@pytest.mark.parametrize("finished", [True, False])
def test_tasks_that_are_not_named_again_stay(toy: ToySolve, finished: bool) -> None:
    """Their answers, their rounds of votes, and that some are still to be solved."""
    tasks, out = load_tasks([toy.unseen])[0], toy.out
    begun = SubmissionInProgress(out, tasks[1:] if finished else tasks, toy.base, OPTIONS, resume=False)
    answer(begun, tasks[1:] if finished else tasks[2:], 5)

    some = SubmissionInProgress(out, tasks[:1], toy.base, OPTIONS, resume=True)
    assert some.left == tasks[:1]
    assert some.others == 3
    kept = {"new0": 0, "new1": 5 if finished else 0, "new2": 5, "new3": 5}
    assert colors(json.loads(out.read_text())) == kept
    answer(some, tasks[:1], 7)
    assert colors(json.loads(out.read_text())) == kept | {"new0": 7}
    rounds = {name: len(course.rounds) for name, course in read_course(out)[1].items()}
    assert rounds == {"new0": 1, "new1": int(finished), "new2": 1, "new3": 1}

    everything = SubmissionInProgress(out, tasks, toy.base, OPTIONS, resume=True)
    assert everything.left == ([] if finished else tasks[1:2])
    assert everything.others == 0
    assert colors(everything.submission) == kept | {"new0": 7}
    assert everything.changed == []


def test_the_command_keeps_other_tasks(toy: ToySolve, capsys: pytest.CaptureFixture[str]) -> None:
    out = toy.out
    toy.solve()
    before = json.loads(out.read_text())
    new = (toy.unseen / "new0.json").rename(toy.unseen / "new9.json")
    capsys.readouterr()
    toy.solve(new, resume=True, json=True)
    said = capsys.readouterr()
    assert f"{out} keeps the answers of 4 tasks that were not named now" in said.err
    found = json.loads(out.read_text())
    assert found == json.loads(said.out) == before | {"new9": found["new9"]}


def test_nothing_is_not_better_than_an_answer_on_disk(toy: ToySolve) -> None:
    """A solve that is resumed may find no answer to a test input that the killed one had answered."""
    task, out = load_tasks([toy.unseen / "new0.json"])[0][0], toy.out
    task = replace(task, test=task.test * 3)

    def answers(updates: int, *found: int | None) -> dict[str, Solution]:
        candidates = {
            Question("new0", number): []
            if color is None
            else [Candidate(np.full((1, 1), color, np.uint8), 0, 1, 1.0, 1.0)]
            for number, color in enumerate(found)
        }
        return {"new0": Solution(candidates, updates, 8, 0.0, 0.0, 0.0)}

    def on_disk() -> list[int]:
        return [entry["attempt_1"][0][0] for entry in json.loads(out.read_text())["new0"]]

    SubmissionInProgress(out, [task], toy.base, OPTIONS, resume=False).publish(answers(1, 5, 6, None))
    assert on_disk() == [5, 6, 0]
    resumed = SubmissionInProgress(out, [task], toy.base, OPTIONS, resume=True)
    resumed.publish(answers(2, 7, None, 8))
    assert on_disk() == [7, 6, 8]


def test_a_task_that_was_malformed_is_solved_when_it_is_repaired(toy: ToySolve) -> None:
    """Its empty entry is not an answer. One that becomes malformed keeps its answer."""
    names = [path.stem for path in sorted(toy.unseen.glob("*.json"))]
    good = {name: json.loads((toy.unseen / f"{name}.json").read_text()) for name in names}
    file, out = toy.folder / "challenges.json", toy.out
    file.write_text(json.dumps(good | {"new1": {"train": [], "test": [1]}}))
    with pytest.raises(SystemExit, match="1"):  # a task could not be used
        toy.solve(file)
    first = json.loads(out.read_text())
    assert first["new1"] == EMPTY
    file.write_text(json.dumps(good | {"new2": {"train": [], "test": [1]}, "new4": None}))
    with pytest.raises(SystemExit, match="1"):  # a task could not be used
        toy.solve(file, resume=True)
    second = json.loads(out.read_text())
    assert second.pop("new1") != EMPTY
    assert second == {name: first[name] for name in ("new0", "new2", "new3")} | {"new4": EMPTY}
    # Also if there is nothing else to do.
    file.write_text(json.dumps(good | {"new5": None}))
    with pytest.raises(SystemExit, match="1"):  # a task could not be used
        toy.solve(file, resume=True)
    assert json.loads(out.read_text())["new5"] == EMPTY


def test_answers_without_a_record_are_kept_with_a_word(toy: ToySolve, capsys: pytest.CaptureFixture[str]) -> None:
    out = toy.out
    out.write_text(json.dumps({f"new{i}": [{"attempt_1": [[5]], "attempt_2": [[5]]}] for i in range(3)}))
    for said in (True, False):  # the rest is solved, and from then on the settings are known
        toy.solve(resume=True)
        unknown = f"it is not known which model and settings made the earlier answers in {out}"
        assert (unknown in capsys.readouterr().err) == said
    assert {name: color for name, color in colors(json.loads(out.read_text())).items() if name != "new3"} == {
        "new0": 5,
        "new1": 5,
        "new2": 5,
    }


def test_the_lock_of_another_user_is_named(toy: ToySolve, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where permissions do not bind the user of the tests."""
    out, lock, opened = toy.out, toy.folder / ".out.lock", os.open

    def refusing(path: Any, *rest: Any, **named: Any) -> int:
        if path == lock:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *rest, **named)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(CharmError, match=rf"^{out} cannot be written \(Permission denied\)$"):  # the folder
        toy.solve()
    lock.write_text("")
    monkeypatch.setattr(Path, "owner", lambda path: "someone")
    with pytest.raises(CharmError) as refused:
        toy.solve()
    assert str(refused.value) == (
        f"the lock file {lock} belongs to someone and cannot be opened (Permission denied); choose another --out, "
        "or delete the lock file if no one is using it"
    )
    assert not out.exists()


def fill_disk(patch: pytest.MonkeyPatch) -> None:
    """Let every write fail."""
    opened = Path.open

    def full(*rest: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def refusing(path: Path, mode: str = "r", *rest: Any, **named: Any) -> Any:
        return full() if mode == "a" else opened(path, mode, *rest, **named)

    patch.setattr(os, "fsync", full)
    patch.setattr(Path, "open", refusing)


def test_a_full_disk_does_not_end_a_solve(
    toy: ToySolve, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What could not be written is written with the next answers; the files on disk stay whole."""
    tasks, out = load_tasks([toy.unseen])[0], toy.out
    begun = SubmissionInProgress(out, tasks, toy.base, OPTIONS, resume=False)
    answer(begun, tasks[:1], 5)
    with monkeypatch.context() as patch:
        fill_disk(patch)
        answer(begun, tasks[1:3], 6)
        assert colors(json.loads(out.read_text())) == {"new0": 5, "new1": 0, "new2": 0, "new3": 0}
        with pytest.raises(CharmError, match=r"out\.json cannot be written \(No space left on device\)"):
            begun.close()
    said = f"{out} cannot be written (No space left on device); the solve continues and tries again"
    assert capsys.readouterr().err.splitlines() == [said]
    copy = Path(shutil.copytree(toy.folder, toy.folder / "killed")) / "out.json"
    assert SubmissionInProgress(copy, tasks, toy.base, OPTIONS, resume=True).left == tasks[1:]
    answer(begun, tasks[3:], 7)
    begun.close()
    assert colors(json.loads(out.read_text())) == {"new0": 5, "new1": 6, "new2": 6, "new3": 7}
    assert [len(course.rounds) for course in read_course(out)[1].values()] == [1, 1, 1, 1]


def test_the_command_fails_if_answers_are_not_on_disk_in_the_end(
    toy: ToySolve, monkeypatch: pytest.MonkeyPatch
) -> None:
    from charm.solving import solver as solving

    real = solving.solve

    def filling(*rest: Any, **named: Any) -> dict[str, Solution]:
        fill_disk(monkeypatch)
        return real(*rest, **named)

    monkeypatch.setattr(solving, "solve", filling)
    out = toy.out
    with pytest.raises(CharmError, match=r"^\S+out\.json cannot be written \(No space left on device\)$"):
        toy.solve()
    assert json.loads(out.read_text()) == {f"new{number}": EMPTY for number in range(4)}


def test_a_malformed_task_in_a_folder_has_an_empty_entry(toy: ToySolve) -> None:
    """If its file has several tasks, as a competition's."""
    task = json.loads((toy.unseen / "new0.json").read_text())
    some = {"good": task, "bad": {"train": [], "test": [1, 2]}}
    (toy.unseen / "some_challenges.json").write_text(json.dumps(some))
    (toy.unseen / "some_solutions.json").write_text(json.dumps({name: [[[1]]] for name in some}))
    with pytest.raises(SystemExit, match="1"):
        toy.solve()
    found = json.loads(toy.out.read_text())
    assert sorted(found) == ["bad", "good", "new0", "new1", "new2", "new3"]
    assert found["bad"] == EMPTY * 2


def stop_after(answers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a solve publish this number of answers, then press Ctrl-C."""
    from charm.solving.group import Solver

    def work(self: Solver, tasks: Any, clock: Any, say: Any, publish: Any) -> None:
        for updates in range(answers):
            candidate = Candidate(np.full((1, 1), 3, np.uint8), 0, 1, 1.0, 1.0)
            publish({tasks[0].id: Solution({Question(tasks[0].id, 0): [candidate]}, updates, 1, 0.0, 1.0, 0.0)})
        raise KeyboardInterrupt

    monkeypatch.setattr(Solver, "work", work)


def test_a_second_solve_does_not_destroy_an_answer(
    toy: ToySolve, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is refused, unless it must replace the answer; then the old one stays until there is a new one."""
    out, file = toy.out, toy.unseen / "new0.json"
    toy.solve(file)
    written = {path.name: path.read_bytes() for path in toy.folder.glob("out*")}
    assert sorted(path.name for path in toy.folder.iterdir() if path.is_file()) == sorted(written)  # no lock
    for first in (file, toy.unseen):
        with pytest.raises(CharmError, match="has the answers of an earlier solve; --resume continues it, --replace"):
            toy.solve(first)
    with pytest.raises(CharmError, match="give only one of them"):
        toy.solve(file, resume=True, replace=True)
    stop_after(0, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        toy.solve(file, replace=True)
    said = f"stopped without an answer; the answers of the earlier solve are still in {out}"
    assert said in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in toy.folder.glob("out*")} == written
    stop_after(1, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        toy.solve(file, replace=True)
    printed = capsys.readouterr()
    assert "new0 test 0\nattempt 1: 1 of 1 votes" in printed.out
    assert f"stopped with an answer to 1 of 1 tasks; --resume continues {out}" in printed.err
    assert colors(json.loads(out.read_text())) == {"new0": 3}


def test_a_submission_has_a_name_of_its_own(toy: ToySolve) -> None:
    """The files next to it are named after it: those of sub.txt would be those of sub.json."""
    with pytest.raises(CharmError, match=r"the name of a submission must end in \.json, got .*sub\.txt"):
        toy.solve(out=toy.folder / "sub.txt")
    assert not list(toy.folder.glob("*sub*"))


def test_a_second_solve_that_fails_keeps_the_answers_of_the_first(toy: ToySolve) -> None:
    tasks, out = load_tasks([toy.unseen])[0], toy.out
    answer(SubmissionInProgress(out, tasks, toy.base, OPTIONS, resume=False), tasks, 5)
    written = {path.name: path.read_bytes() for path in toy.folder.glob("out*")}
    anew = SubmissionInProgress(out, tasks, toy.base, OPTIONS, resume=False, anew=True)
    anew.finish(tasks[:1], "it broke")
    anew.finish(tasks[1:], "it broke, too")
    anew.close()
    assert {path.name: path.read_bytes() for path in toy.folder.glob("out*")} == written


def test_a_solve_that_was_stopped_without_an_answer_may_start_anew(
    toy: ToySolve, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out, file = toy.out, toy.unseen / "new0.json"
    stop_after(0, monkeypatch)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            toy.solve(file)
        assert f"stopped without an answer; --resume continues {out}" in capsys.readouterr().err
    assert json.loads(out.read_text()) == {"new0": EMPTY}


def test_a_lost_log_does_not_finish_tasks_without_an_answer(toy: ToySolve) -> None:
    tasks, out = load_tasks([toy.unseen])[0], toy.out
    answer(SubmissionInProgress(out, tasks, toy.base, OPTIONS, resume=False), tasks[:1], 5)
    out.with_name("out.votes.jsonl").unlink()
    for _ in range(2):  # killed once more
        resumed = SubmissionInProgress(out, tasks, toy.base, OPTIONS, resume=True)
        assert resumed.left == tasks[1:]
    answer(resumed, tasks[1:], 6)
    assert SubmissionInProgress(out, tasks, toy.base, OPTIONS, resume=True).left == []
    assert colors(json.loads(out.read_text())) == {"new0": 5, "new1": 6, "new2": 6, "new3": 6}


def test_a_black_cell_is_an_answer(base: Path, tmp_path: Path) -> None:
    """239be575 has it as its answer, which a resumed solve must score as right."""
    task, out = find_task("239be575"), tmp_path / "out.json"
    task = replace(task, test=task.test[1:])
    answer(SubmissionInProgress(out, [task], base, OPTIONS, resume=False), [task], 0)
    resumed = SubmissionInProgress(out, [task], base, OPTIONS, resume=True)
    assert resumed.left == []
    found = measured([task], {}, resumed.answers, base, OPTIONS, ["cpu"], (1.0, 0.5), None)
    assert found["metrics"]["pass@1"] == 1.0


def test_an_answer_equal_to_the_empty_entry_is_an_answer(toy: ToySolve) -> None:
    """The log says which test inputs have one: it is scored, and not replaced unasked."""
    task, out = load_tasks([toy.unseen / "new0.json"])[0][0], toy.out
    grid = np.array(NO_ANSWER, np.uint8)
    task = replace(task, test=(Pair(task.test[0].input, grid),) * 2)
    begun = SubmissionInProgress(out, [task], toy.base, OPTIONS, resume=False)
    asked = [Question(task.id, 0), Question(task.id, 1)]
    answers = {asked[0]: [Candidate(grid, 0, 1, 1.0, 1.0)], asked[1]: []}
    begun.publish({task.id: Solution(answers, 9, 9, 0.0, 0.0, 0.0)})
    begun.finish([task])
    assert json.loads(out.read_text()) == {task.id: EMPTY * 2}
    with pytest.raises(CharmError, match="has the answers of an earlier solve"):
        SubmissionInProgress(out, [task], toy.base, OPTIONS, resume=False)
    resumed = SubmissionInProgress(out, [task], toy.base, OPTIONS, resume=True)
    assert begun.answers == resumed.answers == {asked[0]: [NO_ANSWER] * 2}
    found = measured([task], {}, resumed.answers, toy.base, OPTIONS, ["cpu"], (1.0, 0.5), None)
    assert found["metrics"]["pass@2/outputs"] == 0.5  # the other test input was not answered


@pytest.mark.parametrize(("source", "count"), [("arc1/training", 398), ("arc1/evaluation", 0)])
def test_scores_say_that_the_model_was_trained_on_these_tasks(source: str, count: int) -> None:
    tasks = load_source(source).tasks
    found = measured(tasks, {}, {}, released_model(), OPTIONS, ["cpu"], (1.0, 0.5), None)
    assert found["trained_on"] == count
    told = f"the model was trained on {count} tasks of these, at least on the demonstrations"
    assert (told in scores_table(found).caption) == (count > 0)
