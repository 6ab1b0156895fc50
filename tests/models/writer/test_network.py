from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from charm.config import from_json, to_json
from charm.errors import CharmError
from charm.models.config import NetworkConfig
from charm.models.writer import writing
from charm.models.writer.network import Attend, Writer, _arrange_by_shape, turned
from charm.models.writer.writing import inference_copy, questions, write
from charm.tasks.canvas import BOUNDARY
from charm.tasks.sequences import ANSWER, END, Pack
from tests.toy.writer import SMALL, make_pack, trained_like

READINGS = ("forward", "whole")
RECIPES: tuple[tuple[str, ...], ...] = ((), ("film",), ("film-only", "root-loss"), ("next-place", "steps"))


def following(place: Tensor) -> Tensor:
    """Where the token after each is; nothing is asked of the last of a whole sequence."""
    return torch.cat([place[1:], place.new_ones(1, 3)])


def slowly(token: Tensor, reads: str) -> Attend:
    """Attention of one sequence, from what each of its tokens sees."""
    at, asked = torch.arange(len(token)), token.tolist().index(ANSWER)
    sees = at[:, None] >= at
    if reads == "whole":
        sees |= (at[:, None] <= asked) & (at <= asked)

    def attend(q: Tensor, k: Tensor, v: Tensor, index: int) -> Tensor:
        q, k, v = (part.transpose(0, 1) for part in (q, k, v))
        scores = (q @ k.mT * q.shape[-1] ** -0.5).masked_fill(~sees, -torch.inf)
        return scores.softmax(-1).matmul(v).transpose(0, 1)

    return turned(attend)


def alone(pack: Pack, number: int) -> slice:
    return slice(int(pack.edges_N2[number]), int(pack.edges_N2[number + 1]))


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("reads", READINGS)
# All of different shapes, or some of one.
@pytest.mark.parametrize(("sequences", "largest"), [(5, 4), (12, 2)])
def test_the_loss_of_a_pack_is_that_of_each_sequence_alone(
    reads: str, sequences: int, largest: int, recipe: tuple[str, ...]
) -> None:
    writer, pack = trained_like(reads=reads, recipe=recipe).double(), make_pack(count=sequences, largest=largest)
    begins, ends, answers = pack.edges_N2[:-2], pack.edges_N2[1:-1], pack.answers_N
    shapes = set(zip((ends - begins).tolist(), (answers - begins).tolist(), strict=True))
    assert (len(shapes) < sequences) == (largest == 2)
    writer.compute_dtype = torch.float64
    task_ND = torch.randn(sequences, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    loss, metrics = writer.loss(pack, task_ND)
    likely_N = writer.log_likelihood(pack, task_ND)
    total, count, right, exact, share = torch.tensor(0.0, dtype=torch.float64), 0, 0, 0, 0.0
    for number in range(sequences):
        at = alone(pack, number)
        token = pack.token_L[at]
        place = pack.place_L3[at]
        logits = writer(token, place, following(place), task_ND[number], slowly(token, reads))
        wanted = pack.wanted_L[at][:-1]
        target = pack.token_L[at][1:][wanted]
        nll = F.cross_entropy(logits[:-1][wanted], target, reduction="sum")
        assert likely_N[number].item() == pytest.approx(-nll.item(), rel=1e-5)
        weight = len(target) ** -0.5 if "root-loss" in recipe else 1.0
        total, share = total + weight * nll, share + weight * len(target)
        hits = logits[:-1][wanted].argmax(-1) == target
        count, right, exact = count + len(target), right + int(hits.sum()), exact + int(hits.all())
    assert loss.item() == pytest.approx(total.item() / share, rel=1e-6)
    weights = [*writer.parameters()]
    for fast, slow in zip(torch.autograd.grad(loss, weights), torch.autograd.grad(total / share, weights), strict=True):
        torch.testing.assert_close(fast, slow, rtol=1e-5, atol=1e-7)
    assert metrics["token_accuracy"].item() == pytest.approx(right / count)
    assert metrics["exact_accuracy"].item() == pytest.approx(exact / sequences)
    assert metrics["examples"].item() == sequences


@pytest.mark.parametrize("reads", READINGS)
def test_no_token_of_an_answer_sees_what_comes_later(reads: str) -> None:
    writer, pack = trained_like(), make_pack(count=1, spare=0)
    task, (pack, attend, _) = torch.zeros(32), _arrange_by_shape(pack, reads)
    before = writer(pack.token_L, pack.place_L3, pack.place_L3, task, attend)
    changed = pack.token_L.clone()
    changed[-3] = (changed[-3] + 1) % 12
    after = writer(changed, pack.place_L3, pack.place_L3, task, attend)
    assert torch.equal(before[:-3], after[:-3])
    assert not torch.allclose(before[-3:], after[-3:])


def test_a_part_a_row_and_a_column_each_have_a_say() -> None:
    writer, pack = trained_like(), make_pack(count=1, spare=0)
    task, attend = torch.zeros(32), slowly(pack.token_L, "forward")
    before = writer(pack.token_L, pack.place_L3, pack.place_L3, task, attend)
    for axis in range(3):
        place = pack.place_L3.clone()
        place[-1, axis] += 1
        assert not torch.allclose(before[-1], writer(pack.token_L, place, place, task, attend)[-1]), axis
    # Only differences of places matter.
    place = pack.place_L3 + torch.tensor([3, 5, 1])
    moved = writer(pack.token_L, place, place, task, attend)
    assert torch.allclose(before, moved, atol=1e-4)


def slow_answer(writer: Writer, token: list[int], place: list[list[int]], task: Tensor) -> tuple[list[int], float]:
    """Ask again from the beginning for every token."""
    answer: list[int] = []
    sure, row, column = 0.0, 1, 1
    while len(answer) < 931 and (not answer or answer[-1] != END):
        attend = slowly(torch.tensor(token), writer.config.reads)
        after = torch.tensor([*place[1:], [row, column, 1]])
        logits = writer(torch.tensor(token), torch.tensor(place), after, task, attend)[-1].log_softmax(-1)
        best = int(logits.argmax())
        answer.append(best)
        sure += logits[best].item()
        token, place = [*token, best], [*place, [row, column, 1]]
        row, column = (row + 1, 1) if best == BOUNDARY else (row, column + 1)
    return answer, sure


@pytest.mark.parametrize(
    ("look_every", "room", "reads", "recipe"),
    [
        (32, 64, "forward", ()),
        (2, 1, "forward", ()),
        (2, 1, "whole", ()),
        (1, 1, "whole", ()),
        (2, 1, "whole", ("next-place",)),
        (2, 1, "whole", ("film", "steps")),
    ],
)
@torch.no_grad()
def test_writing_equals_asking_again_for_every_token(
    look_every: int, room: int, reads: str, recipe: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "LOOK_EVERY_CPU", look_every)  # finished answers leave early and often
    monkeypatch.setattr(writing, "ROOM", room)
    pack = make_pack(3, asked=True, count=6)
    writer = trained_like(4, reads=reads, recipe=recipe)
    # Answers of many lengths: END is a little more likely than the seed alone would have it.
    task_ND = torch.randn(6, 32, generator=torch.Generator().manual_seed(2)) * 2
    ended = set()
    for boost in (0.0, 0.3, 0.6):
        with torch.no_grad():
            writer.head.weight[END] += boost * writer.head.weight[BOUNDARY]
        token_NL, place_NL3, length_N = questions(pack)
        found_NA, sure_N = write(writer, token_NL, place_NL3, length_N, task_ND)
        for number in range(6):
            at = alone(pack, number)
            token, place = pack.token_L[at].tolist(), pack.place_L3[at].tolist()
            assert token_NL[number, len(token_NL[0]) - len(token) :].tolist() == token
            answer = found_NA[number].tolist()
            answer = answer[: answer.index(END) + 1] if END in answer else answer
            ended.add(len(answer))
            if len(answer) > 200:  # slow to ask for again; the beginning must do
                attend = slowly(torch.tensor(token), reads)
                where = torch.tensor(place)
                slow_part = writer(torch.tensor(token), where, following(where), task_ND[number], attend)[-1]
                assert int(slow_part.argmax()) == answer[0]
                continue
            expected, sure = slow_answer(writer, token, place, task_ND[number])
            assert answer == expected
            assert sure_N[number].item() == pytest.approx(sure, abs=1e-3)
    assert len(ended) > 1


def asked_six(reads: str, recipe: tuple[str, ...] = ()) -> tuple[Writer, tuple[Tensor, ...]]:
    """A writer and six questions; its answers have no token, eight, or do not end."""
    writer, pack = trained_like(44, reads=reads, recipe=recipe), make_pack(3, asked=True, count=6)
    with torch.no_grad():
        writer.head.weight[END] += 0.6 * writer.head.weight[BOUNDARY]
    task_ND = torch.randn(6, 32, generator=torch.Generator().manual_seed(2)) * 2
    return writer, (*questions(pack), task_ND)


@pytest.mark.parametrize("recipe", [(), ("next-place",)])
@pytest.mark.parametrize("reads", READINGS)
@pytest.mark.parametrize("look_every", [1, 5])
@torch.no_grad()
def test_drafts_do_not_change_what_is_written(
    look_every: int, reads: str, recipe: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole answers, beginnings of them, wrong ones, too long ones and drafts that end too early."""
    monkeypatch.setattr(writing, "LOOK_EVERY_CPU", look_every)
    monkeypatch.setattr(writing, "ROOM", 4)
    writer, asked = asked_six(reads, recipe)
    plain_NA, sure_N = write(writer, *asked, limit=60)
    plain_NA = plain_NA.long()
    length_N = (plain_NA != END).sum(1)
    assert len(set(length_N.tolist())) > (1 if recipe else 2)
    wrong = plain_NA.clone()
    middle = torch.arange(6), length_N // 2
    wrong[middle] = 3 + (wrong[middle] - 2) % 9
    short = torch.where(torch.arange(60) < (length_N // 2)[:, None], plain_NA, END)
    mixed = torch.where((torch.arange(6) % 2 == 0)[:, None], plain_NA, wrong)
    longer = torch.where(plain_NA == END, 4, plain_NA)
    for draft in (plain_NA, wrong, short, mixed, longer, torch.full((6, 90), END), plain_NA[:, :7]):
        found_NA, found_sure_N = write(writer, *asked, limit=60, draft_NA=draft)
        assert torch.equal(found_NA.long(), plain_NA)
        torch.testing.assert_close(found_sure_N, sure_N, rtol=1e-4, atol=1e-3)


@torch.no_grad()
def test_a_draft_that_is_right_is_read_in_one_pass() -> None:
    writer, asked = asked_six("whole")
    plain_NA, _ = write(writer, *asked, limit=60)
    passes = []
    writer.register_forward_hook(lambda *_: passes.append(1))
    write(writer, *asked, limit=60, draft_NA=plain_NA.long())
    assert len(passes) == 2


@torch.no_grad()
def test_an_answer_that_does_not_end_in_time_has_no_probability() -> None:
    pack, writer = make_pack(3, asked=True, count=2), trained_like(4)
    task_ND = torch.randn(2, 32, generator=torch.Generator().manual_seed(2)) * 2
    free, sure_N = write(writer, *questions(pack), task_ND)
    lengths = [(row == END).long().argmax().item() + 1 if END in row else 931 for row in free]
    cut, cut_sure_N = write(writer, *questions(pack), task_ND, limit=max(lengths) - 1)
    late = lengths.index(max(lengths))
    assert cut_sure_N[late] == -torch.inf
    assert torch.equal(cut[late], free[late, : max(lengths) - 1])
    if min(lengths) < max(lengths):
        assert cut_sure_N[1 - late].item() == pytest.approx(sure_N[1 - late].item())


def test_dropout_acts_in_training_alone() -> None:
    writer, pack = trained_like(dropout=0.3), make_pack()
    task_ND = torch.zeros(5, 32)
    calm = [writer.loss(pack, task_ND)[0].item() for _ in range(2)]
    assert calm[0] == calm[1]
    writer.train()
    assert writer.loss(pack, task_ND)[0].item() != writer.loss(pack, task_ND)[0].item()


@pytest.mark.parametrize("recipe", [("film",), ("film-only",), ("steps",)])
def test_new_parts_change_nothing_at_the_start(recipe: tuple[str, ...]) -> None:
    """Tasks' vectors and those of steps are zero then; all of them learn from the first update."""
    pack, task_ND = make_pack(), torch.zeros(5, 32, requires_grad=True)
    plain, writer = trained_like(), trained_like(recipe=recipe)
    writer.load_state_dict(plain.state_dict(), strict=False)
    loss, _ = writer.loss(pack, task_ND)
    assert torch.equal(loss, plain.loss(pack, task_ND)[0])
    loss.backward()
    assert task_ND.grad is not None
    assert float(task_ND.grad.norm()) > 0


@torch.no_grad()
def test_a_float32_head_has_no_rounded_logits() -> None:
    pack, task_ND = make_pack(), torch.randn(5, 32, generator=torch.Generator().manual_seed(1))
    rounded, exact = (trained_like(compute_dtype="bfloat16", recipe=recipe) for recipe in ((), ("float32-head",)))
    for writer in (exact, inference_copy(exact)):
        assert writer.head.weight.dtype == torch.float32
        logits = writer._follow(pack, task_ND).logits
        assert not torch.equal(logits, logits.bfloat16().float())
    logits = rounded._follow(pack, task_ND).logits
    assert torch.equal(logits, logits.bfloat16().float())
    assert inference_copy(rounded).head.weight.dtype == torch.bfloat16


def test_a_recipe_is_kept_in_files() -> None:
    config = replace(SMALL, recipe=("film", "next-place", "steps"))
    assert from_json(NetworkConfig, to_json(config)) == config
    assert from_json(NetworkConfig, {k: v for k, v in to_json(SMALL).items() if k != "recipe"}) == SMALL


def test_what_a_writer_cannot_be() -> None:
    for changes, complaint in (
        ({"dropout": 1.0}, "dropout"),
        ({"reads": "back"}, "reads must be one of"),
        ({"recipe": ("salt",)}, "recipe must be some of film, film-only, .*'salt'"),
        ({"recipe": ("film", "film-only")}, "film-only needs film not to be named"),
        ({"recipe": ("next-place",), "kernels": "fused"}, "next-place needs kernels other than fused"),
        ({"recipe": ("float32-head",)}, "float32-head needs compute_dtype bfloat16"),
        ({"recipe": ("steps",), "recurrences": 1}, "steps needs more than one recurrence"),
    ):
        with pytest.raises(CharmError, match=complaint):
            replace(SMALL, **changes)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
@pytest.mark.parametrize("reads", READINGS)
def test_the_gpus_attention_within_a_pack_is_the_cpus(reads: str) -> None:
    writer = trained_like(width=128, heads=2, reads=reads)
    pack = make_pack(count=40)
    task_ND = torch.randn(40, 128)
    expected, _ = writer.loss(pack, task_ND)
    moved = Pack(*(getattr(pack, name).cuda() for name in Pack.__dataclass_fields__))
    on_gpu = trained_like(width=128, heads=2, compute_dtype="bfloat16", reads=reads).cuda()
    found, _ = on_gpu.loss(moved, task_ND.cuda())
    assert found.item() == pytest.approx(expected.item(), rel=2e-2)


@pytest.mark.parametrize(("layers", "recurrences"), [(1, 1), (1, 4), (4, 1), (3, 3)])
def test_branches_start_smaller_the_more_of_them_are_added(layers: int, recurrences: int) -> None:
    """Each of the layers x recurrences passes adds two branches of one size: together they add as much as one."""
    first = Writer(replace(SMALL, layers=layers, recurrences=recurrences)).layers[0]
    alone = Writer(replace(SMALL, layers=1, recurrences=1)).layers[0]
    for name, inputs in (("out", SMALL.width), ("down", SMALL.inner_width)):
        weight, other = getattr(first, name).weight, getattr(alone, name).weight
        torch.testing.assert_close(weight * (layers * recurrences) ** 0.5, other)
        assert float(other.detach().std()) == pytest.approx((2 * inputs) ** -0.5, rel=0.1)
