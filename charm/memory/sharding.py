"""Tables with rows sharded over processes, for tables that do not fit on a single device.

A process stores its rows and one spare row, all processes look up everybody's ids in their own shard, and each receives
the vectors of its own ids. Gradients go the other way, so every owner gets all entries of its rows and its optimizer
needs no communication (`gather=False` of row optimizers).

In training all processes must read together, with the same number of ids.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn

from charm.memory.parts import Rows, RowShard, ShardedRead

FETCH = 1 << 16  # ids that a process requests at once outside training


def shard_rows(tables: Iterable[Rows], rank: int, world: int) -> None:
    """Keep this process's rows of tables. Does nothing in a single process."""
    for table in tables:
        if world > 1 and table.shard is None:
            shard = RowShard(rank, world, table.weight.shape[0])
            table.weight = nn.Parameter(shard.part(table.weight.data))
            table.shard = shard


def sharded_tables(module: nn.Module) -> dict[str, Rows]:
    """Return the tables inside a module that are sharded by `shard_rows`, by the names of their weights."""
    parts = module.named_modules()
    return {f"{name}.weight": part for name, part in parts if isinstance(part, Rows) and part.shard is not None}


@torch.no_grad()
def whole_tables(module: nn.Module) -> dict[str, Tensor]:
    """Gather every sharded table in host memory on the first process; return nothing on the others.

    All processes must call this together.
    """
    found = {}
    for name, table in sharded_tables(module).items():
        shard = table.shard
        assert shard is not None
        mine = table.weight.data[:-1].contiguous()
        if shard.rank:
            dist.send(mine, 0)
            continue
        whole = torch.empty(shard.world, *mine.shape, dtype=mine.dtype)
        for rank in range(shard.world):
            if rank:
                dist.recv(mine := torch.empty_like(mine), rank)
            whole[rank] = mine.cpu()
        found[name] = whole.flatten(0, 1)[: shard.rows]
    return found


@contextmanager
@torch.no_grad()
def prefetch(table: Rows, ids: Tensor) -> Iterator[None]:
    """Fetch these rows, with all processes together; inside the block each may then read them alone."""
    shard = table.shard
    if shard is None:
        yield
        return
    device = table.weight.device
    wanted = torch.unique(ids.to(device).long())
    most = torch.tensor(len(wanted), device=device)
    dist.all_reduce(most, dist.ReduceOp.MAX)
    # All processes read together, so those with fewer ids read row 0 meanwhile.
    asked = F.pad(wanted, (0, int(most) - len(wanted)))
    parts = [ShardedRead.apply(table.weight, some, shard, True) for some in asked.split(FETCH)] if len(asked) else []
    values = torch.cat([table.weight.data[:0], *parts])[: len(wanted)]
    table.reader = lambda ids: values[torch.searchsorted(wanted, ids)]
    try:
        yield
    finally:
        table.reader = None
