"""Tasks, their views and where they come from. The package can be called: `charm.tasks("arc1/evaluation")`."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from charm.tasks.sources import TaskList


def load(name: str | Path, data: Path | None = None) -> TaskList:
    """Load the tasks of a public set, a file or a folder.

    Arguments:
        name: "arc1/training", "arc1/evaluation", "arc2/training", "arc2/evaluation", "concept-arc", or a path.
        data: where downloaded data is stored; $CHARM_DATA or the user's cache folder if not given.
    """
    from charm.paths import path_given
    from charm.tasks.sources import TaskList, load_source

    path_given(name, "a set of tasks")
    return TaskList(load_source(name, data).tasks, str(name))


class _Callable(ModuleType):
    __call__ = staticmethod(load)


sys.modules[__name__].__class__ = _Callable
