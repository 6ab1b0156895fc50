"""List the runs that `charm reproduce` was asked for, make those that are missing, and collect their results.

Missing runs are made several at a time on this machine, or on a cluster with Slurm.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from charm.config import flag_words, flags_between
from charm.devices import place
from charm.domains import domain_of_preset
from charm.errors import CharmError
from charm.files import terminates_as_interrupt
from charm.paper.comparison import MOST_SEEDS, Comparison
from charm.paper.runs import SizeName
from charm.paper.tables import TABLES, PaperTable
from charm.paper.work import STOPPED, PaperRun, Result, Shelf, run_one
from charm.progress import Echo
from charm.tables import Table

SEEDS = 3  # default at sizes other than full
CPU_SIZES = ("smoke", "cpu")
GRACE = 30.0  # seconds in which a stopped run must write its checkpoint
POLL = 0.5
LOG = "log.txt"  # in the folder of a run: what its process printed


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Tables with their selected lines, at one size."""

    tables: tuple[PaperTable, ...]
    figures: tuple[str, ...]
    seeds: int | None
    shelf: Shelf

    @staticmethod
    def of(
        labels: Sequence[str], size: SizeName, seeds: int | None, variants: Sequence[str], out: Path, data: Path | None
    ) -> Reproduction:
        if seeds is not None and not 1 <= seeds <= MOST_SEEDS:
            raise CharmError(f"--seeds must be from 1 to {MOST_SEEDS}, got {seeds}")
        tables = [TABLES[label] for label in dict.fromkeys(one for label in labels for one in _sources(label))]
        names = dict.fromkeys(line.variant.name for table in tables for line in table.runs)
        if unknown := [name for name in variants if name not in names]:
            known = ", ".join(names)
            raise CharmError(f"{' '.join(labels)}: there is no variant {unknown[0]!r}; expected some of {known}")

        def chosen(table: PaperTable) -> PaperTable:
            wanted = (line for line in table.lines if not line.run or line.variant.name in (variants or names))
            return replace(table, lines=tuple(wanted))

        figures = tuple(label for label in labels if TABLES[label].panels)
        return Reproduction(tuple(map(chosen, tables)), figures, seeds, Shelf(out, size, data))

    def runs(self) -> list[PaperRun]:
        """Return all runs, those that lines share once: seed by seed, and bases of streams first."""
        lines = [line for table in self.tables for line in table.runs]
        found = [self.shelf.run(line.variant.base, 0) for line in lines if line.variant.base]
        for line in lines:
            paper = line.seeds if self.shelf.size == "full" else SEEDS
            found += [self.shelf.run(line.variant, seed) for seed in range(self.seeds or paper)]
        first: dict[tuple[int, str], PaperRun] = {}
        for run in found:
            first.setdefault((run.seed, run.name), run)
        return sorted(first.values(), key=lambda run: run.seed)

    def missing_runs(self) -> list[PaperRun]:
        """Return the runs without a result."""
        return [run for run in self.runs() if run.read() is None]

    def state(self) -> str:
        """Say how many runs are finished."""
        total, left = len(self.runs()), len(self.missing_runs())
        finished = f"{total - left} of {total} runs are finished"
        return f"{finished}; the same command continues" if left else finished

    # Before

    def overview(self) -> Iterator[Table | str]:
        """Yield the planned runs with their estimated hours, what the size is, and their commands."""
        size, runs, missing, rows = self.shelf.size, self.runs(), self.missing_runs(), []
        every, left = Counter(run.name for run in runs), Counter(run.name for run in missing)
        for run in runs[: len(every)]:  # the first seed of each variant
            counted = f"{left[run.name]} of {every[run.name]}"
            rows.append([run.variant.key, counted, _time(run.hours), _time(run.hours * left[run.name])])
        rows.append(["all", f"{len(missing)} of {len(runs)}", "", _time(sum(run.hours for run in missing))])
        title = f"{', '.join(table.label for table in self.tables)}, size {size}"
        where = "two CPU cores" if size in CPU_SIZES else "one NVIDIA H200"
        caption = f"Estimated for {where} with nothing else running."
        yield Table(["variant", "missing runs", "time per run", "time"], rows, title, caption, [len(rows) - 1])
        for about in dict.fromkeys(run.variant.size(size).about for run in runs):
            yield f"{size}: {about}"
        for run in missing:
            yield from commands_by_hand(run)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        runs, missing = [], self.missing_runs()
        for one in missing:
            row = {"variant": one.variant.key, "seed": one.seed, "hours": one.hours}
            runs.append({**row, "commands": commands_by_hand(one)})
        return {"size": self.shelf.size, "missing": runs, "hours": sum(one.hours for one in missing)}

    # Runs

    def run(self, device: str, at_once: int | None, say: Echo) -> list[str]:
        """Run what is missing on this machine; return a sentence for each failed run.

        Unless `at_once` is given, as many run on each GPU as the largest run allows, or one without a GPU.
        """
        jobs = self.missing_runs()
        if not jobs:
            return []
        if self.shelf.size in CPU_SIZES and device == "auto":
            device = "cpu"
        self.shelf.prepare(job.variant for job in jobs)
        fitting = min(run.variant.size(self.shelf.size).together for run in self.runs())
        at_once = at_once or max(1, fitting * len(gpus(device)))
        say(f"{len(jobs)} runs to make, {at_once} at once; logs and checkpoints are in {self.shelf.out}")
        return run_here(jobs, device, at_once, say)

    def submit(self, device: str, at_once: int | None, settings: Sequence[str]) -> str:
        """Submit the missing runs to Slurm."""
        jobs = self.missing_runs()
        if not jobs:
            return self.state()
        given: dict[str, str | int] = {}
        for setting in settings:
            name, equals, value = setting.partition("=")
            if not equals or not name:
                raise CharmError(f"--slurm-settings must be KEY=VALUE, got {setting!r}")
            given[name] = int(value) if value.isdecimal() else value
        self.shelf.prepare(job.variant for job in jobs)
        numbers = run_on_slurm(jobs, device, at_once or len(jobs), given)
        then = "the same command with --show in place of --slurm prints what has finished"
        return f"{len(jobs)} runs submitted as {numbers[0]} to {numbers[-1]}; {then}"

    # After

    def comparisons(self) -> list[Comparison]:
        return [Comparison.of(table, self.shelf) for table in self.tables]

    def shown(self) -> Iterator[Table | str]:
        for comparison in self.comparisons():
            yield comparison.scores_table()
            if (claims := comparison.claims_table()).rows:
                yield claims
            if told := comparison.alone_text():
                yield told


def _sources(label: str) -> list[str]:
    """Return the tables with the runs of a table or figure."""
    table = TABLES.get(label, PaperTable(label))
    if not table.sources and table.command.startswith("charm"):
        raise CharmError(f"{label} has no runs of this kind; `{table.command}` makes or checks it")
    if not table.sources and table.section:
        raise CharmError(f"{label} has nothing to run: {table.paper}")
    if not table.sources:
        raise CharmError(f"the paper has no table or figure {label!r}; `charm reproduce` lists the labels")
    return table.sources


def commands_by_hand(job: PaperRun) -> list[str]:
    """Return the shell commands that do the same run by hand."""
    size, folder, config = job.variant.size(job.shelf.size), str(job.folder), job.config
    if job.base and job.shelf.size != "full":  # `charm adapt` has no flags for shorter stages and faster rates
        return [shlex.join(["python", "-m", *command(job, "auto", 1)[2:]])]
    if job.base:
        flags = ["--stream", config.stream, "--method", config.method, "--scope", config.scope]
        flags += ["--halt-weight", f"{config.recipe.halt_weight:g}", "--seed", str(job.seed)]
        return [shlex.join(["charm", "adapt", str(job.base.folder), *flags, "--out", str(job.folder.parent)])]
    preset = size.preset or job.variant.preset
    flags = flags_between(domain_of_preset(preset).configuration(preset), config)
    commands = [["charm", "train", preset, *flags, "--out", folder]]
    for options in size.evaluations.values():
        asked = [word for name, value in options.items() for word in flag_words(name, value)]
        commands.append(["charm", "eval", folder, *asked])
    return [*map(shlex.join, commands)]


def catalogue() -> tuple[dict[str, Any], Table]:
    """Return all labels with their numbers of variants and hours, as JSON and as a table."""
    found, rows = {}, []
    for label in sorted((one for one in TABLES if TABLES[one].sources), key=lambda one: not TABLES[one].lines):
        small, full = (Reproduction.of([label], size, None, (), Path(), None).runs() for size in ("small", "full"))
        hours = {"small": sum(run.hours for run in small), "full": sum(run.hours for run in full)}
        found[label] = {"variants": sum(run.seed == 0 for run in full), **hours}
        rows.append([label, str(found[label]["variants"]), *map(_time, hours.values())])
    caption = "Estimated time on one NVIDIA H200: three seeds at size small, the paper's own at size full."
    return found, Table(["label", "variants", "small", "full"], rows, "The paper's tables and figures", caption)


def _time(given: float) -> str:
    return f"{given:,.0f} h" if given >= 10 else f"{given:.1f} h" if given >= 1 else f"{60 * given:.1f} min"


# This machine


def gpus(device: str) -> list[str]:
    """Return the CUDA devices of this machine, by their names in CUDA_VISIBLE_DEVICES; none for another device."""
    count = torch.cuda.device_count() if device in ("auto", "cuda") else 0  # this does not take memory on any of them
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return (named.split(",") if named else list(map(str, range(count))))[:count]


def run_here(jobs: Sequence[PaperRun], device: str, at_once: int, say: Echo) -> list[str]:
    """Run jobs on the GPUs, at most `at_once` at a time; return a sentence for each failed run.

    If a run runs out of memory while others are running, it is tried again with one run fewer at a time. On SIGTERM or
    Ctrl-C all runs write a checkpoint, and KeyboardInterrupt is raised.
    """
    devices = gpus(device)
    waiting, failed = list(jobs), []
    running: dict[subprocess.Popen[bytes], tuple[PaperRun, str]] = {}
    with terminates_as_interrupt():
        try:
            while waiting or running:
                ready = [job for job in waiting if job.base is None or job.base.result_path.is_file()]
                for job in ready[: max(0, at_once - len(running))]:
                    used = [gpu for _, gpu in running.values()]
                    gpu = min(devices, key=used.count, default="")
                    waiting.remove(job)
                    running[_start(job, device, gpu, at_once)] = job, gpu
                    say(f"{job}: started{f' on GPU {gpu}' if gpu else ''}")
                if not running:  # the waiting jobs lack their base
                    failed += [f"{job}: its base {job.base.variant.key} failed" for job in waiting if job.base]
                    break
                time.sleep(POLL)
                for process in [one for one in running if one.poll() is not None]:
                    job, _ = running.pop(process)
                    log = job.folder / LOG
                    text = (log.read_text(errors="replace") if log.is_file() else "").strip()
                    if process.returncode == 0:
                        say(f"{job}: {_outcome(job.read())}")
                    elif at_once > 1 and "out of memory" in text[-4000:].lower():
                        at_once = max(1, min(at_once - 1, len(running)))
                        waiting.append(job)
                        say(f"{job}: out of memory while others ran; tried again with at most {at_once} at once")
                    else:
                        said = "".join(text.splitlines()[-1:]).strip().removeprefix("charm: ")
                        why = f"{said or f'exit code {process.returncode}'} (see {log})"
                        if process.returncode == STOPPED:
                            why = "stopped before its end; the same command resumes it"
                        failed.append(f"{job}: {why}")
                        say(failed[-1])
        except BaseException:
            _stop(running)
            raise
    return failed


def _start(job: PaperRun, device: str, gpu: str, at_once: int) -> subprocess.Popen[bytes]:
    job.folder.mkdir(parents=True, exist_ok=True)
    share = str(max(1, (os.cpu_count() or 1) // at_once))
    threads = dict.fromkeys(("OMP_NUM_THREADS", "TORCHINDUCTOR_COMPILE_THREADS"), share) if at_once > 1 else {}
    paths = filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")])
    env = {**threads, **os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    env |= {"CUDA_VISIBLE_DEVICES": gpu} if gpu else {}
    with (job.folder / LOG).open("ab") as file:
        # A separate session, so that Ctrl-C reaches only the runner, which asks each run once to stop.
        how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stderr": subprocess.STDOUT, "start_new_session": True}
        return subprocess.Popen(command(job, device, at_once), env=env, stdout=file, **how)


def command(job: PaperRun, device: str, at_once: int) -> list[str]:
    """Return the command line of a run's process."""
    shelf = job.shelf
    words = [sys.executable, "-m", "charm.paper.work", str(shelf.out), shelf.size, job.variant.key, str(job.seed)]
    words += ["--device", device, "--at-once", str(at_once)]
    return words + (["--data", str(shelf.data)] if shelf.data else [])


def _outcome(result: Result | None) -> str:
    if result is None:
        return "ended without a result"
    scores = ", ".join(f"{name} {value:.2f}" for name, value in list(result["scores"].items())[:2])
    return f"finished in {result['seconds_of_last_attempt']:.0f} s: {scores}"


def _stop(running: Mapping[subprocess.Popen[bytes], object]) -> None:
    for process in running:
        process.terminate()
    end = time.monotonic() + GRACE
    for process in running:
        with suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, end - time.monotonic()))
        process.kill()  # does nothing where it has ended
        process.wait()


# A cluster


@dataclass(frozen=True)
class ClusterJob:
    """One run on a Slurm node, which resumes after a time limit or a preemption."""

    run: PaperRun
    device: str

    def __call__(self) -> None:
        with place(self.device) as here:
            run_one(self.run, here)

    def checkpoint(self) -> object:
        """Put the job back into the queue; submitit calls this shortly before a time limit."""
        import submitit

        return submitit.helpers.DelayedSubmission(self)


def run_on_slurm(jobs: Sequence[PaperRun], device: str, at_once: int, settings: Mapping[str, str | int]) -> list[str]:
    """Submit jobs to Slurm as an array with a limit on running jobs; return their numbers."""
    try:
        import submitit
    except ImportError as error:
        raise CharmError("--slurm needs submitit: pip install 'charm-arc[slurm]'") from error
    shelf = jobs[0].shelf
    executor = submitit.AutoExecutor(folder=shelf.out / shelf.size / "slurm")
    common = {"name": "charm", "gpus_per_node": 1, "timeout_min": 24 * 60, "slurm_array_parallelism": at_once}
    numbers: list[str] = []
    bases = {job.base.variant.key for job in jobs if job.base}
    first = [job for job in jobs if job.variant.key in bases]
    for some in filter(None, (first, [job for job in jobs if job not in first])):
        after = {"slurm_additional_parameters": {"dependency": f"afterok:{':'.join(numbers)}"}} if numbers else {}
        executor.update_parameters(**{**common, **after, **settings})
        with executor.batch():
            found = [executor.submit(ClusterJob(one, device)) for one in some]
        numbers += [str(one.job_id) for one in found]
    return numbers
