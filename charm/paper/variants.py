"""The paper's runs as data: a variant is a preset and the fields that differ from it.

To add a line to a table, add its variant here and the line in `tables.toml` (docs/extend.md).
`charm.paper.sizes` has the smaller settings of each group.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from charm.arc.presets import FULL_TABLE
from charm.automata.presets import CAR_MEMORIES
from charm.config import to_json
from charm.continual.run import StreamOptions
from charm.domains import Domain, domain_of_preset
from charm.errors import CharmError
from charm.models.canvas.config import CanvasConfig
from charm.paper.sizes import GROUPS, Setting, SizeName
from charm.training.adaptation import Recipe, Scope


@dataclass(frozen=True)
class Variant:
    """A run of the paper, without its seed."""

    group: str
    name: str
    preset: str
    """Name of the preset at full size."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields that differ from the preset, by dotted name, such as "memory.rank"."""

    @property
    def key(self) -> str:
        return f"{self.group}.{self.name}"

    @property
    def domain(self) -> Domain:
        return domain_of_preset(self.preset)

    @property
    def base(self) -> Variant | None:
        """The run whose model this one starts from."""
        return None

    def full(self) -> Any:
        """The paper's configuration."""
        return with_fields(self.domain.configuration(self.preset), self.fields)

    def at(self, size: SizeName, seed: int = 0) -> Any:
        """The configuration at a size."""
        return replace(self.size(size).make(self.full()), seed=seed)

    def size(self, name: SizeName) -> Setting:
        if name not in GROUPS[self.group]:
            raise CharmError(f"{self.key} has no size {name}; its sizes are {', '.join(GROUPS[self.group])}")
        return GROUPS[self.group][name]

    def home(self, size: SizeName) -> str:
        """The name under which results are stored."""
        return f"{self.size(size).home or self.group}.{self.name}"

    def flags(self, size: SizeName, seed: int) -> tuple[str, list[str]]:
        """The preset and the flags of the `charm train` command that starts this run."""
        preset = self.size(size).preset or self.preset
        return preset, flags_between(domain_of_preset(preset).configuration(preset), self.at(size, seed))


@dataclass(frozen=True)
class StreamVariant(Variant):
    """A run of continual learning: a stream of unseen tasks, learned from a base. The preset is the base's."""

    memory: str = "cose-r32"
    """Name of the base among the variants of group "bases"."""
    stream: str = "arc2-training"
    method: str = "memory-only"
    scope: Scope = "rows"
    halt_weight: float = 0.0

    @property
    def base(self) -> Variant:
        return VARIANTS[f"bases.{self.memory}"]

    def full(self) -> StreamOptions:
        return StreamOptions(self.stream, self.method, self.scope, Recipe(halt_weight=self.halt_weight))

    def at(self, size: SizeName, seed: int = 0) -> StreamOptions:
        options: StreamOptions = self.size(size).make(self.full())
        return replace(options, recipe=replace(options.recipe, seed=seed))

    def flags(self, size: SizeName, seed: int) -> tuple[str, list[str]]:
        """The flags of the `charm adapt` command, which offers only the paper's settings."""
        options = self.at(size, seed)
        words = ["--stream", options.stream, "--method", self.method, "--scope", self.scope]
        words += ["--halt-weight", f"{self.halt_weight:g}", "--seed", str(seed)]
        return self.preset, words


def with_fields(config: Any, changes: Mapping[str, Any]) -> Any:
    """Return a configuration with these fields, given by dotted name, changed together."""
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


def flags_between(base: Any, wanted: Any, start: str = "", idle: Collection[str] = ()) -> list[str]:
    """Return the flags of `charm train` that make a run of the first configuration one of the second.

    Fields that have no effect in the second (`idle`) are no flags, except those that must be switched off.
    """
    flags: list[str] = []
    idle = idle or getattr(wanted, "idle", ())
    for one in fields(base):
        before, after = getattr(base, one.name), getattr(wanted, one.name)
        name = f"{start}{one.name}"
        if before == after or (name in idle and after is not False):
            continue
        if is_dataclass(before) and type(before) is type(after):
            flags += flags_between(before, after, f"{name}.", idle)
        elif isinstance(after, bool):
            head, _, last = name.rpartition(".")
            flag = last if after else f"no-{last}"
            flags.append(f"--{head}.{flag}".replace("--.", "--").replace("_", "-"))
        else:
            values = after if isinstance(after, tuple) else (after,)
            flags += [f"--{name}".replace("_", "-"), *map(str, to_json(values))]
    return flags


def _variants(
    group: str, preset: str, common: Mapping[str, Any], some: Mapping[str, Mapping[str, Any]]
) -> list[Variant]:
    return [Variant(group, name, preset, {**common, **changes}) for name, changes in some.items()]


UNGATED: Mapping[str, Any] = {"memory.gate": False}  # `arc1` and `arc1-train` gate their residual
GATED: Mapping[str, Any] = {"memory.gate": True}
TABLE: Mapping[str, Any] = {"memory.design": "table", "memory.rank": 512}
SEPARATE: Mapping[str, Any] = {"memory.design": "separate"}
COMPOSITION: Mapping[str, Any] = {"memory.rank": 0}
LOOKUP: Mapping[str, Any] = {"memory.rank": 0, "memory.dihedral": "lookup"}
POOLED: Mapping[str, Any] = {"data.color_pool": 1000}
ADAMW: Mapping[str, Any] = {"optimizer.dense": "adamw", "optimizer.factors": "adamw"}
NO_DATA: Mapping[str, Any] = {"data.synthetic": ()}
# The composers of tab:compo-ablations.
COMPOSERS = ("film", "hypernetwork", "film-deep", "film-add", "experts", "film-wide", "add", "film-heads")
# tab:data-ratio: views of Re-ARC's pairs, and repeats of the evaluated tasks' pairs.
RATIOS = {10: (1, 2, 5, 10), 100: (1, 2, 5, 10, 20, 50, 100)}


def low_rank(rank: int) -> Mapping[str, Any]:
    return {"memory.design": "table", "memory.rank": rank}


# The paper's memories, each for the same system.
MEMORIES = {
    "table": TABLE,
    "table-r32": low_rank(32),
    "composition": COMPOSITION,
    "cose": {},
    "cose-gated": GATED,
}


def mixed(views: int, repeats: int) -> Mapping[str, Any]:
    """Fields of a data mixture."""
    return {"data.synthetic_view_count": views, "data.evaluate_repeats": repeats}


# The bases of continual learning: `arc1` with another memory, never gated. r is the rank of the rows, t the width of a
# task's vector where it is not 512.
CL_BASES: Mapping[str, Mapping[str, Any]] = {
    "cose-r0-t32": {**COMPOSITION, "memory.task_width": 32},
    "cose-r0": COMPOSITION,
    "cose-r32-t32": {"memory.task_width": 32},
    "cose-r32": {},
    "cose-r512": {"memory.rank": 512},
    "table-r32": low_rank(32),
    "table-r512": TABLE,
}

# The recurrent backbone. Every step that the paper reports of its sweeps is a multiple of this.
SWEEP_EVERY = 16_897
# Total depth L -> (updates, U of each run); R = L / U, and half of the layers carry gradients.
ISO_FLOP = {
    12: (67_588, (2, 3, 4, 6)),
    24: (33_794, (2, 3, 4, 6, 8, 12)),
    48: (16_897, (2, 4, 6, 8, 12, 24)),
}
# U -> (updates, layer-level horizons); R = 24 / U.
HORIZONS = {
    2: (67_588, (6, 12, 18, 24)),
    3: (67_588, (3, 6, 12, 18, 24)),
    4: (67_588, (4, 8, 12)),
    6: (50_691, (6, 12, 18, 24)),
    12: (33_794, (12, 16, 20, 24)),
}


def _backbone(name: str, unique: int, recurrences: int, learning: int, steps: int) -> Variant:
    """One point of the backbone studies: U layers, R recurrences, gradients through the last layers."""
    whole, rest = divmod(learning, unique)
    shape = CanvasConfig(
        layers=unique,
        recurrences=recurrences,
        horizon=whole,
        horizon_layers=learning if rest else 0,
        ffn="swiglu",
    )
    changes = {"reasoner": shape, "memory": FULL_TABLE, "steps": steps}
    changes |= {"checkpoint_every": SWEEP_EVERY, "evaluate_every": SWEEP_EVERY}
    # The paper's loss is a mean over the updates around a step: `charm.runs.metrics.mean_around`.
    return Variant("sweep", name, "arc1-train", {**changes, "log_every": 1})


def _text() -> list[Variant]:
    """Language models: every memory of both backbones, and the two token budgets that are not a preset's."""
    ends = {
        "d12": ("", *(f"-{kind}-x{k}" for k in (5, 10, 20, 40) for kind in ("engram", "cose")), "-cose-x0"),
        "d20": tuple(f"-{kind}-x{k}" for k in (5, 10, 20) for kind in ("engram", "cose")),
    }
    wide = [f"d12-{kind}-x5-w{width}" for width in (24, 48, 96) for kind in ("engram", "cose", "mixture")]
    names = [f"{depth}{end}" for depth, some in ends.items() for end in some] + wide
    made = [Variant("text", name, f"lm-{name}") for name in names]
    for kind in ("engram", "cose"):
        made.append(Variant("text", f"d12-{kind}-x5-4640M", f"lm-d12-{kind}-x5", {"steps": 8850}))
        made.append(Variant("text", f"d20-{kind}-x5-1190M", f"lm-d20-{kind}-x5", {"steps": 1135}))
    return made


SCOPES: tuple[Scope, ...] = ("composition", "full")
HALT_WEIGHTS = (0.5, 0.0)


def _streams() -> list[Variant]:
    """Every base with the three common methods, and the other methods from one base on the training stream."""
    made: list[Variant] = []
    common: dict[str, Scope] = {"memory-only": "rows", "oracle": "full", "joint": "full"}
    for group, stream in (("stream1", "arc2-training"), ("stream2", "arc2-evaluation")):
        for base in CL_BASES:
            for method, scope in common.items():
                for weight in HALT_WEIGHTS:
                    name = f"{base}-{method}-h{weight:g}"
                    made.append(StreamVariant(group, name, "arc1", {}, base, stream, method, scope, weight))
    for method in ("l2sp", "rehearsal", "ewc", "naive"):
        for one in SCOPES:
            for weight in HALT_WEIGHTS:
                name = f"{method}-{one}-h{weight:g}"
                options = ("cose-r32", "arc2-training", method, one, weight)
                made.append(StreamVariant("stream1", name, "arc1", {}, *options))
    return made


VARIANTS: dict[str, Variant] = {
    one.key: one
    for one in (
        # TRM's backbone on the training split, 170k updates.
        *_variants(
            "train",
            "arc1-train",
            UNGATED,
            {
                "table": TABLE,
                "table-pooled": {**TABLE, **POOLED},
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
        *_variants("plain", "arc1", {**NO_DATA, **UNGATED}, MEMORIES),
        *_variants("arc1-plain", "arc1", {**NO_DATA, **UNGATED}, {"table": TABLE, "cose-gated": GATED}),
        # With Re-ARC.
        *_variants(
            "arc1",
            "arc1",
            UNGATED,
            {
                **MEMORIES,
                "cose-r512": {"memory.rank": 512},
                "table-v10-e1": {**TABLE, **ADAMW, **mixed(10, 1)},
                **{
                    f"cose-adamw-v{views}-e{repeats}": {**ADAMW, **mixed(views, repeats)}
                    for views, every in RATIOS.items()
                    for repeats in every
                },
                "cose-muon-v10-e1": mixed(10, 1),
                "cose-muon-v100-e1": mixed(100, 1),
            },
        ),
        # ARC-AGI-2, 1M updates: with Re-ARC2, and without any synthetic data.
        *_variants(
            "arc2",
            "arc2",
            {},
            {"table": TABLE, "cose": {}, "cose-gated": GATED, "cose-v10": {"data.synthetic_view_count": 10}},
        ),
        Variant(
            "arc2", "cose-rearc", "arc2", {"data.synthetic": ("rearc",), "data.synthetic_views": "shared"}
        ),
        *_variants("arc2-plain", "arc2", NO_DATA, {"table": TABLE, "cose": {}, "cose-gated": GATED}),
        # Complete systems.
        *(Variant("systems", name, name) for name in ("hrm-arc1", "trm-arc1", "urm-arc1")),
        *(Variant("systems", name, name) for name in ("hrm-arc2", "trm-arc2", "urm-arc2")),
        Variant("systems", "charm-arc1", "arc1", {"steps": 1_600_000}),
        Variant("systems", "charm-arc2", "arc2", {"steps": 2_380_000}),
        # The recurrent backbone.
        *(
            _backbone(f"L{depth}-U{unique}", unique, depth // unique, depth // 2, steps)
            for depth, (steps, every) in ISO_FLOP.items()
            for unique in every
        ),
        *(
            _backbone(f"U{unique}-H{layers}", unique, 24 // unique, layers, steps)
            for unique, (steps, every) in HORIZONS.items()
            for layers in every
        ),
        # Cellular automata.
        *(
            Variant("car", memory, f"car-single-{memory}")
            for memory in ("full-table", "low-rank", "three-factor", "three-factor-cose")
        ),
        *(Variant("car-280k", memory, f"car-single-{memory}", {"steps": 280_000}) for memory in CAR_MEMORIES),
        *(Variant("car-all", memory, f"car-all-{memory}") for memory in CAR_MEMORIES),
        *_text(),
        *_variants("bases", "arc1", UNGATED, CL_BASES),
        *_streams(),
    )
}


def variant_named(key: str) -> Variant:
    """A variant by its key, GROUP.NAME."""
    if key not in VARIANTS:
        raise CharmError(
            f"there is no variant {key!r}; `charm reproduce LABEL --dry-run` lists the variants of a table"
        )
    return VARIANTS[key]
