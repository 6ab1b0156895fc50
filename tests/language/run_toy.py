"""Train configurations from JSON files, one after the other: a process that tests run under torchrun.

python -m tests.language.run_toy CONFIG OUT new|resume [CONFIG OUT new|resume ...]
"""

import gc
import json
import sys
import weakref
from pathlib import Path

import torch.distributed as dist

from charm.config import from_json
from charm.devices import place
from charm.language.config import LMConfig
from charm.language.run import train_lm

if __name__ == "__main__":
    words = iter(sys.argv[1:])
    with place("cpu") as here:
        group = weakref.ref(dist.group.WORLD)
        for path, out, how in zip(words, words, words, strict=True):
            settings = from_json(LMConfig, json.loads(Path(path).read_text()))
            train_lm(settings, Path(out), here, resume=how == "resume")
    gc.collect()
    assert group() is None, "something keeps the group, and gloo's threads may abort the interpreter as it ends"
