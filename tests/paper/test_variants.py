"""The paper's runs as data, against its settings written down by hand from its text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from charm.commands.presets import parse_preset
from charm.domains import domain_of_preset
from charm.errors import CharmError
from charm.paper.printed import PRINTED
from charm.paper.variants import GROUPS, SIZE_NAMES, VARIANTS, flags_between, variant_named, with_fields

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


@pytest.mark.parametrize("key", VARIANTS)
def test_commands_start_the_same_runs(key: str) -> None:
    """The command that a dry run prints, parsed by `charm train`."""
    for size in SIZE_NAMES:
        preset, flags = VARIANTS[key].flags(size, seed=2)
        base = domain_of_preset(preset).configuration(preset)
        assert parse_preset("charm train", preset, base, flags).config == VARIANTS[key].at(size, seed=2)


@pytest.mark.parametrize("size", SIZE_NAMES)
def test_runs_that_share_a_name_are_the_same(size: Any) -> None:
    homes: dict[str, Any] = {}
    for variant in VARIANTS.values():
        config = variant.at(size)
        assert homes.setdefault(variant.home(size), config) == config
    if size == "small":
        assert VARIANTS["plain.cose"].home(size) == VARIANTS["train.cose"].home(size) == "train.cose"
    if size == "full":
        assert len(homes) == len(VARIANTS)


@pytest.mark.parametrize("group", GROUPS)
def test_smaller_sizes_keep_variants_apart(group: str) -> None:
    for size in SIZE_NAMES:
        mine = [variant for variant in VARIANTS.values() if variant.group == group]
        assert len({variant.at(size) for variant in mine}) == len(mine)


def test_small_keeps_the_proportions_of_the_memory() -> None:
    small = VARIANTS["train.cose"].at("small")
    assert (small.memory.rank, small.reasoner.width) == (16, 256)
    assert VARIANTS["train.table"].at("small").memory.rank == 256
    assert VARIANTS["train.table-r8"].at("small").memory.rank == 4
    assert VARIANTS["train.film-larger"].at("small").reasoner.layers == 2 * small.reasoner.layers


def test_lines_name_variants_and_claims_name_lines() -> None:
    for table in PRINTED.values():
        keys = [line.key for line in table.lines]
        assert len(set(keys)) == len(keys), table.label
        for line in table.runs:
            assert line.run in VARIANTS
            assert all(line.printed(measure) >= 0 for measure in line.paper)
            assert line.seeds > 1 or not any("±" in cell for cell in line.paper.values()), line
        for claim in table.claims:
            first, second = table.line(claim.first), table.line(claim.second)
            assert first.printed(claim.measure) != second.printed(claim.measure)
    assert {line.run for table in PRINTED.values() for line in table.runs} == set(VARIANTS)


def test_fields_and_flags() -> None:
    config = VARIANTS["train.cose"].full()
    changed = with_fields(config, {"memory.gate": True, "memory.rank": 8, "data.synthetic": ("rearc",)})
    assert (changed.memory.gate, changed.memory.rank) == (True, 8)
    assert flags_between(config, changed) == [
        *("--memory.rank", "8", "--memory.gate", "--data.synthetic", "rearc"),
    ]
    assert flags_between(changed, config) == [
        *("--memory.rank", "32", "--memory.no-gate", "--data.synthetic"),
    ]
    assert flags_between(config, replace(config, shard_tables=True)) == ["--shard-tables"]
    with pytest.raises(CharmError, match="no field 'memoryy'"):
        with_fields(config, {"memoryy.gate": True})
    with pytest.raises(CharmError, match="there is no variant 'a'"):
        variant_named("a")
