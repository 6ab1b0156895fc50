"""A viewer that runs during a test, a run folder and a task for it, and a wait for its processes."""

import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from charm.web.api import Library
from charm.web.server import Viewer


def write_run(folder: Path, config: object, lines: list[object]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


TASK = {"train": [{"input": [[0, 1]], "output": [[1, 0]]}], "test": [{"input": [[2, 1]], "output": [[1, 2]]}]}


def ends(process: int, seconds: float = 10.0) -> bool:
    """Whether a process ends within this time. One that does not is killed."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if _gone(process):
            return True
        time.sleep(0.1)
    os.kill(process, signal.SIGKILL)
    return False


def _gone(process: int) -> bool:
    """Also for a process that has ended and has not been waited for yet."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{process}/stat")
    return stat.is_file() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


@contextmanager
def serving(library: Library) -> Iterator[Viewer]:
    """A server that runs during the block."""
    viewer = Viewer(library, device="cpu")
    threading.Thread(target=viewer.serve_forever, daemon=True).start()
    try:
        yield viewer
    finally:
        viewer.shutdown()
        viewer.close()
