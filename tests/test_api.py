"""The names that `import charm` gives, from the outside."""

import ast
import json
import os
import pydoc
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

import charm
from charm.evaluation.ranking import Candidate
from charm.files import unseal
from charm.runs.settings import read_config
from charm.solving.solution import Clock, Solution
from charm.tasks.keys import MemoryConfig
from charm.tasks.task import Question
from tests.toy.runs import toy_run

TASK = {
    "train": [{"input": [[1, 0, 0]], "output": [[0, 0, 1]]}, {"input": [[0, 2, 1]], "output": [[1, 2, 0]]}],
    "test": [{"input": [[3, 0, 1]]}, {"input": [[0, 0, 3]]}],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return toy_run(tmp_path_factory.mktemp("run"), MemoryConfig(rank=8))


def test_importing_charm_loads_no_torch_and_every_name_is_there() -> None:
    program = (
        "import sys, charm; assert 'torch' not in sys.modules; "
        "assert all(getattr(charm, name) is not None for name in dir(charm)); assert 'torch' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert len(pydoc.plain(pydoc.render_doc(charm)).splitlines()) <= 66  # two screens
    with pytest.raises(AttributeError, match="no attribute 'slove'"):
        charm.slove  # noqa: B018
    assert (Path(charm.__file__).parent / "py.typed").is_file()


def test_every_name_is_exported_to_strict_type_checkers() -> None:
    """mypy --strict exports an import only if it keeps its name (`from x import a as a`), and every assignment."""
    block = next(node for node in ast.parse(Path(charm.__file__).read_text()).body if isinstance(node, ast.If))
    imported = [alias for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assigned = [one.id for node in block.body if isinstance(node, ast.Assign) for one in node.targets]  # type: ignore[attr-defined]
    exported = {alias.name for alias in imported if alias.name == alias.asname} | set(assigned)
    assert exported == set(dir(charm)) - {"__version__"}


@pytest.mark.parametrize("chosen", [None, "ACTIVE"])
def test_threads_wait_asleep_unless_the_user_says_otherwise(chosen: str | None) -> None:
    """Also from Python: threads that spin made a solve on a shared CPU ten times slower than the command."""
    others = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    program = "import charm, os; print(os.environ['OMP_WAIT_POLICY'])"
    found = subprocess.run(
        [sys.executable, "-c", program],
        env=others | ({"OMP_WAIT_POLICY": chosen} if chosen else {}),
        capture_output=True,
        text=True,
    )
    assert found.stdout.strip() == (chosen or "PASSIVE")


def test_load_gives_a_run_or_the_released_model(run: Path) -> None:
    assert charm.load(run, "cpu").config.reasoner.width == 32
    released = charm.load(device="cpu")
    assert len(released.instances.puzzles) > 100
    with pytest.raises(charm.CharmError, match="nowhere"):
        charm.load("nowhere", "cpu")


def test_solve_answers_a_task_however_it_is_given(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "mirror.json"
    path.write_text(json.dumps(TASK))
    task = charm.load_source(path).tasks[0]
    small = {"steps": 3, "views": 4, "batch": 4, "device": "cpu"}
    found = [charm.solve(one, run, 60, **small) for one in (task, str(path), TASK)]  # type: ignore[arg-type]
    for solution in found:
        assert solution.updates == 3
        assert [question.test_index for question in solution.answers] == [0, 1]
    by_task, by_path, _ = ([[c.grid.tolist() for c in some] for some in one.answers.values()] for one in found)
    assert by_task == by_path
    with pytest.raises(charm.CharmError, match=r"SolveOptions has no field 'spets'"):
        charm.solve(task, run, spets=3)
    with pytest.raises(charm.CharmError, match="no task missing"):
        charm.solve("missing", run)
    with pytest.raises(charm.CharmError, match=r"missing\.json: no such file"):
        charm.solve("missing.json", run)
    for budget in (0, -1, float("nan"), float("inf"), "5m"):
        with pytest.raises(charm.CharmError, match=f"budget must be a positive number of seconds, got {budget!r}"):
            charm.solve(task, run, budget)  # type: ignore[arg-type]
    path.write_text(json.dumps({"a": TASK, "b": TASK}))
    with pytest.raises(charm.CharmError, match=r"contains 2 tasks, expected one; .*\[ID\] returns one"):
        charm.solve(str(path), run)


def test_a_loaded_model_solves_as_its_run_does_and_is_not_changed(run: Path) -> None:
    model = charm.load(run, "cpu")
    before = {name: value.clone() for name, value in model.state_dict().items()}
    small = {"steps": 3, "views": 4, "batch": 4, "device": "cpu"}
    by_model, by_run = (charm.solve(TASK, one, 60, **small) for one in (model, run))  # type: ignore[arg-type]
    assert [[c.grid.tolist() for c in some] for some in by_model.answers.values()] == [
        [c.grid.tolist() for c in some] for some in by_run.answers.values()
    ]
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())


def test_a_loaded_model_keeps_how_often_its_answers_are_right() -> None:
    """What the path of the model gives, a loaded model gives, too; only where everything learns, as was counted."""
    model = charm.load(device="cpu")
    for given, mode in ((None, "auto"), (model, "auto"), (model, "full")):
        small: Any = {"steps": 1, "views": 1, "mode": mode, "device": "cpu", "say": None}
        assert charm.solve(TASK, given, 60, **small).calibration is not None
    assert charm.solve(TASK, model, 60, steps=1, views=1, mode="memory", device="cpu", say=None).calibration is None


def test_a_solve_on_a_cpu_has_three_minutes_by_default(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = []

    def clock(budget: float, waits: bool = False) -> Clock:
        if waits:  # for the first update; the others are shares of this one
            given.append(budget)
        return Clock(budget, waits=waits)

    monkeypatch.setattr("charm.solving.solver.Clock", clock)
    charm.solve(TASK, run, steps=0, views=2, device="cpu")
    charm.solve(TASK, run, 50, steps=0, views=2, device="cpu")
    assert given == [180, 50]


def test_several_tasks_are_solved_in_one_call(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each as if it was alone, with a model that takes one at a time."""
    small: Any = {"steps": 3, "views": 4, "batch": 4, "device": "cpu"}
    said: list[str] = []
    task = charm.tasks("arc1/training")["007bbfb7"]
    found = charm.solve([task, TASK, "25ff71a9"], run, 60, say=said.append, **small)
    assert list(found) == ["007bbfb7", "task1", "25ff71a9"]
    assert said[0] == "007bbfb7: learning"
    assert said[-1] == "25ff71a9: 4 views have voted"
    assert capfd.readouterr().err == ""
    alone = charm.solve(task, run, 60, say=None, **small)
    assert alone.submission() == found["007bbfb7"].submission()
    assert capfd.readouterr().err == ""
    with pytest.raises(charm.CharmError, match=r"--writer\.lr is for writers; a urm learns one task at a time"):
        charm.solve(task, run, 60, writer={"lr": 0.1})


def test_one_failure_of_several_tasks_costs_only_itself(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from charm.solving.group import Solver

    work = Solver.work

    def failing(self: Solver, tasks: Any, *rest: Any) -> None:
        if tasks[0].id in broken:
            raise charm.CharmError(f"no room for {tasks[0].id}")
        work(self, tasks, *rest)

    monkeypatch.setattr(Solver, "work", failing)
    broken = ["task0"]
    small: Any = {"steps": 0, "views": 2, "device": "cpu", "say": None}
    assert list(charm.solve([TASK, TASK], run, 60, **small)) == ["task1"]
    broken = ["task0", "task1"]
    with pytest.raises(charm.CharmError, match="no room for task0"):
        charm.solve([TASK, TASK], run, 60, **small)


def test_a_fault_reaches_the_caller(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own type: no other process tries the task again, as it does for the command."""

    def work(self: Any, *rest: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("charm.solving.group.Solver.work", work)
    with pytest.raises(ZeroDivisionError):
        charm.solve(TASK, run, 60, steps=0, views=2, device="cpu", say=None)


def test_train_and_evaluate_are_those_of_the_command_line(run: Path, tmp_path: Path) -> None:
    config = read_config(run)
    again = charm.train(config, tmp_path / "again", say=lambda text: None)
    ours, theirs = (charm.load(one, "cpu").state_dict() for one in (again, run))
    assert all(torch.equal(value, theirs[name]) for name, value in ours.items())
    found = charm.evaluate(again, "cpu", protocol="continual", views=2, loops=(2,))
    assert json.loads(json.dumps(found)) == unseal(json.loads((again / "eval" / "continual.json").read_text()), again)
    assert "pass@2" in found._repr_html_()
    for call, reported in (
        (lambda: charm.train(config), "name the run folder"),
        (lambda: charm.train({"steps": 3}, tmp_path / "x"), "name of a preset or a configuration, got dict"),
        (lambda: charm.train("quickstart", tmp_path / "x", stepps=3), "stepps"),
        (
            lambda: charm.train(config, tmp_path / "x", steps="many"),
            r"train\.steps: expected int, got 'many'",
        ),
        (lambda: charm.train(config, 3), "the run folder must be a name or a path, got int"),  # type: ignore[arg-type]
        (lambda: charm.evaluate(again, vews=3), "no field 'vews'"),
        (lambda: charm.evaluate(again, loops=2), r"evaluate\.loops: expected a list, got 2"),
        (lambda: charm.evaluate(again, tasks="toy0"), r"evaluate\.tasks: expected a list, got 'toy0'"),
        (lambda: charm.evaluate(again, window="most"), "expected one of current, half, all, got 'most'"),
    ):
        with pytest.raises(charm.CharmError, match=reported):
            call()


LONG = "x" * 5000


@pytest.mark.parametrize(
    ("call", "reported"),
    [
        (lambda: charm.load(3), "a model must be a name or a path, got int"),
        (lambda: charm.load(LONG), r"a model cannot be a file name: 'x+' \(5,000 characters\)"),
        (lambda: charm.load("a\0b"), "a model cannot be a file name"),
        (lambda: charm.load("owner/name", revision=3), "revision must be the name of a branch"),
        (lambda: charm.solve(TASK, 3), "a model must be a name or a path, got int"),
        (lambda: charm.solve([[TASK]]), "neither a Task nor a dictionary must be a name or a path, got list"),
        (lambda: charm.solve([]), "needs at least one task, got an empty list"),
        (lambda: charm.solve(["007bbfb7"] * 2), "charm.solve: task id 007bbfb7 appears twice"),
        (lambda: charm.solve(TASK, say=3, device="cpu"), 'say must be a function, "bar" or None, got 3'),
        (lambda: charm.solve(None), "must be a name or a path, got NoneType"),
        (lambda: charm.solve(LONG), "cannot be a file name"),
        (lambda: charm.solve(TASK, views="all"), r"solve\.views: expected int, got 'all'"),
        (lambda: charm.solve(TASK, steps=1.5), r"solve\.steps: expected int, got 1\.5"),
        (lambda: charm.solve(TASK, writer={"lr": "x"}), r"solve\.writer\.lr: expected float"),
        (lambda: charm.solve(TASK, budget=10**400), "budget must be a positive number of seconds"),
        (lambda: charm.tasks(3), "a set of tasks must be a name or a path, got int"),
        (lambda: charm.tasks(["arc1/training"]), "a set of tasks must be a name or a path, got list"),
        (lambda: charm.tasks(LONG), "cannot be a file name"),
        (lambda: charm.train("quickstart", f"{__file__}/run"), "/run cannot be created .Not a directory"),
        (lambda: charm.preset(3), "a preset must be a name, got int"),
        (lambda: charm.evaluate(3), "a run must be a name or a path, got int"),
        (lambda: charm.evaluate(LONG), "a run cannot be a file name"),
        (lambda: charm.View("a"), "a view needs an integer and ten colours, got 'a'"),
        (lambda: charm.View(1, 3), "a view needs an integer and ten colours, got 1 and 3"),
        (lambda: charm.View(1, "0123456789"), "a view needs an integer and ten colours"),
        (lambda: charm.View(1, [0, 2, 1]), "must be a permutation"),
    ],
)
def test_wrong_input_is_told_in_a_sentence(call, reported: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(charm.CharmError, match=reported):
        call()


def test_tasks_views_and_results_draw_themselves(run: Path) -> None:
    tasks = charm.tasks("arc1/training")
    assert len(tasks) == 400
    task = tasks["007bbfb7"]
    assert task.id == "007bbfb7"
    assert (tasks[0], tasks[:2]) == (next(iter(tasks)), tuple(tasks)[:2])
    assert "007bbfb7" in tasks
    assert "missing" not in tasks
    assert task in tasks
    with pytest.raises(charm.CharmError, match="no task missing"):
        tasks["missing"]
    colors = [0, 2, 1, *range(3, 10)]
    views = {charm.View(1, colors), charm.View(1, tuple(colors)), charm.View(1, np.array(colors))}  # type: ignore[arg-type]
    assert views == {charm.View(1, tuple(colors))}
    solution = charm.solve(TASK, run, 60, steps=0, views=2, device="cpu")
    for drawn, grids in ((tasks, 24), (task, 12), (charm.View(3), 2), (task.blind(), 11)):
        page = drawn._repr_html_()
        assert page.count("<svg ") == grids
        ElementTree.fromstring(page)  # every element is closed
    assert f"of {solution.views} votes" in solution._repr_html_()


def test_a_task_is_printed_as_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """In colours in a terminal, in digits elsewhere; its name alone stays short."""
    task = charm.tasks("arc1/training")["007bbfb7"].blind()
    assert repr(task) == "<Task 007bbfb7: 5 demonstrations, 1 test input>"
    plain = str(task)
    assert plain.startswith(f"{task!r}\n\ntrain 0\n0 7 7  → 0 0 0 0 7 7 0 7 7\n7 7 7    0 0 0 7 7 7 7 7 7\n")
    assert plain.endswith("\n\ntest 0\n7 0 7  → ?\n7 0 7\n7 7 0")
    monkeypatch.setattr("sys.stdout", Mock(isatty=lambda: True))
    shown = str(task)
    assert "\x1b[38;2;255;133;27;48;2;255;133;27m7 \x1b[0m" in shown  # orange on orange
    without = [line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()]
    assert without == plain.splitlines()
    monkeypatch.setenv("NO_COLOR", "1")
    assert str(task) == plain


def test_a_result_is_printed_with_its_answers_and_saved(run: Path, tmp_path: Path) -> None:
    solution = charm.solve(TASK, run, 60, steps=0, views=2, device="cpu")
    assert [grid.tolist() for grid in solution.best if grid is not None] == [
        ranked[0].grid.tolist() for ranked in solution.answers.values() if ranked
    ]
    shown = str(solution)
    for question, ranked in solution.answers.items():
        assert (f"{question}: {ranked[0].votes} of 2 votes" if ranked else f"{question}: no answer") in shown
    assert shown.endswith(f"{solution.summary}\n{solution.doubt}")
    assert "demonstrations were not learned" in shown
    path = tmp_path / "submission.json"
    solution.save(path)
    assert json.loads(path.read_text()) == solution.submission()
    assert [list(one) for one in solution.submission()["task"]] == [["attempt_1", "attempt_2"]] * 2
    by_hand = Solution({Question("a", 0): [Candidate(np.array([[1, 2], [3, 4]]), 0, 5, 5, 1.0)]}, 9, 6, 0.1, 1.0, 3.0)
    assert str(by_hand).splitlines() == [
        f"{Question('a', 0)}: 5 of 6 votes",
        "1 2",
        "3 4",
        "9 updates, 100% of the last demonstrations exact, 6 views, 3 s",
    ]


@pytest.mark.parametrize("answered", [True, False])
def test_ctrl_c_returns_what_there_is(run: Path, monkeypatch: pytest.MonkeyPatch, answered: bool) -> None:
    solution = Solution({Question("task", 0): []}, 1, 2, 0.0, 1.0, 3.0)

    def work(self, tasks, clock, say, publish) -> None:  # type: ignore[no-untyped-def]
        if answered:
            publish({"task": solution})
        raise KeyboardInterrupt

    monkeypatch.setattr("charm.solving.group.Solver.work", work)
    if answered:
        assert charm.solve(TASK, run, 60, device="cpu") is solution
    else:
        with pytest.raises(KeyboardInterrupt):
            charm.solve(TASK, run, 60, device="cpu")


def test_the_memory_is_reached_through_the_package() -> None:
    lookup = charm.memory.Lookup("user", 3, 4)
    assert torch.equal(lookup({"user": [0, 2]}), torch.zeros(2, 4))
