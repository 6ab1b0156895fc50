"""Run what is missing from a table: several runs at a time on this machine, or on a cluster with Slurm."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from charm.errors import CharmError
from charm.files import terminates_as_interrupt
from charm.paper.shelf import Result, Shelf
from charm.paper.variants import Variant
from charm.paper.work import STOPPED

GRACE = 30.0  # seconds in which a stopped run must write its checkpoint
POLL = 0.5


@dataclass(frozen=True)
class MissingRun:
    """A run without a result."""

    variant: Variant
    seed: int

    def __str__(self) -> str:
        return f"{self.variant.key} seed {self.seed}"


def missing(wanted: Sequence[tuple[Variant, Sequence[int]]], shelf: Shelf) -> list[MissingRun]:
    """Runs without a result, each once. The first seed of every variant comes before the second of any."""
    jobs: dict[Path, MissingRun] = {}
    for number in range(max((len(seeds) for _, seeds in wanted), default=0)):
        for variant, seeds in wanted:
            if number < len(seeds) and shelf.read(variant, seeds[number]) is None:
                path = shelf.result_path(variant, seeds[number])
                jobs.setdefault(path, MissingRun(variant, seeds[number]))
    return list(jobs.values())


def gpus() -> list[str]:
    """The CUDA devices of this machine, by their names in CUDA_VISIBLE_DEVICES."""
    import torch

    count = torch.cuda.device_count()  # this does not take memory on any of them
    named = os.environ.get("CUDA_VISIBLE_DEVICES")
    return (named.split(",") if named else list(map(str, range(count))))[:count]


def run_here(
    jobs: Sequence[MissingRun], shelf: Shelf, device: str, at_once: int, say: Callable[[str], None]
) -> list[str]:
    """Run jobs on the GPUs, at most `at_once` at a time; return a sentence for each failed run.

    If a run runs out of memory while others are running, it is tried again with one run fewer at a time. On SIGTERM or
    Ctrl-C all runs write a checkpoint, and KeyboardInterrupt is raised.
    """
    devices = gpus() if device in ("auto", "cuda") else []
    waiting, failed = list(jobs), []
    running: dict[subprocess.Popen[bytes], tuple[MissingRun, str]] = {}
    with terminates_as_interrupt():
        try:
            while waiting or running:
                while len(running) < at_once and (job := _next(waiting, shelf)):
                    used = [gpu for _, gpu in running.values()]
                    gpu = min(devices, key=used.count, default="")
                    waiting.remove(job)
                    running[_start(job, shelf, device, gpu, at_once)] = job, gpu
                    say(f"{job}: started{f' on GPU {gpu}' if gpu else ''}")
                if not running:  # the waiting jobs lack their base
                    failed += [
                        f"{job}: its base {job.variant.base.key} failed"
                        for job in waiting
                        if job.variant.base
                    ]
                    break
                time.sleep(POLL)
                for process in [one for one in running if one.poll() is not None]:
                    job, _ = running.pop(process)
                    if process.returncode == 0:
                        say(f"{job}: {_told(shelf.read(job.variant, job.seed))}")
                    elif at_once > 1 and _out_of_memory(shelf, job):
                        at_once = max(1, min(at_once - 1, len(running)))
                        waiting.append(job)
                        say(
                            f"{job}: out of memory while others ran; tried again with at most {at_once} at once"
                        )
                    else:
                        failed.append(_failure(shelf, job, process.returncode))
                        say(failed[-1])
        except BaseException:
            _stop(running)
            raise
    return failed


def _next(waiting: Sequence[MissingRun], shelf: Shelf) -> MissingRun | None:
    """The first run that needs no base or whose base is finished."""
    for job in waiting:
        base = job.variant.base
        if base is None or shelf.result_path(base, 0).is_file():
            return job
    return None


def _start(job: MissingRun, shelf: Shelf, device: str, gpu: str, at_once: int) -> subprocess.Popen[bytes]:
    log = log_path(shelf, job)
    log.parent.mkdir(parents=True, exist_ok=True)
    share = str(max(1, (os.cpu_count() or 1) // at_once))
    package = Path(__file__).parents[2]
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    threads = (
        dict.fromkeys(("OMP_NUM_THREADS", "TORCHINDUCTOR_COMPILE_THREADS"), share) if at_once > 1 else {}
    )
    chosen = {"CUDA_VISIBLE_DEVICES": gpu} if gpu else {}
    with log.open("ab") as file:
        # A separate session, so that Ctrl-C reaches only the runner, which asks each run once to stop.
        return subprocess.Popen(
            command(job, shelf, device, at_once),
            env={**threads, **os.environ, "PYTHONPATH": os.pathsep.join(paths), **chosen},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def command(job: MissingRun, shelf: Shelf, device: str, at_once: int) -> list[str]:
    """The command line of a run's process."""
    words = [
        sys.executable,
        "-m",
        "charm.paper.work",
        str(shelf.out),
        shelf.size,
        job.variant.key,
        str(job.seed),
    ]
    words += ["--device", device, "--at-once", str(at_once)]
    return words + (["--data", str(shelf.data)] if shelf.data else [])


def log_path(shelf: Shelf, job: MissingRun) -> Path:
    return shelf.run_folder(job.variant, job.seed) / "log.txt"


def _told(result: Result | None) -> str:
    if result is None:
        return "ended without a result"
    scores = ", ".join(f"{name} {value:.2f}" for name, value in list(result["scores"].items())[:2])
    return f"finished in {result['seconds_of_last_attempt']:.0f} s: {scores}"


def _failure(shelf: Shelf, job: MissingRun, code: int) -> str:
    log = log_path(shelf, job)
    if code == STOPPED:
        return f"{job}: stopped before its end; the same command resumes it"
    lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    said = next((line for line in reversed(lines) if line.strip()), f"exit code {code}")
    return f"{job}: {said.strip().removeprefix('charm: ')} (see {log})"


def _out_of_memory(shelf: Shelf, job: MissingRun) -> bool:
    log = log_path(shelf, job)
    text = log.read_text(errors="replace")[-4000:] if log.is_file() else ""
    return "out of memory" in text.lower()


def _stop(running: Mapping[subprocess.Popen[bytes], object]) -> None:
    for process in running:
        process.terminate()
    end = time.monotonic() + GRACE
    for process in running:
        try:
            process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


# A cluster


class ClusterJob:
    """One run on a Slurm node, which resumes after a time limit or a preemption."""

    def __init__(self, variant: str, seed: int, shelf: Shelf, device: str) -> None:
        self.variant, self.seed, self.shelf, self.device = variant, seed, shelf, device

    def __call__(self) -> None:
        from charm.devices import place
        from charm.paper.variants import variant_named
        from charm.paper.work import run_one

        with place(self.device) as here:
            run_one(variant_named(self.variant), self.seed, self.shelf, here)

    def checkpoint(self) -> object:
        """Put the job back into the queue; submitit calls this shortly before a time limit."""
        import submitit

        return submitit.helpers.DelayedSubmission(self)


def run_on_slurm(
    jobs: Sequence[MissingRun], shelf: Shelf, device: str, at_once: int, settings: Mapping[str, str | int]
) -> list[str]:
    """Submit jobs to Slurm as an array with a limit on running jobs; return their numbers."""
    try:
        import submitit
    except ImportError as error:
        raise CharmError("--slurm needs submitit: pip install 'charm-arc[slurm]'") from error
    executor = submitit.AutoExecutor(folder=shelf.out / shelf.size / "slurm")
    common = {"name": "charm", "gpus_per_node": 1, "timeout_min": 24 * 60, "slurm_array_parallelism": at_once}
    numbers: list[str] = []
    bases = {job.variant.base.key for job in jobs if job.variant.base}
    first = [job for job in jobs if job.variant.key in bases]
    for some in (first, [job for job in jobs if job not in first]):
        if not some:
            continue
        after = {"dependency": f"afterok:{':'.join(numbers)}"} if numbers else {}
        extra = {"slurm_additional_parameters": after} if after else {}
        executor.update_parameters(**{**common, **extra, **settings})
        with executor.batch():
            found = [executor.submit(ClusterJob(one.variant.key, one.seed, shelf, device)) for one in some]
        numbers += [str(one.job_id) for one in found]
    return numbers
