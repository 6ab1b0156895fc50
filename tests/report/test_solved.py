"""The page of a solve, from the files that `charm solve` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from charm.commands.report import report
from charm.domains import PageOptions
from charm.errors import CharmError
from charm.report.pages import write_pages
from charm.report.solved import _duration
from charm.tasks.keys import MemoryConfig
from charm.tasks.sources import load_source
from charm.tasks.task import digits
from charm.version import __version__
from tests.browser import open_file, overflow
from tests.toy import write_toy_tasks
from tests.toy.pages import HOSTILE, loads_nothing, read
from tests.toy.runs import toy_run
from tests.toy.solves import run_solve

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_the_page_agrees_with_the_scores_of_the_solve(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """From a real solve on tasks of ours: outcomes, votes and attempts are those in its files."""
    tasks, run = write_toy_tasks(tmp_path / "tasks", 4), toy_run(tmp_path, MemoryConfig(rank=8, gate=True))
    out = tmp_path / "out.json"
    small = {"steps": 2, "views": 12, "batch": 4, "device": "cpu", "budget": "60"}
    run_solve((tasks,), checkpoint=run, out=out, score=True, dollars=2.0, **small)
    capsys.readouterr()
    report((out, tasks))
    assert capsys.readouterr().out.strip() == str(tmp_path / "out.html")
    page = read(tmp_path / "out.html")
    scores, submission = (json.loads(path.read_text()) for path in (out.with_suffix(".scores.json"), out))
    assert [(task["id"], task["outcome"]) for task in page.data["tasks"]] == [
        (one["task_id"], one["outcome"]) for one in scores["tasks_scored"]
    ]
    text = " ".join(" ".join(page.text).split())
    assert f"pass@2 {scores['metrics']['pass@2']:.2%} right in two attempts" in text
    assert f"price ${scores['dollars']:.2f} at $2.00 an hour" in text
    assert f"time {scores['seconds']:.0f} s {scores['startup_seconds']:.0f} s of it to start; CPU" in text
    lines = [json.loads(line) for line in out.with_suffix(".votes.jsonl").read_text().splitlines()]
    for task, source in zip(page.data["tasks"], load_source(tasks).tasks, strict=True):
        newest = [line for line in lines if line.get("task") == task["id"] and "tests" in line][-1]
        assert task["note"].startswith("2 updates, 12 views voted")
        assert task["demos"] == [[digits(grid) for grid in pair.grids()] for pair in source.train]
        for number, test in enumerate(task["tests"]):
            shown = [(one["grid"], one["votes"], one["confidence"]) for one in test["candidates"]]
            assert shown == [(one["grid"], one["votes"], one["confidence"]) for one in newest["tests"][number]]
            assert test["candidates"][0]["share"] == round(shown[0][1] / 12, 4)
            first = submission[task["id"]][number]["attempt_1"]
            assert shown[0][0] == "/".join("".join(map(str, row)) for row in first)


@pytest.fixture
def solved(tmp_path: Path) -> Path:
    """A solve by hand: right, a near miss, unknown to every set, failed, and an answer without a logged vote."""
    right, near, silent = load_source("arc1/evaluation").tasks[:3]
    asked = {one.id: [digits(pair.input) for pair in one.test] for one in (right, near)}
    asked |= {
        HOSTILE: ["12"],
        f"arc1/evaluation:{silent.id}": [digits(pair.input) for pair in silent.test],
        "old": ["3"],
    }

    def voted(task: str, *tests: list[str]) -> dict[str, Any]:
        ranked = [
            [{"grid": grid, "votes": 8 - 2 * n, "confidence": 0.5} for n, grid in enumerate(grids)] for grids in tests
        ]
        for candidates in ranked:
            candidates[0]["often"] = "possible: answers with such votes were right in 8 of 20 cases"
        how = {"seconds": 1.0, "updates": 1200, "views": 8, "cast": 16, "loss": 0.5, "exact": 0.75, "doubt": None}
        doubt = f"the views disagree ({near.id} test 0: a tie)"
        counted = {"counted": "counted on a toy's tasks", "doubt": doubt} if task == near.id else {}
        return {"task": task, **how, **counted, "tests": ranked, "time": 1.0}

    answers = [[digits(pair.output) for pair in one.test if pair.output is not None] for one in (right, near)]
    lines: list[dict[str, Any]] = [
        {"model": "base", "mode": "auto", "budget": 7200, "settings": {}, "tasks": asked, "contents": {}},
        voted(right.id, *([answer] for answer in answers[0])),
        {"task": right.id, "ended": "", "time": 2.0},
        voted(near.id, *(["0", "1", answer] for answer in answers[1])),
        voted(HOSTILE, ["21"]),
        {"task": f"arc1/evaluation:{silent.id}", "ended": "no memory", "time": 2.0},
        {"task": "old", "ended": "", "time": 2.0},
    ]
    (tmp_path / "out.votes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    empty = {"attempt_1": [[0, 0], [0, 0]], "attempt_2": [[0, 0], [0, 0]]}
    submission = {name: [empty for _ in inputs] for name, inputs in asked.items()}
    submission["old"] = [{"attempt_1": [[4]], "attempt_2": [[4]]}]
    (tmp_path / "out.json").write_text(json.dumps(submission))
    return tmp_path / "out.json"


def test_every_kind_of_task_has_its_outcome(solved: Path) -> None:
    path = write_pages([solved])
    page = read(path)
    assert [task["outcome"] for task in page.data["tasks"]] == ["solved", "near miss", "blind", "no answer", "blind"]
    assert [task["note"].rpartition("; ")[2] for task in page.data["tasks"]] == [
        *("75% of the last demonstrations exact", "not finished", "not finished", "failed: no memory", "")
    ]
    doubts = ["", "the views disagree (test 1: a tie)", "", "", ""]  # the log counts test inputs from 0
    assert [task["doubt"] for task in page.data["tasks"]] == doubts
    assert page.data["tasks"][4]["tests"][0]["candidates"] == [
        {"rank": 1, "grid": "4", "votes": 0, "share": 0.0, "weight": None, "confidence": 0.0}
    ]
    text = " ".join(" ".join(page.text).split())
    assert "base on 5 tasks Budget: 2 h for all tasks from the first update; 3 of 5 tasks not finished; 1970" in text
    assert "The right answers to 2 of 5 tasks are not known. If files have them, name the files: charm report" in text
    assert "tasks solved 1 of 3, all test inputs right 95 % interval 6\u201379 % of tasks solved" in text  # by hand
    assert "<" not in page.scripts[0]
    loads_nothing(path.read_text())


def test_the_page_of_one_own_task_is_open_and_needs_no_other_file(tmp_path: Path, page: Page) -> None:
    """Its demonstrations are in the log; what serves a list of tasks is not there."""
    run = toy_run(tmp_path, MemoryConfig(rank=8, gate=True))
    tasks = write_toy_tasks(tmp_path / "own", 1) / "toy0.json"
    (task,) = load_source(tasks).tasks
    out = tmp_path / "own.json"
    run_solve((tasks,), checkpoint=run, out=out, steps=2, views=12, batch=4, device="cpu", budget="60")
    path = write_pages([out])
    assert read(path).data["tasks"][0]["demos"] == [[digits(grid) for grid in pair.grids()] for pair in task.train]
    open_file(page, path)
    assert page.inner_text("h1") == f"{task.id}, answered by {run.name}"
    assert page.locator(".pair").count() == len(task.train)
    assert page.get_by_text("attempt 1", exact=True).is_visible()
    assert page.inner_text(".body .outcome") == "not scored"
    lead = page.locator("p.soft").all_inner_texts()
    assert lead[0].startswith("Budget: 60 s from the first update; 20")
    assert lead[0].endswith(f"; CHARM {__version__}")
    assert lead[1].startswith("The right answers are not known. If files have them, name the files: charm report own")
    assert page.locator("#find, [data-filter], [data-sort], .share-bar, .cards, #examples").count() == 0
    assert page.get_by_role("button", name="next task").count() == 0
    page.click("text=what the words mean")
    terms = [text.partition(":")[0] for text in page.locator(".words p").all_inner_texts()]
    assert terms == ["not scored", "candidates", "halting"]
    open_file(page, write_pages([out, tasks]))
    assert page.get_by_text("right answer", exact=True).is_visible()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(89.6, "90 s"), (241, "241 s"), (600, "10 min"), (754, "12.6 min"), (7200, "2 h"), (41_400, "11.5 h")],
)
def test_a_duration_keeps_its_digits(seconds: float, text: str) -> None:
    assert _duration(seconds) == text


def test_what_cannot_be_shown_is_told_in_a_sentence(solved: Path) -> None:
    with pytest.raises(CharmError, match="--films and --protocol are for pages of runs"):
        write_pages([solved], options=PageOptions(films=1))
    scores = solved.with_suffix(".scores.json")
    scores.write_text("[]")
    with pytest.raises(CharmError, match=r"out\.scores\.json: not the scores of a solve"):
        write_pages([solved])
    scores.unlink()
    submission = solved.read_text()
    solved.write_text("{}")
    with pytest.raises(CharmError, match=r"out\.json: not the submission of this solve"):
        write_pages([solved])
    log = solved.with_suffix(".votes.jsonl")
    log.write_text(log.read_text().replace('"time": 2.0', '"time": 1e18'))
    solved.write_text(submission)
    with pytest.raises(CharmError, match=r"out\.votes\.jsonl: not the votes of a solve"):
        write_pages([solved])
    log.unlink()
    with pytest.raises(CharmError, match=r"out\.votes\.jsonl is not the votes of a solve"):
        write_pages([solved])


def test_tasks_are_searched_and_opened_in_a_browser(solved: Path, page: Page) -> None:
    open_file(page, write_pages([solved]))
    names = page.locator("#tasks > details:visible summary b")
    assert names.count() == 5
    page.fill("#find", "onerror")
    assert names.all_inner_texts() == [HOSTILE]
    page.fill("#find", "")
    page.get_by_role("button", name="near miss 1").click()
    names.first.click()
    body = page.locator(".task[open] .body")
    assert "1,200 updates, 8 views voted" in body.inner_text()
    assert "such votes were right: counted on a toy's tasks" in body.inner_text()
    third = body.locator("figure").filter(has=page.get_by_text("candidate 3", exact=True)).first
    assert "4 votes, 25.0%" in third.inner_text()
    first = body.locator("figure").filter(has=page.get_by_text("attempt 1", exact=True)).first
    told = "possible: answers with such votes were right in 8 of 20 cases"
    assert told in first.inner_text()
    assert told not in third.inner_text()
    assert third.get_attribute("class") == "right"
    assert page.locator("#examples section").all_inner_texts()[0].startswith("Solved")


def test_a_telephone_shows_the_heads_of_the_columns(solved: Path, phone: Page) -> None:
    """Each head is above the cells of its column, also far down in the list."""
    open_file(phone, write_pages([solved]))
    assert overflow(phone) == 0
    phone.locator("#tasks > details").last.scroll_into_view_if_needed()
    cells = {name: f".{name}" for name in ("outcome", "rank", "share", "confidence", "wrong")} | {"id": "b"}
    for head, cell in cells.items():
        boxes = [phone.locator(f"[data-sort={head}]"), phone.locator(f"#tasks summary {cell}").last]
        found = [box.bounding_box() for box in boxes]
        assert found[0] is not None
        assert found[1] is not None
        assert found[0]["x"] == pytest.approx(found[1]["x"], abs=1.5)
        assert 0 <= found[0]["y"] < found[1]["y"]
