"""Python programs in separate processes that find torch and charm imported, which takes most of a short one's time.

They are forked by a server that has imported these and does nothing else, and then run as `python` would run them:
arguments, environment, folder, search path, output and exit status are their own. Where the start itself is tested
(what is imported, signals that come early, variables that a library reads as it loads), use subprocess instead.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.multiprocessing as mp
from torch.distributed import TCPStore

import charm.processes

SERVER = multiprocessing.get_context("forkserver")  # tests/conftest.py says what it imports


class _Worker(ForkServerProcess):
    """A process that has the environment of the test that starts it, not that of the server."""

    def __init__(self, *rest: Any, **named: Any) -> None:
        super().__init__(*rest, **named)
        self.environment = dict(os.environ)

    def run(self) -> None:
        os.environ.clear()
        os.environ.update(self.environment)
        super().run()


class _Workers(ForkServerContext):
    Process = _Worker


@pytest.fixture
def forked_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let CHARM fork its worker processes, where what they do is tested and not how they start and end."""
    monkeypatch.setattr(charm.processes, "SPAWN", _Workers())


class Program:
    """A started program: `python` with these arguments, and the methods of a Popen that tests need."""

    def __init__(self, *arguments: object, env: Mapping[str, str] | None = None) -> None:
        environment = {**os.environ, **(env or {})}
        path = _search_path(tuple((name, text) for name, text in environment.items() if name.startswith("PYTHON")))
        self.folder = tempfile.TemporaryDirectory(prefix="program-")
        self.words = [str(word) for word in arguments]
        self.process = SERVER.Process(target=_run, args=(self.words, environment, os.getcwd(), path, self.folder.name))
        self.process.start()

    @property
    def stdout(self) -> str:
        return Path(self.folder.name, "stdout").read_text()

    @property
    def stderr(self) -> str:
        return Path(self.folder.name, "stderr").read_text()

    @property
    def returncode(self) -> int | None:
        return self.process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float = 240) -> int:
        """Its exit status, negative for a signal; a program that takes longer is killed."""
        self.process.join(timeout)
        code = self.process.exitcode
        if code != 0 and Path(self.folder.name, "stderr").is_file():
            print(self.stderr, file=sys.stderr)
        if code is None:
            self.kill()
            raise subprocess.TimeoutExpired(self.words, timeout)
        return code

    def send_signal(self, number: int) -> None:
        if self.process.exitcode is None:
            assert self.process.pid is not None
            os.kill(self.process.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.process.kill()
        self.process.join()


class Group:
    """A program in several processes, each with the variables that torchrun sets, and the store it keeps for them."""

    def __init__(self, processes: int, *arguments: object, env: Mapping[str, str] | None = None) -> None:
        self.store = TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
        told = {"MASTER_ADDR": "localhost", "MASTER_PORT": str(self.store.port)}
        told |= {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}
        told |= {"WORLD_SIZE": str(processes), "LOCAL_WORLD_SIZE": str(processes), **(env or {})}
        self.programs = [
            Program(*arguments, env={**told, "RANK": str(rank), "LOCAL_RANK": str(rank)}) for rank in range(processes)
        ]

    def wait(self, timeout: float = 240) -> int:
        """0 if all have ended well; if one has not, the others are killed."""
        try:
            return next((code for program in self.programs if (code := program.wait(timeout))), 0)
        finally:
            for program in self.programs:
                program.kill()


@cache
def _search_path(settings: tuple[tuple[str, str], ...]) -> list[str]:
    """Ask a new interpreter with these variables for its search path, without the program's own folder."""
    show = [sys.executable, "-c", "import json, sys; print(json.dumps(sys.path[1:]))"]
    done = subprocess.run(show, env={**os.environ, **dict(settings)}, capture_output=True, check=True)
    found: list[str] = json.loads(done.stdout)
    return found


def together(function: Callable[..., None], arguments: tuple[Any, ...], processes: int) -> None:
    """function(rank, *arguments) in several processes; a failure of one is raised here."""
    mp.start_processes(_call, (dict(os.environ), function, *arguments), processes, start_method="forkserver")


def _call(rank: int, env: dict[str, str], function: Callable[..., None], *arguments: Any) -> None:
    os.environ.clear()
    os.environ.update(env)
    function(rank, *arguments)


def _run(words: list[str], env: dict[str, str], folder: str, path: list[str], output: str) -> None:
    os.environ.clear()
    os.environ.update(env)
    os.chdir(folder)
    for number, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(Path(output, name), os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    if "OMP_NUM_THREADS" in env:  # read as torch was loaded
        torch.set_num_threads(int(env["OMP_NUM_THREADS"]))
    if words[0] == "-m":
        sys.argv, sys.path[:] = words[1:], [folder, *path]
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[:] = words, [str(Path(words[0]).absolute().parent), *path]
        runpy.run_path(words[0], run_name="__main__")
