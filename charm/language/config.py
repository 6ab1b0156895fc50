"""All settings of a language-model run as one typed record, which is also its command line."""

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from charm.config import at_least
from charm.errors import CharmError
from charm.runs.config import EngineConfig

Dtype = Literal["bfloat16", "float32"]
# Fields of a run that only a memory reads.
OF_MEMORY = (
    *("ngram.width", "ngram.heads", "ngram.layers", "shard_tables"),
    *("optimizer.memory_lr", "optimizer.memory_multiplier", "optimizer.memory_scope"),
)
NgramVariant = Literal["none", "engram", "cose", "mixture"]


@dataclass(frozen=True)
class GPTConfig:
    """The backbone."""

    depth: int = 12
    """Layers."""
    width: int = 0
    """Width of the model; 0 means 64 per layer, rounded up to a multiple of the head width."""
    head_width: int = 128
    """Width of an attention head."""
    vocab: int = 32_768
    """Vocabulary size of the prepared data."""
    length: int = 2048
    """Tokens per row."""
    short_window: int = 512
    """Attention window of three in four layers; the others, and the last, see the whole row."""
    compute_dtype: Dtype = "bfloat16"
    """Type of activations and matrix products."""
    table_dtype: Dtype = "bfloat16"
    """Type in which embeddings and n-gram tables are stored; all other weights are float32."""

    def __post_init__(self) -> None:
        at_least(1, self, "depth", "head_width", "vocab", "length", "short_window", where="gpt.")
        if self.width < 0 or self.model_width % self.head_width or self.head_width % 2:
            raise CharmError(
                f"gpt: width must be a multiple of an even head width; got {self.model_width} and {self.head_width}"
            )
        if self.model_width < 24:
            raise CharmError(f"gpt: width must be >= 24, which the smear gate reads; got {self.model_width}")

    @property
    def model_width(self) -> int:
        return self.width or -(-64 * self.depth // self.head_width) * self.head_width

    @property
    def heads(self) -> int:
        return self.model_width // self.head_width


@dataclass(frozen=True)
class NgramConfig:
    """The memory of hashed 2- and 3-grams."""

    variant: NgramVariant = "none"
    """none is the stock backbone; cose adds a composition of token embeddings; mixture routes between both."""
    rows: int = 163_840
    """Each table's rows are the next unused prime from here up. 0: no tables (composition only); 1: one row each."""
    width: int = 384
    """Width of the vector read for each n-gram order, over all heads."""
    heads: int = 8
    """Tables per order: the same hash modulo different primes."""
    layers: tuple[int, ...] = ()
    """Layers that read their own memory; none given: the second layer and the last of the first half."""

    def __post_init__(self) -> None:
        if self.rows < 0 or self.heads < 1 or self.width < 1 or self.width % self.heads:
            raise CharmError(
                f"ngram: rows must be >= 0 and heads must divide the width; got rows {self.rows}, "
                f"heads {self.heads} and width {self.width}"
            )
        if self.variant == "mixture" and not self.rows:
            raise CharmError("ngram: a mixture needs tables; rows must be >= 1, got 0")

    @property
    def active(self) -> bool:
        """Whether there is any memory: Engram without tables is the stock backbone."""
        return self.variant != "none" and (self.variant != "engram" or self.rows > 0)

    def layers_in(self, depth: int) -> tuple[int, ...]:
        """Return the layers that read the memory, lowest first."""
        if not self.active:
            return ()
        chosen = self.layers or tuple(sorted({min(1, depth - 1), max(depth // 2 - 1, 0)}))
        if sorted(set(chosen)) != list(chosen) or chosen[0] < 0 or chosen[-1] >= depth:
            raise CharmError(f"ngram.layers must be increasing numbers in 0..{depth - 1}, got {list(chosen)}")
        return chosen


@dataclass(frozen=True)
class LMOptimizerConfig:
    """Learning rates, before scaling by the square root of (batch / 2^19 tokens); nanochat's others are fixed."""

    matrix_lr: float = 0.02
    """Learning rate of block matrices (Muon); times sqrt(outputs / inputs) where that is above 1."""
    weight_decay: float = 0.28
    """Weight decay of block matrices where update and weight have the same sign; falls to zero as a cosine."""
    head_lr: float = 0.008
    """Learning rate of the output map at width 768."""
    memory_lr: float = 0.02
    """Learning rate of n-gram tables, convolution and router, before the multiplier."""
    memory_multiplier: float = 5.0
    """Multiplier of the memory's learning rates."""
    memory_scope: Literal["tables", "all"] = "tables"
    """What the multiplier applies to: the tables, or every parameter of the memory."""
    warmup: int = 40
    """Updates over which learning rates rise linearly from zero."""

    def __post_init__(self) -> None:
        numbers = [name for name, value in vars(self).items() if isinstance(value, int | float)]
        at_least(0, self, *numbers, where="optimizer.")


@dataclass(frozen=True)
class LMConfig(EngineConfig):
    """A run on text."""

    domain: ClassVar[str] = "lm"
    free: ClassVar[frozenset[str]] = EngineConfig.free | {"data", "device_rows", "shard_tables", "evaluate_tokens"}
    evaluates_ends: ClassVar[bool] = True

    gpt: GPTConfig = field(default_factory=GPTConfig)
    ngram: NgramConfig = field(default_factory=NgramConfig)
    optimizer: LMOptimizerConfig = field(default_factory=LMOptimizerConfig)
    _: KW_ONLY
    data: Path | None = None
    """Folder written by `charm lm prepare`; by default lm in CHARM_DATA or the user's cache folder."""
    tails: Literal["drop", "keep"] = "drop"
    """Whether the rest of a document that was cropped to fill a row is dropped, or packed as a separate document."""
    steps: int = 2270
    """Updates in all."""
    batch: int = 524_288
    """Tokens per update, over all processes."""
    device_rows: int = 32
    """Rows that a process computes at once; gradients of more rows are accumulated."""
    seed: int = 0
    """Seed for the initial weights only: the order of the data is fixed."""
    shard_tables: bool = False
    """Under torchrun, shard the rows of the n-gram tables over the processes instead of replicating them."""
    evaluate_every: int = 250
    """Updates between evaluations, which also run before the first update and after the last; 0: only at the end."""
    evaluate_tokens: int = 10_485_760
    """Tokens per evaluation, from the start of the validation shard."""
    keep_checkpoints: int = 1
    """Number of checkpoints to keep; 0 keeps all."""

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least(1, self, "batch", "device_rows")
        for name, tokens in (("batch", self.batch), ("evaluate_tokens", self.evaluate_tokens)):
            if tokens % self.gpt.length or tokens < self.gpt.length:
                raise CharmError(f"{name} must be a multiple of the row length {self.gpt.length}, got {tokens} tokens")
        self.ngram.layers_in(self.gpt.depth)

    @property
    def idle(self) -> dict[str, str]:
        """Fields that have no effect next to the values of others, by dotted name, each with the reason."""
        if self.ngram.variant == "none":
            return dict.fromkeys(("ngram.rows", *OF_MEMORY), "ngram.variant is none")
        if not self.ngram.active:
            return dict.fromkeys(OF_MEMORY, "ngram.rows is 0")
        if self.ngram.rows:
            return {}
        scaled = ("optimizer.memory_multiplier",) if self.optimizer.memory_scope == "tables" else ()
        return dict.fromkeys(("ngram.width", "ngram.heads", *scaled, "shard_tables"), "ngram.rows is 0")
