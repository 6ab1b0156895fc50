"""The answers to the pages, compared with the project's own functions."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from charm.errors import CharmError
from charm.paths import released_model
from charm.report import folder
from charm.runs.checkpoint import newest_checkpoint
from charm.tasks.batch import PairBank, view_tokens
from charm.tasks.canvas import BOUNDARY, FIT_SIDES
from charm.tasks.instances import Instances
from charm.tasks.keys import Keys
from charm.tasks.sources import ARC_SPLITS, CONCEPT_ARC
from charm.tasks.task import Grid, Pair, Task, as_grid, digits, task_from_json, task_to_json
from charm.tasks.view import IDENTITY, View
from charm.web import api
from charm.web.api import Library
from tests.toy.viewer import TASK, write_run

COLORS = "0918273645"


def grid_of(text: str) -> Grid:
    return as_grid([[int(digit) for digit in row] for row in text.split("/")], "a test")


def tokens_of(text: str) -> list[list[int]]:
    return [[int(digit, 12) for digit in row] for row in text.split("/")]


@pytest.mark.parametrize("turn", range(8))
def test_a_task_is_shown_under_the_view_asked_for(library: Library, turn: int) -> None:
    task = library.sources["arc2/training"].tasks[turn]
    view = View(turn, tuple(map(int, COLORS)))
    query = {"set": "arc2/training", "task": task.id, "turn": str(turn), "colors": COLORS, "answers": "1"}
    found = api.task_json(library, query)
    assert found["view"] == {"name": str(view), "turn": turn, "colors": COLORS, "code": view.code}
    demos = tuple(Pair(*map(grid_of, pair)) for pair in found["demos"])
    tests = tuple(Pair(grid_of(test["input"]), grid_of(test["output"])) for test in found["tests"])
    assert Task(task.id, demos, tests) == view.apply_to_task(task)


def test_a_seed_draws_the_same_view_again_and_seeds_reach_all_symmetries() -> None:
    views = [api.view_of({"seed": str(seed)}) for seed in range(200)]
    assert views == [api.view_of({"seed": str(seed)}) for seed in range(200)]
    assert {view.dihedral for view in views} == set(range(8))
    assert len({view.colors for view in views}) > 190  # of 362,880; a few may coincide
    assert api.view_of({}) == IDENTITY


def test_answers_stay_here_until_they_are_asked_for(library: Library, toy_tasks: Path) -> None:
    task = library.sources["toys"].tasks[0]
    hidden = api.task_json(library, {"set": "toys", "task": task.id})
    assert hidden["tests"][0]["output"] is None
    assert hidden["tests"][0]["known"]
    assert "output" not in hidden["task"]["test"][0]
    assert task_from_json(hidden["task"], task.id, "") == task.blind()
    shown = api.task_json(library, {"set": "toys", "task": task.id, "answers": "1"})
    assert np.array_equal(grid_of(shown["tests"][0]["output"]), task.answers()[0])
    query = {"set": "toys", "task": task.id, "part": "test"}
    assert api.canvas_json(library, query)["output"] is None
    assert api.canvas_json(library, query | {"answers": "1"})["output"] is not None


@pytest.mark.parametrize("canvas", api.CANVASES)
@pytest.mark.parametrize("turn", [0, 1, 6])
def test_a_canvas_is_what_training_makes_of_the_pair(library: Library, canvas: str, turn: int) -> None:
    rng = np.random.default_rng(turn)
    for task in rng.choice(np.array(library.sources["arc2/training"].tasks, object), 8):
        query = {"set": "arc2/training", "task": task.id, "turn": str(turn), "colors": COLORS}
        query |= {"canvas": canvas, "pair": str(len(task.train) - 1)}
        room = api.canvas_json(library, query)["room"]
        top, left = (int(rng.integers(0, most + 1)) for most in room)
        found = api.canvas_json(library, query | {"top": str(top), "left": str(left)})
        bank, one = PairBank.of(task.train), torch.zeros(1, dtype=torch.long)
        keys = Keys(one, torch.tensor([turn]), torch.tensor([list(map(int, COLORS))], dtype=torch.uint8))
        expected = view_tokens(bank, keys, one + len(task.train) - 1, one, one + top, one + left, found["side"])
        for name, tokens in zip(("input", "output"), expected, strict=True):
            assert tokens is not None
            assert tokens_of(found[name]) == tokens.view(found["side"], -1).tolist()


def test_fit_canvases_leave_room_for_the_boundary_and_look_at_no_answer(library: Library) -> None:
    for task in library.sources["arc2/training"].tasks[:60]:
        query = {"set": "arc2/training", "task": task.id, "canvas": "pair"}
        found = api.canvas_json(library, query)
        longest = max(max(grid.shape) for grid in task.train[0].grids())
        assert found["side"] == next(side for side in FIT_SIDES if side > longest or side == 30)
        if found["side"] < 30:
            down, right = map(str, found["room"])
            corner = api.canvas_json(library, query | {"top": down, "left": right})
            for name, grid in zip(("input", "output"), task.train[0].grids(), strict=True):
                assert sum(row.count(BOUNDARY) for row in tokens_of(corner[name])) == sum(grid.shape)
        huge = as_grid([[0] * 30] * 30, "")
        changed = replace(task, test=tuple(Pair(pair.input, huge) for pair in task.test))
        sides = {api.canvas_side("puzzle", one, one.train[0]) for one in (task, changed)}
        assert len(sides) == 1


def test_the_list_of_a_set_is_complete_and_names_generators(library: Library) -> None:
    found = api.tasks_json(library, {"set": "arc2/training"})["tasks"]
    tasks = library.sources["arc2/training"].tasks
    assert [one["id"] for one in found] == [task.id for task in tasks]
    assert sum("rearc2" in one["generators"] for one in found) == 609
    assert all(
        np.array_equal(grid_of(text), grid)
        for one, task in zip(found, tasks, strict=True)
        for text, grid in zip(one["first"], task.train[0].grids(), strict=True)
    )


@pytest.mark.parametrize(
    ("ask", "query", "sentence"),
    [
        (api.tasks_json, {}, "unknown set ''"),
        (api.tasks_json, {"set": "../../etc"}, "unknown set '../../etc'"),
        (api.task_json, {"set": "toys", "task": "../toy0"}, "no task '../toy0'"),
        (api.task_json, {"set": "toys", "task": "toy0", "turn": "8"}, "turn must be"),
        (api.task_json, {"set": "toys", "task": "toy0", "seed": "-1"}, "seed must be"),
        (api.task_json, {"set": "toys", "task": "toy0", "seed": "9" * 5000}, "seed must be"),
        (api.task_json, {"set": "toys", "task": "toy0", "seed": "²"}, "seed must be"),
        (api.task_json, {"set": "toys", "task": "toy0", "colors": "red"}, "ten digits"),
        (api.task_json, {"set": "toys", "task": "toy0", "colors": "1023456789"}, "permutation"),
        (api.canvas_json, {"set": "toys", "task": "toy0", "canvas": "huge"}, "canvas must be one of"),
        (api.canvas_json, {"set": "toys", "task": "toy0", "part": "all"}, "train or test"),
        (api.canvas_json, {"set": "toys", "task": "toy0", "pair": "3"}, "pair must be"),
        (api.canvas_json, {"set": "toys", "task": "toy0", "top": "27"}, "top must be"),
        (api.run_json, {"run": "/etc"}, "unknown run '/etc'"),
    ],
)
def test_bad_queries_are_told_in_a_sentence(library: Library, ask, query, sentence) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(CharmError, match=sentence):
        ask(library, query)


# Runs


def status(run: Path, now: float = 0.0) -> api.JsonObject:
    return api.run_json(Library({}, {"it": run}), {"run": "it"}, now)


def test_progress_rate_and_time_left_of_a_run_in_the_making(tmp_path: Path) -> None:
    lines: list[object] = [
        {"step": 10 * n, "loss": 3.0 / n, "samples_per_second": 40.0, "time": 100.0 + 5 * n} for n in range(1, 9)
    ]
    lines.append({"step": 80, "evaluation/pass@2": 0.25, "time": 900.0})  # which took long
    lines.append({"step": 90, "loss": 0.3, "samples_per_second": 41.5, "time": 905.0})
    run = write_run(tmp_path / "run", {"steps": 200}, lines)
    found = status(run, now=907.5)
    assert (found["kind"], found["step"], found["steps"]) == ("arc", 90, 200)
    assert found["updates_per_second"] == 2.0  # the median: the evaluation does not count
    assert found["seconds_left"] == 55.0
    assert found["seconds_since"] == 2.5
    assert found["speed"] == ["samples per second", 41.5]
    assert found["evaluation"] == {"step": 80, "scores": {"pass@2": 0.25}}
    assert [curve.count("<svg") for curve in found["curves"]] == [1, 1]  # loss and pass@2


def test_a_half_written_line_changes_nothing(tmp_path: Path) -> None:
    lines: list[object] = [{"step": n, "loss": 1.0, "time": float(n)} for n in range(1, 5)]
    run = write_run(tmp_path / "run", {"steps": 9}, lines)
    whole = status(run)
    line = json.dumps({"step": 5, "loss": 0.5, "time": 5.0})
    for length in range(1, len(line)):
        (run / "metrics.jsonl").write_text(
            "".join(json.dumps(one) + "\n" for one in lines) + line[:length], encoding="utf-8"
        )
        assert status(run) == whole
    (run / "metrics.jsonl").unlink()
    assert status(run)["step"] == 0
    assert status(run)["curves"] == []
    (run / "checkpoints" / "step_000000004").mkdir(parents=True)
    assert status(run)["step"] == 4  # the lines are lost, the updates are not


@pytest.mark.parametrize(
    ("config", "kind", "score"),
    [
        ({"domain": "car", "steps": 4}, "car", "unseen pass@2"),
        ({"domain": "lm", "steps": 4}, "lm", "bpb"),
    ],
)
def test_runs_on_automata_and_text_have_curves(tmp_path: Path, config, kind, score) -> None:  # type: ignore[no-untyped-def]
    lines: list[object] = [
        {"step": 1, "loss": 2.0, "time": 1.0},
        {"step": 2, f"evaluation/{score}": 0.5, "time": 2.0},
    ]
    found = status(write_run(tmp_path / "run", config, lines))
    assert found["kind"] == kind
    assert found["evaluation"] == {"step": 2, "scores": {score: 0.5}}
    assert len(found["curves"]) == 2


def test_the_newest_evaluation_is_the_one_the_report_shows(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", {"steps": 4}, [{"step": 4, "loss": 1.0, "time": 1.0}])
    assert status(run)["evaluation"] is None
    (run / "eval").mkdir()
    scores = {"step": 4, "puzzles": 3, "metrics": {"pass@1": 0.5, "pass@2": 0.75, "pass@1/outputs": 0.1}}
    (run / "eval" / "standard.json").write_text(json.dumps(scores))
    newest = folder.find_evaluation(run)
    assert newest is not None
    assert newest["metrics"] == scores["metrics"]
    shown = {"step": 4, "scores": {"pass@1": 0.5, "pass@2": 0.75}, "protocol": ""}
    assert status(run)["evaluation"] == shown
    fields = {"name": "standard", "views": 8, "window": "current", "loops": [2]}
    (run / "eval" / "standard.json").write_text(json.dumps(scores | {"protocol": fields}))
    text = "at most 8 views, the newest checkpoint, 2 refinement steps"
    assert status(run)["evaluation"] == shown | {"protocol": text}


# Pasting and solving


def test_a_pasted_task_is_checked_and_loses_its_answers() -> None:
    expected = {"train": TASK["train"], "test": [{"input": [[2, 1]]}]}
    assert api.pasted_json(json.dumps(TASK)) == {"id": "pasted", "task": expected}
    assert api.pasted_json(json.dumps({"<b>": TASK})) == {"id": "<b>", "task": expected}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "must be text"),
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "no demonstration"),
        ("[]", "not a JSON object"),
        (json.dumps({"a": TASK, "b": TASK}), "2 tasks"),
        (json.dumps({"a": TASK, "b": TASK}).replace('"b"', '"a"'), "'a' appears twice"),
        (json.dumps(TASK | {"train": [{"input": [[0]]}]}), "no 'output'"),
        (json.dumps(TASK | {"test": [{"input": [[10]]}]}), "got 10"),
        (json.dumps(TASK | {"test": [{"input": [[0] * 31]}]}), "at most 30x30"),
    ],
)
def test_a_bad_paste_is_told_in_a_sentence(text: object, sentence: str) -> None:
    with pytest.raises(CharmError, match=sentence):
        api.pasted_json(text)


def test_a_request_to_solve_is_checked(library: Library, run: Path) -> None:
    good = {"name": "mine", "task": TASK, "model": "a run", "budget": 5, "mode": "full"}
    task, model, path, options, known = api.solve_request(library, good)
    assert (task.id, model, path, options.budget, options.mode) == ("mine", "a run", run, 5.0, "full")
    assert known is None
    blank = TASK | {"train": [*TASK["train"], {"input": [[0, 0]], "output": [[0]]}]}
    for change, sentence in (
        ({"name": ""}, "name"),
        ({"name": 3}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"model": str(run)}, "unknown model"),
        ({"model": ["a run"]}, "unknown model"),
        ({"budget": "5"}, "seconds"),
        ({"budget": float("nan")}, "seconds"),
        ({"budget": 10**400}, "seconds"),
        ({"budget": True}, "seconds"),
        ({"mode": "magic"}, "mode"),
        ({"mode": []}, "mode"),
        ({"task": None}, "not a JSON object"),
        ({"task": blank}, "demonstration 2 is blank: draw its input and its output, or remove it"),
    ):
        with pytest.raises(CharmError, match=sentence):
            api.solve_request(library, {**good, **change})


def test_a_known_task_is_recognised_by_its_demonstrations(library: Library, run: Path) -> None:
    learned = Instances.load(newest_checkpoint(run) / "instances.npz").puzzles
    for source, trained in (("toys", True), ("arc2/training", False)):
        task = library.sources[source].tasks[0]
        assert (task.id in learned) == trained
        drawn = {"name": "mine", "task": task_to_json(task.blind()), "model": "a run"}
        known = api.solve_request(library, drawn)[-1]
        truth = [digits(pair.output) for pair in task.test]
        assert known == {"id": task.id, "source": source, "truth": truth, "trained": trained}
        drawn["task"]["test"] = [{"input": [pair.input.ravel().tolist()]} for pair in task.test]  # the same cells
        assert api.solve_request(library, drawn)[-1]["truth"] == [None] * len(task.test)


def test_runs_are_found_in_their_folder(tmp_path: Path) -> None:
    assert api.runs_in(tmp_path / "runs") == []
    for number, name in enumerate(("old", "new")):
        made = write_run(tmp_path / "runs" / name, {"steps": 4}, [])
        os.utime(made, (number, number))
    (tmp_path / "runs" / "old again").symlink_to(made.with_name("old"))
    (tmp_path / "runs" / "notes").mkdir()
    (tmp_path / "runs" / "notes.txt").write_text("no run")
    found = api.runs_in(tmp_path / "runs")
    assert [path.name for path in found] == ["new", "old"]
    library = api.open_library([], [], [], tmp_path, print, found)
    assert (list(library.runs), list(library.models)) == (["new", "old"], ["base", "new", "old"])


def test_what_is_opened_is_looked_at_first(
    run: Path, toy_tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    found = api.open_library([run], [run], [toy_tasks], tmp_path, said.append)
    assert said == []
    assert (list(found.runs), list(found.models)) == (["run"], ["run", "base"])
    assert len(found.sources[str(toy_tasks)].tasks) == 4
    monkeypatch.chdir(released_model().parent)  # the same folder by another path is the same model
    assert list(api.open_library([], [Path("base")], [], tmp_path, said.append).models) == ["base"]
    with pytest.raises(CharmError, match="not a run folder"):
        api.open_library([tmp_path], [], [], tmp_path, said.append)
    with pytest.raises(CharmError, match="neither a saved model nor a run"):
        api.open_library([], [tmp_path], [], tmp_path, said.append)
    (tmp_path / CONCEPT_ARC).mkdir()  # an empty download
    assert list(api.open_library([], [], [], tmp_path, said.append).sources) == list(ARC_SPLITS)
    assert "files of ConceptARC are missing" in said[0]
    young = write_run(tmp_path / "young", {"steps": 4}, [])
    assert api.models_json(Library({}, {}, {"young": young, "run": run})) == {
        "models": ["run"],
        "waiting": ["young"],
    }
