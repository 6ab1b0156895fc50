"""The paper's runs as data, against its settings written down by hand from its text."""

from __future__ import annotations

import shlex
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from charm.commands.train import parse_preset
from charm.config import flags_between
from charm.domains import domain_of_preset
from charm.errors import CharmError
from charm.paper.plans import commands_by_hand
from charm.paper.runs import SIZE_NAMES, SIZES, VARIANTS, overlay, variant_named, with_fields
from charm.paper.tables import TABLES
from charm.paper.work import Shelf

# From the appendix "System configuration", which holds "unless otherwise stated".
SYSTEM: dict[str, Any] = {
    "batch": 768,
    "halt_weight": 0.5,
    "reasoner.width": 512,
    "reasoner.heads": 8,
    "reasoner.refinement_steps": 16,
    "reasoner.exploration": 0.1,
    "reasoner.prefix": 16,
    "reasoner.rope": "1d",
    "reasoner.rope_base": 10000.0,
    "optimizer.lr": 1e-4,
    "optimizer.weight_decay": 0.1,
    "optimizer.betas": (0.9, 0.95),
    "optimizer.row_lr": 1e-2,
    "optimizer.row_weight_decay": 0.1,
    "optimizer.warmup": 2000,
    "optimizer.cooldown": 0.0,
    "optimizer.ema": 0.999,
    "data.views": 1000,
    "data.color_pool": 0,
    "data.canvas": "full",
    "memory.residual": "rows",
    "memory.composer": "film",
    "memory.gate": False,
    "memory.task_width": 0,
}
CHARM = {
    "reasoner.kind": "urm",
    "reasoner.layers": 4,
    "reasoner.recurrences": 12,
    "reasoner.horizon": 6,
    "reasoner.ffn": "conv_swiglu",
    "optimizer.dense": "muon",
    "optimizer.factors": "muon",
    "checkpoint_every": 10_000,
    "evaluate_every": 10_000,
    "memory.dihedral": "lookup",
}
# "Models are trained on the ARC-AGI-1 training set for 170k steps", with TRM's backbone.
TRAIN = {
    **SYSTEM,
    "steps": 170_000,
    "data.train": (),
    "data.evaluate": ("arc1/training",),
    "data.auxiliary": (),
    "data.synthetic": (),
    "reasoner.kind": "trm",
    "reasoner.layers": 2,
    "reasoner.recurrences": 3,
    "reasoner.inner": 4,
    "reasoner.ffn": "swiglu",
    "optimizer.dense": "adamw",
}
PUBLIC = {
    **SYSTEM,
    **CHARM,
    "data.train": ("arc1/training",),
    "data.evaluate": ("arc1/evaluation",),
    "data.auxiliary": ("concept-arc",),
    "data.auxiliary_repeats": 2,
    "data.evaluate_repeats": 2,
    "steps": 600_000,
}
TABLE = {"memory.design": "table"}
COSE = {"memory.design": "cose"}
SLOTS = {**COSE, "memory.dihedral": "slots"}
LOOKUP = {**COSE, "memory.dihedral": "lookup", "memory.rank": 0}
REARC = {**PUBLIC, "data.synthetic": ("rearc",), "data.synthetic_view_count": 100}
REARC2 = {
    **REARC,
    "data.train": ("arc2/training",),
    "data.evaluate": ("arc2/evaluation",),
    "data.synthetic": ("rearc", "rearc2"),
    "steps": 1_000_000,
}
ADAMW = {"optimizer.dense": "adamw", "optimizer.factors": "adamw"}


def mix(views: int, repeats: int) -> dict[str, Any]:
    return {"data.synthetic_view_count": views, "data.evaluate_repeats": repeats}


def sweep(unique: int, times: int, learning: int, updates: int) -> dict[str, Any]:
    return {
        **{name: value for name, value in TRAIN.items() if not name.startswith("reasoner")},
        **TABLE,
        "memory.rank": 512,
        "reasoner.kind": "urm",
        "reasoner.width": 512,
        "reasoner.ffn": "swiglu",
        "reasoner.layers": unique,
        "reasoner.recurrences": times,
        "reasoner.learning_layers": learning,
        "steps": updates,
    }


# "hidden width 256, two unique Transformer layers, six recurrent applications, a three-step learning horizon, and four
# outer refinement steps"; "AdamW at dense learning rate 1e-4, task-memory learning rate 1e-2, ..."
AUTOMATA = {
    "reasoner.width": 256,
    "reasoner.layers": 2,
    "reasoner.recurrences": 6,
    "reasoner.horizon": 3,
    "reasoner.refinement_steps": 4,
    "optimizer.dense": "adamw",
    "optimizer.lr": 1e-4,
    "optimizer.factor_lr": 1e-2,
    "optimizer.row_lr": 1e-2,
    "optimizer.betas": (0.9, 0.95),
    "optimizer.weight_decay": 0.1,
    "optimizer.warmup": 2000,
    "optimizer.cooldown": 0.0,
    "batch": 1536,
    "evaluate_every": 20_000,
    "data.canvas": 30,
    "data.benchmark.rules": 500,
    "data.benchmark.examples": 500,
    "data.benchmark.horizons": (1, 2, 4, 8),
    "data.benchmark.side": 16,
}
CAR_SETTINGS = {
    "full-table": {"memory.design": "table", "memory.rank": 256},
    "low-rank": {"memory.design": "table", "memory.rank": 16},
    "two-factor": {"memory.design": "cose", "memory.key": "rule-horizon", "memory.rank": 0},
    "two-factor-cose": {"memory.design": "cose", "memory.key": "rule-horizon", "memory.rank": 16},
    "three-factor": {"memory.design": "cose", "memory.key": "rule+horizon", "memory.rank": 0},
    "three-factor-cose": {"memory.design": "cose", "memory.key": "rule+horizon", "memory.rank": 16},
}
# "a depth-12 backbone, a 524,288-token global batch"; "10,485,760 validation tokens every 250 steps"
D12 = {
    "gpt.depth": 12,
    "gpt.vocab": 32_768,
    "batch": 524_288,
    "optimizer.memory_multiplier": 5.0,
    "evaluate_every": 250,
    "evaluate_tokens": 10_485_760,
}
D20 = {**D12, "gpt.depth": 20, "batch": 1_048_576}
# "1,000 updates with global batch 128 and a 20-step warmup", ...
STREAM = {
    "recipe.steps": 1000,
    "recipe.batch": 128,
    "recipe.warmup": 20,
    "recipe.task_lr": 1e-2,
    "recipe.row_lr": 1e-2,
    "recipe.row_decay": 0.1,
    "recipe.shared_lr": 1e-4,
    "recipe.shared_decay": 0.1,
    "recipe.betas": (0.9, 0.95),
    "evaluate_views": 128,
    "base_views": 64,
    "base_tasks": 60,
    "recheck_every": 15,
}
SETTINGS: dict[str, dict[str, Any]] = {
    # tab:cppool, tab:lowrank-ablations
    "train.table": {**TRAIN, **TABLE, "memory.rank": 512},
    "train.table-pooled": {**TRAIN, **TABLE, "memory.rank": 512, "data.color_pool": 1000},
    "train.separate": {**TRAIN, "memory.design": "separate", "memory.color_pool": 0},
    "train.separate-pooled": {
        **TRAIN,
        "memory.design": "separate",
        "memory.color_pool": 1000,
        "data.color_pool": 1000,
    },
    "train.table-r128": {**TRAIN, **TABLE, "memory.rank": 128},
    "train.table-r64": {**TRAIN, **TABLE, "memory.rank": 64},
    "train.table-r32": {**TRAIN, **TABLE, "memory.rank": 32},
    "train.table-r8": {**TRAIN, **TABLE, "memory.rank": 8},
    # tab:compo-ablations
    "train.film": {**TRAIN, **LOOKUP},
    "train.composition": {**TRAIN, **SLOTS, "memory.rank": 0},
    "train.hypernetwork": {**TRAIN, **LOOKUP, "memory.composer": "hypernetwork"},
    "train.film-deep": {**TRAIN, **LOOKUP, "memory.composer": "film-deep"},
    "train.film-larger": {**TRAIN, **LOOKUP, "reasoner.layers": 4},
    "train.film-add": {**TRAIN, **LOOKUP, "memory.composer": "film-add"},
    "train.experts": {**TRAIN, **LOOKUP, "memory.composer": "experts"},
    "train.film-wide": {**TRAIN, **LOOKUP, "memory.composer": "film-wide"},
    "train.add": {**TRAIN, **LOOKUP, "memory.composer": "add"},
    "train.film-heads": {**TRAIN, **LOOKUP, "memory.composer": "film-heads"},
    # tab:cose-arc1training-ablations
    "train.cose": {**TRAIN, **SLOTS, "memory.rank": 32},
    "train.cose-gated": {**TRAIN, **SLOTS, "memory.rank": 32, "memory.gate": True},
    "train.cose-engram": {**TRAIN, **SLOTS, "memory.rank": 32, "memory.residual": "keyed"},
    # tab:full-cose-ablation-no-rearc
    "plain.table": {**PUBLIC, **TABLE, "memory.rank": 512, "data.synthetic": ()},
    "plain.table-r32": {**PUBLIC, **TABLE, "memory.rank": 32, "data.synthetic": ()},
    "plain.composition": {**PUBLIC, **COSE, "memory.rank": 0, "data.synthetic": ()},
    "plain.cose": {**PUBLIC, **COSE, "memory.rank": 32, "data.synthetic": ()},
    "plain.cose-gated": {**PUBLIC, **COSE, "memory.rank": 32, "memory.gate": True, "data.synthetic": ()},
    # tab:full-cose-ablation
    "arc1.table": {**REARC, **TABLE, "memory.rank": 512},
    "arc1.table-r32": {**REARC, **TABLE, "memory.rank": 32},
    "arc1.composition": {**REARC, **COSE, "memory.rank": 0},
    "arc1.cose": {**REARC, **COSE, "memory.rank": 32},
    "arc1.cose-gated": {**REARC, **COSE, "memory.rank": 32, "memory.gate": True},
    "arc1.cose-r512": {**REARC, **COSE, "memory.rank": 512},
    # tab:arc1-rearc-data-ablations, tab:data-ratio, tab:optimizer-ablations
    "arc1.table-v10-e1": {**REARC, **ADAMW, **TABLE, "memory.rank": 512, **mix(10, 1)},
    **{
        f"arc1.cose-adamw-v{views}-e{repeats}": {
            **REARC,
            **ADAMW,
            **COSE,
            "memory.rank": 32,
            **mix(views, repeats),
        }
        for views, repeats in [
            *((10, 1), (10, 2), (10, 5), (10, 10)),
            *((100, 1), (100, 2), (100, 5), (100, 10), (100, 20), (100, 50), (100, 100)),
        ]
    },
    "arc1.cose-muon-v10-e1": {**REARC, **COSE, "memory.rank": 32, **mix(10, 1)},
    "arc1.cose-muon-v100-e1": {**REARC, **COSE, "memory.rank": 32, **mix(100, 1)},
    # tab:arc-repeat-ablation, tab:arc2-rearc-data-ablations
    "arc2.table": {**REARC2, **TABLE, "memory.rank": 512},
    "arc2.cose": {**REARC2, **COSE, "memory.rank": 32},
    "arc2.cose-gated": {**REARC2, **COSE, "memory.rank": 32, "memory.gate": True},
    "arc2.cose-v10": {**REARC2, **COSE, "memory.rank": 32, "data.synthetic_view_count": 10},
    "arc2.cose-rearc": {**REARC2, **COSE, "memory.rank": 32, "data.synthetic": ("rearc",)},
    **{
        f"arc1-plain.{name}": {**PUBLIC, **memory, "data.synthetic": ()}
        for name, memory in {
            "table": {**TABLE, "memory.rank": 512},
            "cose-gated": {**COSE, "memory.rank": 32, "memory.gate": True},
        }.items()
    },
    "arc2-plain.table": {**REARC2, **TABLE, "memory.rank": 512, "data.synthetic": ()},
    "arc2-plain.cose": {**REARC2, **COSE, "memory.rank": 32, "data.synthetic": ()},
    "arc2-plain.cose-gated": {**REARC2, **COSE, "memory.rank": 32, "memory.gate": True, "data.synthetic": ()},
    # tab:overall-arc-performance: the others are their authors' own.
    "systems.charm-arc1": {**REARC, **COSE, "memory.rank": 32, "memory.gate": True, "steps": 1_600_000},
    "systems.charm-arc2": {**REARC2, **COSE, "memory.rank": 32, "steps": 2_380_000},
    **{
        f"systems.{name}-arc{number}": {
            **TABLE,
            "memory.rank": 512,
            "reasoner.kind": name,
            "reasoner.layers": layers,
            "data.train": (f"arc{number}/training",),
            "data.evaluate": (f"arc{number}/evaluation",),
            "data.auxiliary": ("concept-arc",),
            "data.synthetic": (),
            "data.balanced": True,
            "optimizer.dense": "urm-muon" if (name, number) == ("urm", 2) else "adam-atan2",
        }
        for name, layers in (("hrm", 4), ("trm", 2), ("urm", 4))
        for number in (1, 2)
    },
    # tab:scaling: total depth, unique layers, applications, updates.
    **{
        f"sweep.L{depth}-U{unique}": sweep(unique, times, depth // 2, updates)
        for depth, updates, shapes in (
            (12, 67_588, [(2, 6), (3, 4), (4, 3), (6, 2)]),
            (24, 33_794, [(2, 12), (3, 8), (4, 6), (6, 4), (8, 3), (12, 2)]),
            (48, 16_897, [(2, 24), (4, 12), (6, 8), (8, 6), (12, 4), (24, 2)]),
        )
        for unique, times in shapes
    },
    # tab:scaling-tbptt
    **{
        f"sweep.U{unique}-H{layers}": sweep(unique, times, layers, updates)
        for unique, times, updates, horizons in (
            (2, 12, 67_588, [6, 12, 18, 24]),
            (3, 8, 67_588, [3, 6, 12, 18, 24]),
            (4, 6, 67_588, [4, 8, 12]),
            (6, 4, 50_691, [6, 12, 18, 24]),
            (12, 2, 33_794, [12, 16, 20, 24]),
        )
        for layers in horizons
    },
    # tab:car-single-horizon, tab:car-all-horizons
    **{
        f"{group}.{name}": {**AUTOMATA, "data.split": split, "steps": updates, **CAR_SETTINGS[name]}
        for group, split, updates, names in (
            ("car", "single", 500_000, ["full-table", "low-rank", "three-factor", "three-factor-cose"]),
            ("car-280k", "single", 280_000, list(CAR_SETTINGS)),
            ("car-all", "all", 280_000, list(CAR_SETTINGS)),
        )
        for name in names
    },
    # tab:nanochat-d12, -width, -d20, -token-budget
    "text.d12": {**D12, "ngram.variant": "none"},
    "text.d12-cose-x0": {**D12, "ngram.variant": "cose", "ngram.rows": 0},
    **{
        f"text.d12-{kind}-x{times}": {
            **D12,
            "ngram.variant": kind,
            "ngram.rows": times * 32_768,
            "ngram.width": 384,
        }
        for kind in ("engram", "cose")
        for times in (5, 10, 20, 40)
    },
    **{
        f"text.d12-{kind}-x5-w{width}": {
            **D12,
            "ngram.variant": kind,
            "ngram.rows": 163_840,
            "ngram.width": width,
        }
        for kind in ("engram", "cose", "mixture")
        for width in (24, 48, 96)
    },
    **{
        f"text.d20-{kind}-x{times}": {
            **D20,
            "ngram.variant": kind,
            "ngram.rows": times * 32_768,
            "ngram.width": 640,
        }
        for kind in ("engram", "cose")
        for times in (5, 10, 20)
    },
    **{
        f"text.d12-{kind}-x5-4640M": {**D12, "ngram.variant": kind, "ngram.rows": 163_840, "steps": 8850}
        for kind in ("engram", "cose")
    },
    **{
        f"text.d20-{kind}-x5-1190M": {**D20, "ngram.variant": kind, "ngram.rows": 163_840, "steps": 1135}
        for kind in ("engram", "cose")
    },
    # Continual learning: "600k-step ARC-AGI-1 checkpoints pretrained with Muon", ungated by their counts.
    "bases.cose-r0-t32": {**REARC, **COSE, "memory.rank": 0, "memory.task_width": 32},
    "bases.cose-r0": {**REARC, **COSE, "memory.rank": 0},
    "bases.cose-r32-t32": {**REARC, **COSE, "memory.rank": 32, "memory.task_width": 32},
    "bases.cose-r32": {**REARC, **COSE, "memory.rank": 32},
    "bases.cose-r512": {**REARC, **COSE, "memory.rank": 512},
    "bases.table-r32": {**REARC, **TABLE, "memory.rank": 32},
    "bases.table-r512": {**REARC, **TABLE, "memory.rank": 512},
    **{
        f"{group}.{base}-{method}-h{weight}": {
            **STREAM,
            "stream": stream,
            "method": method,
            "scope": scope,
            "recipe.halt_weight": float(weight),
        }
        for group, stream in (("stream1", "arc2-training"), ("stream2", "arc2-evaluation"))
        for base in (*("cose-r0-t32", "cose-r0", "cose-r32-t32", "cose-r32", "cose-r512", "table-r32", "table-r512"),)
        for method, scope in (("memory-only", "rows"), ("oracle", "full"), ("joint", "full"))
        for weight in ("0.5", "0")
    },
    **{
        f"stream1.{method}-{scope}-h{weight}": {
            **STREAM,
            "stream": "arc2-training",
            "method": method,
            "scope": scope,
            "recipe.halt_weight": float(weight),
        }
        for method in ("l2sp", "rehearsal", "ewc", "naive")
        for scope in ("composition", "full")
        for weight in ("0.5", "0")
    },
}
TOKENS = {
    "text.d12": 1.19e9,
    "text.d20-cose-x5": 4.64e9,
    "text.d12-cose-x5-4640M": 4.64e9,
    "text.d20-cose-x5-1190M": 1.19e9,
}


def value_of(config: Any, name: str) -> Any:
    for part in name.split("."):
        config = getattr(config, part)
    return config


def test_every_variant_has_its_settings_written_down() -> None:
    assert set(VARIANTS) == set(SETTINGS)


@pytest.mark.parametrize("key", SETTINGS)
def test_full_size_is_what_the_paper_says(key: str) -> None:
    config = VARIANTS[key].at("full")
    wrong = {
        name: (value_of(config, name), wanted)
        for name, wanted in SETTINGS[key].items()
        if value_of(config, name) != wanted
    }
    assert not wrong


def test_language_models_see_the_papers_tokens() -> None:
    for key, tokens in TOKENS.items():
        config = VARIANTS[key].at("full")
        assert config.steps * config.batch == pytest.approx(tokens, rel=0.003)


SOME = (  # parsing takes half a second, so not every variant
    *("train.table", "train.film-larger", "plain.cose-gated", "arc1.cose-adamw-v10-e5", "arc2.cose-v10"),
    *("systems.hrm-arc2", "sweep.L12-U4", "car-280k.low-rank", "car-all.two-factor", "text.d12-cose-x0"),
    *("text.d20-cose-x5-1190M", "bases.cose-r32-t32"),
)


@pytest.mark.parametrize("key", SOME)
def test_commands_start_the_same_runs(key: str) -> None:
    """The command that a dry run prints, parsed by `charm train`.

    Fields without effect are no flags, so they must have the preset's values, unless they are switched off.
    """
    for size in SIZES[VARIANTS[key].group]:
        run = Shelf(Path("out"), size).run(VARIANTS[key], 2)
        _, _, preset, *flags = shlex.split(commands_by_hand(run)[0])
        base = domain_of_preset(preset).configuration(preset)
        assert flags[-2:] == ["--out", str(run.folder)]
        found = parse_preset(preset, base, flags[:-2]).config
        expected = wanted = run.config
        for name in getattr(wanted, "idle", ()):
            if attrgetter(name)(wanted) is not False:
                head, _, last = name.rpartition(".")
                own = {last: attrgetter(name)(base)}
                expected = with_fields(expected, {head: own} if head else own)
        assert found == expected
        assert getattr(found, "idle", ()) == getattr(wanted, "idle", ())


@pytest.mark.parametrize("size", SIZE_NAMES)
def test_runs_that_share_a_name_are_the_same(size: Any) -> None:
    homes: dict[str, Any] = {}
    for variant in VARIANTS.values():
        if size in SIZES[variant.group]:
            config = variant.at(size)
            assert homes.setdefault(variant.home(size), config) == config
    if size == "small":
        assert VARIANTS["plain.cose"].home(size) == VARIANTS["train.cose"].home(size) == "train.cose"
    if size == "full":
        twice = [variant for variant in VARIANTS.values() if variant.group == "arc1-plain"]
        assert len(homes) == len(VARIANTS) - len(twice)
        assert {variant.home(size) for variant in twice} == {f"plain.{variant.name}" for variant in twice}


def test_with_and_without_rearc_are_compared_on_the_same_tasks() -> None:
    with_pairs, without = (VARIANTS[f"{group}.cose-gated"].at("small").data for group in ("arc1", "arc1-plain"))
    assert with_pairs.synthetic == ("rearc",)
    assert without == replace(with_pairs, synthetic=())


@pytest.mark.parametrize("group", SIZES)
def test_smaller_sizes_keep_variants_apart(group: str) -> None:
    mine = [variant for variant in VARIANTS.values() if variant.group == group]
    assert mine
    for size in ("cpu", "small", "full"):
        if size in SIZES[group]:
            names: dict[Any, list[str]] = {}
            for variant in mine:  # streams differ in their bases too
                kind = (variant.at(size), variant.base.key if variant.base else "")
                names.setdefault(kind, []).append(variant.name)
            same = [some for some in names.values() if len(some) > 1]
            # The paper has this point of the backbone's sweeps twice, with other scores.
            assert same == ([["L24-U12", "U12-H12"]] if group == "sweep" else [])


def test_a_size_that_a_group_does_not_have() -> None:
    with pytest.raises(CharmError, match=r"arc1\.cose has no size cpu; its sizes are smoke, small, full"):
        VARIANTS["arc1.cose"].at("cpu")


def test_small_keeps_the_proportions_of_the_memory() -> None:
    small = VARIANTS["train.cose"].at("small")
    assert (small.memory.rank, small.reasoner.width) == (16, 256)
    assert VARIANTS["train.table"].at("small").memory.rank == 256
    assert VARIANTS["train.table-r8"].at("small").memory.rank == 4
    assert VARIANTS["train.film-larger"].at("small").reasoner.layers == 2 * small.reasoner.layers


def test_lines_name_variants_and_claims_name_lines() -> None:
    for table in TABLES.values():
        keys = [line.key for line in table.runs]
        assert len(set(keys)) == len(keys), table.label
        for line in table.runs:
            assert line.run in VARIANTS
            assert all(line.printed_mean(measure) >= 0 for measure in line.paper)
            assert line.seeds > 1 or not any("±" in cell for cell in line.paper.values()), line
        for claim in table.claims:
            assert table.paper_difference(claim) != 0, (table.label, claim)
    used = {line.run for table in TABLES.values() for line in table.runs}
    assert used | {key for key in VARIANTS if key.startswith("bases.")} == set(VARIANTS)


def test_fields_and_flags() -> None:
    config = VARIANTS["train.cose"].full()
    changes: dict[str, Any] = {"memory": {"gate": True, "rank": 8}, "data": {"synthetic": ("rearc",)}}
    changed = with_fields(config, changes)
    assert (changed.memory.gate, changed.memory.rank) == (True, 8)
    assert flags_between(config, changed) == [
        *("--memory.rank", "8", "--memory.gate", "--data.synthetic", "rearc"),
    ]
    assert flags_between(changed, config) == [
        *("--memory.rank", "32", "--memory.no-gate", "--data.synthetic"),
    ]
    assert flags_between(config, replace(config, shard_tables=True)) == ["--shard-tables"]
    with pytest.raises(CharmError, match="no field 'memoryy'"):
        with_fields(config, {"memoryy": {"gate": True}})
    more = overlay(changes, {"memory": {"rank": 4}, "steps": 2})
    assert more == {"memory": {"gate": True, "rank": 4}, "data": {"synthetic": ("rearc",)}, "steps": 2}
    assert changes["memory"]["rank"] == 8
    with pytest.raises(CharmError, match="there is no variant 'a'"):
        variant_named("a")
