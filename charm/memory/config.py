"""Settings that every memory over a structured key has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from charm.errors import CharmError
from charm.memory.composers import COMPOSERS

MOST = 2**16  # columns: a configuration from a file must not use up all memory


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
    def sparse_base(self) -> bool:
        """Whether the base factor's table has sparse gradients, for a row optimizer."""
        return False
