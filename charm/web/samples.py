"""Draw one pair from a generator, in a process that is ended if it takes too long."""

import threading
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

from charm import processes
from charm.errors import CharmError
from charm.synthesis.build import Maker, Rejected, Sample
from charm.synthesis.rearc import ReArc
from charm.tasks.task import Pair, as_grid
from rearc2.workbench.packages import ROOT, ReArc2, load_package, package_ids

TIME_LIMIT = 20.0  # seconds; the slowest honest attempt takes about 3
Outcome = Sample | Rejected | str  # a text is why there is neither


@dataclass(frozen=True)
class Generators:
    title: str
    provider: ReArc | ReArc2
    tasks: frozenset[str]

    def rule(self, task: str) -> str | None:
        """Return the rule in words, if there is a description."""
        return load_package(task, self.provider.root).rule if isinstance(self.provider, ReArc2) else None


def available(package: Path) -> dict[str, Generators]:
    """Return Re-ARC2, and Re-ARC if its generators were downloaded; `package` is their file."""
    found = {}
    if package.is_file():
        rearc = ReArc(package)
        found["rearc"] = Generators("Re-ARC", rearc, frozenset(rearc.tasks))
    found["rearc2"] = Generators("Re-ARC2", ReArc2(ROOT), frozenset(package_ids(ROOT)))
    return found


class Sampler:
    """Draws one pair at a time; other requests wait."""

    def __init__(self, time_limit: float = TIME_LIMIT) -> None:
        self.time_limit = time_limit
        self._turn = threading.Lock()
        self._worker: tuple[BaseProcess, Connection] | None = None  # kept: it has loaded the generators

    def draw(self, generators: Generators, task: str, seed: int, attempt: int) -> Pair:
        """Return the pair of this attempt, confirmed by its verifier, or raise if there is none."""
        name = f"{generators.title}, task {task}, seed {seed}, attempt {attempt}"
        if task not in generators.tasks:
            raise CharmError(f"{generators.title} has no generator for task {task}")
        with self._turn:
            outcome = self._ask(replace(generators.provider, seed=seed).make, task, attempt)
        if isinstance(outcome, str):
            raise CharmError(f"{name}: {outcome}")
        if isinstance(outcome, Rejected):
            raise CharmError(f"{name} produced no pair: {outcome.reason}; the next attempt may succeed")
        return Pair(as_grid(outcome[0], f"{name}, input"), as_grid(outcome[1], f"{name}, output"))

    def close(self) -> None:
        if self._worker is not None:
            processes.stop(self._worker[0])
            self._worker = None

    def _ask(self, make: Maker, task: str, attempt: int) -> Outcome:
        if self._worker is None:
            self._worker = processes.start(_serve)
        connection = self._worker[1]
        try:
            connection.send((make, task, attempt))
            if connection.poll(self.time_limit):
                outcome: Outcome = connection.recv()
                return outcome
        except (EOFError, OSError):
            self.close()
            return "the generator's process died"
        self.close()
        return f"stopped after {self.time_limit:g} seconds; the next attempt may be faster"


def _serve(connection: Connection) -> None:
    while True:
        try:
            make, task, attempt = connection.recv()
        except EOFError:
            return
        try:
            outcome: Outcome = make(task, attempt)
        except CharmError as error:
            outcome = str(error)
        connection.send(outcome)
