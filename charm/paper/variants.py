"""The runs of the paper as data: what each trains at full size, and the smaller settings that stand in for it.

A variant is a preset and the exact fields that differ. Groups of variants share their sizes:

    smoke   seconds: shows that everything runs, and measures nothing
    cpu     minutes for each run on two CPU cores
    small   minutes for each run on one GPU
    full    the paper's own

A smaller size keeps what a variant is about (its memory, its data, its optimizer) and shrinks everything else. To add a
row of a table, add its variant here and its line in `charm.paper.tables`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Literal

from charm.arc.presets import quickstart, speedrun, speedrun_public
from charm.config import to_json
from charm.domains import Domain, domain_of_preset
from charm.errors import CharmError
from charm.reasoner.config import trm
from charm.tasks.keys import MemoryConfig
from charm.training.config import TrainConfig

SizeName = Literal["smoke", "cpu", "small", "full"]
SIZE_NAMES: tuple[SizeName, ...] = ("smoke", "cpu", "small", "full")


@dataclass(frozen=True)
class Setting:
    """A setting that a group of variants can be run at."""

    preset: str
    """What command lines start from; "" is the variant's own preset."""
    make: Callable[[Any], Any]
    """The variant's full configuration -> its configuration at this size."""
    evaluations: Mapping[str, Mapping[str, Any]]
    """Start of a score's name -> options of `charm eval`."""
    minutes: float | None
    """Of one run alone, on one H200 or, for `cpu` and `smoke`, on two cores; None is estimated from its updates."""
    about: str
    """The setting in words."""
    together: int = 1
    """Runs that share a GPU of 80 GB."""
    home: str = ""
    """Where results lie; groups with the same home share runs of the same name. "" is the group's own name."""


@dataclass(frozen=True)
class Variant:
    """A run of the paper, but for its seed."""

    group: str
    name: str
    preset: str
    """At full size."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """What differs from the preset, by dotted name, such as "memory.rank"."""

    @property
    def key(self) -> str:
        return f"{self.group}.{self.name}"

    @property
    def domain(self) -> Domain:
        return domain_of_preset(self.preset)

    def full(self) -> Any:
        """The paper's configuration."""
        return with_fields(self.domain.configuration(self.preset), self.fields)

    def at(self, size: SizeName, seed: int = 0) -> Any:
        """The configuration at a size."""
        return replace(self.size(size).make(self.full()), seed=seed)

    def size(self, name: SizeName) -> Setting:
        return GROUPS[self.group][name]

    def home(self, size: SizeName) -> str:
        """The name under which results are stored."""
        return f"{self.size(size).home or self.group}.{self.name}"

    def flags(self, size: SizeName, seed: int) -> tuple[str, list[str]]:
        """The preset and the flags of the `charm train` command that starts this run."""
        preset = self.size(size).preset or self.preset
        return preset, flags_between(domain_of_preset(preset).configuration(preset), self.at(size, seed))


def with_fields(config: Any, changes: Mapping[str, Any]) -> Any:
    """A configuration with the fields of these dotted names changed, all at once."""
    mine: dict[str, Any] = {}
    parts: dict[str, dict[str, Any]] = {}
    for name, value in changes.items():
        head, _, rest = name.partition(".")
        if head not in {one.name for one in fields(config)}:
            raise CharmError(f"{type(config).__name__} has no field {head!r}")
        if rest:
            parts.setdefault(head, {})[rest] = value
        else:
            mine[head] = value
    mine |= {head: with_fields(getattr(config, head), some) for head, some in parts.items()}
    return replace(config, **mine)


def flags_between(base: Any, wanted: Any, start: str = "") -> list[str]:
    """The flags of `charm train` that turn the first configuration into the second."""
    flags: list[str] = []
    for one in fields(base):
        before, after = getattr(base, one.name), getattr(wanted, one.name)
        name = f"{start}{one.name}"
        if before == after:
            continue
        if is_dataclass(before) and type(before) is type(after):
            flags += flags_between(before, after, f"{name}.")
        elif isinstance(after, bool):
            head, _, last = name.rpartition(".")
            flag = last if after else f"no-{last}"
            flags.append(f"--{head}.{flag}".replace("--.", "--").replace("_", "-"))
        else:
            values = after if isinstance(after, tuple) else (after,)
            flags += [f"--{name}".replace("_", "-"), *map(str, to_json(values))]
    return flags


def narrowed(memory: MemoryConfig, width: int, scale: float) -> MemoryConfig:
    """A memory for a narrower model: full-width rows stay so, ranks and task widths are scaled."""
    rank = width if memory.rank == FULL_WIDTH else int(memory.rank * scale)
    return replace(memory, rank=rank, task_width=int(memory.task_width * scale))


FULL_WIDTH = 512
SMALL_WIDTH = speedrun().reasoner.width
CPU_WIDTH = quickstart().reasoner.width


# ARC-AGI-1's training split: demonstrations are learned, the test inputs of the same tasks are asked.


def train_small(full: TrainConfig) -> TrainConfig:
    """The speedrun's model for 1,600 updates. A row is read about 48 times; in the paper's runs about 330 times."""
    base = speedrun()
    return replace(
        base,
        data=replace(base.data, views=64, color_pool=full.data.color_pool),
        reasoner=replace(base.reasoner, layers=base.reasoner.layers * full.reasoner.layers // trm().layers),
        memory=narrowed(full.memory, SMALL_WIDTH, 0.5),
        optimizer=replace(base.optimizer, ema=0.99),
        steps=1600,
        checkpoint_every=400,
        evaluate_views=64,
    )


def plain_small(full: TrainConfig) -> TrainConfig:
    """As `train_small`, which has too little time for the public evaluation tasks; symmetries are slots there."""
    return train_small(_on_training_split(full))


def train_cpu(full: TrainConfig) -> TrainConfig:
    """The quickstart's model and tasks."""
    base = quickstart()
    data = replace(base.data, color_pool=full.data.color_pool)
    layers = base.reasoner.layers * full.reasoner.layers // trm().layers
    return replace(
        base,
        data=data,
        reasoner=replace(base.reasoner, layers=layers),
        memory=narrowed(full.memory, CPU_WIDTH, 0.25),
    )


def plain_cpu(full: TrainConfig) -> TrainConfig:
    return train_cpu(_on_training_split(full))


def _on_training_split(full: TrainConfig) -> TrainConfig:
    return replace(full, reasoner=trm(), memory=replace(full.memory, dihedral="slots"))


def smoke(config: TrainConfig) -> TrainConfig:
    """Two updates of a run on ARC's tasks."""
    return replace(
        config,
        data=replace(config.data, tasks=SMOKE_TASKS, views=2),
        steps=2,
        batch=4,
        checkpoint_every=1,
        log_every=1,
        evaluate_views=2,
        device="cpu",
    )


SMOKE_TASKS = ("25ff71a9", "3c9b0459")


# ARC-AGI-1's public evaluation tasks, with Re-ARC.


def public_small(full: TrainConfig) -> TrainConfig:
    """The public speedrun for 5,000 updates; views of Re-ARC's pairs and repeats in the paper's proportions."""
    base = speedrun_public()
    return replace(
        base,
        data=replace(
            base.data,
            synthetic=full.data.synthetic,
            synthetic_view_count=max(1, round(0.16 * full.data.synthetic_view_count)),
            evaluate_repeats=9 * full.data.evaluate_repeats,
        ),
        memory=narrowed(full.memory, SMALL_WIDTH, 0.5),
        optimizer=replace(base.optimizer, dense=full.optimizer.dense),
        steps=5000,
        checkpoint_every=1000,
    )


STANDARD: Mapping[str, Mapping[str, Any]] = {"": {"protocol": "standard"}}
AT_THE_END = {"protocol": "continual", "views": 64, "loops": (4,)}
SMOKE_TRAIN = Setting(
    "quickstart",
    lambda full: smoke(train_cpu(full)),
    {"": {"protocol": "continual", "views": 2, "loops": (2,)}},
    0.1,
    "two updates of four examples",
)
TRAIN_SIZES: dict[SizeName, Setting] = {
    "smoke": SMOKE_TRAIN,
    "cpu": Setting(
        "quickstart",
        train_cpu,
        {"": {"protocol": "continual", "views": 16, "loops": (2,)}},
        3.0,
        "the quickstart: 18 training tasks of ARC-AGI-1, width 64, 1,125 updates of 64",
    ),
    "small": Setting(
        "speedrun",
        train_small,
        {"": AT_THE_END},
        1.1,
        "the speedrun's model (width 256, 2 layers x 4 recurrences, 4 refinement steps) on ARC-AGI-1's 400 training "
        "tasks under 64 views each: 1,600 updates of 768, and all 64 views vote",
        together=4,
    ),
    "full": Setting("", lambda full: full, STANDARD, None, "the paper's"),
}
GROUPS: dict[str, dict[SizeName, Setting]] = {
    "train": TRAIN_SIZES,
    "plain": {
        "smoke": replace(SMOKE_TRAIN, make=lambda full: smoke(plain_cpu(full)), home="train"),
        "cpu": replace(TRAIN_SIZES["cpu"], make=plain_cpu, home="train"),
        "small": replace(TRAIN_SIZES["small"], make=plain_small, home="train"),
        "full": TRAIN_SIZES["full"],
    },
}


def _variants(
    group: str, preset: str, common: Mapping[str, Any], some: Mapping[str, Mapping[str, Any]]
) -> list[Variant]:
    return [Variant(group, name, preset, {**common, **changes}) for name, changes in some.items()]


UNGATED: Mapping[str, Any] = {"memory.gate": False}  # both presets gate their residual
GATED: Mapping[str, Any] = {"memory.gate": True}
FULL_TABLE: Mapping[str, Any] = {"memory.design": "table", "memory.rank": 512}
SEPARATE: Mapping[str, Any] = {"memory.design": "separate"}
COMPOSITION: Mapping[str, Any] = {"memory.rank": 0}
LOOKUP: Mapping[str, Any] = {"memory.rank": 0, "memory.dihedral": "lookup"}
POOLED: Mapping[str, Any] = {"data.color_pool": 1000}
# Of tab:compo-ablations.
COMPOSERS = ("film", "hypernetwork", "film-deep", "film-add", "experts", "film-wide", "add", "film-heads")


def low_rank(rank: int) -> Mapping[str, Any]:
    return {"memory.design": "table", "memory.rank": rank}


VARIANTS: dict[str, Variant] = {
    one.key: one
    for one in (
        # TRM's backbone on the training split, 170k updates.
        *_variants(
            "train",
            "arc1-train",
            UNGATED,
            {
                "table": FULL_TABLE,
                "table-pooled": {**FULL_TABLE, **POOLED},
                "separate": SEPARATE,
                "separate-pooled": {**SEPARATE, **POOLED, "memory.color_pool": 1000},
                **{f"table-r{rank}": low_rank(rank) for rank in (128, 64, 32, 8)},
                "composition": COMPOSITION,
                **{name: {**LOOKUP, "memory.composer": name} for name in COMPOSERS},
                "film-larger": {**LOOKUP, "reasoner.layers": 4},
                "cose": {},
                "cose-gated": GATED,
                "cose-engram": {"memory.residual": "keyed"},
            },
        ),
        # The paper's system without Re-ARC, 600k updates.
        *_variants(
            "plain",
            "arc1",
            {"data.synthetic": (), **UNGATED},
            {
                "table": FULL_TABLE,
                "table-r32": low_rank(32),
                "composition": COMPOSITION,
                "cose": {},
                "cose-gated": GATED,
            },
        ),
    )
}


def variant_named(key: str) -> Variant:
    """A variant by its key, GROUP.NAME."""
    if key not in VARIANTS:
        raise CharmError(
            f"there is no variant {key!r}; `charm reproduce LABEL --dry-run` names those of a table"
        )
    return VARIANTS[key]
