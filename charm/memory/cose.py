"""CoSE: composed factors plus a private residual; the plain table it is compared with; the settings of both."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from charm.errors import CharmError
from charm.memory.composers import COMPOSERS, Composer
from charm.memory.factors import Factor, KeyedTable, RowTable, factor_parameters
from charm.memory.parts import Key, MemoryModule, dense_parameters, row_parameters

MOST = 2**16  # columns: a configuration from a file must not use up all memory


class CoSE(MemoryModule):
    """composed + gate * residual, with composed = composer(base, modifiers).

    The composed vector carries what related keys share, the residual what belongs to one instance alone. Without a
    residual this is pure composition. The gate reads the composed vector, per column, and starts at one half; without
    it the residual is added unchanged, so that zero rows leave the composed vector.
    """

    def __init__(
        self,
        base: Factor,
        modifiers: Sequence[Factor],
        composer: Composer,
        residual: RowTable | KeyedTable | None = None,
        gate: bool = False,
    ) -> None:
        super().__init__()
        self.width, count = base.width, len(modifiers)
        if not count:
            raise CharmError("CoSE needs at least one modifier")
        named = {f"modifier {number}": part for number, part in enumerate(modifiers)}
        for name, part in {**named, "composer": composer, "residual": residual}.items():
            if (width := getattr(part, "width", None)) not in (None, self.width):
                raise CharmError(f"CoSE: {name} must have the base's width {self.width}, got {width}")
        if composer.modifiers not in (None, count):
            raise CharmError(
                f"CoSE: the composer expects {composer.modifiers} modifiers, got {count}; "
                f"write {type(composer).__name__}({composer.width}, modifiers={count})"
            )
        if gate and residual is None:
            raise CharmError("CoSE: a gate needs a residual")
        self.base, self.modifiers = base, nn.ModuleList(modifiers)
        self.composer, self.residual = composer, residual
        self.gate = nn.Linear(self.width, self.width) if gate else None
        if self.gate is not None:
            nn.init.zeros_(self.gate.weight)
            nn.init.zeros_(self.gate.bias)

    def compose(self, key: Key) -> Tensor:
        """Compute the compositional branch alone, [B, D]."""
        base_BD = self.base(key)
        modifiers = [modifier(key) for modifier in self.modifiers]
        _check_batch(base_BD, *modifiers)
        return self.composer(base_BD, modifiers)

    def open(self, composed_BD: Tensor) -> Tensor:
        """Return the share of each column of the residual that passes, [B, D] in 0..1."""
        return torch.ones_like(composed_BD) if self.gate is None else self.gate(composed_BD).sigmoid()

    def forward(self, key: Key) -> Tensor:
        composed_BD = self.compose(key)
        if self.residual is None:
            return composed_BD
        residual_BD = self.residual(key, composed_BD)
        _check_batch(composed_BD, residual_BD)
        if self.gate is not None:
            residual_BD = self.open(composed_BD) * residual_BD
        return composed_BD + residual_BD


def _check_batch(*vectors: Tensor) -> None:
    """Refuse fields of different length: torch would silently broadcast a batch of one."""
    batches = sorted({len(vectors_BD) for vectors_BD in vectors})
    if len(batches) > 1:
        raise CharmError(f"the fields of a key have different batch sizes: {batches}")


class TableMemory(MemoryModule):
    """An independent row per instance and nothing else: the full or low-rank table of earlier systems."""

    def __init__(self, table: RowTable) -> None:
        super().__init__()
        self.width = table.width
        self.residual = table  # named as in CoSE, so that instance rows have one name in every memory

    def forward(self, key: Key) -> Tensor:
        return self.residual(key)


@dataclass(frozen=True)
class CoSEConfig:
    """The design of a task memory. Each kind of key adds its own fields."""

    key: str = ""
    """Name of the key schema."""
    design: Literal["cose", "table", "separate"] = "cose"
    """cose: composition with a residual; table: one row per instance; separate: one table per field, added."""
    rank: int = 32
    """Width of an instance row; at the model's width there is no projection; 0 with cose is composition only."""
    gate: bool = False
    """Let the composed vector decide how much of each residual column passes."""
    composer: str = "film"
    """How the modifiers act on the base vector; see charm.memory.COMPOSERS."""

    def __post_init__(self) -> None:
        if self.composer not in COMPOSERS:
            raise CharmError(f"memory composer must be one of {', '.join(COMPOSERS)}; got {self.composer!r}")
        if not 0 <= self.rank <= MOST:
            raise CharmError(f"memory rank must be from 0 to {MOST}, got {self.rank}")
        if self.design == "table" and self.rank < 1:
            raise CharmError("memory design 'table' needs rank >= 1, got 0")
        if self.design != "cose" and self.gate:
            raise CharmError(f"memory design {self.design!r} cannot have a gate")
        if self.gate and self.rank == 0:
            raise CharmError("a memory gate needs a residual, so rank must be >= 1; got 0")

    @property
    def idle(self) -> dict[str, str]:
        """Fields that have no effect given the values of others, each with the reason."""
        names: tuple[str, ...] = () if self.design == "separate" else ("color_pool",)
        if self.design != "cose":
            names += ("gate", "residual", "composer", "dihedral", "colors")
            names += ("rank",) if self.design == "separate" else ("key", "task_width")
        found = {name: f"memory.design is {self.design}" for name in names}
        if not self.has_rows:
            found |= dict.fromkeys(("gate", "residual"), "memory.rank is 0")
        return {name: reason for name, reason in found.items() if hasattr(self, name)}

    @property
    def has_rows(self) -> bool:
        """Whether there are rows of instances, which have their own optimizer."""
        return self.design != "cose" or self.rank > 0


class ParameterGroups(NamedTuple):
    """The parameters of a module with a memory inside, each in exactly one group."""

    shared: list[nn.Parameter]  # dense gradients, for any optimizer
    factors: list[nn.Parameter]  # factor tables with dense gradients, which may learn at their own rate
    rows: list[nn.Parameter]  # tables with sparse gradients, for a row optimizer


def grouped_parameters(module: nn.Module) -> ParameterGroups:
    """Group the parameters of a module by the kind of optimizer they need."""
    factors = factor_parameters(module)
    apart = {id(parameter) for parameter in factors}
    shared = [parameter for parameter in dense_parameters(module) if id(parameter) not in apart]
    return ParameterGroups(shared, factors, row_parameters(module))
