"""Jobs done in this process, or in one for each device. A job that fails, or kills its process, costs only itself.

A process sends ("ready", None) once it can take jobs. For each job it sends any number of ("news", content), and then
("done", problem): the problem is None, or why the job has no result. A process that must not continue sends
("broken", reason) and ends.
"""

from __future__ import annotations

import math
import multiprocessing
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from charm import processes

TRIES = 2  # of a job whose process failed; the second is in a fresh process


@dataclass(eq=False)
class CrewTask:
    """A job, and the number of processes that have failed at it."""

    content: Any
    tries: int = 0
    problem: str = ""  # the last process's


@dataclass(eq=False)
class Worker:
    """A process on a device. Before it is ready, its job is the one that it was started for."""

    device: str
    process: BaseProcess
    connection: Connection
    job: CrewTask | None = None
    ready: bool = False


@dataclass(eq=False)
class Crew:
    """Gives each process its next job as soon as it is free."""

    jobs: InitVar[Iterable[CrewTask]]
    start: Callable[[str], tuple[BaseProcess, Connection]]  # starts a process on a device
    order: Callable[[CrewTask, int], Any]
    """What is sent for a job, given the number of jobs, this one included, that each process still has before it."""
    news: Callable[[CrewTask, Any], None]  # receives what processes send
    ended: Callable[[CrewTask, str | None], None]  # called once for every job
    workers: dict[Connection, Worker] = field(default_factory=dict, init=False)
    lost: str = field(default="no device", init=False)  # why the last device was given up

    def __post_init__(self, jobs: Iterable[CrewTask]) -> None:
        self.waiting = deque(jobs)

    def run_here(self, work: Callable[[Any, Callable[[Any], None]], str | None], retry: bool) -> None:
        """Do jobs in this process, until one fails unexpectedly: it and those after it wait for `run`.

        The failure may have harmed this process for good, as an error of CUDA does. `work(order, tell)` does a job; an
        exception of who receives its news is no fault of the job. Without `retry` all exceptions are passed on.
        """
        refused: list[Exception] = []  # by who receives the news

        def tell(content: Any) -> None:
            try:
                self.news(self.waiting[0], content)
            except Exception as error:
                refused.append(error)
                raise

        while self.waiting:
            job = self.waiting[0]
            try:
                problem = work(self.order(job, len(self.waiting)), tell)
            except Exception as error:
                if refused or not retry:
                    raise
                problem = failure(error)
                if not multiprocessing.current_process().daemon:  # which may start no process
                    job.tries, job.problem = 1, problem
                    return
            if refused:
                raise refused[0]
            self.waiting.popleft()
            self.ended(job, problem)

    def run(self, devices: Sequence[str]) -> None:
        """Do all jobs. A device whose process cannot get ready is given up, and the others take over."""
        try:
            for device in devices[: len(self.waiting)]:
                self._start(device)
            while self.workers and (self.waiting or any(one.job for one in self.workers.values())):
                for connection in wait(list(self.workers)):
                    if connection in self.workers:
                        self._hear(self.workers[connection])
        finally:
            processes.stop(*(worker.process for worker in self.workers.values()))
        while self.waiting:
            job = self.waiting.popleft()
            self.ended(job, job.problem or self.lost)

    def _start(self, device: str, job: CrewTask | None = None) -> None:
        process, connection = self.start(device)
        self.workers[connection] = Worker(device, process, connection, job)

    def _hear(self, worker: Worker) -> None:
        try:
            kind, content = worker.connection.recv()
        except (EOFError, OSError):
            worker.process.join(processes.GRACE)
            self._replace(worker, f"its process ended with exit code {worker.process.exitcode}")
            return
        if kind == "ready":
            worker.ready = True
            self._assign(worker)
        elif kind == "broken":
            self._replace(worker, content)
        elif worker.job is not None and kind == "news":
            self.news(worker.job, content)
        elif worker.job is not None:
            job, worker.job = worker.job, None
            self.ended(job, content)
            self._assign(worker)

    def _assign(self, worker: Worker) -> None:
        """Send a worker its job. One without a job stays: it may have to take over another's."""
        if worker.job is None and self.waiting:
            worker.job = self.waiting.popleft()
        if worker.job is not None:
            share = math.ceil((len(self.waiting) + 1) / len(self.workers))
            with suppress(OSError):  # it has died, which is heard next
                worker.connection.send(self.order(worker.job, share))

    def _replace(self, worker: Worker, reason: str) -> None:
        """Continue without a worker: its job is tried once more in a fresh process on the same device."""
        del self.workers[worker.connection]
        processes.stop(worker.process)
        worker.connection.close()
        reason, job = f"{worker.device}: {reason}", worker.job
        if not worker.ready:
            self.lost = reason
            if job is not None:
                self.waiting.appendleft(job)
            for other in self.workers.values():
                if other.ready and other.job is None:
                    self._assign(other)
            return
        if job is not None:
            job.tries, job.problem = job.tries + 1, reason
            if job.tries < TRIES:
                self._start(worker.device, job)
                return
            self.ended(job, reason)
        if self.waiting:
            self._start(worker.device)


def failure(error: Exception) -> str:
    """Put an unexpected exception on one line: its type, its message and where it was raised."""
    message = str(error).strip().splitlines()
    at = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in at)
    return f"{type(error).__name__}{f': {message[0]}' if message else ''}{where}"
