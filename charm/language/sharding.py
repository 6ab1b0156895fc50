"""N-gram tables whose rows are divided among processes, for tables that no single device can hold."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.tensor import DTensor, Shard

from charm.devices import Place
from charm.language.gpt import GPT


def shard_tables(model: GPT, place: Place) -> None:
    """Keep this process's rows of every table on its device, and let go of the others."""
    mesh = init_device_mesh(place.device.type, (place.world,))
    # torch's caches keep the mesh for ever, and it the group: gloo's threads would then outlive the group and, now
    # and then, abort the interpreter as it ends. Only compiled code asks the mesh for its groups; ours does not.
    getattr(mesh, "_pg_registry", {}).clear()
    for rows in model.ngram_tables():
        rows.weight = nn.Parameter(own_rows(rows.weight.data, mesh, place.device))


def own_rows(whole: Tensor, mesh: DeviceMesh, device: torch.device) -> DTensor:
    """The process's part of a tensor that all processes know, as torch divides it."""
    parts = torch.chunk(whole, mesh.size())
    rank = mesh.get_local_rank()
    mine = parts[rank] if rank < len(parts) else whole[:0]
    return DTensor.from_local(
        mine.to(device, copy=True),
        mesh,
        [Shard(0)],
        run_check=False,
        shape=whole.shape,
        stride=whole.stride(),
    )


def like(whole: Tensor, target: Tensor) -> Tensor:
    """A tensor read from disk as the target holds it: whole, or our rows of it."""
    if isinstance(target, DTensor):
        return own_rows(whole, target.device_mesh, target.to_local().device)
    return whole
