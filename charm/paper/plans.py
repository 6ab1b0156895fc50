"""List the runs that `charm reproduce` was asked for, make those that are missing, and collect their results.

Missing runs are made several at a time on this machine, or on a cluster with Slurm.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from charm.config import flag_words
from charm.errors import CharmError
from charm.files import terminates_as_interrupt, write_atomically
from charm.paper.comparison import MOST_SEEDS, Comparison
from charm.paper.runs import SizeName, Variant, hours
from charm.paper.tables import TABLES, PaperLine, PaperTable
from charm.paper.work import STOPPED, PaperRun, Result, Shelf
from charm.tables import Table

SEEDS = 3  # default at sizes other than full
CPU_SIZES = ("smoke", "cpu")
GRACE = 30.0  # seconds in which a stopped run must write its checkpoint
POLL = 0.5
LOG = "log.txt"  # in the folder of a run: what its process printed
CURVE = ("step", "loss", "token_loss", "exact_accuracy")  # of a curve, in a record; scores along the way too


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Selected lines of selected tables, at one size."""

    parts: tuple[tuple[PaperTable, tuple[PaperLine, ...]], ...]
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
        for name in variants:
            if name not in names:
                raise CharmError(
                    f"{' '.join(labels)}: there is no variant {name!r}; expected some of {', '.join(names)}"
                )
        parts = tuple(
            (table, tuple(line for line in table.runs if not variants or line.variant.name in variants))
            for table in tables
        )
        figures = tuple(label for label in labels if TABLES[label].panels)
        return Reproduction(parts, figures, seeds, Shelf(out, size, data))

    def runs_by_variant(self) -> list[tuple[Variant, range]]:
        """Return variants and their seeds, bases of streams first. Runs that lines share are listed once."""
        lines = [line for _, some in self.parts for line in some]
        bases = [(line.variant.base, range(1)) for line in lines if line.variant.base]
        found: dict[str, tuple[Variant, range]] = {}
        for variant, seeds in (*bases, *((line.variant, self._seeds(line)) for line in lines)):
            home = variant.home(self.shelf.size)
            if home not in found or len(found[home][1]) < len(seeds):
                found[home] = variant, seeds
        return list(found.values())

    def _seeds(self, line: PaperLine) -> range:
        paper = line.seeds if self.shelf.size == "full" else SEEDS
        return range(paper if self.seeds is None else self.seeds)

    def missing_runs(self) -> list[PaperRun]:
        """Return the runs without a result. The first seed of every variant comes before the second of any."""
        wanted = [(seed, variant) for variant, seeds in self.runs_by_variant() for seed in seeds]
        every = [self.shelf.run(variant, seed) for seed, variant in sorted(wanted, key=lambda one: one[0])]
        return [job for job in every if job.read() is None]

    def state(self) -> str:
        """Say how many runs are finished."""
        total, left = sum(len(seeds) for _, seeds in self.runs_by_variant()), len(self.missing_runs())
        finished = f"{total - left} of {total} runs are finished"
        return f"{finished}; the same command continues" if left else finished

    # Before

    def overview(self) -> Iterator[Table | str]:
        """Yield the planned runs with their estimated hours, what the size is, and their commands."""
        size, jobs, rows = self.shelf.size, self.missing_runs(), []
        each = {variant.key: hours(variant, size) for variant, _ in self.runs_by_variant()}
        for variant, seeds in self.runs_by_variant():
            left = sum(job.variant.key == variant.key for job in jobs)
            one = each[variant.key]
            rows.append([variant.key, f"{left} of {len(seeds)}", _time(one), _time(one * left)])
        every = sum(len(seeds) for _, seeds in self.runs_by_variant())
        total = sum(each[job.variant.key] for job in jobs)
        rows.append(["all", f"{len(jobs)} of {every}", "", _time(total)])
        yield Table(
            ["variant", "missing runs", "time per run", "time"],
            rows,
            f"{', '.join(table.label for table, _ in self.parts)}, size {size}",
            f"Estimated for {'two CPU cores' if size in CPU_SIZES else 'one NVIDIA H200'} with nothing else running.",
            totals=[len(rows) - 1],
        )
        for about in dict.fromkeys(variant.size(size).about for variant, _ in self.runs_by_variant()):
            yield f"{size}: {about}"
        for job in jobs:
            yield from commands_by_hand(job)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON."""
        runs = [
            {
                "variant": job.variant.key,
                "seed": job.seed,
                "hours": hours(job.variant, self.shelf.size),
                "commands": commands_by_hand(job),
            }
            for job in self.missing_runs()
        ]
        return {"size": self.shelf.size, "missing": runs, "hours": sum(one["hours"] for one in runs)}

    # Runs

    def run(self, device: str, at_once: int | None, say: Callable[[str], None]) -> list[str]:
        """Run what is missing on this machine; return a sentence for each failed run.

        Unless `at_once` is given, as many run on each GPU as the largest run allows, or one without a GPU.
        """
        jobs = self.missing_runs()
        if not jobs:
            return []
        if self.shelf.size in CPU_SIZES and device == "auto":
            device = "cpu"
        self.shelf.prepare(job.variant for job in jobs)
        fitting = min(variant.size(self.shelf.size).together for variant, _ in self.runs_by_variant())
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
        return (
            f"{len(jobs)} runs submitted as {numbers[0]} to {numbers[-1]}; "
            f"the same command with --show in place of --slurm prints what has finished"
        )

    # After

    def comparisons(self) -> list[Comparison]:
        return [Comparison.of(table, self.shelf, lines) for table, lines in self.parts]

    def tables(self) -> Iterator[Table | str]:
        for comparison in self.comparisons():
            yield comparison.scores_table()
            if (claims := comparison.claims_table()).rows:
                yield claims
            if told := comparison.alone_text():
                yield told

    def record(self, folder: Path) -> list[Path]:
        """Write finished results as records for the reproduction page, one for each table; return the files."""
        return [self._record(comparison, folder) for comparison in self.comparisons()]

    def _record(self, comparison: Comparison, folder: Path) -> Path:
        label, size = comparison.table.label, self.shelf.size
        found = {key: some for key, some in comparison.results.items() if some}
        seeds = sorted(set.intersection(*map(set, found.values()))) if found else []
        if not seeds:
            raise CharmError(f"{label}: no seed is finished for all variants; use --variants to leave some out")
        lines = [line for line in comparison.table.runs if line.key in found]
        # Lines may share a run; keys differ by the prefix of their scores.
        by_run = {line.run: found[line.key] for line in lines}
        runs = [some[seed] for some in by_run.values() for seed in seeds]
        numbers = {
            f"{line.key} {measure}": [scores[seed] for seed in seeds]
            for line in lines
            for measure in line.paper or comparison.table.measures
            if set(seeds) <= set(scores := comparison.scores(line, measure))
        }
        chosen = dict.fromkeys(line.variant.name for line in lines)
        given = f" --variants {' '.join(chosen)}" if len(lines) < len(comparison.table.runs) else ""
        at_once = max(run.get("at_once", 1) for run in runs)
        record = {
            "what": f"{label}, size {size}",
            "command": f"charm reproduce {label} --size {size} --seeds {len(seeds)} --jobs {at_once}{given}",
            "size": "; ".join(sorted({line.variant.size(size).about for line in lines})),
            "machine": ", ".join(sorted({run["machine"] for run in runs})),
            "date": max(run["date"] for run in runs),
            "seeds": seeds,
            "numbers": numbers,
        }
        path = folder / f"{record_name(label, size)}.json"
        text = ",\n".join(f"  {json.dumps(_without_details(run, seeds[0]))}" for run in runs)
        write_atomically(path, f'{json.dumps(record, indent=1)[:-2]},\n "runs": [\n{text}\n ]\n}}\n')
        return path


def _without_details(run: Result, first: int) -> Result:
    """Return a run as a record has it: settings are those of the variant's first seed but for the seed."""
    curve = [
        {name: value for name, value in line.items() if name in CURVE or name.startswith("evaluation/")}
        for line in run.get("curve", ())
    ]
    kept = {name: value for name, value in run.items() if name != "settings" or run["seed"] == first}
    return {**kept, "curve": curve}


def record_name(label: str, size: SizeName) -> str:
    """Return the name of the record that the reproduction page looks for."""
    return f"{label.partition(':')[2]}_{size}"


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
    variant, size, folder = job.variant, job.shelf.size, str(job.folder)
    preset, flags = variant.flags(size, job.seed)
    if job.base:
        if size != "full":  # `charm adapt` has no flags for shorter stages and faster rates
            return [shlex.join(["python", "-m", *command(job, "auto", 1)[2:]])]
        return [shlex.join(["charm", "adapt", str(job.base.folder), *flags, "--out", str(job.folder.parent)])]
    data = job.config.data if variant.domain.name == "lm" else job.config.data.data
    place = [] if data is None else ["--data" if variant.domain.name == "lm" else "--data.data", str(data)]
    words = [shlex.join(["charm", "train", preset, *flags, *place, "--out", folder])]
    for options in variant.size(size).evaluations.values():
        asked = [word for name, value in options.items() for word in flag_words(name, value)]
        words.append(shlex.join(["charm", "eval", folder, *asked]))
    return words


def catalogue() -> tuple[dict[str, Any], Table]:
    """Return all labels with their numbers of variants and hours, as JSON and as a table."""
    found, rows = {}, []
    with_lines = [one.label for one in TABLES.values() if one.lines]
    for label in dict.fromkeys((*with_lines, *(one.label for one in TABLES.values() if one.panels))):
        sizes: dict[str, float] = {}
        for size in ("small", "full"):
            plan = Reproduction.of([label], size, None, (), Path(), None)
            sizes[size] = sum(len(seeds) * hours(variant, size) for variant, seeds in plan.runs_by_variant())
        found[label] = {"variants": len(plan.runs_by_variant()), **sizes}
        rows.append([label, str(found[label]["variants"]), _time(sizes["small"]), _time(sizes["full"])])
    caption = "Estimated time on one NVIDIA H200: three seeds at size small, the paper's own at size full."
    return found, Table(["label", "variants", "small", "full"], rows, "The paper's tables and figures", caption)


def _time(given: float) -> str:
    return f"{given:,.0f} h" if given >= 10 else f"{given:.1f} h" if given >= 1 else f"{60 * given:.1f} min"


# This machine


def gpus(device: str) -> list[str]:
    """Return the CUDA devices of this machine, by their names in CUDA_VISIBLE_DEVICES; none for another device."""
    import torch

    count = torch.cuda.device_count() if device in ("auto", "cuda") else 0  # this does not take memory on any of them
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return (named.split(",") if named else list(map(str, range(count))))[:count]


def run_here(jobs: Sequence[PaperRun], device: str, at_once: int, say: Callable[[str], None]) -> list[str]:
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
                while len(running) < at_once and (job := _next(waiting)):
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
                    text = log.read_text(errors="replace") if log.is_file() else ""
                    if process.returncode == 0:
                        say(f"{job}: {_outcome(job.read())}")
                    elif at_once > 1 and "out of memory" in text[-4000:].lower():
                        at_once = max(1, min(at_once - 1, len(running)))
                        waiting.append(job)
                        say(f"{job}: out of memory while others ran; tried again with at most {at_once} at once")
                    else:
                        why = f"{_last_line(text) or f'exit code {process.returncode}'} (see {log})"
                        if process.returncode == STOPPED:
                            why = "stopped before its end; the same command resumes it"
                        failed.append(f"{job}: {why}")
                        say(failed[-1])
        except BaseException:
            _stop(running)
            raise
    return failed


def _next(waiting: Sequence[PaperRun]) -> PaperRun | None:
    """Return the first run that needs no base or whose base is finished."""
    return next((job for job in waiting if job.base is None or job.base.result_path.is_file()), None)


def _start(job: PaperRun, device: str, gpu: str, at_once: int) -> subprocess.Popen[bytes]:
    log = job.folder / LOG
    log.parent.mkdir(parents=True, exist_ok=True)
    share = str(max(1, (os.cpu_count() or 1) // at_once))
    package = Path(__file__).parents[2]
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "TORCHINDUCTOR_COMPILE_THREADS"), share) if at_once > 1 else {}
    chosen = {"CUDA_VISIBLE_DEVICES": gpu} if gpu else {}
    with log.open("ab") as file:
        # A separate session, so that Ctrl-C reaches only the runner, which asks each run once to stop.
        return subprocess.Popen(
            command(job, device, at_once),
            env={**threads, **os.environ, "PYTHONPATH": os.pathsep.join(paths), **chosen},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def command(job: PaperRun, device: str, at_once: int) -> list[str]:
    """Return the command line of a run's process."""
    shelf = job.shelf
    words = [sys.executable, "-m", "charm.paper.work", str(shelf.out), shelf.size, job.variant.key, str(job.seed)]
    words += ["--device", device, "--at-once", str(at_once)]
    return words + (["--data", str(shelf.data)] if shelf.data else [])


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "").removeprefix("charm: ")


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


class ClusterJob:
    """One run on a Slurm node, which resumes after a time limit or a preemption."""

    def __init__(self, run: PaperRun, device: str) -> None:
        self.run, self.device = run, device

    def __call__(self) -> None:
        from charm.devices import place
        from charm.paper.work import run_one

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
    for some in (first, [job for job in jobs if job not in first]):
        if not some:
            continue
        after = {"dependency": f"afterok:{':'.join(numbers)}"} if numbers else {}
        extra = {"slurm_additional_parameters": after} if after else {}
        executor.update_parameters(**{**common, **extra, **settings})
        with executor.batch():
            found = [executor.submit(ClusterJob(one, device)) for one in some]
        numbers += [str(one.job_id) for one in found]
    return numbers
