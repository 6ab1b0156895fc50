"""Tables divided among processes, against the same tables whole, in processes that talk over gloo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.distributed.nn  # before a group lives, see charm.devices.place

from charm.errors import CharmError
from charm.memory import CoSE, Film, Lookup, RowAdamW, Rows, RowSignSGD, RowTable
from charm.memory.optimizers import row_squares
from charm.memory.parts import RowShard
from charm.memory.sharding import prefetch, shard_rows, sharded_tables, whole_tables
from tests import forks

ROWS, WIDTH, BATCH = 21, 8, 12
IDS = torch.tensor([[0, 3, 20, 3, 7, 7, 7, 11, 20, 1, 2, 10], [5, 20, 20, 3, 0, 19, 6, 14, 13, 7, 3, 0]])


def memory() -> CoSE:
    torch.manual_seed(0)
    made = CoSE(
        Lookup("user", 4, WIDTH),
        [Lookup("item", 3, WIDTH)],
        Film(WIDTH, 1),
        RowTable(ROWS, WIDTH, rank=4, reserved_row=True),
        gate=True,
    )
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.copy_(torch.randn(parameter.shape))
    return made


def key(step: int, share: slice) -> dict[str, torch.Tensor]:
    rows = IDS[step % 2][share]
    return {"user": rows % 4, "item": rows % 3, "row": rows}


def learn(made: CoSE, share: slice, optimizer: torch.optim.Optimizer, steps: int = 4) -> list[torch.Tensor]:
    """The vectors of every step; the loss is divided by the global batch."""
    target = torch.randn(ROWS, WIDTH, generator=torch.Generator().manual_seed(1))
    read = []
    for step in range(steps):
        some = key(step, share)
        vectors = made(some)
        ((vectors - target[some["row"]]).square().sum() / BATCH).backward()
        optimizer.step()
        made.zero_grad(set_to_none=True)
        read.append(vectors.detach())
    return read


def optimizer_of(name: str, made: CoSE, gather: bool) -> torch.optim.Optimizer:
    rows = made.row_parameters()
    if name == "sign":
        return RowSignSGD(rows, lr=0.05, weight_decay=0.3, gather=gather)
    return RowAdamW(rows, lr=0.05, weight_decay=0.1, gather=gather)


def in_group(rank: int, world: int, folder: str, work: Callable[..., None], *arguments: Any) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{folder}/group", rank=rank, world_size=world)
    try:
        work(rank, world, Path(folder), *arguments)
    finally:
        dist.destroy_process_group()


def together(world: int, folder: Path, work: Callable[..., None], *arguments: Any) -> None:
    forks.together(in_group, (world, str(folder), work, *arguments), world)


def learn_sharded(rank: int, world: int, folder: Path, name: str) -> None:
    made = memory()
    table = made.residual
    assert isinstance(table, RowTable)
    shard_rows([table.rows], rank, world)
    assert table.rows.weight.shape[0] == -(-ROWS // world) + 1
    assert list(sharded_tables(made)) == ["residual.rows.weight"]
    each = BATCH // world
    table({"row": IDS[0][rank * each : (rank + 1) * each]}).square().sum().backward()
    squares = row_squares(table.rows.weight.grad, gather=False)
    made.zero_grad(set_to_none=True)
    read = learn(made, slice(rank * each, (rank + 1) * each), optimizer_of(name, made, gather=False))
    assert not table.rows.weight[-1].any()  # the spare row stays zero
    whole = whole_tables(made)
    assert bool(whole) == (rank == 0)
    # Unequally many rows, read alone.
    mine = torch.arange(rank, ROWS, world)[: ROWS // world - rank]
    with prefetch(table.rows, mine):
        alone = table({"row": mine})
    torch.save({"read": read, "squares": squares, "alone": (mine, alone), **whole}, folder / f"{rank}.pt")
    with pytest.raises(CharmError, match="cannot grow"):
        table.grow(1)
    again = memory()
    assert isinstance(again.residual, RowTable)
    shard_rows([again.residual.rows], rank, world)
    again.load_state_dict({**memory().state_dict()})  # a whole table, from disk
    wanted = RowShard(rank, world, ROWS).part(memory().state_dict()["residual.rows.weight"])
    assert torch.equal(again.residual.rows.weight, wanted)


@pytest.mark.parametrize("world", [2, 4])
@pytest.mark.parametrize("name", ["sign", "adamw"])
def test_a_divided_table_learns_what_a_whole_one_learns(world: int, name: str, tmp_path: Path) -> None:
    together(world, tmp_path, learn_sharded, name)
    one = memory()
    read = learn(one, slice(BATCH), optimizer_of(name, one, gather=True))
    parts = [torch.load(tmp_path / f"{rank}.pt") for rank in range(world)]
    for step, vectors in enumerate(read):
        found = torch.cat([part["read"][step] for part in parts])
        assert torch.allclose(found, vectors, atol=1e-6)
    whole = memory().residual
    assert isinstance(whole, RowTable)
    whole({"row": IDS[0]}).square().sum().backward()
    assert whole.rows.weight.grad is not None
    expected = whole.rows.weight.grad.to_dense().square().sum()
    assert all(torch.allclose(part["squares"], expected) for part in parts)
    table = one.residual
    assert isinstance(table, RowTable)
    assert torch.allclose(parts[0]["residual.rows.weight"], table.rows.weight, atol=1e-6)
    assert not torch.equal(table.rows.weight, memory().state_dict()["residual.rows.weight"])  # it has learned
    for part in parts:
        rows, alone = part["alone"]
        assert torch.allclose(alone, table({"row": rows}), atol=1e-6)


def test_one_process_divides_nothing() -> None:
    rows = Rows(5, 2, sparse=True)
    shard_rows([rows], 0, 1)
    assert rows.shard is None
    with prefetch(rows, torch.tensor([1])):
        assert rows.reader is None
    assert whole_tables(rows) == {}


def read_densely(rank: int, world: int, folder: Path) -> None:
    table = Rows(ROWS, WIDTH, sparse=False)
    table.weight.data.copy_(torch.arange(ROWS * WIDTH).view(ROWS, WIDTH))
    shard_rows([table], rank, world)
    each = BATCH // world
    table(IDS[0][rank * each : (rank + 1) * each].view(-1, 3)).square().sum().backward()
    assert table.shard is not None
    assert table.weight.grad is not None
    assert not table.weight.grad[-1].any()  # of the spare row
    torch.save(table.shard.used(table.weight.grad), folder / f"{rank}.pt")


@pytest.mark.parametrize("world", [2, 4])
def test_a_divided_table_has_the_dense_gradient_of_a_whole_one(world: int, tmp_path: Path) -> None:
    together(world, tmp_path, read_densely)
    whole = Rows(ROWS, WIDTH, sparse=False)
    whole.weight.data.copy_(torch.arange(ROWS * WIDTH).view(ROWS, WIDTH))
    whole(IDS[0]).square().sum().backward()
    found = torch.cat([torch.load(tmp_path / f"{rank}.pt") for rank in range(world)])
    assert whole.weight.grad is not None
    assert torch.equal(found, whole.weight.grad)  # sums of whole numbers


@pytest.mark.parametrize(("rows", "world"), [(21, 4), (8, 4), (3, 4), (1, 2)])
def test_every_row_has_one_owner(rows: int, world: int) -> None:
    whole = torch.arange(1.0, rows + 1)[:, None]
    ids = torch.arange(rows)
    found = torch.zeros(rows, 1)
    owners = torch.zeros(rows)
    for rank in range(world):
        shard = RowShard(rank, world, rows)
        part, local = shard.part(whole), shard.local(ids)
        found += part[local]
        owners += local != shard.rows_each
    assert torch.equal(found, whole)
    assert torch.equal(owners, torch.ones(rows))
