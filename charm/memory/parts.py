"""Building blocks of all memory modules: keys, one kind of linear layer, and rows of parameters, whole or sharded.

Shapes: B keys in a batch, D width of the memory's vectors, C columns that a row stores, N ids of one process.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn

from charm.errors import CharmError, charm_errors
from charm.initial import truncated_normal_

# Field name -> integers, as a tensor, an array or lists: [B] for an id, [B, n] for a permutation of 0..n-1. Extra
# fields are ignored.
Key = Mapping[str, Any]


def read_field(
    key: Key, field: str, size: int, symbols: int | None = None, device: torch.device | None = None
) -> Tensor:
    """Return the field as int64, [B], or [B, symbols] if `symbols` is given. Lists and arrays are moved to `device`.

    Values must be in 0..size-1. This is checked on the CPU only: elsewhere the check would stall the device.
    """
    if field not in key:
        raise CharmError(f"the key has no field '{field}', only {', '.join(sorted(key)) or 'none at all'}")
    ids = key[field]
    if not isinstance(ids, Tensor):
        with charm_errors(f"field '{field}' must be an array of integers", TypeError, ValueError, RuntimeError):
            ids = torch.as_tensor(ids, device=device)
    if ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool:
        raise CharmError(f"field '{field}' must contain integers, got {ids.dtype}")
    if ids.dim() != (1 if symbols is None else 2) or (symbols is not None and ids.shape[1] != symbols):
        wanted = "[B]" if symbols is None else f"[B, {symbols}]"
        raise CharmError(f"field '{field}' must have shape {wanted}, got {list(ids.shape)}")
    if ids.device.type == "cpu" and ids.numel() > 0:
        for value in (ids.min().item(), ids.max().item()):
            if not 0 <= value < size:
                raise CharmError(f"field '{field}' must be in 0..{size - 1}, got {value}")
    return ids.long()


def linear(inputs: int, outputs: int, bias: bool = True) -> nn.Linear:
    """Make a linear layer that keeps the variance of its input; biases start at zero."""
    layer = nn.Linear(inputs, outputs, bias=bias)
    truncated_normal_(layer.weight.data, std=1 / math.sqrt(inputs))
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


class MemoryModule(nn.Module):
    """Base of all memory modules; knows which of its parameters are trained row by row."""

    def row_parameters(self) -> list[nn.Parameter]:
        return row_parameters(self)

    def dense_parameters(self) -> list[nn.Parameter]:
        return dense_parameters(self)


@dataclass(frozen=True)
class RowShard:
    """One process's shard of a table: `rows_each` rows, of which the last process may use fewer."""

    rank: int
    world: int
    rows: int  # rows of the whole table

    @property
    def rows_each(self) -> int:
        return -(-self.rows // self.world)

    def local(self, ids: Tensor) -> Tensor:
        """Return positions in our shard; rows of other processes map to the spare row at its end."""
        place = ids - self.rank * self.rows_each
        return torch.where((place >= 0) & (place < self.rows_each), place, self.rows_each)

    def part(self, whole: Tensor) -> Tensor:
        """Return our rows of the whole table, and a spare row of zeros."""
        own = whole[self.rank * self.rows_each : (self.rank + 1) * self.rows_each]
        return F.pad(own, (0, 0, 0, self.rows_each + 1 - len(own)))

    def used(self, part: Tensor) -> Tensor:
        """Return the rows of the whole table that `part` has, without those that only fill it."""
        return part[: min(self.rows_each, max(self.rows - self.rank * self.rows_each, 0))]


class ShardedRead(torch.autograd.Function):
    """Vectors [N, C] of ids [N] from a table sharded over all processes."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, ids_N: Tensor, shard: RowShard, sparse: bool) -> Tensor:
        local = shard.local(all_gather(ids_N))
        ctx.save_for_backward(local)
        ctx.shape, ctx.spare, ctx.sparse = weight.shape, shard.rows_each, sparse
        # The spare row is zero and stands in for rows of other processes, so each sum is one vector plus zeros.
        found = weight[local].contiguous()
        received = torch.empty_like(found)
        dist.all_to_all_single(received, found)
        return received.view(shard.world, len(ids_N), -1).sum(dim=0)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None, None, None]:
        (local,) = ctx.saved_tensors
        # No entry is dropped, since counting ours would make the host wait; the spare row's entries are zero.
        values = all_gather(grads[0]).masked_fill((local == ctx.spare).unsqueeze(1), 0)
        if ctx.sparse:
            grad = torch.sparse_coo_tensor(local[None], values, ctx.shape, check_invariants=False)
        else:
            grad = torch.ops.aten.embedding_dense_backward(values, local, ctx.shape[0], -1, False)
        return grad, None, None, None


def all_gather(local: Tensor) -> Tensor:
    """Concatenate the tensors of all processes; they must have the same shape."""
    gathered = [torch.empty_like(local) for _ in range(dist.get_world_size())]
    dist.all_gather(gathered, local.contiguous())
    return torch.cat(gathered)


class Rows(MemoryModule):
    """A table [rows, columns] of parameters, initially zero.

    With `sparse`, which may be switched between steps, the gradient names only the rows that were read, once per read;
    such a table needs a row optimizer. With `reserved_row`, row 0 always reads as zero and its gradient is zero.
    """

    def __init__(self, rows: int, columns: int, sparse: bool, reserved_row: bool = False) -> None:
        super().__init__()
        if rows < 1 or columns < 1:
            raise CharmError(f"a table needs at least 1 row and 1 column, got {rows} and {columns}")
        self.weight = nn.Parameter(torch.zeros(rows, columns))
        self.sparse, self.reserved_row = sparse, reserved_row
        self.shard: RowShard | None = None  # which rows are ours, if processes share the table (`shard_rows`)
        self.reader: Callable[[Tensor], Tensor] | None = None  # reads rows that were fetched in advance (`prefetch`)

    @property
    def size(self) -> int:
        """Rows of the whole table."""
        return self.weight.shape[0] if self.shard is None else self.shard.rows

    def forward(self, ids: Tensor) -> Tensor:
        if self.reader is not None:
            values = self.reader(ids)
        elif self.shard is not None:
            values = ShardedRead.apply(self.weight, ids.flatten(), self.shard, self.sparse).unflatten(0, ids.shape)
        else:
            values = F.embedding(ids, self.weight, sparse=self.sparse)
        if self.reserved_row:
            # Not embedding's padding_idx: filtering the sparse gradient would stall a GPU until its size is known.
            values = values.masked_fill((ids == 0).unsqueeze(-1), 0)
        return values

    @torch.no_grad()
    def grow(self, count: int) -> int:
        """Append `count` zero rows and return the index of the first; old rows stay the same to the bit.

        The parameter stays the same object, so that optimizers keep it; a pending gradient is dropped.
        """
        if count < 0:
            raise CharmError(f"a table can only grow by >= 0 rows, got {count}")
        if self.shard is not None:
            raise CharmError("a table sharded over processes cannot grow")
        first, columns = self.weight.shape
        larger = torch.cat([self.weight.data, self.weight.new_zeros(count, columns)])
        self.weight.grad = None
        # While an earlier result is still referenced, autograd expects gradients of the old shape and would refuse
        # the new one. It forgets the shape when the dtype changes, so the dtype is changed for a moment.
        self.weight.data = torch.empty(0, dtype=torch.complex64, device=larger.device)
        self.weight.data = larger
        return first

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Load a full table, of which a sharded one takes its rows."""
        name = f"{prefix}weight"
        if self.shard is not None and name in state_dict and len(state_dict[name]) == self.shard.rows:
            state_dict = {**state_dict, name: self.shard.part(state_dict[name])}
        super()._load_from_state_dict(state_dict, prefix, *rest)


def row_parameters(module: nn.Module) -> list[nn.Parameter]:
    """List the tables anywhere inside `module` whose gradients are sparse: for the row optimizers."""
    return [part.weight for part in module.modules() if isinstance(part, Rows) and part.sparse]


def dense_parameters(module: nn.Module) -> list[nn.Parameter]:
    """List all parameters of `module` that are not `row_parameters`."""
    rows = {id(parameter) for parameter in row_parameters(module)}
    return [parameter for parameter in module.parameters() if id(parameter) not in rows]
