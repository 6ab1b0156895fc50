"""A forked program is run as `python` would run it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import forks

SHOW = """
import json, os, sys, torch
print(json.dumps([__name__, sys.argv[1:], os.environ.get("COLOUR"), os.getcwd(), sys.path, torch.get_num_threads()]))
print("to stderr", file=sys.stderr)
sys.exit(3)
"""


@pytest.mark.parametrize("module", [False, True])
def test_it_sees_and_gives_what_a_process_of_its_own_does(
    module: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "show.py").write_text(SHOW)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLOUR", "a colour")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    threads = {"OMP_NUM_THREADS": "1"}
    words = [*(["-m", "show"] if module else ["show.py"]), "a b", "--c"]
    expected = subprocess.run([sys.executable, *words], env={**os.environ, **threads}, capture_output=True, text=True)
    assert expected.stdout.endswith(", 1]\n")
    found = forks.Program(*words, env=threads)
    assert found.wait() == expected.returncode == 3
    assert (found.stdout, found.stderr) == (expected.stdout, expected.stderr)


def test_it_can_be_signalled_and_does_not_outlive_its_time(tmp_path: Path) -> None:
    program = tmp_path / "wait.py"
    program.write_text("import time\nopen('begun', 'w').close()\ntime.sleep(60)\n")
    for stop in ("send_signal", "timeout"):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            started = forks.Program(program)
        while not (tmp_path / "begun").exists():
            time.sleep(0.01)
        (tmp_path / "begun").unlink()
        assert started.poll() is None
        if stop == "send_signal":
            started.send_signal(signal.SIGKILL)
            assert started.wait(10) == -signal.SIGKILL
        else:
            with pytest.raises(subprocess.TimeoutExpired):
                started.wait(0.1)
            assert started.poll() == -signal.SIGKILL


def test_processes_of_a_group_meet_and_one_that_fails_ends_the_others(tmp_path: Path) -> None:
    program = tmp_path / "meet.py"
    program.write_text(
        "import sys, time, torch\nfrom charm.devices import place\n"
        "with place('cpu') as here:\n"
        "    print(here.any(here.rank == 1), here.world)\n"
        "if 'fail' in sys.argv:\n    sys.exit(5) if here.rank == 0 else time.sleep(60)\n"
    )
    group = forks.Group(2, program)
    assert group.wait() == 0
    assert [one.stdout for one in group.programs] == ["True 2\n"] * 2
    failing = forks.Group(2, program, "fail")
    assert failing.wait() == 5
    assert failing.programs[1].poll() == -signal.SIGKILL
