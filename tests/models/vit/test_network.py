"""VARC's transformer against plain versions of its parts, and against a torch model of the same weights."""

from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from charm.accounting import account
from charm.arc.presets import preset
from charm.errors import CharmError
from charm.models.canvas.backbone import count_parameters
from charm.models.layers import rotate, rotation
from charm.models.vit import network as vit_module
from charm.models.vit.config import LOOPVIT, LOOPVIT_MEDIUM, LOOPVIT_SMALL, VARC, VitConfig
from charm.models.vit.network import PATCHES, Affine, Readable, Vit, canvas_loss, cut, find_readable, join
from charm.tasks.canvas import LARGE_SIDE, PAD
from tests.toy.vit import TINY, canvases


def tiny(base: VitConfig | None = None, **changes: object) -> Vit:
    vit = Vit(replace(base or VARC, **{**TINY, "dropout": 0.0, **changes}))
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():  # biases and gains that matter
        for parameter in vit.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
    return vit


def answer(vit: Vit, tokens: torch.Tensor, task: torch.Tensor) -> torch.Tensor:
    return vit(vit.initial_state(len(tokens), tokens.shape[1]), tokens, task, LARGE_SIDE)[1]


def test_the_published_sizes() -> None:
    """VARC's to the unit; LoopViT's to the digits that are printed, with the vectors of 400 tasks."""
    shapes = (VARC, LOOPVIT, LOOPVIT_SMALL, LOOPVIT_MEDIUM)
    with torch.device("meta"):
        sizes = [count_parameters(config.build()) for config in shapes]
    assert sizes == [17_385_008, 17_373_744, 3_704_624, 11_076_144]
    assert round((sizes[1] + 400 * 512) / 1e6) == 18
    assert round((sizes[2] + 400 * 256) / 1e6, 1) == 3.8
    # What docs/baselines.md says of the published medium size.
    gate = nn.Sequential(nn.LayerNorm(512), nn.Linear(512, 256), nn.Linear(256, 1))
    assert sizes[3] + count_parameters(gate) == 11_208_753


def test_the_presets_count_one_vector_for_each_task() -> None:
    for name, width in (
        ("varc-arc1", 512),
        ("loopvit-arc1", 512),
        ("loopvit-medium-arc1", 512),
        ("loopvit-small-arc1", 256),
    ):
        config = preset(name)
        found = account(config.model, puzzles=400, rows=401)
        assert found.memory == found.table == 401 * width
        assert found.initial_state == 0
        with torch.device("meta"):
            assert found.reasoner == count_parameters(config.reasoner.build())


def test_maps_start_with_the_spread_of_torchs() -> None:
    ours = Affine(512, 1536, torch.Generator().manual_seed(0))
    assert ours.weight.std().item() == pytest.approx(nn.Linear(512, 1536).weight.std().item(), rel=0.02)


def test_symbols_start_smaller_than_positions_as_varcs_do() -> None:
    """A patch's content has 0.58 times the spread of its position: sqrt(1/3), with both vectors at a std of 0.02."""
    vit = Vit(replace(VARC, **{**TINY, "width": 128, "layers": 1}))
    assert vit.tokens.std().item() == pytest.approx(0.02, rel=0.05)
    tokens = torch.randint(2, 12, (1, LARGE_SIDE**2), generator=torch.Generator().manual_seed(0))
    content = vit.embed(cut(tokens))[0] - vit.positions
    assert (content.std() / vit.positions.std()).item() == pytest.approx(0.58, rel=0.1)


def test_varc_drops_at_51_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first vectors, and in each of ten layers attention weights, its output twice, inner activations, output."""
    places: list[str] = []
    drop, attention = F.dropout, F.scaled_dot_product_attention

    def counted_drop(x: torch.Tensor, share: float) -> torch.Tensor:
        places.append(f"{share}")
        return drop(x, share)

    def counted_attention(*parts: torch.Tensor, dropout_p: float = 0.0, **rest: Any) -> torch.Tensor:
        places.append(f"weights {dropout_p}")
        return attention(*parts, dropout_p=dropout_p, **rest)

    monkeypatch.setattr(F, "dropout", counted_drop)
    monkeypatch.setattr(F, "scaled_dot_product_attention", counted_attention)
    monkeypatch.setattr(vit_module, "packs", lambda x: True)  # also where nothing else would drop
    vit = tiny(dropout=0.1, layers=10)
    answer(vit, canvases(1), torch.ones(1, 16))
    assert places == ["0.1", *10 * ["weights 0.1", "0.1", "0.1", "0.1", "0.1"]]
    assert len(places) == 51


def test_patches_are_cut_and_joined() -> None:
    tokens = torch.arange(2 * LARGE_SIDE**2).view(2, -1)
    patches = cut(tokens)
    grid = tokens.view(2, LARGE_SIDE, LARGE_SIDE)
    for row, column in ((0, 0), (3, 17), (31, 31)):
        square = grid[:, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        assert torch.equal(patches[:, row * PATCHES + column], square.flatten(1))
    assert torch.equal(join(patches[..., None])[..., 0], tokens)


def test_patch_vectors_are_a_convolution_of_symbol_vectors() -> None:
    vit, tokens = tiny(), canvases()
    images = F.embedding(tokens.long(), vit.tokens).view(2, LARGE_SIDE, LARGE_SIDE, -1).permute(0, 3, 1, 2)
    kernel = vit.patch.weight.view(16, 4, 16).transpose(1, 2).reshape(16, 16, 2, 2)
    expected = F.conv2d(images, kernel, vit.patch.bias, stride=2).flatten(2).transpose(1, 2) + vit.positions
    torch.testing.assert_close(vit.embed(cut(tokens)), expected, atol=1e-5, rtol=1e-5)


def test_attention_may_read_the_task_and_the_patches_of_the_input() -> None:
    tokens = canvases()
    found = find_readable(cut(tokens))
    grid = tokens.view(2, LARGE_SIDE, LARGE_SIDE)
    for n in range(2):
        assert found[n, 0]
        for row in range(PATCHES):
            for column in range(PATCHES):
                square = grid[n, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
                assert found[n, 1 + row * PATCHES + column] == bool((square != PAD).any())


@pytest.mark.parametrize("base", [VARC, LOOPVIT], ids=["varc", "loopvit"])
def test_it_is_torchs_post_norm_transformer_with_masked_keys(base: VitConfig) -> None:
    """Rotary positions aside, which torch does not have: here they turn by nothing."""
    recurrences = 3 if base.recurrences > 1 else 1
    vit = tiny(base, recurrences=recurrences)
    tokens, task = canvases(), torch.randn(2, 16, generator=torch.Generator().manual_seed(3))
    still = (torch.ones(1 + PATCHES**2, 4), torch.zeros(1 + PATCHES**2, 4))
    layers = []
    for block in vit.blocks:
        layer = torch.nn.TransformerEncoderLayer(
            16, 2, vit.config.inner_width, 0.0, "gelu", batch_first=True, norm_first=False
        )
        pairs = {
            "self_attn.in_proj_": block.qkv,
            "self_attn.out_proj.": block.out,
            "linear1.": block.up,
            "linear2.": block.down,
            "norm1.": block.norm_attention,
            "norm2.": block.norm_feed_forward,
        }
        state = {f"{name}{part}": getattr(ours, part) for name, ours in pairs.items() for part in ("weight", "bias")}
        layer.load_state_dict(state)
        layers.append(layer)
    x = torch.cat([task[:, None], vit.embed(cut(tokens))], dim=1)
    ours = x
    hidden = ~find_readable(cut(tokens))
    for repeat in range(recurrences):
        if vit.repeats is not None:
            x, ours = x + vit.repeats[repeat], ours + vit.repeats[repeat]
        for layer, block in zip(layers, vit.blocks, strict=True):
            x = layer(x, src_key_padding_mask=hidden)
            ours = block(ours, still, Readable.of(~hidden))
    torch.testing.assert_close(ours, x, atol=1e-5, rtol=1e-4)


def test_rotary_positions_are_rows_and_columns_of_patches() -> None:
    """Scores depend only on the distance between two patches along each axis."""
    turn = rotation(PATCHES, 1, "2d", 10000.0, 8, torch.device("cpu"))
    q, k = torch.randn(2, 8, generator=torch.Generator().manual_seed(0))

    def score(one: tuple[int, int], other: tuple[int, int]) -> torch.Tensor:
        at = [1 + row * PATCHES + column for row, column in (one, other)]
        turned = [
            rotate(vector.expand(1, 1 + PATCHES**2, 1, 8), turn)[0, place, 0]
            for vector, place in zip((q, k), at, strict=True)
        ]
        return turned[0] @ turned[1]

    torch.testing.assert_close(score((3, 4), (10, 9)), score((20, 21), (27, 26)))
    assert not torch.allclose(score((3, 4), (10, 9)), score((3, 4), (9, 10)))


def test_what_no_key_shows_cannot_matter_but_every_patch_answers() -> None:
    """The learned position of a hidden patch reaches that patch's own answer and no other."""
    vit, tokens, task = tiny(), canvases(1), torch.ones(1, 16)
    before = answer(vit, tokens, task)
    hidden = int((~find_readable(cut(tokens))[0]).nonzero()[-1]) - 1
    with torch.no_grad():
        vit.positions[hidden] += 1
    changed = (answer(vit, tokens, task) - before).abs().amax(-1)
    cells = cut(torch.arange(LARGE_SIDE**2)[None])[0, hidden]
    assert (changed[0, cells] > 1e-4).all()
    changed[0, cells] = 0
    assert changed.max() == 0
    assert not torch.equal(answer(vit, tokens, 2 * task), answer(vit, tokens, task))


def test_dropout_drops_only_where_gradients_are_asked_for() -> None:
    vit, tokens, task = tiny(dropout=0.5), canvases(1), torch.ones(1, 16)
    with torch.no_grad():
        assert torch.equal(answer(vit, tokens, task), answer(vit, tokens, task))
    assert not torch.equal(answer(vit, tokens, task), answer(vit, tokens, task))
    vit.eval()
    assert torch.equal(answer(vit, tokens, task), answer(vit, tokens, task))


def test_every_weight_learns_through_all_repeats() -> None:
    vit = tiny(LOOPVIT, recurrences=3)
    task = torch.ones(2, 16, requires_grad=True)
    loss, metrics = canvas_loss(answer(vit, canvases(), task), canvases(), 2)
    loss.backward()
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in vit.parameters())
    assert vit.repeats is not None
    assert vit.repeats.grad is not None
    assert (vit.repeats.grad.abs().sum(1) > 0).all()
    assert task.grad is not None
    assert task.grad.any()
    assert 0 <= metrics["token_accuracy"] <= 1


def test_the_loss_is_torchs_cross_entropy_without_background() -> None:
    generator = torch.Generator().manual_seed(0)
    logits, targets = (
        torch.randn(3, 50, 12, generator=generator),
        torch.randint(0, 12, (3, 50), generator=generator),
    )
    targets[1] = PAD  # nothing to learn
    expected = F.cross_entropy(logits.view(-1, 12), targets.view(-1), ignore_index=PAD)
    loss, metrics = canvas_loss(logits, targets, 6)
    torch.testing.assert_close(loss, expected / 2)
    torch.testing.assert_close(metrics["token_loss"], expected)
    assert metrics["examples"] == 2
    wanted = targets != PAD
    share = (logits.argmax(-1) == targets)[wanted].float().mean()
    torch.testing.assert_close(metrics["token_accuracy"], share)
    perfect = 20.0 * F.one_hot(targets, 12)
    assert canvas_loss(perfect, targets, 3)[1]["exact_accuracy"] == 1
    perfect[0, int(wanted[0].nonzero()[0])] = 0
    perfect[0, int(wanted[0].nonzero()[0]), 0] = 1
    assert canvas_loss(perfect, targets, 3)[1]["exact_accuracy"] == 0.5


def test_settings_that_a_vit_cannot_have() -> None:
    for name, value in (("placements", 256), ("placements", 0), ("dropout", 1.0), ("heads", 256)):
        with pytest.raises(CharmError, match=f"reasoner {name if name != 'heads' else 'head width'}"):
            replace(VARC, **{name: value})
    config = preset("varc-arc1")
    full = replace(config.data, canvas="full")
    with pytest.raises(CharmError, match=r"needs data\.canvas large, got full"):
        replace(config, data=full)
    vit = tiny()
    with pytest.raises(CharmError, match="canvases of side 64, got 30"):
        vit(vit.initial_state(1, 900), torch.zeros(1, 900, dtype=torch.uint8), torch.zeros(1, 16), 30)


def slow_attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, asking: torch.Tensor, read: torch.Tensor, *most: int
) -> torch.Tensor:
    """What FlashAttention computes for sequences, one by one; gradients of unread rows are not even numbers."""
    for part in (k, v):
        if part.requires_grad:
            unread = torch.arange(int(read[-1]), len(part))
            part.register_hook(lambda grad, unread=unread: grad.index_fill(0, unread, float("nan")))
    assert max(int(edges.diff().max()) for edges in (asking, read)) <= min(most)
    found = []
    for n in range(len(asking) - 1):
        mine, theirs = slice(asking[n], asking[n + 1]), slice(read[n], read[n + 1])
        a, b, c = (part.transpose(0, 1)[None] for part in (q[mine], k[theirs], v[theirs]))
        found.append(F.scaled_dot_product_attention(a, b, c)[0].transpose(0, 1))
    return torch.cat(found)


@pytest.mark.parametrize("base", [VARC, replace(LOOPVIT, recurrences=2)])
def test_attention_to_packed_positions_is_that_under_a_mask(base: VitConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers and all gradients; of inputs with many cells, with few and with none."""
    tokens = torch.cat([canvases(3), torch.zeros(1, LARGE_SIDE**2, dtype=torch.uint8)])
    vit, found = tiny(base), []
    monkeypatch.setattr(vit_module, "varlen_attn", slow_attention)
    for packed in (False, True):
        monkeypatch.setattr(vit_module, "packs", lambda x, packed=packed: packed)
        task = torch.randn(4, 16, generator=torch.Generator().manual_seed(2)).requires_grad_()
        logits = answer(vit, tokens, task)
        (logits.softmax(-1) ** 2).sum().backward()
        found.append([logits, task.grad, *(parameter.grad for parameter in vit.parameters())])
        vit.zero_grad()
    for masked, packed_one in zip(*found, strict=True):
        torch.testing.assert_close(masked, packed_one, rtol=1e-4, atol=1e-4)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="packed attention needs an NVIDIA GPU")
def test_packed_attention_on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """In bfloat16 it is as far from float32 as attention under a mask is."""
    tokens, found = canvases(3).cuda(), []
    task = torch.randn(3, 128, generator=torch.Generator().manual_seed(2)).cuda()
    for dtype, packed in (("float32", False), ("bfloat16", False), ("bfloat16", True)):
        monkeypatch.setattr(vit_module, "packs", lambda x, packed=packed: packed)
        vit = tiny(width=128, compute_dtype=dtype).cuda()
        logits = answer(vit, tokens, task)
        (logits.softmax(-1) ** 2).sum().backward()
        found.append([logits, *(parameter.grad for parameter in vit.parameters())])
    for exact, masked, packed_one in zip(*found, strict=True):
        assert (packed_one - exact).norm() < 2 * (masked - exact).norm() + 0.01 * exact.norm()
