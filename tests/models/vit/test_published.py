"""Weights under other names and in VARC's layout give the answers of a plain model in that layout."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from charm.arc import presets
from charm.arc.presets import preset
from charm.cli import main
from charm.errors import CharmError
from charm.models.model import CharmModel
from charm.models.vit.config import LOOPVIT, VARC, VitConfig
from charm.models.vit.network import Vit
from charm.models.vit.published import convert, read_published
from charm.tasks.canvas import LARGE_SIDE
from charm.tasks.keys import MemoryConfig
from tests.toy.vit import TINY, canvases, seen_by_varc

CONFIG = replace(VARC, **TINY)
LOOPS = replace(LOOPVIT, **TINY, recurrences=2)
NAMES = {
    "tokens": "color.weight",
    "positions": "place",
    "patch": "conv",
    "qkv": "stack.{}.attention.maps",
    "out": "stack.{}.attention.last",
    "up": "stack.{}.one",
    "down": "stack.{}.two",
    "norm_attention": "stack.{}.norm_a",
    "norm_feed_forward": "stack.{}.norm_b",
    "norm": "final",
    "head": "answer",
    "ignored": ["task.weight", "stack.{}.angles"],
}


def neighbours_turned(x: Tensor, angles: Tensor) -> Tensor:
    """Pairs (2i, 2i + 1) of the last axis as complex numbers, turned by angles [L, H/2]."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


class Theirs(nn.Module):
    """VARC by its description: the task token is not turned, and the first patch stands at (0, 0)."""

    def __init__(self, config: VitConfig) -> None:
        super().__init__()
        width, inner = config.width, config.inner_width
        self.heads, self.repeats = config.heads, config.recurrences
        self.color, self.task = nn.Embedding(12, width), nn.Embedding(3, width)
        self.conv = nn.Conv2d(width, width, 2, 2)
        self.place = nn.Parameter(torch.randn(1, 1024, width))
        self.stack = nn.ModuleList()
        for _ in range(config.layers):
            layer = nn.Module()
            layer.attention = nn.Module()
            layer.attention.maps = nn.Linear(width, 3 * width)
            layer.attention.last = nn.Linear(width, width)
            layer.one, layer.two = nn.Linear(width, inner), nn.Linear(inner, width)
            layer.norm_a, layer.norm_b = nn.LayerNorm(width), nn.LayerNorm(width)
            layer.register_buffer("angles", self.angles(width // config.heads))
            self.stack.append(layer)
        self.steps = nn.Embedding(config.recurrences, width) if config.recurrences > 1 else None
        self.final, self.answer = nn.LayerNorm(width), nn.Linear(width, 48)

    @staticmethod
    def angles(head_width: int) -> Tensor:
        quarter = head_width // 4
        speed = 10000.0 ** -(torch.arange(quarter) / quarter)
        row, column = (
            part.flatten()[:, None] * speed for part in torch.meshgrid(*2 * [torch.arange(32)], indexing="ij")
        )
        return torch.cat([torch.zeros(1, 2 * quarter), torch.cat([row, column], dim=1)])

    def forward(self, tokens: Tensor, task: Tensor) -> Tensor:
        symbols = torch.where(tokens >= 2, tokens.long() - 2, tokens.long() + 10)
        image = self.color(symbols).view(len(tokens), 64, 64, -1).permute(0, 3, 1, 2)
        patches = self.conv(image).flatten(2).transpose(1, 2) + self.place
        x = torch.cat([task[:, None], patches], dim=1)
        hidden = ~seen_by_varc(symbols)
        for repeat in range(self.repeats):
            x = x if self.steps is None else x + self.steps.weight[repeat]
            for layer in self.stack:
                q, k, v = (
                    part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                    for part in layer.attention.maps(x).chunk(3, dim=-1)
                )
                q, k = (neighbours_turned(part, layer.angles) for part in (q, k))
                score = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(hidden[:, None, None], -torch.inf)
                mixed = (score.softmax(-1) @ v).transpose(1, 2).flatten(2)
                x = layer.norm_a(x + layer.attention.last(mixed))
                x = layer.norm_b(x + layer.two(nn.functional.gelu(layer.one(x))))
        logits = self.answer(self.final(x[:, 1:])).view(len(x), 32, 32, 2, 2, 12)
        return logits.transpose(2, 3).reshape(len(x), LARGE_SIDE**2, 12)


@pytest.mark.parametrize("config", [CONFIG, LOOPS], ids=["varc", "loopvit"])
def test_converted_weights_answer_as_the_published_model_does(config: VitConfig) -> None:
    torch.manual_seed(0)
    theirs, ours = Theirs(config), Vit(config).eval()
    names = {**NAMES, "repeats": "steps.weight"} if config.recurrences > 1 else NAMES
    ours.load_state_dict(convert(theirs.state_dict(), names, config))
    tokens, task = canvases(), torch.randn(2, config.width)
    found = ours(ours.initial_state(2, LARGE_SIDE**2), tokens, task, LARGE_SIDE)[1]
    expected = theirs(tokens, task)[..., [10, 11, *range(10)]]
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def changed(names: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {name: value for name, value in {**names, **changes}.items() if value is not None}


@pytest.mark.parametrize(
    ("names", "problem"),
    [
        (changed(NAMES, ignored=["task.weight"]), "nothing is said of stack.0.angles, stack.1.angles"),
        (changed(NAMES, qkv="layers.{}.qkv"), "there is no tensor layers.0.qkv.weight for qkv"),
        (changed(NAMES, head=None), "head differ"),
        (changed(NAMES, more="x"), "more differ"),
        (changed(NAMES, up="stack.{}.attention.maps"), r"maps.weight: expected 256 values as up, got shape"),
        (changed(NAMES, head="final"), r"final.weight: shape \[16\] does not fit head"),
        (changed(NAMES, ignored="task.weight"), "ignored must be a list"),
        (["tokens"], "expected names of the parts tokens"),
    ],
)
def test_names_that_do_not_fit_are_refused(names: Any, problem: str) -> None:
    with pytest.raises(CharmError, match=problem):
        convert(Theirs(CONFIG).state_dict(), names, CONFIG)


def test_the_command_writes_a_model_that_loads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = replace(preset("varc-arc1"), reasoner=CONFIG, memory=MemoryConfig(design="table", rank=16))
    monkeypatch.setattr(presets, "preset", lambda name: small if name == "varc-arc1" else preset(name))
    weights, names, out = tmp_path / "their.pt", tmp_path / "names.json", tmp_path / "varc"
    theirs = Theirs(CONFIG)
    state = {f"module._orig_mod.{name}": tensor for name, tensor in theirs.state_dict().items()}
    torch.save({"model": state, "epoch": 3, "optimizer": {"state": {}, "lr": 1.0}}, weights)
    command = ["export", str(weights), "--published", "varc-arc1", "--out", str(out), "--dtype", "float32"]

    def refused(*flags: str) -> str:
        with pytest.raises(SystemExit) as stopped:
            main([*command, *flags])
        assert stopped.value.code == 2
        assert not out.exists()
        return capsys.readouterr().err

    assert "stack.{}.attention.maps.weight [48, 16]" in refused()
    for text in ("[", '{"embedding": "a", "embedding": "b"}'):
        names.write_text(text)
        assert "not a JSON object of names" in refused("--names", str(names))
    names.write_text(json.dumps(NAMES))
    main([*command, "--names", str(names)])
    model = CharmModel.from_pretrained(out)
    assert torch.equal(model.reasoner.state_dict()["head.bias"][:2], theirs.answer.bias[[10, 11]])
    assert model.trained_by is not None
    assert model.trained_by["data"]["canvas"] == "large"
    out = tmp_path / "other"
    command[-3] = str(out)
    assert "needs a preset of VARC or LoopViT, got a network of kind urm" in refused("--published", "arc1")
    weights.write_bytes(b"no tensors")
    assert "cannot be read as a file of tensors" in refused("--names", str(names))
    with pytest.raises(SystemExit):
        main(["export", "base", "--out", str(out), "--names", str(names)])
    assert "needs --published" in capsys.readouterr().err


def test_a_file_with_several_state_dicts_is_refused(tmp_path: Path) -> None:
    torch.save({"model": {"a": torch.ones(1)}, "average": {"a": torch.ones(1)}}, tmp_path / "two.pt")
    with pytest.raises(CharmError, match="expected one state dict, found 2"):
        read_published(tmp_path / "two.pt", None, CONFIG)
