"""CAR's structured key: rule, horizon, symmetry; and the task memories over it.

Dimension letters: P puzzles (combinations of a rule and a horizon), R memory rows (puzzles under views), row 0 blank.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from charm.errors import ODD_VALUES, CharmError, charm_errors
from charm.files import read_json
from charm.memory import COMPOSERS, CoSE, Factor, Lookup, RowTable, Sum, TableMemory
from charm.memory.cose import CoSEConfig
from charm.tasks.instances import Instances
from charm.tasks.keyed import Numbers
from charm.tasks.keys import INDEX_FILE, Keys, KeySchema
from charm.tasks.view import DIHEDRALS


@dataclass(frozen=True)
class CarMemory(CoSEConfig):
    """The design of a task memory for cellular automata."""

    key: Literal["rule-horizon", "rule+horizon"] = "rule+horizon"
    """Rule and horizon as one factor, or as two."""
    design: Literal["cose", "table"] = "cose"
    """cose: composition with a residual; table: one row per instance."""

    @property
    def transfers(self) -> bool:
        """Whether the memory can be read for combinations that were never trained."""
        # As one factor they have no vector. A table gives the blank row: what a model can do without knowing the rule.
        return self.design == "table" or self.key == "rule+horizon"


class CarSizes(NamedTuple):
    """Sizes of a memory; rows include the blank one."""

    rules: int
    horizons: int
    combinations: int
    rows: int


def build_car_memory(config: CarMemory, width: int, sizes: CarSizes) -> CoSE | TableMemory:
    """Make the memory module over the fields rule, horizon, combination, dihedral and row of a key."""
    # Row 0 reads as zero: it stands in for the rows of combinations that were never trained.
    if config.design == "table":
        return TableMemory(RowTable(sizes.rows, width, config.rank, reserved_row=True))
    base: Factor = Lookup("combination", sizes.combinations, width)
    if config.key == "rule+horizon":
        base = Sum(Lookup("rule", sizes.rules, width), Lookup("horizon", sizes.horizons, width))
    residual = RowTable(sizes.rows, width, config.rank, reserved_row=True) if config.rank else None
    composer = COMPOSERS[config.composer](width, 1)
    return CoSE(base, [Lookup("dihedral", DIHEDRALS, width)], composer, residual, config.gate)


class CarKey(KeySchema, names=("rule-horizon", "rule+horizon")):
    """Rule and horizon of every puzzle in an index of instances; trained ones come first."""

    config_type = CarMemory
    files = (INDEX_FILE, "combinations.json")

    def __init__(self, instances: Instances, rule_P: Numbers, horizon_P: Numbers, trained: int) -> None:
        """Take indices of rules and horizons for each puzzle; the first `trained` puzzles are trained."""
        super().__init__(instances)
        self.rule_P, self.horizon_P, self.trained = rule_P, horizon_P, trained

    def sizes(self) -> CarSizes:
        """Return the sizes of a memory; only trained combinations have their own vector and rows."""
        rows = int((Keys.of(self.instances).puzzle < self.trained).sum())  # the blank row is puzzle -1
        return CarSizes(int(self.rule_P.max()) + 1, int(self.horizon_P.max()) + 1, self.trained, rows)

    def columns(self, config: CarMemory) -> dict[str, npt.NDArray[np.integer]]:
        keys = Keys.of(self.instances)
        puzzle_R = keys.puzzle.numpy()
        if (count := len(self.instances.puzzles)) != len(self.rule_P):
            raise CharmError(f"expected {len(self.rule_P)} puzzles, one per combination; got {count}")
        if (np.diff(puzzle_R) < 0).any():
            raise CharmError("the rows of CAR's combinations must be consecutive and in order")
        own_R = np.maximum(puzzle_R, 0).astype(np.int64)
        return {
            "rule": self.rule_P[own_R],
            "horizon": self.horizon_P[own_R],
            "combination": own_R,
            "dihedral": keys.dihedral.numpy().astype(np.int64),
            "row": np.arange(len(own_R)) * (own_R < self.trained),
        }

    def build(self, config: CarMemory, width: int) -> CoSE | TableMemory:
        return build_car_memory(config, width, self.sizes())

    def save(self, folder: Path) -> None:
        super().save(folder)
        data = {"rule": self.rule_P.tolist(), "horizon": self.horizon_P.tolist(), "trained": self.trained}
        (folder / "combinations.json").write_text(json.dumps(data) + "\n")

    @classmethod
    def load(cls, folder: Path) -> CarKey:
        path = folder / "combinations.json"
        with charm_errors(f"{path}: not a readable list of combinations", CharmError, *ODD_VALUES):
            data: Any = read_json(path)
            rule, horizon = (np.array(data[name], np.int64) for name in ("rule", "horizon"))
            trained = int(data["trained"])
            if not rule.ndim == horizon.ndim == 1 or len(rule) != len(horizon):
                raise ValueError("rules and horizons must be two lists of equal length")
            if not 0 < trained <= len(rule) or not all(0 <= n < 2**31 for n in (*rule, *horizon)):
                raise ValueError("a number is out of range")
        return cls(Instances.load(folder / INDEX_FILE), rule, horizon, trained)
