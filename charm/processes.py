"""Child processes that can be stopped at any moment, never outlive their parent, and ignore Ctrl-C.

Ctrl-C reaches every process of a terminal. A spawned one would print a traceback if it came while the interpreter
starts or modules are imported. So children start with SIGINT blocked and ignore it later; whoever started them gets the
KeyboardInterrupt and ends them.
"""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext, SpawnProcess
from multiprocessing.process import BaseProcess
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_CAN_BLOCK = hasattr(signal, "pthread_sigmask")  # not on Windows
GRACE = 5.0  # seconds to clean up after being asked to stop


class _Process(SpawnProcess):
    def start(self) -> None:
        """Start the process; if Ctrl-C comes meanwhile, end it again and raise KeyboardInterrupt.

        Halfway through a start, an exception would leave a child without the data it waits for.
        """
        # In a separate thread, whose blocked signals the child inherits. If SIGINT were blocked in the main thread,
        # another thread would receive it, and that does not wake a main thread that waits.
        try:
            with _interrupts_held_back(), ThreadPoolExecutor(1) as thread:
                thread.submit(self._start_blocked).result()
        except KeyboardInterrupt:
            self.terminate()
            self.join()
            raise

    def _start_blocked(self) -> None:
        # First: where it is not running, starting a child starts it, and that ends with SIGINT unblocked.
        resource_tracker.ensure_running()
        if _CAN_BLOCK:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        super().start()

    def run(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if _CAN_BLOCK:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        threading.Thread(target=_end_with_parent, daemon=True).start()
        super().run()


class _Context(SpawnContext):
    Process = _Process


# Spawned, not forked: a fork would carry over the locks of the caller's threads (PyTorch has some), and CUDA cannot
# be used after one.
SPAWN = _Context()


def start(target: Callable[..., None], *args: Any) -> tuple[BaseProcess, Connection]:
    """Run target(connection, *args) in a separate process; ours is the other end of the connection."""
    here, there = SPAWN.Pipe()
    process = SPAWN.Process(target=_run, args=(pickle.dumps((target, args)), there), daemon=True)
    process.start()
    there.close()  # so that the end of the process is the end of the stream
    return process, here


def stop(*processes: BaseProcess) -> None:
    """End all processes at the same time, even busy ones."""
    for process in processes:
        process.terminate()
    end = time.monotonic() + GRACE
    for process in processes:
        process.join(max(end - time.monotonic(), 0.0))
        if process.is_alive():
            process.kill()
            process.join()


def _run(job: bytes, connection: Connection) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that temporary folders are removed
    # Only now: this may import torch, and a signal must not meet us unprepared.
    target, args = pickle.loads(job)
    target(connection, *args)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)


class _Pool(ProcessPoolExecutor):
    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Submit a call, and let no interrupt end this halfway: the pool could not be shut down afterwards."""
        with _interrupts_held_back():
            return super().submit(fn, *args, **kwargs)


@contextmanager
def process_pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of processes; an exception in the block ends them at once."""
    others = set(multiprocessing.active_children())
    with _Pool(workers, SPAWN) as pool:
        try:
            yield pool
        except BaseException:
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
                process.join()
            raise


def as_finished(jobs: Iterable[Future[T]]) -> Iterator[Future[T]]:
    """Yield jobs as they finish, like `as_completed`, but safe against Ctrl-C at any moment.

    An interrupt inside `wait` can leave a job's lock taken, and the pool waits for it for ever. And one that arrives
    just before the main thread begins to wait is noticed only when the wait ends. So interrupts are held back during
    short waits.
    """
    waiting = set(jobs)
    while waiting:
        with _interrupts_held_back():
            finished, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
        yield from finished


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Raise KeyboardInterrupt for a SIGINT only after the block, if this is the main thread."""
    handler = signal.getsignal(signal.SIGINT) if threading.current_thread() is threading.main_thread() else None
    if handler is None:
        yield
        return
    noted: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if noted:
        signal.raise_signal(signal.SIGINT)
