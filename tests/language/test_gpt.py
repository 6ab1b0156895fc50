"""The backbone: counts of the paper, causality, its beginning, and a slow float64 version of all of it."""

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from charm.errors import CharmError
from charm.language.config import GPTConfig, NgramConfig
from charm.language.gpt import GPT, attend, components
from tests.toy.language import MEMORIES, TOY_GPT, VOCAB, canonical, slow_memory, slow_norm


def stirred(name: str, seed: int = 0) -> GPT:
    """A model in which nothing is zero, so that every path matters."""
    model = GPT(TOY_GPT, MEMORIES[name], seed, canonical(), 5)
    generator = torch.Generator().manual_seed(seed + 1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    return model


@pytest.mark.parametrize(("depth", "total"), [(12, 286_261_730), (20, 896_533_746)])
def test_the_backbones_have_the_parameters_of_the_spec(depth: int, total: int) -> None:
    found = components(GPTConfig(depth), NgramConfig())
    width, layers = 64 * depth, depth
    assert found["embedding"] == found["head"] == 32_768 * width
    assert found["value tables"] == layers // 2 * 32_768 * width
    assert found["blocks"] == 12 * layers * width**2 + layers // 2 * 12 * (width // 128)
    assert found["scalars"] == 2 * layers + 26
    assert found["total"] == found["backbone"] == total


@pytest.mark.parametrize("name", MEMORIES)
def test_a_token_changes_no_logit_before_it(name: str) -> None:
    model = stirred(name)
    ids = torch.randint(0, VOCAB, (2, 24), generator=torch.Generator().manual_seed(3))
    before = model(ids)
    for t in (0, 1, 7, 16, 23):
        changed = ids.clone()
        changed[:, t] = (changed[:, t] + 1 + torch.arange(2)) % VOCAB
        after = model(changed)
        assert torch.equal(before[:, :t], after[:, :t])
        assert not torch.equal(before[:, t], after[:, t])


@pytest.mark.parametrize("name", MEMORIES)
def test_a_shorter_row_gives_the_same_logits(name: str) -> None:
    """So a sampled token sees what a trained one did."""
    model = stirred(name)
    ids = torch.randint(0, VOCAB, (2, 24), generator=torch.Generator().manual_seed(4))
    torch.testing.assert_close(model(ids)[:, :10], model(ids[:, :10]), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", MEMORIES)
def test_every_variant_begins_as_the_stock_model(name: str) -> None:
    ids = torch.randint(0, VOCAB, (2, 24), generator=torch.Generator().manual_seed(5))
    stock = GPT(TOY_GPT, NgramConfig(), 11, canonical(), 5)
    model = GPT(TOY_GPT, MEMORIES[name], 11, canonical(), 5)
    assert torch.equal(stock(ids), model(ids))
    weights = model.state_dict()
    assert all(torch.equal(value, weights[key]) for key, value in stock.state_dict().items())
    # And the memory is not stuck there: the value map gets a gradient at once, the tables at the next step.
    for _ in range(2):
        model(ids, ids).sum().backward()
        with torch.no_grad():
            for memory in model.ngram_memories():
                assert memory.value.weight.grad is not None
                assert memory.value.weight.grad.abs().sum() > 0
                memory.value.weight -= 0.1 * memory.value.weight.grad
    assert all(rows.weight.grad is not None and rows.weight.grad.abs().sum() > 0 for rows in model.ngram_tables())


def test_equal_seeds_give_equal_tables_in_every_variant() -> None:
    first, *others = (GPT(TOY_GPT, MEMORIES[name], 2).ngram_tables() for name in ("engram", "cose", "mixture"))
    assert [float(rows.weight.detach().std()) for rows in first] == pytest.approx([0.02, 0.02], rel=0.05)
    for tables in others:
        assert all(torch.equal(a.weight, b.weight) for a, b in zip(first, tables, strict=True))


def test_initial_weights_are_those_of_the_spec() -> None:
    width, depth = 128, TOY_GPT.depth
    model = GPT(replace(TOY_GPT, width=width), MEMORIES["mixture"], 0, canonical(), 5)
    bound = math.sqrt(3 / width)
    normal = {"embedding": 0.8, "head": 0.001, "tables.rows": 0.02}
    zero = ("attention.output", "narrow", "memories.1.value", "memories.2.value", "convolution")
    between = {"value_gate": (0.0, 0.02), "smear_gate": (0.0, 0.02), "widen": (-0.4 * bound, 0.4 * bound)}
    between |= {f"values.{i}": (-bound, bound) for i in (1, 3)}
    for name, weight in model.named_parameters():
        if not name.endswith(".weight"):
            continue
        weight = weight.detach()
        std = next((std for end, std in normal.items() if name.endswith(f"{end}.weight")), None)
        if name.endswith(tuple(f"{end}.weight" for end in zero)):
            assert not weight.any(), name
        elif std is not None:
            assert float(weight.std()) == pytest.approx(std, rel=0.05), name
            assert float(weight.abs().max()) > 2.5 * std, name
        else:  # all the other maps keep the variance of their input
            keep = math.sqrt(3 / weight.shape[1])
            ends = (between[end] for end in between if name.endswith(f"{end}.weight"))
            low, high = next(ends, (-keep, keep))
            assert low <= float(weight.min()) < low + 0.15 * (high - low), name
            assert high - 0.15 * (high - low) < float(weight.max()) <= high, name
    for found, (first, last) in ((model.residual_scale, (1.15, 1.05)), (model.input_scale, (0.20, 0.05))):
        expected = [first + (last - first) * i / (depth - 1) for i in range(depth)]
        assert found.tolist() == pytest.approx(expected)
    assert (model.smear.item(), model.backout.item()) == pytest.approx((0, 0.2))


def slow_gpt(model: GPT, ids: Tensor) -> Tensor:
    """Logits by the spec, layer by layer and head by head, in float64."""
    weights = {name: value.double() for name, value in model.state_dict().items() if value.is_floating_point()}
    config = model.config
    depth, heads, size = config.depth, config.heads, config.head_width
    length = ids.shape[1]
    x = slow_norm(weights["embedding.weight"][ids])
    gates = torch.sigmoid(x[..., :24] @ weights["smear_gate.weight"].T)
    smeared = x.clone()
    for t in range(1, length):
        smeared[:, t] += weights["smear"] * gates[:, t] * x[:, t - 1]
    x = x0 = smeared
    kept = x
    angle = torch.arange(length).double()[:, None] * 1e5 ** (-torch.arange(0, size, 2).double() / size)
    for i in range(depth):
        x = weights["residual_scale"][i] * x + weights["input_scale"][i] * x0
        if str(i) in model.memories:
            x = x + slow_memory(model.memories[str(i)], x, ids, weights["embedding.weight"])  # type: ignore[arg-type]
        inside = slow_norm(x)
        of = f"blocks.{i}.attention."
        q, k, v = (inside @ weights[f"{of}{part}.weight"].T for part in ("query", "key", "value"))
        mixed = torch.zeros_like(x)
        window = config.length if i % 4 == 3 or i == depth - 1 else config.short_window
        for h in range(heads):
            at = slice(h * size, (h + 1) * size)
            value = v[..., at]
            if i % 2 == (depth - 1) % 2:
                gate = 3 * torch.sigmoid(inside[..., :12] @ weights[f"{of}value_gate.weight"][h])
                value = value + gate[..., None] * weights[f"values.{i}.weight"][ids][..., at]
            turned = []
            for part in (q[..., at], k[..., at]):
                # Turning by complex numbers: a pair of features is one of them.
                pair = torch.complex(part[..., : size // 2], part[..., size // 2 :]) * torch.exp(-1j * angle)
                turned.append(1.2 * slow_norm(torch.cat([pair.real, pair.imag], dim=-1)))
            for t in range(length):
                first = max(0, t - window)
                scores = (turned[0][:, t, None] * turned[1][:, first : t + 1]).sum(-1) / math.sqrt(size)
                mixed[:, t, at] = (torch.softmax(scores, -1)[..., None] * value[:, first : t + 1]).sum(1)
        x = x + mixed @ weights[f"{of}output.weight"].T
        wide = (slow_norm(x) @ weights[f"blocks.{i}.widen.weight"].T).clamp_min(0) ** 2
        x = x + wide @ weights[f"blocks.{i}.narrow.weight"].T
        if i == depth // 2:
            kept = x
    x = slow_norm(x - weights["backout"] * kept)
    return 15 * torch.tanh(x @ weights["head.weight"].T / 15)


@pytest.mark.parametrize("name", ["stock", "cose", "mixture"])
def test_logits_are_those_of_the_slow_version(name: str) -> None:
    model = stirred(name, seed=7).double()
    model.config = replace(model.config, compute_dtype="float64")
    ids = torch.randint(0, VOCAB, (2, 24), generator=torch.Generator().manual_seed(8))
    torch.testing.assert_close(model(ids).double(), slow_gpt(model, ids), rtol=1e-5, atol=1e-5)


def test_the_loss_is_cross_entropy_of_the_logits() -> None:
    model = stirred("engram")
    ids, targets = torch.randint(0, VOCAB, (2, 2, 24))
    expected = F.cross_entropy(model(ids).flatten(0, 1), targets.flatten(), reduction="none").view(2, 24)
    assert torch.equal(model(ids, targets), expected)


def test_bfloat16_is_near_float32() -> None:
    """The type of activations and tables, not another model."""
    model = GPT(TOY_GPT, MEMORIES["cose"], 3, canonical(), 5)
    rounded = GPT(
        replace(TOY_GPT, compute_dtype="bfloat16", table_dtype="bfloat16"),
        MEMORIES["cose"],
        3,
        canonical(),
        5,
    )
    assert {str(p.dtype) for p in rounded.parameters()} == {"torch.float32", "torch.bfloat16"}
    assert all(rows.weight.dtype == torch.bfloat16 for rows in (*rounded.ngram_tables(), rounded.embedding))
    with torch.no_grad():
        for one in (model, rounded):
            generator = torch.Generator().manual_seed(0)
            for name, parameter in one.named_parameters():
                if "output" in name or "narrow" in name or name == "head.weight":
                    parameter.copy_(0.1 * torch.randn(parameter.shape, generator=generator))
    ids = torch.randint(0, VOCAB, (4, 24), generator=torch.Generator().manual_seed(9))
    a, b = model(ids), rounded(ids)
    assert b.dtype == torch.float32
    assert (a - b).abs().mean() < 0.05 * a.abs().mean()


def test_scales_of_layers_are_not_rounded_to_bfloat16() -> None:
    """An update moves them by less than the 0.008 between two such numbers near 1."""
    model = GPT(replace(TOY_GPT, compute_dtype="bfloat16"), MEMORIES["stock"], 0)
    ids = torch.randint(0, VOCAB, (2, 16), generator=torch.Generator().manual_seed(0))
    for block in model.blocks:  # a block that adds nothing hides the scale before it
        block.narrow.weight.data.normal_(generator=torch.Generator().manual_seed(1))
    model.residual_scale.data.fill_(1.0)
    before = model(ids)
    model.residual_scale.data.fill_(1.003)
    assert not torch.equal(model(ids), before)


def test_windows_are_short_short_short_long_and_long_at_the_end() -> None:
    model = GPT(replace(TOY_GPT, depth=10), NgramConfig(), None)
    assert [model.window(i) for i in range(10)] == [6, 6, 6, 24, 6, 6, 6, 24, 6, 24]
    assert list(model.values) == ["1", "3", "5", "7", "9"]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_windowed_attention_on_a_gpu_is_the_masked_one() -> None:
    generator = torch.Generator("cuda").manual_seed(0)
    q, k, v = (
        torch.randn(3, 256, 2, 128, device="cuda", dtype=torch.bfloat16, generator=generator, requires_grad=True)
        for _ in range(3)
    )
    fast = attend(q, k, v, 64)
    slow = attend(q.float(), k.float(), v.float(), 64)
    torch.testing.assert_close(fast.float(), slow, rtol=2e-2, atol=2e-2)
    for a, b in zip(
        torch.autograd.grad(fast.float().square().sum(), (q, k, v)),
        torch.autograd.grad(slow.square().sum(), (q, k, v)),
        strict=True,
    ):
        assert (a - b).float().norm() < 0.02 * b.float().norm()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: GPTConfig(width=100), "must be a multiple of an even head width"),
        (lambda: GPTConfig(depth=0), "must be >= 1"),
        (lambda: GPTConfig(width=16, head_width=8), "must be >= 24"),
        (lambda: NgramConfig(width=20, heads=8), "divide the width"),
        (lambda: NgramConfig("mixture", 0), "a mixture needs tables"),
        (lambda: NgramConfig("cose", layers=(3, 1)).layers_in(12), "must be increasing"),
        (lambda: NgramConfig("cose", layers=(12,)).layers_in(12), r"in 0\.\.11"),
    ],
)
def test_impossible_models_are_refused(make: object, sentence: str) -> None:
    with pytest.raises(CharmError, match=sentence):
        make()  # type: ignore[operator]


def test_default_layers_are_those_of_the_spec() -> None:
    assert NgramConfig("engram").layers_in(12) == (1, 5)
    assert NgramConfig("engram").layers_in(20) == (1, 9)
    assert NgramConfig("engram", 0).layers_in(12) == ()
    assert NgramConfig("cose", 0).layers_in(12) == (1, 5)


def test_layers_of_a_kind_are_compiled_once() -> None:
    """However deep the model: short windows without values, with them, with a memory too, long ones; the output."""
    ids = torch.arange(24)[None]
    for depth in (8, 12):
        model = GPT(replace(TOY_GPT, depth=depth), MEMORIES["engram"], 0, canonical(), 5)
        expected = model(ids, ids)
        compiled: list[torch.fx.GraphModule] = []

        def keep(graph: torch.fx.GraphModule, inputs: object, compiled: list = compiled) -> torch.fx.GraphModule:
            compiled.append(graph)
            return graph

        torch._dynamo.reset()
        model.compile_parts(backend=keep, fullgraph=True)
        assert torch.equal(model(ids, ids), expected)
        # The memory of layer 1 stands before a layer with values, that of layer 2 before one without.
        assert len(compiled) == 6
