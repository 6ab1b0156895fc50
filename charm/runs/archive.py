"""Votes on disk: votes/step_N/loops_K/rank_R.npz, compressed arrays and a JSON header, no pickle.

A file contains the predictions of one process with one checkpoint at one refinement depth. It does not depend on a
protocol, so any protocol can rank the same files later.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from charm.arrays import read_arrays
from charm.config import from_json
from charm.errors import ODD_VALUES, CharmError, charm_errors
from charm.files import write_atomically
from charm.runs.checkpoint import by_step, run_of
from charm.runs.votes import COLUMNS, Votes, merge
from charm.tasks.task import COLORS, MAX_SIDE, Question

FORMAT = 4  # earlier ones do not say which test inputs were answered
DAMAGE = (OSError, RecursionError, *ODD_VALUES)  # what parsing a damaged file raises
MOST_HEADER = 2**26  # bytes
MOST = 2**30  # bytes of all columns; 400 questions with 1000 views each need at most 0.4 of it


@dataclass(frozen=True)
class Header:
    step: int  # of the checkpoint
    loops: int
    rank: int
    ranks: int  # how many files make the pass
    questions: tuple[Question, ...]
    complete: bool  # False while the process still has views to predict
    views: int = 0  # views of each question that vote; 0 for all
    run: str = ""  # the run that trained the model, as its checkpoints name it
    inputs: tuple[str, ...] = ()  # a hash of the test input of each question
    blank: bool = False  # whether the memory was zeroed


class Pass(NamedTuple):
    """All votes of one checkpoint at one refinement depth, over all ranks."""

    header: Header  # of the first rank
    votes: Votes
    missing: tuple[int, ...]  # ranks without a file, or whose file is not complete


def pass_folder(votes_folder: Path, step: int, loops: int) -> Path:
    return votes_folder / f"step_{step}" / f"loops_{loops}"


def write_votes(votes_folder: Path, header: Header, votes: Votes) -> Path:
    """Write one rank's votes, atomically replacing an earlier file of the same rank."""
    path = pass_folder(votes_folder, header.step, header.loops) / f"rank_{header.rank}.npz"
    fields = json.dumps({"format": FORMAT, "votes": len(votes), **asdict(header)})
    arrays = {"header": np.frombuffer(fields.encode(), np.uint8), **dict(zip(COLUMNS, votes.columns(), strict=True))}
    # numpy before 2.2 has no argument allow_pickle (which mypy suspects here) and would store it as an array.
    write_atomically(path, lambda file: np.savez_compressed(file, **arrays))  # type: ignore[arg-type]
    return path


def read_votes(path: Path) -> tuple[Header, Votes]:
    """Read one rank's file; damaged and missing files raise different errors."""
    if not path.is_file():
        raise CharmError(f"{path}: no such votes file")
    with charm_errors(f"{path}: the votes file is damaged or cut short; delete it and evaluate again", *DAMAGE):
        header, count = _header(path)
        columns = read_arrays(path, COLUMNS, MOST)
    if not _consistent(columns, len(header.questions), count):
        raise CharmError(f"{path}: its columns contradict each other; delete the file and evaluate again")
    return header, Votes.of([*columns.values()])


def _headers(folder: Path) -> list[Header | None]:
    """Read the headers of all ranks' files; None for one that is damaged or of an earlier version."""
    found: list[Header | None] = []
    for path in folder.glob("rank_*.npz"):
        try:
            found.append(_header(path)[0])
        except (CharmError, *DAMAGE):
            found.append(None)
    return found


def _header(path: Path) -> tuple[Header, int]:
    """Read the header, and the number of votes that the file must contain."""
    fields = json.loads(read_arrays(path, {"header": ("uint8", 1)}, MOST_HEADER)["header"].tobytes())
    version = fields.pop("format")
    if version != FORMAT:
        raise CharmError(f"{path}: expected votes file format {FORMAT}, got {version}; delete it and evaluate again")
    count = fields.pop("votes")
    return from_json(Header, fields, str(path)), count


def is_finished(
    folder: Path, step: int, depths: Iterable[int], views: int | None = None, run: str = "", like: Header | None = None
) -> bool:
    """Return whether every rank's votes at these depths are complete and, where given, use this many views (0: all),
    are of a model of this run and answer the questions of the header `like` in the same way."""
    for headers in (_headers(pass_folder(folder, step, loops)) for loops in depths):
        whole = [header for header in headers if header is not None and header.complete]
        ranks = {(header.rank, header.ranks) for header in whole}
        if not headers or len(whole) < len(headers) or ranks != {(k, len(whole)) for k in range(len(whole))}:
            return False
        if not all(views is None or header.views == 0 or 0 < views <= header.views for header in whole):
            return False
        if not all(same_run(header.run, run) and answers_alike(header, like or header) for header in whole):
            return False
    return True


def same_run(one: str, other: str) -> bool:
    """Compare the names of two runs; an empty name matches any."""
    return not one or not other or one == other


def answers_alike(one: Header, other: Header) -> bool:
    """Return whether two files answer the same test inputs, both with the memory or both without."""
    return (one.questions, one.inputs, one.blank) == (other.questions, other.inputs, other.blank)


@dataclass(frozen=True)
class Expected:
    """What votes must be to count."""

    inputs: Mapping[Question, str]  # the questions that are scored, each with the hash of its test input
    run: str = ""  # that must have made them; empty for any
    blank: bool = False  # whether the memory must have been zeroed
    some: bool = False  # whether the votes may answer further questions

    def require(self, folder: Path, header: Header) -> None:
        """Refuse a file of votes that answers other test inputs, or of another run."""
        if not same_run(header.run, self.run):
            raise CharmError(f"{folder}: these votes were made by another run; remove them and evaluate again")
        if header.blank != self.blank:
            made = "with the memory zeroed" if header.blank else "with the memory"
            raise CharmError(f"{folder}: these votes were made {made}; remove them and evaluate again")
        voted = dict(zip(header.questions, header.inputs, strict=False))
        for question in self.inputs if self.some else {**voted, **self.inputs}:
            if voted.get(question) != self.inputs.get(question):
                change = "is new" if question not in voted else "has changed"
                change = change if question in self.inputs else "is gone"
                raise CharmError(
                    f"{folder}: the tasks are not those that these votes answer ({question} {change}); restore "
                    f"the tasks, or remove these votes and evaluate again"
                )

    def require_all(self, votes_folder: Path) -> None:
        """Refuse a folder if any of its votes answer other test inputs; damaged files are left to others."""
        for folder in sorted(votes_folder.glob("step_*/loops_*")):
            for header in filter(None, _headers(folder)):
                self.require(folder, header)


def own_evaluation(run: Path, found: dict[str, Any], name: str) -> dict[str, Any]:
    """Read the evaluation of this name, which must belong to the run whose checkpoints are in the folder."""
    if not same_run(str(found.get("run", "")), run_of(run)):
        raise CharmError(f"{run / 'eval' / name}.json is of an earlier run in this folder; evaluate again")
    return found


def forget_later_votes(votes_folder: Path, step: int) -> bool:
    """Remove the votes of later checkpoints, which a resumed run makes again; return whether there were any."""
    later = [folder for number, folder in by_step(votes_folder).items() if number > step]
    for folder in later:
        shutil.rmtree(folder)
    return bool(later)


def read_pass(votes_folder: Path, step: int, loops: int) -> Pass:
    """Read all ranks of one pass; `missing` lists the ranks that are missing or not finished."""
    folder = pass_folder(votes_folder, step, loops)
    paths = sorted(folder.glob("rank_*.npz"))
    if not paths:
        raise CharmError(f"{folder}: no votes for step {step} with {loops} loops")
    headers, parts = zip(*(read_votes(path) for path in paths), strict=True)
    first = headers[0]
    for path, header in zip(paths, headers, strict=True):
        if (header.step, header.loops, f"rank_{header.rank}.npz") != (step, loops, path.name):
            named = f"rank {header.rank} of step {header.step}, {header.loops} loops"
            raise CharmError(f"{path}: the file's header names {named}")
        if header.ranks != first.ranks:
            raise CharmError(f"{folder}: files of runs with {first.ranks} and {header.ranks} ranks are mixed")
        if not answers_alike(header, first):
            raise CharmError(f"{folder}: {paths[0].name} and {path.name} answer different questions")
        if not same_run(header.run, first.run):
            raise CharmError(f"{folder}: {paths[0].name} and {path.name} were made by different runs")
    finished = {header.rank for header in headers if header.complete}
    missing = tuple(rank for rank in range(first.ranks) if rank not in finished)
    return Pass(first, merge(parts), missing)


def passes(votes_folder: Path) -> dict[int, tuple[int, ...]]:
    """List the checkpoint steps with complete votes, ascending, each with its refinement depths."""
    return _passes(votes_folder, lambda step, loops: is_finished(votes_folder, step, [loops]))


def damaged_passes(votes_folder: Path) -> dict[int, tuple[int, ...]]:
    """List the steps and depths at which a file of votes is missing, empty or unreadable; unfinished ones are not."""
    return _passes(votes_folder, lambda *of: None in (_headers(pass_folder(votes_folder, *of)) or [None]))


def whole_passes(votes_folder: Path) -> dict[int, tuple[int, ...]]:
    """Return what `passes` does, or raise for the first damaged votes: a reader must not skip them silently."""
    for step, depths in damaged_passes(votes_folder).items():
        remedy = "evaluate again, or delete the folder to do without them"
        raise CharmError(f"{pass_folder(votes_folder, step, depths[0])}: votes are missing or damaged; {remedy}")
    return passes(votes_folder)


def _passes(votes_folder: Path, wanted: Callable[[int, int], bool]) -> dict[int, tuple[int, ...]]:
    found = {
        step: tuple(loops for loops in by_step(folder, name="loops") if wanted(step, loops))
        for step, folder in by_step(votes_folder).items()
    }
    return {step: depths for step, depths in found.items() if depths}


def _consistent(columns: dict[str, np.ndarray], questions: int, votes: int) -> bool:
    """Check that all columns fit together, so that nothing later can index outside of them."""
    question, hashes, shape, cells, candidate, *others = columns.values()
    return bool(
        len(question) == len(hashes)
        and shape.shape == (len(question), 2)
        and shape.max(initial=0) <= MAX_SIDE
        and shape.astype(np.int64).prod(axis=1).sum() == len(cells)
        and cells.max(initial=0) < COLORS
        and all(len(column) == votes for column in (candidate, *others))
        and ((question >= 0) & (question < questions)).all()
        and ((candidate >= 0) & (candidate < len(question))).all()
    )
