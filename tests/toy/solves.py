"""`charm solve` on toy tasks with a toy model, for every test of a solve."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from charm.commands.solve import solve

SMALL: dict[str, Any] = {"steps": 2, "views": 4, "batch": 4, "device": "cpu"}


@dataclass(frozen=True)
class ToySolve:
    """A toy run, a folder of four tasks that it has never seen, and the submission that the command writes."""

    base: Path
    unseen: Path
    folder: Path

    @property
    def out(self) -> Path:
        return self.folder / "out.json"

    def solve(self, *paths: Path, **changes: Any) -> None:
        """Run the command on these files, or on all four tasks."""
        solve(paths or (self.unseen,), **{"checkpoint": self.base, "out": self.out, **SMALL, **changes})
