"""The pages in a real browser. The fixture `page` fails a test whose page complains on its console."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from charm.tasks.sources import load_source
from charm.web import api
from charm.web.api import Library
from charm.web.server import Viewer
from tests.browser import overflow
from tests.toy.viewer import TASK, serving, write_run

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

TASK_2 = {"set": "arc2/training", "task": "00576224"}
SAMPLES = {"generator": "rearc2", "task": "00576224"}
PLACES = {  # hash -> what is there once the page is
    f"#tasks?{urlencode({'set': 'toys'})}": "a.thumb canvas",
    f"#task?{urlencode(TASK_2)}": ".pair canvas",
    f"#samples?{urlencode(SAMPLES)}": ".pair canvas",
    "#run": ".card",
    "#solve": ".board canvas",
    "#watch": "text=No solve is open",
}


@contextmanager
def served_to(page: Page, library: Library) -> Iterator[Viewer]:
    """A server that runs during the block. The page leaves before it ends: one that still asks would complain."""
    with serving(library) as viewer:
        yield viewer
        page.goto("about:blank")


def show_blank(page: Page, viewer: Viewer) -> None:
    """Open the Solve page with a blank task."""
    show(page, viewer, "#solve", ".board canvas")
    page.click("text=blank task")


def show(page: Page, viewer: Viewer, place: str, awaited: str) -> None:
    page.goto("about:blank")  # a change of the hash alone would not reload the page
    page.goto(viewer.url + place)
    page.wait_for_selector(awaited)


def test_every_page_opens_on_a_desktop_in_the_dark_too(page: Page, viewer: Viewer) -> None:
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for place, awaited in PLACES.items():
            show(page, viewer, place, awaited)


def test_every_page_fits_a_telephone(phone: Page, viewer: Viewer) -> None:
    for place, awaited in PLACES.items():
        show(phone, viewer, place, awaited)
        assert overflow(phone) == 0, place
    heights = "[...document.querySelectorAll('nav a')].map((link) => link.getBoundingClientRect().height)"
    assert max(phone.evaluate(heights)) < 50  # the names of the pages are not broken into two lines


def test_tasks_are_found_and_opened(page: Page, viewer: Viewer) -> None:
    show(page, viewer, f"#tasks?{urlencode({'set': 'arc2/training'})}", "a.thumb canvas")
    assert "1,000 of 1,000 tasks" in page.inner_text("#main")
    page.fill("[name=find]", "00576")
    page.wait_for_selector("text=1 of 1,000 tasks")
    page.click("a.thumb:visible")
    page.wait_for_selector("text=Demonstrations")
    assert page.inner_text("h2").startswith("00576224")
    page.go_back()
    page.wait_for_selector("text=1 of 1,000 tasks")  # the filter is remembered
    page.select_option("[name=set]", "toys")
    page.wait_for_selector("text=4 of 4 tasks")


def test_a_task_leads_to_the_next_and_back(page: Page, viewer: Viewer, library: Library) -> None:
    ids = [task.id for task in library.sources["toys"].tasks]
    show(page, viewer, f"#task?{urlencode({'set': 'toys', 'task': ids[0]})}", "text=next")
    assert page.locator("text=back").count() == 0  # it is the first
    for name in ids[1:]:
        page.click("text=next")
        page.wait_for_selector(f"h2 >> text={name}")
        page.wait_for_selector("text=back")
    assert page.locator("text=next").count() == 0
    page.click("text=back")
    page.wait_for_selector(f"h2 >> text={ids[-2]}")
    page.click("text=all tasks")
    page.wait_for_selector("text=4 of 4 tasks")
    heights = "[...document.querySelectorAll('a.thumb')].map((card) => card.getBoundingClientRect().height)"
    assert len(set(page.evaluate(heights))) == 1


def test_a_view_is_redrawn_by_a_click_and_by_its_seed(page: Page, viewer: Viewer) -> None:
    show(page, viewer, f"#task?{urlencode(TASK_2)}", "text=This is view 0: identity, colours 0123456789.")
    page.fill("[name=seed]", "5")
    page.press("[name=seed]", "Tab")
    page.wait_for_selector(f"text={api.view_of({'seed': '5'})}")
    page.click("text=random view")
    seed = page.input_value("[name=seed]")
    view = api.view_of({"seed": seed})
    page.wait_for_selector(f"text={view}")
    page.click("text=show the answers")
    page.wait_for_selector("text=hide the answers")
    assert page.input_value("[name=seed]") == seed
    assert page.input_value("[name=turn]") == str(view.dihedral)
    page.reload()  # the address keeps the view
    page.wait_for_selector(f"text={view}")
    page.click("text=original")
    page.wait_for_selector("text=This is view 0")
    assert page.input_value("[name=seed]") == ""  # no seed drew this one


def test_answers_are_hidden_until_they_are_asked_for(page: Page, viewer: Viewer) -> None:
    show(page, viewer, f"#task?{urlencode(TASK_2)}", "text=show the answers")
    before = page.locator(".pair").count()
    page.click("text=show the answers")
    page.wait_for_selector("text=hide the answers")
    assert page.locator(".pair").count() == before + 1
    page.click("text=hide the answers")
    page.wait_for_selector("text=show the answers")
    assert page.locator(".pair").count() == before


def test_a_pair_is_shown_on_its_canvas(page: Page, viewer: Viewer) -> None:
    show(page, viewer, f"#task?{urlencode(TASK_2)}", "text=30 \u00d7 30 tokens")
    page.select_option("[name=canvas]", "pair")
    page.wait_for_selector("text=11 \u00d7 11 tokens; the grid starts at row 0, column 0")
    page.fill("[name=top]", "3")
    page.press("[name=top]", "Tab")
    page.wait_for_selector("text=the grid starts at row 3, column 0")
    page.select_option("[name=pair]", "test 0")
    page.wait_for_selector("text=answer hidden")


def test_samples_are_drawn_by_a_click(page: Page, viewer: Viewer) -> None:
    show(page, viewer, f"#samples?{urlencode(SAMPLES)}", ".pair")
    page.wait_for_selector("text=seed 0, attempt 0", timeout=30_000)  # the first without a click
    page.fill("[name=seed]", "3")
    for attempt in (1, 2):
        page.click("text=draw a sample")
        page.wait_for_selector(f"text=seed 3, attempt {attempt}", timeout=30_000)
    assert page.locator(".panel").count() == 3
    assert page.locator("text=the verifier computes the same output").count() == 3
    assert page.input_value("[name=attempt]") == "3"


def test_an_answer_that_comes_late_changes_nothing(page: Page, viewer: Viewer) -> None:
    held: list[Route] = []
    page.route("**/api/tasks*", lambda route: held.append(route))
    show(page, viewer, "#tasks", "text=id or concept")
    page.click("nav >> text=Solve")
    page.wait_for_selector(".board canvas")
    with page.expect_response("**/api/tasks*"):
        held.pop().continue_()
    page.wait_for_timeout(100)  # for the script that awaited it
    assert page.url.endswith("#solve")
    page.route("**/api/sample*", lambda route: held.append(route))
    show(page, viewer, f"#samples?{urlencode(SAMPLES)}", ".pair")
    page.wait_for_selector("text=drawing")
    page.fill("[name=task]", "03560426")
    page.press("[name=task]", "Tab")
    while len(held) < 2:  # each task draws a sample at once
        page.wait_for_timeout(50)
    with page.expect_response("**/api/sample*"):
        held[0].continue_()
    page.wait_for_timeout(100)
    assert page.locator(".panel").count() == 0  # it would be of the task before
    held[1].continue_()
    page.wait_for_selector(".panel >> text=03560426", timeout=30_000)


def test_what_the_server_refuses_is_told(page: Page, viewer: Viewer, errors: list[str]) -> None:
    show(page, viewer, f"#task?{urlencode(TASK_2)}", "text=This is view 0")
    page.fill("[name=colors]", "1023456789")
    page.press("[name=colors]", "Tab")
    page.wait_for_selector("text=must be a permutation of 0..9 that keeps 0 fixed")
    show(page, viewer, f"#samples?{urlencode({'generator': 'rearc', 'task': '00000004'})}", ".error")
    page.click("text=draw a sample")  # no set has its demonstrations, so that none was drawn at once
    page.wait_for_selector("text=attempt 0 produced no pair: generator exception", timeout=30_000)
    assert len(errors) == 3
    assert all("400 (Bad Request)" in error for error in errors)
    errors.clear()


def test_a_run_is_watched_while_it_trains(page: Page, tmp_path: Path) -> None:
    lines: list[object] = [{"step": n, "loss": 2.0, "time": 1.0 + n} for n in range(1, 6)]
    run = write_run(tmp_path / "young", {"steps": 4000}, lines)
    page.clock.install()  # it looks every 3 seconds, which need not pass
    with served_to(page, Library({}, {"young": run})) as viewer:
        show(page, viewer, "#run", "text=of 4,000, 0.1%")
        assert page.locator("svg.curve").count() == 1
        with (run / "metrics.jsonl").open("a") as file:
            file.write('{"step": 2000, "loss": 1.5, "evaluation/pass@2": 0.5, "time": 2001.0')
            file.flush()
            with page.expect_response("**/api/run*"):
                page.clock.run_for(3000)
            assert "of 4,000, 0.1%" in page.inner_text("#main")
            file.write("}\n")
        page.clock.run_for(3000)
        page.wait_for_selector("text=of 4,000, 50.0%")
        assert page.locator("svg.curve").count() == 2
        with page.context.expect_page() as opened:
            page.click("text=report of this run")
        assert opened.value.inner_text("h1") == "young"


def test_one_of_several_runs_is_chosen(page: Page, tmp_path: Path) -> None:
    lines: list[object] = [{"step": 3, "loss": 2.0, "evaluation/bpb": 1.25, "time": 4.0}]
    runs = {
        "tasks": write_run(tmp_path / "tasks", {"steps": 10}, []),
        "text": write_run(tmp_path / "text", {"domain": "lm", "steps": 30}, lines),
    }
    with served_to(page, Library({}, runs)) as viewer:
        show(page, viewer, "#run", "text=Nothing logged yet.")
        page.select_option("[name=run]", "text")
        page.wait_for_selector("text=of 30, 10.0%")
        assert page.locator(".card", has_text="bpb").inner_text().split("\n")[1] == "1.2500"
        page.reload()
        page.wait_for_selector("text=of 30, 10.0%")


def test_a_task_is_drawn(page: Page, viewer: Viewer) -> None:
    show_blank(page, viewer)
    board = page.locator(".board canvas").first
    page.click("[aria-label='colour 4']")
    box = board.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 5, box["y"] + 5, steps=10)
    page.mouse.up()
    page.click("text=copy the input")
    page.fill("[aria-label='output height'] >> nth=0", "2")
    page.press("[aria-label='output height'] >> nth=0", "Tab")
    page.click("text=add a demonstration")
    page.click("text=add a test")
    page.click("text=remove >> nth=3")
    draft = json.loads(page.evaluate("sessionStorage.getItem('charm draft')"))
    blank = [[0] * 3] * 3
    assert draft["train"] == [
        {"input": [[4, 4, 4], [0, 0, 0], [0, 0, 0]], "output": [[4, 4, 4], [0, 0, 0]]},
        {"input": blank, "output": blank},
    ]
    assert draft["test"] == [{"input": blank}]


def test_a_finger_paints_too(phone: Page, viewer: Viewer) -> None:
    show_blank(phone, viewer)
    phone.locator(".board canvas").first.tap()
    draft = json.loads(phone.evaluate("sessionStorage.getItem('charm draft')"))
    assert draft["train"][0]["input"] == [[0, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_keys_paint_too(page: Page, viewer: Viewer) -> None:
    show_blank(page, viewer)
    page.locator(".board canvas").first.focus()
    for key in (
        "ArrowRight",
        "3",
        "ArrowDown",
        " ",
        "ArrowLeft",
        "ArrowLeft",
        "5",
        "ArrowUp",
        "ArrowUp",
        "Enter",
    ):
        page.keyboard.press(key)
    draft = json.loads(page.evaluate("sessionStorage.getItem('charm draft')"))
    # The cursor goes round at the edges; a digit also chooses its colour.
    assert draft["train"][0]["input"] == [[0, 3, 0], [0, 3, 5], [0, 0, 5]]
    assert page.get_attribute("[aria-label='colour 5']", "aria-pressed") == "true"


def test_task_and_answers_stand_side_by_side_on_a_wide_screen(page: Page, phone: Page, viewer: Viewer) -> None:
    """An example is there to start from; the answers stay in view while the task is scrolled."""
    sides = "[...document.querySelectorAll('.sides > section')].map((one) => one.getBoundingClientRect().toJSON())"
    show(page, viewer, "#solve", ".board canvas")
    assert page.input_value("[name=name]") == api.EXAMPLE["task"]
    left, right = page.evaluate(sides)
    assert left["right"] < right["left"]
    page.mouse.wheel(0, 600)
    page.wait_for_function("() => scrollY > 100")
    assert page.evaluate(sides)[1]["top"] >= 0
    show(phone, viewer, "#solve", ".board canvas")
    left, right = phone.evaluate(sides)
    assert left["bottom"] <= right["top"]


def test_a_pasted_task_is_solved_as_one_watches(page: Page, viewer: Viewer, forked_workers: None) -> None:
    show(page, viewer, "#solve", ".board canvas")
    page.click("text=Paste a task")
    page.fill("textarea", json.dumps({"mine": TASK}))
    page.click("text=use it")
    page.wait_for_selector("textarea", state="hidden")
    assert page.input_value("[name=name]") == "mine"
    page.wait_for_selector("text=then press solve")
    assert page.locator("text=cancel").is_hidden()
    page.fill("[name=budget]", "2")
    page.dblclick("button.main")  # the second click is not a second request, which would be refused
    page.wait_for_selector(".votes", timeout=60_000)
    assert re.search(r"Votes from \d+ views? after \d+ update", page.inner_text("#main"))
    page.wait_for_selector(".attempt", timeout=60_000)
    assert re.search(r"halting [01]\.\d\d$", page.locator(".attempt").first.inner_text())
    assert "Halting is how sure the halt head is that the answer is right" in page.inner_text("#main")
    rounds = len(viewer.solving.status()["rounds"])
    if rounds > 1:  # votes over time: a row for each candidate that was once in front
        assert page.locator(".course tr").first.locator("th").count() == rounds + 1
        assert page.locator(".course canvas").count() == min(8, len(viewer.solving.status()["courses"][0]))
    with page.expect_download() as download:
        page.click("text=download as submission.json")
    assert json.loads(Path(download.value.path()).read_text()) == viewer.solving.submission()
    page.fill("[name=budget]", "600")
    page.click("button.main")
    page.wait_for_selector("progress", timeout=60_000)
    assert page.locator("button.main").is_hidden()
    page.click("text=cancel")
    page.wait_for_selector("text=Cancelled after")
    page.wait_for_selector("button.main")


NASTY = "<img src=x onerror=hacked=1>"


def test_names_cannot_inject_markup(page: Page, tmp_path: Path, run: Path) -> None:
    folder = tmp_path / "<script>hacked=1<"
    folder.mkdir()
    (folder / f"{NASTY}.json").write_text(json.dumps(TASK))
    lines: list[object] = [{"step": 1, "loss": 2.0, NASTY: 1.0, f"evaluation/{NASTY}": 0.5, "time": 1.0}]
    nasty_run = write_run(tmp_path / NASTY, {"steps": 5}, lines)
    library = Library({NASTY: load_source(folder)}, {NASTY: nasty_run}, {NASTY: run})
    with served_to(page, library) as viewer:
        for place, awaited in (
            ("#tasks", "a.thumb canvas"),
            (f"#task?{urlencode({'set': NASTY, 'task': NASTY})}", ".pair canvas"),
            ("#run", "svg.curve"),
        ):
            show(page, viewer, place, awaited)
            assert NASTY in page.inner_text("#main")
            assert page.locator("img").count() == 0
        with page.context.expect_page() as opened:
            page.click("text=report of this run")
        assert opened.value.inner_text("h1") == NASTY
        opened.value.close()  # a page behind another draws once a second
        show(page, viewer, "#solve", ".board canvas")
        page.click("text=Paste a task")
        page.fill("textarea", json.dumps({NASTY: TASK}))
        page.click("text=use it")
        page.wait_for_selector("textarea", state="hidden")
        page.fill("[name=budget]", "1")
        page.click("button.main")
        page.wait_for_selector(f"text={NASTY} with {NASTY}")
        assert page.locator("img").count() == 0
        assert page.evaluate("typeof hacked") == "undefined"


def test_a_link_that_was_used_explains_itself(page: Page, viewer: Viewer, errors: list[str]) -> None:
    link = viewer.url_once()
    page.goto(link + "#solve")
    page.wait_for_selector(".board canvas")
    assert page.url == viewer.url + "#solve"
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("text=This address does not open the viewer")
    assert len(errors) == 1  # 403
    errors.clear()


def test_a_blank_drawing_is_refused(page: Page, viewer: Viewer, errors: list[str]) -> None:
    show_blank(page, viewer)
    page.click("button.main")
    page.wait_for_selector("text=demonstration 1 is blank: draw its input and its output, or remove it")
    assert page.is_enabled("button.main")
    assert len(errors) == 1  # 400
    errors.clear()


def test_what_is_missing_is_told(page: Page, library: Library, run: Path, tmp_path: Path) -> None:
    young = write_run(tmp_path / "young", {"steps": 4}, [])
    with served_to(page, Library(library.sources, {}, {"young": young, "a run": run})) as viewer:
        show(page, viewer, "#run", "text=No run is open")
        show(page, viewer, "#solve", "text=young has no checkpoint yet.")
        assert page.locator("[name=model] option").all_inner_texts() == ["a run"]


def test_a_solve_from_the_command_line_is_watched_as_it_grows(page: Page, tmp_path: Path) -> None:
    """Two candidates that change places, in a file to which the solve adds."""
    about = {"model": "m", "mode": "auto", "budget": 60, "settings": {}, "contents": {}}
    about["tasks"] = {"a": ["012/345"], NASTY: ["0"]}

    def voted(seconds: float, *votes: tuple[str, int]) -> dict[str, object]:  # two of each view
        ranked = [{"grid": grid, "votes": count, "confidence": 0.5} for grid, count in votes]
        ranked[0]["often"] = "very likely: answers with such votes were right in 45 of 50 cases"
        how = {"updates": 10, "views": 8, "cast": 16, "loss": 0.5, "exact": 1.0, "doubt": ""}
        counted = "counted on all tasks of a test"
        return {"task": "a", "seconds": seconds, **how, "counted": counted, "tests": [ranked], "time": time.time()}

    lines = [about, voted(1.0, ("11", 10), ("22", 6))]
    nothing = [{"attempt_1": [[0, 0], [0, 0]], "attempt_2": [[0, 0], [0, 0]]}]
    (tmp_path / "out.json").write_text(json.dumps({"a": nothing, NASTY: nothing}))
    votes = tmp_path / "out.votes.jsonl"
    votes.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with served_to(page, Library({}, solves={"out.json": tmp_path / "out.json"})) as viewer:
        show(page, viewer, "", "text=Votes from 8 views")
        assert "0 of 2 tasks ended" in page.inner_text("#main")
        assert page.locator("img").count() == 0  # no name is markup
        with votes.open("a") as file:
            for line in (voted(2.0, ("22", 14), ("11", 2)), {"task": "a", "ended": "", "time": time.time()}):
                file.write(json.dumps(line) + "\n")
        page.wait_for_selector("text=1 of 2 tasks ended", timeout=10_000)
        page.wait_for_selector("text=Votes over time")
        rows = page.locator("details.course tr:has(canvas)")
        assert [rows.nth(n).locator("td").all_inner_texts()[1:] for n in (0, 1)] == [
            ["37.5%", "87.5%"],
            ["62.5%", "12.5%"],
        ]
        assert page.locator(".attempt").count() == 2
        first, second = (page.locator(".attempt").nth(n).inner_text() for n in (0, 1))
        assert "likelihood 0.50\nvery likely: answers with such votes were right in 45 of 50 cases" in first
        assert second.endswith("likelihood 0.50")
        assert "Such votes: counted on all tasks of a test." in page.inner_text("#main")
        with page.context.expect_page() as opened:
            page.click("text=all tasks with their answers and votes")
        assert opened.value.inner_text("h1") == "m on 2 tasks"
        opened.value.close()
        assert "14 of 16 votes" in page.locator(".attempt").first.inner_text()
        page.click(f"text={NASTY}")
        page.wait_for_selector("text=No votes yet")
        assert overflow(page) == 0


def test_a_telephone_shows_the_last_rounds_of_votes(phone: Page, tmp_path: Path) -> None:
    about = {"model": "m", "mode": "auto", "budget": 60, "settings": {}, "tasks": {"a": ["012"]}, "contents": {}}
    how = {"views": 8, "cast": 8, "loss": 0.5, "exact": 1.0, "doubt": ""}
    ranked = [{"grid": "11", "votes": 6, "confidence": 0.5}, {"grid": "22", "votes": 2, "confidence": 0.1}]
    rounds = [{"task": "a", "seconds": n, "updates": n, **how, "tests": [ranked], "time": 1.0} for n in range(1, 31)]
    (tmp_path / "out.votes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in [about, *rounds]))
    with served_to(phone, Library({}, solves={"out.json": tmp_path / "out.json"})) as viewer:
        show(phone, viewer, "#watch", "text=Votes over time")
        phone.wait_for_function("() => document.querySelector('details.course > div').scrollLeft > 0")
        box = phone.locator("details.course tr").first.locator("th").last.bounding_box()
        assert box is not None
        assert 0 < box["x"] < box["x"] + box["width"] <= 390
        assert overflow(phone) == 0
