"""Output of a command: JSON for programs, or tables and lines for people."""

from __future__ import annotations

import json as jsonlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from charm.tables import Table


def output(json: bool, found: Any, *shown: Table | RenderableType) -> None:
    """Print `found` as JSON, or else the tables and lines in `shown`."""
    from charm.drawing.terminal import show

    if json:
        print(jsonlib.dumps(found, indent=2))
    else:
        show(*shown)
