"""CHARM: a compact recurrent reasoner for ARC-AGI with structured sparse task memory.

    model = charm.load()                        # the weights that come with CHARM; or charm.load("runs/arc1")
    solution = charm.solve("task.json", budget=60)
    charm.memory.CoSE                           # the memory, for keys of your own

Names are imported when they are first used, so that `import charm` loads no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from charm.version import __version__

if TYPE_CHECKING:
    from charm import memory as memory
    from charm.adaptation.solution import Solution as Solution
    from charm.api import load as load
    from charm.api import solve as solve
    from charm.errors import CharmError as CharmError
    from charm.model import CharmModel as CharmModel
    from charm.tasks.sources import load_source as load_source
    from charm.tasks.task import Task as Task
    from charm.tasks.view import View as View


_HOMES = {
    "CharmError": "charm.errors",
    "CharmModel": "charm.model",
    "Solution": "charm.adaptation.solution",
    "Task": "charm.tasks.task",
    "View": "charm.tasks.view",
    "load": "charm.api",
    "load_source": "charm.tasks.sources",
    "memory": "charm",
    "solve": "charm.api",
}
__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'charm' has no attribute {name!r}")
    home = _HOMES[name]
    return import_module(f"charm.{name}") if home == "charm" else getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
