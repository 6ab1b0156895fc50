"""Models, and seeds of one, that solve tasks together; and a search for answers where votes disagree."""

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from charm.api import solve as api_solve
from charm.errors import CharmError
from charm.evaluation.predict import log_likelihoods, search_answers
from charm.evaluation.ranking import Judgements, Opinion, attempts, pool_opinions
from charm.files import read_sealed, write_sealed
from charm.models.model import CharmModel
from charm.runs.votes import Candidates, log_odds, merge, pool, probability
from charm.solving import ensemble as module
from charm.solving.ensemble import Ensemble, JointGroup
from charm.solving.group import Solver, TaskGroup
from charm.solving.options import SolveOptions, WriterRecipe
from charm.solving.scores import learned_text
from charm.solving.solution import Clock, Solution
from charm.solving.solver import load_tasks, make_solver, public_sets, solve
from charm.solving.starts import WriterAdaptation
from charm.solving.vote_log import TaskCourse, read_course
from charm.tasks.task import Question, Task, digits
from tests.toy.runs import HERE
from tests.toy.solves import run_solve

STEPS = 12
SMALL: dict[str, Any] = {"steps": STEPS, "views": 4, "batch": 8}
RECIPE = WriterRecipe(lr=1e-2, views=8, warmup=2)
OPTIONS = SolveOptions(budget=1200.0, writer=RECIPE, **SMALL)


@pytest.fixture
def tasks(unseen: Path) -> list[Task]:
    return load_tasks([unseen])[0]


class Ticks:
    """A clock that moves on request."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def solved_alone(models: Sequence[Path], options: SolveOptions, tasks: Sequence[Task]) -> list[TaskGroup]:
    """Let each model with each seed learn and vote alone."""
    groups = []
    for model in models:
        for seed in options.seeds:
            solver = Solver(model, replace(options, seed=seed, search=0.0), HERE)
            groups.append(TaskGroup(solver, tasks, Clock(600.0), lambda *_: None, lambda answers: None))
            assert groups[-1].solve()
    return groups


def joint(models: Sequence[Path], options: SolveOptions, tasks: Sequence[Task]) -> JointGroup:
    """Let all of them solve the tasks together."""
    solver = make_solver(models, options, HERE)
    assert isinstance(solver, Ensemble)
    group = JointGroup(solver, tasks, Clock(options.budget), lambda *_: None, lambda answers: None)
    group.solve()
    return group


def by_hand(groups: Sequence[TaskGroup], found: Candidates | None = None) -> dict[Question, list[tuple[str, int]]]:
    """Rank all candidates of groups by votes x the geometric mean over all views of all models that judge."""
    votes = [merge([*group.counted.values()]) for group in groups]
    table = pool([*(one.candidates for one in votes), *([found] if found is not None else [])])[0]
    cast: Counter[tuple[int, str]] = Counter()
    for one in votes:
        for k in one.candidate_V.tolist():
            cast[int(one.candidates.question_K[k]), digits(one.candidates.grid(k))] += 1
    likely_KJ = np.concatenate(
        [
            log_likelihoods(group.start.model, group.data, table, SMALL["views"])
            for group in groups
            if group.solver.reasoner.judges
        ],
        axis=1,
    )
    scored = defaultdict(list)
    for k, likely in enumerate(np.nanmean(likely_KJ.astype(np.float64), axis=1)):
        name = int(table.question_K[k]), digits(table.grid(k))
        if table.grid(k).size:
            scored[groups[0].data.questions[name[0]]].append((cast[name] * np.exp(likely), name[1], cast[name]))
    return {q: [one[1:] for one in sorted(some, reverse=True)] for q, some in scored.items()}


def ranked(answers: dict[str, Solution]) -> dict[Question, list[tuple[str, int]]]:
    return {
        question: [(digits(one.grid), one.votes) for one in some]
        for solution in answers.values()
        for question, some in solution.answers.items()
        if some
    }


def test_two_seeds_vote_together_as_by_hand(writer: Path, tasks: list[Task]) -> None:
    """The votes of both runs of one start, and the likelihood under the views of both, rank what either wrote."""
    options = replace(OPTIONS, seed=(0, 1))
    alone = solved_alone([writer], options, tasks)
    found = solve(tasks, writer, options, ["cpu"])
    assert ranked(found) == by_hand(alone)
    best = [{name: one.best for name, one in group.found.items()} for group in alone]
    assert str(best[0]) != str(best[1])  # the seeds differ, or this would show nothing
    for name, one in found.items():
        first, second = (group.found[name] for group in alone)
        assert (one.updates, one.models) == (first.updates + second.updates, 2) == (2 * STEPS, 2)
        assert (one.views, one.cast) == (first.views + second.views, first.cast + second.cast) == (8, 8)
        assert one.exact_accuracy == (first.exact_accuracy + second.exact_accuracy) / 2
        assert one.calibration is None
        assert "8 views of 2 models" in one.summary
    alike = solve(tasks, writer, replace(OPTIONS, seed=(1,)), ["cpu"])
    assert ranked(alike) == ranked(solve(tasks, writer, replace(OPTIONS, seed=1), ["cpu"]))  # one seed is one model


def test_the_log_adds_up_what_the_models_logged_alone(writer: Path, unseen: Path, tmp_path: Path) -> None:
    """`charm solve` with seed 0, with seed 1 and with both: the votes for each grid are the sum of the two."""

    def newest(*seeds: int) -> dict[str, TaskCourse]:
        out = tmp_path / f"out{seeds}.json"
        flags = {"checkpoint": writer, "out": out, "device": "cpu", "budget": "1200", "writer": RECIPE, **SMALL}
        run_solve((unseen,), seed=seeds if len(seeds) > 1 else seeds[0], score=True, **flags)
        return read_course(out)[1]

    both, *alone = newest(0, 1), newest(0), newest(1)
    for name, course in both.items():
        last, parts = course.rounds[-1], [one[name].rounds[-1] for one in alone]
        assert last["models"] == 2
        assert last["cast"] == sum(one["cast"] for one in parts)
        for number, test in enumerate(last["tests"]):
            cast: Counter[str] = Counter()
            for part in parts:
                cast.update({one["grid"]: one["votes"] for one in part["tests"][number]})
            assert {one["grid"]: one["votes"] for one in test} == cast
        assert [one.get("models") for one in course.rounds[:-1]] == [None] * (len(course.rounds) - 1)
    scores = json.loads((tmp_path / "out(0, 1).scores.json").read_text())
    assert scores["models"] == [str(writer)]
    assert scores["options"]["seed"] == [0, 1]
    assert scores["learned"]["new0"]["updates"] == 2 * STEPS


@pytest.mark.parametrize("writer_first", [True, False])
def test_a_canvas_and_a_writer_vote_together(writer_first: bool, base: Path, writer: Path, tasks: list[Task]) -> None:
    """A canvas takes one task at a time and does not judge; the writer judges the candidates of both."""
    models = [writer, base] if writer_first else [base, writer]
    found = solve(tasks[:2], models, OPTIONS, ["cpu"])
    (by_writer,) = solved_alone([writer], OPTIONS, tasks[:2])
    cast: Counter[tuple[Question, str]] = Counter()
    for name, one in by_writer.found.items():
        canvas = solved_alone([base], OPTIONS, [task for task in tasks if task.id == name])[0].found[name]
        for part in (one, canvas):
            cast.update({(q, digits(c.grid)): c.votes for q, some in part.answers.items() for c in some})
        assert found[name].updates == one.updates + canvas.updates
        assert found[name].cast == one.cast + canvas.cast
        assert found[name].sure == "likelihood"
    assert {(q, grid): votes for q, some in ranked(found).items() for grid, votes in some} == cast
    everything = Counter({(q, digits(c.grid)) for one in found.values() for q, s in one.answers.items() for c in s})
    assert everything.keys() == cast.keys()
    for one in found.values():
        for question, some in one.answers.items():
            table = candidates_of(by_writer, question, [candidate.grid for candidate in some])
            likely_KJ = log_likelihoods(by_writer.start.model, by_writer.data, table, SMALL["views"])
            expected = probability(log_odds(np.nanmean(likely_KJ.astype(np.float64), axis=1)))
            assert [candidate.confidence for candidate in some] == pytest.approx(expected.tolist(), rel=1e-3)


def candidates_of(group: TaskGroup, question: Question, grids: Sequence[np.ndarray]) -> Candidates:
    number = [*group.data.questions].index(question)
    return Candidates(
        np.full(len(grids), number, np.int32),
        np.arange(len(grids), dtype=np.uint64),
        np.array([grid.shape for grid in grids], np.uint8).reshape(-1, 2),
        np.concatenate([np.zeros(0, np.uint8), *(grid.ravel() for grid in grids)]),
    )


def test_models_that_do_not_judge_are_ranked_by_votes(base: Path, tasks: list[Task]) -> None:
    found = solve(tasks[:1], base, replace(OPTIONS, seed=(0, 1), writer=WriterRecipe()), ["cpu"])["new0"]
    votes = [one.votes for one in found.answers[Question("new0", 0)]]
    assert votes == sorted(votes, reverse=True)
    assert (sum(votes) <= found.cast, found.cast, found.sure) == (True, 8, "halting")


def test_a_resumed_ensemble_equals_an_uninterrupted_one(
    base: Path, writer: Path, unseen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped while the second model solves the second group: that group is solved again by both."""
    flags = {"checkpoint": (writer, base), "device": "cpu", "budget": "1200", "together": 2, "writer": RECIPE, **SMALL}
    run_solve((unseen,), out=tmp_path / "whole.json", **flags)
    real, turns = JointGroup.take_turn, []

    def stopping(self: JointGroup, *given: Any) -> Any:
        turns.append([task.id for task in self.tasks])
        if len(turns) == 4:
            raise KeyboardInterrupt
        return real(self, *given)

    monkeypatch.setattr(JointGroup, "take_turn", stopping)
    out = tmp_path / "out.json"
    with pytest.raises(KeyboardInterrupt):
        run_solve((unseen,), out=out, **flags)
    stopped = read_course(out)[1]
    assert [stopped[name].problem for name in sorted(stopped)] == ["", None, "", None]
    assert stopped["new1"].made_by == (STEPS, 4, False)  # the first model's answers are there
    with pytest.raises(
        CharmError, match=r"other settings \(model run \+ run, now run; --together 2, now 0; --writer.lr"
    ):
        run_solve(
            (unseen,), out=out, resume=True, **{**flags, "checkpoint": (base,), "together": 0, "writer": WriterRecipe()}
        )
    run_solve((unseen,), out=out, resume=True, **flags)
    assert turns == [["new0", "new2"]] * 2 + [["new1", "new3"]] * 4
    assert out.read_text() == (tmp_path / "whole.json").read_text()
    courses = (read_course(path)[1] for path in (out, tmp_path / "whole.json"))
    first, second = ({name: one.rounds[-1]["tests"] for name, one in course.items()} for course in courses)
    assert first == second


def test_a_model_that_fails_is_left_out(writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is the first or the second: the answers are those of the other. If both fail, the group does."""
    expected = {seed: solve(tasks[:2], writer, replace(OPTIONS, seed=seed), ["cpu"]) for seed in (0, 1)}
    real, failing = WriterAdaptation.update, {0}

    def diverging(self: WriterAdaptation, passed: float) -> None:
        real(self, passed)
        if solver_seed(self) in failing:
            with torch.no_grad():
                self.model.reasoner.head.weight.fill_(float("nan"))

    seeds: dict[int, int] = {}

    def solver_seed(learning: WriterAdaptation) -> int:
        return seeds.setdefault(learning.seed, len(seeds))

    monkeypatch.setattr(WriterAdaptation, "update", diverging)
    options = replace(OPTIONS, seed=(0, 1), budget=100.0)  # too short for early answers
    for broken, other in ((0, 1), (1, 0)):
        seeds.clear()
        failing.clear()
        failing.add(broken)
        found = solve(tasks[:2], writer, options, ["cpu"])
        assert ranked(found) == ranked(expected[other])
        assert {one.models for one in found.values()} == {1}
    failing |= {0, 1}
    seeds.clear()
    with pytest.raises(CharmError, match="diverged before there was an answer"):
        solve(tasks[:2], writer, options, ["cpu"])


def test_each_model_has_its_share_of_the_time(writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 200 seconds each of two has 100, with 20 for votes; what preparing the second takes is part of the time."""
    ticks, updates = Ticks(), list[float]()
    update, prepare = WriterAdaptation.update, module.TaskGroup.__init__

    def slow(self: WriterAdaptation, passed: float) -> None:
        updates.append(ticks.now)
        ticks.now += 2.0
        update(self, passed)

    def slowly_prepared(self: TaskGroup, *given: Any) -> None:
        ticks.now += 10.0
        prepare(self, *given)

    monkeypatch.setattr(WriterAdaptation, "update", slow)
    monkeypatch.setattr(module.TaskGroup, "__init__", slowly_prepared)
    options = replace(OPTIONS, steps=None, views=1, seed=(0, 1), writer=replace(OPTIONS.writer, views=1))
    found: dict[str, Solution] = {}
    monkeypatch.setattr("charm.solving.group.EARLY_SECONDS", 1e9)
    make_solver(writer, options, HERE).work(tasks[:1], Clock(200.0, ticks), lambda *_: None, found.update)
    # The first learns from 10 to 90. The second gets ready until 100 and has what is left of 200: 120, 24 for votes.
    assert [updates[0], updates[39], updates[40]] == [10.0, 88.0, 100.0]
    assert ticks.now <= 10.0 + 200.0
    assert found["new0"].updates == len(updates)


def test_a_model_without_time_is_left_out(writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch) -> None:
    ticks, said = Ticks(), list[str]()
    real = TaskGroup.vote

    def late(self: TaskGroup) -> None:
        real(self)
        ticks.now += 500.0

    monkeypatch.setattr(TaskGroup, "vote", late)
    found: dict[str, Solution] = {}
    solver = make_solver(writer, replace(OPTIONS, seed=(0, 1)), HERE)
    solver.work(tasks[:1], Clock(100.0, ticks), lambda used, text: said.append(text), found.update)
    assert said[-1] == "model 2 of 2: there is no time left for it"
    assert (found["new0"].updates, found["new0"].models) == (STEPS, 1)


def names_of(table: Candidates) -> list[tuple[int, int]]:
    return list(zip(table.question_K.tolist(), table.hash_K.tolist(), strict=True))


@pytest.fixture
def open_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let votes disagree on every test input."""
    monkeypatch.setattr(module, "contested", lambda votes, questions: np.arange(questions))


@pytest.mark.usefixtures("open_questions")
@pytest.mark.parametrize("seeds", [(0,), (0, 1)])
def test_found_answers_join_the_votes(seeds: tuple[int, ...], writer: Path, tasks: list[Task]) -> None:
    """What a model finds is judged by all, and weighs the votes that could be expected of all."""
    options = replace(OPTIONS, seed=seeds, search=0.02, steps=150)
    alone = solved_alone([writer], options, tasks)
    asked = np.arange(len(alone[0].data.questions))
    said = [(merge([*one.counted.values()]), search_answers(one.start.model, one.data, asked, 0.02)) for one in alone]
    every = pool([table for votes, found in said for table in (votes.candidates, found)])[0]
    opinions = []
    for group, (votes, found) in zip(alone, said, strict=True):
        known: Judgements = {}
        log_likelihoods(group.start.model, group.data, every, SMALL["views"], known)
        opinions.append(Opinion(votes, known, found))
    expected_votes, expected = pool_opinions(opinions)
    group = joint([writer], options, tasks)
    votes, found = group.pooled()
    cast, expected_cast = (
        Counter(names_of(one.candidates)[k] for k in one.candidate_V.tolist()) for one in (votes, expected_votes)
    )
    assert cast == expected_cast
    weights, expected_weights = (
        dict(zip(names_of(one.candidates), one.weight_K.tolist(), strict=True)) for one in (found, expected)
    )
    assert weights == {name: pytest.approx(weight, rel=1e-4) for name, weight in expected_weights.items()}
    assert len(weights) > 3  # or this would show nothing
    published: dict[str, Solution] = {}
    make_solver(writer, options, HERE).work(tasks, Clock(1200.0), lambda *_: None, published.update)
    searched = {group.questions[question].task_id for question, _ in weights}
    assert {name for name, one in published.items() if one.searched} == searched
    one = published[min(searched)]
    assert 0 in {candidate.votes for some in one.answers.values() for candidate in some}
    assert all(other.made_by < one.made_by for other in [replace(one, searched=False)])


@pytest.mark.usefixtures("open_questions")
def test_a_search_ends_with_the_time(writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the 10 seconds that are left, 5 are to search and 5 to judge 2 answers in 2 seconds each time."""
    ticks, stopped = Ticks(), list[float]()
    real_vote, real_judge, real_search = TaskGroup.vote, module.Voice.judge, module.search_answers
    searching: list[bool] = []

    def voted(self: TaskGroup) -> None:
        real_vote(self)
        ticks.now = 90.0

    def slowly_searched(model: CharmModel, data: Any, open_Q: Any, least: float, stop: Any) -> Candidates:
        found = real_search(model, data, open_Q, least)
        while not stop():
            ticks.now += 1.0
        stopped.append(ticks.now)
        searching.append(True)
        return found

    def slowly_judged(self: module.Voice, candidates: Candidates) -> None:
        ticks.now += 2.0 if searching else 0.0
        real_judge(self, candidates)

    monkeypatch.setattr(TaskGroup, "vote", voted)
    monkeypatch.setattr(module, "search_answers", slowly_searched)
    monkeypatch.setattr(module.Voice, "judge", slowly_judged)
    monkeypatch.setattr(module, "JUDGED_AT_ONCE_CPU", 2)
    options = replace(OPTIONS, search=0.02, steps=150)
    group = JointGroup(Ensemble([Solver(writer, options, HERE)], options), tasks, Clock(100.0, ticks), *(nothing,) * 2)
    group.solve()
    assert stopped == [95.0]
    assert ticks.now == 99.0
    (voice,) = group.voices
    assert len(voice.found) == 4
    ticks.now, searching[:], stopped[:] = 0.0, [], []
    monkeypatch.setattr(TaskGroup, "vote", lambda self: (real_vote(self), setattr(ticks, "now", 100.0)))
    group = JointGroup(Ensemble([Solver(writer, options, HERE)], options), tasks, Clock(100.0, ticks), *(nothing,) * 2)
    group.solve()
    assert stopped == []  # there is no time left


def nothing(*given: object) -> None:
    """Say and publish nothing."""


def test_votes_leave_time_to_search(writer: Path, tasks: list[Task]) -> None:
    options = replace(OPTIONS, search=0.1)
    group = TaskGroup(Solver(writer, options, HERE), tasks[:1], Clock(600.0), nothing, nothing, 0.5)
    group.cost = 1.0
    said: list[float] = []
    group.answer = lambda views, before=0: said.append(views)  # type: ignore[method-assign]
    clock = Ticks()
    group.clock = Clock(4.0, clock)
    group.vote()
    assert said == [2, 4]  # of 4 seconds, 2 are for votes: two views first, and 2 more fit, as nothing was spent
    assert group.clock.left == 4.0


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"seed": ()}, r"seed must be one number or several different ones, got \(\)"),
        ({"seed": (3, 3)}, r"seed must be one number or several different ones, got \(3, 3\)"),
        ({"seed": (0, 1), "steps": 0}, "several seeds need updates to differ in, but steps is 0"),
        ({"search": 1.0}, "search must be 0, or from 0.01 to below 1; got 1.0"),
        ({"search": 0.001}, "search must be 0, or from 0.01 to below 1; got 0.001"),
        ({"search": float("nan")}, "search must be 0, or from 0.01 to below 1; got nan"),
    ],
)
def test_bad_options_are_refused(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(CharmError, match=problem):
        SolveOptions(**changes)


def test_what_cannot_vote_together_is_refused(base: Path, writer: Path, unseen: Path, tmp_path: Path) -> None:
    flags = {"device": "cpu", "out": tmp_path / "out.json", **SMALL}
    for models, changes, problem in (
        ((base, base / ".." / base.name), {}, f"the model {base.name} is named twice; with --seed 0 1 it learns twice"),
        ((base,), {"search": 0.1}, "--search is for models that judge candidates, such as writers; a urm does not"),
        ((base,), {"writer": WriterRecipe(lr=1.0)}, "--writer.lr is for writers; a urm learns one task at a time"),
        ((base, tmp_path / "nowhere"), {}, "nowhere is neither a saved model nor a run"),
        ((), {}, "--checkpoint needs the name of a model"),
    ):
        with pytest.raises(CharmError, match=problem):
            run_solve((unseen,), checkpoint=models, **{**flags, **changes})
    with pytest.raises(CharmError, match="name at least one task file, before --checkpoint"):
        run_solve((), checkpoint=(base, unseen), **flags)
    assert not (tmp_path / "out.json").exists()


def test_the_library_takes_several_models(base: Path, writer: Path, unseen: Path) -> None:
    loaded = CharmModel.from_pretrained(next((writer / "checkpoints").glob("step_*")))
    task = unseen / "new0.json"
    flags = {"device": "cpu", "say": None, "budget": 1200.0, **SMALL}
    both = api_solve(task, model=[loaded, base], **flags)
    assert (both.models, both.updates) == (2, 2 * STEPS)
    assert attempts(both.answers) == attempts(api_solve(task, model=[str(writer), str(base)], **flags).answers)
    assert api_solve(task, model=base, seed=[4, 5], **flags).models == 2
    with pytest.raises(CharmError, match=r"charm\.solve needs at least one model, got an empty list"):
        api_solve(task, model=[], **flags)


def test_a_score_on_learned_tasks_is_refused(
    unseen: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`base` knows the answers of training tasks; `speedrun` learned their demonstrations alone."""
    flags = {"device": "cpu", "out": tmp_path / "out.json", "steps": 0, "views": 1, "choose": 1}
    known, names = "base has learned 398 of the 400 tasks of arc1/training", (Path("arc1/training"),)
    with pytest.raises(CharmError, match=f"^{known}; a score there would mean nothing$"):
        run_solve(names, score=True, **flags)
    with pytest.raises(CharmError, match="base has learned 1 of the 1 task of those named"):
        run_solve((Path("007bbfb7"), unseen), score=True, **flags)
    monkeypatch.setattr("charm.commands.solve._solve_left", lambda *given: ({}, 0.0))
    run_solve(names, **flags)
    assert f"{known}: it may know the answers" in capsys.readouterr().err
    released = Path(module.__file__).parents[1] / "released"
    sets = public_sets([Path("arc1/evaluation"), Path("arc1/training"), Path("arc2/evaluation"), Path("007bbfb7")])
    unlearned = {name: tasks for name, tasks in sets.items() if name.endswith("evaluation")}
    assert len(unlearned) == 2
    assert learned_text(released / "base", unlearned) == ""
    assert learned_text(released / "speedrun", sets) == ""
    assert learned_text([released / "speedrun", released / "base"], sets).startswith("base has learned 398 of the 400")


def test_what_a_model_started_from_counts_as_learned(base: Path, tmp_path: Path) -> None:
    """A run that learns other tasks from the weights of `base` knows what `base` knows."""
    sets = public_sets([Path("arc1/training")])
    config = read_sealed(base / "config.json")
    copied = tmp_path / "finetuned"
    copied.mkdir()
    for part in base.iterdir():
        if part.name != "config.json":
            (copied / part.name).symlink_to(part)
    write_sealed(copied / "config.json", {**config, "start": "base"})
    assert learned_text(base, sets) == ""
    assert learned_text(copied, sets).endswith("finetuned has learned 398 of the 400 tasks of arc1/training")
