"""Several small run folders, written with the code that writes real ones, on one page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from charm.domains import PageOptions
from charm.errors import CharmError
from charm.report.comparison import merge, write_comparison
from charm.report.html import names_of
from charm.report.page import write_report
from charm.report.pages import write_pages
from charm.tasks.task import Question
from charm.tasks.view import View
from tests.toy.hand import cast, grid, predict
from tests.toy.pages import HOSTILE, OUTCOMES, TESTS, loads_nothing, read, write_config, write_tasks


def test_outcomes_and_scores_stand_side_by_side(run: Path, other: Path, tmp_path: Path) -> None:
    page = read(write_comparison([run, other], tmp_path / "page.html"))
    tasks = page.data["tasks"]
    assert [task["id"] for task in tasks] == list(TESTS)
    ours, theirs = zip(*(task["outcomes"] for task in tasks), strict=True)
    assert list(ours) == OUTCOMES
    # By hand: "near" is right in both tests, "silent" and the hostile one have no answer.
    assert list(theirs) == ["wrong cells", "solved", "no answer", "solved", "no answer", "blind"]
    text = " ".join(page.text)
    # Both conventions of pass@1 and pass@2, then puzzles, solved, step, checkpoints.
    assert re.search(r"<b>run & co 30.00% 30.00% .*? 33.33% 33.33% 5 1 200 2 ", text)
    assert re.search(r"other 40.00% 40.00% .*? 50.00% 50.00% 5 2 50 1 ", text)


def test_a_run_looks_as_on_its_own_page(
    run: Path, other: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("charm.report.comparison.SHOWN", 5)
    both = read(write_comparison([run, other], tmp_path / "page.html")).data
    for number, one in enumerate((run, other)):
        alone = read(write_report(one)).data
        assert both["runs"][number]["steps"] == alone["steps"]
        for task, own in zip(both["tasks"], alone["tasks"], strict=True):
            assert task["outcomes"][number] == own["outcome"]
            assert task["demos"] == own["demos"]
            for place, test in enumerate(own["tests"]):
                assert task["questions"][place] == {"input": test["input"], "truth": test["truth"]}
                assert task["runs"][number][place]["candidates"] == test["candidates"]


def test_runs_that_were_asked_other_tasks(run: Path, tmp_path: Path) -> None:
    write_tasks(tmp_path / "some.json", {"solved": TESTS["solved"], "new": [("1", "2")]})
    small = tmp_path / "small"
    write_config(small, tmp_path / "some.json")
    questions = (Question("solved", 0), Question("new", 0))
    votes = predict([(0, grid("21/43"), View(), 1, 0.9)])
    cast(small, 7, questions, votes)
    tasks = read(write_comparison([run, small], tmp_path / "page.html")).data["tasks"]
    outcomes = {task["id"]: task["outcomes"] for task in tasks}
    assert outcomes["solved"] == ["solved", "solved"]
    assert outcomes["new"] == ["not evaluated", "no answer"]
    assert outcomes["size"] == ["wrong size", "not evaluated"]
    assert next(task for task in tasks if task["id"] == "new")["runs"][0] is None


def test_runs_without_votes_and_the_same_run_twice(run: Path, tmp_path: Path) -> None:
    write_config(tmp_path / "fresh", run.parent / "tasks.json")
    page = read(write_comparison([run, tmp_path / "fresh"], tmp_path / "page.html"))
    assert "fresh no votes yet" in " ".join(page.text)
    assert [one["name"] for one in page.data["runs"]] == [run.name]  # the other would be 0 solved everywhere
    assert all(len(task["outcomes"]) == 1 for task in page.data["tasks"])
    assert merge([{}, {}]) == []
    with pytest.raises(CharmError, match="must be different folders"):
        write_comparison([run, run], tmp_path / "page.html")


def test_names_are_as_long_as_they_must_be() -> None:
    assert names_of([Path("/x/a"), Path("/x/b")]) == ["a", "b"]
    assert names_of([Path("/x/1/a"), Path("/x/2/a"), Path("/x/2/b")]) == ["1/a", "2/a", "2/b"]


def test_hostile_names_stay_text(run: Path, other: Path, tmp_path: Path) -> None:
    path = write_comparison([run, other], tmp_path / "page.html")
    page = read(path)
    assert HOSTILE in [task["id"] for task in page.data["tasks"]]
    assert "<b>run & co" in page.text
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"img", "iframe", "object", "link", "a", "form"}
    assert sum(tag == "script" for tag, _ in page.elements) == 2
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert "<" not in page.scripts[0]
    loads_nothing(path.read_text())
    wanted = set(re.findall(r'getElementById\("(\w+)"\)', page.scripts[1]))
    assert wanted - {"find", "shown"} == {attributes["id"] for _, attributes in page.elements if "id" in attributes}


def test_the_command_chooses_the_page(run: Path, other: Path, tmp_path: Path) -> None:
    assert write_pages([run]) == run / "report.html"
    assert write_pages([run], tmp_path / "elsewhere.html") == tmp_path / "elsewhere.html"
    assert write_pages([run, other], tmp_path / "both.html") == tmp_path / "both.html"
    assert len(read(tmp_path / "both.html").data["runs"]) == 2
    with pytest.raises(CharmError, match="name at least one run folder"):
        write_pages([])
    with pytest.raises(CharmError, match="is not a run folder"):
        write_pages([tmp_path])
    with pytest.raises(CharmError, match="films are made for one run"):
        write_pages([run, other], tmp_path / "both.html", PageOptions(films=3))
