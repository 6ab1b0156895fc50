"""Synthetic pairs on disk: one compressed `<task id>.npz` per task, and a `manifest.json` with their hashes.

The manifest is the commit record. A task belongs to the folder once the manifest lists it, and its file must
then have the content hash listed there; a file that the manifest does not list is ignored.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from charm.arrays import read_arrays
from charm.config import from_json
from charm.errors import CharmError, charm_errors
from charm.files import read_json, write_atomically
from charm.paths import data_dir
from charm.tasks.task import COLORS, MAX_SIDE, Grid, Pair

MANIFEST = "manifest.json"
# Folder name -> the command that fills it, to be named when something is missing there.
MADE_BY = {"rearc": "charm data rearc", "rearc2": "charm rearc2 build", "concept-arc": "charm data fetch concept-arc"}
# What these commands build by default: tasks by folder name, and pairs per task.
WHOLE_TASKS = {"rearc": 400, "rearc2": 609}
WHOLE_PAIRS = 1000
KINDS = {"cells": ("u1", 1), "shapes": ("u1", 2), "index": ("<u4", 1)}  # of the arrays of a block
MOST_PAIRS = 100_000  # of a task
PAIR_BYTES = 2 * 30 * 30 + 4 + 4  # of cells, shape and index; arrays' headers need a little more


@dataclass(frozen=True, eq=False)
class PairBlock:
    """All pairs of one task. N pairs; the cells of each input are followed by those of its output."""

    cells: npt.NDArray[np.uint8]  # flat
    shapes: npt.NDArray[np.uint8]  # [N, 4]: input height and width, output height and width
    index: npt.NDArray[np.uint32]  # [N]: the attempt that made the pair, so that it can be made again alone

    def __len__(self) -> int:
        return len(self.shapes)

    def pair(self, k: int) -> tuple[Grid, Grid]:
        """Return input and output of pair k, as read-only windows into `cells`."""
        if not 0 <= k < len(self):
            raise IndexError(f"pair must be in 0..{len(self) - 1}, got {k}")
        start, middle, end = self._bounds[2 * k : 2 * k + 3]
        input_shape, output_shape = self.shapes[k].reshape(2, 2).tolist()
        return self.cells[start:middle].reshape(input_shape), self.cells[middle:end].reshape(output_shape)

    def pairs(self) -> list[Pair]:
        return [Pair(*self.pair(k)) for k in range(len(self))]

    def content(self) -> str:
        """Hash the block's content with SHA-256, independent of the compression."""
        digest = hashlib.sha256(len(self).to_bytes(8, "little"))
        for array, dtype in ((self.shapes, "u1"), (self.index, "<u4"), (self.cells, "u1")):
            digest.update(array.astype(dtype).tobytes())
        return digest.hexdigest()

    @cached_property
    def _bounds(self) -> npt.NDArray[np.int64]:
        # [2N + 1]: where each grid starts in `cells`, and the end of the last.
        areas = self.shapes.reshape(-1, 2).astype(np.int64).prod(axis=1)
        return np.concatenate([np.zeros(1, np.int64), areas.cumsum()])


def pack_pairs(pairs: Sequence[Pair], index: Sequence[int]) -> PairBlock:
    """Pack checked pairs that have outputs, and the number of the attempt that made each."""
    grids = [grid for pair in pairs for grid in pair.grids()]
    cells = np.concatenate([np.zeros(0, np.uint8), *(grid.ravel() for grid in grids)])
    cells.setflags(write=False)
    shapes = np.array([grid.shape for grid in grids], np.uint8).reshape(len(pairs), 4)
    return PairBlock(cells, shapes, np.array(index, np.uint32))


@dataclass(frozen=True)
class TaskRecord:
    """The manifest's entry for one task."""

    pairs: int
    attempts: int
    rejects: dict[str, int]  # reason -> attempts that failed for it
    sha256: str  # PairBlock.content()
    shortfall: str | None  # why there are fewer pairs than requested
    version: str = ""  # of the task's own maker, where tasks have their own


@dataclass(frozen=True)
class Plan:
    """The settings that determine every pair of a task."""

    provider: str
    version: str
    seed: int
    pairs: int  # asked for per task
    time_limit: float  # CPU seconds per attempt; attempts that hit it are counted in TaskRecord.rejects


@dataclass
class Manifest:
    """The content of a folder, and how it was made."""

    plan: Plan
    unfinished: list[str] = field(default_factory=list)  # requested, not made yet, or with fewer pairs than the plan
    tasks: dict[str, TaskRecord] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{len(self.tasks):,} tasks, {sum(record.pairs for record in self.tasks.values()):,} pairs"


def read_manifest(folder: Path) -> Manifest:
    path = folder / MANIFEST
    if not path.is_file():
        raise CharmError(f"{folder}: no synthetic pairs; run `{command_for(folder)}` to build them")
    with charm_errors(f"{path}: not a manifest of synthetic pairs", CharmError):
        return from_json(Manifest, read_json(path), "manifest")


def shortage(folder: Path) -> tuple[str, str] | None:
    """Return what is missing in the folder and what to do about it, or None. A missing folder is an error.

    A task with fewer pairs because no more exist is complete: building it again would not help.
    """
    manifest = read_manifest(folder)
    plan, built, command = manifest.plan, len(manifest.tasks), command_for(folder, manifest.plan)
    if manifest.unfinished:
        return f"{len(manifest.unfinished)} tasks are not built yet", f"run `{command}` to finish them"
    if built < (whole := WHOLE_TASKS.get(folder.name, built)):
        return f"has pairs for {built} of {whole} tasks", f"run `{command}` to build the rest"
    if plan.pairs < WHOLE_PAIRS:
        what = f"has {plan.pairs:,} pairs per task, expected {WHOLE_PAIRS:,}"
        return what, f"run `{command_for(folder, replace(plan, pairs=WHOLE_PAIRS))}` to add them"
    return None


def write_manifest(folder: Path, manifest: Manifest) -> None:
    # Sorted, so that the bytes do not depend on which worker finished first.
    ordered = Manifest(manifest.plan, sorted(manifest.unfinished), dict(sorted(manifest.tasks.items())))
    write_atomically(folder / MANIFEST, json.dumps(asdict(ordered), indent=1))


def read_block(folder: Path, task_id: str, sha256: str) -> PairBlock:
    """Read one task's pairs; refused unless they match the manifest."""
    path = folder / f"{task_id}.npz"
    if not path.is_file():
        raise CharmError(f"{path}: the manifest lists this file, but it is missing")
    with charm_errors(f"{path}: truncated or not a file of pairs", ValueError, OSError):
        block = PairBlock(**read_arrays(path, KINDS, MOST_PAIRS * PAIR_BYTES))
    sizes = block.shapes.shape == (len(block.index), 4) and ((block.shapes >= 1) & (block.shapes <= MAX_SIDE)).all()
    if not sizes or int(block._bounds[-1]) != len(block.cells) or (block.cells >= COLORS).any():
        raise CharmError(f"{path}: does not contain pairs of grids")
    if block.content() != sha256:
        raise CharmError(f"{path}: the pairs do not match the manifest (SHA-256 differs)")
    return block


def write_block(folder: Path, task_id: str, block: PairBlock) -> None:
    write = partial(np.savez_compressed, cells=block.cells, shapes=block.shapes, index=block.index)
    write_atomically(folder / f"{task_id}.npz", write)


def load_pairs(folder: Path, task_ids: Iterable[str] | None = None) -> dict[str, PairBlock]:
    """Load the pairs of the given tasks, or of all, in order of id; every file is checked against the manifest.

    A folder whose build was interrupted loads only by naming tasks that are finished: silently training on
    part of the data is worse than an error.
    """
    manifest = read_manifest(folder)
    command = command_for(folder, manifest.plan)
    if task_ids is None and (count := len(manifest.unfinished)):
        raise CharmError(f"{folder}: {count} tasks are not built yet; run `{command}` to finish them")
    wanted = sorted(set(manifest.tasks if task_ids is None else task_ids))
    if missing := [task for task in wanted if task not in manifest.tasks or task in manifest.unfinished]:
        some = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise CharmError(f"{folder}: {len(missing)} tasks have no pairs ({some}); run `{command}` to build them")
    return {task: read_listed(folder, task, manifest) for task in wanted}


def read_listed(folder: Path, task_id: str, manifest: Manifest) -> PairBlock:
    record = manifest.tasks[task_id]
    block = read_block(folder, task_id, record.sha256)
    if len(block) != record.pairs:
        raise CharmError(f"{folder}: the manifest lists {record.pairs} pairs for {task_id}, got {len(block)}")
    return block


def command_for(folder: Path, plan: Plan | None = None) -> str:
    """Return the command that fills this folder, with the seed and number of pairs of an earlier build if given."""
    command = MADE_BY.get(folder.name, MADE_BY["rearc"])
    if plan and plan.seed:
        command += f" --seed {plan.seed}"
    if plan and plan.pairs != WHOLE_PAIRS:
        command += f" --pairs {plan.pairs}"
    if folder.name in MADE_BY and folder.parent != data_dir():
        command += f" --data {shlex.quote(str(folder.parent))}"
    return command
