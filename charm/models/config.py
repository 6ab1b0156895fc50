"""What every network's configuration shares. Imports no torch, so that `--help` is quick.

A network is one folder here (or one file of yours): a configuration that names it and builds it, and the module.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args, get_origin, get_type_hints

from charm.errors import CharmError

if TYPE_CHECKING:
    from charm.models.network import Network

MOST = 2**16  # of any size: a configuration from a file must not use up all memory


@dataclass(frozen=True)
class SolvingTraits:
    """How a network solves unseen tasks, as far as networks differ."""

    together: bool = False  # whether a group of tasks is learned in one copy of the weights, or each in separate rows
    mode: Literal["memory", "full"] = "memory"  # what learns by default (`charm.solving.options.Mode`)
    steps: int | None = 1000  # updates of a group at most; None for as many as the time allows
    early: tuple[float, ...] = (0.0,)
    """Shares of the learning time after which a few views vote, in case that the command is killed: 0 before it begins,
    the others where there is much time and votes cost little."""
    early_views: int = 8  # how many do on an accelerator
    asked_at_once: int = 0  # answers that an accelerator makes at once at least
    long_seconds: float = math.inf  # seconds from which compiling is worth its time
    filled: int = 0
    """Answers of a network that is compiled ahead, for the shapes of its updates and for votes in batches of this size;
    0 compiles with the first update."""
    # Fields of `DataConfig` for a saved model that does not say how its views were drawn, and of
    # `charm.training.adaptation.Recipe` that the network was published with.
    data: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class NetworkConfig:
    """The shape of a network: what all kinds have."""

    kind: str = ""
    """Name of the network in the registry (`charm.models.networks`)."""
    width: int = 512
    """Width D of the hidden state and of the task embedding."""
    heads: int = 8
    """Attention heads; the width of one is width / heads."""
    layers: int = 4
    """U: distinct layers in a block."""
    recurrences: int = 1
    """R: times that the layers are applied."""
    expansion: float = 4.0
    """Feed-forward expansion e: the inner width is 2/3 * e * width, rounded up to a multiple."""
    inner_multiple: int = 256
    """Feed-forward widths are rounded up to a multiple of this; the family's value is too coarse for tiny models."""
    rope_base: float = 10000.0
    """Base of the rotary wavelengths."""
    compute_dtype: Literal["bfloat16", "float32"] = "bfloat16"
    """Type of activations and matrix products; the weights themselves are always float32."""

    unused: ClassVar[frozenset[str]] = frozenset()
    """Fields of a run that this network does not read, by dotted name: they keep their defaults and are no flags."""
    described: ClassVar[str] = "a network"  # what the network is, in the words of a model card; the card adds the kind
    canvas: ClassVar[str] = ""  # the only `data.canvas` that this network takes; "" for any
    judges: ClassVar[bool] = False  # whether it can say how likely a candidate is, so that likelihoods rank the votes
    starts_from_mean: ClassVar[bool] = False  # whether a new task's vector starts as the mean of the known, not at 0
    fixed_depths: ClassVar[bool] = True  # whether votes can be taken at `voting_steps` alone
    sure: ClassVar[str] = "likelihood"  # what its confidence in an answer is: a key of `evaluation.protocols.SURE`
    solving: ClassVar[SolvingTraits] = SolvingTraits()  # how the network solves unseen tasks
    limits: ClassVar[Mapping[str, tuple[float, float]]] = {"layers": (1, 1024)}
    """The least and the most of fields; other integers are from 1 to `MOST`."""

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for name, value in vars(self).items():
            hint, (least, most) = hints[name], self.limits.get(name, (1, MOST))
            if get_origin(hint) is Literal and value not in get_args(hint):
                raise CharmError(f"reasoner {name} must be one of {', '.join(get_args(hint))}; got {value!r}")
            if hint is int and not (isinstance(value, int) and value >= least):
                raise CharmError(f"reasoner {name} must be an integer >= {least}, got {value!r}")
            if (hint is int or name in self.limits) and not least <= value <= most:
                raise CharmError(f"reasoner {name} must be from {least} to {most}, got {value}")
        if self.width % self.heads != 0:
            raise CharmError(f"reasoner width must be divisible by its {self.heads} heads, got {self.width}")
        if self.head_width % self.rotated != 0:
            needed = f"not divisible by {self.rotated}, as its rotary positions need"
            raise CharmError(f"reasoner head width {self.head_width} (width / heads) is {needed}")
        if not 0 < self.expansion <= MOST:
            raise CharmError(f"reasoner expansion must be positive and <= {MOST}, got {self.expansion}")
        if not 1 < self.rope_base < math.inf:
            raise CharmError(f"reasoner rope_base must be > 1, got {self.rope_base}")

    @staticmethod
    def choose(data: Any, where: str) -> tuple[type[NetworkConfig], Any]:
        """Return the class that JSON values belong to, by their `kind`, and the values that it still has."""
        from charm.models.networks import NETWORKS

        kind = data.get("kind", "urm") if isinstance(data, dict) else None
        if not isinstance(kind, str) or kind not in NETWORKS:
            raise CharmError(f"{where}: kind must be one of {', '.join(NETWORKS)}; got {kind!r}")
        own = {one.name for one in fields(NETWORKS[kind])}
        return NETWORKS[kind], {k: v for k, v in data.items() if k in own or k not in EARLIER}

    def build(self, seed: int = 0) -> Network:
        """Build the network; `seed` decides its initial weights."""
        raise NotImplementedError

    def flops(self, *shape: Any) -> tuple[int, int]:
        """Count the operations for examples of this shape: without gradients, and in training.

        Matrix products and attention count, the backward pass twice the forward one, nothing that is computed again.
        """
        raise NotImplementedError

    @property
    def idle(self) -> dict[str, str]:
        """Fields that have no effect, given the values of others; each with the reason."""
        return {}

    @property
    def rotated(self) -> int:
        """Columns of a head that rotary positions take together: a pair turns by one angle."""
        return 2

    @property
    def depth(self) -> int:
        """Maximum number of refinement steps per example in training."""
        return 1

    @property
    def voting_steps(self) -> tuple[int, ...]:
        """The depths at which the network votes if nothing else is asked for."""
        return (1,)

    @property
    def head_width(self) -> int:
        return self.width // self.heads

    @property
    def inner_width(self) -> int:
        """Width inside the feed-forward part: 1536 for width 512 and expansion 4."""
        multiples = math.ceil(round(2 / 3 * self.expansion * self.width) / self.inner_multiple)
        return self.inner_multiple * max(1, multiples)


# Fields of the one record that all kinds shared before each had its own; files written then still have them.
EARLIER = {"horizon", "horizon_layers", "inner", "prefix", "ffn", "reads", "rope", "dropout", "placements"}
EARLIER |= {"halt_outputs", "vocab", "refinement_steps", "exploration", "kernels"}
