"""Ctrl-C while child processes start: no traceback, whenever it comes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="looks for processes in /proc")

# The main module is imported by each child, slowly; Ctrl-C comes before, during and after.
SCRIPT = """
import sys, time
from charm.processes import SPAWN, as_finished, process_pool

if __name__ == "__mp_main__":
    time.sleep(0.3)

def work(seconds):
    time.sleep(seconds)

def main():
    try:
        if sys.argv[1] == "pool":
            with process_pool(2) as pool:
                jobs = [pool.submit(work, 60) for _ in range(3)]
                [job.result() for job in as_finished(jobs)]
        else:
            process = SPAWN.Process(target=work, args=(60,), daemon=True)
            process.start()
            while process.is_alive():
                process.join(0.5)  # a signal just before a wait without an end would be missed
    except KeyboardInterrupt:
        sys.exit(130)

if __name__ == "__main__":
    main()
"""


def children(parent: int) -> list[str]:
    """Processes that a process has started."""
    return Path(f"/proc/{parent}/task/{parent}/children").read_text().split()


def interrupted(command: list[str], delay: float) -> tuple[int, str]:
    """Exit status and standard error of a command that meets SIGINT `delay` seconds after it started a child."""
    process = subprocess.Popen(
        [sys.executable, *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a terminal's Ctrl-C reaches the whole group
    )
    try:
        while process.poll() is None and len(children(process.pid)) < 2:  # a tracker of resources is the first
            time.sleep(0.01)
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGINT)
        return process.wait(30), process.communicate(timeout=30)[1]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05, 0.1, 0.2, 0.4])
@pytest.mark.parametrize("kind", ["pool", "process"])
def test_an_interrupted_start_says_nothing(tmp_path: Path, kind: str, delay: float) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    assert interrupted([str(script), kind], delay) == (130, "")


@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_an_interrupted_build_says_one_sentence(tmp_path: Path, delay: float) -> None:
    """As a user would: the delay counts from the first worker's start."""
    command = ["-m", "charm", "rearc2", "build", "--workers", "2", "--data", str(tmp_path)]
    status, printed = interrupted(command, delay)
    assert status == 130
    assert printed.splitlines()[-1] == "charm: interrupted"
    assert "Traceback" not in printed
