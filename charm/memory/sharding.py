"""Tables with rows sharded over processes, for tables that do not fit on a single device.

There are two ways, by the kind of gradient. `shard_rows` is for sparse gradients: a process stores its rows and one
spare row, all processes look up everybody's ids in their own shard, and each receives the vectors of its own ids.
Gradients go the other way, so every owner gets all entries of its rows and its row optimizer needs no communication
(`gather=False`). `shard_dense` makes DTensors, for tables updated by a dense optimizer.

In training all processes must read together, with the same number of ids.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard

from charm.errors import CharmError
from charm.memory.parts import Rows, RowShard, ShardedRead

FETCH = 1 << 16  # ids that a process requests at once outside training


def shard_rows(tables: Iterable[Rows], rank: int, world: int) -> None:
    """Keep this process's rows of tables with sparse gradients. Does nothing in a single process."""
    for table in tables:
        if not table.sparse:
            raise CharmError("shard_rows needs tables with sparse gradients; use shard_dense for other tables")
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
    parts = [ShardedRead.apply(table.weight, some, shard) for some in asked.split(FETCH)] if len(asked) else []
    values = torch.cat([table.weight.data[:0], *parts])[: len(wanted)]
    table.reader = lambda ids: values[torch.searchsorted(wanted, ids)]
    try:
        yield
    finally:
        table.reader = None


def shard_dense(tables: Iterable[Rows], device: torch.device, world: int) -> None:
    """Keep this process's rows of every table on its device as a DTensor, and free the others."""
    mesh = init_device_mesh(device.type, (world,))
    # torch's caches keep the mesh forever, and the mesh keeps the group: gloo's threads would then outlive the group
    # and sometimes abort the interpreter at exit. Only compiled code asks the mesh for its groups; ours does not.
    getattr(mesh, "_pg_registry", {}).clear()
    for rows in tables:
        rows.weight = nn.Parameter(own_rows(rows.weight.data, mesh, device))


def read_dense(rows: Rows, ids: Tensor) -> Tensor:
    """Read rows `ids` [N, ...] of a table, which may be a DTensor: then all processes must read together."""
    table: Tensor = rows.weight
    if not isinstance(table, DTensor):
        return rows(ids)
    # All processes look up all ids in their own shard (zero where a row is elsewhere); each receives its own sums.
    mine = DTensor.from_local(ids, table.device_mesh, [Shard(0)], run_check=False)
    read = rows(mine.redistribute(placements=[Replicate()]))
    return read.redistribute(placements=[Shard(0)]).to_local()


def own_rows(whole: Tensor, mesh: DeviceMesh, device: torch.device) -> DTensor:
    """Return this process's part of a tensor that all processes have, as torch shards it."""
    parts = torch.chunk(whole, mesh.size())
    rank = mesh.get_local_rank()
    mine = parts[rank] if rank < len(parts) else whole[:0]
    own, shape, stride = mine.to(device, copy=True), whole.shape, whole.stride()
    return DTensor.from_local(own, mesh, [Shard(0)], run_check=False, shape=shape, stride=stride)


def like(whole: Tensor, target: Tensor) -> Tensor:
    """Return a tensor from disk in the form of the target: in full, or our rows of it."""
    if isinstance(target, DTensor):
        return own_rows(whole, target.device_mesh, target.to_local().device)
    return whole
