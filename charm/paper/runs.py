"""The paper's runs as data, and the sizes at which they can be run: both are read from `runs.toml`.

    smoke   seconds: shows that everything runs, and measures nothing
    cpu     minutes for each run on two CPU cores
    small   minutes for each run on one GPU
    full    the paper's own

A variant is a run without its seed: a preset and the fields that differ from it. A smaller size keeps what it is about
(its memory, its data, its optimizer) and shrinks everything else. To add a line to a table, add its variant to
`runs.toml` and the line to `tables.toml` (docs/extend.md).
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from importlib.resources import files
from itertools import product
from operator import attrgetter
from typing import Any, Literal

from charm.accounting import Size
from charm.arc.presets import arc1
from charm.automata.run import CarConfig
from charm.config import from_json, to_json
from charm.continual.run import StreamOptions
from charm.domains import Domain, domain_of_preset
from charm.errors import CharmError
from charm.language.config import LMConfig
from charm.language.gpt import components
from charm.language.presets import tiny
from charm.runs.settings import RunConfig
from charm.tasks.dataset import DataConfig
from charm.tasks.sources import load_source
from charm.tasks.task import MAX_SIDE

SizeName = Literal["smoke", "cpu", "small", "full"]
SIZE_NAMES: tuple[SizeName, ...] = ("smoke", "cpu", "small", "full")
Fields = Mapping[str, Any]  # of a configuration; those of its parts are mappings


@dataclass(frozen=True)
class Setting:
    """A size of a group of variants."""

    about: str  # the setting in words
    home: str  # folder of results; groups with the same home share runs of the same name
    preset: str = ""  # where it starts, and what command lines name; "" is the variant's own configuration
    evaluations: Mapping[str, Fields] = field(default_factory=dict)  # options of `charm eval` by prefix of the scores
    minutes: float | None = None  # of one run alone on one H200 (two cores for `cpu` and `smoke`); None: estimated
    together: int = 1  # number of runs that fit on a GPU of 80 GB
    scale: float = 1.0  # factor of ranks and task widths; full-width rows keep the full width
    columns: int = 0  # columns that the rows of a low-rank table have more
    keep: tuple[str, ...] = ()  # fields of the variant's own configuration that stay
    times: Mapping[str, float] = field(default_factory=dict)  # fields of the variant's own configuration with a factor
    rule: str = ""  # a key of `RULES`: fields that are computed
    set: Fields = field(default_factory=dict)  # all other fields that differ from the preset
    text: str = "lm"  # for runs on text: name of the folder of prepared text in the data folder
    stream: tuple[str, ...] = ()  # for streams: ids of their tasks; () are the first small tasks of the training set

    def shrink(self, full: Any) -> Any:
        """Return the configuration at this size of a variant with this configuration."""
        parts = [_nested(name, to_json(attrgetter(name)(full))) for name in self.keep]
        parts += [_nested(name, max(1, round(factor * attrgetter(name)(full)))) for name, factor in self.times.items()]
        computed = RULES[self.rule](full) if self.rule else {}
        changes: dict[str, Any] = reduce(overlay, (*parts, computed, self.set), {})
        of_memory = changes.pop("memory", {})
        small = with_fields(domain_of_preset(self.preset).configuration(self.preset) if self.preset else full, changes)
        if not hasattr(full, "memory"):
            return small
        memory, width = full.memory, small.reasoner.width
        sizes = {"rank": width if memory.rank == full.reasoner.width else int(memory.rank * self.scale)}
        if memory.design == "table" and sizes["rank"] < width:
            sizes["rank"] += self.columns
        if getattr(memory, "task_width", 0):
            sizes["task_width"] = int(memory.task_width * self.scale)
        return replace(small, memory=with_fields(memory, {**sizes, **of_memory}))


@dataclass(frozen=True, eq=False)
class Variant:
    """A run of the paper, without its seed."""

    group: str
    name: str
    preset: str  # name of the preset at full size; of a stream, its base's
    fields: Fields  # fields that differ from the preset, or of a stream's options
    start: str = ""  # name of a stream's base in the group "bases"

    @property
    def key(self) -> str:
        return f"{self.group}.{self.name}"

    @property
    def domain(self) -> Domain:
        return domain_of_preset(self.preset)

    @property
    def base(self) -> Variant | None:
        """The run whose model this one starts from."""
        return VARIANTS[f"bases.{self.start}"] if self.start else None

    def full(self) -> Any:
        """Return the paper's configuration."""
        return with_fields(StreamOptions("") if self.start else self.domain.configuration(self.preset), self.fields)

    def at(self, size: SizeName, seed: int = 0) -> Any:
        """Return the configuration at a size."""
        given: Fields = {"seed": seed}
        return with_fields(self.size(size).shrink(self.full()), {"recipe": given} if self.start else given)

    def size(self, name: SizeName) -> Setting:
        known = SIZES[self.group]
        if name not in known:
            raise CharmError(f"{self.key} has no size {name}; its sizes are {', '.join(known)}")
        return known[name]

    def home(self, size: SizeName) -> str:
        """Return the name under which results are stored."""
        return f"{self.size(size).home}.{self.name}"


@dataclass(frozen=True)
class PaperData:
    """A data set whose size the paper gives."""

    puzzles: int
    rows: int
    data: DataConfig | None = None  # where ours comes from
    stream: str = ""

    @property
    def size(self) -> Size:
        return Size(self.puzzles, self.rows)


def variant_named(key: str) -> Variant:
    """Return a variant by its key, GROUP.NAME."""
    if key not in VARIANTS:
        known = "`charm reproduce LABEL --dry-run` lists the variants of a table"
        raise CharmError(f"there is no variant {key!r}; {known}")
    return VARIANTS[key]


def with_fields(config: Any, changes: Fields) -> Any:
    """Return a configuration with these fields changed together, checked as those of a file are."""
    return from_json(type(config), overlay(to_json(config), changes))


# Fields that are computed from the full size.

SMALL_STREAM = 16  # number of tasks


@cache
def small_tasks(*splits: str) -> tuple[str, ...]:
    """Return the tasks of ARC-AGI-1 whose visible grids have sides up to 10, each split in a shuffled order."""
    found: list[str] = []
    for split in splits:
        tasks = [task.blind() for task in load_source(f"arc1/{split}").tasks]
        small = [t.id for t in tasks if max(max(g.shape) for pair in t.pairs for g in pair.grids()) <= 10]
        found += sorted(small, key=lambda task_id: hashlib.sha256(task_id.encode()).hexdigest())
    return tuple(found)


def text_small(full: LMConfig) -> Fields:
    """Shrink a language model: six layers of width 384 (d20: eight of 512) and 400 updates for 1.19B tokens.

    The weight decay is scaled with the batch and the length of the run, as learning rates are with the batch; 0.28 was
    chosen for a run on 1.156B tokens.
    """
    vocab, batch = 8192, 2**15
    depth, width = (8, 512) if full.gpt.depth > 12 else (6, 384)
    steps = round(full.steps * full.batch / 1.19e9) * 400
    narrow = max(8, full.ngram.width * width // full.gpt.model_width // 8 * 8)
    ngram = replace(full.ngram, rows=full.ngram.rows // full.gpt.vocab * vocab, width=narrow)
    decay = {"weight_decay": 0.28 * math.sqrt(batch / 2**19) * 1.156e9 / (steps * batch)}
    return {"gpt": {"depth": depth, "width": width}, "ngram": to_json(ngram), "optimizer": decay, "steps": steps}


def text_cpu(full: LMConfig) -> Fields:
    """Shrink a language model to `lm-tiny`; tables have 4 x 2,048 rows where the paper has 5 times its vocabulary."""
    rows, width = full.ngram.rows // full.gpt.vocab * 4 * 2048 // 5, min(64, full.ngram.width // 3 // 8 * 8)
    ngram = replace(full.ngram, rows=rows, width=width, layers=(1, 2))
    steps = tiny().steps * max(1, round(full.steps * full.batch / 1.19e9))
    return {"gpt": {"depth": 6} if full.gpt.depth > 12 else {}, "ngram": to_json(ngram), "steps": steps}


RULES: dict[str, Callable[[Any], Fields]] = {
    "small_tasks": lambda full: {"data": {"tasks": small_tasks("training")}},
    "small_tasks_of_both_sets": lambda full: {"data": {"tasks": small_tasks("training", "evaluation")}},
    "all_but_the_stream": lambda full: {"data": {"tasks": small_tasks("training")[SMALL_STREAM:]}},
    "sweep": lambda full: {"data": {"tasks": small_tasks("training")}, "steps": full.steps // 80},
    "systems": lambda full: {"steps": 1000 if full.steps <= 1_000_000 else 2000},
    "text_small": text_small,
    "text_cpu": text_cpu,
}


# The file.


def overlay(first: Fields, second: Fields) -> dict[str, Any]:
    """Return both mappings in one, with nested ones merged; values of the second win."""
    both = {**first, **second}
    for name in first.keys() & second.keys():
        if isinstance(first[name], Mapping) and isinstance(second[name], Mapping):
            both[name] = overlay(first[name], second[name])
    return both


def _nested(name: str, value: Any) -> dict[str, Any]:
    """Return a field, given by its dotted name, as nested mappings."""
    head, _, rest = name.partition(".")
    return {head: _nested(rest, value) if rest else value}


def _resolve(name: str, among: Mapping[str, Fields]) -> dict[str, Any]:
    """Return one of these tables, merged into the one that it is `like`."""
    own = dict(among[name])
    return overlay(_resolve(own.pop("like"), among), own) if "like" in own else own


def _streams(group: str, bases: Collection[str]) -> Iterator[tuple[str, str, Fields]]:
    """Combine every base with the three common methods; the first stream also learns with others, from one base."""
    common = {"memory-only": "rows", "oracle": "full", "joint": "full"}
    runs = [(f"{base}-{method}", base, method, scope) for base in bases for method, scope in common.items()]
    if group == "stream1":
        others = product(("l2sp", "rehearsal", "ewc", "naive"), ("composition", "full"))
        runs += [(f"{method}-{scope}", "cose-r32", method, scope) for method, scope in others]
    for (name, base, method, scope), weight in product(runs, (0.5, 0.0)):
        yield f"{name}-h{weight:g}", base, {"method": method, "scope": scope, "recipe": {"halt_weight": weight}}


def _read(given: Fields) -> tuple[dict[str, dict[str, Setting]], dict[str, Variant]]:
    sizes: dict[str, dict[str, Setting]] = {}
    variants: list[Variant] = []
    for group, content in given["groups"].items():
        homes, common = content.get("homes", {}), content.get("common", {})
        sizes[group] = {
            size: from_json(Setting, {**_resolve(name, given["sizes"]), "home": homes.get(size, group)}, name)
            for size, name in content["sizes"].items()
        }
        runs = {name: {} for name in content.get("names", ())} | content.get("runs", {})
        for name in runs:
            own = overlay(common, _resolve(name, runs))
            preset = own.pop("preset", content["preset"].format(name=name))
            variants.append(Variant(group, name, preset, own))
        if "stream" in common:
            for name, base, how in _streams(group, given["groups"]["bases"]["runs"]):
                variants.append(Variant(group, name, content["preset"], overlay(common, how), base))
    return sizes, {one.key: one for one in variants}


_FILE = tomllib.loads((files("charm.paper") / "runs.toml").read_text("utf-8"))
SIZES, VARIANTS = _read(_FILE)
"""Settings by group and size, and variants by their keys."""
DATASETS = {name: from_json(PaperData, one, name) for name, one in _FILE["datasets"].items()}


# Costs, estimated from measured speeds and the operations of a model.

# Predictions of one evaluation: the paper's iterations of 768; on automata 6,000 combinations x 4 grids x 8 views.
ARC1_ANSWERS, ARC2_ANSWERS, CAR_ANSWERS = 502 * 768, 216 * 768, 6000 * 4 * 8


@dataclass(frozen=True)
class Speed:
    """Measured speed of `arc1` on full canvases, in samples per second. Other models are scaled by their operations."""

    training: float
    forward: float
    machine: str
    date: str

    def hours(self, config: RunConfig, steps: int, predictions: int) -> tuple[float, float]:
        """Return the hours of all updates and of all evaluations during training."""
        forward, training = config.reasoner.flops(MAX_SIDE)
        base_forward, base_training = arc1().reasoner.flops(MAX_SIDE)
        updates = steps * config.batch / self.training * training / base_training
        evaluations = math.ceil(steps / config.evaluate_every) if config.evaluate_every else 0
        depth = max(config.evaluate_loops)  # one pass serves all depths
        asked = evaluations * predictions * depth / self.forward * forward / base_forward
        return updates / 3600, asked / 3600


# From benchmarks/results/speed_arc1.json, which is not part of the installed package.
MEASURED = Speed(505.5, 1092.1, "one NVIDIA H200", "2026-11-15")


# Tokens per second of language models, from benchmarks/results/language_speed.json. d20 was not measured; its speed is
# assumed to fall with the parameters of the backbone.
TOKENS = {"none": 545_335, "engram": 546_035, "cose": 490_660, "mixture": 490_660}
D12_BACKBONE = 286_261_730


@cache
def hours(variant: Variant, size: SizeName) -> float:
    """Return the hours of one run: on one H200, or on two cores at the CPU sizes."""
    minutes = variant.size(size).minutes
    if minutes is not None:
        return minutes / 60
    config = variant.at(size)
    if isinstance(config, StreamOptions):
        tasks = {"arc2-training": 233, "arc2-evaluation": 114}[config.stream]
        return tasks * config.recipe.steps * config.recipe.batch / MEASURED.training / 3600
    if isinstance(config, LMConfig):
        backbone = components(config.gpt, config.ngram)["backbone"]
        rate = TOKENS[config.ngram.variant] * D12_BACKBONE / backbone
        return config.steps * config.batch / rate / 3600
    answers = CAR_ANSWERS
    if not isinstance(config, CarConfig):
        answers = ARC2_ANSWERS if "arc2/evaluation" in config.data.evaluate else ARC1_ANSWERS
    return sum(MEASURED.hours(config, config.steps, answers))
