"""Communication between processes that read a table sharded over them.

Shapes: N ids of one process, W processes, C columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor


@dataclass(frozen=True)
class RowShard:
    """One process's shard of a table: `rows_each` rows, of which the last process may use fewer."""

    rank: int
    world: int
    rows: int
    """Rows of the whole table."""

    @property
    def rows_each(self) -> int:
        return -(-self.rows // self.world)

    def local(self, ids: Tensor) -> Tensor:
        """Positions in our shard; rows of other processes map to the spare row at its end."""
        place = ids - self.rank * self.rows_each
        return torch.where((place >= 0) & (place < self.rows_each), place, self.rows_each)

    def part(self, whole: Tensor) -> Tensor:
        """Our rows of the whole table, and a spare row of zeros."""
        mine = whole.new_zeros(self.rows_each + 1, *whole.shape[1:])
        own = whole[self.rank * self.rows_each : (self.rank + 1) * self.rows_each]
        mine[: len(own)] = own
        return mine


class ShardedRead(torch.autograd.Function):
    """Vectors [N, C] of ids [N] from a table sharded over all processes."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, ids_N: Tensor, shard: RowShard) -> Tensor:
        local = shard.local(all_gather(ids_N))
        ctx.save_for_backward(local)
        ctx.shape = weight.shape
        ctx.spare = shard.rows_each
        # The spare row is zero and stands in for rows of other processes, so each sum is one vector plus zeros.
        found = weight[local].contiguous()
        received = torch.empty_like(found)
        dist.all_to_all_single(received, found)
        return received.view(shard.world, len(ids_N), -1).sum(dim=0)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None]:
        (local,) = ctx.saved_tensors
        # No entry is dropped, since counting ours would make the host wait; the spare row's entries are zero.
        values = all_gather(grads[0]).masked_fill((local == ctx.spare).unsqueeze(1), 0)
        return torch.sparse_coo_tensor(local[None], values, ctx.shape, check_invariants=False), None, None


def all_gather(local: Tensor) -> Tensor:
    """The tensors of all processes, concatenated; they must have the same shape."""
    gathered = [torch.empty_like(local) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, local.contiguous())
    return torch.cat(gathered)
