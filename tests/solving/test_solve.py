import gc
import json
import math
import os
import signal
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch

from charm.commands import solve as solve_command
from charm.commands.solve import _tell_problems
from charm.config import to_json
from charm.continual.drift import changed_values, snapshot
from charm.errors import CharmError
from charm.evaluation.predict import Request
from charm.evaluation.ranking import Candidate, Submission, attempts
from charm.files import write_sealed
from charm.models.canvas.backbone import Reasoner
from charm.models.canvas.training import Canvases, Slots
from charm.models.model import CALIBRATION, CharmModel, weights_sha256
from charm.models.network import AskedBatch
from charm.runs.checkpoint import newest_checkpoint
from charm.solving import group as module
from charm.solving import solver as solving
from charm.solving.group import Solver, next_views, voting_seconds
from charm.solving.options import Mode, SolveOptions, WriterRecipe
from charm.solving.solution import Clock, Publish, Say, Solution, improved
from charm.solving.solver import _work, load_tasks, sets_of, solve, solve_devices, sources_of
from charm.solving.starts import VOTE_SHARE, NewRows, fitting_batch
from charm.solving.vote_log import round_json
from charm.tasks.dataset import Dataset
from charm.tasks.keys import MemoryConfig
from charm.tasks.sources import load_source
from charm.tasks.task import Question, Task
from charm.training.adaptation import Adaptation, private_rows
from charm.training.graphs import UpdateGraphs
from tests.toy import write_toy_tasks
from tests.toy.runs import HERE, toy_run
from tests.toy.solves import COUNTED, run_solve

OPTIONS = SolveOptions(budget=60.0, steps=3, views=12, batch=8)


def one(unseen: Path) -> Task:
    return load_tasks([unseen / "new0.json"])[0][0]


def start_of(solver: Solver) -> NewRows:
    assert isinstance(solver.start, NewRows)
    return solver.start


def solved(
    solver: Solver,
    task: Task,
    clock: Clock | None = None,
    say: Say = lambda used, text: None,
    published: list[Solution] | None = None,
) -> Solution:
    """The last answer to a task; all of them go to `published`."""
    found: list[Solution] = [] if published is None else published
    solver.work([task], clock or Clock(600.0), say, lambda answers: found.extend(answers.values()))
    return found[-1]


def answers(base: Path, paths: list[Path], options: SolveOptions = OPTIONS) -> Submission:
    submission: Submission = {}
    for solution in solve(load_tasks(paths)[0], base, options, ["cpu"]).values():
        submission |= attempts(solution.answers)
    return submission


@pytest.mark.parametrize(
    "memory",
    [
        MemoryConfig(rank=8, gate=True),
        MemoryConfig(rank=0, task_width=4),
        MemoryConfig(design="table", rank=8),
    ],
)
def test_only_the_new_rows_move(tmp_path: Path, unseen: Path, memory: MemoryConfig) -> None:
    """Every other weight, buffer and earlier row is bitwise what it was; the new rows are not."""
    solver = Solver(toy_run(tmp_path, memory), OPTIONS, HERE)
    task = one(unseen)
    start_of(solver).prepare([task])
    before = snapshot(solver.model)
    adaptation = start_of(solver).adaptation(OPTIONS.batch)
    for _ in range(OPTIONS.steps):
        adaptation.update()
    own = private_rows(solver.model, (task.id,))
    assert changed_values(solver.model, before, own) == {}
    expected = {"memory.base.rows.weight"} if memory.design == "cose" else set()
    expected |= {"memory.residual.rows.weight"} if memory.rank else set()
    assert set(changed_values(solver.model, before, {})) == expected


def test_mode_full_moves_everything_and_puts_it_back(tmp_path: Path, unseen: Path) -> None:
    """The next task starts from the trained weights."""
    solver = Solver(toy_run(tmp_path, MemoryConfig(rank=8)), replace(OPTIONS, mode="full"), HERE)
    base = {name: tensor.clone() for name, tensor in start_of(solver).base.items()}
    solved(solver, one(unseen))
    assert all(not torch.equal(start_of(solver).shared[name], base[name]) for name in base)
    start_of(solver).prepare([one(unseen)])
    assert all(torch.equal(start_of(solver).shared[name], base[name]) for name in base)


@pytest.mark.parametrize(
    ("updates", "exact", "reported"),
    [(0, math.nan, "no update was made"), (30, 0.06, "only 6% exact"), (30, 0.5, ""), (30, math.nan, "")],
)
def test_an_answer_without_learning_is_doubted(updates: int, exact: float, reported: str) -> None:
    doubt = Solution({}, updates, 8, 1.0, exact, 60.0).doubt
    assert bool(doubt) == bool(reported)
    assert reported in doubt


@pytest.mark.parametrize(
    ("votes", "reported"),
    [
        ((30, 30, 8), "a tie, 2 answers have 30 of 128 votes each"),
        ((20, 30), "attempt 1 has 20 of 128 votes and another answer 30"),  # ranked by votes x likelihood
        ((63, 1), "attempt 1 has only 63 of 128 votes"),
        ((64, 60), ""),
        ((128,), ""),
        ((), ""),
    ],
)
def test_views_that_disagree_are_named(
    votes: tuple[int, ...], reported: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the sentence of the solution, in a notebook, in the log that pages read, and by the command."""
    asked = Question("crop", 0)
    grids = [Candidate(np.full((1, 1), n, np.uint8), n, count, count, 0.26) for n, count in enumerate(votes)]
    solution = Solution({asked: grids}, 30, 128, 0.1, 0.98, 60.0)
    doubt = f"the views disagree (crop test 0: {reported})" if reported else ""
    assert solution.doubt == doubt
    assert doubt in solution._repr_html_()
    assert round_json(solution, [asked])["doubt"] == doubt
    for one in grids:  # no probability without a record
        for sure in ("likelihood", "halting"):
            assert replace(solution, sure=sure).votes_text(one) == f"{one.votes} of 128 votes"
    solve_command._draw({"crop": solution}, tmp_path)
    printed = " ".join(capsys.readouterr().out.split())
    assert doubt in printed
    assert ("likelihood 0.26" in printed) == bool(votes)
    solve_command._draw({"crop": solution, "other": solution}, tmp_path)
    assert ("2 of 2 tasks: the views disagree" in capsys.readouterr().out) == bool(reported)


@pytest.mark.parametrize(
    ("votes", "exact", "said"),
    [
        ((100, 20, 5), 1.0, (("very likely", "45 of 50"), ("very unlikely", "1 of 60"))),
        ((30, 30, 8), 1.0, (("unlikely", "3 of 20"), ("very unlikely", "1 of 60"))),
        ((128,), 1.0, (("very likely", "45 of 50"),)),
        ((128,), 0.4, ()),  # it was counted where demonstrations had been learned
        ((), 1.0, ()),
    ],
)
def test_how_often_such_answers_were_right_is_said(
    votes: tuple[int, ...],
    exact: float,
    said: tuple[tuple[str, str], ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the command, in a notebook, in print, and in the log that pages read; never of a third candidate."""
    asked = Question("crop", 0)
    grids = [Candidate(np.full((1, 1), n, np.uint8), n, count, count, 0.26) for n, count in enumerate(votes)]
    solution = Solution({asked: grids}, 30, 128, 0.1, exact, 60.0, calibration=COUNTED)
    often = [f"{word}: answers with such votes were right in {one} cases" for word, one in said]
    found = round_json(solution, [asked])
    assert [one["often"] for one in found["tests"][0] if "often" in one] == often
    assert found.get("counted") == ("counted on all tasks of a test" if said else None)
    monkeypatch.setenv("COLUMNS", "40")  # one attempt below the other
    solve_command._draw({"crop": solution}, tmp_path)
    printed = " ".join(capsys.readouterr().out.split())
    for text in (printed, *(" ".join(one.split()) for one in (str(solution), solution._repr_html_()))):
        assert text.count("answers with such votes") == len(said)
        assert all(one in text for one in often)
        assert ("counted on all tasks of a test" in text) == bool(said)


@pytest.mark.parametrize(("color", "views"), [(1, 9), (0, 1)])
def test_a_task_with_few_views_has_as_many_votes(color: int, views: int, base: Path, tmp_path: Path) -> None:
    """A single colour that moves gives a symmetric task nine views: "9 of 12 votes" would be a doubt."""
    pair = {"input": [[color]], "output": [[color]]}
    (tmp_path / "dot.json").write_text(json.dumps({"train": [pair] * 2, "test": [{"input": [[color]]}]}))
    task = load_tasks([tmp_path / "dot.json"])[0][0]
    published: list[Solution] = []
    solution = solved(Solver(base, replace(OPTIONS, until_end=True), HERE), task, published=published)
    (ranked,) = solution.answers.values()
    assert sum(one.votes for one in ranked) <= solution.views == solution.cast == views
    assert max(one.views for one in published) == views
    alike = replace(
        solution, answers={Question("dot", 0): [Candidate(np.full((1, 1), color, np.uint8), 0, views, views, 1.0)]}
    )
    assert not alike.disagreement


def test_a_solve_takes_the_record_of_its_model(tmp_path: Path, unseen: Path) -> None:
    run = toy_run(tmp_path, MemoryConfig(rank=8))
    folder = newest_checkpoint(run)
    assert solved(Solver(run, OPTIONS, HERE), one(unseen)).calibration is None
    right = replace(COUNTED, weights=weights_sha256(CharmModel.from_pretrained(folder).state_dict()))
    write_sealed(folder / CALIBRATION, to_json(right))
    assert solved(Solver(run, OPTIONS, HERE), one(unseen)).calibration == right
    assert solved(Solver(run, replace(OPTIONS, mode="full"), HERE), one(unseen)).calibration is None


def test_glances_show_answers_while_learning_and_change_nothing(base: Path, unseen: Path) -> None:
    found: list[list[Solution]] = []
    for glance in (0, 2):
        published: list[Solution] = []
        options = replace(OPTIONS, steps=5, glance=glance)
        solved(Solver(base, options, HERE), one(unseen), published=published)
        found.append(published)
    plain, watched = found
    assert [one.updates for one in plain] == [0, 5, 5]
    assert [one.updates for one in watched] == [0, 2, 4, 5, 5]
    assert attempts(plain[-1].answers) == attempts(watched[-1].answers)


@pytest.mark.parametrize("mode", ["memory", "composition", "full"])
def test_each_task_starts_from_the_checkpoint(base: Path, unseen: Path, mode: Mode) -> None:
    """Answers do not depend on what was solved before, and shared weights are put back."""
    options = replace(OPTIONS, mode=mode)
    files = [unseen / "new0.json", unseen / "new1.json"]
    together = answers(base, files, options)
    assert together == answers(base, files[:1], options) | answers(base, files[1:], options)
    solver = Solver(base, options, HERE)
    trained = {name: parameter.detach().clone() for name, parameter in solver.model.reasoner.named_parameters()}
    solved(solver, one(unseen))
    moved = any(
        not torch.equal(parameter, trained[name]) for name, parameter in solver.model.reasoner.named_parameters()
    )
    assert moved == (mode == "full")
    start_of(solver).prepare(load_tasks([files[1]])[0][:1])
    for name, parameter in solver.model.reasoner.named_parameters():
        assert torch.equal(parameter, trained[name])


def test_answers_are_ranked_and_fit_a_submission(base: Path, unseen: Path) -> None:
    reported: list[str] = []
    published = []
    found = solve(
        [one(unseen)],
        base,
        OPTIONS,
        ["cpu"],
        lambda used, text: reported.append(text),
        lambda found: published.extend((one.updates, one.views) for one in found.values()),
    )["new0"]
    # A first answer before anything is learned, then one for each round of votes.
    assert published == [(0, 8), (3, 8), (3, 12)]
    assert (found.updates, found.views) == (3, 12)
    submission = attempts(found.answers)
    assert list(submission) == ["new0"]
    assert set(submission["new0"][0]) == {"attempt_1", "attempt_2"}
    assert any("views have voted" in text for text in reported)


def test_test_outputs_are_not_looked_at(base: Path, unseen: Path) -> None:
    """Blind, or with a false answer in the file, the answers are the same."""
    file = unseen / "new0.json"
    seen = answers(base, [file])
    content = json.loads(file.read_text())
    content["test"][0]["output"] = [[9] * 30]
    file.write_text(json.dumps(content))
    assert answers(base, [file]) == seen
    del content["test"][0]["output"]
    file.write_text(json.dumps(content))
    assert answers(base, [file]) == seen


@pytest.mark.parametrize("kind", ["loss", "weights"])
@pytest.mark.parametrize("at", [1, 2, 3, 10])
def test_a_diverged_adaptation_keeps_the_first_answers(
    kind: str, at: int, base: Path, unseen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Votes of weights that are no numbers never replace an answer; what is solved next is not harmed."""
    update = Adaptation.update

    def diverging(self: Adaptation, passed: float) -> dict[str, torch.Tensor]:
        metrics = update(self, passed)
        if self.updates == at:
            if kind == "loss":
                self._measured[-1] = self._measured[-1] * float("nan")
            with torch.no_grad():
                self.optimizers.all[0].param_groups[0]["params"][0][-1] = float("nan")
        return metrics

    tasks = load_tasks([unseen])[0][:2]
    expected = solved(Solver(base, OPTIONS, HERE), tasks[1])
    solver, published, said = Solver(base, replace(OPTIONS, steps=at), HERE), list[Solution](), list[str]()
    with monkeypatch.context() as patch:
        patch.setattr(Adaptation, "update", diverging)
        found = solved(solver, tasks[0], None, lambda used, text: said.append(text), published)
    first = solved(Solver(base, replace(OPTIONS, steps=0), HERE), tasks[0])
    assert attempts(found.answers) == attempts(first.answers)
    assert (found.updates, found.views) == (0, 8)
    assert [one.diverged for one in published] == [False, True]
    assert said[-1] == "new0: learning diverged; the answers from before it stay"
    solver.options = solver.start.options = OPTIONS
    assert attempts(solved(solver, tasks[1]).answers) == attempts(expected.answers)


def test_an_answer_is_only_replaced_by_a_better_one() -> None:
    asked = [Question("a", 0), Question("a", 1)]
    grids = [[Candidate(np.full((1, 1), color, np.uint8), 0, 1, 1.0, 1.0)] for color in range(3)]

    def solution(updates: int, views: int, first: int | None, second: int | None) -> Solution:
        ranked = [[] if color is None else grids[color] for color in (first, second)]
        return Solution(dict(zip(asked, ranked, strict=True)), updates, views, 0.0, 0.0, 0.0)

    old = solution(3, 8, 0, None)
    assert improved(None, old) is old
    for worse in (solution(0, 99, 1, 2), solution(3, 8, 1, 2)):
        kept = improved(old, worse)
        assert (kept.updates, kept.views) == (3, 8)
        assert list(kept.answers.values()) == [grids[0], grids[2]]  # but nothing is not better than something
    for better in (solution(3, 16, None, 2), solution(4, 8, None, 2)):
        taken = improved(old, better)
        assert (taken.updates, taken.views) == (better.updates, better.views)
        assert list(taken.answers.values()) == [grids[0], grids[2]]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA graphs need an NVIDIA GPU")
@pytest.mark.parametrize("mode", ["memory", "full"])
def test_many_tasks_are_adapted_in_a_row_on_a_gpu(
    mode: Mode, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every task records its own CUDA graphs, while the collector finds garbage at every turn."""
    recorded = []
    record = UpdateGraphs.record

    def noted(self: UpdateGraphs, update: Any, slots: Any) -> bool:
        recorded.append(record(self, update, slots))
        return recorded[-1]

    monkeypatch.setattr(UpdateGraphs, "record", noted)
    tasks = load_tasks([write_toy_tasks(tmp_path / "many", 24, seed=5)])[0]
    limits = gc.get_threshold()
    gc.set_threshold(50, 2, 2)
    try:
        options = replace(OPTIONS, budget=600.0, steps=12, batch=32, mode=mode)
        found = solve(tasks, base, options, ["cuda:0"])
    finally:
        gc.set_threshold(*limits)
    assert {task.id for task in tasks} == set(found)
    assert [solution.updates for solution in found.values()] == [12] * len(tasks)
    assert len(recorded) >= len(tasks)
    assert all(recorded)
    assert "cannot be CUDA graphs" not in capfd.readouterr().err


def test_a_challenges_file_is_solved_whole(base: Path, unseen: Path, tmp_path: Path) -> None:
    """The same answers as from single files; a malformed task is reported and skipped."""
    tasks = {path.stem: json.loads(path.read_text()) for path in sorted(unseen.glob("*.json"))}
    tasks["bad"] = {"train": [], "test": []}
    file = tmp_path / "test_challenges.json"
    file.write_text(json.dumps(tasks))
    assert load_tasks([file])[1] == {"bad": f"{file}: task bad has no demonstrations"}
    submission = answers(base, [file])
    assert list(submission) == ["new0", "new1", "new2", "new3"]
    assert submission["new2"] == answers(base, [unseen / "new2.json"])["new2"]


def test_a_short_budget_still_gives_answers(base: Path, unseen: Path) -> None:
    found = solve(load_tasks([unseen])[0], base, replace(OPTIONS, budget=0.001, steps=10_000), ["cpu"])
    assert len(found) == 4
    for solution in found.values():
        assert solution.updates == 0
        assert len(solution.answers) == 1


@pytest.mark.usefixtures("forked_workers")
@pytest.mark.parametrize("devices", [["cpu"], ["cpu", "cpu"]], ids=["here", "in workers"])
def test_tasks_are_left_out_when_it_is_far_too_late(
    devices: list[str], base: Path, unseen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With far too many tasks for the time, the first are answered and the others named; here at twice 1 ms."""
    ended: dict[str, str | None] = {}
    monkeypatch.setattr(solving, "FAR_TOO_LATE", 0.0)
    found = solve(
        load_tasks([unseen])[0],
        base,
        replace(OPTIONS, budget=0.001),
        devices,
        ended=lambda group, problem: ended.update({task.id: problem for task in group}),
    )
    assert sorted(ended) == ["new0", "new1", "new2", "new3"]
    assert 1 <= len(found) <= len(devices)
    assert {name for name, problem in ended.items() if problem is None} == set(found)
    assert {ended[name] for name in ended if name not in found} == {"there was no time for it; try a longer budget"}


class Ticks:
    """A clock for tests that advances only on demand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_time_is_shared_out_to_the_tasks_that_remain() -> None:
    ticks = Ticks()
    clock = Clock(100.0, ticks)
    first = clock.share(4)
    assert first.seconds == 25.0
    ticks.now = 10.0  # it ends early: the others have more
    assert clock.share(3).seconds == 30.0
    assert first.left == 15.0
    assert first.used == 0.4
    ticks.now = 120.0
    assert clock.share(2).seconds > 0


def counted_votes(ticks: Ticks, patch: pytest.MonkeyPatch) -> list[int]:
    """Let a view vote in a second; what is returned lists the views of every vote."""
    voted: list[int] = []

    def vote(request: Request, place: object, votes: dict[int, Any]) -> dict[int, Any]:
        before = len(votes[0].question_V) if votes else 0
        assert request.views is not None
        ticks.now += request.views - before  # those of earlier rounds are not made again
        voted.append(request.views)
        return {0: Mock(question_V=np.zeros(request.views, np.int64))}

    patch.setattr(module, "predict", vote)
    patch.setattr(module, "ranked_answers", lambda model, data, votes: {question: [] for question in data.questions})
    return voted


def slow_updates(ticks: Ticks, seconds: float, patch: pytest.MonkeyPatch) -> None:
    update = Adaptation.update

    def slow(self: Adaptation, passed: float) -> dict[str, torch.Tensor]:
        ticks.now += seconds
        return update(self, passed)

    patch.setattr(Adaptation, "update", slow)


def test_updates_stop_in_time_to_vote(base: Path, unseen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an update takes 2 seconds and a view 1, 100 seconds hold 31 updates and all of 30 views."""
    ticks = Ticks()
    voted = counted_votes(ticks, monkeypatch)
    slow_updates(ticks, 2.0, monkeypatch)
    solver = Solver(base, replace(OPTIONS, steps=1000, views=30), HERE)
    found = solved(solver, one(unseen), Clock(100.0, ticks))
    # 8 s of first votes, 30 s kept (no more than 0.3 of the time), so updates end at 70 s.
    assert found.updates == 31
    assert voted == [8, 8, 16, 30]
    assert ticks.now == 100.0


def test_the_clock_starts_with_the_first_update(base: Path, unseen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes before, here 500 seconds, is no part of the time, and is reported apart."""
    ticks = Ticks()
    counted_votes(ticks, monkeypatch)
    slow_updates(ticks, 2.0, monkeypatch)
    solver = Solver(base, replace(OPTIONS, steps=1000, views=30), HERE)
    prepare = solver.start.prepare

    def slow(*given: Any) -> Dataset:
        ticks.now += 500.0
        return prepare(*given)

    monkeypatch.setattr(solver.start, "prepare", slow)
    clock = Clock(100.0, ticks, waits=True)
    found = solved(solver, one(unseen), clock)
    assert (found.updates, found.seconds, clock.spent, clock.waited) == (31, 100.0, 100.0, 500.0)
    clock = Clock(60.0, waits=True)
    solve([one(unseen)], base, OPTIONS, ["cpu"], clock=clock)
    assert 0 < clock.waited < 60
    assert not clock.waits


def agreeing_votes(ticks: Ticks, patch: pytest.MonkeyPatch, *disagree: int) -> list[int]:
    """As `counted_votes`, but all views give one answer, except in the votes of these numbers (from 0)."""
    voted = counted_votes(ticks, patch)

    def ranked(model: object, data: Dataset, votes: object) -> dict[Question, list[Candidate]]:
        agreed = voted[-1] - (len(voted) - 1 in disagree)
        return {question: [Candidate(np.ones((1, 1), np.uint8), 0, agreed, agreed, 1.0)] for question in data.questions}

    patch.setattr(module, "ranked_answers", ranked)
    return voted


@pytest.mark.parametrize(
    ("until_end", "disagree", "voted"),
    [
        (False, (), [8, 8, 16]),  # 16 of 30 agree: no other answer can have as many
        (False, (1,), [8, 8, 16]),  # a round that did not agree is made up for by the next
        (False, (2,), [8, 8, 16, 30]),
        (True, (), [8, 8, 16, 30]),
    ],
)
def test_voting_ends_when_no_other_answer_can_win(
    until_end: bool,
    disagree: tuple[int, ...],
    voted: list[int],
    base: Path,
    unseen: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = agreeing_votes(ticks := Ticks(), monkeypatch, *disagree)
    solver = Solver(base, replace(OPTIONS, steps=3, views=30, until_end=until_end), HERE)
    last = solved(solver, one(unseen), Clock(1000.0, ticks))
    assert found == voted
    assert (last.views, last.answers[Question("new0", 0)][0].votes) == (voted[-1], voted[-1])


@pytest.mark.parametrize(
    ("until_end", "disagree", "exact", "updates"),
    [
        (False, (), 1.0, 4),  # two glances agree, after 2 and 4 updates
        (False, (1,), 1.0, 8),  # the one after 2 did not
        (False, (), 0.99, 9),
        (True, (), 1.0, 9),
    ],
)
def test_learning_ends_when_two_votes_in_a_row_agree(
    until_end: bool,
    disagree: tuple[int, ...],
    exact: float,
    updates: int,
    base: Path,
    unseen: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All views, on all test inputs, and all of the last demonstrations exact; the first vote is before any update."""
    agreeing_votes(ticks := Ticks(), monkeypatch, *disagree, *((2,) if disagree else ()))
    monkeypatch.setattr(Adaptation, "progress", lambda self: (0.1, exact))
    solver = Solver(base, replace(OPTIONS, steps=9, views=30, glance=2, until_end=until_end), HERE)
    assert solved(solver, one(unseen), Clock(1000.0, ticks)).updates == updates


@pytest.mark.parametrize("changed", [{"writer": WriterRecipe(task_lr=1.0)}, {"together": 2}])
def test_options_of_writers_are_refused_for_other_models(
    changed: dict[str, Any], base: Path, unseen: Path, tmp_path: Path
) -> None:
    name = "writer.task-lr" if "writer" in changed else "together"
    with pytest.raises(CharmError, match=f"--{name} is for writers; a urm learns one task at a time"):
        solve([one(unseen)], base, replace(OPTIONS, **changed), ["cpu"])
    with pytest.raises(CharmError, match=f"--{name} is for writers"):
        run_solve((unseen,), checkpoint=base, device="cpu", out=tmp_path / "out.json", **changed)
    assert not (tmp_path / "out.json").exists()


def test_the_plan_by_hand() -> None:
    assert voting_seconds(1000.0, 0.1, 128, VOTE_SHARE) == pytest.approx(19.2)  # voting is cheap: learn longer
    assert voting_seconds(10.0, 0.1, 128, VOTE_SHARE) == 3.0
    assert next_views(8, 128, 0.1, 100.0) == 16
    assert next_views(64, 100, 0.1, 100.0) == 100
    assert next_views(64, 128, 0.1, 1.05) == 74
    assert next_views(64, 128, 0.1, -5.0) == 64
    assert fitting_batch(128, 1.0, 1000.0, 1000) == 128
    assert fitting_batch(128, 1.0, 30.0, 1000) == 32  # 120 updates instead of 30
    assert fitting_batch(128, 1.0, 30.0, 20) == 128  # no more than 20 are wanted
    assert fitting_batch(128, 1.0, 0.1, 1000) == 16
    assert fitting_batch(8, 1.0, 0.1, 1000) == 8


@pytest.mark.parametrize(("batch", "steps", "made"), [(32, 3, [16, 32]), (32, 2, [16]), (8, 3, [8])])
def test_small_updates_come_first_and_then_those_that_the_time_allows(
    batch: int, steps: int, made: list[int], base: Path, unseen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver = Solver(base, replace(OPTIONS, batch=batch, steps=steps), HERE)
    make, found = start_of(solver).adaptation, []

    def noted(size: int = 0) -> Adaptation:
        learning = make(size)
        found.append(learning.examples.work[0])
        return learning

    monkeypatch.setattr(solver.start, "adaptation", noted)
    solution = solved(solver, one(unseen))
    assert found == made
    assert solution.updates == steps
    assert np.isfinite(solution.loss)


@pytest.mark.parametrize(("room", "tries"), [(24, [16, 16, 32, 16]), (12, [16, 8, 8, 8])])
def test_too_little_memory_makes_batches_smaller(
    room: int, tries: list[int], base: Path, unseen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three updates are made in the end, and nothing of one that failed is left."""
    gradients, tried = Canvases.gradients, []

    def limited(self: Canvases, model: CharmModel, batch: Slots) -> dict[str, torch.Tensor]:
        assert all(parameter.grad is None for parameter in model.parameters())
        tried.append(len(batch))
        if len(batch) > room:
            parameter = next(model.parameters())
            parameter.grad = torch.ones_like(parameter)
            raise torch.OutOfMemoryError
        return gradients(self, model, batch)

    monkeypatch.setattr(Canvases, "gradients", limited)
    solver = Solver(base, replace(OPTIONS, batch=32, steps=3), HERE)
    assert solved(solver, one(unseen)).updates == 3
    assert tried == tries
    room = 0  # for not a single example: the answer from before any update stays
    solution = solved(solver, one(unseen))
    assert (solution.updates, solution.views) == (0, 8)


@pytest.mark.parametrize("steps", [1, 2, 3, 12])
def test_the_loss_of_the_last_updates_is_told(
    steps: int, base: Path, unseen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update, losses = Adaptation.update, []

    def noted(self: Adaptation, passed: float) -> dict[str, torch.Tensor]:
        metrics = update(self, passed)
        losses.append(float(metrics["token_loss"]))
        return metrics

    monkeypatch.setattr(Adaptation, "update", noted)
    solution = solved(Solver(base, replace(OPTIONS, steps=steps), HERE), one(unseen))
    last = {1: losses, 2: losses, 3: losses[2:], 12: losses[10:]}[steps]
    assert len(losses) == steps
    assert solution.loss == pytest.approx(np.mean(last))


def test_an_update_that_would_not_end_in_time_is_not_begun(
    base: Path, unseen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100 seconds 12 are kept for votes (1.5 x 8 views). Updates of 30 seconds end at 38 and 68; not at 98."""
    ticks = Ticks()
    counted_votes(ticks, monkeypatch)
    slow_updates(ticks, 30.0, monkeypatch)
    solver = Solver(base, replace(OPTIONS, steps=9, views=8), HERE)
    assert solved(solver, one(unseen), Clock(100.0, ticks)).updates == 2


def slow_batches(ticks: Ticks, patch: pytest.MonkeyPatch) -> Counter[int]:
    """Let a batch of votes take a second; what is returned counts the votes on each question."""
    asked, ask = Counter[int](), Reasoner.answers

    def slow(self: Reasoner, batch: AskedBatch, steps: int) -> Any:
        ticks.now += 1.0
        asked.update(batch.question_N.tolist())
        return ask(self, batch, steps)

    patch.setattr(Reasoner, "answers", slow)
    return asked


@pytest.mark.parametrize(
    ("inputs", "seconds", "voted", "ended"),
    [
        (60, 1000.0, [8] * 60, None),  # time enough: 60 batches, then updates
        (60, 10.0, [8] * 10 + [1] * 50, 17.0),  # 10 batches, then 7 for the inputs without a vote
        (200, 10.0, [8] * 10 + [1] * 80 + [0] * 110, 20.0),  # twice the time
    ],
)
def test_votes_on_very_many_test_inputs_end_with_the_time(
    inputs: int,
    seconds: float,
    voted: list[int],
    ended: float | None,
    base: Path,
    unseen: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a batch, 8 views of an input, takes a second."""
    ticks = Ticks()
    asked = slow_batches(ticks, monkeypatch)
    monkeypatch.setattr(module, "FAR_TOO_LATE", 0.0)  # then it is twice the time
    task = one(unseen)
    task = replace(task, test=task.test * inputs)
    solver, published = Solver(base, replace(OPTIONS, steps=0), HERE), list[Solution]()
    solution = solved(solver, task, Clock(seconds, ticks), published=published)
    assert [asked[number] for number in range(inputs)] == voted
    assert ticks.now == (ended or 60.0)
    assert list(solution.answers) == [Question("new0", number) for number in range(inputs)]
    assert (solution.updates, solution.views) == (0, 8 if voted[-1] else 0)
    assert published == [solution]


def test_learned_answers_to_very_many_test_inputs_come_in_time(
    base: Path, unseen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 100 s, the first votes take 60 and an update ends at 65. In the 35 left, 4 views of each vote again."""
    ticks = Ticks()
    asked = slow_batches(ticks, monkeypatch)
    slow_updates(ticks, 5.0, monkeypatch)
    task = one(unseen)
    task = replace(task, test=task.test * 60)
    solver = Solver(base, replace(OPTIONS, steps=1), HERE)
    solution = solved(solver, task, Clock(100.0, ticks))
    assert [asked[number] for number in range(60)] == [8 + 4] * 60
    assert ticks.now == 95.0
    assert (solution.updates, solution.views) == (1, 4)


def test_too_little_memory_makes_votes_smaller(base: Path, unseen: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers are those of a machine with memory enough; with room for not a single one, it is an error."""
    expected = solved(Solver(base, OPTIONS, HERE), one(unseen))
    tried, ask, room = list[int](), Reasoner.answers, 3

    def limited(self: Reasoner, batch: AskedBatch, steps: int) -> Any:
        tried.append(len(batch.question_N))
        if len(batch.question_N) > room:
            raise torch.OutOfMemoryError
        return ask(self, batch, steps)

    monkeypatch.setattr(Reasoner, "answers", limited)
    found = solved(Solver(base, OPTIONS, HERE), one(unseen))
    assert tried[:4] == [8, 4, 2, 2]
    assert attempts(found.answers) == attempts(expected.answers)
    room = 0
    with pytest.raises(torch.OutOfMemoryError):
        solved(Solver(base, OPTIONS, HERE), one(unseen))


@pytest.mark.usefixtures("forked_workers")
def test_it_is_an_error_if_no_process_could_answer(unseen: Path, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(CharmError, match=r"cpu: .*not a saved model"):
        solve(load_tasks([unseen])[0], tmp_path, OPTIONS, ["cpu", "cpu"])


def test_a_worker_ends_when_nobody_reads_its_answers(base: Path, unseen: Path) -> None:
    """SIGKILL leaves the command no time to end its processes, which would keep their GPUs for hours."""
    connection = Mock()
    connection.recv.return_value = (one(unseen),), 600.0
    connection.send.side_effect = [None, None, BrokenPipeError]  # ready, a first answer, and then
    with pytest.raises(SystemExit):
        _work(connection, base, replace(OPTIONS, steps=10**6), "cpu", Solver)
    assert connection.send.call_count == 3


class FailingSolver(Solver):
    """Fails as a file named after the task says: how, and how many times. In any process: a mock reaches only one."""

    def work(self, tasks: Sequence[Task], clock: Clock, say: Say, publish: Publish) -> None:
        name, folder = tasks[0].id, Path(os.environ["CHARM_TEST_FAILURES"])
        with (folder / "tried").open("a") as file:
            file.write(f"{name} {os.getpid()}\n")
        plan = folder / name
        how, times = plan.read_text().split() if plan.is_file() else ("not", "0")
        if int(times):
            plan.write_text(f"{how} {int(times) - 1}")
            if how == "late":  # there are answers by then
                super().work(tasks, Clock(1e-3), say, publish)
            if how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            raise RuntimeError("CUDA error: invalid argument\nand much more")
        super().work(tasks, clock, say, publish)


@pytest.mark.usefixtures("forked_workers")
@pytest.mark.parametrize(
    ("devices", "once"), [(["cpu"], "raised"), (["cpu", "cpu"], "killed")], ids=["here", "in workers"]
)
def test_a_failure_costs_only_its_task(
    devices: list[str], once: str, base: Path, unseen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One task fails once, or kills its process, and another every time: both are tried twice, the others once."""
    monkeypatch.setenv("CHARM_TEST_FAILURES", str(tmp_path))
    options = replace(OPTIONS, budget=600.0)
    tasks = load_tasks([unseen])[0]
    expected = solve(tasks, base, options, ["cpu"])
    (tmp_path / "new0").write_text(f"{once} 1")
    (tmp_path / "new1").write_text("late 2")
    ended: list[tuple[str, str | None]] = []
    found = solve(
        tasks,
        base,
        options,
        devices,
        ended=lambda group, problem: ended.extend((task.id, problem) for task in group),
        make=FailingSolver,
    )
    for name in ("new0", "new2", "new3"):
        assert attempts(found[name].answers) == attempts(expected[name].answers)
        assert found[name].updates == 3
    assert (found["new1"].updates, found["new1"].views) == (0, 8)  # the answers from before it failed
    problems = dict(ended)
    assert len(ended) == len(problems) == 4
    problem = problems.pop("new1")
    assert problem is not None
    assert problem.startswith("cpu: RuntimeError: CUDA error: invalid argument (test_solve.py, line ")
    assert set(problems.values()) == {None}
    tried = [line.split() for line in (tmp_path / "tried").read_text().splitlines()]
    assert sorted(name for name, _ in tried) == ["new0", "new0", "new1", "new1", "new2", "new3"]
    for name in ("new0", "new1"):
        assert len({process for one, process in tried if one == name}) == 2  # the second is a fresh one


def test_an_answer_that_cannot_be_published_is_no_fault_of_the_task(base: Path, unseen: Path) -> None:
    def full(answers: dict[str, Solution]) -> None:
        raise CharmError("the disk is full")

    ended: list[str] = []
    with pytest.raises(CharmError, match="the disk is full"):
        solve(
            load_tasks([unseen])[0],
            base,
            OPTIONS,
            ["cpu"],
            publish=full,
            ended=lambda group, problem: ended.extend(task.id for task in group),
        )
    assert ended == []


def test_learning_a_task_lowers_its_loss(base: Path, unseen: Path) -> None:
    losses = []
    for steps in (5, 40):
        solver = Solver(base, replace(OPTIONS, steps=steps), HERE)
        task = one(unseen)
        start_of(solver).prepare([task])
        adaptation = start_of(solver).adaptation(8)
        for _ in range(steps):
            adaptation.progress()
            adaptation.update()
        losses.append(adaptation.progress()[0])
    assert np.isfinite(losses).all()
    assert losses[1] < losses[0]


def test_what_cannot_be_solved_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="is neither a saved model nor a run"):
        newest_checkpoint(tmp_path)
    with pytest.raises(CharmError, match="no such file"):
        load_tasks([tmp_path / "nothing.json"])
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(CharmError, match="invalid JSON"):
        load_tasks([tmp_path / "broken.json"])
    os.mkfifo(tmp_path / "pipe.json")  # which no one writes to: it must not be waited for
    with pytest.raises(CharmError, match=r"pipe\.json: neither a regular file nor a folder"):
        load_tasks([tmp_path / "pipe.json"])


def test_a_task_id_that_is_no_text_is_refused(unseen: Path, tmp_path: Path) -> None:
    """Such as half of a surrogate pair, which can be neither printed nor be part of a file name."""
    task = json.loads((unseen / "new0.json").read_text())
    file = tmp_path / "tasks.json"
    file.write_text(json.dumps({"\ud800": task}))
    with pytest.raises(CharmError, match=r"tasks\.json: the task id '\\ud800' is not valid text"):
        load_tasks([file])
    file.write_text(json.dumps({"\ud800": task, "good": task}))
    tasks, skipped = load_tasks([file])
    assert [one.id for one in tasks] == ["good"]
    assert list(skipped) == ["\ud800"]


def test_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    assert solve_devices("cpu", 5) == ["cpu"]
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(CharmError, match="without torchrun"):
        solve_devices("cpu", 5)


def test_what_a_solve_writes_next_to_tasks_is_not_read_as_tasks(unseen: Path) -> None:
    for name in (
        "submission.json",
        "new0.submission.json",
        "submission.scores.json",
        "submission.progress.json",
    ):
        (unseen / name).write_text('{"new0": [{"attempt_1": [[1]], "attempt_2": [[1]]}]}')
    assert [task.id for task in load_source(unseen).tasks] == ["new0", "new1", "new2", "new3"]
    tasks, skipped = load_tasks([unseen])
    assert (len(tasks), skipped) == (4, {})


def test_a_public_task_is_known_by_its_id() -> None:
    assert [task.id for task in load_tasks([Path("007bbfb7")])[0]] == ["007bbfb7"]
    with pytest.raises(CharmError, match="nowhere: no such file or folder, and no task nowhere in ARC-AGI-1"):
        load_tasks([Path("nowhere")])


def test_many_failures_are_summarised(capsys: pytest.CaptureFixture[str]) -> None:
    _tell_problems({f"t{number}": "no time" for number in range(400)}, {}, 400, 0)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 12
    assert said[-2:] == ["charm: and 390 more", "charm: 400 of 400 tasks failed; --resume tries them again"]


def test_several_public_sets_are_solved_at_once(tmp_path: Path) -> None:
    """Six tasks are in both sets, with their demonstrations in another order."""
    names = [Path("arc1/evaluation"), Path("arc2/evaluation")]
    tasks, skipped = load_tasks(names)
    assert not skipped
    assert len(tasks) == len({task.id for task in tasks}) == 400 + 120 - 6
    found = sets_of(names, tasks)
    assert {name: len(some) for name, some in found.items()} == {
        "arc1/evaluation": 400,
        "arc2/evaluation": 120,
    }
    sources = sources_of([*names, tmp_path])
    assert [(one.name, one.version[:7]) for one in sources] == [
        *(("arc1/evaluation", "arcagi_"), ("arc2/evaluation", "arcagi2"))
    ]
    assert sets_of(names[:1], tasks) == {}


def test_different_tasks_under_one_id_are_told_apart(tmp_path: Path) -> None:
    write_toy_tasks(tmp_path, 1)
    mine = (tmp_path / "toy0.json").rename(tmp_path / "0934a4d8.json")
    tasks, _ = load_tasks([mine, Path("arc2/evaluation")])
    known = {task.id: task for task in tasks}
    assert len(known) == len(tasks) == 121
    assert known["0934a4d8"].test[0].input.shape == (3, 3)
    assert known["arc2/evaluation:0934a4d8"].test[0].input.shape == (30, 30)
