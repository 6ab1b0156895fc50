"""The suite sees nothing of the machine it runs on: home, caches and data folder are its own, initially empty."""

import multiprocessing
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as charm does, before torch is imported

# Set on import, before anything looks; subprocesses inherit them.
ROOT = Path(tempfile.mkdtemp(prefix="charm-tests-"))
FOLDERS = {
    "HOME": "home",
    "XDG_CACHE_HOME": "home/.cache",
    "XDG_CONFIG_HOME": "home/.config",
    "XDG_DATA_HOME": "home/.local/share",
    "MPLCONFIGDIR": "home/.config/matplotlib",
    "HYPOTHESIS_STORAGE_DIRECTORY": "home/.hypothesis",
    "TORCHINDUCTOR_CACHE_DIR": "home/.cache/inductor",
    "CHARM_DATA": "data",
}
for name, folder in FOLDERS.items():
    (ROOT / folder).mkdir(parents=True, exist_ok=True)
    os.environ[name] = str(ROOT / folder)
# What changes the width and the colours of printed text.
for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
    os.environ.pop(name, None)

# A suite in the background inherits an ignored Ctrl-C, and so would the commands that the tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What the server of tests/forks.py imports, if a test starts it.
multiprocessing.set_forkserver_preload(
    ["torch._dynamo", "torch.distributed.run", "charm.cli", "charm.arc.run", "charm.solving.solver"]
)

# Fixtures: a page, quick processes, toy runs, a toy Re-ARC.
pytest_plugins = ("tests.browser", "tests.forks", "tests.toy.runs", "tests.toy.wheel")
pytest.register_assert_rewrite("tests.toy")


def pytest_configure() -> None:
    """Let hypothesis take its time: a busy machine is no failure."""
    from hypothesis import settings

    settings.register_profile("charm", deadline=None)
    settings.load_profile("charm")


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(ROOT, ignore_errors=True)
