"""Signals to processes that train nothing, so that each takes a fraction of a second."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from charm import api, cli, files, signals
from charm.commands import train
from charm.devices import Place
from charm.training.job import ReasonerJob
from tests.toy import toy_config, write_toy_tasks

ROOT = Path(__file__).parents[1]

LOOP = """
import hashlib, sys, time
from charm import signals
signals.GRACE = 0.3
signals.POLL = 0.05

def compute():  # as a long kernel does: no Python runs in this thread, but it can in others
    hashlib.pbkdf2_hmac("sha256", b"", b"", 1_000_000_000)

with signals.stop_on_signal(lambda text: print(text, flush=True)) as stopped:
    print("ready", flush=True)
    if sys.argv[1] == "busy":
        compute()
    end = time.monotonic() + 60
    while not stopped and time.monotonic() < end:
        time.sleep(0.01)
    if sys.argv[1] == "twice":
        time.sleep(60)
print("stopped in order", list(map(int, stopped)), flush=True)
"""


def start(program: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """A process that has said that it is ready."""
    process = subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


NOTE = "stopping after this update; a second signal ends the training at once\n"


@pytest.mark.parametrize("number", signals.NUMBERS)
def test_one_signal_asks_for_a_stop(number: int) -> None:
    process = start(LOOP, "once")
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert (out, err) == (f"{NOTE}stopped in order [{number}]\n", "")
    assert process.returncode == 0


def test_a_second_signal_interrupts() -> None:
    process = start(LOOP, "twice")
    assert process.stdout is not None
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == NOTE
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in err or err == "charm: interrupted\n"  # the latter where Python was slow to see it
    assert process.returncode in (1, 130, -signal.SIGINT)


def test_a_second_signal_ends_what_is_busy_computing() -> None:
    """Python's handlers would wait for the computation, here of many minutes."""
    process = start(LOOP, "busy")
    assert process.stdout is not None
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == NOTE
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert (err, process.returncode) == ("charm: interrupted\n", 130)


AGENT = """
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", sys.argv[1], "once"], stdout=open(sys.argv[2], "w"))
while "ready" not in open(sys.argv[2]).read():
    time.sleep(0.01)
print("ready", flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("under_torchrun", [True, False])
def test_a_process_whose_agent_was_killed_stops(under_torchrun: bool, tmp_path: Path) -> None:
    """Only under torchrun: a training that was started with nohup outlives its shell."""
    said = tmp_path / "said"
    environment = {"TORCHELASTIC_RUN_ID": "x"} if under_torchrun else {}
    program = LOOP.replace("+ 60", "+ 2") if not under_torchrun else LOOP
    agent = start(AGENT, program, str(said), **environment)
    agent.kill()
    agent.wait()
    end = time.monotonic() + 30
    while "stopped in order" not in said.read_text() and time.monotonic() < end:
        time.sleep(0.05)
    expected = f"[{int(signal.SIGHUP)}]" if under_torchrun else "[]"
    assert said.read_text().endswith(f"stopped in order {expected}\n")
    assert ("torchrun died" in said.read_text()) == under_torchrun


COMMAND = """
import hashlib, sys, time
from charm import cli, signals
from charm.commands import train
signals.GRACE = 0.3 if sys.argv[1] == "busy" else 30

def slow(name, flags):
    try:
        print("ready", flush=True)
        if name == "busy":
            hashlib.pbkdf2_hmac("sha256", b"", b"", 1_000_000_000)
        time.sleep(60)
    finally:
        print("cleaned up", flush=True)

train.run_train = slow
cli.main(["train", sys.argv[1]])
"""


@pytest.mark.parametrize("number", signals.NUMBERS)
@pytest.mark.parametrize("state", ["waiting", "busy"])
def test_a_signal_before_the_loop_ends_the_command_with_a_sentence(number: int, state: str) -> None:
    process = start(COMMAND, state)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert err == f"charm: stopped by {signal.Signals(number).name} before the first update\n"
    assert process.returncode == 128 + number
    if state == "waiting":
        assert out == "cleaned up\n"


FOLDER = """
import sys, time
from pathlib import Path
from charm.files import whole_folder

with whole_folder(Path(sys.argv[1])) as part:
    (part / "half").write_text("")
    print("ready", flush=True)
    time.sleep(60)
"""


def test_a_stopped_process_leaves_no_temporary_folder_and_the_next_removes_a_killed_ones(
    tmp_path: Path,
) -> None:
    other = tmp_path / "new.notes.tmp"
    other.mkdir()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
        process = start(FOLDER, str(tmp_path / "new"))
        assert len([*tmp_path.iterdir()]) == 2
        process.send_signal(number)
        process.communicate(timeout=30)
        assert process.returncode == (1 if number == signal.SIGTERM else -number)
        assert len([*tmp_path.iterdir()]) == (2 if number == signal.SIGKILL else 1)
    with files.whole_folder(tmp_path / "new") as part:
        (part / "whole").write_text("")
    assert sorted(tmp_path.iterdir()) == [tmp_path / "new", other]
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["whole"]


def test_handlers_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [signal.getsignal(number) for number in signals.NUMBERS]
    threads = threading.active_count()

    def looping(name: str, flags: list[str]) -> None:
        with signals.stop_on_signal() as stopped:
            os.kill(os.getpid(), signal.SIGTERM)
            assert stopped == [signal.SIGTERM]

    monkeypatch.setattr(train, "run_train", looping)
    cli.main(["train", "x"])
    assert [signal.getsignal(number) for number in signals.NUMBERS] == before
    assert threading.active_count() == threads
    assert signal.set_wakeup_fd(-1) == -1


def test_a_signal_whose_exception_was_lost_stops_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python drops exceptions that are raised in a destructor."""
    found: list[Any] = []

    class Careless:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGTERM)
            for _ in range(100):
                pass

    def losing(name: str, flags: list[str]) -> None:
        monkeypatch.setattr(sys, "unraisablehook", found.append)
        del (one := SimpleNamespace(careless=Careless())).careless
        assert one
        with signals.stop_on_signal() as stopped:
            found.append(list(stopped))

    monkeypatch.setattr(train, "run_train", losing)
    cli.main(["train", "x"])
    assert found[-1] == [signal.SIGTERM]
    assert len(found) == 2


def test_another_thread_leaves_signals_alone() -> None:
    found = []

    def run() -> None:
        with signals.stop_on_signal() as stopped:
            found.append(list(stopped))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [[]]


def test_slow_devices_look_at_every_update() -> None:
    cpu, gpu = torch.device("cpu"), torch.device("cuda")
    assert [signals.check_every(place) for place in (Place(cpu), Place(gpu), Place(cpu, 0, 2))] == [1, 1, 1]
    assert signals.check_every(Place(gpu, 0, 2)) == 10


@pytest.mark.parametrize("number", signals.NUMBERS)
def test_a_training_that_was_stopped_does_not_exit_with_0(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or `charm train && charm eval` would continue; in Python it raises."""
    config, update = toy_config(write_toy_tasks(tmp_path / "tasks")), ReasonerJob.update

    def stop(job: ReasonerJob, step: int) -> dict[str, torch.Tensor]:
        os.kill(os.getpid(), number)
        return update(job, step)

    monkeypatch.setattr(ReasonerJob, "update", stop)
    with pytest.raises(KeyboardInterrupt):
        api.train(config, tmp_path / "api")

    def run(name: str, flags: list[str]) -> None:
        train.train_preset(name, config, ["--out", str(tmp_path / "run")])

    monkeypatch.setattr(train, "run_train", run)
    with pytest.raises(SystemExit) as ended:
        cli.main(["train", "toy"])
    assert ended.value.code == 128 + number


def test_sigterm_ends_any_command_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(run: Path, flags: list[str]) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)

    monkeypatch.setattr(cli.evaluate, "run_evaluate", run)
    with pytest.raises(SystemExit) as ended:
        cli.main(["eval", "runs/x"])
    assert ended.value.code == 143
    assert capsys.readouterr().err == "charm: stopped by SIGTERM\n"
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
