"""The page of a solve: every task with its answers, their votes and the outcome, from the files of `charm solve`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from charm.errors import ODD_VALUES, charm_errors
from charm.evaluation.ranking import ATTEMPTS, NO_ANSWER
from charm.evaluation.scoring import score_grids
from charm.files import read_json
from charm.report.answers import JsonObject, TaskGrids, task_entries
from charm.report.html import SCRIPT, document, tile, write_page
from charm.report.page import drawing, score_tiles, task_list
from charm.solving.scores import interval
from charm.solving.vote_log import TaskCourse, read_course
from charm.tasks.sources import Source
from charm.tasks.task import Grid, Question, Task, as_grid, digits


def match_task(sources: Iterable[Source], task_id: str, inputs: Sequence[str]) -> tuple[str, Task] | None:
    """Return the first task of this id and these test inputs, with the name of its set; SET:ID is an id, too."""
    for source in sources:
        for task in source.tasks:
            if task.id == task_id.rpartition(":")[2] and [digits(pair.input) for pair in task.test] == list(inputs):
                return source.name, task
    return None


def write_solve_page(submission: Path, out: Path, sources: Collection[Source]) -> Path:
    """Write the page of a solve from its submission, its log of votes and, if there are any, its scores.

    Demonstrations and answers are those of `sources`; a task that is in none of them has its test inputs only, and its
    outcome is blind.
    """
    about, courses = read_course(submission)
    given = read_json(submission)
    grids, found, ranked = {}, {}, {}
    for name, course in courses.items():
        task = match_task(sources, name, course.inputs)
        grids[name] = TaskGrids.of(task[1]) if task else TaskGrids([], [(text, None) for text in course.inputs])
        for number in range(len(course.inputs)):
            question = Question(name, number)
            with charm_errors(f"{submission}: not the submission of this solve", *ODD_VALUES):
                candidates = _candidates(course, number, given[name][number])
            found[question] = {"candidates": candidates}
            ranked[question] = [_grid(one["grid"]) for one in candidates]
    truths = {question: grids[question.task_id].tests[question.test_index][1] for question in ranked}
    scores = score_grids(ranked, {question: None if text is None else _grid(text) for question, text in truths.items()})
    entries = task_entries(scores, grids, found)
    for entry in entries:
        entry["note"] = _note(courses[entry["id"]])
    rounds = [course.rounds[-1] for course in courses.values() if course.rounds]
    sure = rounds[-1].get("sure", "likelihood") if rounds else "likelihood"
    tiles = score_tiles(scores)
    if between := interval(sum(task.outcome == "solved" for task in scores.tasks), scores.puzzles):
        low, high = (f"{100 * share:.0f}" for share in between)
        tiles.append(tile("95 % interval", f"{low}\N{EN DASH}{high} %", "of puzzles solved"))
    unfinished = sum(course.problem != "" for course in courses.values())
    lead = f"Model {about['model']}, mode {about['mode']}, {_duration(about['budget'])} for all tasks."
    lead += f" {unfinished} of {len(courses)} tasks are not finished." if unfinished else ""
    body = [
        f'<p class="soft">{escape(lead)}</p>',
        *('<div class="cards">', *tiles, *_cost_tiles(submission.with_suffix(".scores.json")), "</div>"),
        *task_list(entries, sure),
    ]
    payload = {**drawing(), "steps": [], "tasks": entries, "sure": sure}
    return write_page(out, document(f"{about['model']} on {len(courses)} tasks", body, SCRIPT, payload))


def _candidates(course: TaskCourse, test: int, given: Mapping[str, Any]) -> list[JsonObject]:
    """Return the ranked candidates of the newest round that has any, or the attempts of a task without a round."""
    for found in reversed(course.rounds):
        if ranked := found["tests"][test]:
            shares = [round(one["votes"] / found["cast"], 4) if found["cast"] else 0.0 for one in ranked]
            return [
                {"rank": rank, "weight": None, "confidence": 0.0, **one, "share": share}
                for rank, (one, share) in enumerate(zip(ranked, shares, strict=True), start=1)
            ]
    attempts = dict.fromkeys(digits(as_grid(given[name], name)) for name in ATTEMPTS if given[name] != NO_ANSWER)
    unknown = {"votes": 0, "share": 0.0, "weight": None, "confidence": 0.0}
    return [{"rank": rank, "grid": text, **unknown} for rank, text in enumerate(attempts, start=1)]


def _note(course: TaskCourse) -> str:
    """Say how a task was solved."""
    parts = []
    if course.rounds:
        newest = course.rounds[-1]
        parts.append(f"{newest['updates']:,} updates, {newest['views']:,} views voted")
        if newest["exact"] is not None:
            parts.append(f"{newest['exact']:.0%} of the last demonstrations exact")
        if "counted" in newest:
            parts.append(f"such votes: {newest['counted']}")
    if course.problem != "":
        parts.append(f"failed: {course.problem}" if course.problem else "not finished")
    return "; ".join(parts)


def _cost_tiles(path: Path) -> list[str]:
    """Return tiles of the time and the price in the scores of a solve; none if it has no scores."""
    if not path.is_file():
        return []
    with charm_errors(f"{path}: not the scores of a solve", *ODD_VALUES):
        found = read_json(path)
        tiles = [tile("time", _duration(found["seconds"]), f"on {', '.join(found['devices'])}: {found['hardware']}")]
        if found["dollars"] is not None:
            tiles.append(tile("price", f"${found['dollars']:.2f}", f"at ${found['dollars_per_hour']:.2f} an hour"))
        if found["trained_on"]:
            tiles.append(tile("trained on", f"{found['trained_on']:,}", "of the tasks, at least on demonstrations"))
    return tiles


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _grid(text: str) -> Grid:
    """Invert `digits`."""
    return as_grid([[int(digit) for digit in row] for row in text.split("/")], "a logged grid")
