"""Optimizers that update single rows, for tables of which a step reads only a few rows.

They take the sparse gradients of `charm.memory` tables. In a process group the entries of all ranks are gathered and
summed, and every rank then makes the same update, bit for bit. For that, all ranks must have gradients for the same
parameters and, on GPUs, the same number of entries. Tables sharded by `charm.memory.sharding.shard_rows` have all
entries of their rows already: use `gather=False` there.

Shapes: N entries of the gradient over all ranks (one per read, duplicates included), C columns of a row.
No size here depends on the data, and nothing is copied to the host, so a GPU never waits.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor
from torch.optim import SGD, Adagrad, AdamW, Optimizer, SparseAdam
from torch.optim.optimizer import register_optimizer_step_pre_hook

from charm.config import refuse_below
from charm.errors import CharmError
from charm.memory.parts import all_gather


class RowOptimizer(Optimizer):
    """row <- row (1 - lr * weight_decay) - lr * change, once per row that was read; the others stay unchanged."""

    def __init__(self, params: Iterable[Any], **settings: Any) -> None:
        refuse_below(0, {name: settings.get(name) for name in ("lr", "eps", "weight_decay")})
        super().__init__(params, settings)

    def change(self, table: Tensor, ids_N: Tensor, grads_NC: Tensor, group: dict[str, Any]) -> Tensor:
        """Compute the change [N, C] of the rows that were read, from the sums of their gradients."""
        raise NotImplementedError

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        with torch.enable_grad():
            loss = None if closure is None else closure()
        for group in self.param_groups:
            for table in group["params"]:
                if table.grad is not None:
                    ids_N, grads_NC = summed_rows(table.grad, group["gather"])
                    change_NC = self.change(table, ids_N, grads_NC, group)
                    rows_NC = table[ids_N] * (1 - group["lr"] * group["weight_decay"])
                    table[ids_N] = rows_NC - group["lr"] * change_NC
        return loss


class RowSignSGD(RowOptimizer):
    """row <- row (1 - lr * weight_decay) - lr * sign(sum of the row's gradients), once per row that was read.

    A row whose gradients sum to zero only decays; a row that was not read stays unchanged.
    """

    def __init__(self, params: Iterable[Any], lr: float = 1e-2, weight_decay: float = 0.1, gather: bool = True) -> None:
        super().__init__(params, lr=lr, weight_decay=weight_decay, gather=gather)

    def change(self, table: Tensor, ids_N: Tensor, grads_NC: Tensor, group: dict[str, Any]) -> Tensor:
        return grads_NC.sign()


class RowAdamW(RowOptimizer):
    """AdamW per row: moments, step count and weight decay advance only where a row was read.

    If every row is read at every step, this is AdamW. Tables may grow between steps: the moments of new rows
    start at zero.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-2,
        betas: tuple[float, float] = (0.9, 0.95),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        gather: bool = True,
    ) -> None:
        if not all(0 <= beta < 1 for beta in betas):
            raise CharmError(f"betas must both be in [0, 1), got {betas}")
        super().__init__(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, gather=gather)

    def change(self, table: Tensor, ids_N: Tensor, grads_NC: Tensor, group: dict[str, Any]) -> Tensor:
        beta1, beta2 = group["betas"]
        state = self.state[table]
        if not state:
            # "steps", not "step", which torch would leave on the wrong device when loading a state.
            state["steps"] = table.new_zeros(0)
            state["mean"], state["square"] = table.new_zeros(2, 0, table.shape[1])
        if missing := len(table) - len(state["steps"]):  # rows that were added to the table
            state |= {name: torch.cat([old, old.new_zeros(missing, *old.shape[1:])]) for name, old in state.items()}
        steps_N = state["steps"][ids_N] + 1
        mean_NC = torch.lerp(state["mean"][ids_N], grads_NC, 1 - beta1)
        square_NC = state["square"][ids_N] * beta2 + grads_NC.square() * (1 - beta2)
        for name, new in (("steps", steps_N), ("mean", mean_NC), ("square", square_NC)):
            state[name][ids_N] = new
        # 1 - beta^t loses most digits in float32 while t is small.
        correction1_N1 = (1 - beta1 ** steps_N.double()).to(table.dtype).unsqueeze(1)
        correction2_N1 = (1 - beta2 ** steps_N.double()).sqrt().to(table.dtype).unsqueeze(1)
        return mean_NC / correction1_N1 / (square_NC.sqrt() / correction2_N1 + group["eps"])


class DenseAdamW(AdamW):
    """torch's AdamW for tables with sparse gradients: every row advances at every step, and has a gradient of zero
    where it was not read.

    By its momentum a row moves on between reads, so rarely read rows learn faster than with `RowAdamW`. A step costs
    as much as the whole table is large, and tables must not grow. Other `settings` are AdamW's.
    """

    def __init__(self, params: Iterable[Any], lr: float = 1e-2, gather: bool = True, **settings: Any) -> None:
        super().__init__(params, lr, **{"betas": (0.9, 0.95), "weight_decay": 0.0, **settings})
        self.gather = gather

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        with torch.enable_grad():
            loss = None if closure is None else closure()
        for table in (table for group in self.param_groups for table in group["params"]):
            if table.grad is not None:
                ids_N, grads_NC = summed_rows(table.grad, self.gather)
                table.grad = torch.zeros_like(table).index_put_((ids_N,), grads_NC)
        super().step()
        return loss


def _refuse_sparse(optimizer: Optimizer, args: Any, kwargs: Any) -> None:
    """Name the optimizers for a table, where torch's own would only refuse its sparse gradients."""
    if type(optimizer).__module__.startswith("torch.optim") and not isinstance(optimizer, SGD | SparseAdam | Adagrad):
        gradients = (table.grad for group in optimizer.param_groups for table in group["params"])
        if any(grad is not None and grad.is_sparse for grad in gradients):
            name = type(optimizer).__name__
            raise CharmError(
                f"{name} cannot use the sparse gradients of a memory's tables; write {name}(memory.dense_parameters()) "
                "and charm.memory.RowAdamW(memory.row_parameters())"
            )


register_optimizer_step_pre_hook(_refuse_sparse)


def summed_rows(grad: Tensor, gather: bool = True) -> tuple[Tensor, Tensor]:
    """Return row ids [N] and, at each, the sum [N, C] of all gradients of that row on all ranks, or on this one alone.

    Sorted by id. A row with several entries appears several times, each time with the same complete sum, so that
    writes by these ids write equal values and their order does not matter.
    """
    if not grad.is_sparse:
        raise CharmError("a row optimizer needs sparse gradients but got a dense one; read its tables with sparse=True")
    # The public accessors require coalescing, which makes the host wait until the number of rows is known.
    ids_N, grads_NC = grad._indices()[0], grad._values()
    if gather:
        ids_N, grads_NC = _gather(ids_N, grads_NC)
    ids_N, order_N = ids_N.sort(stable=True)
    is_first_N = torch.ones_like(ids_N)
    is_first_N[1:] = ids_N[1:] != ids_N[:-1]
    run_N = is_first_N.cumsum(0) - 1  # which run of equal ids an entry belongs to
    # Where each run starts; N for the runs that do not exist, which makes them empty.
    starts_N = torch.searchsorted(run_N, torch.arange(len(run_N), device=run_N.device))
    # embedding_bag adds each run in order. index_add_ would add in any order on a GPU, so that the last bits,
    # hence a sign, could differ between ranks.
    sums_NC = F.embedding_bag(order_N, grads_NC, starts_N, mode="sum")
    return ids_N, sums_NC[run_N]


def row_squares(grad: Tensor, gather: bool = True) -> Tensor:
    """Return the sum of squares of a table's gradient over all ranks: reads of one row are summed before."""
    ids_N, sums_NC = summed_rows(grad, gather)
    is_again_N = F.pad(ids_N[1:] == ids_N[:-1], (1, 0))
    squares = sums_NC.square().sum(1).masked_fill(is_again_N, 0).sum()
    if not gather and dist.is_initialized():  # each rank has the sums of the rows it owns
        dist.all_reduce(squares)
    return squares


def _gather(ids: Tensor, grads: Tensor) -> tuple[Tensor, Tensor]:
    """Concatenate the entries of all ranks; without a process group, return our own."""
    if not dist.is_available() or not dist.is_initialized() or dist.get_world_size() == 1:
        return ids, grads
    ranks = dist.get_world_size()
    lengths = [len(ids)] * ranks
    if ids.device.type == "cpu":
        # Accumulating sparse gradients on the CPU may merge entries, so lengths differ even for equal batch sizes.
        # On a GPU entries are only appended, and reading the lengths would make the host wait.
        lengths = all_gather(ids.new_tensor([len(ids)])).tolist()
    missing = max(lengths) - len(ids)

    def joined(entries: Tensor) -> Tensor:
        parts = all_gather(entries).unflatten(0, (ranks, -1))
        return torch.cat([part[:length] for part, length in zip(parts, lengths, strict=True)])

    return joined(F.pad(ids, (0, missing))), joined(F.pad(grads, (0, 0, 0, missing)))
