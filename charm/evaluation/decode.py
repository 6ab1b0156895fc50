"""From predicted token canvases to votes for grids in the task's own frame, a whole batch at a time on any device.

    N  predictions      S  side of the token canvas (at most 30)      s  largest side found in the batch
    C  the 10 colours   G  grids      K  distinct grids      T  cells of the token canvas

A batch of grids is a padded array [G, s, s] with each grid in the top-left corner and OUTSIDE around it.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from math import isqrt

import numpy as np
import torch
from torch import Tensor

from charm.errors import CharmError
from charm.runs.votes import Candidates, Votes, distinct
from charm.tasks.canvas import FIRST_COLOR
from charm.tasks.task import COLORS, MAX_SIDE, Grid
from charm.tasks.view import DIHEDRAL_INVERSE, DIHEDRAL_READS, decode

OUTSIDE = 255  # marks cells outside a grid in a padded array; adding one wraps to 0, which the hash uses

# How the inverse of each symmetry reads its source: axes swapped, rows reversed, columns reversed.
INVERSE_READS = DIHEDRAL_READS[list(DIHEDRAL_INVERSE)].astype(bool)


def collect(tokens_NT: Tensor, logit_N: Tensor, question_N: Tensor, view_N: Tensor, row_N: Tensor, loops: int) -> Votes:
    """Collect the votes of one batch of predictions after `loops` steps; the work stays on the device of `tokens_NT`.

    The canvases are square, with the grid at the origin. `logit_N` are the model's log-odds that it is right,
    `question_N` places in the ordered questions, and `view_N` codes (`charm.tasks.view.encode`) of the views under
    which it saw its input, whose memory rows are `row_N`.
    """
    count, area = tokens_NT.shape
    side = isqrt(area)
    if side * side != area:
        raise CharmError(f"predictions of {area} tokens do not fill a square canvas")
    device = tokens_NT.device
    dihedral_N, colors_NC = (torch.from_numpy(part).to(device) for part in decode(view_N.cpu().numpy()))
    tokens_NSS = tokens_NT.to(torch.uint8).view(count, side, side)
    height_N, width_N = crop_batch(tokens_NSS)
    grids_NSS = tokens_NSS - FIRST_COLOR
    grids_Nss, height_N, width_N = invert_views(grids_NSS, height_N, width_N, dihedral_N, colors_NC)

    question = question_N.cpu().numpy().astype(np.int32)
    hashes = hash_grids(grids_Nss).cpu().numpy().view(np.uint64)
    distinct_N, candidate_N = distinct(question, hashes)
    # Only distinct grids leave the device.
    kept_K = torch.from_numpy(np.flatnonzero(distinct_N)).to(device)
    grids_Kss = grids_Nss[kept_K].cpu().numpy()
    shape_K2 = torch.stack([height_N[kept_K], width_N[kept_K]], dim=1).to(torch.uint8).cpu().numpy()
    cells = grids_Kss[grids_Kss != OUTSIDE]
    return Votes(
        Candidates(question[distinct_N], hashes[distinct_N], shape_K2, cells),
        candidate_N,
        row_N.cpu().numpy().astype(np.int32),
        logit_N.detach().float().cpu().numpy(),
        np.full(count, loops, np.uint8),
    )


def crop_batch(tokens_NSS: Tensor) -> tuple[Tensor, Tensor]:
    """Return height and width (int64) of the largest rectangle at the origin that holds colours only.

    Of rectangles with equal area the lowest wins. A canvas whose first cell is no colour gives 0 x 0.
    """
    # In uint8 pad and boundary wrap to 254 and 255, so one comparison finds the colours.
    is_color_NSS = (tokens_NSS.to(torch.uint8) - FIRST_COLOR) < COLORS
    # Bytes in and out: this runs over every cell of every canvas, and wider types are several times slower.
    run_NS = is_color_NSS.view(torch.uint8).cumprod(2, dtype=torch.uint8).sum(2, dtype=torch.uint8)
    width_NS = run_NS.long().cummin(1).values  # of the rectangle that reaches down to this row
    area_NS = width_NS * torch.arange(1, width_NS.shape[1] + 1, device=width_NS.device)
    best_N = area_NS.argmax(1)  # the first of equal maxima
    width_N = width_NS.gather(1, best_N[:, None])[:, 0]
    return torch.where(width_N > 0, best_N + 1, 0), width_N


def invert_views(
    grids_NSS: Tensor, height_N: Tensor, width_N: Tensor, dihedral_N: Tensor, colors_NC: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Undo a view (as `charm.tasks.view.decode` gives it) on each grid, in the top left corner of its canvas.

    Returns the grids as uint8 [N, s, s], OUTSIDE around them, and their heights and widths.
    """
    device = grids_NSS.device
    height_N, width_N = height_N.long(), width_N.long()
    side = int(torch.maximum(height_N, width_N).max()) if len(height_N) else 0
    # Outside the grid there may be anything; clamped, it is at least a valid index, and is overwritten below.
    cells_NP = grids_NSS[:, :side, :side].flatten(1).clamp(max=COLORS - 1).long()

    color_NC = torch.arange(COLORS, dtype=torch.uint8, device=device).expand(len(colors_NC), COLORS)
    inverse_NC = torch.empty_like(color_NC).scatter_(1, colors_NC.long(), color_NC)
    cells_NP = inverse_NC.gather(1, cells_NP)

    symmetry = torch.from_numpy(INVERSE_READS.T).to(device)
    swaps_N1, rows_N1, columns_N1 = symmetry[:, dihedral_N.long()][:, :, None]
    place = torch.arange(side, device=device)
    # Outside the grid the far end would be below 0; any valid position will do there.
    row_Ns = torch.where(rows_N1, height_N[:, None] - 1 - place, place).clamp_(min=0) * side
    column_Ns = torch.where(columns_N1, width_N[:, None] - 1 - place, place).clamp_(min=0)
    # The source of cell (i, j) splits into a part that depends on i and one that depends on j.
    from_i_Ns = torch.where(swaps_N1, column_Ns, row_Ns)
    from_j_Ns = torch.where(swaps_N1, row_Ns, column_Ns)
    source_Nss = from_i_Ns[:, :, None] + from_j_Ns[:, None, :]
    cells_Nss = cells_NP.gather(1, source_Nss.flatten(1)).view_as(source_Nss)

    swaps_N = swaps_N1[:, 0]
    height_N, width_N = torch.where(swaps_N, width_N, height_N), torch.where(swaps_N, height_N, width_N)
    inside_Nss = (place < height_N[:, None])[:, :, None] & (place < width_N[:, None])[:, None, :]
    # True - 1 is 0 and False - 1 is OUTSIDE in bytes: "or" leaves the grid and marks the rest.
    return cells_Nss.bitwise_or_(inside_Nss.view(torch.uint8) - 1), height_N, width_N


def hash_grids(grids_Gss: Tensor) -> Tensor:
    """Return 64-bit content hashes (wrapping int64) of padded grids, the same on every device and for every padding.

    The hash is the sum over cells of (colour + 1) x key[row, column] modulo 2^64, with 0 for what lies
    outside, so it also covers the shape. Two different grids differ somewhere by 1 to 10, which has at most 3
    factors of two, so over random keys they collide with probability 2^-61 or less: for a question with
    100,000 distinct candidates the chance of any collision is below 2^-28.
    """
    side = grids_Gss.shape[1]
    keys_ss = np.ascontiguousarray(_hash_keys()[:side, :side])
    # A matrix product with each half of the keys, which is fast everywhere. In float64 it is exact in any
    # order of summation: all sums are whole numbers below 900 x 10 x 2^32 < 2^53. Autocast leaves it alone.
    halves_P2 = torch.from_numpy(keys_ss.reshape(-1, 1).view("<u4").astype(np.float64)).to(grids_Gss.device)
    low_G, high_G = ((grids_Gss + 1).flatten(1).double() @ halves_P2).long().unbind(1)
    return low_G + (high_G << 32)


def hash_grid(grid: Grid) -> int:
    """Hash one plain grid as `hash_grids` does, unsigned as it stands in a votes file."""
    keys = _hash_keys()[: grid.shape[0], : grid.shape[1]]
    return int(((grid.astype(np.uint64) + 1) * keys).sum())


@lru_cache(maxsize=1)
def _hash_keys() -> np.ndarray:
    """Draw the keys [30, 30] once from SHAKE-128 by row and column. Votes files depend on them, so they stay.

    A cryptographic stream, because simple generators relate their values: with SplitMix64 some keys are exactly
    twice another, and grids that differ in just those two cells collide.
    """
    stream = hashlib.shake_128(b"charm grid hash").digest(8 * MAX_SIDE**2)
    return np.frombuffer(stream, "<u8").reshape(MAX_SIDE, MAX_SIDE)
