"""CHARM: small models that learn ARC-AGI from scratch, and structured sparse task memory.

    model = charm.load()    # CHARM's own weights; or a run, "owner/name"
    result = charm.solve("task.json", model=model, budget=60)
    print(result)           # two attempts, their votes, what speaks against them

    load(model)             load a trained model
    solve(task, model)      answer a task, or several learned together
    tasks(name)             read a public set, a file or a folder of tasks
    train(config, out)      train a preset, or what preset(name) returns, changed
    evaluate(run)           let a run vote on its test inputs, and score it
    memory                  CoSE, the memory, for your own keys

    Task, View              a task; a symmetry and recolouring of one
    CharmModel              what load returns
    Solution, Solutions     what solve returns for a task, and for a list
    SolveOptions            how to solve: views, steps, mode and others
    CharmError              raised for wrong input, with one sentence

help(charm.solve) explains a function; `import charm` loads no torch.
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
    from charm.solving.solution import Solutions as Solutions
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
    **dict.fromkeys(("evaluate", "load", "preset", "solve", "train"), "charm.api"),
    **dict.fromkeys(("memory", "tasks"), "charm"),
    **dict.fromkeys(("Solution", "Solutions"), "charm.solving.solution"),
    "CharmError": "charm.errors",
    "CharmModel": "charm.models.model",
    "SolveOptions": "charm.solving.options",
    "Task": "charm.tasks.task",
    "View": "charm.tasks.view",
    "load_source": "charm.tasks.sources",
}

_PATH = __path__
del __path__  # `__getattr__` has it for all but pydoc, whose list of all modules would be most of help(charm)


def __getattr__(name: str) -> Any:
    if name == "__path__" and sys._getframe(1).f_code.co_name != "docmodule":
        return _PATH
    if name not in _HOMES:
        raise AttributeError(f"module 'charm' has no attribute {name!r}")
    home = _HOMES[name]
    return import_module(f"charm.{name}") if home == "charm" else getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(["__version__", *_HOMES])  # no __all__: help(charm) would print all of each class
