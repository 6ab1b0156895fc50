"""Solve one task at a time in a process that can be cancelled, and publish votes as they come in."""

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from charm import processes
from charm.errors import CharmError
from charm.evaluation.ranking import Candidate, Submission, attempts
from charm.report.folder import JsonObject
from charm.solving.options import SolveOptions
from charm.solving.solution import CANDIDATES
from charm.solving.solver import solve, solve_devices
from charm.solving.vote_log import VoteLine, round_json
from charm.tasks.task import Question, Task, digits, questions_of
from charm.web.watching import votes_json

LONGEST_BUDGET = 86_400.0  # a day of seconds
UNWATCHED = 600.0  # seconds without a page after which a solve ends; a page in the background asks every minute


@dataclass(eq=False)
class BrowserJob:
    task: Task
    model: str
    options: SolveOptions
    process: BaseProcess
    known: JsonObject | None
    began: float
    state: str = "working"  # then done, cancelled or failed
    text: str = "starting: loading the model"
    version: int = 0  # grows with every change
    answers: Mapping[Question, Sequence[Candidate]] = field(default_factory=dict)
    rounds: list[VoteLine] = field(default_factory=list)  # every vote so far
    seconds: float = 0.0  # once it has ended


class Solving:
    """Runs at most one job. All methods may be called from any thread."""

    def __init__(self, device: str = "auto", unwatched: float = UNWATCHED) -> None:
        self.device, self.unwatched = device, unwatched
        self.looked_at = time.monotonic()  # when a page last asked for anything
        self._lock = threading.Lock()
        self._job: BrowserJob | None = None

    def start(
        self, task: Task, model: str, path: Path, options: SolveOptions, known: JsonObject | None = None
    ) -> JsonObject:
        """Start solving a task with the model at `path`, unless another one is being solved; `known` is only shown."""
        if not 0 < options.budget <= LONGEST_BUDGET:
            raise CharmError(
                f"the budget must be positive and at most {LONGEST_BUDGET:g} seconds, got {options.budget:g}"
            )
        with self._lock:
            if self._job is not None and self._job.state == "working":
                raise CharmError(f"task {self._job.task.id} is still being solved; cancel it or wait until it ends")
            began = self.looked_at = time.monotonic()
            process, connection = processes.start(_work, task, path, options, self.device)
            job = self._job = BrowserJob(task, model, options, process, known, began)
        threading.Thread(target=self._listen, args=(job, connection), daemon=True).start()
        return self.status()

    def cancel(self, text: str = "cancelled") -> JsonObject:
        """Stop the running job and keep the answers found so far."""
        with self._lock:
            job = self._job
            if job is None or job.state != "working":
                raise CharmError("no task is being solved")
            self._end(job, "cancelled", text)
        processes.stop(job.process)
        return self.status()

    def close(self) -> None:
        with suppress(CharmError):  # there may be nothing to cancel
            self.cancel()

    def status(self) -> JsonObject:
        with self._lock:
            job = self._job
            if job is None:
                return {"state": "idle", "version": 0}
            return {
                "state": job.state,
                "version": job.version,
                "task": job.task.id,
                "model": job.model,
                "budget": job.options.budget,
                "mode": job.options.mode,
                "text": job.text,
                "seconds": round(job.seconds or time.monotonic() - job.began, 1),
                "known": job.known,
                **votes_json([digits(pair.input) for pair in job.task.test], job.rounds),
            }

    def submission(self) -> Submission:
        """Return the best two answers so far for every test input."""
        with self._lock:
            if self._job is None:
                raise CharmError("no task has been solved yet")
            questions = questions_of([self._job.task])
            return attempts({question: self._job.answers.get(question, []) for question in questions})

    def _listen(self, job: BrowserJob, connection: Connection) -> None:
        """Read what the process sends until it ends; end it when no page is open any more."""
        state, text = "failed", "the solver's process died; the terminal of charm view may show why"
        while True:
            if job.state == "working" and time.monotonic() > self.looked_at + self.unwatched:
                with suppress(CharmError):  # a page may just have cancelled it
                    self.cancel(f"stopped: no page was open for {self.unwatched / 60:g} minutes")
            try:
                if not connection.poll(min(1.0, self.unwatched)):
                    continue
                kind, content = connection.recv()
            except (EOFError, OSError):
                break
            with self._lock:
                if job.state != "working":
                    continue  # read and drop what comes after a cancel, so that the sender is not blocked
                job.version += 1
                if kind == "said":
                    job.text = content
                elif kind == "found":
                    job.answers = content.answers
                    job.rounds.append(round_json(content, questions_of([job.task]), CANDIDATES))
                else:
                    state, text = kind, content
        with self._lock:
            if job.state != "working":
                return  # the canceller waits for the process: two waiters would race for its exit
            self._end(job, state, text)
        job.process.join()

    @staticmethod
    def _end(job: BrowserJob, state: str, text: str) -> None:
        job.state, job.text, job.seconds = state, text, time.monotonic() - job.began
        job.version += 1


def _work(connection: Connection, task: Task, model: Path, options: SolveOptions, device: str) -> None:
    """Solve a task; as for `charm solve`, its budget begins with the first update."""
    problems: list[str] = []
    try:
        solve(
            [task],
            model,
            options,
            solve_devices(device, 1),
            lambda _, text: connection.send(("said", text)),
            lambda answers: connection.send(("found", answers[task.id])),
            lambda _, problem: problems.append(problem) if problem else None,
        )
        connection.send(("failed", problems[0]) if problems else ("done", "done"))
    except CharmError as error:
        connection.send(("failed", str(error)))
