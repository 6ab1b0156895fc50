"""Answers on canvases: refinement in evaluation, where a question is placed on a large canvas, and its answer as a grid
in the corner of a plain one.

Dimension letters: B examples, N questions under views, S side of the large canvas, T cells, V tokens.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from charm.errors import CharmError
from charm.models.canvas.training import CanvasNetwork, halt_logit
from charm.models.network import AskedBatch
from charm.tasks.batch import view_tokens
from charm.tasks.canvas import BOUNDARY, FIRST_COLOR, FULL_SIDE, LARGE_SIDE, MARGIN, is_large
from charm.tasks.task import COLORS


class Placement(NamedTuple):
    """Where each question's grid begins on its canvas, and how much it is enlarged; int64 [N]."""

    top_N: Tensor
    left_N: Tensor
    scale_N: Tensor


# As a decorator, inference mode is on only while the generator itself runs, never in the caller's loop.
@torch.inference_mode()
def refine(network: CanvasNetwork, tokens_BT: Tensor, task_BD: Tensor, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield (token logits [B, T, V], halt logits) after each of `steps` steps; there is no early halting."""
    cells = tokens_BT.shape[1]
    side = math.isqrt(cells)
    if side * side != cells:
        raise CharmError(f"expected a square canvas, got {cells} cells")
    state = network.initial_state(len(tokens_BT), cells)
    for _ in range(steps):
        state, logits_BTV, halt = network(state, tokens_BT, task_BD, side)
        yield logits_BTV, halt


@torch.inference_mode()
def place_inputs(asked: AskedBatch, where: Placement) -> Tensor:
    """Return the inputs as token canvases [N, T], each at its place."""
    bank, keys, question_N, row_N, *_ = asked
    at = (where.top_N, where.left_N, asked.side)
    scale_N = where.scale_N if is_large(asked.side) else None
    return view_tokens(bank, keys, question_N, row_N, *at, outputs=False, scale_N=scale_N)[0]


def refine_answers(network: CanvasNetwork, asked: AskedBatch, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield a network's answers and their log-odds after each refinement step of one placement, not enlarged."""
    large = is_large(asked.side)
    # The first position that grids may have.
    corner_N = torch.full_like(asked.question_N, MARGIN if large else 0)
    where = Placement(corner_N, corner_N, torch.ones_like(corner_N))
    for logits_NTV, halt in refine(network, place_inputs(asked, where), asked.task_ND, steps):
        best_NT = logits_NTV.argmax(-1)
        yield lift_grids(best_NT, where)[0] if large else best_NT.to(torch.uint8), halt_logit(halt)


def lift_grids(tokens_NT: Tensor, where: Placement) -> tuple[Tensor, Tensor]:
    """Make the grids at known places of large canvases small again, at the origin of plain ones.

    A grid ends at the first boundary along its first row and its first column, as VARC reads it: wrong tokens
    elsewhere do not cut it. Its sides are rounded to whole cells, and a cell has the colour of most of its tokens, of
    equals the first. A grid that is larger than grids can be, or has a cell without a colour, is no answer.

    Returns:
        token canvases uint8 [N, 900], and which cells of the large canvases the grids cover, bool [N, T].
    """
    count, device = len(tokens_NT), tokens_NT.device
    at_S = torch.arange(LARGE_SIDE, device=device)
    from_top_NS, from_left_NS = at_S + where.top_N[:, None], at_S + where.left_N[:, None]
    on_NSS = (from_top_NS < LARGE_SIDE)[:, :, None] & (from_left_NS < LARGE_SIDE)[:, None]
    from_NSS = LARGE_SIDE * from_top_NS.clamp(max=LARGE_SIDE - 1)[:, :, None]
    from_NSS = from_NSS + from_left_NS.clamp(max=LARGE_SIDE - 1)[:, None]
    moved_NSS = tokens_NT.gather(1, from_NSS.flatten(1)).view_as(from_NSS)
    ends_NSS = (moved_NSS == BOUNDARY) | ~on_NSS  # a place is at least one token away from the edge
    height_N, width_N = (line_NS.byte().argmax(1) for line_NS in (ends_NSS[:, :, 0], ends_NSS[:, 0]))

    scale_N = where.scale_N
    rows_N, columns_N = ((side_N + scale_N // 2) // scale_N for side_N in (height_N, width_N))
    fits_N = (rows_N > 0) & (columns_N > 0) & (rows_N <= FULL_SIDE) & (columns_N <= FULL_SIDE)
    rows_N, columns_N = rows_N * fits_N, columns_N * fits_N

    # How often each colour occurs in each cell; tokens outside are counted in a spare place.
    cell_NS = at_S // scale_N[:, None]
    down_NS = (at_S < height_N[:, None]) & (cell_NS < rows_N[:, None])
    right_NS = (at_S < width_N[:, None]) & (cell_NS < columns_N[:, None])
    inside_NSS = down_NS[:, :, None] & right_NS[:, None] & (moved_NSS >= FIRST_COLOR)
    cells = FULL_SIDE**2
    place_NSS = (moved_NSS.long() - FIRST_COLOR) * cells + FULL_SIDE * cell_NS[:, :, None] + cell_NS[:, None]
    place_NSS = torch.where(inside_NSS, place_NSS, COLORS * cells)
    counts_NK = torch.zeros(count, COLORS * cells + 1, dtype=torch.int32, device=device)
    ones = torch.ones(1, 1, dtype=torch.int32, device=device).expand(count, LARGE_SIDE**2)
    counts_NK.scatter_add_(1, place_NSS.flatten(1), ones)
    counts_NCT = counts_NK[:, :-1].view(count, COLORS, cells)
    # Of equal counts the first colour: made different, since `argmax` may take any.
    first_C = torch.arange(COLORS - 1, -1, -1, dtype=torch.int32, device=device)[:, None]
    color_NT = (counts_NCT * COLORS + first_C).argmax(1)
    found_NT = counts_NCT.any(1)
    whole_N1 = (found_NT.sum(1) == rows_N * columns_N)[:, None]
    canvas_NT = torch.where(found_NT & whole_N1, color_NT + FIRST_COLOR, 0).to(torch.uint8)

    here_NS = at_S - where.top_N[:, None], at_S - where.left_N[:, None]
    sides = zip(here_NS, (height_N, width_N), strict=True)
    covered = [(at_NS >= 0) & (at_NS < side_N[:, None]) for at_NS, side_N in sides]
    return canvas_NT, (covered[0][:, :, None] & covered[1][:, None]).flatten(1)
