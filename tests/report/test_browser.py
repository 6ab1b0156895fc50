"""The pages in a real browser: what a click does, and what is drawn. A page that complains fails: tests/browser.py."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from charm.config import to_json
from charm.drawing.grids import PALETTE
from charm.evaluation.decode import hash_grid
from charm.report.answers import affordable
from charm.report.comparison import write_comparison
from charm.report.page import ranked, write_report
from charm.report.pages import write_pages
from charm.runs.settings import TrainConfig
from charm.runs.votes import Candidates, Votes
from charm.tasks.augment import draw_views
from charm.tasks.canvas import FIRST_COLOR
from charm.tasks.dataset import DataConfig, answer_key, load_dataset, load_tasks
from charm.tasks.instances import Instances
from charm.tasks.task import Question
from charm.tasks.view import View
from tests.browser import open_file, overflow
from tests.toy.hand import cast, grid, predict
from tests.toy.pages import OUTCOMES, QUESTIONS, TESTS, write_car, write_config, write_lm, write_tasks

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

TIMES = "\N{MULTIPLICATION SIGN}"
ATTEMPTS = ["attempt 1", "attempt 2"]
FILM = ["", "11", "21/44", "21/43"]
ATTACK = "window.hacked=1"
HOSTILE = f"</script><script>{ATTACK}</script>\"><img src=x onerror={ATTACK}>'<svg onload={ATTACK}><!--"


@pytest.fixture
def report(run: Path) -> Path:
    return write_report(run, films={QUESTIONS[0]: [grid(frame) for frame in FILM]})


def names(page: Page) -> list[str]:
    """Of the tasks in the list, from the top."""
    return page.locator("#tasks > details:visible summary b").all_inner_texts()


def open_task(page: Page, name: str) -> Locator:
    task = page.locator("#tasks > details").filter(has=page.get_by_text(name, exact=True))
    task.locator("summary").first.click()
    body = task.locator(".body")
    body.wait_for()
    return body


def figure(place: Locator | Page, title: str) -> Locator:
    return place.locator("figure").filter(has=place.page.get_by_text(title, exact=True)).first


def drawn(canvas: Locator) -> tuple[str, list[tuple[int, int]]]:
    """A canvas read back from its pixels: the grid as text, and the cells that carry a mark."""
    label = canvas.get_attribute("aria-label")
    assert label is not None
    height, width = map(int, label.rsplit(", ", 1)[1].split(TIMES))
    pixels = canvas.evaluate(
        """(canvas, [height, width]) => {
             const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
             const cell = (canvas.width - 1) / width, found = [];
             const color = (x, y) => [...all.data.slice(4 * (Math.floor(y) * all.width + Math.floor(x)))].slice(0, 3);
             for (let r = 0; r < height; r++) for (let c = 0; c < width; c++)
               found.push([color(c * cell + 2, r * cell + 2), color((c + 0.5) * cell + 1, (r + 0.5) * cell + 1)]);
             return found;
           }""",
        [height, width],
    )
    palette = [tuple(bytes.fromhex(color[1:])) for color in PALETTE[FIRST_COLOR:]]
    corners = [str(palette.index(tuple(corner))) for corner, _ in pixels]
    rows = ["".join(corners[r * width : (r + 1) * width]) for r in range(height)]
    marked = [divmod(n, width) for n, (corner, middle) in enumerate(pixels) if middle != corner]
    assert all(middle == [255, 255, 255] for corner, middle in pixels if middle != corner)
    return "/".join(rows), marked


# The list of tasks


def test_it_opens_from_disk_and_loads_nothing(report: Path, page: Page) -> None:
    open_file(page, report)
    assert page.title() == "<b>run & co · CHARM"
    assert names(page) == list(TESTS)
    rows = page.locator("#tasks > details").all()
    assert [row.get_attribute("data-n") for row in rows] == [str(n) for n in range(len(TESTS))]
    assert [row.get_attribute("id") for row in rows] == [f"task-{name}" for name in TESTS]
    assert [row.get_attribute("class") for row in rows] == [f"task {one.replace(' ', '-')}" for one in OUTCOMES]
    told = [text.split("\n") for text in page.locator("#tasks summary").all_inner_texts()]
    assert told[1][1:] == ["near miss", "1, 3", "70%", "0.75", "1"]
    assert told[4][1:] == ["no answer", *["\N{EN DASH}"] * 4]
    page.click("text=what the words mean")
    words = page.locator(".words p").all_inner_texts()
    assert "near miss: a right answer is among the candidates, but third or later" in words
    assert "white square: a cell that differs from the right answer" in words
    assert any(line.startswith("halting: how sure the halt head is that the answer is right") for line in words)
    assert page.locator(".share-bar i").count() == len(OUTCOMES)
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0
    assert page.evaluate("document.compatMode") == "CSS1Compat"


def test_filters_show_as_many_as_they_say(report: Path, page: Page) -> None:
    open_file(page, report)
    buttons = page.locator("[data-filter]")
    filters = [button.get_attribute("data-filter") for button in buttons.all()]
    assert filters == ["all", "wrong cells|wrong size|no answer", *OUTCOMES]
    for n in range(buttons.count()):
        button = buttons.nth(n)
        button.click()
        label, count = button.inner_text().rsplit(" ", 1)
        label = label.strip()
        never = ["wrong cells", "wrong size", "no answer"]
        wanted = {"all": OUTCOMES, "never proposed": never, "not scored": ["blind"]}.get(label, [label])
        expected = [name for name, outcome in zip(TESTS, OUTCOMES, strict=True) if outcome in wanted]
        assert names(page) == expected
        assert int(count) == len(expected)
        assert page.inner_text("#shown") == f"{len(expected)} of 6 tasks"
        assert page.locator("[data-filter][aria-pressed=true]").count() == 1
    assert buttons.count() == 2 + len(OUTCOMES)


def test_text_and_outcome_filter_together(report: Path, page: Page) -> None:
    open_file(page, report)
    page.fill("#find", " S")
    assert names(page) == [name for name in TESTS if "s" in name.lower()]
    page.get_by_role("button", name="no answer 1").click()
    assert names(page) == ["silent"]
    page.fill("#find", "nothing like it")
    assert names(page) == []
    assert page.inner_text("#shown") == "0 of 6 tasks"


def sort_keys(task: Any) -> dict[str, Any]:
    """What the heads of the list sort by, from the data of the page; None if unknown."""
    tests = task["tests"]
    best = [test["candidates"][0] for test in tests if test["candidates"]]
    ranks, wrong = [test["rank"] for test in tests], []
    for test in tests:
        grids = [one["grid"] for one in test["candidates"][:2]]
        truth = None if test["truth"] is None else grid(test["truth"])
        alike = [grid(text) for text in grids if truth is not None and grid(text).shape == truth.shape]
        wrong.append(min((int((one != truth).sum()) for one in alike), default=None))
    return {
        "id": task["id"],
        "outcome": OUTCOMES.index(task["outcome"]),
        "rank": None if None in ranks else max(ranks),
        "share": float(np.mean([one["share"] for one in best])) if best else None,
        "confidence": float(np.mean([one["confidence"] for one in best])) if best else None,
        "wrong": None if None in wrong else sum(wrong),
    }


def test_sorting_agrees_with_the_data(report: Path, page: Page) -> None:
    open_file(page, report)
    tasks = page.evaluate("JSON.parse(document.getElementById('data').textContent).tasks")
    heads = page.locator("[data-sort]")
    keys = {task["id"]: sort_keys(task) for task in tasks}
    assert keys["near"] == {
        **{"id": "near", "outcome": 1, "rank": 3},
        **{"share": pytest.approx(0.7), "confidence": pytest.approx(0.75), "wrong": 1},
    }
    assert [head.get_attribute("data-sort") for head in heads.all()] == list(keys["near"])
    for head, key in zip(heads.all(), keys["near"], strict=True):
        known = [task for task in keys if keys[task][key] is not None]
        unknown = [task for task in keys if keys[task][key] is None]
        for way in (False, True):
            head.click()
            # Python's sort keeps the order of equals in both directions, as the page does.
            expected = sorted(known, key=lambda task, key=key: keys[task][key], reverse=way)  # type: ignore[misc]
            assert names(page) == expected + unknown


# Inside a task


def test_a_task_shows_its_grids_and_marks_what_differs(report: Path, page: Page) -> None:
    open_file(page, report)
    body = open_task(page, "near")
    assert drawn(figure(body, "input 1").locator("canvas")) == ("12", [])
    assert drawn(figure(body, "input 2").locator("canvas")) == ("333/444", [])
    second = body.locator("section").nth(1)
    assert drawn(figure(second, "input").locator("canvas")) == ("2", [])
    assert drawn(figure(second, "right answer").locator("canvas")) == ("222", [])
    first = figure(second, "attempt 1")
    assert drawn(first.locator("canvas")) == ("221", [(0, 2)])
    told = first.inner_text()
    assert "1 cell differs" in told
    assert "2 votes, 40.0%" in told
    assert "halting 0.700" in told
    assert drawn(figure(second, "attempt 2").locator("canvas")) == ("212", [(0, 1)])
    right = figure(second, "candidate 3")
    assert drawn(right.locator("canvas")) == ("222", [])
    assert right.get_attribute("class") == "right"
    first.get_by_text("from 2 of 2 checkpoints").click()
    assert first.locator(".voters:not(:empty)").inner_text() == "step 200: 1 vote\nstep 100: 1 vote"


def test_wrong_sizes_missing_grids_and_blind_tests(report: Path, page: Page) -> None:
    open_file(page, report)
    size = figure(open_task(page, "size"), "attempt 1")
    assert f"2{TIMES}1, expected 1{TIMES}2" in size.inner_text()
    assert drawn(size.locator("canvas")) == ("7/7", [])
    assert "0 candidates" in open_task(page, "silent").inner_text()
    blind = open_task(page, "blind")
    assert figure(blind, "right answer").count() == 0
    assert drawn(figure(blind, "attempt 1").locator("canvas")) == ("99", [])


def test_views_are_named_and_further_candidates_drawn_on_demand(tmp_path: Path, page: Page) -> None:
    """Eight candidates, the right one the seventh: six are drawn at once, and all eight after a click."""
    write_tasks(tmp_path / "tasks.json", {"a": [("12", "77")]})
    made = tmp_path / "run"
    write_config(made, tmp_path / "tasks.json")
    task = load_tasks(DataConfig((), (str(tmp_path / "tasks.json"),), ())).evaluate[0]
    known = Instances()
    codes = draw_views(task, 36, 0)
    rows = known.add("a", codes)
    newest = made / "checkpoints" / "step_000000001"
    newest.mkdir(parents=True)
    save_file({"reasoner.head.weight": torch.zeros(1)}, newest / "model.safetensors")
    known.save(newest / "instances.npz")
    seen, predictions = iter(zip(codes, rows, strict=True)), []
    for rank in range(1, 9):
        for _ in range(9 - rank):
            code, row = next(seen)
            predictions.append((0, grid(f"7{rank}"), View.from_code(int(code)), int(row), 0.5))
    cast(made, 1, (Question("a", 0),), predict(predictions))
    open_file(page, write_report(made))
    body = page.locator(".task[open] .body")  # the only task of a page is open
    titles = body.locator("section figcaption b")
    assert titles.all_inner_texts() == ["input", "right answer", *ATTEMPTS, *(f"candidate {n}" for n in (3, 4, 5, 7))]
    body.get_by_role("button", name="show 2 more candidates").click()
    assert titles.all_inner_texts()[2:] == [*ATTEMPTS, *(f"candidate {n}" for n in range(3, 9))]
    assert body.get_by_role("button", name="more candidates").count() == 0
    third = figure(body, "candidate 3")
    third.get_by_text("from 6 views").click()
    lines = third.locator(".voters:not(:empty)").inner_text().split("\n")
    views = [str(View.from_code(int(code))) for code in codes[15:21]]  # after 8 and 7 votes for the others
    assert lines[lines.index("—") + 1 :] == views
    assert sum(int(line.split(": ")[1].split()[0]) for line in lines[: lines.index("—")]) == 6


def test_the_film_steps(report: Path, page: Page) -> None:
    open_file(page, report)
    film = open_task(page, "solved").locator(".film")
    back, on = (film.get_by_role("button", name=f"one step {way}") for way in ("back", "forward"))

    def frame() -> tuple[str, str, list[tuple[int, int]]]:
        label = film.locator(".film-tools span").inner_text()
        canvas = film.locator("canvas")
        return (label, *(drawn(canvas) if canvas.count() else ("", [])))

    steps = [
        ("step 1 of 4", "", []),
        ("step 2 of 4", "11", []),  # of another size: nothing to mark
        ("step 3 of 4", "21/44", [(1, 1)]),
        ("step 4 of 4", "21/43", []),
    ]
    assert frame() == steps[0]  # from the beginning
    film.get_by_role("button", name="play").click()
    film.get_by_text("step 4 of 4").wait_for()
    film.get_by_role("button", name="play").wait_for()  # it has stopped at the end
    assert frame() == steps[3]
    seen = []
    for _ in range(4):  # the last one stays at the beginning
        back.click()
        seen.append(frame())
    assert seen == [steps[2], steps[1], steps[0], steps[0]]
    for n in (1, 2, 3, 3):
        on.click()
        assert frame() == steps[n]
    film.get_by_role("slider").press("ArrowLeft")
    assert frame() == steps[2]


# Other pages


def test_two_runs_side_by_side(run: Path, other: Path, tmp_path: Path, page: Page) -> None:
    open_file(page, write_comparison([run, other], tmp_path / "both.html"))
    assert names(page) == list(TESTS)
    versus = page.locator("td [data-filter]")
    assert versus.all_inner_texts() == ["1", "1"]
    # "near" is a near miss of the first run: it was proposed, and does not count against it.
    for number, name in ((0, "solved"), (1, "size")):  # solved by this run, never proposed by the other
        versus.nth(number).click()
        assert names(page) == [name]
        assert page.inner_text("#shown") == "1 of 6 tasks"
    body = open_task(page, "size")
    sides = body.locator(".tables > section")
    assert [text.split(":")[0] for text in sides.locator("h3").all_inner_texts()] == ["<b>run & co", "other"]
    assert drawn(figure(sides.nth(0), "attempt 1").locator("canvas")) == ("7/7", [])
    assert drawn(figure(sides.nth(1), "attempt 1").locator("canvas")) == ("77", [])
    page.get_by_role("button", name="outcomes differ 4").click()
    assert names(page) == ["solved", "near", list(TESTS)[2], "size"]
    write_config(tmp_path / "fresh", run.parent / "tasks.json")
    open_file(page, write_comparison([run, tmp_path / "fresh"], tmp_path / "both.html"))
    assert page.locator("td [data-filter]").count() == 0  # it would be 0 solved by a run that never voted
    assert page.get_by_role("button", name="outcomes differ 0").count() == 1
    assert "not evaluated" not in page.inner_text("body")


def test_a_task_that_one_run_was_not_asked_counts_for_no_one(run: Path, tmp_path: Path, page: Page) -> None:
    write_tasks(tmp_path / "some.json", {"near": TESTS["near"], "new": [("1", "2")]})
    write_config(tmp_path / "small", tmp_path / "some.json")
    votes = predict([(2, grid("2"), View(), 1, 0.9)])
    cast(tmp_path / "small", 7, (Question("near", 0), Question("near", 1), Question("new", 0)), votes)
    open_file(page, write_comparison([run, tmp_path / "small"], tmp_path / "both.html"))
    assert page.locator("td [data-filter]").all_inner_texts() == ["0", "0"]
    new = page.locator("#tasks > details").filter(has=page.get_by_text("new", exact=True))
    assert new.locator("summary span").all_inner_texts() == ["not evaluated", "solved"]
    assert "not evaluated" in open_task(page, "new").inner_text()


def test_an_address_opens_its_task(report: Path, page: Page) -> None:
    page.goto(f"{report.resolve().as_uri()}#task-silent")
    page.locator("#task-silent[open] .body").wait_for()
    assert page.evaluate("scrollY") > 0
    page.evaluate("location.hash = '#task-size'")
    page.locator("#task-size[open] .body").wait_for()


def test_pages_of_automata_and_text(tmp_path: Path, page: Page) -> None:
    runs = {
        "car": [write_car(tmp_path / "<i>car"), write_car(tmp_path / "b", "full-table")],
        "lm": [write_lm(tmp_path / "lm", 1.2), write_lm(tmp_path / "<i>lm", 1.5)],
    }
    for kind, some in runs.items():
        for number in (1, 2):
            open_file(page, write_pages(some[:number], tmp_path / f"{kind}{number}.html"))
            assert page.locator("svg.curve").count() >= 2
            assert page.locator("tbody tr").count() >= number
            assert page.locator("i").count() == 0
            assert overflow(page) == 0


# Hostile names


def test_hostile_names_are_only_text(run: Path, tmp_path: Path, page: Page) -> None:
    """Names of tasks, of folders, of evaluations and of sources: none runs, and the page still works."""
    attack = HOSTILE.replace("/", "")  # a name of a file has no slash
    write_tasks(tmp_path / "tasks.json", {HOSTILE: TESTS["solved"], "size": TESTS["size"]})
    questions = (Question(HOSTILE, 0), Question("size", 0))
    votes = predict([(0, grid("21/43"), View(), 1, 0.9)])
    made = []
    for name in (f"a{attack}", f"b{attack}"):
        folder = tmp_path / name
        write_config(folder, tmp_path / "tasks.json")
        cast(folder, 1, questions, votes)
        (folder / "eval").mkdir()
        found = {"step": 1, "puzzles": 2, "metrics": {"pass@1": 0.5, "pass@2": 0.5}}
        (folder / "eval" / f"{attack}.json").write_text(json.dumps(found))
        manifest = load_dataset(DataConfig((), (str(tmp_path / "tasks.json"),), (), views=2)).manifest
        manifest["sources"][0] |= {"name": HOSTILE, "version": HOSTILE}
        (folder / "data.json").write_text(json.dumps(manifest))
        made.append(folder)
    film = {questions[0]: [grid("21/43")]}
    pages = [write_report(made[0], films=film), write_comparison(made, tmp_path / "both.html")]
    for path in pages:
        open_file(page, path)
        assert names(page) == [HOSTILE, "size"]
        body = open_task(page, HOSTILE)
        assert drawn(figure(body, "attempt 1").locator("canvas")) == ("21/43", [])
        page.fill("#find", "onerror")
        assert names(page) == [HOSTILE]
        page.wait_for_timeout(100)  # for a picture that fails to load
        assert page.evaluate("window.hacked") is None
        assert page.locator("img, #tasks svg, body > svg").count() == 0
        assert page.locator("script").count() == 2
        assert HOSTILE in page.inner_text("body")


def test_what_the_attack_would_do_without_escapes(tmp_path: Path, page: Page, errors: list[str]) -> None:
    """The test above can fail: the same text as markup does set the flag."""
    (tmp_path / "open.html").write_text(f"<!DOCTYPE html><p>{HOSTILE}")
    open_file(page, tmp_path / "open.html")
    page.wait_for_timeout(100)
    assert page.evaluate("window.hacked") == 1
    errors.clear()


# Looks


def test_dark_and_light_differ(report: Path, page: Page) -> None:
    open_file(page, report)

    def colors() -> dict[str, str]:
        found = {}
        for where in ("body", ".card", ".task", ".outcome", ".curve text"):
            for name in ("color", "backgroundColor", "fill"):
                found[f"{where} {name}"] = page.evaluate(
                    "([where, name]) => getComputedStyle(document.querySelector(where))[name]", [where, name]
                )
        return found

    def lightness(color: str) -> float:
        return sum(map(int, color.removeprefix("rgb(").removesuffix(")").split(",")[:3])) / (3 * 255)

    light = colors()
    page.emulate_media(color_scheme="dark")
    dark = colors()
    changed = {
        "body color",
        "body backgroundColor",
        ".card backgroundColor",
        ".outcome color",
        ".curve text fill",
    }
    assert all(light[name] != dark[name] for name in changed)
    assert lightness(light["body backgroundColor"]) > 0.9 > 0.3 > lightness(light["body color"])
    assert lightness(dark["body backgroundColor"]) < 0.2 < 0.8 < lightness(dark["body color"])


def test_a_telephone_does_not_scroll_sideways(run: Path, other: Path, tmp_path: Path, phone: Page) -> None:
    wide = [grid("/".join(["0123456789" * 3] * 30))] * 3  # the largest grid there is
    write_tasks(tmp_path / "wide.json", {"wide": [("0123456789" * 3, "0123456789" * 3)]})
    broad = tmp_path / "a run whose name is far longer than any telephone is wide_____________________________"
    write_config(broad, tmp_path / "wide.json")
    votes = predict([(0, wide[0], View(), 1, 0.9), (0, wide[0][:1], View(), 2, 0.9)])
    cast(broad, 1, (Question("wide", 0),), votes)
    paths = [
        write_report(run, films={QUESTIONS[0]: [grid(frame) for frame in FILM]}),
        write_report(broad, films={Question("wide", 0): wide}),
        write_comparison([run, other, broad], tmp_path / "both.html"),
        write_pages([write_car(tmp_path / "car"), write_car(tmp_path / "car2")], tmp_path / "car.html"),
        write_pages([write_lm(tmp_path / "lm", 1.5)], tmp_path / "lm.html"),
    ]
    for path in paths:
        open_file(phone, path)
        assert phone.evaluate("innerWidth") == 390
        assert overflow(phone) == 0
        tasks = phone.locator("#tasks > details > summary")
        for n in range(tasks.count() if tasks.count() > 1 else 0):  # a single one is open
            tasks.nth(n).click()
        for other_details in phone.locator("body > .tables details > summary").all():
            other_details.click()
        assert overflow(phone) == 0


# Size and time

VIEWS, CHECKPOINTS = 256, 4


def write_large(run: Path, rng: np.random.Generator) -> DataConfig:
    """A run on all 400 evaluation tasks of ARC-AGI-1, each asked under 256 views by 4 checkpoints.

    On an easy task most votes are right; on a hard one they scatter over some dozens of grids near the truth.
    """
    data = DataConfig((), ("arc1/evaluation",), (), views=VIEWS)
    run.mkdir()
    (run / "config.json").write_text(json.dumps(to_json(TrainConfig(data=data))))
    known = Instances()
    for task in load_tasks(data).evaluate:
        known.add(task.id, draw_views(task, VIEWS, 0))
    newest = run / "checkpoints" / f"step_{CHECKPOINTS * 1000:09d}"
    newest.mkdir(parents=True)
    save_file({"reasoner.head.weight": torch.zeros(1)}, newest / "model.safetensors")
    known.save(newest / "instances.npz")
    answers = answer_key(data)
    pools = []
    for truth in answers.values():
        assert truth is not None
        pool = [truth] if rng.random() < 0.7 else []
        while len(pool) < rng.integers(3, 150):
            wrong = truth.copy()
            places = rng.integers(0, wrong.size, rng.integers(1, 2 + wrong.size // 3))
            wrong.flat[places] = rng.integers(0, 10, len(places))
            pool.append(wrong if rng.random() < 0.8 else wrong[: rng.integers(1, len(wrong) + 1)])
        pools.append(list({one.tobytes() + bytes(one.shape): one for one in pool}.values()))
    hashes = [[hash_grid(one) for one in pool] for pool in pools]
    sharpness = rng.uniform(0.5, 3, len(pools))
    for checkpoint in range(1, CHECKPOINTS + 1):
        owner, hashed, grids, voted, rows = [], [], [], [], []
        for q, (question, pool) in enumerate(zip(answers, pools, strict=True)):
            weights = (1 + rng.permutation(len(pool)) / 5 + np.arange(len(pool))) ** -sharpness[q]
            drawn_V = rng.choice(len(pool), VIEWS, p=weights / weights.sum())
            some_K, choice_V = np.unique(drawn_V, return_inverse=True)
            voted.append(choice_V[: len(known.rows(question.task_id))] + len(owner))
            rows.append(known.rows(question.task_id))
            owner += [q] * len(some_K)
            hashed += [hashes[q][k] for k in some_K]
            grids += [pool[k] for k in some_K]
        candidates = Candidates(
            np.array(owner, np.int32),
            np.array(hashed, np.uint64),
            np.array([one.shape for one in grids], np.uint8),
            np.concatenate([one.reshape(-1) for one in grids]),
        )
        candidate_V, row_V = np.concatenate(voted).astype(np.int32), np.concatenate(rows).astype(np.int32)
        sure_V = rng.random(len(row_V)).astype(np.float32)
        votes = Votes(candidates, candidate_V, row_V, sure_V, np.full(len(row_V), 16, np.uint8))
        cast(run, checkpoint * 1000, tuple(answers), votes.select(np.ones(len(row_V), bool)))
    return data


def test_400_tasks_stay_small_and_open_at_once(tmp_path: Path, page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "large"
    write_large(run, np.random.default_rng(0))
    path = write_report(run)
    evaluation = ranked(run, None, None)[2]
    assert evaluation is not None
    size = path.stat().st_size
    loads = []
    for _ in range(3):
        open_file(page, path)
        loads.append(page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
    began = time.perf_counter()
    body = open_task(page, evaluation.scores.tasks[7].task_id)
    body.locator("canvas").last.wait_for()
    opened = time.perf_counter() - began
    sizes = page.evaluate(
        """JSON.parse(document.getElementById("data").textContent).tasks.flatMap((task) =>
             task.tests.flatMap((test) => test.candidates.map((one) => JSON.stringify(one).length)))"""
    )
    print(f"{size / 1e6:.1f} MB, loaded in {min(loads):.0f} ms, a task opened in {opened:.2f} s")
    assert page.locator("#tasks > details").count() == 400
    assert len(sizes) == len(evaluation.ranking.votes_K)  # every candidate is there
    assert size < 30e6
    assert min(loads) < 4000  # 2 s are the goal; the machine may be busy
    assert opened < 4
    # Where there are more candidates than a page can hold, their reckoned size decides: it is about right.
    most = int(np.diff(evaluation.ranking.start).max())
    for budget, fits in ((1.25 * sum(sizes), True), (0.75 * sum(sizes), False)):
        monkeypatch.setattr("charm.report.answers.BUDGET", budget)
        assert (affordable(evaluation.ranking) == most) == fits
