"""`charm solve`: answer unseen task files."""

from __future__ import annotations

import json as jsonlib
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from tyro.conf import Positional, arg

from charm.commands.shared import Switch, flag
from charm.config import refuse_below
from charm.errors import CharmError
from charm.progress import bar, say
from charm.solving.options import BUDGET, CPU_BUDGET, SolveOptions

if TYPE_CHECKING:
    from charm.solving.solution import Solution
    from charm.solving.submission import SubmissionInProgress
    from charm.tasks.task import Task

SHOWN_PROBLEMS = 10  # of the tasks that failed


def solve(
    tasks: Annotated[Positional[tuple[Path, ...]], arg(metavar="PATH ...", help_behavior_hint="(required)")],
    *,
    checkpoint: Annotated[tuple[Path, ...] | None, flag("MODEL ...", "the one that comes with CHARM")] = None,
    budget: Annotated[str | None, flag("TIME", "60s, and 180s on a CPU")] = None,
    options: Annotated[SolveOptions, arg(name="")] = SolveOptions(),  # noqa: B008
    device: str = "auto",
    out: Annotated[Path | None, flag("FILE", "TASK.submission.json for one task, submission.json for several")] = None,
    choose: int = 0,
    skip: int = 0,
    largest: int = 0,
    score: Switch = False,
    dollars: Annotated[float | None, flag("FLOAT")] = None,
    format: Literal["submission", "arc-agi-benchmarking"] = "submission",
    resume: Switch = False,
    replace: Switch = False,
    json: Switch = False,
) -> None:
    """Answer tasks: add rows for them to the memory, learn their demonstrations, vote over views.

    The budget is divided among the tasks, and the numbers of updates and views are chosen to fit it. The submission is
    rewritten with every better answer, so it is complete whenever the command is stopped; answers of an earlier solve
    are only replaced with --replace. Several tasks run at once on
    all accelerators of the machine. Shared weights that learn are restored after each task. A task that fails is tried
    once more in a fresh process, then named at the end; the others are not affected.

    Example: charm solve task.json --budget 5m

    Example: charm solve test_challenges.json --checkpoint runs/arc2 --budget 11.5h --out submission.json

    Args:
        tasks: files of one task or many (Kaggle challenges), folders, public sets (arc2/evaluation) or ids (007bbfb7).
        checkpoint: a run folder, a saved model, or the name of one that comes with CHARM; several vote together.
        budget: time from the first update, such as 90s, 5m or 12h; 10s/task is 10 seconds of a device for each task.
        device: cuda, xpu, mps, cpu, or auto for the best available; cuda:1 is that one alone.
        out: file to write the submission to.
        choose: number of tasks to solve, chosen by a hash of their ids; 0 for all.
        skip: number of tasks to leave out before the chosen ones, in the order of that hash.
        largest: only tasks whose grids have sides of at most this many cells; 0 for all.
        score: compare with the test outputs in the end, and write OUT.scores.json; refused for tasks that it learned.
        dollars: price of a device for an hour, for the scores.
        format: also write OUT/TASK.json for each task, as arc-agi-benchmarking has them.
        resume: continue the submission of an interrupted solve, and skip the tasks that it had finished.
        replace: replace the answers of an earlier solve; they stay until there is a first new answer.
        json: print the submission instead of pictures.
    """
    began = time.monotonic()
    from dataclasses import replace as changed

    from charm.solving import solver as solving
    from charm.solving.benchmarking import require_free
    from charm.solving.scores import learned_text, measured
    from charm.solving.submission import SubmissionInProgress, only_solve, write_sets
    from charm.tasks.reading import skipped_lines, unusable_tests

    if not tasks:
        raise CharmError("name at least one task file, before --checkpoint, which takes all names after it")
    # Checked before anything is loaded.
    seconds = BUDGET if budget is None else seconds_of(budget.removesuffix("/task"))
    refuse_below(0, {"choose": choose, "skip": skip, "largest": largest, "dollars": dollars})
    loaded, skipped = solving.load_tasks(tasks)
    loaded = solving.choose(loaded, choose, largest, skip)
    models = _models_named(checkpoint)
    solving.learns_together(models, options)  # nor a wrong option
    if seen := learned_text(models, solving.public_sets(tasks)):
        if score:
            raise CharmError(f"{seen}; a score there would mean nothing")
        say(f"{seen}: it may know the answers")
    for reason in skipped_lines(skipped):
        say(reason)
    path = out or _submission_path(loaded)
    if format == "arc-agi-benchmarking":
        require_free(path.with_suffix(""), loaded)
    devices = solving.solve_devices(device, len(loaded))
    options = changed(options, budget=_budget(budget, seconds, len(loaded), devices))
    empty = unusable_tests(tasks, skipped) if skipped and not (choose or skip or largest) else {}
    with only_solve(path):
        begun = SubmissionInProgress(path, loaded, models, options, resume, empty, replace)
        left = begun.left
        _tell_resumed(begun, len(loaded))
        found: dict[str, Solution] = {}
        starting = time.monotonic() - began
        if left:
            devices = devices[: len(left)]
            options = changed(options, budget=_budget(budget, seconds, len(left), devices))
            found, waited = _solve_left(begun, models, options, devices, json)
            starting += waited
        print(jsonlib.dumps(begun.submission)) if json else _draw(found, path)
        sets = solving.sets_of(tasks, loaded)
        for written in write_sets(path, begun.submission, sets):
            say(f"submission of one set in {written}")
        took = time.monotonic() - began
        if score:
            scores = measured(
                *(loaded, found, begun.answers, models, options, devices, (took, starting), dollars, sets),
                solving.sources_of(tasks),
            )
            _write_scores(path.with_suffix(".scores.json"), scores, json)
        if format == "arc-agi-benchmarking":
            _write_benchmarking(begun, loaded, None if dollars is None else dollars * took * len(devices) / 3600)
        if begun.problems or skipped:
            _tell_problems(begun.problems, found, len(left), len(skipped))
            sys.exit(1)


def _models_named(checkpoint: tuple[Path, ...] | None) -> list[Path]:
    """Return the folders of the models; a wrong name must not cost an earlier submission."""
    from charm.paths import model_at
    from charm.runs.checkpoint import newest_checkpoint

    if checkpoint == ():
        raise CharmError("--checkpoint needs the name of a model")
    models = [model_at(one) for one in checkpoint or (None,)]
    for model in models:
        newest_checkpoint(model)
    return models


def _submission_path(tasks: list[Task]) -> Path:
    named = re.sub(r"[/\x00-\x1f]", "-", f"{tasks[0].id}.") if len(tasks) == 1 else ""
    return Path(f"{named}submission.json")


def _solve_left(
    begun: SubmissionInProgress, models: list[Path], options: SolveOptions, devices: list[str], json: bool
) -> tuple[dict[str, Solution], float]:
    """Solve what is left under a bar; return the answers, and the seconds until the first update."""
    from charm.solving import solver as solving
    from charm.solving.solution import Clock

    count, each = len(begun.left), options.budget * len(devices) / len(begun.left)
    time = f"about {round(each, 1):g} s" + " for each" * (count > 1)
    say(f"{count} task{'s' * (count > 1)} on {', '.join(devices)}: {time}")
    clock = Clock(options.budget, waits=True)
    try:
        with bar("preparing", 1.0, counts=False) as line:
            found = solving.solve(
                *(begun.left, models, options, devices),
                lambda used, text: line.update(min(used, 1.0), text=text),
                begun.publish,
                begun.finish,
                clock=clock,
            )
    except KeyboardInterrupt:
        if begun.found and not json:
            _draw(begun.found, begun.path)
        answered = f"with an answer to {len(begun.found)} of {count} tasks" if begun.found else "without an answer"
        earlier = "the answers of the earlier solve are still in" if begun.replaces else "--resume continues"
        say(begun.unwritten or f"stopped {answered}; {earlier} {begun.path}")
        raise
    begun.close()
    return found, clock.waited


def _write_benchmarking(begun: SubmissionInProgress, tasks: list[Task], dollars: float | None) -> None:
    """Write the folder of the official benchmark: OUT without .json."""
    from charm.solving.benchmarking import write_benchmarking

    folder = begun.path.with_suffix("")
    write_benchmarking(folder, tasks, begun.answers, begun.courses, begun.about, dollars or 0.0)
    say(f"attempts for arc-agi-benchmarking in {folder}{'' if dollars else '; their cost is 0 without --dollars'}")


def _tell_resumed(begun: SubmissionInProgress, tasks: int) -> None:
    if begun.unknown_settings:
        say(f"it is not known which model and settings made the earlier answers in {begun.path}")
    if begun.others:
        count = "1 task that was" if begun.others == 1 else f"{begun.others} tasks that were"
        say(f"{begun.path} keeps the answers of {count} not named now")
    if begun.changed:
        say(f"changed since the last solve, so solved again: {', '.join(begun.changed)}")
    if len(begun.left) < tasks:
        say(f"{tasks - len(begun.left)} of {tasks} tasks are finished in {begun.path}")


def _write_scores(path: Path, scores: dict[str, Any], json: bool) -> None:
    """Write the scores and print them, only a line of them where the output is for a program."""
    from charm.drawing.terminal import show
    from charm.files import write_atomically
    from charm.solving.scores import scores_table

    write_atomically(path, jsonlib.dumps(scores, indent=1))
    table = scores_table(scores)
    say(table.caption) if json else show(table if table.rows else table.caption)


def _tell_problems(problems: dict[str, str], found: dict[str, Solution], tasks: int, skipped: int) -> None:
    """Say which tasks failed and why, and how many could not be used."""
    for task_id, problem in list(problems.items())[:SHOWN_PROBLEMS]:
        kept = "its first answers are kept" if task_id in found else "it has no answer"
        say(f"charm: task {task_id} failed ({problem}); {kept}")
    if problems:
        if (more := len(problems) - SHOWN_PROBLEMS) > 0:
            say(f"charm: and {more} more")
        say(f"charm: {len(problems)} of {tasks} tasks failed; --resume tries them again")
    if skipped:
        say(f"charm: {skipped} of the files and tasks could not be used and have no answer")


def _budget(given: str | None, seconds: float, tasks: int, devices: list[str]) -> float:
    """Return the seconds for everything: as given, as given for each task, or the device's default."""
    if given is None:
        return CPU_BUDGET if devices == ["cpu"] else seconds
    return seconds * tasks / len(devices) if given.endswith("/task") else seconds


def _draw(found: dict[str, Solution], path: Path) -> None:
    """Print how each task went; for a single one, its answers too."""
    from charm.drawing.terminal import show

    if len(found) == 1:
        print(*found.values())
    else:
        for task_id, solution in found.items():
            show(f"{task_id}: {solution.summary}")
        if unlearned := sum(bool(one.unlearned) for one in found.values()):
            show(f"{unlearned} of {len(found)} tasks: the demonstrations were not learned; try a longer budget")
        if split := sum(bool(one.disagreement) for one in found.values()):
            show(f"{split} of {len(found)} tasks: the views disagree")
    show(f"\nsubmission in {path}; `charm report {path}` makes a page of it")


def seconds_of(text: str) -> float:
    """Return the seconds in "90", "90s", "5m" or "1.5h"."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h|)", text.strip())
    if not match or float(match[1]) <= 0:
        raise CharmError(f"{text!r} is not a time such as 90s, 5m or 1h")
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]
