"""CAR's structured key: rule, horizon, symmetry; and the task memories over it.

Dimension letters: P puzzles (combinations of a rule and a horizon), R memory rows (puzzles under views), row 0 blank.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from charm.errors import CharmError
from charm.memory import COMPOSERS, CoSE, Factor, Lookup, RowTable, Sum, TableMemory
from charm.tasks.instances import Instances
from charm.tasks.view import DIHEDRALS, decode

if TYPE_CHECKING:
    from charm.model import MemoryConfig

Numbers = npt.NDArray[np.int64]


class Sizes(NamedTuple):
    """What a memory has to hold; rows include the blank one."""

    rules: int
    horizons: int
    combinations: int
    rows: int


def build_car_memory(config: MemoryConfig, width: int, sizes: Sizes) -> CoSE | TableMemory:
    """The memory module over the fields rule, horizon, combination, dihedral and row of a key."""
    rank = None if config.rank == width else config.rank
    # Row 0 reads as zero: it stands in for the rows of combinations that were never trained.
    if config.design == "table":
        return TableMemory(RowTable(sizes.rows, width, rank, reserved_row=True))
    base: Factor = Lookup("combination", sizes.combinations, width)
    if config.key == "rule+horizon":
        base = Sum(Lookup("rule", sizes.rules, width), Lookup("horizon", sizes.horizons, width))
    residual = RowTable(sizes.rows, width, rank, reserved_row=True) if config.rank else None
    return CoSE(
        base,
        [Lookup("dihedral", DIHEDRALS, width)],
        COMPOSERS[config.composer](width, 1),
        residual,
        config.gate,
    )


@dataclass(frozen=True, eq=False)
class Combinations:
    """Rule and horizon of every puzzle of an index of instances; those that are trained come first."""

    rule_P: Numbers  # place among the benchmark's rules
    horizon_P: Numbers  # place among the horizons that are asked for
    trained: int
    """How many of the puzzles are trained."""

    def sizes(self, instances: Instances) -> Sizes:
        """Only trained combinations have a vector and rows of their own."""
        puzzle_R, _ = instances.table()
        rows = int((puzzle_R < self.trained).sum())  # the blank row is puzzle -1
        return Sizes(int(self.rule_P.max()) + 1, int(self.horizon_P.max()) + 1, self.trained, rows)

    def columns(self, instances: Instances) -> dict[str, Numbers]:
        """The key of every memory row of the index."""
        puzzle_R, code_R = instances.table()
        if len(instances.puzzles) != len(self.rule_P):
            raise CharmError(f"{len(instances.puzzles)} puzzles do not match {len(self.rule_P)} combinations")
        if (np.diff(puzzle_R) < 0).any():
            raise CharmError("the rows of CAR's combinations must follow one another in order")
        own_R = np.maximum(puzzle_R, 0).astype(np.int64)
        return {
            "rule": self.rule_P[own_R],
            "horizon": self.horizon_P[own_R],
            "combination": own_R,
            "dihedral": decode(code_R)[0].astype(np.int64),
            "row": np.arange(len(own_R)) * (own_R < self.trained),
        }

    def save(self, path: Path) -> None:
        data = {"rule": self.rule_P.tolist(), "horizon": self.horizon_P.tolist(), "trained": self.trained}
        path.write_text(json.dumps(data) + "\n")

    @staticmethod
    def load(path: Path) -> Combinations:
        try:
            data: Any = json.loads(path.read_text())
            rule, horizon = (np.array(data[name], np.int64) for name in ("rule", "horizon"))
            return Combinations(rule, horizon, int(data["trained"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CharmError(f"{path}: not a readable list of combinations ({error})") from error
