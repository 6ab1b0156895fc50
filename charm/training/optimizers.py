"""Optimizers of every domain: which one moves which weights, their rates, and the average that evaluation uses.

`Muon` and `AdamAtan2` are ours. An `OptimizerSet` builds, scales and steps several optimizers together.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer
from torch.optim.swa_utils import get_ema_multi_avg_fn

from charm.devices import sum_gradients
from charm.memory import DenseAdamW, RowAdamW, RowSignSGD, dense_parameters, grouped_parameters
from charm.memory.optimizers import row_squares
from charm.memory.sharding import sharded_tables

if TYPE_CHECKING:  # language models import this module without them
    from charm.models.model import CharmModel
    from charm.runs.settings import OptimizerConfig, RowChoice

Polynomial = tuple[float, float, float]  # a x + b x^3 + c x^5 of the singular values
NEWTON_SCHULZ: tuple[Polynomial, ...] = 5 * ((3.4445, -4.7750, 2.0315),)
# URM runs five stages of a schedule of eight, so that singular values from 0.005 to 1 end between 0.45 and 1.83.
URM_STAGES: tuple[Polynomial, ...] = (
    (7.2086, -15.5131, 9.0178),
    (3.9623, -2.5813, 0.4542),
    (3.9466, -2.5765, 0.4544),
    (3.8991, -2.5671, 0.4566),
    (3.7186, -2.5308, 0.4653),
)
NORM_EPS = 1e-7


class Muon(Optimizer):
    """Momentum whose matrices are made orthogonal before they are applied. For parameters that are matrices.

    The same update as torch.optim.Muon with Nesterov momentum and the rate adjusted to AdamW's size. Ours makes all
    matrices of one shape orthogonal in one batch, a quarter of the launches for a typical model, and `lr` may be a
    tensor on the device, so that an update can be recorded as a CUDA graph.

    With `urm` it is URM's own: other polynomials, iterated in float32, and a momentum that is a sum of gradients, not a
    mean, so it rounds other numbers to bfloat16. Parameter groups may differ in it.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        urm: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "weight_decay": weight_decay, "momentum": momentum, "urm": urm})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        assert closure is None
        for group in self.param_groups:
            weights, gradients, averages = group_tensors(self, group, momentum_buffer=torch.zeros_like)
            if not weights:
                continue
            momentum = group["momentum"]
            if group["urm"]:
                torch._foreach_mul_(averages, momentum)
                torch._foreach_add_(averages, gradients)
                changes = list(torch._foreach_add(gradients, averages, alpha=momentum))
            else:
                torch._foreach_lerp_(averages, gradients, 1 - momentum)
                changes = list(torch._foreach_lerp(gradients, averages, momentum))

            by_shape: dict[torch.Size, list[int]] = defaultdict(list)
            for number, change in enumerate(changes):
                by_shape[change.shape].append(number)
            for shape, numbers in by_shape.items():
                # Entries of an orthogonal matrix have a mean square of 1 / max(shape); AdamW's changes about 0.2^2.
                size = 0.2 * max(shape) ** 0.5
                batch = torch.stack([changes[number] for number in numbers])
                if group["urm"]:
                    batch = orthogonalize(batch, URM_STAGES, torch.float32)
                else:
                    batch = orthogonalize(batch).float()
                for number, change in zip(numbers, (batch * (size * group["lr"])).unbind(), strict=True):
                    changes[number] = change
            torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
            torch._foreach_sub_(weights, changes)
        return None


def orthogonalize(
    matrices_KRC: Tensor, stages: Sequence[Polynomial] = NEWTON_SCHULZ, dtype: torch.dtype = torch.bfloat16
) -> Tensor:
    """Return nearly U V^T of each U S V^T, rounded to bfloat16: quintic Newton-Schulz iterations in `dtype`."""
    x = matrices_KRC.bfloat16().to(dtype)
    wide = x.shape[1] <= x.shape[2]
    x = x if wide else x.mT  # the smaller Gram matrix
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=NORM_EPS)
    for a, b, c in stages:
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x if wide else x.mT


class AdamAtan2(Optimizer):
    """Adam with atan2 in place of a division: no epsilon, and bounded steps. HRM's, TRM's and URM's own optimizer.

    w <- w (1 - lr decay) - lr / (1 - beta1^t) atan2(m, sqrt(v / (1 - beta2^t))), as version 0.0.3 of the package
    adam-atan2. `lr` may be a number or a tensor on the parameters' device.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-4,
        betas: tuple[float, float] = (0.9, 0.95),
        weight_decay: float = 0.1,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        assert closure is None
        start = {"updates": lambda w: w.new_zeros(()), "average": torch.zeros_like, "square": torch.zeros_like}
        for group in self.param_groups:
            weights, gradients, updates, averages, squares = group_tensors(self, group, **start)
            if not weights:
                continue
            beta1, beta2 = group["betas"]
            torch._foreach_add_(updates, 1)
            torch._foreach_lerp_(averages, gradients, 1 - beta1)
            torch._foreach_mul_(squares, beta2)
            torch._foreach_addcmul_(squares, gradients, gradients, 1 - beta2)
            torch._foreach_mul_(weights, 1 - group["lr"] * group["weight_decay"])
            for weight, count, average, square in zip(weights, updates, averages, squares, strict=True):
                angle = torch.atan2(average, (square / (1 - beta2**count)).sqrt())
                weight -= angle * (group["lr"] / (1 - beta1**count))
        return None


def group_tensors(
    optimizer: Optimizer, group: dict[str, Any], **start: Callable[[Tensor], Tensor]
) -> list[list[Tensor]]:
    """Return the weights of a group that have a gradient, their gradients, and each state by name, begun by `start`."""
    weights = [weight for weight in group["params"] if weight.grad is not None]
    for weight in weights:
        if not optimizer.state[weight]:
            optimizer.state[weight] |= {name: begin(weight) for name, begin in start.items()}
    states = [[optimizer.state[weight][name] for weight in weights] for name in start]
    return [weights, [weight.grad for weight in weights], *states]


def optimizer_of(kind: type[Optimizer], groups: Iterable[dict[str, Any]], **settings: Any) -> list[Optimizer]:
    """Return an optimizer of the groups that have parameters; none if there are no such groups."""
    groups = [group for group in groups if group["params"]]
    return [kind(groups, **settings)] if groups else []


class OptimizerSet:
    """The optimizers of a model.

    The gradients of `dense` weights are added up over all processes before a step. With a `clip` the norm of all
    gradients together is cut to it; `gather` says whether tables have only the rows that this process read. With
    `rates_on` learning rates are tensors on that device, so that a recorded update can be given new ones.
    """

    def __init__(
        self,
        optimizers: list[Optimizer],
        dense: Sequence[nn.Parameter] = (),
        rates_on: torch.device | None = None,
        clip: float = 0.0,
        gather: bool = True,
    ) -> None:
        self.all, self.dense, self.clip, self.gather = optimizers, dense, clip, gather
        # Settings at full rate, which `scale` multiplies.
        self.full = [[dict(group) for group in one.param_groups] for one in self.all]
        if rates_on is not None:
            for group in (group for one in self.all for group in one.param_groups):
                group["lr"] = torch.tensor(group["lr"], device=rates_on)

    def scale(self, share: float) -> None:
        """Set each group's learning rate to this share of its full one."""
        for optimizer, full in zip(self.all, self.full, strict=True):
            for group, start in zip(optimizer.param_groups, full, strict=True):
                if isinstance(group["lr"], Tensor):
                    group["lr"].fill_(start["lr"] * share)
                else:
                    group["lr"] = start["lr"] * share

    def step(self, only: Sequence[Optimizer] | None = None) -> None:
        """Apply the gradients with all optimizers or some of them, and clear them all."""
        sum_gradients(self.dense)  # row optimizers gather their own sparse gradients
        moving = self.all if only is None else only
        if self.clip:
            clip_together(moving, self.clip, self.gather)
        for optimizer in moving:
            optimizer.step()
        for optimizer in self.all:
            optimizer.zero_grad(set_to_none=True)


@torch.no_grad()
def clip_together(optimizers: Sequence[Optimizer], most: float, gather: bool = True) -> None:
    """Scale all gradients so that their norm is at most `most`, as torch does; tables may have sparse ones."""
    weights = (weight for one in optimizers for group in one.param_groups for weight in group["params"])
    grads = [weight.grad for weight in weights if weight.grad is not None]
    dense = [grad for grad in grads if not grad.is_sparse]
    tables = [grad for grad in grads if grad.is_sparse]
    squares = [row_squares(grad, gather) for grad in tables]
    if dense:
        squares.append(torch.nn.utils.get_total_norm(dense).square())
    norm = torch.stack(squares).sum() ** 0.5
    share = (most / (norm + 1e-6)).clamp(max=1)
    torch._foreach_mul_([*dense, *(grad._values() for grad in tables)], share)


class Optimizers(OptimizerSet):
    """Muon for dense matrices, AdamW for the other dense tensors (or one for both), row-wise optimizers for tables."""

    def __init__(self, model: CharmModel, config: OptimizerConfig, rates_on_device: bool = False) -> None:
        dense = dense_parameters(model)
        others, factors, instance_rows = grouped_parameters(model)
        elementwise = {id(parameter) for parameter in model.reasoner.elementwise_parameters()}
        kinds: dict[type[Optimizer], list[dict[str, Any]]] = {Muon: [], AdamW: [], AdamAtan2: []}
        for parameters, lr, decay, choice in (
            (others, config.lr, config.weight_decay, config.dense),
            (factors, config.factor_lr, config.factor_weight_decay, config.factors),
        ):
            by_muon = choice in ("muon", "urm-muon")
            matrices = [p for p in parameters if p.dim() == 2 and by_muon and id(p) not in elementwise]
            chosen = {id(p) for p in matrices}
            rest = [p for p in parameters if id(p) not in chosen]
            group = {"lr": lr, "weight_decay": decay}
            kinds[Muon].append({"params": matrices, **group, "urm": choice == "urm-muon"})
            kinds[AdamAtan2 if choice == "adam-atan2" else AdamW].append({"params": rest, **group})
        rows = {"params": instance_rows, "lr": config.row_lr, "weight_decay": config.row_weight_decay}
        fused = all(parameter.device.type in ("cpu", "cuda", "xpu") for parameter in dense)
        adam = {"betas": config.betas, "eps": 1e-8, "fused": fused, "capturable": rates_on_device}
        settings: dict[type[Optimizer], dict[str, Any]] = {AdamW: adam, AdamAtan2: {"betas": config.betas}}
        gather = not sharded_tables(model)  # sharded tables have the entries of all processes already
        made = [one for kind, groups in kinds.items() for one in optimizer_of(kind, groups, **settings.get(kind, {}))]
        made += rows_optimizer(config.rows, rows, config.betas, gather, rates_on_device)
        super().__init__(made, dense, dense[0].device if rates_on_device else None, config.clip, gather)


def rows_optimizer(
    choice: RowChoice, group: dict[str, Any], betas: tuple[float, float], gather: bool = True, recorded: bool = False
) -> list[Optimizer]:
    """Return the optimizer of instance rows with this name, if there are any; `recorded` updates become CUDA graphs."""
    if choice == "signsgd":
        return optimizer_of(RowSignSGD, [group], gather=gather)
    kind, more = (RowAdamW, {}) if choice == "adamw" else (DenseAdamW, {"capturable": recorded})
    return optimizer_of(kind, [group], gather=gather, betas=betas, **more)


def rate_share(update: int, warmup: float, left: float = 1.0, decay: Literal["linear", "cosine"] = "linear") -> float:
    """Return the share of the full learning rates at an update.

    It rises over the first `warmup` updates, of which the first already moves, and falls as `left` falls from 1 to 0:
    linearly, or along half a cosine.
    """
    risen = min(1.0, (update + 1) / warmup) if warmup else 1.0
    left = min(1.0, max(left, 0.0))
    return risen * (left if decay == "linear" else (1 - math.cos(math.pi * left)) / 2)


def lr_scale(update: int, steps: int, config: OptimizerConfig) -> float:
    """Return the share of the full rates in a run: after the warm-up constant, then down to zero if that is chosen."""
    left = (steps - update) / (config.cooldown * steps) if config.cooldown else 1.0
    return rate_share(update, config.warmup, left, config.decay)


class MovingAverage:
    """The exponential moving average of dense weights; rows are not averaged, and not copied."""

    def __init__(self, parameters: Sequence[nn.Parameter], decay: float) -> None:
        self.decay = decay
        self.parameters = parameters if decay else []
        self.average = [parameter.detach().clone() for parameter in self.parameters]
        self._update = get_ema_multi_avg_fn(decay)

    @torch.no_grad()
    def update(self) -> None:
        if self.decay:
            self._update(self.average, [parameter.detach() for parameter in self.parameters], 1)

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Use the averages as the model's dense weights within the block."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    def _swap(self) -> None:
        for number, parameter in enumerate(self.parameters):
            average: Tensor = self.average[number]
            self.average[number], parameter.data = parameter.data, average
