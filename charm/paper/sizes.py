"""The sizes at which groups of the paper's runs can be run.

    smoke   seconds: shows that everything runs, and measures nothing
    cpu     minutes for each run on two CPU cores
    small   minutes for each run on one GPU
    full    the paper's own

A smaller size keeps what a variant is about (its memory, its data, its optimizer) and shrinks everything else.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Literal

from charm.arc.presets import quickstart, speedrun, speedrun_public
from charm.automata.benchmark import BenchmarkConfig
from charm.automata.dataset import CarData
from charm.automata.presets import car_small
from charm.automata.run import CarConfig
from charm.continual.run import StreamOptions
from charm.language.config import GPTConfig, LMConfig, LMOptimizerConfig
from charm.language.presets import tiny
from charm.models.canvas.config import trm
from charm.runs.settings import TrainConfig
from charm.tasks.keys import MemoryConfig
from charm.tasks.sources import load_source

SizeName = Literal["smoke", "cpu", "small", "full"]
SIZE_NAMES: tuple[SizeName, ...] = ("smoke", "cpu", "small", "full")


@dataclass(frozen=True)
class Setting:
    """A setting that a group of variants can be run at."""

    preset: str
    """Preset that command lines start from; "" is the variant's own."""
    make: Callable[[Any], Any]
    """Maps the variant's full configuration to its configuration at this size."""
    evaluations: Mapping[str, Mapping[str, Any]]
    """Options of `charm eval` by the prefix of the score names."""
    minutes: float | None
    """Minutes of one run alone on one H200 (on two cores for `cpu` and `smoke`); None: estimated from its updates."""
    about: str
    """The setting in words."""
    together: int = 1
    """Number of runs that fit on a GPU of 80 GB."""
    home: str = ""
    """Folder of results; "" is the group's name. Groups with the same home share runs of the same name."""
    text: str = "lm"
    """For runs on text: name of the folder of prepared text in the data folder."""


FULL_WIDTH = 512
SMALL_WIDTH = speedrun().reasoner.width
CPU_WIDTH = quickstart().reasoner.width


def narrowed(memory: MemoryConfig, width: int, scale: float) -> MemoryConfig:
    """A memory for a narrower model. Full-width rows keep the full width; ranks and task widths are scaled."""
    rank = width if memory.rank == FULL_WIDTH else int(memory.rank * scale)
    return replace(memory, rank=rank, task_width=int(memory.task_width * scale))


SHAPE = ("layers", "recurrences", "horizon", "ffn")


def taken(config: Any, *names: str) -> dict[str, Any]:
    """Some fields of a configuration, for another one."""
    return {name: getattr(config, name) for name in names}


# ARC-AGI-1's training split: the model learns demonstrations and answers the test inputs of the same tasks.


def train_small(full: TrainConfig) -> TrainConfig:
    """The speedrun's model on tasks with small grids, whose canvases cost a third of the mean, for more seeds.

    A row is read about 67 times, in the paper's runs about 330 times.
    """
    base = speedrun()
    return replace(
        base,
        data=replace(base.data, tasks=small_tasks(), views=64, color_pool=full.data.color_pool),
        reasoner=replace(base.reasoner, layers=base.reasoner.layers * full.reasoner.layers // trm().layers),
        memory=narrowed(full.memory, SMALL_WIDTH, 0.5),
        optimizer=replace(base.optimizer, ema=0.99),
        steps=1000,
        checkpoint_every=500,
        evaluate_views=64,
    )


def train_cpu(full: TrainConfig) -> TrainConfig:
    """The quickstart's model and tasks."""
    base = quickstart()
    return replace(
        base,
        data=replace(base.data, color_pool=full.data.color_pool),
        reasoner=replace(base.reasoner, layers=base.reasoner.layers * full.reasoner.layers // trm().layers),
        memory=narrowed(full.memory, CPU_WIDTH, 0.25),
    )


def on_training_split(full: TrainConfig) -> TrainConfig:
    """A run of the paper's system with the memory and backbone of its runs on the training split."""
    return replace(full, reasoner=trm(), memory=replace(full.memory, dihedral="slots"))


def smoke(config: TrainConfig) -> TrainConfig:
    """Two updates of a run on ARC's tasks."""
    return replace(
        config,
        data=replace(config.data, tasks=("25ff71a9", "3c9b0459"), views=2),
        steps=2,
        batch=4,
        checkpoint_every=1,
        log_every=1,
        evaluate_views=2,
        device="cpu",
    )


def sweep_small(full: TrainConfig) -> TrainConfig:
    """The paper's layers, recurrences and horizons at width 256, with four refinement steps and 1/80 of the updates.

    With 32 views, rows are read as often as in the paper: 57 times at 24 layers.
    """
    small = train_small(full)
    return replace(
        small,
        data=replace(small.data, views=32),
        reasoner=replace(speedrun().reasoner, **taken(full.reasoner, *SHAPE, "horizon_layers")),
        steps=full.steps // 80,
        checkpoint_every=500,
        log_every=1,
        evaluate_views=32,
    )


def sweep_smoke(full: TrainConfig) -> TrainConfig:
    small = sweep_small(full)
    tiny: Any = small.reasoner
    shape = replace(tiny, width=16, heads=2, inner_multiple=32, refinement_steps=2, compute_dtype="float32")
    return smoke(replace(small, reasoner=shape, memory=MemoryConfig(design="table", rank=16)))


# Public evaluation tasks.


def public_small(full: TrainConfig) -> TrainConfig:
    """The public speedrun for 5,000 updates, with views of synthetic pairs and repeats in the paper's proportions."""
    base = speedrun_public()
    data = full.data
    return replace(
        base,
        data=replace(
            base.data,
            **taken(data, "train", "evaluate", "synthetic", "synthetic_views"),
            synthetic_view_count=max(1, round(0.16 * data.synthetic_view_count)),
            evaluate_repeats=9 * data.evaluate_repeats,
        ),
        memory=narrowed(full.memory, SMALL_WIDTH, 0.5),
        optimizer=replace(base.optimizer, dense=full.optimizer.dense),
        steps=5000,
        checkpoint_every=1000,
        keep_checkpoints=0,
    )


PAIRS, LONGEST_PAIR = 100, 15  # of a task's synthetic pairs the first so many, without sides beyond this


def rearc_small(full: TrainConfig) -> TrainConfig:
    """The speedrun's model on tasks with small grids and some of Re-ARC's pairs (`charm.paper.shelf` chooses them).

    Of the examples 41 % are synthetic and half of evaluated tasks where the paper has 100 views and 2 repeats.
    """
    small, data = public_small(full), full.data
    return replace(
        small,
        data=replace(
            small.data,
            tasks=small_tasks() + small_tasks("evaluation"),
            synthetic_view_count=max(1, round(0.64 * data.synthetic_view_count)),
            partial=True,
            views=64,
            evaluate_repeats=8 * data.evaluate_repeats,
        ),
        optimizer=replace(small.optimizer, ema=0.99),
        steps=1500,
        checkpoint_every=300,
    )


def systems_small(full: TrainConfig) -> TrainConfig:
    """Each system's recurrence at width 256 with four refinement steps, and its optimizer at a rate for short runs."""
    small = public_small(full)
    own = taken(full.reasoner, *SHAPE, "kind", "inner", "halt_outputs")
    return replace(
        small, reasoner=replace(small.reasoner, **own), steps=1000 if full.steps <= 1_000_000 else 2000
    )


def public_smoke(full: TrainConfig) -> TrainConfig:
    """Two updates on training tasks, without synthetic data."""
    return smoke(train_cpu(on_training_split(full)))


# Cellular automata.

CAR_CPU = BenchmarkConfig(families=("life",), rules=32, examples=500, side=5, horizons=(1, 2))
CAR_GPU = BenchmarkConfig(families=("life",), side=8, horizons=(1, 2))


def car_on_gpu(full: CarConfig) -> CarConfig:
    """`car-small` on a torus with a quarter of the cells and with half the batch: more updates for the same work.

    Unseen combinations need the updates: they emerge once T=2 is learned. Twice the batch saves an eighth of them.
    """
    steps, every = (5000, 250) if full.steps == 500_000 else (1800, 300)
    return replace(
        car_small(full.memory),
        data=CarData(CAR_GPU, split=full.data.split, canvas=CAR_GPU.side),
        steps=steps,
        batch=256,
        checkpoint_every=every,
        evaluate_every=every,
    )


def car_on_cpu(full: CarConfig) -> CarConfig:
    """Four recurrences, all with gradients, and no refinement, because new examples matter most here."""
    small = car_small(full.memory)
    rank = 64 if full.memory.rank == 256 else full.memory.rank // 2
    return replace(
        small,
        data=CarData(CAR_CPU, split=full.data.split, canvas=CAR_CPU.side),
        reasoner=replace(small.reasoner, width=64, layers=1, inner_multiple=32, compute_dtype="float32"),
        memory=replace(full.memory, rank=rank),
        optimizer=replace(
            small.optimizer, lr=5e-3, factor_lr=2e-2, row_lr=2e-2, warmup=50, cooldown=0.3, ema=0.99
        ),
        batch=32,
        checkpoint_every=1500,
        evaluate_every=1500,
        log_every=75,
        device="cpu",
    )


def car_smoke(full: CarConfig) -> CarConfig:
    config = car_on_cpu(full)
    benchmark = replace(CAR_CPU, rules=2, examples=8)
    data = replace(config.data, benchmark=benchmark)
    return replace(config, data=data, steps=2, batch=4, checkpoint_every=2, evaluate_every=2, log_every=1)


# Text.

TOKENS_D12 = 1.156e9  # tokens of the run for which a weight decay of 0.28 was chosen


def text_small(full: LMConfig) -> LMConfig:
    """Six layers of width 384 (eight of 512 for d20) with lookups half as wide, and 400 updates for 1.19B tokens.

    The weight decay is scaled with the batch and the length of the run, as learning rates are with the batch.
    """
    deep, batch, length = full.gpt.depth > 12, 2**15, 512
    steps = round(full.steps * full.batch / 1.19e9) * 400
    decay = 0.28 * math.sqrt(batch / 2**19) * TOKENS_D12 / (steps * batch)
    depth, width = (8, 512) if deep else (6, 384)
    return LMConfig(
        gpt=GPTConfig(depth, width, 128, 8192, length, length // 4, table_dtype="float32"),
        ngram=replace(
            full.ngram,
            rows=full.ngram.rows // full.gpt.vocab * 8192,
            width=max(8, full.ngram.width * width // full.gpt.model_width // 8 * 8),
        ),
        optimizer=LMOptimizerConfig(weight_decay=decay),
        tails="keep",
        steps=steps,
        batch=batch,
        device_rows=64,
        evaluate_every=200,
        evaluate_tokens=1536 * length,
        checkpoint_every=400,
    )


def text_cpu(full: LMConfig) -> LMConfig:
    """`lm-tiny`, six layers deep for d20, with tables of 4 x 2,048 rows where the paper has 5 times its vocabulary."""
    base = tiny()
    ngram = replace(
        full.ngram,
        rows=full.ngram.rows // full.gpt.vocab * 4 * 2048 // 5,
        width=min(64, full.ngram.width // 3 // 8 * 8),
        layers=(1, 2),
    )
    return replace(
        base,
        gpt=replace(base.gpt, depth=6) if full.gpt.depth > 12 else base.gpt,
        ngram=ngram,
        steps=base.steps * max(1, round(full.steps * full.batch / 1.19e9)),
        device="cpu",
    )


def text_smoke(full: LMConfig) -> LMConfig:
    config = text_cpu(full)
    return replace(config, steps=2, batch=256, device_rows=1, evaluate_tokens=256, log_every=1)


# Streams of unseen tasks.

# Small tasks of ARC-AGI-1. Base and stream share kinds of rules, but no tasks. The question is whether a memory can
# select the rule of a frozen reasoner. The kinds, with the tasks of the base and, after the semicolon, of the stream:
# turning (3c9b0459; 6150a2bd), transposing (9dfd6313; 74dd1130), flipping (67a3c6ac, 68b16354), mirroring up, down and
# sideways (4c4377d9, 8be77c9e, 6d0aefbc; 6fa7a44f, c9e6f938) and both ways (62c24649, 67e8384a; 3af2c5a8), four turns
# (7fe24cdd; 46442a0e), moving (25ff71a9), recolouring (b1948b0a; c8f0f002), and combining two halves by or (dae9d2b5,
# ce4f8723; e133d23d, 506d28a5), by and (0520fde7), by exclusive or (99b1bc43), by nor (fafffa47, 1b2d62fb; 94f9d214,
# f2829549, 6430c8c4).
CPU_BASE = (
    *("3c9b0459", "9dfd6313", "67a3c6ac", "68b16354", "4c4377d9", "8be77c9e"),
    *("6d0aefbc", "62c24649", "67e8384a", "7fe24cdd", "25ff71a9", "b1948b0a"),
    *("dae9d2b5", "ce4f8723", "0520fde7", "99b1bc43", "fafffa47", "1b2d62fb"),
)
CPU_STREAM = (
    *("6150a2bd", "94f9d214", "6fa7a44f", "f2829549", "74dd1130", "e133d23d"),
    *("c9e6f938", "6430c8c4", "46442a0e", "506d28a5", "3af2c5a8", "c8f0f002"),
)
UNSEEN = "unseen"  # file with the stream of the smaller sizes, written by `charm.paper.shelf`
SMALL_STREAM = 16  # number of tasks


@cache
def small_tasks(split: str = "training") -> tuple[str, ...]:
    """Tasks of ARC-AGI-1 whose visible grids have sides up to 10, in a shuffled order."""
    tasks = [task.blind() for task in load_source(f"arc1/{split}").tasks]
    small = [t.id for t in tasks if max(max(g.shape) for pair in t.pairs for g in pair.grids()) <= 10]
    return tuple(sorted(small, key=lambda task_id: hashlib.sha256(task_id.encode()).hexdigest()))


def stream_tasks(size: SizeName) -> tuple[str, ...]:
    """Ids of the tasks in the stream of a smaller size."""
    return {"smoke": CPU_STREAM[:2], "cpu": CPU_STREAM, "small": small_tasks()[:SMALL_STREAM]}[size]


def _stream_memory(memory: MemoryConfig, width: int, views: int, scale: float) -> MemoryConfig:
    """Widen the rows of a low-rank table, so that a task has at least as many parameters as with CoSE."""
    found = narrowed(memory, width, scale)
    if memory.design == "table" and memory.rank < FULL_WIDTH:
        # A task's vector is split over its views, so each row gets more columns.
        found = replace(found, rank=found.rank + -(-width // views))
    return found


def base_cpu(full: TrainConfig) -> TrainConfig:
    """Many views, as in the paper. Each is seen only a few times, and a table cannot share between them."""
    small = quickstart()
    return replace(
        small,
        data=replace(small.data, tasks=CPU_BASE, views=128),
        memory=_stream_memory(full.memory, small.reasoner.width, 128, 0.25),
    )


def base_small(full: TrainConfig) -> TrainConfig:
    """Width 128, two layers. Learns all small tasks of the training set except those of the stream."""
    small = quickstart()
    shape: Any = small.reasoner
    return replace(
        small,
        data=replace(small.data, tasks=small_tasks()[SMALL_STREAM:], views=256),
        reasoner=replace(
            shape, width=128, layers=2, recurrences=4, refinement_steps=4, compute_dtype="bfloat16"
        ),
        memory=_stream_memory(full.memory, 128, 256, 0.5),
        optimizer=replace(small.optimizer, lr=2e-3, factor_lr=1e-2, row_lr=1e-2, warmup=100, ema=0.99),
        steps=3000,
        checkpoint_every=3000,
        batch=512,
        evaluate_loops=(4,),
    )


def base_smoke(full: TrainConfig) -> TrainConfig:
    config = base_cpu(full)
    return replace(smoke(config), data=replace(config.data, views=4))


def _stream(options: StreamOptions, views: int, **recipe: Any) -> StreamOptions:
    """Learning rates above the paper's, as for the base, because stages are short."""
    made = replace(options.recipe, warmup=10, task_lr=2e-2, row_lr=1e-2, **recipe)
    return replace(
        options, stream=UNSEEN, recipe=made, evaluate_views=views, base_views=views, recheck_every=4
    )


stream_cpu = partial(_stream, views=32, steps=100, batch=48, shared_lr=2e-3)
stream_small = partial(_stream, views=64, steps=200, batch=128, shared_lr=5e-4)
stream_smoke = partial(_stream, views=2, steps=2, batch=8, shared_lr=2e-3)


# The groups.

STANDARD: Mapping[str, Mapping[str, Any]] = {"": {"protocol": "standard"}}
BOTH: Mapping[str, Mapping[str, Any]] = {**STANDARD, "extra ": {"protocol": "extra"}}
NOW: Mapping[str, Mapping[str, Any]] = {"": {}}


def _current(views: int, loops: int) -> dict[str, dict[str, Any]]:
    return {"": {"protocol": "continual", "views": views, "loops": (loops,)}}


FULL = Setting("", lambda full: full, STANDARD, None, "the paper's")
TRAIN = {
    "smoke": Setting(
        "quickstart", lambda full: smoke(train_cpu(full)), _current(2, 2), 0.1, "two updates of four examples"
    ),
    "cpu": Setting(
        *("quickstart", train_cpu, _current(16, 2), 3.0),
        "the quickstart: 18 training tasks of ARC-AGI-1, width 64, 1,125 updates of 64",
    ),
    "small": Setting(
        *("speedrun", train_small, _current(64, 4), 0.4),
        "the speedrun's model (width 256, 2 layers x 4 recurrences, 4 refinement steps) on the 179 of ARC-AGI-1's 400 "
        "training tasks whose visible grids are at most 10 x 10, under 64 views each: 1,000 updates of 768, and all 64 "
        "views vote",
        together=12,
    ),
    "full": FULL,
}
PUBLIC = {
    "smoke": replace(TRAIN["smoke"], make=public_smoke),
    "small": Setting(
        "speedrun-public",
        public_small,
        {**_current(64, 4), "extra ": {"protocol": "extra", "views": 64, "loops": (4, 6)}},
        6.0,
        "the public speedrun (width 256) for 5,000 updates of 768 under 256 views, 64 of which vote; views of "
        "synthetic pairs times 0.16 and repeats times 9",
        together=4,
    ),
    "full": replace(FULL, evaluations=BOTH),
}
REARC = {
    **PUBLIC,
    "small": replace(
        PUBLIC["small"],
        make=rearc_small,
        minutes=0.7,
        about="the speedrun's model (width 256) for 1,500 updates of 768 on the tasks of ARC-AGI-1 whose visible grids "
        "are at most 10 x 10 (179 of the training set, and the 78 of the evaluation set that are asked) under 64 "
        "views, all of which vote; of each task's first 100 pairs of Re-ARC those with sides up to 15; views of "
        "synthetic pairs times 0.64 and repeats times 8; wants `charm data rearc --pairs 100` or more pairs",
        together=8,
    ),
}
SYSTEMS = {
    "smoke": replace(TRAIN["smoke"], make=public_smoke),
    "small": replace(
        PUBLIC["small"],
        make=systems_small,
        minutes=6.0,
        about="each system's recurrence at width 256 with 4 refinement steps: 1,000 updates of 768 on the public "
        "speedrun's data, 2,000 where the paper trains on",
    ),
    "full": FULL,
}
SWEEP = {
    "smoke": Setting("speedrun", sweep_smoke, _current(2, 2), 0.2, "two updates of four examples"),
    "small": Setting(
        *("speedrun", sweep_small, _current(32, 4), 0.4),
        "the paper's layers, recurrences and horizons at width 256 with 4 refinement steps on the same 179 tasks under "
        "32 views: an 80th of the paper's updates, of 768",
        together=4,
    ),
    "full": FULL,
}
CAR_ABOUT = "500 Life-like rules on an 8 x 8 torus, horizons 1 and 2, car-small's model (width 256)"
CAR = {
    "smoke": Setting("car-small", car_smoke, NOW, 0.1, "two updates on two rules"),
    "cpu": Setting(
        *("car-small", car_on_cpu, NOW, 3.0),
        "32 Life-like rules on a 5 x 5 torus, horizons 1 and 2, width 64, 1,500 updates of 32",
    ),
    "small": Setting(
        *("car-small", car_on_gpu, NOW, 1.4),
        f"{CAR_ABOUT}, 5,000 updates of 256",
        together=8,
    ),
    "full": replace(FULL, evaluations=NOW),
}
CAR_SHORT = replace(CAR["small"], minutes=0.5, about=f"{CAR_ABOUT}, 1,800 updates of 256")
TEXT = {
    "smoke": Setting(
        "lm-tiny", text_smoke, NOW, 0.1, "two updates; wants `charm lm prepare --python --vocab 2048`"
    ),
    "cpu": Setting(
        *("lm-tiny", text_cpu, NOW, 3.0),
        "lm-tiny: four layers of width 128, 300 updates of 2,048 tokens for the paper's 1.19B; wants "
        "`charm lm prepare --python --vocab 2048`",
    ),
    "small": Setting(
        *("lm-d12", text_small, NOW, 0.5),
        "six layers of width 384, for d20 eight of 512, on 80 MB of manuals and sources: 400 updates of 32,768 tokens "
        "for the paper's 1.19B, 1,600 for 4.64B; wants `charm lm prepare /usr/share /usr/lib/python3 --vocab 8192 "
        "--limit 80000000 --validation 0.04 --out DATA/lm-8192`, where DATA is the data folder",
        together=6,
        text="lm-8192",
    ),
    "full": replace(FULL, evaluations=NOW),
}
BASES = {
    "smoke": Setting("quickstart", base_smoke, _current(2, 2), 0.1, "two updates of four examples"),
    "cpu": Setting(
        "quickstart", base_cpu, _current(32, 2), 3.0, "18 small tasks of ARC-AGI-1 under 128 views, width 64"
    ),
    "small": Setting(
        *("quickstart", base_small, _current(64, 4), 0.7),
        "163 small training tasks of ARC-AGI-1 under 256 views, width 128, 3,000 updates of 512",
        together=8,
    ),
    "full": FULL,
}
STREAMS = {
    "smoke": Setting("", stream_smoke, {}, 0.1, "two unseen tasks, two updates each"),
    "cpu": Setting(
        "",
        stream_cpu,
        {},
        2.5,
        "12 unseen tasks of the same kinds, 100 updates of 48 each, in place of both of the paper's streams",
    ),
    "small": Setting(
        *("", stream_small, {}, 1.0),
        "16 unseen small tasks, 200 updates of 128 each, in place of both of the paper's streams",
        together=10,
    ),
    "full": replace(FULL, evaluations={}),
}


def _shared(settings: Mapping[str, Setting], home: str, **makes: Callable[[Any], Any]) -> dict[str, Setting]:
    """The settings of a group that shares the smaller runs of another group."""
    return {
        name: one if name == "full" else replace(one, home=home, make=makes.get(name, one.make))
        for name, one in settings.items()
    }


GROUPS: dict[str, Mapping[str, Setting]] = {
    "train": TRAIN,
    # Without Re-ARC, the smaller sizes have too little time for the public evaluation tasks.
    "plain": _shared(
        TRAIN,
        "train",
        smoke=public_smoke,
        cpu=lambda full: train_cpu(on_training_split(full)),
        small=lambda full: train_small(on_training_split(full)),
    ),
    "arc1": REARC,
    # The same full-size runs as `plain`; at the small size, on the tasks of `arc1`, to be compared with it.
    "arc1-plain": {**REARC, "full": replace(FULL, home="plain")},
    "arc2": PUBLIC,
    "arc2-plain": PUBLIC,
    "systems": SYSTEMS,
    "sweep": SWEEP,
    "car": CAR,
    "car-280k": {**_shared(CAR, "car"), "small": CAR_SHORT},
    "car-all": {**CAR, "small": CAR_SHORT},
    "text": TEXT,
    "bases": BASES,
    "stream1": STREAMS,
    "stream2": _shared(STREAMS, "stream1"),
}
