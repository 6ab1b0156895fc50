"""The attention kernel for packs against float64. It needs a GPU, or Triton's interpreter:

TRITON_INTERPRET=1 python -m pytest tests/models/writer/test_kernels.py
"""

import importlib.util
import os
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor

from charm.errors import CharmError
from charm.models.writer.network import turned
from charm.tasks.sequences import LONGEST, Pack
from tests.toy.writer import make_pack, trained_like

CUDA = torch.cuda.is_available()
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = torch.device("cuda" if CUDA else "cpu")
gpu = [
    pytest.mark.gpu,
    pytest.mark.skipif(not CUDA and not INTERPRETED, reason="neither a GPU nor Triton's interpreter"),
]
# The interpreter computes in no bfloat16. Errors are those of a result's norm.
TYPES = {torch.float32: 2e-6, torch.bfloat16: 1e-2} if CUDA else {torch.float32: 2e-6, torch.float16: 2e-3}


class Case(NamedTuple):
    """Lengths of sequences and of the questions in them, sequences without tokens, and padding."""

    lengths: list[int]
    asked: list[int]
    empty: int = 0
    padding: int = 0

    def edges(self) -> tuple[Tensor, Tensor]:
        ends = np.cumsum([0, *self.lengths, *[0] * self.empty])
        asked = np.array([*self.asked, *[2] * self.empty])
        answers = np.minimum(ends[:-1] + asked, ends[1:])
        edges = torch.tensor([*ends, ends[-1] + self.padding], dtype=torch.int32)
        return edges.to(DEVICE), torch.tensor(answers, dtype=torch.int32, device=DEVICE)


def reference(qkv: Tensor, turn: Tensor, edges: Tensor, answers: Tensor) -> Tensor:
    """Attention from what each token sees, sequence by sequence; padding has none."""
    cos, sin = turn[:, :, None]
    first, second = qkv[:, :2].chunk(2, -1)
    cos, sin = cos[:, None], sin[:, None]
    q, k = torch.cat([first * cos - second * sin, second * cos + first * sin], -1).unbind(1)
    mixed = []
    for begin, end, answer in zip(edges[:-2].tolist(), edges[1:-1].tolist(), answers.tolist(), strict=True):
        at = torch.arange(begin, end, device=qkv.device)
        sees = (at <= at[:, None]) | ((at < answer) & (at[:, None] < answer))
        scores = torch.einsum("qhk,jhk->hqj", q[begin:end], k[begin:end]) * qkv.shape[-1] ** -0.5
        weights = scores.masked_fill(~sees, -torch.inf).softmax(-1)
        mixed.append(torch.einsum("hqj,jhk->qhk", weights, qkv[begin:end, 2]))
    padding = int(edges[-1] - edges[-2])
    return torch.cat([*mixed, qkv.new_zeros(padding, *qkv.shape[2:])])


def error(ours: Tensor, exact: Tensor) -> float:
    return float((ours.detach().double() - exact.detach()).norm() / exact.detach().norm().clamp(min=1e-9))


def check(case: Case, width: int, dtype: torch.dtype, seed: int = 0, heads: int = 2) -> None:
    from charm.models.writer.kernels import attend_packed, tables

    edges, answers = case.edges()
    tokens, generator = int(edges[-1]), torch.Generator().manual_seed(seed)
    qkv = torch.randn(tokens, 3, heads, width, generator=generator).to(DEVICE, dtype)
    angle = 5 * torch.randn(tokens, width // 2, generator=generator)
    turn = torch.stack([angle.cos(), angle.sin()]).to(DEVICE, dtype)
    dout = torch.randn(tokens, heads, width, generator=generator).to(DEVICE, dtype)
    exact = qkv.double().requires_grad_()
    expected = reference(exact, turn.double(), edges, answers)
    expected.backward(dout.double())
    ours = qkv.clone().requires_grad_()
    found, *_ = attend_packed(ours, turn, *tables(edges, answers, tokens))
    found.backward(dout)
    assert ours.grad is not None
    assert exact.grad is not None
    assert error(found, expected) < TYPES[dtype], case
    assert error(ours.grad[:, 2], exact.grad[:, 2]) < 2 * TYPES[dtype], case
    # A token that sees itself alone has no gradient for its score: errors count against the values' gradient.
    for part in (0, 1):
        off = (ours.grad[:, part].double() - exact.grad[:, part]).norm() / exact.grad[:, 2].norm()
        assert off < 2 * TYPES[dtype], case
    padding = slice(int(edges[-2]), None)
    assert not found[padding].any()
    assert not ours.grad[padding].any()
    again, *_ = attend_packed(ours, turn, *tables(edges, answers, tokens))
    assert torch.equal(found, again)


EDGES = {
    "one sequence": Case([70], [30]),
    "one token": Case([1], [1]),
    "sequences of one token": Case([1] * 5, [1, 0, 1, 1, 0], padding=3),
    "answers without tokens": Case([40, 64, 65], [40, 64, 65], padding=1),
    "questions without tokens": Case([40, 64, 65], [0, 0, 0]),
    "room that no sequence took, and padding": Case([33, 20], [9, 18], empty=4, padding=130),
    "lengths at the borders of blocks": Case([63, 64, 65, 127, 128, 129], [62, 64, 1, 64, 63, 65]),
    "answers at the borders of blocks": Case([200, 200, 200, 200], [63, 64, 65, 128]),
}


class TestKernel:
    pytestmark = gpu

    @pytest.mark.parametrize("dtype", TYPES)
    @pytest.mark.parametrize("width", [32, 64])
    @pytest.mark.parametrize("case", EDGES.values(), ids=EDGES)
    def test_edges(self, case: Case, width: int, dtype: torch.dtype) -> None:
        check(case, width, dtype)

    @pytest.mark.parametrize("dtype", TYPES)
    def test_the_longest_pair(self, dtype: torch.dtype) -> None:
        check(Case([LONGEST], [LONGEST // 2], padding=5), 32, dtype, heads=1)

    @pytest.mark.parametrize("seeds", [range(8), range(8, 150)], ids=["some", "many"])
    @pytest.mark.parametrize("dtype", TYPES)
    def test_random_packs(self, seeds: range, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
        """With one loop and with two. The interpreter takes small blocks, so that short sequences have many."""
        from charm.models.writer import kernels

        small = {"FORWARD": (32, 16), "BACKWARD_QUERIES": (16, 32), "BACKWARD_KEYS": (32, 16)}
        for seed in seeds:
            for name, (queries, keys) in small.items():
                sizes = {} if CUDA else {"QUERIES": queries, "KEYS": keys}
                monkeypatch.setattr(kernels, name, {**getattr(kernels, name), **sizes, "LOOPS": 1 + seed % 2})
            rng = np.random.default_rng(seed)
            count = int(rng.integers(1, 40 if CUDA else 5))
            lengths = rng.integers(1, 700 if CUDA else 90, count)
            asked = rng.integers(0, lengths + 1) * (rng.random() < 0.7)  # some packs read forward
            case = Case(lengths.tolist(), asked.tolist(), int(rng.integers(4)), int(rng.integers(100)))
            check(case, int(rng.choice([32, 64])), dtype, seed, heads=4 if CUDA else 1)

    @pytest.mark.parametrize("reads", ["forward", "whole"])
    def test_a_writers_loss_and_gradients(self, reads: str) -> None:
        """By the kernel, in one compiled graph, and by the plain path."""
        from charm.models.writer.kernels import attend_packed, tables

        writer, pack = trained_like(width=64, heads=2, reads=reads).to(DEVICE), make_pack(count=6)
        pack = Pack(*(getattr(pack, name).to(DEVICE) for name in Pack.__dataclass_fields__))
        task_LD = torch.randn(6, 64, generator=torch.Generator().manual_seed(1)).to(DEVICE)[pack.example_L]
        read = (pack.token_L, pack.place_L3, torch.roll(pack.place_L3, -1, 0), task_LD)

        def logits() -> Tensor:
            answers_N = pack.answers_N if reads == "whole" else pack.edges_N2[:-2]
            blocks = tables(pack.edges_N2, answers_N, len(pack.token_L))
            return writer(*read, lambda qkv, turn, ahead, index: attend_packed(qkv, turn, *blocks)[0])

        def exactly(q: Tensor, k: Tensor, v: Tensor, index: int) -> Tensor:
            answers_N = pack.answers_N if reads == "whole" else pack.edges_N2[:-2]
            still = torch.stack([torch.ones(len(q), 16), torch.zeros(len(q), 16)]).to(q)  # rotated already
            return reference(torch.stack([q, k, v], 1), still, pack.edges_N2, answers_N)

        weight = torch.randn(len(task_LD), 15, generator=torch.Generator().manual_seed(2)).to(DEVICE)
        weight[int(pack.edges_N2[-2]) :] = 0
        compiled = torch.compile(logits, backend="aot_eager", fullgraph=True, dynamic=False)
        found = []
        for one in (lambda: writer(*read, turned(exactly)), logits, compiled):
            gradients = torch.autograd.grad((one() * weight).sum(), [*writer.parameters()])
            found.append(gradients)
        for plain, eager, made in zip(*found, strict=True):
            torch.testing.assert_close(eager, plain, rtol=1e-3, atol=1e-4)
            torch.testing.assert_close(made, plain, rtol=1e-3, atol=1e-4)

    def test_tables_are_made_without_waiting_for_the_device(self) -> None:
        from charm.models.writer.kernels import FORWARD, tables

        edges, answers = EDGES["room that no sequence took, and padding"].edges()
        tokens = int(edges[-1])
        if CUDA:
            torch.cuda.set_sync_debug_mode("error")
        try:
            forward, _, _ = tables(edges, answers, tokens)
        finally:
            if CUDA:
                torch.cuda.set_sync_debug_mode("default")
        size = FORWARD["QUERIES"]
        blocks = [(0, 0, 9, 33), (33, 33, 51, 53)]
        blocks += [(first, 183, 183, 183) for first in range(53, 183, size)]
        assert forward[: len(blocks)].tolist() == [list(block) for block in blocks]
        assert not forward[len(blocks) :].any()


@pytest.mark.gpu
@pytest.mark.skipif(not CUDA, reason="needs an NVIDIA GPU")
@pytest.mark.parametrize("reads", ["forward", "whole"])
def test_a_gpus_writer_has_the_same_loss_with_either_attention(reads: str) -> None:
    pack = make_pack(count=40, largest=12)
    pack = Pack(*(getattr(pack, name).cuda() for name in Pack.__dataclass_fields__))
    task_ND = torch.randn(40, 256, generator=torch.Generator().manual_seed(1)).cuda()
    found = []
    for kernels in ("plain", "fused"):
        shape = {"width": 256, "heads": 8, "layers": 4, "reads": reads, "kernels": kernels}
        writer = trained_like(compute_dtype="bfloat16", **shape).cuda()
        assert writer.uses_fused_kernels() == (kernels == "fused")
        loss, _ = torch.compile(writer.loss, dynamic=False)(pack, task_ND)
        loss.backward()
        found.append([loss.detach(), *(p.grad for p in writer.parameters() if p.grad is not None)])
    assert len(found[0]) == len(found[1]) > 1
    for plain, fused in zip(*found, strict=True):
        assert error(fused, plain.double()) < 3e-2


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
@pytest.mark.skipif(CUDA or INTERPRETED, reason="the tests above run by themselves")
def test_the_kernel_in_tritons_interpreter() -> None:
    """Without the slow ones: those take minutes there."""
    chosen = ["-k", "not many and not longest", __file__]
    asked = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *chosen]
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    run = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:]


def test_the_kernel_is_refused_where_it_cannot_run() -> None:
    writer = trained_like(kernels="fused")
    with pytest.raises(CharmError, match=r"need Triton, an NVIDIA GPU .* is on cpu"):
        writer.loss(make_pack(), torch.zeros(5, 32))
    assert not trained_like().uses_fused_kernels()
