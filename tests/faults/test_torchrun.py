"""Several processes whose agent is killed, so that no one is left to stop them."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from charm.config import to_json
from charm.runs.checkpoint import steps_of
from tests.toy import toy_config, write_toy_tasks


def children(process: int) -> list[int]:
    return [int(number) for number in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def is_running(process: int) -> bool:
    """Not so for one that has ended and has not been waited for."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
def test_processes_stop_when_their_agent_was_killed(tmp_path: Path) -> None:
    """They would train to the end; instead they write a checkpoint and end."""
    config = replace(toy_config(write_toy_tasks(tmp_path / "tasks")), steps=1_000_000, checkpoint_every=1_000_000)
    path, out = tmp_path / "config.json", tmp_path / "run"
    path.write_text(json.dumps(to_json(config)))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    agent = subprocess.Popen(
        [*torchrun, "-m", "tests.training.run_toy", str(path), str(out)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + 120
        while not (out / "metrics.jsonl").is_file():
            assert agent.poll() is None
            assert time.monotonic() < end
            time.sleep(0.1)
        ranks = children(agent.pid)
        assert sum(map(is_running, ranks)) >= 2
    finally:
        agent.send_signal(signal.SIGKILL)
        agent.wait()
    end = time.monotonic() + 60
    while any(map(is_running, ranks)) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(map(is_running, ranks))
    (step,) = steps_of(out)
    assert 0 < step < 1_000_000
