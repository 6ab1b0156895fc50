"""Answers to the pages' requests, as JSON values. Nothing here writes.

Tasks, runs and models are chosen by name from fixed lists; no path ever comes from a query.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from charm.config import is_number
from charm.domains import domain_of
from charm.drawing.grids import HATCH, PALETTE
from charm.errors import CharmError, charm_errors
from charm.files import read_sealed, without_repeats
from charm.paths import released_model
from charm.report.curves import curves_svg
from charm.report.folder import JsonObject
from charm.report.html import names_of
from charm.report.page import drawing
from charm.runs.checkpoint import newest_checkpoint, saved_model, steps_of
from charm.runs.metrics import curve, newest_scores, read_metrics
from charm.solving.options import Mode, SolveOptions
from charm.solving.scores import learned_by
from charm.solving.vote_log import votes_file
from charm.synthesis.rearc import package_file
from charm.tasks import keyed
from charm.tasks.canvas import FULL_SIDE, Tokens, fitting_side, place
from charm.tasks.sources import ARC_SPLITS, CONCEPT_ARC, Source, load_available, load_source
from charm.tasks.task import Pair, Task, digits, grid_bytes, task_from_json, task_to_json
from charm.tasks.view import COLORS, VIEWS, View
from charm.web.samples import Generators, Sampler, available
from charm.web.watching import watched_json, watched_task_json

Query = Mapping[str, str]

TITLES = {name: name.replace("arc", "ARC-AGI-").replace("/", " ") for name in ARC_SPLITS} | {CONCEPT_ARC: "ConceptARC"}
EXAMPLE = {"set": "arc2/training", "task": "ca8de6ea"}  # small, and unknown to the model that comes with CHARM
CANVASES = ("full", "pair", "puzzle")
MODES: dict[Mode, str] = {
    "auto": "automatic",
    "memory": "the task's own rows",
    "composition": "the whole memory",
    "full": "all weights",
}
GLANCE = 20  # updates between the interim votes that the browser shows
RATE_LINES = 20  # newest lines of metrics used for the update rate
MAX_NUMBER = 2**53 - 1  # the largest exact integer in a browser


@dataclass(frozen=True)
class Library:
    """Everything the viewer has opened: sets of tasks, runs, models to solve with, generators."""

    sources: Mapping[str, Source]
    runs: Mapping[str, Path] = field(default_factory=dict)
    models: Mapping[str, Path] = field(default_factory=dict)
    generators: Mapping[str, Generators] = field(default_factory=dict)
    data: Path | None = None
    solves: Mapping[str, Path] = field(default_factory=dict)  # submissions, with their votes next to them


def runs_in(folder: Path) -> list[Path]:
    """Return the run folders in a folder, the one that changed last first; anything else there is left out."""
    found: dict[Path, Path] = {}  # a folder and a link to it are one run
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        with suppress(CharmError):
            domain_of(path)
            found.setdefault(path.resolve(), path)
    return sorted(found.values(), key=lambda path: path.stat().st_mtime, reverse=True)


def open_library(
    runs: Sequence[Path],
    checkpoints: Sequence[Path],
    tasks: Sequence[Path],
    data: Path | None,
    say: Callable[[str], None],
    found: Sequence[Path] = (),
) -> Library:
    """Open the public sets, the model that comes with CHARM, and these folders; submissions may be among the runs.

    Runs that were `found`, not named, are the last ones to solve with. A damaged downloaded set is skipped.
    """
    solves = [path for path in runs if path.is_file() or path.suffix == ".json"]
    for path in solves:
        if not votes_file(path).is_file():
            raise CharmError(
                f"{path}: not a submission of charm solve ({votes_file(path).name} is missing); "
                f"files of tasks go after --tasks"
            )
    runs = [*(path for path in runs if path not in solves), *found]
    for path in checkpoints:
        newest_checkpoint(path)  # raises if there is none
    own = [run for run in runs if domain_of(run).solves_tasks]
    # The same folder may be among them twice, once by a relative path.
    ordered = (*(run for run in own if run not in found), *checkpoints, released_model(), *own)
    solvers = dict.fromkeys(path.resolve() for path in ordered)
    sources = [load_source(path) for path in tasks]
    try:
        sources += load_available(data)
    except CharmError as error:
        say(f"skipped: {error}")
        sources += [load_source(name) for name in ARC_SPLITS]
    return Library(
        {source.name: source for source in sources},
        dict(zip(names_of(runs), runs, strict=True)),
        dict(zip(names_of(list(solvers)), solvers, strict=True)),
        available(package_file(data)),
        data,
        dict(zip(names_of(solves), solves, strict=True)),
    )


# Queries


def chosen(query: Query, name: str, among: Mapping[str, Any]) -> Any:
    """Return the item that a query names."""
    wanted = query.get(name, "")
    if wanted not in among:
        raise CharmError(f"unknown {name} {wanted!r}")
    return among[wanted]


def number(query: Query, name: str, limit: int) -> int:
    """Return an integer of the query in 0..limit; 0 if it is missing."""
    text = query.get(name, "0")
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and int(text) <= limit):
        raise CharmError(f"{name} must be an integer in 0..{limit}, got {text[:20]!r}")
    return int(text)


def chosen_task(library: Library, query: Query) -> Task:
    source: Source = chosen(query, "set", library.sources)
    wanted = query.get("task", "")
    task = next((task for task in source.tasks if task.id == wanted), None)
    if task is None:
        raise CharmError(f"no task {wanted!r} in {source.name}")
    return task


def view_of(query: Query) -> View:
    """Return the view that the query's seed draws, or the one with its symmetry and recolouring."""
    if "seed" in query:
        key = keyed.key_of("view", number(query, "seed", MAX_NUMBER))
        return View.from_code(int(keyed.below(key, np.zeros(1, np.int64), np.array([VIEWS]))[0]))
    colors = query.get("colors", "".join(map(str, range(COLORS))))
    if not (colors.isascii() and colors.isdigit()):
        raise CharmError(f"colours must be ten digits such as 0213456789, got {colors[:20]!r}")
    return View(number(query, "turn", 7), tuple(map(int, colors)))


# Tasks


def start_json(library: Library) -> JsonObject:
    """Return what the pages load at the start."""
    return {
        **drawing(),
        "tokens": PALETTE,
        "hatch": HATCH,
        "sets": [
            {"name": name, "title": TITLES.get(name, name), "tasks": len(source.tasks)}
            for name, source in library.sources.items()
        ],
        "runs": list(library.runs),
        "solves": list(library.solves),
        "generators": {
            name: {"title": one.title, "tasks": sorted(one.tasks)} for name, one in library.generators.items()
        },
        "modes": list(MODES.items()),
        "example": EXAMPLE if EXAMPLE["set"] in library.sources else None,
    }


def tasks_json(library: Library, query: Query) -> JsonObject:
    """List all tasks of a set, with their first demonstrations as thumbnails."""
    source: Source = chosen(query, "set", library.sources)
    return {
        "tasks": [
            {
                "id": task.id,
                "concept": source.concepts.get(task.id),
                "demos": len(task.train),
                "tests": len(task.test),
                "generators": _generators_of(library, task.id),
                "first": [digits(grid) for grid in task.train[0].grids()],
            }
            for task in source.tasks
        ]
    }


def task_json(library: Library, query: Query) -> JsonObject:
    """Return a task under a view. Test outputs are included only if the query asks for them."""
    task, view = chosen_task(library, query), view_of(query)
    shown = view.apply_to_task(task)
    answers = query.get("answers") == "1"
    ids = [None, *(one.id for one in library.sources[query["set"]].tasks), None]
    place = ids.index(task.id)
    colors = "".join(map(str, view.colors))
    return {
        "id": task.id,
        "before": ids[place - 1],
        "after": ids[place + 1],
        "view": {"name": str(view), "turn": view.dihedral, "colors": colors, "code": view.code},
        "generators": _generators_of(library, task.id),
        "demos": [[digits(grid) for grid in pair.grids()] for pair in shown.train],
        "tests": [
            {
                "input": digits(pair.input),
                "known": pair.output is not None,
                "output": digits(pair.output) if answers and pair.output is not None else None,
            }
            for pair in shown.test
        ],
        "task": task_to_json(task.blind()),
    }


def canvas_json(library: Library, query: Query) -> JsonObject:
    """Return one pair of a task under a view as the model sees it: tokens at a position on a canvas."""
    task = chosen_task(library, query)
    part = query.get("part", "train")
    if part not in ("train", "test"):
        raise CharmError(f"part must be train or test, got {part!r}")
    seen = task if query.get("answers") == "1" else task.blind()
    pairs = seen.train if part == "train" else seen.test
    which = number(query, "pair", len(pairs) - 1)
    view = view_of(query)
    pair = view.apply_to_pair(pairs[which])
    side = canvas_side(query.get("canvas", "full"), task, pair)
    height, width = (max(grid.shape[axis] for grid in pair.grids()) for axis in (0, 1))
    # As in training, input and output move together, within the positions where both fit with their boundary.
    room_down, room_right = max(side - height, 1) - 1, max(side - width, 1) - 1
    top, left = number(query, "top", room_down), number(query, "left", room_right)
    tokens = [place(grid, side, top, left) for grid in pair.grids()]
    return {
        "side": side,
        "top": top,
        "left": left,
        "room": [room_down, room_right],
        "input": token_text(tokens[0]),
        "output": token_text(tokens[1]) if len(tokens) == 2 else None,
    }


def canvas_side(canvas: str, task: Task, pair: Pair) -> int:
    """Return the side of the full canvas, of one that fits this pair, or of one that fits the visible grids."""
    if canvas not in CANVASES:
        raise CharmError(f"canvas must be one of {', '.join(CANVASES)}; got {canvas!r}")
    if canvas == "full":
        return FULL_SIDE
    pairs = (pair,) if canvas == "pair" else task.blind().pairs
    return fitting_side(max(max(grid.shape) for one in pairs for grid in one.grids()))


def token_text(tokens: Tokens) -> str:
    """Write the twelve tokens as rows of digits, "0123/45ab"."""
    return "/".join("".join(f"{token:x}" for token in row) for row in tokens.tolist())


def _generators_of(library: Library, task_id: str) -> list[str]:
    return [name for name, one in library.generators.items() if task_id in one.tasks]


# Samples


def sample_json(library: Library, sampler: Sampler, query: Query) -> JsonObject:
    """Return one generated pair, determined by the task, the seed and the attempt."""
    generators: Generators = chosen(query, "generator", library.generators)
    task = query.get("task", "")
    seed, attempt = number(query, "seed", MAX_NUMBER), number(query, "attempt", MAX_NUMBER)
    pair = sampler.draw(generators, task, seed, attempt)
    return {
        "generator": generators.title,
        "task": task,
        "seed": seed,
        "attempt": attempt,
        "rule": generators.rule(task),
        "pair": [digits(grid) for grid in pair.grids()],
        "verdict": "the verifier computes the same output",
    }


# Runs


def run_json(library: Library, query: Query, now: float | None = None) -> JsonObject:
    """Return the current state of a run, which may still be training: progress, curves, the newest evaluation."""
    run: Path = chosen(query, "run", library.runs)
    domain = domain_of(run)
    lines = read_metrics(run)
    planned = read_sealed(run / "config.json").get("steps")
    steps: int | None = planned if isinstance(planned, int) else None
    kept = steps_of(run)
    step = max([int(lines[-1]["step"]) if lines else 0, *kept])  # the last lines may be lost
    rate = updates_per_second(lines)
    newest = domain.get("headline")
    drawn = [(title, curve(lines, name), share) for name, (title, share) in domain.get("curves").items()]
    speed = next((name for name in (lines[0] if lines else ()) if name.endswith("_per_second")), None)
    written = [line["time"] for line in lines if is_number(line.get("time"))]
    return {
        "name": query["run"],
        "kind": domain.name,
        "step": step,
        "steps": steps,
        "updates_per_second": rate,
        "speed": [speed.replace("_", " "), curve(lines, speed)[-1][1]] if speed else None,
        "seconds_left": max(steps - step, 0) / rate if rate and steps is not None else None,
        "seconds_since": max((time.time() if now is None else now) - written[-1], 0.0) if written else None,
        "checkpoints": len(kept),
        "evaluation": (newest(run) if newest else None) or newest_scores(lines),
        "voted": domain.solves_tasks and any((run / "votes").glob("step_*/loops_*/rank_*.npz")),
        # SVG of numbers and our own titles, which are escaped.
        "curves": [curves_svg(title, [points], share) for title, points, share in drawn if points],
    }


def updates_per_second(lines: Sequence[JsonObject]) -> float | None:
    """Return the median rate over the newest lines, so that an evaluation or a pause has no effect."""
    timed = [line for line in lines if "loss" in line and is_number(line.get("time"))][-RATE_LINES:]
    steps = [(after["step"] - before["step"], after["time"] - before["time"]) for before, after in pairwise(timed)]
    rates = [updates / seconds for updates, seconds in steps if updates > 0 and seconds > 0]
    return median(rates) if rates else None


# Solving


def watch_json(library: Library, query: Query) -> JsonObject:
    path: Path = chosen(query, "solve", library.solves)
    if "task" in query:
        return watched_task_json(path, query["task"], library.sources.values())
    return watched_json(path, query["solve"])


def models_json(library: Library) -> JsonObject:
    """Return the names of models that can solve a task now, and of runs that have no checkpoint yet."""
    ready = [name for name, path in library.models.items() if saved_model(path) is not None]
    return {"models": ready, "waiting": [name for name in library.models if name not in ready]}


def pasted_json(text: Any) -> JsonObject:
    """Parse a pasted task: ARC's JSON, or {id: task} with one task."""
    if not isinstance(text, str):
        raise CharmError("the pasted task must be text")
    with charm_errors("the pasted text is not JSON", ValueError, RecursionError):
        content = json.loads(text, object_pairs_hook=without_repeats)
    name = "pasted"
    if isinstance(content, dict) and content and not {"train", "test"} & content.keys():
        if len(content) > 1:
            raise CharmError(f"the pasted text contains {len(content)} tasks; paste one of them")
        name, content = next(iter(content.items()))
    task = task_from_json(content, name, "pasted task")
    return {"id": task.id, "task": task_to_json(task.blind())}


def known_task(library: Library, task: Task, model: Path) -> JsonObject | None:
    """Return the public task with these demonstrations: its id, its answers, and whether the model learned it."""
    for name, source in library.sources.items():
        for one in source.tasks:
            if one.train == task.train:
                truth = {grid_bytes(pair.input): pair.output for pair in one.test if pair.output is not None}
                answers = [truth.get(grid_bytes(pair.input)) for pair in task.test]
                return {
                    "id": one.id,
                    "source": name,
                    "truth": [None if answer is None else digits(answer) for answer in answers],
                    "trained": one.id in learned_by(model),
                }
    return None


def solve_request(library: Library, body: JsonObject) -> tuple[Task, str, Path, SolveOptions, JsonObject | None]:
    """Return the task to solve, the model's name and path, the options, and the result of `known_task`."""
    name, model = body.get("name", "drawn"), body.get("model")
    # This also rejects half of a surrogate pair, which is not printable.
    if not isinstance(name, str) or not name.strip() or len(name) > 100 or not name.isprintable():
        raise CharmError("a task's name must be one line of 1 to 100 characters")
    if not isinstance(model, str) or model not in models_json(library)["models"]:
        raise CharmError(f"unknown model {model!r}, or one without a checkpoint")
    budget, mode = body.get("budget", 60), body.get("mode", "auto")
    if not is_number(budget):
        raise CharmError("the budget must be a number of seconds")
    task = task_from_json(body.get("task"), name.strip(), "the editor")
    for n, pair in enumerate(task.train, 1):
        if not any(grid.any() for grid in pair.grids()):
            raise CharmError(f"demonstration {n} is blank: draw its input and its output, or remove it")
    path = library.models[model]
    options = SolveOptions(float(budget), mode=mode, glance=GLANCE)
    return task, model, path, options, known_task(library, task, path)
