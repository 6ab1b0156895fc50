"""Solving in a separate process, compared with the same solve in this one."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from charm.errors import CharmError
from charm.evaluation.ranking import Candidate, attempts
from charm.solving.options import SolveOptions
from charm.solving.solution import Solution
from charm.solving.solver import solve
from charm.solving.vote_log import round_json
from charm.tasks.sources import load_source
from charm.tasks.task import Question, Task
from charm.web.api import JsonObject
from charm.web.solving import Solving
from charm.web.watching import courses
from tests.toy.viewer import ends

SMALL = SolveOptions(budget=60.0, steps=2, views=12, batch=4)
LONG = SolveOptions(budget=600.0, steps=10**9, views=12, batch=4)


@pytest.fixture
def task(toy_tasks: Path) -> Task:
    return load_source(toy_tasks).tasks[0]


@pytest.fixture
def solving() -> Iterator[Solving]:
    made = Solving("cpu")
    yield made
    made.close()


def wait(solving: Solving, until: str, seconds: float = 60.0) -> JsonObject:
    """The status once its state is `until`, or once it has answers for until="answers"."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        status = solving.status()
        if status["state"] == until or (until == "answers" and any(status["tests"])):
            return status
        time.sleep(0.05)
    raise AssertionError(f"still {solving.status()} after {seconds} seconds")


@pytest.mark.usefixtures("forked_workers")
def test_a_solve_gives_what_charm_solve_gives(solving: Solving, task: Task, run: Path) -> None:
    assert solving.status() == {"state": "idle", "version": 0}
    with pytest.raises(CharmError, match="no task has been solved"):
        solving.submission()
    begun = solving.start(task, "a run", run, SMALL)
    assert begun["state"] == "working"
    with pytest.raises(CharmError, match="is still being solved"):
        solving.start(task, "a run", run, SMALL)
    done = wait(solving, "done")
    expected = solve([task], run, SMALL, ["cpu"])[task.id]
    assert (done["updates"], done["views"]) == (expected.updates, expected.views) == (2, 12)
    assert solving.submission() == attempts(expected.answers)
    ranked = next(iter(expected.answers.values()))
    assert [(one["votes"], one["confidence"]) for one in done["tests"][0]] == [
        (one.votes, round(one.confidence, 4)) for one in ranked[:10]
    ]
    assert done["version"] > begun["version"]
    assert [(one["updates"], one["views"]) for one in done["rounds"]] == [(0, 8), (2, 8), (2, 12)]
    best = done["courses"][0][0]
    assert best["grid"] == done["tests"][0][0]["grid"]
    assert len(best["votes"]) == 3
    assert best["votes"][-1] == done["tests"][0][0]["votes"]
    with pytest.raises(CharmError, match="no task is being solved"):
        solving.cancel()


def test_the_course_of_votes_by_hand() -> None:
    """Candidates that were once among the first three, the best of the last vote first."""
    asked = Question("a", 0)

    def vote(**votes: int) -> Solution:
        ranked = sorted(votes.items(), key=lambda item: -item[1])
        grids = [Candidate(np.full((1, 1), int(name[1:]), np.uint8), 0, count, count, 1.0) for name, count in ranked]
        return Solution({asked: grids}, 0, 8, 0.0, 0.0, 0.0)

    rounds = [vote(g1=5, g2=2, g3=1), vote(g4=4, g2=3, g1=2, g5=1), vote(g4=9, g1=3, g2=2, g5=1)]
    assert courses([round_json(one, [asked]) for one in rounds], 0) == [
        {"grid": "4", "votes": [0, 4, 9]},
        {"grid": "1", "votes": [5, 2, 3]},
        {"grid": "2", "votes": [2, 3, 2]},
        {"grid": "3", "votes": [1, 0, 0]},
    ]
    assert courses([], 0) == []


@pytest.mark.usefixtures("forked_workers")
def test_cancelling_keeps_the_votes_and_lets_the_next_begin(solving: Solving, task: Task, run: Path) -> None:
    before = set(multiprocessing.active_children())
    solving.start(task, "a run", run, LONG)
    answered = wait(solving, "answers")
    assert answered["state"] == "working"
    (process,) = set(multiprocessing.active_children()) - before
    cancelled = solving.cancel()
    assert not process.is_alive()
    assert cancelled["state"] == "cancelled"
    assert any(cancelled["tests"])
    assert len(solving.submission()[task.id]) == 1
    assert solving.start(task, "a run", run, LONG)["state"] == "working"
    solving.close()
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.usefixtures("forked_workers")
def test_failures_are_told(solving: Solving, task: Task, run: Path, tmp_path: Path) -> None:
    with pytest.raises(CharmError, match="budget"):
        solving.start(task, "a run", run, SolveOptions(budget=0.0))
    solving.start(task, "nothing", tmp_path, SMALL)
    assert "neither a saved model nor a run" in wait(solving, "failed")["text"]
    before = set(multiprocessing.active_children())
    solving.start(task, "a run", run, LONG)
    (process,) = set(multiprocessing.active_children()) - before
    process.kill()
    assert "process died" in wait(solving, "failed")["text"]


@pytest.mark.usefixtures("forked_workers")
def test_a_solve_ends_when_its_page_is_gone(task: Task, run: Path) -> None:
    solving = Solving("cpu", unwatched=1.0)
    try:
        solving.start(task, "a run", run, LONG)
        for _ in range(5):
            time.sleep(0.1)
            solving.looked_at = time.monotonic()  # a page asks
        assert solving.status()["state"] == "working"
        assert "no page was open" in wait(solving, "cancelled")["text"]
    finally:
        solving.close()


PARENT = """
import time
from charm import processes

def endless(connection):
    import os
    connection.send(os.getpid())
    while True:
        pass

if __name__ == "__main__":
    process, connection = processes.start(endless)
    print(connection.recv(), flush=True)
    time.sleep(60)
"""


def test_a_worker_does_not_outlive_a_server_that_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(PARENT)
    parent = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    os.kill(child, 0)  # it is there
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    assert ends(child)
