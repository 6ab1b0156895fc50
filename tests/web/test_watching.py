"""Solves from the command line in the viewer."""

from pathlib import Path

import pytest

from charm.errors import CharmError
from charm.tasks.sources import load_source
from charm.tasks.task import digits
from charm.web import api
from charm.web.api import Library
from tests.toy.solves import run_solve


@pytest.fixture(scope="module")
def solved(toy_tasks: Path, run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The submission of a solve of four toy tasks."""
    out = tmp_path_factory.mktemp("solved") / "out.json"
    run_solve((toy_tasks,), checkpoint=run, steps=2, views=12, batch=4, device="cpu", budget="60", out=out)
    return out


def test_a_finished_solve_is_shown_round_by_round(solved: Path, toy_tasks: Path) -> None:
    source = load_source(toy_tasks)
    library = Library({"toys": source}, solves={"out.json": solved})
    assert api.start_json(library)["solves"] == ["out.json"]
    found = api.watch_json(library, {"solve": "out.json"})
    assert found["budget"] == 60
    assert [task["id"] for task in found["tasks"]] == [task.id for task in source.tasks]
    for task, summary in zip(source.tasks, found["tasks"], strict=True):
        assert (summary["state"], summary["updates"], summary["views"]) == ("done", 2, 12)
        status = api.watch_json(library, {"solve": "out.json", "task": task.id})
        assert status["inputs"] == [digits(pair.input) for pair in task.test]
        assert status["known"]["truth"] == [digits(pair.output) for pair in task.test if pair.output is not None]
        assert [(one["updates"], one["views"]) for one in status["rounds"]] == [(0, 8), (2, 8), (2, 12)]
        for ranked, course, votes in zip(status["tests"], status["courses"], summary["votes"], strict=True):
            assert course[0] == {"grid": ranked[0]["grid"], "votes": course[0]["votes"]}
            assert course[0]["votes"][-1] == ranked[0]["votes"] == votes
    with pytest.raises(CharmError, match="no task 'x' in this solve"):
        api.watch_json(library, {"solve": "out.json", "task": "x"})
    with pytest.raises(CharmError, match="unknown solve"):
        api.watch_json(library, {"solve": "other"})


def test_a_solve_is_watched_while_its_file_grows(solved: Path, tmp_path: Path) -> None:
    lines = solved.with_suffix(".votes.jsonl").read_text().splitlines(keepends=True)
    growing, library = tmp_path / "out.votes.jsonl", Library({}, solves={"it": tmp_path / "out.json"})
    states = []
    for count in range(1, 6):
        growing.write_text("".join(lines[:count]) + lines[count][:20])  # in the middle of a line
        found = api.watch_json(library, {"solve": "it"})
        states.append([task["state"] for task in found["tasks"]])
        assert (found["seconds_since"] is None) == (count == 1)
    waiting = ["waiting"] * 3
    working = ["working", *waiting]
    assert states == [["waiting", *waiting], working, working, working, ["done", *waiting]]


def test_submissions_are_opened_by_name(solved: Path, tmp_path: Path) -> None:
    library = api.open_library([solved], [], [], tmp_path, print)
    assert (dict(library.solves), dict(library.runs)) == ({"out.json": solved}, {})
    (tmp_path / "x.json").write_text("{}")
    with pytest.raises(CharmError, match=r"not a submission of charm solve \(x\.votes\.jsonl is missing\)"):
        api.open_library([tmp_path / "x.json"], [], [], tmp_path, print)
