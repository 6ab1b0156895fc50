"""CHARM: small models that learn ARC-AGI from scratch, and structured sparse task memory.

    model = charm.load()    # CHARM's own weights; or a run, "owner/name"
    result = charm.solve("task.json", model=model, budget=60)
    print(result)           # the answer, its votes, what speaks against it

    load(model)             load a trained model
    solve(task, model)      answer a task, or several learned together
    tasks(name)             read a public set, a file or a folder of tasks
    train(config, out)      train a preset or a configuration
    preset(name)            return the configuration of a preset, to change
    evaluate(run)           let a run vote on its test inputs, and score it
    memory                  CoSE, the memory, for your own keys
    CharmError              raised for wrong input, with one sentence

Task, View, Solution, CharmModel and SolveOptions are what these take and
return. help(charm.solve) explains a function; docs/api.md has examples.
Names are imported when they are first used: `import charm` loads no torch.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from charm.version import __version__ as __version__

if TYPE_CHECKING:
    from charm import memory as memory
    from charm.api import evaluate as evaluate
    from charm.api import load as load
    from charm.api import preset as preset
    from charm.api import solve as solve
    from charm.api import train as train
    from charm.errors import CharmError as CharmError
    from charm.models.model import CharmModel as CharmModel
    from charm.solving.options import SolveOptions as SolveOptions
    from charm.solving.solution import Solution as Solution
    from charm.tasks import load as _tasks
    from charm.tasks.sources import load_source as load_source
    from charm.tasks.task import Task as Task
    from charm.tasks.view import View as View

    tasks = _tasks  # an alias of another name would not be exported to strict type checkers

# Threads that wait by spinning make torch 3 to 20 times slower on a CPU that others use too; sleeping costs next to
# nothing on a free one. OpenMP reads this when torch is imported: after that, `charm.devices` does the same.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    if "torch" in sys.modules:
        import_module("charm.devices").let_waiting_threads_sleep()

_HOMES = {
    "CharmError": "charm.errors",
    "CharmModel": "charm.models.model",
    "Solution": "charm.solving.solution",
    "SolveOptions": "charm.solving.options",
    "Task": "charm.tasks.task",
    "View": "charm.tasks.view",
    "evaluate": "charm.api",
    "load": "charm.api",
    "load_source": "charm.tasks.sources",
    "memory": "charm",
    "preset": "charm.api",
    "solve": "charm.api",
    "tasks": "charm",
    "train": "charm.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'charm' has no attribute {name!r}")
    home = _HOMES[name]
    return import_module(f"charm.{name}") if home == "charm" else getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(["__version__", *_HOMES])  # no __all__: help(charm) would print all of each class
