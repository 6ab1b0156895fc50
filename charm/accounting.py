"""Exact parameter counts of a model by component, and of the puzzles and rows of its data."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn

from charm.automata.keys import CarMemory, CarSizes, build_car_memory
from charm.automata.run import CarConfig, read_car_config
from charm.errors import CharmError
from charm.memory import CoSE, TableMemory
from charm.memory.inspect import reads
from charm.models.canvas.backbone import count_parameters
from charm.models.model import CharmModel, ModelConfig
from charm.runs.checkpoint import folder_of, steps_of
from charm.tables import Table, count_table, spread_text
from charm.tasks.dataset import DataConfig, load_dataset
from charm.tasks.keys import MemoryConfig, build_memory


class Size(NamedTuple):
    """Sizes of a task memory: P puzzles and M rows."""

    puzzles: int
    rows: int


class Accounting(NamedTuple):
    """The parameters of one model by component, and sums of components."""

    size: Size
    reasoner: int  # trained weights of the backbone
    initial_state: int  # never trained, but counted by the paper unless a table states otherwise
    backbone: int  # both
    puzzles: int  # the puzzles' own vectors
    modifiers: int  # vectors of symmetries and recolourings
    factors: int  # both
    composer: int
    up_projection: int  # from narrow rows to the model's width: instance rows and puzzle vectors alike
    gate: int  # of the residual; a keyed table has its own
    composition: int  # the memory without its table: what the paper calls compositional
    table: int  # instance rows, or the rows of a keyed table
    memory: int
    private: int  # of single puzzles: their vectors and their rows
    shared: int  # the memory's other weights
    total: int

    def lines(self) -> list[tuple[str, int]]:
        """List every component with its count; totals follow their parts."""
        return [(words, count) for _, words, count in self._components()]

    def to_json(self) -> dict[str, int]:
        counts = {name: count for name, _, count in self._components()}
        return {"puzzles": self.size.puzzles, "rows": self.size.rows, "factors": self.factors, **counts}

    def _components(self) -> list[tuple[str, str, int]]:
        """Return the name in JSON, the name in words and the count of every component."""
        return [
            ("backbone_without_initial_state", "trained weights", self.reasoner),
            ("initial_state", "initial state (never trained)", self.initial_state),
            ("backbone", "backbone", self.backbone),
            ("puzzle_factor", "task vectors", self.puzzles),
            ("modifier_factors", "symmetry and recolouring vectors", self.modifiers),
            ("composer", "composer", self.composer),
            ("table", f"table of {self.size.rows:,} rows" if self.table else "table", self.table),
            ("up_projection", "up-projection", self.up_projection),
            ("gate", "gate", self.gate),
            ("memory", "task memory", self.memory),
            ("total", "everything", self.total),
        ]


@cache
def account(model_config: ModelConfig, puzzles: int, rows: int) -> Accounting:
    """Count the components of a model whose memory has this many puzzles and rows, including the blank row."""
    assert isinstance(model_config.memory, MemoryConfig)
    with torch.device("meta"):
        memory = build_memory(model_config.memory, model_config.reasoner.width, puzzles, rows)
        return _tally(model_config.reasoner.build(), memory, Size(puzzles, rows))


def account_car(model_config: ModelConfig, sizes: CarSizes) -> Accounting:
    assert isinstance(model_config.memory, CarMemory)
    with torch.device("meta"):
        memory = build_car_memory(model_config.memory, model_config.reasoner.width, sizes)
        return _tally(model_config.reasoner.build(), memory, Size(sizes.combinations, sizes.rows))


def account_car_run(run: Path) -> Accounting:
    config = read_car_config(run)
    return account_car(config.model, config.data.sizes)


def _tally(reasoner: nn.Module, memory: CoSE | TableMemory, size: Size) -> Accounting:
    parts: dict[str, Any] = dict.fromkeys(("puzzles", "modifiers", "composer", "table", "up_projection", "gate"), 0)
    for name, parameter in memory.named_parameters():
        parts[_component(name)] += parameter.numel()
    trained, backbone = count_parameters(reasoner, initial_state=False), count_parameters(reasoner)
    inside, private = sum(parts.values()), parts["puzzles"] + parts["table"]
    return Accounting(
        *(size, trained, backbone - trained, backbone),
        factors=parts["puzzles"] + parts["modifiers"],
        composition=inside - parts["table"],
        memory=inside,
        private=private,
        shared=inside - private,
        total=backbone + inside,
        **parts,
    )


def _component(name: str) -> str:
    """Find the component of a memory's parameter by its name in the module."""
    match name.split("."):
        case ["composer", *_]:
            return "composer"
        case [*_, "up", "weight"]:
            return "up_projection"
        case ["base", *_]:
            return "puzzles"
        case ["modifiers", *_]:
            return "modifiers"
        case ["gate", *_] | ["residual", "match", *_]:
            return "gate"
        case ["residual", *_]:
            return "table"
    raise ValueError(f"memory parameter {name} belongs to no component")


@cache
def drawn_size(config: DataConfig) -> Size:
    """Count the puzzles and rows of the views that we draw for this data."""
    if config.synthetic and config.synthetic_views == "shared":  # no extra rows: the draw is the same without pairs
        return drawn_size(replace(config, synthetic=()))
    instances = load_dataset(config).instances
    return Size(len(instances.puzzles), len(instances))


def count_components(
    name: str, about: Mapping[str, str | int], caption: str, found: Accounting
) -> tuple[dict[str, Any], Table]:
    """Return the parameters of a preset's model as values and as a table; `about` is more to say in the values."""
    table = count_table(name, found.lines(), ("backbone", "task memory", "everything"), caption)
    return {"preset": name, **about, **found.to_json()}, table


def count_car(name: str, config: CarConfig, data_rows: bool, data: Path | None) -> tuple[dict[str, Any], Table]:
    """Count every parameter of a preset on cellular automata; its rows follow from its settings."""
    sizes = config.data.sizes
    caption = (
        f"{sizes.rules:,} rules and {sizes.horizons} horizons, {sizes.combinations:,} combinations trained, "
        f"{sizes.rows:,} rows, the blank one included."
    )
    return count_components(name, sizes._asdict(), caption, account_car(config.model, sizes))


def gate_share(model: CharmModel, batch: int = 2**15) -> float:
    """Return the mean share of the residual that the gate lets through, over all instance rows and columns."""
    memory = model.memory
    if not isinstance(memory, CoSE) or memory.gate is None:
        raise CharmError("the model's memory has no gate; `--memory.gate` trains one")
    rows = torch.arange(1, len(model.instances), device=memory.gate.weight.device)  # row 0 is blank
    return reads(memory, map(model.key, rows.split(batch))).gate_share


def gate_shares(run: Path) -> tuple[dict[int, float], Table]:
    """Return the share that passes at every checkpoint of a run, by step, and a table with mean and deviation."""
    steps = steps_of(run)
    if not steps:
        raise CharmError(f"{run} has no checkpoint" if run.exists() else f"{run}: no such run folder")
    shares = {step: gate_share(CharmModel.from_pretrained(folder_of(run, step))) for step in steps}
    rows = [[f"step {step}", f"{share:.2%}"] for step, share in shares.items()]
    rows.append(["mean", f"{spread_text([100 * share for share in shares.values()])} %"])
    caption = "Share of the residual rows that the gate lets through, on average over rows and columns."
    return shares, Table(["checkpoint", "open"], rows, f"Gate of {run}", caption, totals=[len(rows) - 1])
