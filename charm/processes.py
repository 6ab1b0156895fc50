"""Processes that can be stopped at any moment: they talk through a pipe and never outlive whoever started them."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

GRACE = 5.0  # seconds to clean up in, once told to end


def start(target: Callable[..., None], *args: Any) -> tuple[BaseProcess, Connection]:
    """Run target(connection, *args) in a process of its own; ours is the other end of the connection."""
    # Spawned, not forked: a fork would carry over the locks of other threads, and CUDA does not survive one.
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_run, args=(pickle.dumps((target, args)), there), daemon=True)
    process.start()
    there.close()  # so that the end of the process is the end of the stream
    return process, here


def stop(process: BaseProcess) -> None:
    """End a process, whatever it is doing."""
    process.terminate()
    process.join(GRACE)
    if process.is_alive():
        process.kill()
        process.join()


def _run(job: bytes, connection: Connection) -> None:
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches this process too; whoever started it decides
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that temporary folders are removed
    threading.Thread(target=_end_with_parent, daemon=True).start()
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
