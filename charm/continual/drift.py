"""Drift: values that learning changed but must not, compared bit by bit."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from charm.errors import CharmError
from charm.models.model import CharmModel

Snapshot = dict[str, Tensor]


def snapshot(model: CharmModel) -> Snapshot:
    """Copy all weights, rows and buffers, including those that are never saved."""
    return {name: tensor.detach().clone() for name, tensor in _everything(model).items()}


def changed_values(model: CharmModel, before: Snapshot, own: Mapping[str, Tensor]) -> dict[str, int]:
    """Count the values of each tensor that differ in any bit from the snapshot, not counting rows in `own`."""
    counts = {}
    for name, tensor in _everything(model).items():
        if tensor.shape != before[name].shape:
            raise CharmError(f"{name} has changed its shape from {before[name].shape} to {tensor.shape}")
        different = _bits(tensor) != _bits(before[name])
        if name in own:
            different[own[name]] = False
        if count := int(different.sum()):
            counts[name] = count
    return counts


@torch.no_grad()
def distance(before: Mapping[str, Tensor], after: Mapping[str, Tensor]) -> float:
    """Return the Euclidean distance between two sets of tensors."""
    squares = [(after[name].double() - tensor.double()).square().sum() for name, tensor in before.items()]
    return float(torch.stack(squares).sum().sqrt()) if squares else 0.0


def _everything(model: CharmModel) -> dict[str, Tensor]:
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def _bits(tensor: Tensor) -> Tensor:
    """Return the bits as integers, so that 0.0 differs from -0.0 and a NaN equals itself."""
    sizes = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.detach().contiguous().view(sizes[tensor.element_size()])
