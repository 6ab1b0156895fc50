"""Composers combine a base vector and the vectors that modify it into one vector.

Shapes: B keys, D width, E all modifiers side by side, R rank, K experts. A composer is called with the base
[B, D] and a list of modifiers, each [B, D]; it is told the width and how many modifiers come where that
shapes its weights.
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from charm.config import refuse_below
from charm.errors import CharmError
from charm.initial import truncated_normal_
from charm.memory.parts import MemoryModule, linear


class Composer(MemoryModule):
    """A module (base [B, D], modifiers) -> [B, D]; None stands for any width or any number of modifiers."""

    def __init__(self, width: int | None = None, modifiers: int | None = None, **sizes: int) -> None:
        super().__init__()
        self.width, self.modifiers = width, modifiers
        given = {"width": width, "modifiers": modifiers, **sizes}
        refuse_below(1, {f"a composer's {name}": size for name, size in given.items()})


class Add(Composer):
    """Base plus modifiers."""

    def forward(self, base_BD: Tensor, modifiers: Sequence[Tensor]) -> Tensor:
        return torch.stack([base_BD, *modifiers]).sum(dim=0)


class Film(Composer):
    """(1 + scale) * base + shift, where scale and shift come from the concatenated modifiers.

    Both maps are linear unless `hidden` names the widths of layers in between.
    """

    def __init__(self, width: int, modifiers: int = 2, hidden: Sequence[int] = ()) -> None:
        super().__init__(width, modifiers)
        self.scale = _mlp(modifiers * width, hidden, width)
        self.shift = _mlp(modifiers * width, hidden, width)

    def forward(self, base_BD: Tensor, modifiers: Sequence[Tensor]) -> Tensor:
        context_BE = torch.cat(list(modifiers), dim=-1)
        return (1 + self.scale(context_BE)) * base_BD + self.shift(context_BE)


class FilmAdd(Composer):
    """FiLM from the sum of any number of modifiers."""

    def __init__(self, width: int) -> None:
        super().__init__(width)
        self.film = Film(width, modifiers=1)

    def forward(self, base_BD: Tensor, modifiers: Sequence[Tensor]) -> Tensor:
        return self.film(base_BD, [torch.stack(list(modifiers)).sum(dim=0)])


class FilmHeads(Composer):
    """Several FiLM heads side by side, mixed by a linear map that starts as their mean."""

    def __init__(self, width: int, modifiers: int = 2, heads: int = 4) -> None:
        super().__init__(width, modifiers, heads=heads)
        self.heads = nn.ModuleList(Film(width, modifiers) for _ in range(heads))
        self.mix = nn.Linear(heads * width, width, bias=False)
        with torch.no_grad():
            self.mix.weight.copy_(torch.eye(width).repeat(1, heads) / heads)

    def forward(self, base_BD: Tensor, modifiers: Sequence[Tensor]) -> Tensor:
        return self.mix(torch.cat([head(base_BD, modifiers) for head in self.heads], dim=-1))


class Hypernetwork(Composer):
    """base + up down base + shift: the modifiers write a low-rank linear map for the base."""

    def __init__(self, width: int, modifiers: int = 2, rank: int = 4) -> None:
        super().__init__(width, modifiers, rank=rank)
        if rank > width:
            raise CharmError(f"hypernetwork: rank must be <= the width {width}, got {rank}")
        self.rank = rank
        self.down = linear(modifiers * width, rank * width)
        self.up = linear(modifiers * width, width * rank)
        self.shift = linear(modifiers * width, width)
        # Modifiers start at zero; if both maps were zero too, neither would get a gradient through the other.
        truncated_normal_(self.down.bias.data, std=1 / math.sqrt(width))

    def forward(self, base_BD: Tensor, modifiers: Sequence[Tensor]) -> Tensor:
        context_BE = torch.cat(list(modifiers), dim=-1)
        down_BRD = self.down(context_BE).unflatten(-1, (self.rank, -1))
        up_BDR = self.up(context_BE).unflatten(-1, (-1, self.rank))
        change_BD = torch.einsum("bdr,bre,be->bd", up_BDR, down_BRD, base_BD.to(down_BRD.dtype))
        return base_BD + change_BD + self.shift(context_BE)


class MixtureOfExperts(Composer):
    """Linear experts read base plus modifiers; the modifiers decide how much each expert counts."""

    def __init__(self, width: int, modifiers: int = 2, experts: int = 4) -> None:
        super().__init__(width, modifiers, experts=experts)
        self.router = linear(modifiers * width, experts)
        self.experts = nn.ModuleList(linear(width, width) for _ in range(experts))

    def forward(self, base_BD: Tensor, modifiers: Sequence[Tensor]) -> Tensor:
        share_BK = self.router(torch.cat(list(modifiers), dim=-1)).softmax(dim=-1)
        sum_BD = torch.stack([base_BD, *modifiers]).sum(dim=0)
        answers_BKD = torch.stack([expert(sum_BD) for expert in self.experts], dim=1)
        return (share_BK.unsqueeze(-1) * answers_BKD).sum(dim=1)


# The paper's composition operators by name, each from (width, number of modifiers).
COMPOSERS: dict[str, Callable[[int, int], Composer]] = {
    "film": Film,
    "film-add": lambda width, modifiers: FilmAdd(width),
    "film-deep": lambda width, modifiers: Film(width, modifiers, hidden=(width, width)),
    "film-wide": lambda width, modifiers: Film(width, modifiers, hidden=(2 * width,)),
    "film-heads": FilmHeads,
    "add": lambda width, modifiers: Add(),
    "hypernetwork": Hypernetwork,
    "experts": MixtureOfExperts,
}


def _mlp(inputs: int, hidden: Sequence[int], outputs: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in hidden:
        layers += [linear(inputs, width), nn.SiLU()]
        inputs = width
    return nn.Sequential(*layers, linear(inputs, outputs))
