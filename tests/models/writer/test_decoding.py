"""Answers in flight against plain writing, token by token; and the kernel of a step, which needs a GPU or Triton's
interpreter:

TRITON_INTERPRET=1 python -m pytest tests/models/writer/test_decoding.py
"""

import importlib.util
import os
import subprocess
import sys
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from charm.devices import Place
from charm.evaluation.predict import Request, predict
from charm.models.network import AskedBatch
from charm.models.writer import asking, decoding
from charm.models.writer.decoding import Decoder, _Slots, needs
from charm.models.writer.network import Writer, _rotate
from charm.models.writer.writing import inference_copy, questions, write
from charm.tasks.batch import PairBank
from charm.tasks.canvas import BOUNDARY, FIRST_COLOR, VOCABULARY
from charm.tasks.instances import Instances
from charm.tasks.keys import Keys
from charm.tasks.sequences import END, pack_pairs
from charm.tasks.task import Pair
from charm.tasks.view import View
from tests.toy.writer import asked_writer, trained_like

CUDA = torch.cuda.is_available()
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
DEVICE = torch.device("cuda" if CUDA else "cpu")
needs_kernel = [
    pytest.mark.gpu,
    pytest.mark.skipif(not CUDA and not INTERPRETED, reason="neither a GPU nor Triton's interpreter"),
]
needs_gpu = [pytest.mark.gpu, pytest.mark.skipif(not CUDA, reason="needs an NVIDIA GPU")]


class Shaped(Writer):
    """Chooses colours as any writer, in grids of the height and width that begin the task's vector."""

    def forward(self, token: Tensor, place: Tensor, after: Tensor, task: Tensor, *rest: Any) -> Tensor:
        logits = super().forward(token, place, after, task, *rest)
        after = rest[-1].pick(after) if len(rest) == 2 and rest[-1] is not None else after
        row, column, _ = after.unbind(-1)
        colors = torch.zeros(logits.shape[-1], dtype=torch.bool, device=logits.device)
        colors[FIRST_COLOR:VOCABULARY] = True
        closes, ends = column > task[..., 1], row > task[..., 0]
        logits = logits - 200.0 * ~colors
        logits[..., BOUNDARY] += 400.0 * closes
        logits[..., END] += 800.0 * ends
        return logits


class Case:
    """Questions under views, the writer's plain answers, and guesses: some right, some not, some not even alike."""

    def __init__(self, count: int = 14, seed: int = 0, **changes: Any) -> None:
        rng = np.random.default_rng(seed)
        plain = trained_like(seed, **changes)
        writer = Shaped(plain.config, seed)
        writer.load_state_dict(plain.state_dict())
        self.writer = inference_copy(writer.to(DEVICE).eval())
        instances = Instances()
        rows = instances.add("t", np.array([View(dihedral).code for dihedral in range(8)], np.uint32))
        self.keys = Keys.of(instances).to(DEVICE)
        shapes = rng.integers(1, 4, (count, 2))
        self.inputs = [rng.integers(0, 10, rng.integers(1, 6, 2)).astype(np.uint8) for _ in range(count)]
        drawn = rng.integers(0, 8, count)
        self.views = [View(dihedral) for dihedral in drawn.tolist()]
        self.row_N = torch.from_numpy(rows[drawn]).long().to(DEVICE)
        self.pair_N = torch.arange(count, device=DEVICE)
        task_ND = torch.randn(count, plain.config.width, generator=torch.Generator().manual_seed(seed))
        task_ND[:, :2] = torch.from_numpy(shapes)
        self.task_ND = task_ND.to(DEVICE)
        self.limit_N = torch.full((count,), 30, device=DEVICE)
        self.limit_N[0], self.limit_N[1] = 2, 1
        self.answer_NA, self.sure_N = self.plain()
        guesses = []
        for n, (view, shape) in enumerate(zip(self.views, shapes, strict=True)):
            tokens = self.answer_NA[n][self.answer_NA[n] >= FIRST_COLOR].cpu().numpy()
            tokens = tokens[tokens < VOCABULARY] - FIRST_COLOR
            grid = np.resize(tokens, shape).astype(np.uint8)  # an answer that was given up is no grid
            if n % 3 == 1:
                grid[rng.integers(shape[0]), rng.integers(shape[1])] += 1
                grid %= 10
            elif n % 3 == 2:
                grid = rng.integers(0, 10, rng.integers(1, 6, 2)).astype(np.uint8)
            guesses.append(view.invert(grid))
        bank = PairBank.of([Pair(*both) for both in zip(self.inputs, guesses, strict=True)]).to(DEVICE)
        self.guessed = AskedBatch(bank, self.keys, self.pair_N, self.row_N, self.task_ND)

    def plain(self) -> tuple[Tensor, Tensor]:
        """Write each answer alone, without a draft."""
        bank = PairBank.of([Pair(one, None) for one in self.inputs]).to(DEVICE)
        found = []
        for n in range(len(self.inputs)):
            at = slice(n, n + 1)
            height, width = self.views[n].apply(self.inputs[n]).shape
            length = 2 + height * (width + 1)
            ends = torch.tensor([length], device=DEVICE)
            pack = pack_pairs(bank, self.keys, self.pair_N[at], self.row_N[at], ends, length)
            answer, sure = write(self.writer, *questions(pack), self.task_ND[at], int(self.limit_N[n]))
            found.append((F.pad(answer, (0, 40 - answer.shape[1]), value=END), sure))
        answers, sures = zip(*found, strict=True)
        return torch.cat(answers), torch.cat(sures)

    def agrees(self, found: tuple[Tensor, Tensor]) -> None:
        answer_NA, sure_N = found
        assert torch.equal(answer_NA[:, :40], self.answer_NA)
        assert (answer_NA[:, 40:] == END).all()
        torch.testing.assert_close(sure_N, self.sure_N, rtol=1e-5, atol=1e-5)


SHAPES = [
    {},
    {"reads": "whole"},
    {"reads": "whole", "recipe": ("film", "steps"), "layers": 1},
    {"recipe": ("next-place",), "recurrences": 1},
]


@pytest.mark.parametrize("changes", SHAPES)
def test_answers_in_flight_are_those_of_plain_writing(changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(**changes)
    read_N, stretch_N = needs(case.guessed, case.limit_N)
    # One after the other; in few slots with little room; and all at once.
    for slots, room in ((1, 0), (3, 150), (5, 10**4), (40, 10**4)):
        case.agrees(Decoder(case.writer, slots, room, int(stretch_N.max())).write(case.guessed, case.limit_N))
    monkeypatch.setattr(decoding, "READ_PADDED", int(read_N.max()))  # packs of one or two
    monkeypatch.setattr(decoding, "SIZES", (2,))
    decoder = Decoder(case.writer, 5, 10**4, int(stretch_N.max()))
    case.agrees(decoder.write(case.guessed, case.limit_N))
    case.agrees(decoder.write(case.guessed, case.limit_N))  # what was written before is not in the way


def test_right_guesses_need_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(3)
    chosen = AskedBatch(*case.guessed[:2], *(part[:1] for part in case.guessed[2:5]))
    case.limit_N[0] = 30
    answer_NA, sure_N = case.plain()
    grid = (answer_NA[0][(answer_NA[0] >= FIRST_COLOR) & (answer_NA[0] < VOCABULARY)] - FIRST_COLOR).cpu().numpy()
    grid = case.views[0].invert(grid.reshape(*case.task_ND[0, :2].int().tolist()))
    chosen = chosen._replace(bank=PairBank.of([Pair(case.inputs[0], grid)]).to(DEVICE))
    monkeypatch.setattr(Decoder, "_advance", lambda *about: pytest.fail("a right guess was written again"))
    found = Decoder(case.writer, 2, 0, 200).write(chosen, case.limit_N[:1])
    assert torch.equal(found[0][0, :40], answer_NA[0])
    torch.testing.assert_close(found[1], sure_N[:1], rtol=1e-5, atol=1e-5)


@pytest.mark.skipif(CUDA, reason="a GPU records")
def test_steps_that_cannot_be_recorded_are_launched(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(decoding, "undisturbed_capture", nullcontext)
    case = Case(9)
    decoder = Decoder(case.writer, 4, 10**4, int(needs(case.guessed, case.limit_N)[1].max()))
    decoder.records = True  # as on a GPU; here no graph can be made
    case.agrees(decoder.write(case.guessed, case.limit_N))
    assert not decoder.records
    assert capsys.readouterr().err.count("cannot be CUDA graphs") == 1


def test_every_answer_fits_the_slot_that_it_takes() -> None:
    rng = np.random.default_rng(0)
    stretch_N = np.sort(rng.integers(5, 100, 60))[::-1]
    slots, queue_N, begun = _Slots(8, 500), np.arange(60), []
    room: dict[int, int] = {}
    while len(queue_N) or slots.writing:
        slots.add(stretch_N[queue_N])
        count = min(len(slots.free), int(rng.integers(0, 4)), len(queue_N))
        taken = [slots.free[at] for at in range(count)]
        _, base_N = slots.take(queue_N[:count])
        for number, slot, base in zip(queue_N[:count].tolist(), taken, base_N.tolist(), strict=True):
            own = room.setdefault(slot, int(stretch_N[number]))
            assert stretch_N[number] <= own  # the first in a slot has made its room
            others = [(slots.begins[s], slots.begins[s] + room[s]) for s in slots.writing if s != slot and s in room]
            assert all(base + own <= begin or base >= end for begin, end in others)
            assert base + own <= 500
            begun.append(number)
        queue_N = queue_N[count:]
        for slot in [slot for slot in slots.writing if rng.random() < 0.4]:
            slots.leave(slot)
    assert begun == [*range(60)]
    assert 1 < len(slots.begins) <= 8


def test_votes_are_those_of_plain_writing(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = asked_writer(tmp_path)
    plain = predict(Request(model, data, (1,), views=6), Place(torch.device("cpu")))[1]
    made = []
    begin = Decoder._begin

    def counted(*about: Any) -> None:
        made.append(about[-1])
        begin(*about)

    monkeypatch.setattr(asking, "decodes", lambda writer: True)
    monkeypatch.setattr(Decoder, "_begin", counted)
    found = predict(Request(model, data, (1,), views=6), Place(torch.device("cpu")))[1]
    assert made
    assert found.job_V.tolist() == plain.job_V.tolist()
    assert found.candidates.hash_K[found.candidate_V].tolist() == plain.candidates.hash_K[plain.candidate_V].tolist()
    np.testing.assert_allclose(found.logit_V, plain.logit_V, rtol=1e-4)


class TestKernel:
    pytestmark = needs_kernel

    @pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16 if CUDA else torch.float16])
    @pytest.mark.parametrize(("width", "new"), [(16, 8), (32, 1), (32, 3), (64, 8), (64, 16)])
    def test_new_tokens_find_what_they_should(self, width: int, new: int, dtype: torch.dtype) -> None:
        from charm.models.writer.decode_kernel import attend_newest

        generator = torch.Generator(DEVICE).manual_seed(0)

        def drawn(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, device=DEVICE)

        lengths, heads = [0, 1, 63, 64, 65, 200, 7], 3
        seen = [*lengths[:-1], 0]  # an answer that has ended reads nothing
        length_B, seen_B = torch.tensor([lengths, seen], device=DEVICE)
        base_B = F.pad(length_B.cumsum(0) + new * torch.arange(1, 8, device=DEVICE), (1, 0))[:-1]
        room = sum(lengths) + 7 * new
        kept, qkv = drawn(2, heads, room, width).to(dtype), drawn(7, new, 3, heads, width).to(dtype)
        turn, ahead = (torch.stack([angle.cos(), angle.sin()]).to(dtype) for angle in drawn(2, 7, new, width // 2))
        q, k, v = _rotate(qkv[:, :, 0], ahead), _rotate(qkv[:, :, 1], turn), qkv[:, :, 2]
        untouched = kept.clone()
        found = attend_newest(qkv, turn, ahead, kept, base_B, length_B, seen_B)
        bound = 2e-6 if dtype == torch.float32 else 1e-2
        touched = torch.zeros(room, dtype=torch.bool, device=DEVICE)
        for n, (base, length, count) in enumerate(zip(base_B.tolist(), lengths, seen, strict=True)):
            own = slice(base + length, base + length + new)
            touched[own] = True
            for part, expected in zip(kept, (k[n], v[n]), strict=True):
                torch.testing.assert_close(part[:, own].transpose(0, 1), expected, rtol=bound, atol=bound)
            for g in range(new):
                at = [*range(base, base + count), *range(own.start, own.start + g + 1)]
                keys, values = kept[:, :, at].double()
                weights = (torch.einsum("hk,hrk->hr", q[n, g].double(), keys) * width**-0.5).softmax(-1)
                exact = torch.einsum("hr,hrk->hk", weights, values)
                assert (found[n, g].double() - exact).norm() <= bound * exact.norm()
        assert torch.equal(kept[:, :, ~touched], untouched[:, :, ~touched])


class TestOnAGpu:
    pytestmark = needs_gpu

    @pytest.mark.parametrize("changes", SHAPES)
    def test_recorded_steps_write_what_launched_ones_do(
        self, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(decoding, "SIZES", (32,))
        case = Case(90, **changes)
        longest = int(needs(case.guessed, case.limit_N)[1].max())
        decoder = Decoder(case.writer, 64, 10**4, longest)
        assert decoder.has_kernel
        case.agrees(decoder.write(case.guessed, case.limit_N))
        case.agrees(decoder.write(case.guessed, case.limit_N))
        few = AskedBatch(*case.guessed[:2], *(part[:20] for part in case.guessed[2:5]))
        answer_NA, _ = decoder.write(few, case.limit_N[:20])
        assert torch.equal(answer_NA[:, :40], case.answer_NA[:20])
        assert {*decoder.graphs} == {32, 64}
        without = Decoder(case.writer, 64, 10**4, longest)
        without.has_kernel = False
        case.agrees(without.write(case.guessed, case.limit_N))

    def test_bfloat16_answers_are_mostly_the_same(self) -> None:
        case = Case(200, width=128, heads=2, compute_dtype="bfloat16", reads="whole")
        decoder = Decoder(case.writer, 64, 10**5, int(needs(case.guessed, case.limit_N)[1].max()))
        assert decoder.packed
        answer_NA, _ = decoder.write(case.guessed, case.limit_N)
        same_N = (answer_NA[:, :40] == case.answer_NA).all(1)
        # Where two tokens are almost equally likely, rounding decides.
        assert same_N.float().mean() > 0.9


@pytest.mark.skipif(importlib.util.find_spec("triton") is None, reason="Triton is not installed")
@pytest.mark.skipif(CUDA or INTERPRETED, reason="the tests above run by themselves")
def test_the_kernel_in_tritons_interpreter() -> None:
    asked = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "TestKernel", __file__]
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    run = subprocess.run(asked, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-2000:]
