"""What `charm bench lm-d12 ...` counts and times, on the CPU."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from charm.bench import language as bench_lm
from charm.bench.language import LMBench
from charm.devices import Place
from charm.errors import CharmError
from charm.language.config import LMConfig
from charm.language.gpt import GPT
from tests.toy.language import MEMORIES, TOY_GPT, VOCAB, toy_config


@pytest.mark.parametrize("name", ["stock", "cose", "mixture"])
def test_flops_are_those_that_torch_counts(name: str) -> None:
    """torch counts attention as if nothing were masked, so that count is replaced."""
    batch, length = 3, TOY_GPT.length
    config = LMConfig(TOY_GPT, MEMORIES[name], batch=length, evaluate_tokens=length)
    model = GPT(TOY_GPT, MEMORIES[name], 0)
    ids = torch.randint(0, VOCAB, (batch, length))
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        model(ids, ids).sum().backward()
    unmasked = 3 * 4 * TOY_GPT.model_width * TOY_GPT.depth * length
    short, full = sum(min(t, 6) + 1 for t in range(length)) / length, (length + 1) / 2
    masked = 3 * 4 * TOY_GPT.model_width * (3 * short + full)
    saved = 0  # the token embeddings that two composers read get no gradient
    if name != "stock":
        width = TOY_GPT.model_width
        saved = 2 * 2 * (width * width // 2 + 2 * width * width // 2)
    assert bench_lm.flops(config) - masked + unmasked - saved == pytest.approx(
        counter.get_total_flops() / batch / length
    )


def test_presets_are_timed_beside_the_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def preset(name: str) -> LMConfig:
        return replace(toy_config(None), ngram=MEMORIES[name])  # type: ignore[arg-type]

    monkeypatch.setattr(bench_lm, "lm_preset", preset)
    here = Place(torch.device("cpu"))
    found = bench_lm.measure_lm(["stock", "engram"], LMBench(seconds=0.05), here)
    assert [one["preset"] for one in found] == ["stock", "engram"]
    with pytest.raises(CharmError, match="no prepared text here"):
        bench_lm.measure_lm(["stock"], LMBench(data=tmp_path / "nowhere", seconds=0.05), here)
    for one in found:
        assert one["cost"] == pytest.approx(one["update_seconds"] / found[0]["update_seconds"])
        assert one["tokens_per_second"] == pytest.approx(8 * TOY_GPT.length / one["update_seconds"])
        assert one["loss"] == pytest.approx(found[0]["loss"], rel=0.1)
        assert one["share"] == pytest.approx(one["tflops"] / one["ceiling_tflops"])


def test_a_model_that_diverges_is_not_timed(monkeypatch: pytest.MonkeyPatch) -> None:
    config = toy_config(None)  # type: ignore[arg-type]
    rates = replace(config.optimizer, matrix_lr=1e30, head_lr=1e30)
    monkeypatch.setattr(bench_lm, "lm_preset", lambda name: replace(config, optimizer=rates))
    with pytest.raises(CharmError, match="the loss is nan after a few updates"):
        bench_lm.measure_lm(["wild"], LMBench(seconds=0.05), Place(torch.device("cpu")))
