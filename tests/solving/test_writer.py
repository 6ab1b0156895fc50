"""A writer learns groups of unseen tasks together and answers them."""

import hashlib
import json
import math
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch

from charm.devices import has_bfloat16
from charm.errors import CharmError
from charm.evaluation.predict import Judgements, Request, predict
from charm.evaluation.ranking import Candidate, Submission, attempts
from charm.models.model import CharmModel
from charm.models.writer import asking, writing
from charm.models.writer.network import Linear, Writer
from charm.models.writer.packs import Packs
from charm.runs.votes import Votes
from charm.solving import group as module
from charm.solving import starts
from charm.solving.group import Solver, first_round
from charm.solving.options import Mode, SolveOptions, WriterRecipe
from charm.solving.scores import interval, measured, scores_table
from charm.solving.solution import Clock, Publish, Say, Solution, ranked_answers
from charm.solving.solver import choose, groups_of, load_tasks, solve
from charm.solving.starts import NewVectors, WriterAdaptation, rate_at
from charm.tasks.dataset import Dataset
from charm.tasks.sources import Source
from charm.tasks.task import Question, Task
from tests.toy import write_toy_tasks
from tests.toy.runs import HERE
from tests.toy.solves import run_solve as command
from tests.toy.writer import count_judged

OPTIONS = SolveOptions(budget=600.0, steps=4, views=4, batch=8, writer=WriterRecipe(lr=3e-3, views=8))


@pytest.fixture
def tasks(unseen: Path) -> list[Task]:
    return load_tasks([unseen])[0]


def answers(found: dict[str, Solution]) -> Submission:
    submission: Submission = {}
    for solution in found.values():
        submission |= attempts(solution.answers)
    return submission


def prepared(solver: Solver, tasks: list[Task]) -> tuple[CharmModel, Dataset]:
    data = start_of(solver).prepare(tasks)
    return solver.model, data


def start_of(solver: Solver) -> NewVectors:
    assert isinstance(solver.start, NewVectors)
    return solver.start


def work(
    solver: Solver, tasks: list[Task], seconds: float = 600.0
) -> tuple[dict[str, Solution], list[tuple[str, int, int]], list[str]]:
    found: dict[str, Solution] = {}
    published: list[tuple[str, int, int]] = []
    said: list[str] = []

    def publish(answers: dict[str, Solution]) -> None:
        found.update(answers)
        published.extend((name, one.updates, one.views) for name, one in answers.items())

    solver.work(tasks, Clock(seconds), lambda used, text: said.append(text), publish)
    return found, published, said


def test_groups_by_hand(tasks: list[Task]) -> None:
    def ids(size: int, devices: int) -> list[list[str]]:
        return [[task.id[-1] for task in group] for group in groups_of(tasks, size, devices)]

    assert ids(0, 1) == [["0", "1", "2", "3"]]
    assert ids(0, 2) == [["0", "2"], ["1", "3"]]
    assert ids(0, 9) == [["0"], ["1"], ["2"], ["3"]]
    assert ids(3, 1) == [["0", "2"], ["1", "3"]]  # two of about equal size
    assert ids(1, 8) == [["0"], ["1"], ["2"], ["3"]]


def test_rates_by_hand() -> None:
    recipe = WriterRecipe(warmup=4, cooldown=0.5)
    assert rate_at(recipe, 0, 0.0) == 0.25
    assert rate_at(recipe, 3, 0.1) == 1.0
    assert rate_at(recipe, 9, 0.75) == 0.5
    assert rate_at(recipe, 9, 1.5) == 0.0
    assert rate_at(replace(recipe, warmup=0, cooldown=0.0), 0, 0.0) == 1.0


def test_the_first_round_fits_the_time() -> None:
    assert first_round(0.0, 10.0) == 8  # what a view costs is not known
    assert first_round(2.0, 10.0) == 5
    assert first_round(2.0, 100.0) == 8
    assert first_round(2.0, 1.0) == 1
    assert first_round(0.0, -1.0) == 1
    assert first_round(0.0, 10.0, 1) == 1
    assert first_round(2.0, 100.0, 1) == 8


@pytest.mark.parametrize(
    ("mode", "used", "moved"),
    [
        ("memory", 0.3, {"base"}),
        ("composition", 0.3, {"base", "modifiers"}),
        ("full", 0.0, {"base", "modifiers", "reasoner"}),
    ],
)
def test_what_a_mode_moves(mode: Mode, used: float, moved: set[str], writer: Path, tasks: list[Task]) -> None:
    solver = Solver(writer, replace(OPTIONS, mode=mode), HERE)
    model, _ = prepared(solver, tasks)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    learning = start_of(solver).adaptation(1024)
    for _ in range(3):
        learning.update(used)
    changed = {n for n, tensor in model.state_dict().items() if not torch.equal(tensor, before[n])}
    assert {name.split(".")[1] if name.startswith("memory") else "reasoner" for name in changed} == moved


def test_new_vectors_start_at_the_mean_and_known_ones_at_their_own(writer: Path, tasks: list[Task]) -> None:
    solver = Solver(writer, OPTIONS, HERE)
    known = start_of(solver).trained["memory.base.rows.weight"]
    assert known.shape == (2, 32)
    assert known.abs().sum() > 0
    seen = replace(tasks[0], id="toy1")
    model, _ = prepared(solver, [seen, tasks[1]])
    started = model.memory.base.rows.weight  # type: ignore[union-attr]
    assert torch.equal(started[0], known[1])
    assert torch.allclose(started[1], known.mean(0))


def test_training_tasks_are_rehearsed_until_the_rates_fall(
    writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Known tasks with their own vectors in addition to the new ones, never a task that is being solved."""
    known = load_tasks([writer.parent / "tasks"])[0]
    monkeypatch.setattr(starts, "REHEARSED", ("toys",))
    monkeypatch.setattr(starts, "load_source", lambda name: Source(name, "", (*known, tasks[3])))
    recipe = WriterRecipe(rehearse=0.5, cooldown=0.4, views=8)
    solver = Solver(writer, replace(OPTIONS, writer=recipe), HERE)
    blind = replace(known[0], test=(tasks[0].test[0],))
    model, data = prepared(solver, [tasks[0], blind])
    assert data.instances.puzzles == ["toy1", "new0", "toy0"]
    assert [question.task_id for question in data.questions] == ["new0", "toy0"]
    vectors = start_of(solver).trained["memory.base.rows.weight"]
    assert torch.equal(model.memory.base.rows.weight[[0, 2]], vectors[[1, 0]])  # type: ignore[union-attr]
    learning = start_of(solver).adaptation(1024)
    puzzle = data.instances.table()[0]

    def learned(used: float) -> list[set[str]]:
        found = []
        for _ in range(12):
            learning.update(used)
            found.append({data.instances.puzzles[puzzle[row]] for row in learning.examples.row_N.tolist()})
        return found

    both = learned(0.1)
    assert {"toy1" in names for names in both} == {True, False}
    assert all(names <= {"new0", "toy0"} for names in learned(0.7))


def test_long_groups_on_an_accelerator_rehearse_by_default(writer: Path) -> None:
    start = start_of(Solver(writer, OPTIONS, HERE))
    shares = {}
    for device in ("cpu", "cuda"):
        start.place = replace(HERE, device=torch.device(device))
        shares[device] = [start.recipe_for(seconds).rehearse for seconds in (60.0, 90.0)]
    assert shares == {"cpu": [0.0, 0.0], "cuda": [0.0, 0.5]}
    start.options = replace(OPTIONS, writer=replace(OPTIONS.writer, rehearse=0.0))
    assert start.recipe_for(90.0).rehearse == 0.0


def test_every_group_starts_from_the_trained_weights(writer: Path, tasks: list[Task]) -> None:
    """Answers of a group do not depend on the groups before it."""
    alone = solve(tasks[2:], writer, OPTIONS, ["cpu"])
    solver = Solver(writer, OPTIONS, HERE)
    work(solver, tasks[:2])
    after, _, _ = work(solver, tasks[2:])
    assert answers(after) == answers(alone)
    assert set(alone) == {"new2", "new3"}
    assert {solution.updates for solution in alone.values()} == {4}


@pytest.mark.parametrize("optimizer", ["muon", "adamw"])
def test_learning_lowers_the_loss(writer: Path, tasks: list[Task], optimizer: Literal["muon", "adamw"]) -> None:
    for mode in ("memory", "full"):
        losses = []
        recipe = replace(OPTIONS.writer, optimizer=optimizer)
        solver = Solver(writer, replace(OPTIONS, mode=mode, writer=recipe), HERE)
        prepared(solver, tasks)
        learning = start_of(solver).adaptation(256)
        for step in range(40):
            learning.update(step / 80)
            losses.append(learning.progress()[0])
        assert sum(losses[-5:]) < sum(losses[:5])


def test_a_gpu_without_bfloat16_learns_in_float32_and_votes_in_float16(
    writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as a T4; the CPU stands in for it. What is learned is the same to the bit, and answers are as sure."""
    for supported in (True, False):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: supported)  # noqa: B023
        assert has_bfloat16(torch.device("cuda")) == supported
    plain, _, _ = work(Solver(writer, OPTIONS, HERE), tasks)
    solver = Solver(writer, OPTIONS, HERE)
    network = solver.model.reasoner
    assert isinstance(network, Writer)
    network.on_old_gpu = True
    asked = writing.inference_copy(network)
    assert {part.weight.dtype for part in asked.modules() if isinstance(part, Linear)} == {torch.float16}
    assert (asked.compute_dtype, network.compute_dtype) == (torch.float16, torch.float32)
    assert writing.inference_copy(asked) is asked
    found, _, _ = work(solver, tasks)
    assert {name: one.loss for name, one in found.items()} == {name: one.loss for name, one in plain.items()}
    for name, solution in plain.items():
        best, same = ([ranked[:1] for ranked in one.answers.values()] for one in (solution, found[name]))
        assert [bool(some) for some in best] == [bool(some) for some in same]
        for (one,), (other,) in zip(filter(None, best), filter(None, same), strict=True):
            assert one.confidence == pytest.approx(other.confidence, abs=0.02)


def test_the_loss_is_compiled_once_for_all_groups(
    writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[object] = []

    def eager(loss, dynamic):  # type: ignore[no-untyped-def]
        compiled.append(loss)
        return lambda *given: loss(*given)

    monkeypatch.setattr(torch, "compile", eager)
    plain = solve(tasks, writer, replace(OPTIONS, together=2), ["cpu"])
    assert not compiled
    recipe = replace(OPTIONS.writer, compile="on")
    found = solve(tasks, writer, replace(OPTIONS, together=2, writer=recipe), ["cpu"])
    assert len(compiled) == 1
    assert answers(found) == answers(plain)


def test_test_outputs_are_not_looked_at(writer: Path, unseen: Path) -> None:
    seen = answers(solve(load_tasks([unseen])[0], writer, OPTIONS, ["cpu"]))
    file = unseen / "new0.json"
    content = json.loads(file.read_text())
    content["test"][0]["output"] = [[9] * 30]
    file.write_text(json.dumps(content))
    assert answers(solve(load_tasks([unseen])[0], writer, OPTIONS, ["cpu"])) == seen


def test_views_vote_in_rounds_after_early_answers(
    writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_VIEWS", 2)
    solver = Solver(writer, OPTIONS, HERE)
    found, published, said = work(solver, tasks[:2])
    # Early answers after a half and three quarters of the updates, in case that the command is killed.
    assert [one[1:] for one in published if one[0] == "new0"] == [(2, 2), (3, 2), (4, 2), (4, 4)]
    assert set(found) == {"new0", "new1"}
    assert said[-1] == "2 tasks: 4 views have voted"
    monkeypatch.setattr(module, "EARLY_COST", 0.0)  # where they cost too much, there are no more
    _, published, _ = work(solver, tasks[:1])
    assert [one[1:] for one in published] == [(2, 2), (4, 2), (4, 4)]
    _, published, _ = work(solver, tasks[:1], 10.0)  # too short for early answers
    assert published[0][1] == 4
    watched = Solver(writer, replace(OPTIONS, steps=20, glance=20), HERE)
    monkeypatch.setattr(module, "EARLY_SECONDS", 1e9)  # no time is too short where somebody watches
    _, published, _ = work(watched, tasks[:1])
    assert [one[1] for one in published if one[2] == 2] == [2, 5, 8, 11, 14, 17, 20]
    monkeypatch.setattr(module, "WATCHED_COST", 0.0)
    _, published, _ = work(watched, tasks[:1])
    assert [one[1] for one in published if one[2] == 2] == [2, 20]


def test_answers_before_the_first_look_report_what_was_learned(writer: Path, tasks: list[Task]) -> None:
    """On a slow machine there may be none before the last answer: it must not lack its doubt."""
    found: list[Solution] = []
    solver = Solver(writer, OPTIONS, HERE)
    solver.work(tasks[:1], Clock(600.0), lambda *_: None, lambda answers: found.extend(answers.values()))
    assert found[0].updates == 2
    assert all(math.isfinite(one.loss) and one.exact_accuracy < 0.5 and one.doubt for one in found)


def test_a_short_budget_still_gives_answers(writer: Path, tasks: list[Task]) -> None:
    found = solve(tasks, writer, replace(OPTIONS, budget=0.001, steps=None), ["cpu"])
    assert set(found) == {task.id for task in tasks}
    assert {solution.updates for solution in found.values()} <= {0, 1}  # the clock starts with the first one


def test_a_first_round_that_takes_far_too_long_is_cut_short(
    writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At twice the time, between two batches: what has an answer by then is published, the others are not."""
    now = [0.0]
    real = asking.write_answers

    def slow(*given):  # type: ignore[no-untyped-def]
        now[0] += 80.0
        return real(*given)

    monkeypatch.setattr(asking, "write_answers", slow)
    options = replace(OPTIONS, steps=0, batch=1)
    for seconds, answered in ((100.0, 3), (170.0, 4), (30.0, 2), (10.0, 1)):
        now[0], found = 0.0, dict[str, Solution]()
        clock = Clock(seconds, lambda: now[0])
        Solver(writer, options, HERE).work(tasks, clock, lambda used, text: None, found.update)
        assert len(found) == answered
        assert {one.views for one in found.values()} == {1}


def test_learning_ends_in_time_to_vote(writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100 seconds 20 are kept for voting: updates of 2 seconds end at 80."""
    now = [0.0]
    update = WriterAdaptation.update
    used: list[float] = []

    def slow(self: WriterAdaptation, share: float) -> None:
        now[0] += 2.0
        used.append(share)
        update(self, share)

    monkeypatch.setattr(WriterAdaptation, "update", slow)
    monkeypatch.setattr(module, "EARLY_SECONDS", 1e9)
    found: dict[str, Solution] = {}
    solver = Solver(writer, replace(OPTIONS, steps=None, views=1), HERE)
    solver.work(tasks[:1], Clock(100.0, lambda: now[0]), lambda *_: None, found.update)
    assert found["new0"].updates == 40
    assert used == pytest.approx([number / 40 for number in range(40)])


def test_too_little_memory_makes_packs_smaller(
    writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    gradients, tried = Packs.gradients, []

    def limited(self: Packs, model: CharmModel, batch: Packs) -> dict[str, torch.Tensor]:
        tried.append(batch.tokens)
        if batch.tokens > 300:
            raise torch.OutOfMemoryError
        return gradients(self, model, batch)

    monkeypatch.setattr(Packs, "gradients", limited)
    found, _, _ = work(Solver(writer, OPTIONS, HERE), tasks)
    assert tried == [1024, 512, 256, 256, 256, 256]
    assert {solution.updates for solution in found.values()} == {4}


def test_a_diverged_group_keeps_its_early_answers(
    writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    update = WriterAdaptation.update

    def diverging(self: WriterAdaptation, used: float) -> None:
        update(self, used)
        if self.updates == 3:
            with torch.no_grad():
                self.model.reasoner.head.weight.fill_(float("nan"))

    monkeypatch.setattr(WriterAdaptation, "update", diverging)
    ended: list[tuple[str, str | None]] = []

    def note(group: tuple[Task, ...], problem: str | None) -> None:
        ended.extend((task.id, problem) for task in group)

    found = solve(
        tasks[:2],
        writer,
        OPTIONS,
        ["cpu"],
        ended=note,
    )
    assert {solution.updates for solution in found.values()} == {2}
    assert [name for name, _ in ended] == ["new0", "new1"]
    assert {problem for _, problem in ended} == {None}
    assert all(solution.diverged for solution in found.values())
    with pytest.raises(CharmError, match="diverged before there was an answer; a lower learning rate may help"):
        solve(tasks[:2], writer, replace(OPTIONS, budget=50.0), ["cpu"])  # too short for early answers
    monkeypatch.undo()
    assert answers(solve(tasks[:1], writer, replace(OPTIONS, steps=2), ["cpu"])).keys() == {"new0"}


class FailingWriter(Solver):
    """Fails at every group that holds the task new1. In any process: a mock reaches only one."""

    def work(self, tasks: object, clock: Clock, say: Say, publish: Publish) -> None:
        if any(task.id == "new1" for task in tasks):  # type: ignore[attr-defined]
            raise RuntimeError("CUDA error: invalid argument")
        super().work(tasks, clock, say, publish)  # type: ignore[arg-type]


@pytest.mark.usefixtures("forked_workers")
@pytest.mark.parametrize("devices", [["cpu"], ["cpu", "cpu"]], ids=["here", "in workers"])
def test_a_failed_group_costs_only_itself(devices: list[str], writer: Path, tasks: list[Task]) -> None:
    ended: dict[str, str | None] = {}
    found = solve(
        tasks,
        writer,
        replace(OPTIONS, together=2),
        devices,
        ended=lambda group, problem: ended.update({task.id: problem for task in group}),
        make=FailingWriter,
    )
    assert set(found) == {"new0", "new2"}
    assert {name for name, problem in ended.items() if problem} == {"new1", "new3"}  # which share a group
    assert "CUDA error: invalid argument" in str(ended["new1"])
    assert len(ended) == 4


def test_the_command_solves_and_resumes(
    writer: Path, unseen: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, groups = Solver.work, []

    def stopping(self: Solver, tasks, *rest):  # type: ignore[no-untyped-def]
        groups.append([task.id for task in tasks])
        if len(groups) == 2:
            raise KeyboardInterrupt
        return real(self, tasks, *rest)

    monkeypatch.setattr(Solver, "work", stopping)
    out = tmp_path / "submission.json"
    settings = {"steps": 2, "views": 2, "together": 2, "device": "cpu", "budget": "100s/task"}
    with pytest.raises(KeyboardInterrupt):
        command((unseen,), checkpoint=writer, out=out, **settings)
    command((unseen,), checkpoint=writer, out=out, resume=True, **settings)
    assert groups == [["new0", "new2"], ["new1", "new3"], ["new1", "new3"]]
    assert set(json.loads(out.read_text())) == {"new0", "new1", "new2", "new3"}


def test_a_saved_model_is_solved_with(writer: Path, tasks: list[Task]) -> None:
    """A checkpoint without its run folder's configuration."""
    saved = next((writer / "checkpoints").glob("step_*"))
    assert Solver(saved, OPTIONS, HERE).start.data_config.fixed_colors == "output-only"
    assert set(solve(tasks[:1], saved, OPTIONS, ["cpu"])) == {"new0"}


def test_bad_settings_are_refused() -> None:
    with pytest.raises(CharmError, match=r"writer\.cooldown must be below 1, got 1"):
        WriterRecipe(cooldown=1)
    with pytest.raises(CharmError, match=r"writer\.lr must be a number >= 0, got -1"):
        WriterRecipe(lr=-1)
    for name, value, message in (
        ("budget", math.nan, "budget must be >= 0, got nan"),
        ("budget", -1.0, "budget must be >= 0, got -1.0"),
        ("mode", "fast", "mode must be one of auto, memory, composition, full; got 'fast'"),
    ):
        with pytest.raises(CharmError, match=message):
            SolveOptions(**{name: value})  # type: ignore[arg-type]


def test_many_short_sequences_fill_a_pack(writer: Path, tmp_path: Path) -> None:
    """The padding that ends a pack must stay shorter than the longest sequence: attention on a GPU relies on it."""
    tasks = load_tasks([write_toy_tasks(tmp_path / "tiny", 2)])[0]
    solver = Solver(writer, OPTIONS, HERE)
    prepared(solver, tasks)
    learning = start_of(solver).adaptation(32_768)
    learning.examples.prepare(0)
    edges = learning.examples.pack.edges_N2
    assert int(edges[-1] - edges[-2]) < 27


def test_tasks_are_chosen_by_hash_and_size(tasks: list[Task], tmp_path: Path) -> None:
    chosen = choose(tasks, 2)
    by_hash = sorted(tasks, key=lambda task: hashlib.sha256(task.id.encode()).hexdigest())
    assert {task.id for task in chosen} == {task.id for task in by_hash[:2]}
    assert [task.id for task in choose(tasks[::-1], 2)] == [task.id for task in chosen[::-1]]
    assert choose(tasks, 9, 3) == tasks
    with pytest.raises(CharmError, match="at most 2 x 2"):
        choose(tasks, 0, 2)
    evaluation = choose(load_tasks([Path("arc1/evaluation")])[0], 48)
    assert len(evaluation) == 48
    assert [task.id for task in evaluation][:3] == ["0a1d4ef5", "0c9aba6e", "15663ba9"]


def test_a_set_is_taken_in_parts() -> None:
    everything = load_tasks([Path("arc1/evaluation")])[0]
    parts = [choose(everything, 48), choose(everything, 52, skip=48), choose(everything, skip=100)]
    assert [len(part) for part in parts] == [48, 52, 300]
    assert {task.id for part in parts for task in part} == {task.id for task in everything}
    assert {task.id for part in parts[:2] for task in part} == {task.id for task in choose(everything, 100)}
    with pytest.raises(CharmError, match="skip must be below 400, the number of tasks; got 400"):
        choose(everything, 5, skip=400)


def test_scores_by_hand(tasks: list[Task]) -> None:
    """One task right at once, one in the third place, one that an earlier solve answered, one without an answer."""

    def solution(task: Task, right: int) -> Solution:
        answer = task.answers()[0]
        assert answer is not None
        wrong = [Candidate(np.full((3, 3), 9, np.uint8), 0, 1, 1.0, 1.0)] * (right - 1)
        candidates = [*wrong, Candidate(answer, 0, 1, 1.0, 1.0)]
        return Solution({Question(task.id, 0): candidates}, 7, 8, 0.5, 0.25, 1.0)

    found = {tasks[0].id: solution(tasks[0], 1), tasks[1].id: solution(tasks[1], 3)}
    given = {
        question: [one.grid.tolist() for one in ranked] for question, ranked in solution(tasks[2], 2).answers.items()
    }
    scores = measured(tasks, found, given, Path("model"), OPTIONS, ["cpu", "cpu"], (100.0, 7.0), 3.6)
    metrics = scores["metrics"]
    assert [metrics[f"pass@{k}"] for k in (1, 2, 1000)] == [0.25, 0.5, 0.75]
    assert scores["solved_here"] == 2
    assert scores["device_seconds_per_task"] == 100.0  # of the two that were solved now
    assert scores["dollars"] == 0.2
    caption = (
        "2 tasks in 100 s (7 s to start), 100.0 s of a device for each, 0.20 dollars; 2 tasks with the attempts that"
    )
    assert scores_table(scores).caption.startswith(caption)
    again = measured(tasks, {}, given, Path("model"), OPTIONS, ["cpu"], (3.0, 3.0), None)
    assert scores_table(again).caption.startswith("0 tasks in 3 s (3 s to start); 4 tasks with the attempts that")
    assert scores["interval"] == interval(2, 4)
    assert scores["learned"]["new1"] == {"updates": 7, "views": 8, "loss": 0.5, "exact": 0.25}
    assert [task["outcome"] for task in scores["tasks_scored"]] == [
        "solved",
        "near miss",
        "solved",
        "no answer",
    ]
    assert scores_table(scores).rows[1] == ["pass@2", "50.0", "50.0"]
    assert (scores["seconds"], scores["startup_seconds"]) == (100.0, 7.0)
    assert scores["data"] == {"sha256": Source("", "", tuple(tasks)).sha256, "sources": []}
    twins = [(task, task) for task in tasks]
    sets = {"first": twins[:1], "others": twins[1:]}
    both = measured(tasks, found, given, Path("model"), OPTIONS, ["cpu"], (100.0, 7.0), None, sets)
    assert {name: one["tasks"] for name, one in both["sets"].items()} == {"first": 1, "others": 3}
    assert scores_table(both).rows[3:] == [
        ["pass@2, first", "100.0", "100.0"],
        ["pass@2, others", "33.3", "33.3"],
    ]
    blind = [task.blind() for task in tasks]
    unknown = measured(blind, found, given, Path("model"), OPTIONS, ["cpu"], (100.0, 7.0), None)
    assert "no score, because no test output is known" in scores_table(unknown).caption


def test_the_command_writes_scores(writer: Path, unseen: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    settings = {"steps": 1, "views": 2, "device": "cpu", "budget": "600s", "out": out, "checkpoint": writer}
    command((unseen,), score=True, choose=2, **settings)
    found = json.loads(out.with_name("out.scores.json").read_text())
    assert found["puzzles"] == found["solved_here"] == found["tasks"] == 2
    assert found["dollars"] is None
    assert found["options"]["writer"]["warmup"] == 20


def test_intervals_by_hand() -> None:
    assert interval(0, 0) is None
    assert interval(24, 48) == (0.3639, 0.6361)
    assert interval(0, 48) == (0.0, 0.0741)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="CUDA graphs need an NVIDIA GPU")
@pytest.mark.parametrize("mode", ["memory", "full"])
def test_groups_are_adapted_in_a_row_on_a_gpu(
    mode: Mode, writer: Path, tasks: list[Task], capfd: pytest.CaptureFixture[str]
) -> None:
    """Every group records its own CUDA graph and ends with the loss that a CPU reaches."""
    recipe = replace(OPTIONS.writer, tokens=1024, optimizer="adamw")
    options = replace(OPTIONS, steps=40, mode=mode, together=2, writer=recipe)
    found = solve(tasks, writer, options, ["cuda:0"])
    expected = solve(tasks, writer, options, ["cpu"])
    for task in tasks:
        assert found[task.id].updates == 40
        assert found[task.id].loss == pytest.approx(expected[task.id].loss, rel=0.1)
    assert "cannot be CUDA graphs" not in capfd.readouterr().err


def test_votes_copy_the_writer_once_for_each_round_and_judge_only_what_is_new(
    writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In rounds or all at once: the same candidates with the same confidence, and as much is read."""
    counts = count_judged(monkeypatch)
    copies: list[Writer] = []

    def copied(one: Writer) -> Writer:
        copies.append(one)
        return deepcopy(one)

    monkeypatch.setattr(writing, "deepcopy", copied)
    solver = Solver(writer, OPTIONS, HERE)
    model, data = prepared(solver, tasks)
    model.train()

    def confidences(found: dict[Question, list[Candidate]]) -> dict[tuple[Question, bytes], float]:
        return {
            (question, one.grid.tobytes()): pytest.approx(one.confidence, rel=1e-4)
            for question, ranked in found.items()
            for one in ranked
        }

    votes: dict[int, Votes] = {}
    judgements: Judgements = {}
    judged_in = []  # how many judgements each round had at its end
    for views in (1, 2, 4, 8):
        request = Request(model, data, (1,), views, 2, judgements=judgements)
        votes = predict(request, HERE, votes)
        judged_in.append(len(judgements))
    assert len(copies) == 4 + len({*judged_in} - {0})  # to write, and to judge if there is something new
    read = sum(counts)
    counts.clear()
    in_rounds, at_once = votes, predict(Request(model, data, (1,), 8, 2), HERE)
    assert confidences(ranked_answers(model, data, in_rounds)) == confidences(ranked_answers(model, data, at_once))
    assert read == sum(counts) == len(judgements) > 0


def test_a_solve_sets_the_rates_of_all_optimizers(
    writer: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two updates of rise and half of the time of fall: the share of the full rates in each of four updates."""
    shares: list[set[float]] = []
    update = WriterAdaptation.update

    def noted(self: WriterAdaptation, used: float) -> None:
        update(self, used)
        groups = [one.param_groups for one in self.optimizers.all]
        full = [group["lr"] for some in self.optimizers.full for group in some]
        rates = [group["lr"] for some in groups for group in some]
        shares.append({round(rate / most, 6) for rate, most in zip(rates, full, strict=True)})

    monkeypatch.setattr(WriterAdaptation, "update", noted)
    options = replace(OPTIONS, writer=replace(OPTIONS.writer, warmup=2, cooldown=0.5))
    work(Solver(writer, options, HERE), tasks[:1])
    assert shares == [{0.5}, {1.0}, {1.0}, {0.5}]
