"""CAR for language models: puzzles as prompts in a JSONL file, and the score of a file of answers.

A prompt contains some training pairs of a combination and all held-out inputs; each is answered by independent
attempts. The truth is in neither file: scoring runs the rule.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from charm.automata.benchmark import HELD_OUT, Benchmark
from charm.automata.dataset import ALL_HELD_OUT, CarData, Combination, combinations_of
from charm.automata.rules import evolve, parse_rule
from charm.errors import CharmError, charm_errors
from charm.files import parse_json, write_atomically
from charm.tables import Table
from charm.tasks import keyed
from charm.tasks.task import COLORS, Grid, as_grid, digits

ATTEMPTS = 2  # independent attempts per puzzle

TEXT = """A two-dimensional cellular automaton runs on a {side} x {side} torus. All cells change at once, \
by one rule that is the same everywhere. The digit of a cell is its state; 0 is dead. Every output below \
is its input after {updates} of the same hidden rule.

{demonstrations}

{tests}

Find the exact output of each test. End your answer with one line of JSON: a list of {count} grids in the order of the \
tests, each a list of {side} strings of {side} digits."""


class Puzzle(NamedTuple):
    """One line of a file of prompts."""

    id: str
    horizon: int
    truths: list[Grid]


def export(path: Path, benchmark: Benchmark, puzzles: int, demonstrations: int) -> int:
    """Write prompts for `puzzles` puzzles per horizon, drawn from the trained ("seen") combinations."""
    if puzzles < 1 or not 1 <= demonstrations <= benchmark.config.examples:
        given, most = f"got {puzzles} and {demonstrations}", benchmark.config.examples
        raise CharmError(f"puzzles must be >= 1 and demonstrations in 1..{most}, {given}")
    seen = [one for one in combinations_of(benchmark, CarData(benchmark.config)) if one.trained]
    lines = []
    for horizon in benchmark.config.horizons:
        some = [one for one in seen if one.horizon == horizon]
        if len(some) < puzzles:
            raise CharmError(
                f"the benchmark has {len(some)} seen combinations at T={horizon}, but {puzzles} were requested; "
                f"build a larger one (charm car build) or ask for fewer (--puzzles)"
            )
        key = keyed.key_of("car prompts", benchmark.config.seed, horizon)
        order = keyed.permute(key, np.arange(len(some)), len(some))
        lines += [_line(benchmark, some[place], demonstrations) for place in order[:puzzles]]
    write_atomically(path, "".join(json.dumps(line) + "\n" for line in lines))
    return len(lines)


def _line(benchmark: Benchmark, one: Combination, demonstrations: int) -> dict[str, Any]:
    shown = slice(HELD_OUT, HELD_OUT + demonstrations)
    inputs, outputs = benchmark.inputs(one.rule, shown), benchmark.outputs(one.rule, one.horizon, shown)
    tests = [_rows(grid) for grid in benchmark.inputs(one.rule, ALL_HELD_OUT)]
    blocks = [
        "\n".join([f"Example {n}, input:", *_rows(start), f"Example {n}, output:", *_rows(end)])
        for n, (start, end) in enumerate(zip(inputs, outputs, strict=True), start=1)
    ]
    prompt = TEXT.format(
        side=benchmark.config.side,
        updates=f"{one.horizon} update{'s' if one.horizon > 1 else ''}",
        demonstrations="\n\n".join(blocks),
        tests="\n\n".join("\n".join([f"Test {n}, input:", *rows]) for n, rows in enumerate(tests, start=1)),
        count=len(tests),
    )
    return {"id": one.id, "rule": str(one.rule), "horizon": one.horizon, "tests": tests, "prompt": prompt}


def _rows(grid: Grid) -> list[str]:
    return digits(grid).split("/")


def score_answers(prompts: Path, answers: Path) -> dict[str, dict[str, float]]:
    """Compute pass@1 and pass@2 per horizon, over held-out inputs, then puzzles; missing attempts count as wrong."""
    puzzles = {puzzle.id: puzzle for puzzle in _puzzles(prompts)}
    given: dict[str, list[Any]] = defaultdict(list)
    for where, line in _lines(answers):
        if "id" not in line or "answer" not in line:
            raise CharmError(f'{where}: expected the fields "id" and "answer", got {", ".join(line) or "none"}')
        if str(line["id"]) not in puzzles:
            raise CharmError(f"{where}: {line['id']!r} is not among the {len(puzzles)} puzzles of {prompts}")
        given[line["id"]].append(line["answer"])
        if len(given[line["id"]]) > ATTEMPTS:
            raise CharmError(f"{where}: more than {ATTEMPTS} attempts at {line['id']}")
    found: dict[str, dict[str, float]] = {}
    for horizon in sorted({puzzle.horizon for puzzle in puzzles.values()}):
        shares, read = [], []
        for puzzle in (one for one in puzzles.values() if one.horizon == horizon):
            attempts = [_grids(answer, len(puzzle.truths)) for answer in given[puzzle.id]]
            right_AK = np.zeros((ATTEMPTS, len(puzzle.truths)))
            for a, grids in enumerate(attempts):
                for k, grid in enumerate(grids or ()):
                    right_AK[a, k] = grid is not None and np.array_equal(grid, puzzle.truths[k])
            shares.append((right_AK.mean(), right_AK.max(axis=0).mean()))
            read += attempts
        pass_1, pass_2 = np.mean(shares, axis=0).tolist()
        found[f"T={horizon}"] = {
            "puzzles": len(shares),
            "pass@1": pass_1,
            "pass@2": pass_2,
            "missing": ATTEMPTS * len(shares) - len(read),
            "unreadable": sum(grids is None for grids in read),
        }
    return found


def answers_table(found: dict[str, dict[str, float]]) -> Table:
    """Lay out the scores, a row for each horizon."""
    forms = {"puzzles": "", "pass@1": ".1%", "pass@2": ".1%", "missing": "", "unreadable": ""}
    rows = [[name, *(f"{one[key]:{form}}" for key, form in forms.items())] for name, one in found.items()]
    return Table(["", "puzzles", "pass@1", "pass@2", "missing\nattempts", "unreadable\nattempts"], rows, narrow=True)


def _puzzles(path: Path) -> Iterator[Puzzle]:
    for where, line in _lines(path):
        with charm_errors(f"{where}: not a prompt of `charm car export`", KeyError, TypeError, ValueError):
            tests = [grid for rows in line["tests"] if (grid := _grid(rows)) is not None]
            if not tests or len(tests) < len(line["tests"]):
                raise ValueError("tests are not grids")
            horizon = int(line["horizon"])
            truths = evolve(np.stack(tests), parse_rule(line["rule"]), [horizon])[0]
            yield Puzzle(line["id"], horizon, list(truths))


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a JSONL file with the places where they stand."""
    with charm_errors(f"{path}: cannot be read", OSError, UnicodeDecodeError):
        lines = path.read_text("utf-8").splitlines()
    for number, text in enumerate(lines, start=1):
        if text.strip():
            where = f"{path}, line {number}"
            line = parse_json(text, where)
            if not isinstance(line, dict):
                raise CharmError(f"{where}: expected a JSON object, got {type(line).__name__}")
            yield where, line


def _grids(answer: Any, count: int) -> list[Grid | None] | None:
    """Return the grids of an answer: a list of `count` grids, or the last such list in a text; None without one."""
    found = None
    for one in _lists(answer) if isinstance(answer, str) else [answer]:
        if isinstance(one, list) and len(one) == count:
            grids = [_grid(rows) for rows in one]
            found = grids if any(grid is not None for grid in grids) else found
    return found


def _lists(text: str) -> Iterator[Any]:
    """Yield the JSON lists in a text, in order."""
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("[", at)) >= 0:
        try:
            value, at = decoder.raw_decode(text, at)
            yield value
        except (ValueError, RecursionError):
            at += 1


def _grid(rows: Any) -> Grid | None:
    """Return a grid from strings of digits or lists of numbers; None if it is not one."""
    if not isinstance(rows, list) or not all(isinstance(row, str | list) for row in rows):
        return None
    digits = {str(color): color for color in range(COLORS)}
    with suppress(CharmError):
        return as_grid([[digits.get(str(cell)) for cell in row] for row in rows], "an answer")
    return None
