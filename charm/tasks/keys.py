"""Keys: what a memory row stands for.

An index of instances numbers rows; a key schema gives each row the fields that the memory composes. This module has the
schema itself and ARC's: puzzle, symmetry, recolouring. Dimension letters: R memory rows, C colours.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from charm.errors import CharmError
from charm.memory import COMPOSERS, Add, CoSE, KeyedTable, Lookup, RowTable, SlotPermutation, TableMemory
from charm.memory.cose import MOST, CoSEConfig
from charm.memory.factors import Factor
from charm.tasks.instances import Instances
from charm.tasks.view import DIHEDRALS, PERMUTATIONS, decode, turn

INDEX_FILE = "instances.npz"

# Where each corner of a square goes under each symmetry: the eight symmetries as permutations of four symbols.
CORNERS = np.stack([turn(np.arange(4, dtype=np.uint8).reshape(2, 2), d).ravel() for d in range(DIHEDRALS)])


@dataclass(frozen=True)
class Keys:
    """Puzzle and view of every memory row, decoded; lives on one device."""

    puzzle: Tensor  # int32 [R], -1 for the blank row
    dihedral: Tensor  # uint8 [R]
    colors: Tensor  # uint8 [R, C]

    @staticmethod
    def of(instances: Instances) -> Keys:
        """Decode the keys of all rows, once: a stream of tasks asks for them at every stage."""
        if instances.keys is None:
            puzzle, code = instances.table()
            instances.keys = Keys(*map(torch.from_numpy, (puzzle, *decode(code))))
        found: Keys = instances.keys
        return found

    def to(self, device: torch.device | str) -> Keys:
        return Keys(self.puzzle.to(device), self.dihedral.to(device), self.colors.to(device))


class KeySchema(ABC):
    """The meaning of the rows of an index of instances, and the memory over it.

    A subclass is registered under the `names` of its keys, one of which stands in the field `key` of its configuration:
    `class MyKey(KeySchema, names=("user-item",))`.
    """

    names: ClassVar[tuple[str, ...]]
    config_type: ClassVar[type[CoSEConfig]]  # the memory's configuration
    files: ClassVar[tuple[str, ...]] = (INDEX_FILE,)
    """Written by `save` and read by `load`, stored with the model's weights."""

    def __init_subclass__(cls, names: tuple[str, ...], **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.names = names
        _SCHEMAS.update(dict.fromkeys(names, cls))

    def __init__(self, instances: Instances) -> None:
        self.instances = instances

    @abstractmethod
    def columns(self, config: Any) -> dict[str, npt.NDArray[np.integer]]:
        """Return the fields of the key, one value (or one row of values) per memory row.

        A field "row" replaces the number of the memory row, for rows that share an entry of a table.
        """

    @abstractmethod
    def build(self, config: Any, width: int) -> CoSE | TableMemory:
        """Build the memory module, which reads the fields of `columns` and "row"."""

    def extend(self, memory: CoSE | TableMemory, instances: Instances) -> KeySchema:
        """Extend the memory by the puzzles and rows that `instances` adds; return the schema for them."""
        raise CharmError(f"a memory with key {self.names[0]!r} cannot take new puzzles")

    def save(self, folder: Path) -> None:
        self.instances.save(folder / INDEX_FILE)

    @classmethod
    def load(cls, folder: Path) -> KeySchema:
        return cls(Instances.load(folder / INDEX_FILE))


_SCHEMAS: dict[str, type[KeySchema]] = {}


def schema_named(name: str) -> type[KeySchema]:
    """Return the schema of a memory's `key`; the module that defines it must be imported first."""
    if not isinstance(name, str) or name not in _SCHEMAS:
        raise CharmError(f"memory key must be one of {', '.join(_SCHEMAS)}; got {name!r}")
    return _SCHEMAS[name]


@dataclass(frozen=True)
class MemoryConfig(CoSEConfig):
    """The design of ARC's task memory. Every row of the paper's memory tables is one setting of these fields."""

    retired: ClassVar[dict[str, Any]] = {"sparse_puzzles": False}  # for a row optimizer that no run used

    key: Literal["puzzle"] = "puzzle"
    """ARC's key: puzzle, symmetry, recolouring."""
    residual: Literal["rows", "keyed"] = "rows"
    """A row for each instance, or Engram-style rows found by hashing parts of the key."""
    dihedral: Literal["lookup", "slots"] = "lookup"
    """A vector for each symmetry, or slots permuted like the corners of a square."""
    colors: Literal["named", "free", "flagged"] = "named"
    """Whether the recolouring is part of the key, or only whether colours are the original ones (16 vectors of
    symmetries instead of 8). A rule that does not depend on colours needs neither."""
    task_width: int = 0
    """Stored width of a puzzle's vector, projected to the model's width; 0 stores the full width."""
    color_pool: int = 0
    """For separate tables: rows of the recolouring table; 0 means one for each of the 9! permutations."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.colors == "flagged" and (self.dihedral != "lookup" or self.design != "cose"):
            raise CharmError("memory colors 'flagged' needs design 'cose' and dihedral 'lookup'")
        for name, most in {"task_width": MOST, "color_pool": PERMUTATIONS}.items():
            if not 0 <= getattr(self, name) <= most:
                raise CharmError(f"memory {name} must be from 0 to {most}, got {getattr(self, name)}")


def build_memory(config: MemoryConfig, width: int, puzzles: int, rows: int) -> CoSE | TableMemory:
    """Build the memory over the fields puzzle, dihedral, flagged, corners, colors, recoloring and row of a key."""
    rank = None if config.rank == width else config.rank
    if config.design == "table":
        return TableMemory(RowTable(rows, width, rank))
    puzzle = Lookup("puzzle", puzzles, width, config.task_width or None)
    if config.design == "separate":
        recolorings = Lookup("recoloring", config.color_pool or PERMUTATIONS, width, sparse=True)
        return CoSE(puzzle, [Lookup("dihedral", DIHEDRALS, width), recolorings], Add())
    by_corners = config.dihedral == "slots"
    symmetry = SlotPermutation("corners", 4, width) if by_corners else Lookup("dihedral", DIHEDRALS, width)
    if config.colors == "flagged":
        symmetry = Lookup("flagged", 2 * DIHEDRALS, width)
    modifiers: list[Factor] = [symmetry]
    if config.colors == "named":
        modifiers.append(SlotPermutation("colors", 9, width))
    residual: RowTable | KeyedTable | None = None
    if config.rank and config.residual == "rows":
        residual = RowTable(rows, width, rank)
    elif config.rank:
        fields = {"puzzle": 1, "dihedral": 1, "colors": 9}
        keys = [("puzzle", "dihedral"), ("puzzle", "colors"), ("puzzle", "dihedral", "colors")]
        # Six tables of rank/6 columns, each about as long as the table of instance rows.
        residual = KeyedTable(rows, width, config.rank, fields, keys)
    composer = COMPOSERS[config.composer](width, len(modifiers))
    return CoSE(puzzle, modifiers, composer, residual, config.gate)


class ArcKey(KeySchema, names=("puzzle",)):
    """ARC's key: puzzle, symmetry, recolouring."""

    config_type = MemoryConfig

    def columns(self, config: MemoryConfig) -> dict[str, npt.NDArray[np.integer]]:
        keys = Keys.of(self.instances)
        dihedral = keys.dihedral.numpy()
        recoloring = (self.instances.table()[1] % PERMUTATIONS).astype(np.int64)
        flagged = (dihedral + DIHEDRALS * (recoloring == 0)).astype(np.uint8)
        if config.color_pool:
            # Pool entries are numbered in order of appearance, so that appended rows do not renumber any.
            values, first, inverse = np.unique(recoloring, return_index=True, return_inverse=True)
            if len(values) > config.color_pool:
                used = f"the instances use {len(values)} recolourings"
                raise CharmError(f"{used}, but the memory's pool has only {config.color_pool}")
            recoloring = np.argsort(np.argsort(first))[inverse]
        puzzle, colors = np.maximum(keys.puzzle.numpy(), 0), keys.colors.numpy()[:, 1:] - 1
        found = {"puzzle": puzzle, "dihedral": dihedral, "corners": CORNERS[dihedral], "colors": colors}
        found["recoloring"] = recoloring.astype(np.int32)
        return found | ({"flagged": flagged} if config.colors == "flagged" else {})

    def build(self, config: MemoryConfig, width: int) -> CoSE | TableMemory:
        return build_memory(config, width, len(self.instances.puzzles), len(self.instances))

    def extend(self, memory: CoSE | TableMemory, instances: Instances) -> ArcKey:
        """Extend the memory: new puzzles and rows start at zero; existing ones stay the same to the bit."""
        old, new = self.instances, instances
        if not new.starts_with(old):
            raise CharmError("the new instances must start with the ones the model was trained on")
        if isinstance(memory, CoSE) and isinstance(memory.base, Lookup):
            memory.base.grow(len(new.puzzles) - len(old.puzzles))
        if isinstance(memory.residual, RowTable):
            memory.residual.grow(len(new) - len(old))
        return ArcKey(new)
