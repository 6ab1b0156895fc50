"""`charm solve` on toy tasks with a toy model, for every test of a solve."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from charm.commands.solve import solve
from charm.evaluation.calibration import Calibration, RightCount
from charm.solving.options import SolveOptions

SMALL: dict[str, Any] = {"steps": 2, "views": 4, "batch": 4, "device": "cpu"}
COUNTED = Calibration(
    *("", "auto", "all tasks of a test"),
    ahead=(RightCount(0.2, 10, 40), RightCount(0.6, 45, 50)),
    close=(RightCount(0.1, 3, 20),),
    second=(RightCount(0.05, 1, 60),),
)


def run_solve(tasks: tuple[Path, ...], **flags: Any) -> None:
    """Run the command with these flags."""
    named = {one.name for one in fields(SolveOptions)} - {"budget"}
    options = SolveOptions(**{name: flags.pop(name) for name in named & flags.keys()})
    if isinstance(flags.get("checkpoint"), Path):
        flags["checkpoint"] = (flags["checkpoint"],)
    solve(tasks, options=options, **flags)


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
        run_solve(paths or (self.unseen,), **{"checkpoint": self.base, "out": self.out, **SMALL, **changes})
