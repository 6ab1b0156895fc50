"""What `charm bench NAME` counts and times, on the CPU."""

from dataclasses import replace

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from charm.arc.presets import preset
from charm.bench import training
from charm.bench.training import measure_training, seconds_each, training_table
from charm.devices import Place
from charm.models.canvas.backbone import Reasoner
from charm.models.canvas.config import HRM, TRM, CanvasConfig
from charm.models.vit.config import LOOPVIT, VARC
from charm.models.vit.network import Vit
from charm.models.writer import cpu
from charm.models.writer.network import Writer
from charm.models.writer.packs import Packs
from charm.tasks.dataset import load_dataset
from charm.tasks.sequences import SEQUENCE_VOCABULARY

SMALL = {"width": 32, "heads": 2, "layers": 2, "prefix": 3, "inner_multiple": 16, "compute_dtype": "float32"}


@pytest.mark.parametrize("base", [CanvasConfig(recurrences=5, horizon=2), TRM, replace(HRM, halt_outputs=1)])
def test_flops_are_those_that_torch_counts(base: CanvasConfig) -> None:
    config, side, batch = replace(base, **SMALL), 4, 3
    reasoner = Reasoner(config)
    tokens, task = torch.zeros(batch, side * side, dtype=torch.long), torch.randn(batch, config.width)

    def count(training: bool) -> int:
        with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
            with torch.set_grad_enabled(training):
                _, logits, halt = reasoner(reasoner.initial_state(batch, side * side), tokens, task, side)
            if training:
                (logits.sum() + halt.sum()).backward()
        return counter.get_total_flops()

    forward, training = config.flops(side)
    assert count(training=False) == batch * forward
    assert count(training=True) == batch * training


@pytest.mark.parametrize("base", [VARC, LOOPVIT])
def test_flops_of_a_vit_are_those_that_torch_counts(base: CanvasConfig) -> None:
    """Besides a part that does not depend on the batch: the vectors of all symbols at all places of a patch."""
    small = {"width": 16, "heads": 2, "layers": 1, "inner_multiple": 16, "compute_dtype": "float32"}
    vit = Vit(replace(base, **small, dropout=0.0))

    def count(batch: int, training: bool) -> int:
        tokens, task = torch.full((batch, 64**2), 3), torch.randn(batch, 16, requires_grad=training)
        with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
            with torch.set_grad_enabled(training):
                _, logits, _ = vit(vit.initial_state(batch, 64**2), tokens, task, 64)
            if training:
                logits.sum().backward()
        return counter.get_total_flops()

    counted = [count(2, training) - count(1, training) for training in (False, True)]
    assert counted == list(vit.config.flops(64))


def test_the_paper_size() -> None:
    """8.69 MFLOP for each of 916 positions in each of 48 layer applications; half of them with a backward pass."""
    forward, training = CanvasConfig().flops(30)
    assert round(forward / 1e9) == 382
    assert round(training / 1e9) == 764


@pytest.mark.parametrize("reads", ["forward", "whole"])
def test_operations_of_a_writer(reads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of torch's count, in which attention computes all pairs of a sequence, but questions alone where it does so."""
    config = replace(preset("base").reasoner, width=32, heads=2, layers=2, inner_multiple=8, compute_dtype="float32")
    config = replace(config, dropout=0.0, reads=reads)
    data = load_dataset(replace(preset("base").data, synthetic=(), train=("arc1/training",), tasks=("25ff71a9",)))
    packs = Packs(Writer(config), data, 2048, 0, Place(torch.device("cpu")))
    packs.prepare(0)
    lengths = packs.pack.edges_N2[:-1].diff().long()  # the padding is not computed
    monkeypatch.setattr(cpu, "has_slow_mkl", lambda: False)  # torch does not count oneDNN's products
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH), torch.no_grad():
        packs.writer.loss(packs.pack, torch.zeros(packs.room, 32))
    asked = (packs.pack.answers_N - packs.pack.edges_N2[:-2]).long()
    counted = lengths**2 - (asked * (lengths - asked) if reads == "whole" else 0)
    needed = lengths * (lengths + 1) // 2 + (asked * (asked - 1) // 2 if reads == "whole" else 0)
    # On a CPU the last layer's queries, its feed-forward part and the head are computed for answers alone.
    unwanted, last = int(asked.sum()), (lengths - asked) * lengths
    saved = 2 * unwanted * (2 * 32**2 + 3 * 32 * config.inner_width + 32 * SEQUENCE_VOCABULARY)
    more = 4 * 32 * int((counted - needed + last - needed).sum())
    assert counter.get_total_flops() + saved - more == config.flops(lengths, asked)[0]


def test_seconds_each_counts_calls() -> None:
    calls = []
    seconds_each(lambda: calls.append(1), 1e-9)
    assert len(calls) >= 5  # warm-up, one to size the run, the run


def test_a_writer_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    base = preset("base")
    data = replace(base.data, train=("arc1/training",), tasks=("25ff71a9",))
    small = replace(base.reasoner, width=32, heads=2, layers=1, inner_multiple=8)
    monkeypatch.setattr(training, "preset", lambda name: replace(base, data=data, reasoner=small))
    found = measure_training("base", 2, "full", Place(torch.device("cpu")), seconds=0.2)
    (packs,) = found["sides"]
    assert (found["batch"], found["canvas"], found["kernels"]) == (2048, "none", "plain")
    assert (found["forward"], found["training"]) == pytest.approx((packs["forward"], packs["training"]))
    assert found["forward"] > found["training"] > 0
    assert found["training_share"] == pytest.approx(packs["training_tflops"] / found["ceiling_tflops"])
    shown, _ = training_table([found])
    assert shown.title == "base, batch 2048 tokens, plain kernels"


def test_a_network_with_one_canvas_or_none_is_measured_once() -> None:
    found = [training._canvases(name, training.ArcBench()) for name in ("arc1", "varc-arc1", "base")]
    assert found == [("full", "fit"), ("large",), ("full",)]


def test_quickstart_is_measured() -> None:
    found = measure_training("quickstart", 2, "fit", Place(torch.device("cpu")), seconds=0.01)
    assert sum(one["share"] for one in found["sides"]) == pytest.approx(1)
    rates = [one["training"] for one in found["sides"]]
    assert min(rates) <= found["training"] <= max(rates)
    assert found["forward"] > found["training"]
    assert found["kernels"] == "plain"
    assert found["peak_gib"] is None
