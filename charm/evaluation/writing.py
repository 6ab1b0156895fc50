"""Asking a writer: questions as sequences in, written answers as canvases out."""

from __future__ import annotations

import torch
from torch import Tensor

from charm.reasoner.writer import Writer, questions
from charm.tasks.batch import TURNS, PairBank
from charm.tasks.canvas import FULL_SIDE
from charm.tasks.keys import Keys
from charm.tasks.sequences import pack_pairs, to_canvas


@torch.inference_mode()
def write_answers(
    writer: Writer, bank: PairBank, keys: Keys, question_N: Tensor, row_N: Tensor, task_ND: Tensor
) -> tuple[Tensor, Tensor]:
    """Token canvases uint8 [N, 900] of the answers to questions under views, and the probability of each answer."""
    swaps_N = TURNS.to(row_N.device)[-1, keys.dihedral[row_N].long()]
    height_N, width_N = bank.shape[question_N][:, :2].unbind(1)
    lines_N, cells_N = (
        torch.where(swaps_N == 1, one, other) for one, other in ((width_N, height_N), (height_N, width_N))
    )
    ends_N = (2 + lines_N * (cells_N + 1)).cumsum(0)
    pack = pack_pairs(bank, keys, question_N, row_N, ends_N, int(ends_N[-1]))
    answer_NA, sure_N = writer.write(*questions(pack), task_ND)
    return to_canvas(answer_NA.long(), FULL_SIDE), sure_N.exp()
