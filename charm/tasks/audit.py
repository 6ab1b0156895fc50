"""The leakage audit: which tasks and pairs appear more than once, within a source or across sources.

Equal means equal up to symmetry and recolouring: the 8 symmetries times the permutations of all ten colours. A pair
without an output equals only pairs without one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from charm.config import to_json
from charm.errors import CharmError
from charm.tables import Table
from charm.tasks.pairs_file import PairBlock, pack_pairs
from charm.tasks.sources import Source
from charm.tasks.task import COLORS, Pair, Task
from charm.tasks.view import DIHEDRALS, IDENTITY, View, turn

# What the matrix counts for two sources. A task may be in several matches; pairs equal under a view count once.
SAME_TASK = "same id, identical"
COUNTS = (
    *(SAME_TASK, "same id, changed", "other id, identical", "other id, equivalent", "other id, overlapping"),
    "shared pairs",
)
Generated = Mapping[str, Mapping[str, PairBlock]]  # pairs by folder, such as "rearc", and task id
TRAINING = ("/training", "/training-new")  # ends of the names of sources that are for training


@dataclass(frozen=True)
class PairMatch:
    """A pair that two tasks share."""

    first: str  # its place in the first task, such as "train 0"
    second: str
    identical: bool  # without a view


@dataclass(frozen=True)
class Match:
    """Two tasks with an id or a pair in common."""

    sources: tuple[str, str]
    ids: tuple[str, str]
    kind: str
    """How they relate, the strongest of: identical (the same demonstrations and tests, in any order), equivalent (one
    view maps the demonstrations of one onto those of the other), overlapping (some pair of one equals some pair of the
    other, each under its own view), different (nothing in common but the id)."""
    view: View | None  # maps the demonstrations of the first onto the second's, if one view does
    pairs: tuple[PairMatch, ...]

    @property
    def heading(self) -> str:
        """The entry of COUNTS for this match."""
        if self.ids[0] != self.ids[1]:
            return f"other id, {self.kind}"
        return SAME_TASK if self.kind == "identical" else "same id, changed"


class AnyView(View):
    """A view that may move colour 0, too. Nothing trains under one."""

    def __post_init__(self) -> None:
        pass


@dataclass(frozen=True)
class GeneratedMatch:
    """Generated pairs of one task that equal a pair of an evaluated task."""

    folder: str  # such as "rearc"
    generated: str  # the id of the task that they were generated for
    source: str
    task: str
    pair: str  # the evaluated pair, such as "test 0"
    numbers: tuple[int, ...]  # of the generated pairs in their file


@dataclass(frozen=True)
class AuditReport:
    """Every match between the audited sources, and the counts for every pair of sources."""

    sources: tuple[dict[str, str | int], ...]  # `Source.summary` of each
    matrix: dict[tuple[str, str], dict[str, int]]  # (source, source), in the order given -> COUNTS -> number
    matches: tuple[Match, ...]
    compared: dict[str, int]  # folder of generated pairs -> how many were compared
    generated: tuple[GeneratedMatch, ...]

    def to_json(self) -> dict[str, Any]:
        matrix = [{"sources": list(names), "counts": counts} for names, counts in self.matrix.items()]
        found = {"sources": list(self.sources), "matrix": matrix, "matches": to_json(self.matches)}
        made = {"generated_pairs": self.compared, "generated_matches": to_json(self.generated)}
        return {"equal_up_to": "8 symmetries x permutations of all ten colours", **found, **made}


def audit(sources: Sequence[Source], generated: Generated | None = None) -> AuditReport:
    """Compare every task with every other one, also within a source, and generated pairs with the evaluation sets."""
    names = [source.name for source in sources]
    if len(set(names)) < len(names):
        raise CharmError(f"the audit's sources must be different, got {', '.join(names)}")
    each = ((source.name, task) for source in sources for task in source.tasks)
    entries = [_Entry(name, task, tuple(map(canonical, task.pairs))) for name, task in each]
    holders: dict[bytes, list[int]] = defaultdict(list)  # pair up to views -> the entries that hold it
    namesakes: dict[str, list[int]] = defaultdict(list)
    for number, entry in enumerate(entries):
        namesakes[entry.task.id].append(number)
        for key in set(entry.keys):
            holders[key].append(number)
    candidates = {both for group in (*holders.values(), *namesakes.values()) for both in combinations(group, 2)}
    matches = tuple(_match(entries[a], entries[b]) for a, b in sorted(candidates))

    matrix = {both: dict.fromkeys(COUNTS, 0) for both in combinations_with_replacement(names, 2)}
    for match in matches:
        matrix[match.sources][match.heading] += 1
    for group in holders.values():
        for both in {(entries[a].source, entries[b].source) for a, b in combinations(group, 2)}:
            matrix[both]["shared pairs"] += 1
    generated = generated or {}
    compared = {folder: sum(map(len, blocks.values())) for folder, blocks in generated.items()}
    leaks = _find_leaks(generated, [entry for entry in entries if not entry.source.endswith(TRAINING)])
    return AuditReport(tuple(source.summary() for source in sources), matrix, matches, compared, leaks)


def canonical(pair: Pair) -> bytes:
    """Return bytes that are equal for two pairs exactly when symmetry and recolouring map one onto the other."""
    present = set().union(*(grid.tobytes() for grid in pair.grids()))
    forms = []
    for dihedral in range(DIHEDRALS):
        grids = [turn(grid, dihedral) for grid in pair.grids()]
        cells = b"".join(grid.tobytes() for grid in grids)
        names = bytearray(256)  # colours numbered by first appearance
        for name, color in enumerate(sorted(present, key=cells.index)):
            names[color] = name
        forms.append(bytes(side for grid in grids for side in grid.shape) + cells.translate(names))
    return min(forms)


def common_view(first: Sequence[Pair], second: Sequence[Pair]) -> View | None:
    """Return one view that maps the first pairs onto the second, in any order; None where there is none."""
    if len(first) != len(second):
        return None
    for dihedral in range(DIHEDRALS):
        turned = [View(dihedral).apply_to_pair(pair) for pair in first]
        for links in _assignments(turned, list(second), frozenset()):
            # Colours that occur in no grid may map to anything; the smallest free one makes the result unique.
            known = dict(links)
            free = [color for color in range(COLORS) if color not in known.values()]
            colors = tuple(known[c] if c in known else free.pop(0) for c in range(COLORS))
            return (AnyView if colors[0] else View)(dihedral, colors)
    return None


def audit_tables(report: AuditReport) -> list[Table]:
    """Return the tables of the report: the matrix, then every match except identical tasks with the same id."""
    rows = []
    for (first, second), counts in report.matrix.items():
        name = f"{first}\n  within itself" if first == second else f"{first}\n· {second}"
        rows.append([name, *(str(counts[heading] or "·") for heading in COUNTS)])
    columns = ["sources", *("\n".join(heading.rsplit(" ", 1)) for heading in COUNTS)]
    title = "Tasks and pairs in common (up to symmetry and recolouring)"
    tables = [Table(columns, rows, title, narrow=True)]

    rows = []
    for match in report.matches:
        if match.heading != SAME_TASK:
            ids = (f"{name} {task_id}" for name, task_id in zip(match.sources, match.ids, strict=True))
            pairs = ", ".join(f"{one.first} {'=' if one.identical else '~'} {one.second}" for one in match.pairs)
            rows.append([*ids, match.kind, pairs, str(match.view or "")])
    if rows:
        columns = ["task", "task", "relation", "pairs in common", "view"]
        tables.append(Table(columns, rows, "All but the identical tasks of one id", narrow=True))
    if report.compared:
        places: dict[tuple[str, str], list[GeneratedMatch]] = defaultdict(list)
        for found in report.generated:
            places[f"{found.folder} {found.generated}", f"{found.source} {found.task}"].append(found)
        rows = []
        for both, some in places.items():
            numbers = {number for found in some for number in found.numbers}
            rows.append([*both, ", ".join(found.pair for found in some), str(len(numbers))])
        compared = ", ".join(f"{count:,} of {folder}" for folder, count in report.compared.items())
        title = f"Generated pairs that equal an evaluated pair ({compared} compared)"
        tables.append(Table(["generated", "task", "its pairs", "generated pairs"], rows, title, narrow=True))
    return tables


class _Entry(NamedTuple):
    source: str
    task: Task
    keys: tuple[bytes, ...]  # canonical forms of task.pairs, in their order


def _find_leaks(generated: Generated, asked: Sequence[_Entry]) -> tuple[GeneratedMatch, ...]:
    """Find generated pairs that equal a pair of the asked tasks, quickly: few have such a pair's fingerprint."""
    holders: dict[bytes, list[tuple[_Entry, str]]] = defaultdict(list)
    shown = [pair for entry in asked for pair in entry.task.pairs if pair.output is not None]
    for entry in asked:
        for place, key in zip(entry.task.named_pairs(), entry.keys, strict=True):
            holders[key].append((entry, place))
    known = set(_fingerprints(pack_pairs(shown, range(len(shown)))).tolist())
    found: dict[tuple[str, str, str, str, str], list[int]] = defaultdict(list)
    for folder, blocks in generated.items():
        for task_id, block in blocks.items():
            for number, fingerprint in enumerate(_fingerprints(block).tolist()):
                if fingerprint in known:
                    for entry, place in holders.get(canonical(Pair(*block.pair(number))), ()):
                        found[folder, task_id, entry.source, entry.task.id, place].append(number)
    return tuple(GeneratedMatch(*names, tuple(numbers)) for names, numbers in found.items())


def _fingerprints(block: PairBlock) -> npt.NDArray[np.uint64]:
    """Return a number for each pair that no symmetry and no recolouring changes: sides, and cells of each colour."""
    areas = block.shapes.reshape(-1, 2).astype(np.int64).prod(axis=1)
    grids = np.repeat(np.arange(len(areas)), areas)
    counts = np.bincount(grids * COLORS + block.cells, minlength=len(areas) * COLORS)
    in_out = counts.reshape(-1, 2, COLORS).astype(np.uint64)
    colors = np.sort(in_out[:, 0] * 1000 + in_out[:, 1], axis=1)
    sides = np.sort(block.shapes.reshape(-1, 2, 2), axis=2).reshape(-1, 4)
    values = np.concatenate([colors, sides.astype(np.uint64)], axis=1)
    # A polynomial hash; it wraps around, and equal values keep equal hashes.
    return values @ np.uint64(0x9E3779B97F4A7C15) ** np.arange(1, values.shape[1] + 1, dtype=np.uint64)


def _match(first: _Entry, second: _Entry) -> Match:
    pairs = tuple(
        PairMatch(a, b, pair == other)
        for (a, pair), key in zip(first.task.named_pairs().items(), first.keys, strict=True)
        for (b, other), other_key in zip(second.task.named_pairs().items(), second.keys, strict=True)
        if key == other_key
    )
    view, kind = None, "overlapping" if pairs else "different"
    if first.task.content() == second.task.content():
        view, kind = IDENTITY, "identical"
    elif sorted(first.keys[: len(first.task.train)]) == sorted(second.keys[: len(second.task.train)]):
        view = common_view(first.task.train, second.task.train)
        kind = kind if view is None else "equivalent"
    return Match((first.source, second.source), (first.task.id, second.task.id), kind, view, pairs)


def _assignments(
    first: list[Pair], second: list[Pair], links: frozenset[tuple[int, int]]
) -> Iterator[frozenset[tuple[int, int]]]:
    """Yield every one-to-one map of colours, as (from, to), that makes the first pairs the second in some order."""
    if not first:
        yield links
        return
    head, rest = first[0], first[1:]
    for number, pair in enumerate(second):
        if [grid.shape for grid in head.grids()] != [grid.shape for grid in pair.grids()]:
            continue
        grids = zip(head.grids(), pair.grids(), strict=True)
        longer = links.union(*(zip(a.tobytes(), b.tobytes(), strict=True) for a, b in grids))
        if len(longer) == len({a for a, _ in longer}) == len({b for _, b in longer}):
            yield from _assignments(rest, second[:number] + second[number + 1 :], longer)
