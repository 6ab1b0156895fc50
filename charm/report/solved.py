"""The page of a solve: every task with its answers, their votes and the outcome, from the files of `charm solve`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from charm.errors import ODD_VALUES, charm_errors
from charm.evaluation.ranking import ATTEMPTS, NO_ANSWER
from charm.evaluation.scoring import score_grids
from charm.files import read_json
from charm.report.answers import JsonObject, TaskGrids, task_entries
from charm.report.html import SCRIPT, document, tile, write_page
from charm.report.page import TASKS, drawing, score_tiles
from charm.solving.scores import interval
from charm.solving.vote_log import TaskCourse, read_course, votes_file
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

    Right answers are those of `sources`; the outcome of a task that is in none of them is blind.
    """
    about, courses = read_course(submission)
    given = read_json(submission)
    grids, found, ranked = {}, {}, {}
    for name, course in courses.items():
        task = match_task(sources, name, course.inputs)
        inputs = [(text, None) for text in course.inputs]
        grids[name] = TaskGrids.of(task[1]) if task else TaskGrids(course.demos, [*inputs])
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
        entry |= _how(entry["id"], courses[entry["id"]])
    rounds = [course.rounds[-1] for course in courses.values() if course.rounds]
    sure = rounds[-1].get("sure", "likelihood") if rounds else "likelihood"
    tiles = score_tiles(scores)
    if between := interval(sum(task.outcome == "solved" for task in scores.tasks), scores.puzzles):
        low, high = (f"{100 * share:.0f}" for share in between)
        tiles.append(tile("95 % interval", f"{low}\N{EN DASH}{high} %", "of tasks solved"))
    tiles += _cost_tiles(submission.with_suffix(".scores.json"))
    with charm_errors(f"{votes_file(submission)}: not the votes of a solve", OSError, *ODD_VALUES):
        lead = _lead(about, courses)
    body = [
        f'<p class="soft">{escape(lead)}</p>',
        *_unknown(entries, submission),
        *(['<div class="cards">', *tiles, "</div>"] if tiles else []),
        *([TASKS] if entries else []),
    ]
    title = f"{about['model']} on {len(courses)} tasks"
    if len(courses) == 1:
        title = f"{entries[0]['id']}, answered by {about['model']}"
    payload = {**drawing(), "steps": [], "tasks": entries, "sure": sure}
    return write_page(out, document(title, body, SCRIPT, payload))


def _unknown(entries: Sequence[JsonObject], submission: Path) -> list[str]:
    """Say how many tasks are not scored, if there are any, and how they would be."""
    count = sum(entry["outcome"] == "blind" for entry in entries)
    which = "" if count == len(entries) else f" to {count} of {len(entries)} tasks"
    command = f"<code>charm report {escape(submission.name)} TASK.json</code>"
    text = f"The right answers{which} are not known. If files have them, name the files: {command}"
    return [f'<p class="soft">{text}</p>'] if count else []


def _lead(about: Mapping[str, Any], courses: Mapping[str, TaskCourse]) -> str:
    """Say how long the solve could take, what is not finished, when it was and with which version."""
    every = " for all tasks" if len(courses) > 1 else ""
    parts = [f"Budget: {_duration(about['budget'])}{every} from the first update"]
    parts += [f"mode {about['mode']}"] if about["mode"] != "auto" else []
    if unfinished := sum(course.problem != "" for course in courses.values()):
        parts.append("not finished" if len(courses) == 1 else f"{unfinished} of {len(courses)} tasks not finished")
    if times := [course.changed for course in courses.values() if course.changed is not None]:
        parts.append(f"{datetime.fromtimestamp(max(times), UTC):%Y-%m-%d}")
    parts += [f"CHARM {about['charm']}"] if "charm" in about else []
    return "; ".join(parts)


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


def _how(name: str, course: TaskCourse) -> JsonObject:
    """Say in a "note" how a task was solved, and in "doubt" what speaks against its answers."""
    parts, doubt = [], ""
    if course.rounds:
        newest = course.rounds[-1]
        views = newest["views"]
        took = f" in {_duration(newest['seconds'])}" if newest["seconds"] else ""
        parts.append(f"{newest['updates']:,} updates, {views:,} view{'s' * (views != 1)} voted{took}")
        if newest["exact"] is not None:
            parts.append(f"{newest['exact']:.0%} of the last demonstrations exact")
        doubt = newest["doubt"] or ""
        for number in range(len(course.inputs)):  # the page counts from one
            doubt = doubt.replace(str(Question(name, number)), f"test {number + 1}")
        if "counted" in newest:
            parts.append(f"how often such votes were right: {newest['counted']}")
    if course.problem != "":
        parts.append(f"failed: {course.problem}" if course.problem else "not finished")
    return {"note": "; ".join(parts), "doubt": doubt}


def _cost_tiles(path: Path) -> list[str]:
    """Return tiles of the time and the price in the scores of a solve; none if it has no scores."""
    if not path.is_file():
        return []
    with charm_errors(f"{path}: not the scores of a solve", *ODD_VALUES):
        found = read_json(path)
        device = f"{len(found['devices'])} x " * (len(found["devices"]) > 1) + found["hardware"]
        start = f"{_duration(found['startup_seconds'])} of it to start; {device}"
        tiles = [tile("time", _duration(found["seconds"]), start)]
        if found["dollars"] is not None:
            tiles.append(tile("price", f"${found['dollars']:.2f}", f"at ${found['dollars_per_hour']:.2f} an hour"))
        if found["trained_on"]:
            tiles.append(tile("trained on", f"{found['trained_on']:,}", "of the tasks, at least on demonstrations"))
    return tiles


def _duration(seconds: float) -> str:
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.3g} min" if seconds < 6000 else f"{seconds / 3600:.3g} h"


def _grid(text: str) -> Grid:
    """Invert `digits`."""
    return as_grid([[int(digit) for digit in row] for row in text.split("/")], "a logged grid")
