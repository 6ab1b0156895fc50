"""Row optimizers against a plain loop, torch's AdamW, and one process against two."""

import copy
from itertools import pairwise
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
import torch.distributed.nn  # before a group lives, see charm.devices.place

from charm.errors import CharmError
from charm.memory import CoSE, Film, Lookup, RowTable, SlotPermutation, TableMemory, grouped_parameters
from charm.memory.optimizers import DenseAdamW, RowAdamW, RowSignSGD, row_squares, summed_rows
from tests import forks

ROWS, WIDTH = 12, 5


def table(seed: int = 0, rows: int = ROWS, reserved_row: bool = False) -> TableMemory:
    memory = TableMemory(RowTable(rows, WIDTH, reserved_row=reserved_row))
    with torch.no_grad():
        memory.residual.rows.weight.normal_(generator=torch.Generator().manual_seed(seed))
    return memory


def weight(memory: TableMemory) -> torch.nn.Parameter:
    return memory.residual.rows.weight


def batches(count: int, size: int, rows: int = ROWS, seed: int = 1) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Row ids with many duplicates, and the gradient that each read gets."""
    rng = torch.Generator().manual_seed(seed)
    ids = torch.randint(rows, (count, size), generator=rng)
    return list(zip(ids, torch.randn(count, size, WIDTH, generator=rng), strict=True))


def backward(memory: TableMemory, ids: torch.Tensor, grads: torch.Tensor) -> None:
    (memory({"row": ids}) * grads).sum().backward()


def test_sums_equal_a_loop_and_repeat_for_duplicates():
    ids, grads = batches(1, 40)[0]
    memory = table()
    backward(memory, ids, grads)
    row_ids, sums = summed_rows(weight(memory).grad)
    assert row_ids.tolist() == sorted(ids.tolist())
    for row, total in zip(row_ids.tolist(), sums, strict=True):
        expected = sum(g.double() for i, g in zip(ids.tolist(), grads, strict=True) if i == row)
        torch.testing.assert_close(total.double(), expected, rtol=1e-5, atol=1e-5)


def test_sign_sgd_equals_a_plain_loop():
    memory = table()
    optimizer = RowSignSGD(memory.row_parameters(), lr=0.02, weight_decay=0.3)
    slow = weight(memory).detach().double()
    for ids, grads in batches(count=20, size=7):
        memory.zero_grad()
        backward(memory, ids, grads)
        optimizer.step()
        sums: dict[int, torch.Tensor] = {}
        for row, grad in zip(ids.tolist(), grads, strict=True):
            sums[row] = sums.get(row, 0) + grad.double()
        for row, total in sums.items():
            slow[row] = slow[row] * (1 - 0.02 * 0.3) - 0.02 * torch.sign(total)
    torch.testing.assert_close(weight(memory).double(), slow, rtol=1e-6, atol=1e-6)


def test_sign_sgd_decays_on_zero_gradient_and_leaves_absent_rows_alone():
    memory = table()
    before = weight(memory).detach().clone()
    backward(memory, torch.tensor([3, 3, 5]), torch.tensor([[1.0], [-1.0], [2.0]]).expand(3, WIDTH))
    RowSignSGD(memory.row_parameters(), lr=0.1, weight_decay=0.5).step()
    after = weight(memory).detach()
    assert torch.equal(after[3], before[3] * (1 - 0.1 * 0.5))  # its two gradients cancel
    assert torch.equal(after[5], before[5] * (1 - 0.1 * 0.5) - 0.1)
    others = [row for row in range(ROWS) if row not in (3, 5)]
    assert torch.equal(after[others], before[others])


@pytest.mark.parametrize("make", [RowSignSGD, RowAdamW, DenseAdamW])
def test_accumulated_micro_batches_equal_one_batch(make):
    whole, split = table(), table()
    for ids, grads in batches(count=5, size=8):
        for memory, sizes in ((whole, [8]), (split, [4, 4])):
            optimizer = make(memory.row_parameters())
            memory.zero_grad()
            for part_ids, part_grads in zip(ids.split(sizes), grads.split(sizes), strict=True):
                backward(memory, part_ids, part_grads)
            optimizer.step()
    assert torch.equal(weight(whole), weight(split))


@pytest.mark.parametrize("make", [RowSignSGD, RowAdamW, DenseAdamW])
def test_the_reserved_row_never_moves(make):
    memory = table(reserved_row=True)
    with torch.no_grad():
        weight(memory)[0] = 0
    optimizer = make(memory.row_parameters(), weight_decay=0.1)
    for ids, grads in batches(count=5, size=20):
        memory.zero_grad()
        backward(memory, ids, grads)
        optimizer.step()
    assert torch.equal(weight(memory)[0], torch.zeros(WIDTH))
    assert torch.isfinite(weight(memory)).all()


def moves_as_torchs_adamw(make, reads, **settings) -> None:
    """Compare with torch's AdamW, which gets the same gradients as a dense table."""
    memory = table()
    dense = torch.nn.Parameter(weight(memory).detach().clone())
    ours, torchs = make(memory.row_parameters(), **settings), torch.optim.AdamW([dense], **settings)
    for ids, grads in reads:
        memory.zero_grad()
        backward(memory, ids, grads)
        dense.grad = weight(memory).grad.to_dense()
        ours.step()
        torchs.step()
    torch.testing.assert_close(weight(memory), dense, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_row_adamw_is_adamw_when_every_row_is_read(decay: float):
    rng = torch.Generator().manual_seed(2)
    reads = []
    for _ in range(50):
        ids = torch.cat([torch.randperm(ROWS, generator=rng), torch.randint(ROWS, (6,), generator=rng)])
        reads.append((ids, torch.randn(len(ids), WIDTH, generator=rng)))
    moves_as_torchs_adamw(RowAdamW, reads, lr=0.01, betas=(0.9, 0.999), eps=1e-8, weight_decay=decay)


def test_dense_adamw_is_adamw_whichever_rows_are_read():
    moves_as_torchs_adamw(DenseAdamW, batches(30, 4), lr=0.01, betas=(0.9, 0.999), weight_decay=0.1)


def test_with_dense_adamw_a_row_moves_on_and_one_that_was_never_read_stays():
    memory = table()
    optimizer = DenseAdamW(memory.row_parameters(), lr=0.01, weight_decay=0.0)
    places = [weight(memory).detach().clone()]
    for row in (3, 5, 5):
        memory.zero_grad()
        backward(memory, torch.tensor([row]), torch.ones(1, WIDTH))
        optimizer.step()
        places.append(weight(memory).detach().clone())
    assert all((before[3] - after[3]).min() > 0 for before, after in pairwise(places))
    others = [row for row in range(ROWS) if row not in (3, 5)]
    assert torch.equal(places[-1][others], places[0][others])


def test_row_adamw_advances_each_row_by_itself():
    """Every row behaves as if it had its own AdamW, stepped only when the row is read."""
    memory = table()
    own = [torch.nn.Parameter(row.detach().clone()) for row in weight(memory)]
    optimizers = [torch.optim.AdamW([row], lr=0.01, betas=(0.9, 0.95), weight_decay=0.1) for row in own]
    optimizer = RowAdamW(memory.row_parameters(), lr=0.01, betas=(0.9, 0.95), weight_decay=0.1)
    for ids, grads in batches(count=30, size=4):
        memory.zero_grad()
        backward(memory, ids, grads)
        optimizer.step()
        for row in set(ids.tolist()):
            own[row].grad = grads[ids == row].sum(dim=0)
            optimizers[row].step()
    torch.testing.assert_close(weight(memory), torch.stack(own), rtol=1e-5, atol=1e-6)


def test_row_adamw_goes_on_after_growth_as_if_the_rows_had_always_been_there():
    grown, roomy = table(rows=8), table(rows=ROWS)
    with torch.no_grad():
        weight(roomy)[:8] = weight(grown)
        weight(roomy)[8:] = 0
    optimizers = [RowAdamW(memory.row_parameters()) for memory in (grown, roomy)]
    for phase, rows in enumerate((8, ROWS)):
        if phase == 1:
            grown.residual.grow(ROWS - 8)
        for ids, grads in batches(count=5, size=6, rows=rows, seed=phase):
            for memory, optimizer in zip((grown, roomy), optimizers, strict=True):
                memory.zero_grad()
                backward(memory, ids, grads)
                optimizer.step()
    assert torch.equal(weight(grown), weight(roomy))


@pytest.mark.parametrize("make", [RowSignSGD, RowAdamW, DenseAdamW])
def test_saved_state_resumes_bit_for_bit(make, tmp_path: Path):
    straight = table()
    optimizer = make(straight.row_parameters())
    for step, (ids, grads) in enumerate(batches(count=10, size=6)):
        if step == 5:
            resumed = copy.deepcopy(straight)
            torch.save(optimizer.state_dict(), tmp_path / "state.pt")
            second = make(resumed.row_parameters(), lr=0.5)
            second.load_state_dict(torch.load(tmp_path / "state.pt"))
        pairs = [(straight, optimizer)] if step < 5 else [(straight, optimizer), (resumed, second)]
        for memory, own in pairs:
            memory.zero_grad()
            backward(memory, ids, grads)
            own.step()
    assert torch.equal(weight(straight), weight(resumed))


def test_a_scheduler_sets_the_learning_rate():
    memory = table()
    before = weight(memory).detach().clone()
    optimizer = RowSignSGD(memory.row_parameters(), lr=0.1, weight_decay=0.0)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: (step + 1) / 4)
    for _ in range(4):
        memory.zero_grad()
        backward(memory, torch.tensor([1]), torch.ones(1, WIDTH))
        optimizer.step()
        scheduler.step()
    torch.testing.assert_close(weight(memory)[1], before[1] - 0.1 * (1 + 2 + 3 + 4) / 4)


@pytest.mark.parametrize("make", [RowSignSGD, RowAdamW, DenseAdamW])
def test_no_gradient_and_an_empty_one_change_nothing(make):
    memory = table()
    before = weight(memory).detach().clone()
    optimizer = make(memory.row_parameters())
    optimizer.step()
    backward(memory, *batches(1, 3)[0])
    memory.zero_grad(set_to_none=False)
    optimizer.step()
    assert torch.equal(weight(memory), before)


def test_impossible_requests_are_refused():
    with pytest.raises(CharmError, match="lr must be >= 0, got -1"):
        RowSignSGD(table().row_parameters(), lr=-1)
    with pytest.raises(CharmError, match="betas"):
        RowAdamW(table().row_parameters(), betas=(0.9, 1.0))
    dense = torch.nn.Parameter(torch.ones(2, 2))
    dense.grad = torch.ones(2, 2)
    with pytest.raises(CharmError, match="needs sparse gradients but got a dense one"):
        RowSignSGD([dense]).step()


def train(memory: TableMemory, make, micro: int, rank: int = 0, ranks: int = 1) -> torch.Tensor:
    optimizer = make(memory.row_parameters())
    for ids, grads in batches(count=6, size=16):
        memory.zero_grad()
        own_ids, own_grads = ids.chunk(ranks)[rank], grads.chunk(ranks)[rank]
        for part_ids, part_grads in zip(own_ids.chunk(micro), own_grads.chunk(micro), strict=True):
            backward(memory, part_ids, part_grads)
        optimizer.step()
    return weight(memory).detach()


def worker(rank: int, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    results = {
        (make.__name__, micro): train(table(), make, micro, rank, ranks=2)
        for make in (RowSignSGD, RowAdamW, DenseAdamW)
        for micro in (1, 2)
    }
    memory = table()
    ids, grads = (part.chunk(2)[rank] for part in batches(count=1, size=16)[0])
    backward(memory, ids, grads)
    results["squares"] = row_squares(weight(memory).grad)
    torch.save(results, f"{folder}/rank{rank}.pt")
    dist.destroy_process_group()


def test_two_processes_make_the_update_of_one(tmp_path: Path):
    """Also when accumulation leaves the ranks with gradients of different lengths."""
    forks.together(worker, (str(tmp_path),), 2)
    first, second = (torch.load(tmp_path / f"rank{rank}.pt") for rank in range(2))
    for make in (RowSignSGD, RowAdamW, DenseAdamW):
        alone = train(table(), make, micro=1)
        assert torch.equal(first[make.__name__, 1], alone)
        torch.testing.assert_close(first[make.__name__, 2], alone, rtol=1e-5, atol=1e-6)
    assert all(torch.equal(first[case], second[case]) for case in first)
    memory = table()
    backward(memory, *batches(count=1, size=16)[0])
    torch.testing.assert_close(first["squares"], weight(memory).grad.to_dense().square().sum())


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("make", [RowSignSGD, RowAdamW, DenseAdamW])
def test_a_gpu_step_never_waits_for_the_host_and_repeats_bit_for_bit(make):
    def run() -> torch.Tensor:
        memory = table(reserved_row=True).cuda()
        optimizer = make(memory.row_parameters())
        inputs = [(ids.cuda(), grads.cuda()) for ids, grads in batches(count=5, size=4000)]
        torch.cuda.set_sync_debug_mode("error")
        try:
            for ids, grads in inputs:
                memory.zero_grad()
                backward(memory, ids, grads)
                optimizer.step()
        finally:
            torch.cuda.set_sync_debug_mode("default")
        return weight(memory).detach().cpu()

    first = run()
    assert torch.equal(first, run())
    memory = table(reserved_row=True)
    optimizer = make(memory.row_parameters())
    for ids, grads in batches(count=5, size=4000):
        memory.zero_grad()
        backward(memory, ids, grads)
        optimizer.step()
    torch.testing.assert_close(first, weight(memory).detach(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("sparse", [False, True])
def test_every_parameter_is_in_one_group(sparse: bool) -> None:
    memory = CoSE(
        Lookup("user", 7, 8, sparse=sparse),
        [Lookup("item", 5, 8), SlotPermutation("order", 3, 8), Lookup("day", 4, 8, sparse=True)],
        Film(8, 3),
        RowTable(9, 8, rank=2),
        gate=True,
    )
    model = torch.nn.ModuleDict({"memory": memory, "head": torch.nn.Linear(8, 2)})
    groups = grouped_parameters(model)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    found = [[names[id(parameter)] for parameter in group] for group in groups]
    assert sorted(name for group in found for name in group) == sorted(names.values())
    tables = ["memory.modifiers.0.rows.weight", "memory.modifiers.1.base", "memory.modifiers.1.slots"]
    base = ["memory.base.rows.weight"]
    assert found[1] == ([] if sparse else base) + tables
    assert found[2] == (base if sparse else []) + ["memory.modifiers.2.rows.weight", "memory.residual.rows.weight"]


@pytest.mark.parametrize("make", [torch.optim.AdamW, torch.optim.Adam, torch.optim.RMSprop])
def test_a_plain_optimizer_on_all_parameters_says_what_to_write(make):
    memory = table()
    backward(memory, *batches(1, 7)[0])
    with pytest.raises(CharmError, match=rf"write {make.__name__}\(memory.dense_parameters\(\)\) and.*RowAdamW"):
        make(memory.parameters()).step()
    torch.optim.SGD(memory.parameters(), lr=0.1).step()  # takes sparse gradients
    make([torch.nn.Parameter(torch.zeros(2))]).step()
