"""Collect synthetic pairs: call a provider's maker many times per task and keep the good pairs.

The content of a task's file depends only on (provider, version, seed, task): attempt i of a task has its own
random stream, attempts are used in order, and one task is one job of one worker process. Only the time limit per
attempt depends on the machine; the manifest counts the attempts that hit it.

Building needs Unix (interval timers); the files can be loaded anywhere.
"""

from __future__ import annotations

import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from charm.config import check_seed
from charm.errors import CharmError, charm_errors
from charm.files import lock_folder
from charm.processes import as_finished, process_pool
from charm.progress import bar, say
from charm.tables import Table
from charm.tasks import pairs_file
from charm.tasks.pairs_file import Manifest, PairBlock, Plan, TaskRecord
from charm.tasks.task import Pair, as_grid

TIME_LIMIT = 20.0  # CPU seconds per attempt; the slowest correct Re-ARC attempt takes about 3
MAX_TIME_LIMITS = 5  # a task that hits the limit this often is stuck, not slow
ATTEMPTS_PER_PAIR = 20  # the lowest yield in Re-ARC is 38 %; a task far below that has too few distinct pairs

ILLEGAL, IDENTITY, DUPLICATE, OVERTIME = "illegal grid", "identity", "duplicate", "time limit"


# A verified input and output from a provider: nested sequences of colours, not yet checked for legality.
Sample = tuple[Any, Any]


@dataclass(frozen=True)
class Rejected:
    """An attempt without a pair. `reason` is one of a few fixed phrases, since they are counted."""

    reason: str


# make(task_id, index): attempt `index` of a task. A pure function of its arguments, and picklable.
Maker = Callable[[str, int], Sample | Rejected]


@dataclass(frozen=True)
class Summary:
    """The content of a folder after a build; `built` counts the tasks made by this call."""

    folder: Path
    manifest: Manifest
    built: int
    seconds: float

    @property
    def short(self) -> dict[str, TaskRecord]:
        return {task: record for task, record in self.manifest.tasks.items() if record.shortfall}

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "folder": str(self.folder)}

    def table(self) -> Table:
        plan, records = self.manifest.plan, self.manifest.tasks.values()
        rows = [
            (part, sum(getattr(record, part) for record in records), len(records)) for part in ("pairs", "attempts")
        ]
        rejects = sum((Counter(record.rejects) for record in records), Counter[str]())
        for reason, count in rejects.most_common():
            rows.append((f"rejected: {reason}", count, sum(reason in record.rejects for record in records)))
        rows += [(f"short: {task}, {one.shortfall}", one.pairs, 1) for task, one in sorted(self.short.items())]
        cells = [[what, f"{count:,}", f"{tasks:,}"] for what, count, tasks in rows]
        return Table(["what", "count", "tasks"], cells, f"{plan.provider} ({plan.version}), seed {plan.seed}")

    def line(self) -> str:
        return f"{self.folder}: {self.built:,} task{'s' * (self.built != 1)} made in {self.seconds:,.0f} s"


def build_pairs(
    folder: Path,
    plan: Plan,
    make: Maker,
    tasks: Sequence[str],
    workers: int = 1,
    versions: Mapping[str, str] | None = None,
    caps: Mapping[str, int] | None = None,
) -> Summary:
    """Fill `folder` with `plan.pairs` unique, non-identity, legal pairs for each of `tasks`.

    Tasks start in the given order, so put slow ones first. A task that is finished in the folder is kept, so that an
    interrupted build resumes, unless `versions` shows that its maker has changed. More pairs than before extend every
    task of the folder.
    A task with too few pairs is stored with the reason. `caps` lists tasks that have no more pairs than that.
    """
    versions, caps = versions or {}, caps or {}
    if sys.platform == "win32":
        raise CharmError("pairs can only be built on Linux and macOS; build them there and copy the folder")
    check_seed(plan.seed)
    if workers < 1 or plan.pairs < 1 or plan.time_limit <= 0:
        raise CharmError("workers, pairs and the time limit must be positive")
    began = time.monotonic()
    with charm_errors(f"{folder}: cannot create the folder", OSError):
        folder.mkdir(parents=True, exist_ok=True)
    with lock_folder(folder, "build"):
        manifest = _resume(folder, plan)
        for task in tasks:
            if task in manifest.tasks and manifest.tasks[task].version != versions.get(task, ""):
                del manifest.tasks[task]
        before, pairs = manifest.plan.pairs, max(manifest.plan.pairs, plan.pairs)
        manifest.plan = replace(plan, pairs=pairs)
        wanted = {task: min(pairs, caps.get(task, pairs)) for task in (*tasks, *manifest.tasks)}
        # Without more pairs than before, a task with too few is as complete as it gets.
        short = {task for task, record in manifest.tasks.items() if pairs > before and record.pairs < wanted[task]}
        manifest.unfinished = sorted({*manifest.unfinished, *short, *set(tasks) - manifest.tasks.keys()})
        pairs_file.write_manifest(folder, manifest)
        begun = {task for task in manifest.unfinished if task in manifest.tasks}
        waiting = [task for task in dict.fromkeys((*tasks, *sorted(begun))) if task in manifest.unfinished]
        if waiting:
            _fill(folder, manifest, make, {task: wanted[task] for task in waiting}, versions, workers)
    return Summary(folder, manifest, len(waiting), time.monotonic() - began)


def _fill(
    folder: Path, manifest: Manifest, make: Maker, wanted: Mapping[str, int], versions: Mapping[str, str], workers: int
) -> None:
    """Make the wanted pairs of each task in worker processes. Only this one writes: a task's file, then its record."""
    plan = manifest.plan
    with process_pool(min(workers, len(wanted))) as pool, bar(plan.provider, len(wanted), stays=True) as line:
        jobs = {
            pool.submit(collect, make, task, pairs, plan.time_limit, folder, manifest.tasks.get(task)): task
            for task, pairs in wanted.items()
        }
        try:
            for done, job in enumerate(as_finished(jobs), 1):
                task = jobs[job]
                block, record = job.result()
                pairs_file.write_block(folder, task, block)
                begun = manifest.tasks.get(task, record)  # of a task that is extended but was not named
                manifest.tasks[task] = replace(record, version=versions.get(task, begun.version))
                manifest.unfinished.remove(task)
                pairs_file.write_manifest(folder, manifest)
                line.update(done)
        except BrokenProcessPool:
            raise CharmError("a worker process died (out of memory?); run the same command again") from None


def collect(
    make: Maker, task: str, pairs: int, time_limit: float, folder: Path | None = None, begun: TaskRecord | None = None
) -> tuple[PairBlock, TaskRecord]:
    """Collect one task's pairs; must run in a process's main thread, where signals arrive.

    A task that is `begun` continues with its next attempt after the pairs in `folder`, to the same result.
    """
    kept: dict[bytes, Pair] = {}
    index: list[int] = []
    rejects: Counter[str] = Counter()
    attempts = 0
    if folder is not None and begun is not None:
        earlier = pairs_file.read_block(folder, task, begun.sha256)
        kept = {pair.content: pair for pair in earlier.pairs()}
        index, rejects, attempts = earlier.index.tolist(), Counter(begun.rejects), begun.attempts
    previous = signal.signal(signal.SIGPROF, _raise_overtime)
    try:
        most = ATTEMPTS_PER_PAIR * pairs
        while len(kept) < pairs and attempts < most and rejects[OVERTIME] < MAX_TIME_LIMITS:
            outcome = _attempt(make, task, attempts, time_limit)
            if isinstance(outcome, Pair) and outcome.content in kept:
                outcome = Rejected(DUPLICATE)
            if isinstance(outcome, Rejected):
                rejects[outcome.reason] += 1
            else:
                kept[outcome.content] = outcome
                index.append(attempts)
            attempts += 1
    finally:
        signal.signal(signal.SIGPROF, previous)
    shortfall = None
    if len(kept) < pairs:
        main = rejects.most_common(1)[0][0]
        shortfall = f"{len(kept):,} of {pairs:,} pairs in {attempts:,} attempts, mostly rejected as {main}"
    block = pairs_file.pack_pairs(list(kept.values()), index)
    return block, TaskRecord(len(block), attempts, dict(sorted(rejects.items())), block.content(), shortfall)


class _Overtime(BaseException):
    """Not an Exception, so that a maker that turns exceptions into rejections does not catch it."""


def _raise_overtime(signum: int, frame: FrameType | None) -> NoReturn:
    raise _Overtime


def _attempt(make: Maker, task: str, index: int, time_limit: float) -> Pair | Rejected:
    try:
        # CPU time, not wall time, so that a busy or sleeping machine does not change the result.
        signal.setitimer(signal.ITIMER_PROF, time_limit)
        try:
            sample = make(task, index)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except _Overtime:
        return Rejected(OVERTIME)
    if isinstance(sample, Rejected):
        return sample
    try:
        before, after = (as_grid(grid, f"task {task}, attempt {index}") for grid in sample)
    except CharmError:
        return Rejected(ILLEGAL)
    return Rejected(IDENTITY) if np.array_equal(before, after) else Pair(before, after)


def _resume(folder: Path, plan: Plan) -> Manifest:
    """Return the folder's manifest without the tasks whose files are damaged, or a new one.

    A folder of fewer pairs per task will be extended: attempts are numbered, so the result is as if it was built at
    once. One of more pairs keeps them.
    """
    if not (folder / pairs_file.MANIFEST).exists():
        return Manifest(plan)
    manifest = pairs_file.read_manifest(folder)
    for name, asked in asdict(plan).items():
        if name != "pairs" and (found := getattr(manifest.plan, name)) != asked:
            problem = f"contains pairs with {name} {found}, but {asked} was requested"
            raise CharmError(f"{folder}: {problem}; choose another folder")
    for task, record in list(manifest.tasks.items()):
        try:
            pairs_file.read_block(folder, task, record.sha256)
        except CharmError as error:
            say(f"{error}; rebuilding it")
            del manifest.tasks[task]
            manifest.unfinished.append(task)
    if plan.pairs < manifest.plan.pairs:
        say(f"{folder}: has {manifest.plan.pairs:,} pairs per task already; they are kept")
    return manifest
