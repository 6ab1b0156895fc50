"""The names that `import charm` gives, from the outside."""

import ast
import importlib.util
import json
import os
import pkgutil
import pydoc
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

import charm
from charm.evaluation.ranking import NO_ANSWER, Candidate
from charm.files import unseal
from charm.runs.settings import read_config
from charm.solving.solution import Clock, Solution
from charm.tasks.keys import MemoryConfig
from charm.tasks.task import Pair, Question, task_from_json
from tests.toy.runs import toy_run
from tests.toy.solves import COUNTED

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
    with pytest.raises(AttributeError, match="no attribute 'slove'"):
        charm.slove  # noqa: B018
    assert (Path(charm.__file__).parent / "py.typed").is_file()


def test_help_has_two_screens_and_names_what_users_call() -> None:
    """Internal modules would be most of it; who imports still finds them."""
    shown = pydoc.plain(pydoc.render_doc(charm)).splitlines()
    assert len(shown) <= 48  # of 80 x 24
    assert max(map(len, shown)) < 100
    assert not {"accounting", "processes"} & {*" ".join(shown).split()}
    for name in set(dir(charm)) - {"__version__", "load_source"}:
        assert re.search(rf"\b{name}\b", "\n".join(shown)), name
    assert {"accounting", "processes"} <= {one.name for one in pkgutil.iter_modules(charm.__path__)}
    assert importlib.util.find_spec("charm.processes") is not None


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
    with pytest.raises(charm.CharmError, match=r"SolveOptions has no field 'spets'; did you mean 'steps'\?$"):
        charm.solve(task, run, spets=3)
    with pytest.raises(charm.CharmError, match=r"WriterRecipe has no field 'rl'$"):
        charm.solve(task, run, writer={"rl": 3.0})
    with pytest.raises(charm.CharmError, match="no task missing"):
        charm.solve("missing", run)
    with pytest.raises(charm.CharmError, match=r"missing\.json: no such file"):
        charm.solve("missing.json", run)
    for budget in (0, -1, float("nan"), float("inf"), "5m"):
        with pytest.raises(charm.CharmError, match=f"budget must be a positive number of seconds, got {budget!r}"):
            charm.solve(task, run, budget)  # type: ignore[arg-type]
    path.write_text(json.dumps({"a": TASK, "b": TASK}))
    with pytest.raises(charm.CharmError, match=r"has 2 tasks, expected one; charm\.solve\(\['.*'\]\) solves them all"):
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
    small: Any = {"steps": 0, "views": 2, "device": "cpu"}
    charm.solve(TASK, run, 50, **small)
    charm.solve(TASK, run, options=charm.SolveOptions(seed=3), **small)
    charm.solve(TASK, run, options=charm.SolveOptions(budget=20), **small)
    charm.solve(TASK, run, 50, options=charm.SolveOptions(budget=20), **small)
    assert given == [180, 50, 180, 20, 50]


def test_options_are_taken_as_one_record_or_one_by_one(run: Path) -> None:
    options = charm.SolveOptions(steps=3, views=4, batch=4)
    one = charm.solve(TASK, run, 60, "cpu", options=options)
    other = charm.solve(TASK, run, 60, "cpu", options=options, steps=2)
    again = charm.solve(TASK, run, 60, "cpu", steps=3, views=4, batch=4)
    assert (one.updates, one.views, other.updates, other.views) == (3, 4, 2, 4)
    assert one.submission() == again.submission()


def test_names_mean_what_the_command_takes_them_for(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of several tasks, folders and public sets, in a list; the example also where there is no such file."""
    small: Any = {"steps": 0, "views": 2, "device": "cpu", "say": None}
    (tmp_path / "tasks").mkdir()
    for name, content in (("tasks/one", TASK), ("several", {"a": TASK, "b": TASK})):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    monkeypatch.chdir(tmp_path)
    assert [*charm.solve(["tasks", "several.json", TASK], run, 60, **small)] == ["task2", "one", "a", "b"]
    assert charm.solve("tasks", run, 60, **small).views == 2  # a folder of one
    assert charm.solve("examples/task.json", run, 60, **small).views == 2
    whole = charm.load_source("arc2/evaluation")
    seen: list[str] = []

    def work(self: Any, tasks: Any, *rest: Any) -> None:
        seen.extend(task.id for task in tasks)
        raise charm.CharmError("enough")

    monkeypatch.setattr("charm.solving.group.Solver.work", work)
    with pytest.raises(charm.CharmError, match="enough"):
        charm.solve(["arc2/evaluation"], run, 60, **small)
    assert seen == [task.id for task in whole.tasks]
    (tmp_path / "tasks" / "bad.json").write_text("[]")
    with pytest.raises(charm.CharmError, match=r"bad\.json: neither a task"):
        charm.solve(["tasks"], run, 60, **small)


def test_several_tasks_are_solved_in_one_call(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Each as if it was alone, with a model that takes one at a time."""
    small: Any = {"steps": 3, "views": 4, "batch": 4, "device": "cpu"}
    said: list[str] = []
    task = charm.tasks("arc1/training")["007bbfb7"]
    found = charm.solve([task, TASK, "25ff71a9"], run, 60, say=said.append, **small)
    assert list(found) == ["007bbfb7", "task1", "25ff71a9"]
    assert found.failed == {}
    assert said[0] == "007bbfb7: learning"
    assert said[-1] == "25ff71a9: 4 views have voted"
    assert capfd.readouterr().err == ""
    alone = charm.solve(task, run, 60, say=None, **small)
    assert alone.submission() == found["007bbfb7"].submission()
    assert capfd.readouterr().err == ""
    with pytest.raises(charm.CharmError, match=r"--writer\.lr is for writers; a urm learns one task at a time"):
        charm.solve(task, run, 60, writer={"lr": 0.1})


def test_one_failure_of_several_tasks_costs_only_itself(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from charm.solving.group import Solver

    work = Solver.work

    def failing(self: Solver, tasks: Any, *rest: Any) -> None:
        if tasks[0].id in broken:
            raise charm.CharmError(f"no room for {tasks[0].id}")
        work(self, tasks, *rest)

    monkeypatch.setattr(Solver, "work", failing)
    broken = ["task0"]
    small: Any = {"steps": 0, "views": 2, "device": "cpu", "say": None}
    found = charm.solve([TASK, TASK], run, 60, **small)
    assert list(found) == ["task1"]
    assert found.failed == {"task0": "no room for task0"}
    assert repr(found) == "<Solutions: answers to 1 of 2 tasks>"
    for shown in (str(found), found._repr_html_()):
        assert "task0: no answer (no room for task0)" in shown
        assert "task1 test 1" in shown
    with pytest.raises(charm.CharmError, match="task task0 has no answer: no room for task0"):
        found["task0"]
    with pytest.raises(charm.CharmError, match="no task 007 among the 2 that were given"):
        found["007"]
    assert found.get("task0") is None
    path = tmp_path / "submission.json"
    found.save(path)
    submission = json.loads(path.read_text())
    assert submission == found.submission()
    assert submission["task0"] == [dict.fromkeys(("attempt_1", "attempt_2"), NO_ANSWER)] * 2
    assert submission["task1"] == found["task1"].submission()["task1"]
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


def test_a_task_of_the_callers_own_is_checked_as_one_from_a_file() -> None:
    """Made of `Task` and `Pair` directly, which take anything."""
    grid = np.array([[1, 2], [3, 0]])
    for wrong, reported in (
        (np.zeros((31, 31), int), "at most 30x30, got 31x31"),
        (np.zeros((0, 0), int), "the grid is empty"),
        (grid / 1, "must contain only integers"),
        (grid + 10, r"colours must be in 0\.\.9, got 11"),
        (np.zeros((2, 2, 2), int), "must contain only integers"),
        (None, "not a list of rows"),
    ):
        for pairs in ((Pair(wrong, grid), Pair(grid, None)), (Pair(grid, grid), Pair(wrong, None))):
            with pytest.raises(charm.CharmError, match=reported):
                charm.solve(charm.Task("own", pairs[:1], pairs[1:]))
    one, asked = Pair(grid, grid), Pair(grid, None)
    for task, reported in (
        (charm.Task("own", (asked,), (asked,)), "a demonstration has no 'output'"),
        (charm.Task("own", (), (asked,)), "has no demonstrations"),
        (charm.Task("own", (one,), ()), "has no test input"),
        (charm.Task(3, (one,), (asked,)), "not a Task of an id and pairs of grids"),  # type: ignore[arg-type]
        (charm.Task("own", ((grid, grid),), (asked,)), "not a Task of an id and pairs"),  # type: ignore[arg-type]
        (charm.Task("own", 3, (asked,)), "not a Task of an id and pairs of grids"),  # type: ignore[arg-type]
    ):
        with pytest.raises(charm.CharmError, match=reported):
            charm.solve([task])


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
        (lambda: charm.solve([TASK, task_from_json(TASK, "task0", "")]), "charm.solve: task id task0 appears twice"),
        (lambda: charm.solve(TASK, options={"views": 2}), "options must be SolveOptions, got dict"),
        (lambda: charm.solve("arc1/evaluation"), r"has 400 tasks, expected one; charm.solve\(\['arc1/evaluation'\]\)"),
        (lambda: charm.solve(TASK, say=3, device="cpu"), 'say must be a function, "bar" or None, got 3'),
        (lambda: charm.solve(None), "must be a name or a path, got NoneType"),
        (lambda: charm.solve(LONG), "cannot be a file name"),
        (lambda: charm.solve(""), "must be a name or a path, got an empty text"),
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
    for drawn, grids in ((tasks, 24), (task, 12), (charm.View(3), 2), (task.blind(), 11), (task.test[0], 2)):
        page = drawn._repr_html_()
        assert page.count("<svg ") == grids
        ElementTree.fromstring(page)  # every element is closed
    assert f"of {solution.views} votes" in solution._repr_html_()


def test_a_task_is_printed_as_a_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """In colours in a terminal, in digits elsewhere; its name alone stays short."""
    task = charm.tasks("arc1/training")["007bbfb7"].blind()
    assert repr(task) == "<Task 007bbfb7: 5 demonstrations, 1 test input>"
    plain = str(task)
    assert plain.startswith(
        f"{task.title}\n\ntrain 0: 3x3 → 9x9           train 1: 3x3 → 9x9\n"
        "0 7 7  → 0 0 0 0 7 7 0 7 7   4 0 4  → 4 0 4 0 0 0 4 0 4\n"
        "7 7 7    0 0 0 7 7 7 7 7 7   0 0 0    0 0 0 0 0 0 0 0 0\n"
    )
    assert plain.endswith("\n\ntest 0: 3x3 → ?\n7 0 7  → ?\n7 0 7\n7 7 0")
    assert len(plain.splitlines()) == 39
    assert repr(task.train[0]) == "<Pair: 3x3 → 9x9>"
    assert str(task.test[0]) == "7 0 7  → ?\n7 0 7\n7 7 0"
    wide = charm.tasks("arc1/training")["0d3d703e"].train[0]
    monkeypatch.setenv("COLUMNS", "15")
    assert str(wide) == "3 1 2  → 4 5 6\n3 1 2    4 5 6\n3 1 2    4 5 6"
    monkeypatch.setenv("COLUMNS", "14")
    assert str(wide) == "3 1 2\n3 1 2\n3 1 2\n↓\n4 5 6\n4 5 6\n4 5 6"
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr("sys.stdout", Mock(isatty=lambda: True))
    monkeypatch.setenv("COLORTERM", "truecolor")
    shown = str(task)
    assert "\x1b[38;2;255;133;27;48;2;255;133;27m7 \x1b[0m" in shown  # orange on orange
    without = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    assert [line.split() for line in without] == [line.split() for line in plain.splitlines()]
    assert {line[:10].rstrip() for line in without[3:12]} == {line[:10].rstrip() for line in plain.splitlines()[3:12]}
    monkeypatch.setenv("NO_COLOR", "1")
    assert str(task) == plain


def test_a_result_is_printed_with_its_answers_and_saved(run: Path, tmp_path: Path) -> None:
    solution = charm.solve(TASK, run, 60, steps=0, views=2, device="cpu")
    assert [grid.tolist() for grid in solution.best if grid is not None] == [
        ranked[0].grid.tolist() for ranked in solution.answers.values() if ranked
    ]
    shown = str(solution)
    for question, ranked in solution.answers.items():
        for number, one in enumerate(ranked[:2], start=1):
            assert f"attempt {number}: {one.votes} of 2 votes" in shown
        assert ranked or f"{question}\nno answer" in shown
    assert solution.summary in shown
    assert " ".join(shown.split()).endswith(solution.doubt)
    assert "demonstrations were not learned" in shown
    path = tmp_path / "submission.json"
    solution.save(path)
    assert json.loads(path.read_text()) == solution.submission()
    assert [list(one) for one in solution.submission()["task"]] == [["attempt_1", "attempt_2"]] * 2


ANSWERS = {
    Question("a", 0): [
        Candidate(np.array([[1, 2], [3, 4]]), 0, 100, 100, 0.7),
        Candidate(np.array([[5]]), 1, 20, 20, 0.25),
        Candidate(np.array([[6]]), 2, 8, 8, 0.1),
    ],
    Question("a", 1): [],
}
BY_HAND = Solution(ANSWERS, 9, 128, 0.1, 1.0, 3.0, calibration=COUNTED)


def test_both_attempts_are_printed_side_by_side_where_they_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """With their votes, their likelihood and how often such answers were right, at 80 columns and on a phone."""
    assert str(BY_HAND).splitlines() == [
        "a test 0",
        "attempt 1: 100 of 128 votes            attempt 2: 20 of 128 votes",
        "likelihood 0.70                        likelihood 0.25",
        "very likely: answers with such votes   very unlikely: answers with such",
        "were right in 45 of 50 cases           votes were right in 1 of 60 cases",
        "1 2                                    5",
        "3 4",
        "",
        "a test 1",
        "no answer",
        "",
        "9 updates, 100% of the last demonstrations exact, 128 views, 3 s",
        "likelihood: how probable the model finds the whole grid, 1 at most; right",
        "answers are often below 0.5",
        "such votes: counted on all tasks of a test",
    ]
    hostile = replace(BY_HAND, answers={Question("\x1b[2J", 0): ANSWERS[Question("a", 0)][1:]})
    assert str(hostile).count("\\x1b[2J test 0") == 2  # the title and the doubt; a terminal must not obey it
    assert "\x1b" not in str(hostile)
    assert repr(BY_HAND) == "<Solution of a: 100 of 128 votes, no answer; 3 s>"
    monkeypatch.setenv("COLUMNS", "40")
    narrow = str(BY_HAND).splitlines()
    assert max(map(len, narrow)) <= 40
    assert narrow.index("5") == narrow.index("attempt 2: 20 of 128 votes") + 4
    page = BY_HAND._repr_html_()
    ElementTree.fromstring(f"<div>{page}</div>")
    assert page.count("<svg ") == 2
    for line in (*narrow[1:3], "attempt 2: 20 of 128 votes", "no answer", "counted on all tasks of a test"):
        assert line in page


def test_pictures_abreast_are_aligned_in_colours_too(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = str(BY_HAND).splitlines()
    monkeypatch.setattr("sys.stdout", Mock(isatty=lambda: True))
    shown = str(BY_HAND)
    assert "\x1b[" in shown
    assert [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in shown.splitlines()] == plain


def test_many_solutions_are_printed_in_part() -> None:
    tasks = [task_from_json(TASK, name, "") for name in "abcdefgh"]
    each = {
        one.id: replace(BY_HAND, answers={Question(one.id, n): ANSWERS[Question("a", n)] for n in (0, 1)})
        for one in tasks
    }
    found = charm.Solutions(tasks, each, {})
    for shown in (str(found), found._repr_html_()):
        assert "f test 0" in shown
        assert "g test 0" not in shown
        assert "... and answers to 2 more; print(found[ID]) shows those of one task" in shown


@pytest.mark.parametrize("answered", [True, False])
def test_ctrl_c_returns_what_there_is(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], answered: bool
) -> None:
    said: list[str] = []
    solution = Solution({Question("task", 0): []}, 1, 2, 0.0, 1.0, 3.0)

    def work(self, tasks, clock, say, publish) -> None:  # type: ignore[no-untyped-def]
        if answered:
            publish({"task": solution})
        raise KeyboardInterrupt

    monkeypatch.setattr("charm.solving.group.Solver.work", work)
    if answered:
        assert charm.solve(TASK, run, 60, device="cpu") is solution
        assert capsys.readouterr().err.endswith("stopped; these are the answers so far\n")
        assert charm.solve(TASK, run, 60, device="cpu", say=None) is solution
        assert capsys.readouterr().err == ""
        found = charm.solve([task_from_json(TASK, "task", ""), TASK], run, 60, device="cpu", say=said.append)
        assert said == ["stopped; these are the answers so far"]
        assert found.failed == {"task1": "stopped before it had an answer"}
    else:
        with pytest.raises(KeyboardInterrupt, match=r"charm\.solve was stopped before it had an answer"):
            charm.solve(TASK, run, 60, device="cpu")


def test_the_memory_is_reached_through_the_package() -> None:
    lookup = charm.memory.Lookup("user", 3, 4)
    assert torch.equal(lookup({"user": [0, 2]}), torch.zeros(2, 4))
