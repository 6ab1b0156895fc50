"""Every named run is a function that returns its configuration; a variant calls its base and changes a field.

`charm train NAME` runs one, and any field can be overridden on the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import Any

from charm.domains import DOMAINS
from charm.errors import CharmError
from charm.models.canvas.config import HRM, TRM, CanvasConfig
from charm.models.vit.config import LOOPVIT, LOOPVIT_MEDIUM, LOOPVIT_SMALL, VARC, VitConfig
from charm.models.writer.config import WriterConfig
from charm.runs.settings import SHORT_RUN, OptimizerConfig, TrainConfig
from charm.tasks.dataset import DataConfig
from charm.tasks.keys import MemoryConfig

FULL_TABLE = MemoryConfig(design="table", rank=512)
ADAMW = OptimizerConfig(dense="adamw", factors="adamw")
ADAM_ATAN2 = OptimizerConfig(dense="adam-atan2", factors="adamw")  # HRM's, TRM's and URM's own
# HRM, TRM and URM take every task once an epoch, under one of its views.
EVERY_TASK_ONCE: dict[str, Any] = {"evaluate_repeats": 1, "auxiliary_repeats": 1, "balanced": True}
TRAINING_TASKS = DataConfig(train=(), evaluate=("arc1/training",), auxiliary=(), evaluate_repeats=1)
ARC2 = DataConfig(train=("arc2/training",), evaluate=("arc2/evaluation",))
ALL_DEPTHS = (16, 24)  # every protocol can then be ranked from the votes: one pass of 24 steps serves both


def arc1() -> TrainConfig:
    """Train the paper's ARC-AGI-1 system: gated rank-32 CoSE, Re-ARC under 100 views, 600k updates."""
    data = DataConfig(synthetic=("rearc",))
    return TrainConfig(data=data, memory=MemoryConfig(gate=True), steps=600_000, evaluate_loops=ALL_DEPTHS)


def arc2() -> TrainConfig:
    """Train the paper's ARC-AGI-2 system: ungated rank-32 CoSE, Re-ARC and Re-ARC2, 1M updates."""
    # Re-ARC covers 391 of the tasks, Re-ARC2 the other 609.
    data = replace(ARC2, synthetic=("rearc", "rearc2"), synthetic_views="own")
    return TrainConfig(data=data, steps=1_000_000, evaluate_loops=ALL_DEPTHS)


def arc1_train() -> TrainConfig:
    """Train for ablations: learn the training tasks' demonstrations, answer their test inputs; TRM backbone, 170k."""
    return TrainConfig(
        data=TRAINING_TASKS,
        reasoner=TRM,
        memory=MemoryConfig(gate=True, dihedral="slots"),
        optimizer=ADAMW,
        steps=170_000,
        evaluate_loops=ALL_DEPTHS,
    )


def urm_arc1() -> TrainConfig:
    """Train URM with its full table and optimizer on ARC-AGI-1 and ConceptARC, no synthetic data; 200,000 epochs."""
    return TrainConfig(
        data=DataConfig(**EVERY_TASK_ONCE),
        reasoner=CanvasConfig(prefix=1, halt_outputs=2),
        memory=FULL_TABLE,
        optimizer=ADAM_ATAN2,
        steps=1_039_000,
        evaluate_loops=ALL_DEPTHS,
    )


def trm_arc1() -> TrainConfig:
    """Train TRM with its full table on ARC-AGI-1 and ConceptARC, no synthetic data; 100,000 epochs."""
    return replace(urm_arc1(), reasoner=TRM, steps=519_000)


def hrm_arc1() -> TrainConfig:
    """Train HRM with its full table on ARC-AGI-1 and ConceptARC, no synthetic data; it has no moving average."""
    return replace(trm_arc1(), reasoner=HRM, optimizer=replace(ADAM_ATAN2, ema=0.0))


def on_arc2(base: Callable[[], TrainConfig], steps: int) -> TrainConfig:
    """Train a system on ARC-AGI-2 and ConceptARC, no synthetic data, for as many epochs as on ARC-AGI-1."""
    return replace(base(), data=replace(ARC2, **EVERY_TASK_ONCE), steps=steps)


def urm_arc2() -> TrainConfig:
    """Train URM on ARC-AGI-2 and ConceptARC, where it was published with its own Muon."""
    base = on_arc2(urm_arc1, 1_452_000)
    return replace(base, optimizer=replace(base.optimizer, dense="urm-muon"))


def varc_arc1() -> TrainConfig:
    """Train VARC offline on the demonstrations of ARC-AGI-1's training tasks and Re-ARC, 100 epochs.

    The tasks' 416 test pairs are held out, to choose a checkpoint by. `charm solve --mode full` then trains a copy of
    all weights for each new task, which is VARC's second stage.
    """
    return TrainConfig(
        data=DataConfig(
            evaluate=("arc1/training",),
            evaluate_repeats=1,
            synthetic=("rearc",),
            auxiliary=(),
            views=1,
            augment="pseudo-tasks",
            canvas="large",
            scales=0,
        ),
        reasoner=VARC,
        memory=FULL_TABLE,
        optimizer=OptimizerConfig(
            dense="adamw",
            lr=3e-4,
            weight_decay=0.0,
            betas=(0.9, 0.999),
            factors="adamw",
            row_lr=3e-4,
            row_weight_decay=0.0,
            rows="dense-adamw",
            warmup=15_700,
            cooldown=0.9,
            decay="cosine",
            clip=1.0,
            ema=0.0,
        ),
        steps=157_000,
        batch=256,
        keep_checkpoints=0,  # the best on the held-out pairs is chosen afterwards
        evaluate_loops=VARC.voting_steps,
    )


def loopvit_arc1(size: VitConfig = LOOPVIT) -> TrainConfig:
    """Train one of LoopViT's sizes, the large one by default, as VARC is trained."""
    return replace(varc_arc1(), reasoner=size, memory=replace(FULL_TABLE, rank=size.width))


# Few recurrences and refinement steps: at this length the number of examples counts most.
SMALL_CANVAS = CanvasConfig(
    width=256,
    heads=4,
    layers=2,
    recurrences=4,
    horizon=2,
    prefix=4,
    inner_multiple=128,
    rope="2d",
    rope_base=100.0,
    refinement_steps=4,
)
LARGE_WRITER = WriterConfig(heads=4, layers=8, dropout=0.1, rope_base=100.0)
BASE_WRITER = replace(LARGE_WRITER, width=256, inner_multiple=64, reads="whole")


def speedrun() -> TrainConfig:
    """Train eleven minutes on one H200: learn the training tasks from their demonstrations; see docs/speedrun.md."""
    return TrainConfig(
        data=replace(TRAINING_TASKS, views=256, canvas="fit"),
        reasoner=SMALL_CANVAS,
        memory=MemoryConfig(rank=16),
        optimizer=SHORT_RUN,
        steps=17_000,
        checkpoint_every=5_000,
        evaluate_every=0,
        evaluate_views=64,
        evaluate_loops=(4,),
    )


def quickstart() -> TrainConfig:
    """Train a tiny CHARM on small real tasks: minutes on a CPU."""
    base = speedrun()
    return replace(
        base,
        data=replace(base.data, tasks=QUICKSTART_TASKS, views=16),
        # All recurrences with gradients. An axis has four frequencies: a `rope_base` of 10000 would leave two idle.
        reasoner=replace(
            SMALL_CANVAS,
            width=64,
            layers=1,
            recurrences=2,
            prefix=1,
            inner_multiple=32,
            refinement_steps=2,
            compute_dtype="float32",
        ),
        optimizer=replace(SHORT_RUN, lr=5e-3, factor_lr=3e-3, row_lr=3e-3, warmup=30, cooldown=0.3, ema=0.98),
        steps=1125,
        batch=64,
        checkpoint_every=375,
        evaluate_views=16,
        evaluate_loops=(2,),
        log_every=10,
    )


def speedrun_public() -> TrainConfig:
    """Train the speedrun for ARC-AGI-1's public evaluation tasks, with Re-ARC's pairs of the training tasks."""
    base = speedrun()
    # Few views of the many generated pairs, and many repeats: half of all examples are of the tasks to be answered.
    data = DataConfig(
        synthetic=("rearc",), auxiliary=(), views=256, synthetic_view_count=16, canvas="fit", evaluate_repeats=18
    )
    return replace(base, data=data, steps=15_500)


def writer() -> TrainConfig:
    """Train a writer for five minutes on one H200, for both of ARC-AGI-1's sets, on no test pair of either.

    With ConceptARC and the tasks that ARC-AGI-2 added; see docs/speedrun.md.
    """
    base = speedrun()
    return replace(
        base,
        data=replace(
            base.data,
            evaluate=("arc1/training", "arc1/evaluation"),
            auxiliary=("concept-arc", "arc2/training-new", "arc2/evaluation-new"),
            auxiliary_repeats=1,
            canvas="full",
            balanced=True,
            fixed_colors="output-only",
        ),
        reasoner=LARGE_WRITER,
        # The rule does not change when colours do, so a puzzle and a symmetry are all that needs a name.
        memory=MemoryConfig(rank=0, colors="free", composer="add"),
        optimizer=replace(base.optimizer, lr=1e-3, factor_weight_decay=0.01, cooldown=0.4),
        steps=12_000,
        checkpoint_every=3_000,
        evaluate_loops=(1,),
    )


# Tasks of ARC-AGI-1's training set that share pairs, up to symmetry and recolouring, with 070dd51e and 50a16a69 of
# its evaluation set.
SHARED_WITH_EVALUATION = ("40853293", "caa06a1f")


def base() -> TrainConfig:
    """Train a small writer to be adapted to unseen tasks, on nothing of the evaluation sets and ConceptARC.

    One training task, ea786f4a, has two demonstrations of ConceptARC's ExtendToBoundary5 in other colours.
    """
    larger = writer()
    return replace(
        larger,
        data=replace(
            larger.data,
            train=("arc1/training", "arc2/training-new"),
            evaluate=(),
            auxiliary=(),
            without=SHARED_WITH_EVALUATION,
            synthetic=("rearc", "rearc2"),
            views=512,
            synthetic_view_count=2,  # about half of all examples are generated then
        ),
        reasoner=BASE_WRITER,
        steps=9_000,
        tokens=65_536,
    )


def large() -> TrainConfig:
    """Train a wider base for GPUs, which knows whether colours are the original ones; one piece of a long training."""
    smaller = base()
    return replace(
        smaller,
        data=replace(smaller.data, augment="own-colors", synthetic_view_count=20),
        reasoner=replace(BASE_WRITER, width=512, heads=8, dropout=0.0),
        memory=replace(smaller.memory, colors="flagged"),
        optimizer=replace(smaller.optimizer, cooldown=0.0),  # the last piece falls to zero
        steps=22_000,
    )


# Tasks of ARC-AGI-1's training set on grids up to 10 x 10, picked as ones that a tiny model can mostly learn
# in minutes: a demonstration, not a benchmark. Mirroring (4c4377d9, 6d0aefbc, 8be77c9e, c9e6f938; both ways
# 62c24649, 67e8384a), turning and flipping (3c9b0459, 67a3c6ac, 68b16354), moving (25ff71a9, a79310a0),
# filling (d037b0a7), recolouring (b1948b0a, c8f0f002, d511f180), taking one of two halves (7b7f7511) and the
# logic of two halves (dae9d2b5, fafffa47).
QUICKSTART_TASKS = (
    *("25ff71a9", "3c9b0459", "4c4377d9", "62c24649", "67a3c6ac", "67e8384a"),
    *("68b16354", "6d0aefbc", "7b7f7511", "8be77c9e", "a79310a0", "b1948b0a"),
    *("c8f0f002", "c9e6f938", "d037b0a7", "d511f180", "dae9d2b5", "fafffa47"),
)


# A preset has the name of its function, with dashes.
_FUNCTIONS = (
    *(arc1, arc2, arc1_train, urm_arc1, urm_arc2, trm_arc1, hrm_arc1, varc_arc1, loopvit_arc1),
    *(quickstart, speedrun, speedrun_public, writer, base, large),
)
PRESETS: dict[str, Callable[[], TrainConfig]] = {
    **{function.__name__.replace("_", "-"): function for function in _FUNCTIONS},
    "trm-arc2": partial(on_arc2, trm_arc1, 726_000),
    "hrm-arc2": partial(on_arc2, hrm_arc1, 726_000),
    "loopvit-medium-arc1": partial(loopvit_arc1, LOOPVIT_MEDIUM),
    "loopvit-small-arc1": partial(loopvit_arc1, LOOPVIT_SMALL),
}


def preset(name: str) -> TrainConfig:
    if name in PRESETS:
        return PRESETS[name]()
    if close := get_close_matches(name, PRESETS, 1):
        raise CharmError(f"there is no preset {name}; did you mean {close[0]}?")
    others = " and ".join(f"{domain.prefix}..." for domain in DOMAINS.values() if domain.prefix)
    raise CharmError(
        f"there is no preset {name}; the names are {', '.join(PRESETS)}; other domains have {others}; "
        "`charm reproduce` has the variants of the paper's tables"
    )
