"""CHARM's model: a reasoner conditioned on the task memory of a structured key.

ARC's key is (puzzle, symmetry, recolouring); that of cellular automata is in `charm.automata`.

Dimension letters: B examples, T cells, D width.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from charm.automata.keys import Combinations, build_car_memory
from charm.config import from_json, to_json
from charm.errors import CharmError
from charm.files import check_files, fingerprint, read_sealed, write_sealed
from charm.memory import COMPOSERS, Add, CoSE, KeyedTable, Lookup, RowTable, SlotPermutation, TableMemory
from charm.memory.factors import Factor
from charm.reasoner.backbone import Reasoner
from charm.reasoner.config import ReasonerConfig
from charm.tasks.instances import Instances
from charm.tasks.view import DIHEDRALS, PERMUTATIONS, decode, turn

RECORD = "checkpoint.json"  # in the folder of a saved model: size and hash of its files

# Where each corner of a square goes under each symmetry: the eight symmetries as permutations of four symbols.
CORNERS = np.stack([turn(np.arange(4, dtype=np.uint8).reshape(2, 2), d).ravel() for d in range(DIHEDRALS)])


@dataclass(frozen=True)
class MemoryConfig:
    """The design of the task memory. Every row of the paper's memory tables is some value of these fields."""

    key: Literal["puzzle", "rule-horizon", "rule+horizon"] = "puzzle"
    """ARC's key; or that of cellular automata, with rule and horizon as one factor or as two."""
    design: Literal["cose", "table", "separate"] = "cose"
    """Composition with a residual; one row for each instance; or three separate tables, added."""
    rank: int = 32
    """Width of an instance row; the model's width needs no projection; 0 with cose is composition only."""
    gate: bool = False
    """Let the composed vector decide how much of each residual column passes."""
    residual: Literal["rows", "keyed"] = "rows"
    """A row for each instance, or Engram-style rows found by hashing parts of the key."""
    composer: str = "film"
    """How the symmetry and the recolouring act on the puzzle's vector; see charm.memory.COMPOSERS."""
    dihedral: Literal["lookup", "slots"] = "lookup"
    """A vector for each symmetry, or slots permuted like the corners of a square."""
    task_width: int = 0
    """Stored width of a puzzle's vector, projected to the model's width; 0 stores the full width."""
    color_pool: int = 0
    """For separate tables: rows of the recolouring table; 0 is one for each of the 9! permutations."""
    sparse_puzzles: bool = False
    """Give the puzzle table sparse gradients, for a row optimizer."""

    def __post_init__(self) -> None:
        if self.composer not in COMPOSERS:
            raise CharmError(f"memory composer {self.composer!r} is none of {', '.join(COMPOSERS)}")
        if self.design == "table" and self.rank < 1:
            raise CharmError("a memory that is only a table needs a rank of at least 1")
        if self.design != "cose" and self.gate:
            raise CharmError(f"the memory design {self.design!r} has no gate")
        if self.gate and self.rank == 0:
            raise CharmError("a gate needs a residual: the memory's rank is 0")
        if self.key != "puzzle":
            plain = MemoryConfig()
            for name in ("residual", "dihedral", "task_width", "color_pool", "sparse_puzzles"):
                if getattr(self, name) != getattr(plain, name):
                    raise CharmError(f"memory {name} is for ARC's key, not for {self.key!r}")
            if self.design == "separate":
                raise CharmError("the memory design 'separate' is for ARC's key")


@dataclass(frozen=True)
class ModelConfig:
    reasoner: ReasonerConfig = field(default_factory=ReasonerConfig)
    memory: MemoryConfig = field(default_factory=MemoryConfig)


def build_memory(config: MemoryConfig, width: int, puzzles: int, rows: int) -> CoSE | TableMemory:
    """The memory module over the fields puzzle, dihedral, corners, colors, recoloring and row of a key."""
    rank = None if config.rank == width else config.rank
    if config.design == "table":
        return TableMemory(RowTable(rows, width, rank))
    puzzle = Lookup("puzzle", puzzles, width, config.task_width or None, config.sparse_puzzles)
    if config.design == "separate":
        recolorings = Lookup("recoloring", config.color_pool or PERMUTATIONS, width, sparse=True)
        return CoSE(puzzle, [Lookup("dihedral", DIHEDRALS, width), recolorings], Add())
    symmetry: Factor = Lookup("dihedral", DIHEDRALS, width)
    if config.dihedral == "slots":
        symmetry = SlotPermutation("corners", 4, width)
    modifiers = [symmetry, SlotPermutation("colors", 9, width)]
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


def arc_columns(instances: Instances, color_pool: int = 0) -> dict[str, np.ndarray]:
    """The fields of every memory row's key, beside the row itself."""
    puzzle, code = instances.table()
    dihedral, colors = decode(code)
    recoloring = (code % PERMUTATIONS).astype(np.int64)
    if color_pool:
        # Pool entries are numbered as they appear, so that appended rows renumber nothing.
        values, first, inverse = np.unique(recoloring, return_index=True, return_inverse=True)
        if len(values) > color_pool:
            raise CharmError(
                f"the instances use {len(values)} recolourings, the memory's pool holds {color_pool}"
            )
        recoloring = np.argsort(np.argsort(first))[inverse]
    return {
        "puzzle": np.maximum(puzzle, 0),
        "dihedral": dihedral,
        "corners": CORNERS[dihedral],
        "colors": colors[:, 1:] - 1,
        "recoloring": recoloring.astype(np.int32),
    }


class CharmModel(nn.Module):
    """Reasoner and task memory, bound to the instances whose rows the memory holds."""

    def __init__(
        self,
        config: ModelConfig,
        instances: Instances,
        seed: int = 0,
        combinations: Combinations | None = None,
    ) -> None:
        """`combinations` tells rule and horizon of every puzzle, where the memory's key is made of them."""
        super().__init__()
        if (config.memory.key == "puzzle") != (combinations is None):
            raise CharmError(
                "a memory of rules and horizons, and no other, needs to know those of every puzzle"
            )
        self.config = config
        self.combinations = combinations
        self.reasoner = Reasoner(config.reasoner, seed)
        with torch.random.fork_rng(devices=[]):  # the memory's start depends on the seed alone
            torch.manual_seed(seed)
            width = config.reasoner.width
            if combinations is None:
                self.memory = build_memory(config.memory, width, len(instances.puzzles), len(instances))
            else:
                self.memory = build_car_memory(config.memory, width, combinations.sizes(instances))
        self._bind(instances)

    def _bind(self, instances: Instances) -> None:
        """Key components of every row, kept beside the weights on their device but never saved with them."""
        self.instances = instances
        device = self.reasoner.initial.device
        if self.combinations is not None:
            columns = self.combinations.columns(instances)
        else:
            columns = arc_columns(instances, self.config.memory.color_pool)
        self._fields = tuple(columns)
        for name, column in columns.items():
            self.register_buffer(f"key_{name}", torch.from_numpy(column).to(device), persistent=False)

    def key(self, row_B: Tensor) -> dict[str, Tensor]:
        """The structured key of memory rows."""
        return {"row": row_B} | {name: getattr(self, f"key_{name}")[row_B] for name in self._fields}

    def task(self, row_B: Tensor) -> Tensor:
        """Task embeddings [B, D] of memory rows."""
        return self.memory(self.key(row_B))

    def forward(
        self, state_SBLD: Tensor, tokens_BT: Tensor, row_B: Tensor, side: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        """One refinement step of the reasoner under the memory of these rows."""
        return self.reasoner(state_SBLD, tokens_BT, self.task(row_B), side)

    def grow(self, instances: Instances) -> None:
        """Make room for the puzzles and rows that `instances` has beyond the model's own; they start at zero.

        Nothing the model already holds changes, bit for bit.
        """
        if self.combinations is not None:
            raise CharmError("a model of cellular automata takes no new puzzles")
        old, new = self.instances, instances
        if new.puzzles[: len(old.puzzles)] != old.puzzles or not _extends(old, new):
            raise CharmError("the new instances do not begin with the ones the model was trained on")
        memory = self.memory
        if isinstance(memory, CoSE) and isinstance(memory.base, Lookup):
            memory.base.grow(len(new.puzzles) - len(old.puzzles))
        if isinstance(memory.residual, RowTable):
            memory.residual.grow(len(new) - len(old))
        self._bind(new)

    def save_pretrained(self, folder: Path) -> None:
        """model.safetensors, config.json and instances.npz, which binds rows to task ids and views.

        Where the key is of rules and horizons, combinations.json tells them for every puzzle.
        """
        folder.mkdir(parents=True, exist_ok=True)
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in self.state_dict().items()}
        save_file(tensors, folder / "model.safetensors")
        (folder / "config.json").write_text(json.dumps(to_json(self.config), indent=2) + "\n")
        self.instances.save(folder / "instances.npz")
        names = ["model.safetensors", "config.json", "instances.npz"]
        if self.combinations is not None:
            self.combinations.save(folder / "combinations.json")
            names.append("combinations.json")
        write_sealed(folder / RECORD, {"files": {name: fingerprint(folder / name) for name in names}})

    @staticmethod
    def from_pretrained(folder: Path, device: torch.device | str = "cpu") -> CharmModel:
        """A saved model, to answer with or to adapt. On a CPU it computes in float32, whatever it was trained in.

        Its files must match the hashes in checkpoint.json. A folder without that file, from an earlier version, loads
        unchecked.
        """
        _check_model(folder)
        try:
            data = json.loads((folder / "config.json").read_text())
            config = from_json(ModelConfig, data, str(folder / "config.json"))
            tensors = load_file(folder / "model.safetensors")
        except (OSError, ValueError) as error:
            raise CharmError(f"{folder}: not a saved model ({error})") from error
        except Exception as error:  # safetensors raises its own bare Exception subclass on damage
            if isinstance(error, CharmError):
                raise
            raise CharmError(f"{folder / 'model.safetensors'}: damaged ({error})") from error
        automata = config.memory.key != "puzzle"
        combinations = Combinations.load(folder / "combinations.json") if automata else None
        model = CharmModel(config, Instances.load(folder / "instances.npz"), combinations=combinations)
        try:
            model.load_state_dict(tensors)
        except RuntimeError as error:
            raise CharmError(f"{folder}: the weights do not fit the configuration ({error})") from error
        # Most CPUs have no units for bfloat16: products of matrices took five times as long in it.
        if torch.device(device).type == "cpu":
            model.reasoner.compute_dtype = torch.float32
        return model.to(device)


def _check_model(folder: Path) -> None:
    """Compare the files of a saved model with the hashes recorded when they were written."""
    if not (folder / RECORD).is_file():
        return
    record = read_sealed(folder / RECORD)
    listed = record.get("files") if isinstance(record, dict) else None
    if not isinstance(listed, dict):
        raise CharmError(f"{folder / RECORD}: not the record of a saved model, it lists no files")
    names = ["model.safetensors", "config.json", "instances.npz"]
    check_files(folder, listed, names + [name for name in listed if name == "combinations.json"])


def _extends(old: Instances, new: Instances) -> bool:
    return len(new) >= len(old) and all(
        np.array_equal(a, b[: len(a)]) for a, b in zip(old.table(), new.table(), strict=True)
    )
