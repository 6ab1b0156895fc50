"""What SIGTERM and SIGINT do to a training: before its loop they end it with a sentence, in its loop they stop it.

Python's own handlers wait until the main thread is back from what it computes, which may take minutes on a slow device.
So a thread also listens: it answers at once and ends a process that does not stop.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from charm.devices import Place

NUMBERS = (signal.SIGTERM, signal.SIGINT)
GRACE = 3.0  # seconds to clean up in, before a process is ended
POLL = 1.0  # seconds between looks at whether torchrun is alive

_PARENT = os.getppid()  # torchrun's agent, if that started us
_missed: list[int] = []  # signals whose exception may have been lost, as in a destructor
_began: list[bool] = []  # not empty once the loop has begun


class StoppedEarly(BaseException):
    """A signal came while there was no update to finish."""

    def __init__(self, number: int) -> None:
        self.exit_code = 128 + number  # as shells count: 130 for Ctrl-C, 143 for SIGTERM
        when = "" if _began else " before the first update"
        super().__init__(f"stopped by {signal.Signals(number).name}{when}")


@contextmanager
def stop_early() -> Iterator[None]:
    """Raise `StoppedEarly` at the first signal; a second one ends the process at once."""

    def handle(number: int, frame: FrameType | None) -> NoReturn:
        for one in NUMBERS:
            signal.signal(one, signal.SIG_DFL)
        _missed.append(number)
        raise StoppedEarly(number)

    def react(number: int) -> tuple[str, int]:
        stopped = StoppedEarly(number)
        return str(stopped), stopped.exit_code

    _began.clear()
    try:
        with _heard(handle, react):
            yield
    finally:
        _missed.clear()


@contextmanager
def stop_on_signal(say: Callable[[str], None] = lambda text: None) -> Iterator[list[int]]:
    """Yield a list that is not empty once SIGTERM or SIGINT has come, or torchrun's agent has died.

    A second signal interrupts: the exception comes at once where Python runs, and where the main thread is still
    computing after a few seconds, the process is ended.
    """
    received = list(_missed)
    heard: list[int] = []
    _began.append(True)

    def handle(number: int, frame: FrameType | None) -> None:
        if received:
            raise KeyboardInterrupt
        received.append(number)

    def react(number: int) -> tuple[str, int] | None:
        heard.append(number)
        if len(heard) > 1:
            return "interrupted", 130
        say("stopping after this update; a second signal ends the training at once")
        return None

    def orphaned() -> None:
        received.append(signal.SIGHUP)
        say("torchrun died: stopping after this update")

    with _heard(handle, react, orphaned):
        yield received


def check_every(place: Place) -> int:
    """Return the updates between looks at the signals: processes on accelerators wait for each other to agree."""
    return 1 if place.world == 1 or place.device.type == "cpu" else 10


@contextmanager
def _heard(
    handle: Callable[[int, FrameType | None], object],
    react: Callable[[int], tuple[str, int] | None],
    orphaned: Callable[[], None] | None = None,
) -> Iterator[None]:
    """Let signals call `handle` in the main thread, when it gets to it, and `react` in another one at once.

    Where that returns a sentence and an exit code, the process ends with them unless this context is left in time.
    """
    try:
        before = {number: signal.signal(number, handle) for number in NUMBERS}
    except ValueError:  # not in the main thread: signals belong to somebody else
        yield
        return
    left = threading.Event()
    here, there = socket.socketpair()
    there.setblocking(False)  # which Python wants of it
    fd = signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
    watched = orphaned is not None and "TORCHELASTIC_RUN_ID" in os.environ
    here.settimeout(POLL if watched else None)

    def listen() -> None:
        reported = False
        while True:
            try:
                number = here.recv(1)
            except TimeoutError:
                if orphaned is not None and not reported and os.getppid() != _PARENT:
                    reported = True
                    orphaned()
                continue
            if not number:
                return
            end = react(number[0]) if number[0] in NUMBERS else None
            if end is not None and not left.wait(GRACE):
                print(f"charm: {end[0]}", file=sys.stderr, flush=True)
                os._exit(end[1])

    thread = threading.Thread(target=listen, name="signals", daemon=True)
    thread.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(fd)
        for number, handler in before.items():
            signal.signal(number, handler)
        left.set()
        there.close()
        thread.join()
        here.close()
