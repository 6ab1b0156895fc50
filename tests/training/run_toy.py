"""Train a configuration from a JSON file: a process that tests start, kill and run under torchrun."""

import json
import sys
from pathlib import Path

from charm.arc.run import train
from charm.config import from_json
from charm.devices import place
from charm.runs.settings import TrainConfig


def thread_names() -> list[str]:
    """The names of this process's threads, torch's own among them; empty where there is no /proc."""
    return [path.read_text().strip() for path in Path("/proc/self/task").glob("*/comm")]


if __name__ == "__main__":
    settings = from_json(TrainConfig, json.loads(Path(sys.argv[1]).read_text()))
    with place("cpu") as here:
        train(settings, Path(sys.argv[2]), here, resume="resume" in sys.argv[3:])
    # A communication thread that outlives its group can abort the process as the interpreter ends.
    if left := [name for name in thread_names() if "gloo" in name]:
        sys.exit(f"threads left by the process group: {left}")
