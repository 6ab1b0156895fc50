"""The stored solve of all 400 tasks is that of its records, and its page names them and can be looked through."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from charm.evaluation.calibration import FEWEST, kind_of
from charm.report.pages import write_pages
from charm.solving.vote_log import read_course
from tests.browser import open_file
from tests.docs.pages import ROOT
from tests.toy.pages import Reader, read

if TYPE_CHECKING:
    from playwright.sync_api import Page

SOLVE = ROOT / "docs" / "gallery" / "solves" / "base.json"
RESULTS = ROOT / "benchmarks" / "results"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pages([SOLVE], tmp_path_factory.mktemp("gallery") / "base.html")


def test_the_stored_solve_is_that_of_its_records(path: Path) -> None:
    """Every rank of a right answer is the record's, and so is every attempt's share of the votes."""
    tasks = read(path).data["tasks"]
    solve, votes = (json.loads((RESULTS / f"{name}.json").read_text()) for name in ("solve_base_400", "votes_base"))
    ranks = {task["id"]: [test["rank"] for test in task["tests"]] for task in tasks}
    assert ranks == solve["runs"][0]["ranks of the answers by test input"]
    courses, attempts = read_course(SOLVE)[1], []
    for task in tasks:
        cast = courses[task["id"]].rounds[-1]["cast"]
        for test in task["tests"] if cast >= FEWEST else ():
            counts = [one["votes"] for one in test["candidates"]]
            for number, one in enumerate(test["candidates"][:2]):
                right = int(one["grid"] == test["truth"])
                attempts.append([task["id"], kind_of(counts, number), round(counts[number] / cast, 6), right])
    assert sorted(attempts) == sorted(votes["runs"][0]["attempts"])
    scores, numbers = json.loads(SOLVE.with_suffix(".scores.json").read_text()), solve["numbers"]
    recorded = (numbers["seconds"], numbers["seconds to the first update"])
    assert (scores["seconds"], scores["startup_seconds"]) == recorded
    assert scores["dollars"] == round(scores["seconds"] / 3600 * scores["dollars_per_hour"], 4)


def test_its_page_says_where_the_numbers_are_from(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mkdocs")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import hooks

    page = Reader(hooks.base_page())
    text = " ".join(" ".join(page.text).split())
    assert "Budget: 200 s for all tasks from the first update; 2026-11-18; CHARM 0.1.0" in text
    assert "time 241 s 42 s of it to start; NVIDIA H200 price $0.20 at $3.00 an hour" in text
    price = re.search(r"965 s \( how \): ([\d.]+) dollars for both", text)
    assert price is not None
    assert f"about {price[1]} dollars" in (ROOT / "README.md").read_text()
    links = [str(attributes["href"]) for tag, attributes in page.elements if tag == "a"]
    assert len(links) == 3
    pages = {"LOG.html": "docs/LOG.md", "model_base.html": "charm/released/base/README.md"}
    for link in links:
        target, _, anchor = link.removeprefix("../").removeprefix("files/").partition("#")
        source = ROOT / pages.get(target, target)
        assert source.is_file()
        heading = anchor[11:].replace("-", " ")
        assert heading in source.read_text().lower()


def test_it_is_looked_through_task_by_task(path: Path, page: Page) -> None:
    open_file(page, path)
    page.get_by_role("button", name="solved in the second attempt").click()
    rows = page.locator("#tasks > details:visible")
    second = [task["id"] for task in read(path).data["tasks"] if task["outcome"] == "solved" and max_rank(task) == 2]
    assert rows.locator("summary b").all_inner_texts() == second
    assert set(rows.locator(".wrong").all_inner_texts()) == {"0"}  # of the attempt that is right
    rows.first.locator("summary").first.click()
    for name in second[1:3]:
        page.locator(".task[open]").get_by_role("button", name="next task").click()
        page.wait_for_selector(f"#task-{name}[open] .body")
        assert page.locator(".task[open]").count() == 1
    page.locator(".task[open]").get_by_role("button", name="previous task").click()
    opened = page.locator(".task[open]")
    assert opened.get_attribute("id") == f"task-{second[1]}"
    right = opened.locator("figure.right")
    assert right.locator("b").inner_text() == "attempt 2"
    assert re.search(r"likelihood (0\.\d|below 0\.001)", right.inner_text())
    assert re.search(r"likely: answers with\s+such votes were right in \d+ of \d+ cases", right.inner_text())
    assert "counted on these 400 tasks themselves" in opened.inner_text()


def max_rank(task: dict[str, list[dict[str, int]]]) -> int:
    return max(test["rank"] for test in task["tests"])
