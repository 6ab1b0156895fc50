"""Who works on what, with threads in the place of processes."""

import threading
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import pytest

from charm import processes
from charm.solving.workers import Crew, CrewTask

Work = Callable[[str, Any], str | None]  # (device, what was ordered) -> problem


class Died(BaseException):
    """A process that ends without a word."""


class Process:
    exitcode = -9

    def __init__(self, thread: threading.Thread) -> None:
        self.thread = thread

    def join(self, timeout: float | None = None) -> None:
        self.thread.join(timeout)


class Machine:
    """Devices on which `work` is done; those in `dead` have processes that never get ready."""

    def __init__(self, work: Work, dead: tuple[str, ...] = ()) -> None:
        self.work, self.dead = work, dead
        self.started: list[str] = []
        self.news: list[Any] = []
        self.ended: dict[str, str | None] = {}
        self.ordered: list[tuple[str, int]] = []

    def start(self, device: str) -> tuple[Any, Connection]:
        self.started.append(device)
        here, there = Pipe()
        thread = threading.Thread(target=self._serve, args=(device, there), daemon=True)
        thread.start()
        return Process(thread), here

    def _serve(self, device: str, connection: Connection) -> None:
        try:
            if device in self.dead:
                connection.send(("broken", "no such device"))
                return
            connection.send(("ready", None))
            while True:
                job = connection.recv()
                connection.send(("news", f"{job} on {device}"))
                connection.send(("done", self.work(device, job)))
        except Died:
            pass
        except RuntimeError as error:
            connection.send(("broken", str(error)))
        except (EOFError, OSError):
            pass
        finally:
            connection.close()

    def order(self, job: CrewTask, share: int) -> Any:
        self.ordered.append((job.content, share))
        return job.content

    def finish(self, job: CrewTask, problem: str | None) -> None:
        assert job.content not in self.ended
        self.ended[job.content] = problem

    def run(self, jobs: str, devices: list[str]) -> dict[str, str | None]:
        crew = Crew(
            [CrewTask(name) for name in jobs],
            self.start,
            self.order,
            lambda job, content: self.news.append((job.content, content)),
            self.finish,
        )
        crew.run(devices)
        return self.ended


@pytest.fixture(autouse=True)
def threads_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "stop", lambda *processes: None)  # they end with their connection


def test_jobs_are_shared_and_a_problem_is_reported() -> None:
    machine = Machine(lambda device, job: "unreadable" if job == "c" else None)
    assert machine.run("abcde", ["x"]) == {"a": None, "b": None, "c": "unreadable", "d": None, "e": None}
    assert machine.started == ["x"]
    assert machine.news == [(job, f"{job} on x") for job in "abcde"]
    assert machine.ordered == [("a", 5), ("b", 4), ("c", 3), ("d", 2), ("e", 1)]


def test_time_is_shared_by_all_devices() -> None:
    """Five jobs on two devices: three rounds, then two, then one."""
    machine = Machine(lambda device, job: None)
    machine.run("abcde", ["x", "y"])
    assert machine.ordered == [("a", 3), ("b", 2), ("c", 2), ("d", 1), ("e", 1)]
    machine = Machine(lambda device, job: None)
    machine.run("a", ["x", "y"])
    assert machine.started == ["x"]  # no more processes than jobs


@pytest.mark.parametrize("failure", [RuntimeError("boom"), Died()], ids=repr)
@pytest.mark.parametrize("devices", [["x"], ["x", "y"]])
@pytest.mark.parametrize("times", [1, 2])
def test_a_job_that_breaks_its_process_is_tried_once_more(
    failure: BaseException, devices: list[str], times: int
) -> None:
    tried: list[str] = []

    def work(device: str, job: str) -> None:
        tried.append(job)
        if job == "b" and tried.count("b") <= times:
            raise failure

    machine = Machine(work)
    ended = machine.run("abcd", devices)
    reason = "boom" if isinstance(failure, RuntimeError) else "its process ended with exit code -9"
    problem = ended.pop("b")
    assert problem is None if times == 1 else problem in {f"{device}: {reason}" for device in devices}
    assert ended == {"a": None, "c": None, "d": None}
    assert sorted(tried) == ["a", "b", "b", "c", "d"]
    assert len(machine.started) >= len(devices) + 1


def test_others_take_over_what_a_dead_device_leaves() -> None:
    """It dies with its job, and no fresh process gets ready there; the other is idle by then."""
    done = threading.Event()

    def work(device: str, job: str) -> None:
        if job == "b" and not machine.dead:
            assert done.wait(10)
            machine.dead = (device,)
            raise Died
        if job == "a":
            done.set()

    machine = Machine(work)
    assert machine.run("ab", ["x", "y"]) == {"a": None, "b": None}
    (dead,) = machine.dead
    other = {"x": "y", "y": "x"}[dead]
    assert machine.started == ["x", "y", dead]
    assert [content for job, content in machine.news if job == "b"] == [f"b on {dead}", f"b on {other}"]


def test_without_any_device_every_job_has_a_reason() -> None:
    machine = Machine(lambda device, job: None, dead=("x", "y"))
    ended = machine.run("abc", ["x", "y"])
    assert set(ended) == set("abc")
    assert all(problem in ("x: no such device", "y: no such device") for problem in ended.values())


def test_a_dead_device_from_the_start_costs_nothing() -> None:
    machine = Machine(lambda device, job: None, dead=("y",))
    assert machine.run("abc", ["x", "y"]) == {"a": None, "b": None, "c": None}
