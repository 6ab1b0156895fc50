"""Which optimizer moves what, and how fast: the table of the spec, row by row."""

import math
from dataclasses import replace

import pytest
import torch
from torch.optim import AdamW

from charm.language.config import Dtype, LMConfig
from charm.language.gpt import GPT
from charm.language.optimizers import LMOptimizers, NorMuon, parameter_groups, schedule
from charm.language.presets import lm_preset
from tests.toy.language import MEMORIES, TOY_GPT, canonical


@pytest.mark.parametrize("name", MEMORIES)
def test_every_parameter_is_in_one_group(name: str) -> None:
    model = GPT(TOY_GPT, MEMORIES[name], None)
    config = replace(lm_preset("lm-tiny"), gpt=TOY_GPT, ngram=MEMORIES[name], batch=240, evaluate_tokens=240)
    groups = parameter_groups(model, config)
    members = [id(p) for some in groups.values() for group in some for p in group["params"]]
    assert sorted(members) == sorted(id(p) for p in model.parameters())
    assert all(p.dim() == 2 for group in groups["muon"] for p in group["params"])


@pytest.mark.parametrize("preset", ["lm-d12-mixture-x5-w24", "lm-d20-mixture-x5-w40"])
def test_rates_are_those_of_the_spec(preset: str) -> None:
    config = lm_preset(preset)
    with torch.device("meta"):
        model = GPT(config.gpt, replace(config.ngram, rows=1), None)
    groups = parameter_groups(model, config)
    deep = config.gpt.depth == 20
    batch = math.sqrt(2) if deep else 1.0
    width = batch * math.sqrt(768 / 1280) if deep else 1.0
    found = {
        name: (group["lr"], group.get("betas"), group["weight_decay"])
        for some in groups.values()
        for group in some
        for name, parameter in model.named_parameters()
        if any(parameter is one for one in group["params"])
    }
    wd = 0.1 if deep else 0.28
    expected = {
        "embedding.weight": (0.3 * width, (0.8, 0.995), 0.001),
        "values.1.weight": (0.15 * width, (0.8, 0.995), 0.01),
        "head.weight": (0.008 * width, (0.8, 0.96), 0.01),
        "residual_scale": (0.005 * batch, (0.8, 0.95), 0.05),
        "input_scale": (0.5 * batch, (0.96, 0.95), 0.0),
        "smear": (0.2, (0.8, 0.95), 0.0),
        "backout": (0.2, (0.8, 0.95), 0.0),
        "blocks.0.widen.weight": (0.02 * batch, None, wd),
        "memories.1.key.weight": (0.02 * batch, None, wd),
        "memories.1.tables.rows.weight": (0.1 * batch, (0.8, 0.995), 0.0),
        "memories.1.convolution.weight": (0.02 * batch, (0.8, 0.95), 0.0),
        "memories.1.router.weight": (0.02 * batch, (0.8, 0.95), 0.0),
    }
    for name, (lr, betas, decay) in expected.items():
        assert found[name][0] == pytest.approx(lr), name
        assert found[name][1:] == (betas, decay), name


def test_the_multiplier_may_reach_all_of_the_memory() -> None:
    config = lm_preset("lm-d12-mixture-x5-w24")
    with torch.device("meta"):
        model = GPT(config.gpt, replace(config.ngram, rows=1), None)
    wide = replace(config, optimizer=replace(config.optimizer, memory_scope="all", memory_multiplier=3.0))
    groups = parameter_groups(model, wide)
    assert groups["tables"][0]["lr"] == pytest.approx(0.06)
    assert groups["muon"][1]["lr"] == pytest.approx(0.06)
    assert groups["adamw"][-1]["lr"] == pytest.approx(0.06)
    assert groups["muon"][0]["lr"] == pytest.approx(0.02)


def test_schedules() -> None:
    config = LMConfig(steps=2000)
    rates, momenta, decays = zip(*(schedule(step, config) for step in range(2000)), strict=True)
    assert rates[0] == 1 / 40
    assert rates[39] == 1
    assert rates[700] == 1  # the last 65 % begin here
    assert rates[1350] == pytest.approx(0.05 + 0.95 / 2)
    assert rates[1999] == pytest.approx(0.05 + 0.95 / 1300)
    assert momenta[0] == 0.85
    assert momenta[200] == pytest.approx(0.91)
    assert momenta[400] == momenta[699] == 0.97
    assert momenta[1350] == pytest.approx(0.935)
    assert momenta[1999] == pytest.approx(0.90, abs=1e-4)
    assert decays[0] == 1
    assert decays[1000] == pytest.approx(0.5)
    assert decays[1999] == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_every_update_has_the_settings_of_its_place_in_the_run(dtype: Dtype) -> None:
    gpt = replace(TOY_GPT, table_dtype=dtype)
    config = LMConfig(gpt, MEMORIES["mixture"], batch=240, evaluate_tokens=240, steps=1000)
    optimizers = LMOptimizers(GPT(config.gpt, config.ngram, 0, canonical(), 0), config)
    assert [type(one) for one in optimizers.all] == [NorMuon, AdamW, AdamW]
    adams = [group for one in optimizers.all[1:] for group in one.param_groups]
    decays = [group["weight_decay"] for group in adams]
    assert {group["eps"] for group in adams} == {1e-10}
    full = [group["lr"] for one in optimizers.all for group in one.param_groups]
    for update in (0, 20, 500, 999):
        optimizers.set_rates(update)
        rate, momentum, decay = schedule(update, config)
        found = [group["lr"] for one in optimizers.all for group in one.param_groups]
        assert found == pytest.approx([rate * lr for lr in full])
        for group in optimizers.all[0].param_groups:
            assert group["momentum"] == momentum
            assert group["weight_decay"] == pytest.approx(0.28 * decay)
            assert group["beta2"] == 0.9
        assert [group["weight_decay"] for group in adams] == decays  # only Muon's falls
