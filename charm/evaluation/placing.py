"""Asking on canvases: where a question lies on a large one, and its answer as a grid in the corner of a plain one.

Dimension letters: N questions under views, S side of the large canvas, T cells, V tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from charm.models.canvas.backbone import refine
from charm.models.canvas.halting import halt_logit, log_odds
from charm.models.model import CharmModel
from charm.models.vit.network import Vit
from charm.tasks import keyed
from charm.tasks.batch import PairBank, view_tokens
from charm.tasks.canvas import BOUNDARY, FIRST_COLOR, FULL_SIDE, LARGE_SIDE, MARGIN, is_large, most_scale
from charm.tasks.keyed import Numbers
from charm.tasks.keys import Keys
from charm.tasks.task import COLORS


class AskedBatch(NamedTuple):
    """Questions under views, and the vectors of their tasks."""

    bank: PairBank
    keys: Keys
    question_N: Tensor
    row_N: Tensor
    task_ND: Tensor


@dataclass(frozen=True)
class Placement:
    """Where each question's grid begins on its canvas, and how much it is enlarged; int64 [N]."""

    top_N: Tensor
    left_N: Tensor
    scale_N: Tensor


def random_placement(question_N: Tensor, row_N: Tensor, bound_N: Numbers, draw: int) -> Placement:
    """The `draw`-th random scale and place of each question, decided by (question, memory row, draw) alone.

    Uniform over the scales at which a grid of side `bound_N` fits, then over its places. The bound is the longest side
    that the task shows: the answer's own size is not known.
    """
    counters = question_N.cpu().numpy().astype(np.int64) << 32 | row_N.cpu().numpy()
    table = np.array([1, *(most_scale(longest, LARGE_SIDE) for longest in range(1, FULL_SIDE + 1))])
    scale = 1 + keyed.below(keyed.key_of("asked scale", draw), counters, table[bound_N])
    room = LARGE_SIDE - MARGIN - bound_N * scale
    top = MARGIN + keyed.below(keyed.key_of("asked top", draw), counters, room)
    left = MARGIN + keyed.below(keyed.key_of("asked left", draw), counters, room)
    return Placement(*(torch.from_numpy(part).to(row_N.device) for part in (top, left, scale)))


def canvas_answers(
    model: CharmModel, asked: AskedBatch, side: int, bounds: Sequence[int], steps: int
) -> Iterator[tuple[Tensor, Tensor]]:
    """Answers as plain token canvases uint8 [N, T] and the log-odds that they are right, after each of `steps` steps.

    A step of a vit is a new random placement, for which it needs the `bounds` of all questions. A reasoner refines one
    placement, without enlarging it.
    """
    bank, keys, question_N, row_N, task_ND = asked
    canvas, large = model.canvas, is_large(side)

    @torch.inference_mode()
    def ask(where: Placement) -> Tensor:
        scale_N = where.scale_N if large else None
        at = (where.top_N, where.left_N, side)
        return view_tokens(bank, keys, question_N, row_N, *at, outputs=False, scale_N=scale_N)[0]

    if not isinstance(canvas, Vit):
        # The first position that grids may have.
        corner_N = torch.full_like(question_N, MARGIN if large else 0)
        where = Placement(corner_N, corner_N, torch.ones_like(corner_N))
        for logits_NTV, halt in refine(canvas, ask(where), task_ND, steps):
            best_NT = logits_NTV.argmax(-1)
            yield lifted(best_NT, where)[0] if large else best_NT.to(torch.uint8), halt_logit(halt)
        return
    bound_N = np.array(bounds, np.int64)[question_N.cpu()]
    for draw in range(1, steps + 1):
        where = random_placement(question_N, row_N, bound_N, draw)
        for logits_NTV, _ in refine(canvas, ask(where), task_ND, 1):
            found_NT, best_NT = logits_NTV.log_softmax(-1).max(-1)
            answer_NT, inside_NT = lifted(best_NT, where)
            yield answer_NT, _log_odds(found_NT, inside_NT, answer_NT)


def lifted(tokens_NT: Tensor, where: Placement) -> tuple[Tensor, Tensor]:
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


def _log_odds(found_NT: Tensor, inside_NT: Tensor, answer_NT: Tensor) -> Tensor:
    """Of answers, from the log-probabilities of their tokens: the tokens of one cell count as one."""
    mean_N = torch.where(inside_NT, found_NT, 0.0).sum(1) / inside_NT.sum(1).clamp(min=1)
    sure_N = mean_N * (answer_NT > 0).sum(1)
    sure_N = torch.where(inside_NT.any(1), sure_N, -100.0).clamp(max=-1e-7)
    return log_odds(sure_N)
