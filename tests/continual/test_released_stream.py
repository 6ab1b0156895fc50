"""A stream that a writer learns stage after stage: what each method moves, and what is measured of it."""

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from benchmarks.continual_released import (
    SIZES,
    TRIALS,
    VECTORS,
    Method,
    Plan,
    Size,
    StreamRun,
    Trial,
    measured,
    plan_for,
    read_results,
    record,
    run_trial,
    table,
)
from charm.arc.run import train
from charm.continual.drift import snapshot
from charm.errors import CharmError
from charm.evaluation.ranking import Candidate
from charm.models.model import CharmModel
from charm.models.writer.packs import Packs
from charm.paper.records import read_record
from charm.paths import released_model
from charm.solving.solution import vote
from charm.solving.solver import load_tasks
from charm.solving.writer import WriterAdaptation
from charm.tasks.sequences import LONGEST
from charm.tasks.task import Question
from tests.toy import write_toy_tasks
from tests.toy_runs import HERE
from tests.training.test_writer_job import writer_config

SIZE = Size(stream=3, own=2, updates=2, tokens=LONGEST, views=4, voters=2, recheck=2)


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    """A toy writer, its two tasks, and three that it does not know."""
    folder = tmp_path_factory.mktemp("released")
    train(writer_config(folder, steps=30, checkpoint_every=30), folder / "run", HERE, say=lambda text: None)
    unseen = write_toy_tasks(folder / "unseen", 3, seed=9)
    stream = [replace(task, id=f"new{number}") for number, task in enumerate(load_tasks([unseen])[0])]
    return Plan(folder / "run", tuple(stream), tuple(load_tasks([folder / "tasks"])[0]), SIZE)


def moved(run: StreamRun, before: dict[str, Tensor]) -> tuple[set[str], set[str]]:
    """The tasks whose vectors have changed, and what else has: memory or reasoner."""
    after = snapshot(run.model)
    rows = (after[VECTORS] != before[VECTORS]).any(1).tolist()
    tasks = {name for name, changed in zip(run.instances.puzzles, rows, strict=True) if changed}
    others = {n for n in before if n != VECTORS and not torch.equal(after[n], before[n])}
    return tasks, {name.split(".")[0] for name in others}


@pytest.mark.parametrize("method", ["memory-only", "naive", "rehearsal", "replay", "oracle"])
def test_a_stage_moves_its_own_vector_and_the_reasoner(plan: Plan, method: Method) -> None:
    run = StreamRun(replace(plan, size=replace(SIZE, updates=6)), Trial(method), HERE)
    for stage, task in enumerate(run.tasks[:2], start=1):
        before = snapshot(run.model)
        run._learn(stage, task)
        assert moved(run, before) == ({task.id}, set() if method == "memory-only" else {"reasoner"})


def test_what_a_stage_draws_from(plan: Plan) -> None:
    def drawn(method: Method) -> set[str]:
        run = StreamRun(plan, Trial(method), HERE)
        table = run.instances.table()[0]
        stage = run._stage_data(2)
        assert {question.task_id for question in stage.questions} == {run.tasks[1].id}
        found = {run.instances.puzzles[int(table[block.rows[0]])] for block in stage.blocks}
        names = {task.id: str(number) for number, task in enumerate(run.tasks, start=1)}
        return {names.get(one, one) for one in found}

    assert drawn("naive") == drawn("memory-only") == {"2"}
    assert drawn("rehearsal") == {"2", "toy0", "toy1"}
    assert drawn("replay") == {"1", "2"}


def test_old_tasks_are_drawn_until_the_end_of_a_stage(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[bool] = []
    prepare = Packs.prepare

    def noted(self: Packs, update: int, focused: bool = False) -> Packs:
        drawn.append(not focused)
        return prepare(self, update, focused)

    monkeypatch.setattr(Packs, "prepare", noted)
    run = StreamRun(replace(plan, size=replace(SIZE, updates=20)), Trial("rehearsal"), HERE)
    run._learn(1, run.tasks[0])
    assert len(drawn) == 20
    assert 5 <= sum(drawn) <= 15
    assert any(drawn[-8:])  # where rates fall


def test_a_memory_only_stream_changes_no_bit_of_the_base(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def counted(*args: Any, only: Collection[int]) -> dict[Question, list[Candidate]]:
        asked.append(len(only))
        return vote(*args, only=only)

    monkeypatch.setattr("benchmarks.continual_released.vote", counted)
    run = StreamRun(plan, Trial("memory-only"), HERE)
    assert run.learn() == 0
    assert run.parameters() == 32
    assert asked == [5, 1, 1, 1]
    for stage in range(1, 4):  # only the answers to its own task may change
        others = [column for column in range(3) if column != stage - 1]
        assert np.array_equal(run.r[stage, others], run.r[stage - 1, others])
    assert (run.r_own == run.r_own[0]).all()
    base = CharmModel.from_pretrained(next((plan.base / "checkpoints").iterdir()))
    saved = base.state_dict()
    assert all(
        torch.equal(value, saved[name]) for name, value in run.model.state_dict().items() if name != VECTORS
    )


def test_what_is_measured_of_the_others(plan: Plan) -> None:
    run = StreamRun(plan, Trial("naive", 0.1), HERE)
    assert run.learn() > 1000
    # Stage 1 knows its own task and the next; stages 2 and 3 are rechecks.
    assert np.isnan(run.r).tolist() == [[False] * 3, [False, False, True], [False] * 3, [False] * 3]
    assert np.isnan(run.r_own).all(1).tolist() == [False, True, False, False]
    assert run.parameters() == 32 + sum(p.numel() for p in run.model.reasoner.parameters())
    run = StreamRun(plan, Trial("oracle"), HERE)
    start = snapshot(run.model)
    run.learn()
    assert np.isnan(run.r[1:]).tolist() == (~np.eye(3, dtype=bool)).tolist()
    run._restore(start)
    assert moved(run, start) == (set(), set())


def test_a_change_of_the_base_is_refused(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    update = WriterAdaptation.update

    def harmful(self: WriterAdaptation, used: float) -> None:
        update(self, used)
        next(self.model.reasoner.parameters()).data.view(-1)[0] += 1

    monkeypatch.setattr(WriterAdaptation, "update", harmful)
    with pytest.raises(CharmError, match="changed 1 values that must stay"):
        StreamRun(plan, Trial("memory-only"), HERE).learn()


def test_orders_differ_and_keep_the_tasks(plan: Plan) -> None:
    orders = [[task.id for task in StreamRun(plan, Trial("naive", order=n), HERE).tasks] for n in range(4)]
    assert all(sorted(one) == ["new0", "new1", "new2"] for one in orders)
    assert len({tuple(one) for one in orders}) > 1


def test_measures_by_hand() -> None:
    """Two tasks; the first is forgotten by half, the base loses one of its two."""
    found = measured(
        {
            "tasks": ["a", "b"],
            "R": {"0": [0.0, 0.0], "1": [1.0, 0.5], "2": [0.5, 1.0]},
            "R of the base's tasks": {"0": [1.0, 1.0], "2": [1.0, 0.0]},
        }
    )
    expected = {"Learned": 1.0, "zero-shot": 0.0, "ACC": 0.75, "BWT": -0.5, "FWT": 0.5, "forgetting": 0.5}
    expected |= {"base before": 1.0, "base ACC": 0.5, "base forgetting": 0.5}
    assert {name: found[name] for name in expected} == expected
    oracle = {"0": [0.0, 0.0], "1": [1.0, None], "2": [None, 0.5]}
    found = measured({"tasks": ["a", "b"], "R": oracle, "R of the base's tasks": {"0": [1.0]}})
    assert found["Learned"] == 0.75
    assert {found[name] for name in ("ACC", "AIA", "BWT", "FWT", "forgetting", "base ACC")} == {None}


def test_finished_trials_are_kept_and_recorded(plan: Plan, tmp_path: Path) -> None:
    for trial in (Trial("naive"), Trial("memory-only"), Trial("naive", order=1)):
        run_trial(plan, "cpu", tmp_path, trial)
    paths = sorted((tmp_path / "results").iterdir())
    written = [path.read_bytes() for path in paths]
    run_trial(plan, "cpu", tmp_path, Trial("naive"))
    assert [path.read_bytes() for path in paths] == written
    results = read_results(tmp_path)
    assert [(one["trial"]["method"], one["trial"]["order"]) for one in results] == [
        *(("memory-only", 0), ("naive", 0), ("naive", 1))
    ]
    assert [line.split("|")[1].strip() for line in table(results).splitlines()[2:]] == [
        *("memory-only x1", "naive x1")
    ]
    (tmp_path / "record.json").write_text(json.dumps(record(results, SIZE)))
    found = read_record(tmp_path / "record.json")
    assert found.seeds == (0,)  # memory-only has no second order
    assert found.numbers["memory-only x1: base forgetting"] == (0.0,)
    assert found.numbers["naive x1: base ACC"] == (100 * np.mean(results[1]["R of the base's tasks"]["3"]),)


def test_the_tasks_of_the_released_base() -> None:
    plan = plan_for(SIZES["gpu"])
    known = CharmModel.from_pretrained(released_model()).instances
    assert (len(plan.stream), len(plan.own)) == (24, 48)
    assert not any(task.id in known for task in plan.stream)
    assert all(task.id in known for task in plan.own)
    assert len({trial.name for trial in TRIALS}) == len(TRIALS)
