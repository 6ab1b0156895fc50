"""The path of one update is short enough to be read."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch

import charm
from charm.arc.run import arc_job
from charm.devices import Place
from charm.runs.settings import TrainConfig
from tests.toy import toy_config, write_toy_tasks
from tests.toy.vit import vit_config
from tests.toy.writer import writer_config

HERE = Place(torch.device("cpu"))
MOST_FILES = 18


def files_run(call: Callable[[], object]) -> set[str]:
    """Return the files of the package whose functions a call runs."""
    package, found = Path(charm.__file__).parent, set[str]()

    def look(frame: FrameType, event: str, argument: Any) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(package):
            found.add(str(path.relative_to(package)))

    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


@pytest.mark.parametrize(
    "config",
    [lambda folder: toy_config(write_toy_tasks(folder)), writer_config, vit_config],
    ids=["canvas", "writer", "vit"],
)
def test_an_update_runs_through_few_files(config: Callable[[Path], TrainConfig], tmp_path: Path) -> None:
    job = arc_job(config(tmp_path), HERE, lambda text: None)
    for step in range(4):  # tables are made once, and every slot has halted
        job.update(step)
    found = files_run(lambda: job.update(4))
    assert {"training/learner.py", "training/optimizers.py", "models/model.py", "memory/cose.py"} <= found
    assert len(found) <= MOST_FILES, sorted(found)
