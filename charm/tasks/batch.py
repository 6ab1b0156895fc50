"""Batches of tokens, computed on the model's device: original pairs in, any view at any canvas position out.

Only original pairs are stored. A view of a pair exists only in the batch that uses it. Dimension letters:
N examples, S canvas side, C colours.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from itertools import accumulate

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from charm.tasks.canvas import BOUNDARY, FIRST_COLOR, is_large
from charm.tasks.keys import Keys
from charm.tasks.task import Pair
from charm.tasks.view import DIHEDRAL_READS

# turn(grid, d)[r, c] is the cell at flat place first + down * r + right * c of the h x w original, where
# first = A (w - 1) + B (h - 1) w, down = P w + Q, right = T w + U. One column for each symmetry, as numbered in `view`.
_SWAP, _B, _A = DIHEDRAL_READS.T
_DOWN, _RIGHT = 1 - 2 * _B, 1 - 2 * _A
TURNS = torch.from_numpy(
    np.stack([_A, _B, _DOWN * (1 - _SWAP), _RIGHT * _SWAP, _DOWN * _SWAP, _RIGHT * (1 - _SWAP), _SWAP])
)


class PairBank:
    """All pairs as one flat array of cells with the position and shape of each grid, on one device.

    An unknown output has shape 0x0 and an empty (all pad) target canvas.
    """

    def __init__(self, cells: Tensor, start: Tensor, shape: Tensor) -> None:
        self.cells = cells  # uint8 [total + 1]; the spare cell keeps the address of an absent grid valid
        self.start = start  # int64 [pairs, 2]: first cell of input, output
        self.shape = shape  # int64 [pairs, 4]: input height, width, output height, width

    @staticmethod
    def of(pairs: Iterable[Pair]) -> PairBank:
        absent = np.zeros((0, 0), np.uint8)
        grids = [absent if one is None else one for pair in pairs for one in (pair.input, pair.output)]
        shapes = np.array([grid.shape for grid in grids], np.int64).reshape(-1, 4)
        return PairBank.of_cells(np.concatenate([absent.ravel(), *(grid.ravel() for grid in grids)]), shapes)

    @staticmethod
    def of_cells(cells: npt.NDArray[np.uint8], shapes: npt.NDArray[np.integer]) -> PairBank:
        """Build a bank of one flat array of cells (input, output, input, output, ...) and shapes [pairs, 4]."""
        shapes = shapes.astype(np.int64)
        sizes = shapes.reshape(-1, 2, 2).prod(axis=2)
        starts = np.cumsum(sizes).reshape(-1, 2) - sizes
        return PairBank(*map(torch.from_numpy, (np.append(cells, np.uint8(0)), starts, shapes)))

    @staticmethod
    def join(banks: list[PairBank]) -> PairBank:
        offsets = accumulate((len(bank.cells) for bank in banks), initial=0)
        starts = [bank.start + offset for bank, offset in zip(banks, offsets, strict=False)]
        cells, shapes = ([getattr(bank, part) for bank in banks] for part in ("cells", "shape"))
        return PairBank(torch.cat(cells), torch.cat(starts), torch.cat(shapes))

    def __len__(self) -> int:
        return len(self.shape)

    def sha256(self) -> str:
        """Hash all pairs in their order."""
        digest = hashlib.sha256()
        for part in (self.cells, self.shape):
            digest.update(part.cpu().numpy().tobytes())
        return digest.hexdigest()

    def pair(self, number: int) -> Pair:
        cells, shapes = self.cells.cpu().numpy(), self.shape[number].reshape(2, 2).tolist()
        places = zip(self.start[number].tolist(), shapes, strict=True)
        grid, output = (cells[at : at + math.prod(shape)].reshape(shape) for at, shape in places)
        return Pair(grid, output if output.size else None)

    def to(self, device: torch.device | str) -> PairBank:
        return PairBank(self.cells.to(device), self.start.to(device), self.shape.to(device))


def turned_reads(bank: PairBank, keys: Keys, pair_N: Tensor, row_N: Tensor) -> tuple[Tensor, ...]:
    """Return height and width of inputs and outputs under views, and first, down and right; each is [N, 2].

    Cell (r, c) of a turned grid is at first + down * r + right * c in the bank.
    """
    shape_N4 = bank.shape[pair_N]
    a, b, p, q, t, u, swaps = TURNS.to(shape_N4.device)[:, keys.dihedral[row_N].long(), None]
    height, width = shape_N4[:, 0::2], shape_N4[:, 1::2]
    turned = torch.where(swaps == 1, width, height), torch.where(swaps == 1, height, width)
    first = bank.start[pair_N] + a * (width - 1) + b * (height - 1) * width
    return *turned, first, p * width + q, t * width + u


def view_tokens(
    bank: PairBank,
    keys: Keys,
    pair_N: Tensor,
    row_N: Tensor,
    top_N: Tensor,
    left_N: Tensor,
    side: int,
    outputs: bool = True,
    scale_N: Tensor | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Return token canvases uint8 [N, S*S] of the inputs and, if requested, the outputs of pairs under views.

    Equal to `place(view.apply(grid), side, top, left)` cell by cell, as a test checks. With `scale_N` grids are
    enlarged, and on large canvases only outputs have a boundary.
    """
    cells, reads = bank.cells, turned_reads(bank, keys, pair_N, row_N)
    token_NC = keys.colors[row_N] + FIRST_COLOR
    token_at = torch.arange(0, token_NC.numel(), token_NC.shape[1], device=cells.device, dtype=torch.int32)
    steps = torch.arange(side, device=cells.device)

    def canvas(which: int) -> Tensor:
        height_N1, width_N1, first_N1, down_N1, right_N1 = (part[:, which, None] for part in reads)
        r_NS, c_NS = steps - top_N[:, None], steps - left_N[:, None]
        scale_N1 = 1 if scale_N is None else scale_N[:, None]
        row_in, row_past = _inside_and_past(r_NS, height_N1 * scale_N1)
        column_in, column_past = _inside_and_past(c_NS, width_N1 * scale_N1)
        if scale_N is not None:
            r_NS = torch.div(r_NS, scale_N1, rounding_mode="floor")
            c_NS = torch.div(c_NS, scale_N1, rounding_mode="floor")

        # Positions outside the grid read an arbitrary cell and are cleared below: cheaper than a masked gather.
        r_NS = r_NS.clamp(min=0).minimum((height_N1 - 1).clamp(min=0))
        c_NS = c_NS.clamp(min=0).minimum((width_N1 - 1).clamp(min=0))
        # 32 bits: half the bytes of the largest tensor.
        from_row = (first_N1 + down_N1 * r_NS).clamp(min=0).int()
        place_NSS = from_row[:, :, None] + (right_N1 * c_NS).int()[:, None, :]
        color_NSS = cells.index_select(0, place_NSS.view(-1)).view(place_NSS.shape)
        token_NSS = token_NC.view(-1).index_select(0, (token_at[:, None, None] + color_NSS).view(-1))

        # Grid, two arms of the boundary, and padding never overlap: products and sums of bytes choose between them.
        grid_NSS = token_NSS.view(place_NSS.shape) * (row_in[:, :, None] * column_in[:, None])
        if is_large(side) and which == 0:
            return grid_NSS.view(len(pair_N), -1)
        edge_NSS = row_past[:, :, None] * column_in[:, None] + row_in[:, :, None] * column_past[:, None]
        if is_large(side):
            edge_NSS = edge_NSS + row_past[:, :, None] * column_past[:, None]
        return (grid_NSS + edge_NSS * BOUNDARY).view(len(pair_N), -1)

    return canvas(0), canvas(1) if outputs else None


def _inside_and_past(offset_NS: Tensor, length_N1: Tensor) -> tuple[Tensor, Tensor]:
    """Return where one axis is inside the grid and just past its end, as bytes. An absent grid has no end either."""
    inside = (offset_NS >= 0) & (offset_NS < length_N1)
    past = (offset_NS == length_N1) & (length_N1 > 0)
    return inside.to(torch.uint8), past.to(torch.uint8)
