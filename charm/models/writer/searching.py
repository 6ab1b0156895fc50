"""All answers that a writer finds probable enough, not only the one that it writes.

An answer begins with what is at least as probable as itself, so prefixes below the least probability are dropped: fewer
than 1 / least of a question are left at any length. All are read together, one token of each at a time.

Shapes: N questions, P prefixes, V tokens, C prefixes with a next token, M answers, A tokens of an answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from charm.models.writer.network import Writer, turned
from charm.models.writer.writing import Past, inference_copy, place_after, read_questions, rounded
from charm.tasks.sequences import END

LOOK_EVERY = 16  # tokens between looks at the clock


@torch.inference_mode()
def search(
    writer: Writer,
    token_NL: Tensor,
    place_NL3: Tensor,
    length_N: Tensor,
    task_ND: Tensor,
    limit_N: Tensor,
    least: float,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return all answers with at least this probability, of at most `limit_N` tokens: the question of each [M], its
    tokens [M, A], END after the last, and its log-probability [M].

    The questions are those of `charm.models.writer.writing.write`. Once `stop()` is true, only what has ended by then
    is returned.
    """
    writer, device = inference_copy(writer), token_NL.device
    count, longest = token_NL.shape
    most = int(limit_N.max())
    past = Past(writer, longest - length_N, longest)
    logits_PV = read_questions(writer, past, token_NL, place_NL3, task_ND)
    number_P, likely_P = torch.arange(count, device=device), torch.zeros(count, device=device)
    answer_PA = torch.zeros(count, 0, dtype=torch.uint8, device=device)
    place_P3 = torch.ones(count, 3, dtype=torch.long, device=device)  # where an answer begins
    ended = [(number_P[:0], answer_PA.new_zeros(0, most), likely_P[:0])]
    for step in range(most):
        if step % LOOK_EVERY == 0 and stop():
            break
        likely_PV = likely_P[:, None] + logits_PV.log_softmax(-1)
        parent_C, token_C = (likely_PV >= math.log(least)).nonzero().unbind(1)
        likely_C, number_C = likely_PV[parent_C, token_C], number_P[parent_C]
        answer_CA = torch.cat([answer_PA[parent_C], token_C[:, None].to(torch.uint8)], dim=1)
        ends_C, goes_on_C = token_C == END, (token_C != END) & (step + 1 < limit_N[number_C])
        ended_MA = F.pad(answer_CA[ends_C], (0, most - step - 1), value=END)
        ended.append((number_C[ends_C], ended_MA, likely_C[ends_C]))
        parent_P = parent_C[goes_on_C]
        if not len(parent_P):
            break
        if len(parent_P) != len(number_P) or bool((parent_P[1:] == parent_P[:-1]).any()):
            past.keep(parent_P)
        number_P, likely_P, answer_PA = number_C[goes_on_C], likely_C[goes_on_C], answer_CA[goes_on_C]
        token_P, place_P3 = token_C[goes_on_C], place_P3[parent_P]
        after_P3 = place_after(token_P, place_P3)
        kept_P1 = torch.full_like(number_P[:, None], longest + step)
        read = past.attention(kept_P1, kept_P1, rounded(longest + step + 1))
        asked = (token_P[:, None], place_P3[:, None], after_P3[:, None], task_ND[number_P][:, None])
        logits_PV, place_P3 = writer(*asked, turned(read))[:, -1], after_P3
    number_M, answer_MA, likely_M = (torch.cat(parts) for parts in zip(*ended, strict=True))
    return number_M, answer_MA, likely_M
