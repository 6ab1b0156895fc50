"""What a command prints in the end: JSON for a program, or tables and lines for a person."""

from __future__ import annotations

import json as jsonlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import RenderableType

    from charm.tables import Table


def output(json: bool, found: Any, *shown: Table | RenderableType) -> None:
    """Print what was found as JSON, or else what there is to look at."""
    from charm.drawing.terminal import show

    if json:
        print(jsonlib.dumps(found, indent=2))
    else:
        show(*shown)
