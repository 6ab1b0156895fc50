"""Train a configuration from a JSON file: a process that tests start, kill and run under torchrun."""

import json
import sys
from pathlib import Path

from charm.config import from_json
from charm.devices import place
from charm.training.config import TrainConfig
from charm.training.loop import train

if __name__ == "__main__":
    settings = from_json(TrainConfig, json.loads(Path(sys.argv[1]).read_text()))
    with place("cpu") as here:
        train(settings, Path(sys.argv[2]), here, resume="resume" in sys.argv[3:])
