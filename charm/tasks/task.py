"""A task: a name, demonstrations and test pairs, all checked when it is created."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from charm.errors import CharmError, charm_errors

Grid = npt.NDArray[np.uint8]  # [height, width], colours 0..9, each side 1..30

MAX_SIDE = 30
COLORS = 10


def as_grid(cells: Any, where: str) -> Grid:
    """Return a read-only uint8 grid from nested lists or an array; `where` names the place in the error message."""
    rows = cells.tolist() if isinstance(cells, np.ndarray) else cells
    if not isinstance(rows, list | tuple) or any(not isinstance(row, list | tuple) for row in rows):
        raise CharmError(f"{where}: the grid is not a list of rows")
    if not rows or not all(rows):
        raise CharmError(f"{where}: the grid is empty")
    if any(len(row) != len(rows[0]) for row in rows):
        raise CharmError(f"{where}: the grid is ragged, its rows have different lengths")
    # Checked before NumPy converts them: an array would turn `true` into 1.
    kinds = set().union(*(map(type, row) for row in rows))
    if not all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        raise CharmError(f"{where}: the grid must contain only integers")
    values = np.asarray(rows)
    if max(values.shape) > MAX_SIDE:
        raise CharmError(f"{where}: a grid must be at most {MAX_SIDE}x{MAX_SIDE}, got {len(rows)}x{len(rows[0])}")
    if values.min() < 0 or values.max() >= COLORS:
        bad = values[(values < 0) | (values >= COLORS)].flat[0]
        raise CharmError(f"{where}: colours must be in 0..{COLORS - 1}, got {bad}")
    grid = values.astype(np.uint8)
    grid.setflags(write=False)
    return grid


def grid_bytes(grid: Grid) -> bytes:
    """Return bytes that are equal exactly when the grids are equal."""
    return bytes(grid.shape) + grid.tobytes()


def grid_hash(grid: Grid) -> str:
    """Return a short hash of a grid's shape and cells."""
    return hashlib.sha256(grid_bytes(grid)).hexdigest()[:16]


def digits(grid: Grid) -> str:
    """Write a grid as rows of digits, "012/345"; empty for a prediction without a grid."""
    return "/".join("".join(map(str, row)) for row in grid.tolist())


@dataclass(frozen=True, eq=False, repr=False)
class Pair:
    """An input and its output; the output is None where it is unknown."""

    input: Grid
    output: Grid | None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pair) and self.content == other.content

    def __hash__(self) -> int:
        return hash(self.content)

    @property
    def content(self) -> bytes:
        """Bytes that are equal exactly when the pairs are equal."""
        return b"|".join(b"" if grid is None else grid_bytes(grid) for grid in (self.input, self.output))

    def grids(self) -> list[Grid]:
        return [self.input] if self.output is None else [self.input, self.output]

    @property
    def sizes(self) -> str:
        return " → ".join("?" if grid is None else "x".join(map(str, grid.shape)) for grid in (self.input, self.output))

    def __repr__(self) -> str:
        return f"<Pair: {self.sizes}>"

    def __str__(self) -> str:
        from charm.tasks.pictures import pair_lines

        return "\n".join(pair_lines(self))

    def _repr_html_(self) -> str:
        """Draw the pair for a notebook."""
        from charm.tasks.pictures import block

        return block("", self.input, self.output)


@dataclass(frozen=True, repr=False)
class Task:
    """One puzzle: demonstrations to learn from and test pairs to answer."""

    id: str
    train: tuple[Pair, ...]
    test: tuple[Pair, ...]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        return self.train + self.test

    def named_pairs(self) -> dict[str, Pair]:
        """Name all pairs: "train 0", "train 1", ..., "test 0", ..."""
        parts = (("train", self.train), ("test", self.test))
        return {f"{part} {number}": pair for part, pairs in parts for number, pair in enumerate(pairs)}

    @property
    def title(self) -> str:
        shown, asked = len(self.train), len(self.test)
        return f"{self.id}: {shown} demonstration{'s' * (shown != 1)}, {asked} test input{'s' * (asked != 1)}"

    def __repr__(self) -> str:
        return f"<Task {self.title}>"

    def __str__(self) -> str:
        from charm.tasks.pictures import task_text

        return task_text(self)

    def _repr_html_(self) -> str:
        """Draw the task for a notebook."""
        from charm.tasks.pictures import task_html

        return task_html(self)

    def blind(self) -> Task:
        """Return the task as a solver may see it: test inputs without their outputs."""
        return replace(self, test=tuple(Pair(pair.input, None) for pair in self.test))

    def answers(self) -> list[Grid | None]:
        return [pair.output for pair in self.test]

    def content(self) -> str:
        """Hash the pairs; the hash depends neither on their order nor on the task's name."""
        parts = (sorted(pair.content for pair in part) for part in (self.train, self.test))
        hashes = (b"".join(hashlib.sha256(content).digest() for content in part) + b"/" for part in parts)
        return hashlib.sha256(b"".join(hashes)).hexdigest()


@dataclass(frozen=True, order=True)
class Question:
    """One test input of one task; in arrays it is an index into an ordered tuple."""

    task_id: str
    test_index: int

    def __str__(self) -> str:
        return f"{self.task_id} test {self.test_index}"


def questions_of(tasks: Iterable[Task]) -> tuple[Question, ...]:
    """List every test input of the tasks, in the order of the tasks and of their tests."""
    return tuple(Question(task.id, index) for task in tasks for index in range(len(task.test)))


def task_from_json(data: Any, task_id: str, where: str) -> Task:
    """Check and return a task of ARC's JSON: {"train": [{"input", "output"}], "test": [{"input"[, "output"]}]}."""
    with charm_errors(f"{where}: the task id {task_id!a} is not valid text", UnicodeError):
        task_id.encode()
    if not isinstance(data, dict):
        raise CharmError(f"{where}: task {task_id} is not a JSON object with 'train' and 'test'")
    train, test = (_pairs(data.get(part) or [], part, task_id, where) for part in ("train", "test"))
    if not train or not test:
        raise CharmError(f"{where}: task {task_id} has no {'test input' if train else 'demonstrations'}")
    return Task(task_id, train, test)


def task_to_json(task: Task) -> dict[str, list[dict[str, list[list[int]]]]]:
    """Return ARC's JSON of a task, as `task_from_json` reads it."""

    def entry(pair: Pair) -> dict[str, list[list[int]]]:
        return {name: grid.tolist() for name, grid in zip(("input", "output"), pair.grids(), strict=False)}

    return {"train": list(map(entry, task.train)), "test": list(map(entry, task.test))}


def check_unique(tasks: Iterable[Task], where: str) -> tuple[Task, ...]:
    """Return the tasks as a tuple; refuse a repeated id, since ids bind memory rows to tasks."""
    result = tuple(tasks)
    most = Counter(task.id for task in result).most_common(1)
    if most and most[0][1] > 1:
        raise CharmError(f"{where}: task id {most[0][0]} appears twice")
    return result


def _pairs(entries: Any, part: str, task_id: str, where: str) -> tuple[Pair, ...]:
    if not isinstance(entries, list):
        raise CharmError(f"{where}: task {task_id}, '{part}' is not a list of pairs")
    pairs = []
    for number, entry in enumerate(entries):
        place = f"{where}: task {task_id}, {part} pair {number}"
        if not isinstance(entry, dict) or "input" not in entry:
            raise CharmError(f"{place}: 'input' is missing")
        output = entry.get("output")
        if output is None and part == "train":
            raise CharmError(f"{place}: a demonstration has no 'output'")
        grid = as_grid(entry["input"], f"{place}, input")
        pairs.append(Pair(grid, None if output is None else as_grid(output, f"{place}, output")))
    return tuple(pairs)
