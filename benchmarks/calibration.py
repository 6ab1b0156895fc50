"""Count how often answers with such votes are right, from a solve of tasks whose answers are known.

    charm solve arc1/evaluation --budget 2.9s/task --score
    python benchmarks/calibration.py submission.json arc1/evaluation [--model charm/released/base]
        [--record benchmarks/results/votes_base.json]

It reads submission.votes.jsonl and submission.scores.json, and refuses them if the votes do not give the scores. The
counts are tried on tasks that they were not made from: each task in turn is left out, and the counts of all others say
how often its answers should be right. If they say so better than one number for all attempts, they are written to
calibration.json in the model's folder, from where `charm solve` takes them, and to --record with every attempt.

In each kind, answers with more votes are right at least as often: counts are pooled until they are (isotonic
regression).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from charm.config import checked, to_json
from charm.drawing.terminal import show
from charm.errors import CharmError, charm_errors
from charm.evaluation.calibration import FEWEST, KINDS, Calibration, RightCount, kind_of
from charm.files import fingerprint, read_json, write_atomically, write_sealed
from charm.models.model import CALIBRATION, CharmModel, weights_sha256
from charm.paths import released_model
from charm.report.solved import match_task
from charm.runs.checkpoint import newest_checkpoint
from charm.solving.solution import LEARNED
from charm.solving.vote_log import TaskCourse, VoteLine, read_course
from charm.tables import Table
from charm.tasks.sources import Source, load_source
from charm.tasks.task import digits

Floats = npt.NDArray[np.float64]
BINS = 5  # of the probabilities, for the calibration error
MOST_ERROR = 0.06  # calibration error on tasks left out
LEAST = 20  # cases that are counted together, at least; fewer only where a kind has no more


class Case(NamedTuple):
    """An attempt at a test input whose answer is known."""

    task: str
    kind: str
    share: float
    right: bool


class Counted(NamedTuple):
    """The cases of a solve, and how many of its test inputs were right in two attempts."""

    cases: list[Case]
    passed: float


class HeldOut(NamedTuple):
    """How well counts say how often the answers of other tasks are right; a square error of 0 is perfect."""

    cases: int
    square_error: float
    square_error_of_one_number: float
    calibration_error: float


def count(courses: dict[str, TaskCourse], sources: Sequence[Source]) -> Counted:
    """Take the attempts of every test input from its newest round with candidates."""
    cases, passed = [], []
    for name, course in courses.items():
        found = match_task(sources, name, course.inputs)
        if found is None:
            raise CharmError(f"task {name} is in none of {', '.join(source.name for source in sources)}")
        if course.problem != "":
            raise CharmError(f"task {name} was not finished; solve it with --resume first")
        for number, pair in enumerate(found[1].test):
            if pair.output is None:
                raise CharmError(f"the answer of {name} test {number} is not known")
            voted = next((one for one in reversed(course.rounds) if one["tests"][number]), None)
            ranked = voted["tests"][number] if voted else []
            right = [one["grid"] == digits(pair.output) for one in ranked]
            passed.append(any(right[:2]))
            if voted and _learned(voted):
                cases += cases_of(name, [one["votes"] for one in ranked], right, voted["cast"])
    return Counted(cases, float(np.mean(passed)))


def _learned(voted: VoteLine) -> bool:
    """Return whether `Solution.unlearned` has nothing to say; nothing else is said of the other answers."""
    return bool(voted["updates"]) and (voted["exact"] is None or voted["exact"] >= LEARNED)


def cases_of(task: str, votes: Sequence[int], right: Sequence[bool], cast: int) -> list[Case]:
    """Return the cases of a test input: its attempts that have votes, if enough were cast."""
    if cast < FEWEST:
        return []
    return [
        Case(task, kind_of(votes, attempt), votes[attempt] / cast, right[attempt])
        for attempt in range(min(2, len(votes)))
        if votes[attempt]
    ]


def fitted(cases: Iterable[Case]) -> tuple[RightCount, ...]:
    """Count cases of one kind in blocks of ascending shares that are right ever more often."""
    blocks: list[RightCount] = []
    counted = sorted((case.share, case.right) for case in cases)
    for share, same in groupby(counted, key=lambda one: one[0]):
        right = [one[1] for one in same]
        blocks.append(RightCount(share, sum(right), len(right)))
        if len(blocks) > 1 and blocks[-2].of < LEAST:
            _join(blocks)
    if len(blocks) > 1 and blocks[-1].of < LEAST:
        _join(blocks)
    pooled: list[RightCount] = []
    for block in blocks:
        pooled.append(block)
        while len(pooled) > 1 and pooled[-2].right * pooled[-1].of >= pooled[-1].right * pooled[-2].of:
            _join(pooled)
    return tuple(pooled)


def _join(blocks: list[RightCount]) -> None:
    """Make one block of the last two."""
    last, before = blocks.pop(), blocks.pop()
    blocks.append(RightCount(before.share, before.right + last.right, before.of + last.of))


def calibration(cases: Sequence[Case], weights: str, mode: str, tasks: str) -> Calibration:
    """Count these cases."""
    kinds = (fitted(case for case in cases if case.kind == kind) for kind in KINDS)
    return Calibration(weights, mode, tasks, *kinds)


def held_out(cases: Sequence[Case]) -> HeldOut:
    """Leave each task out in turn, and let the counts of all others say how often its answers are right."""
    said, right = [], []
    for task in dict.fromkeys(case.task for case in cases):
        others = calibration([case for case in cases if case.task != task], "", "", "")
        for case in cases:
            if case.task == task and (blocks := getattr(others, case.kind)):
                block = next((one for one in reversed(blocks) if one.share <= case.share), blocks[0])
                said.append(block.right / block.of)
                right.append(case.right)
    said_C, right_C = np.array(said), np.array(right, np.float64)
    square = float(((said_C - right_C) ** 2).mean())
    return HeldOut(len(said), square, float(right_C.var()), calibration_error(said_C, right_C))


def calibration_error(said_C: Floats, right_C: Floats) -> float:
    """Return the mean distance of what was said from what came true, over bins of what was said."""
    bin_C = np.minimum((said_C * BINS).astype(int), BINS - 1)
    return sum(abs(float((said_C - right_C)[bin_C == one].sum())) for one in range(BINS)) / len(said_C)


def counts_table(found: Calibration) -> Table:
    rows = [
        [kind, f"{100 * one.share:.0f} %", f"{one.right} of {one.of}", f"{100 * one.right / one.of:.0f} %"]
        for kind in KINDS
        for one in getattr(found, kind)
    ]
    return Table(("attempts", "votes from", "right", "share"), rows)


def record(cases: Sequence[Case], held: HeldOut, tasks: str, command: str, hardware: str, seed: int) -> dict[str, Any]:
    """Return the record of the measurement: every attempt, and the numbers of the table."""
    numbers = {f"held out: {name.replace('_', ' ')}": round(value, 4) for name, value in held._asdict().items()}
    for kind in KINDS:
        own = [case for case in cases if case.kind == kind]
        numbers |= {f"{kind}: attempts": len(own), f"{kind}: right": sum(case.right for case in own)}
    columns = ["task", "kind", "share of the votes", "right"]
    attempts = [[case.task, case.kind, round(case.share, 6), int(case.right)] for case in cases]
    return {
        "what": "how often an attempt with its share of the votes is right",
        "command": command,
        "size": tasks,
        "machine": hardware,
        "date": time.strftime("%Y-%m-%d"),
        "seeds": [seed],
        "numbers": numbers,
        "runs": [{"columns": columns, "attempts": attempts}],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("submission", type=Path)
    parser.add_argument("sets", nargs="+", metavar="SET")
    parser.add_argument("--model", type=Path, default=released_model())
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    try:
        measure(options.submission, options.sets, options.model, options.record)
    except CharmError as error:
        sys.exit(f"{error}")


def measure(submission: Path, sets: Sequence[str], model: Path, record_file: Path | None) -> None:
    """Count, try the counts on tasks left out, print both, and write them if they hold."""
    about, courses = read_course(submission)
    path = submission.with_suffix(".scores.json")
    with charm_errors(f"{path}: not the scores of a solve", KeyError, TypeError):
        scores = read_json(path)
        score = checked(float, scores["metrics"]["pass@2/outputs"], "pass@2/outputs")
        seconds = checked(float, scores["device_seconds_per_task"], "device_seconds_per_task")
        hardware = checked(str, scores["hardware"], "hardware")
    folder = newest_checkpoint(model)
    if about["settings"].get("weights") != fingerprint(folder / "model.safetensors")["sha256"]:
        raise CharmError(f"{submission} was not solved with the weights in {folder}")
    cases, passed = count(courses, [load_source(name) for name in sets])
    if abs(passed - score) > 1e-9:
        raise CharmError(f"{path} has pass@2 {score:.4f} by test input, the votes give {passed:.4f}")
    tasks = f"{len(courses)} tasks of {' and '.join(sets)}, with {seconds:.1f} s of {hardware} each"
    if not cases:
        raise CharmError(f"{submission} has no attempts to count: none had 8 votes and learned demonstrations")
    weights = weights_sha256(CharmModel.from_pretrained(folder).state_dict())
    found, held = calibration(cases, weights, about["mode"], tasks), held_out(cases)
    show(counts_table(found))
    print(
        f"{held.cases} attempts, each task left out: mean square error {held.square_error:.3f} "
        f"({held.square_error_of_one_number:.3f} with one number for all), "
        f"calibration error {held.calibration_error:.3f}"
    )
    if held.calibration_error > MOST_ERROR or held.square_error >= held.square_error_of_one_number:
        raise CharmError("the counts do not hold on tasks left out; nothing is written")
    write_sealed(folder / CALIBRATION, to_json(found))
    print(f"wrote {folder / CALIBRATION}")
    if record_file is not None:
        command = f"python benchmarks/calibration.py {submission.name} {' '.join(sets)}"
        seed = checked(int, about["settings"].get("seed"), "seed")
        content = record(cases, held, tasks, command, hardware, seed)
        write_atomically(record_file, json.dumps(content, indent=1) + "\n")
        print(f"wrote {record_file}")


if __name__ == "__main__":
    main()
