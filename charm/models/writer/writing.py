"""How a writer answers: the likeliest next token, again and again, for many questions at once.

Keys and values of all tokens so far are kept, so each step reads one new token of every answer. Answers that are
finished leave the batch: the longest would otherwise make all others wait.

Shapes: N questions, L tokens of the longest question, A tokens of an answer, R room for tokens, H heads, K head width.
"""

from __future__ import annotations

import math
from copy import deepcopy

import torch
import torch.nn.functional as F
from torch import Tensor

from charm.models.layers import Linear
from charm.models.writer.network import Last, Mix, Writer, turned
from charm.tasks.batch import PairBank, turned_reads
from charm.tasks.canvas import BOUNDARY
from charm.tasks.keys import Keys
from charm.tasks.sequences import END, LONGEST_ANSWER, Pack

LOOK_EVERY = 32  # tokens between looks at which answers are finished; looking waits for the device
LOOK_EVERY_CPU = 1
CROWDED = 0.75  # finished answers leave when less than this share is still being written
ROOM = 64  # room for tokens comes in multiples of this: attention is slow on odd lengths


def grid_tokens(bank: PairBank, keys: Keys, pair_N: Tensor, row_N: Tensor) -> Tensor:
    """Return the tokens of inputs and outputs under views, line ends included, [N, 2]; a missing grid has none."""
    height_N2, width_N2, *_ = turned_reads(bank, keys, pair_N, row_N)
    return height_N2 * (width_N2 + 1)


def questions(pack: Pack) -> tuple[Tensor, Tensor, Tensor]:
    """Return the questions of a pack as `write` takes them: tokens [N, L] and places, aligned right, and lengths."""
    begins_N, ends_N = pack.edges_N2[:-2].long(), pack.answers_N.long()
    length_N = ends_N - begins_N
    longest = int(length_N.max())
    at_NL = ends_N[:, None] - longest + torch.arange(longest, device=ends_N.device)
    inside_NL = at_NL >= begins_N[:, None]
    at_NL = at_NL.clamp(min=0)
    token_NL = torch.where(inside_NL, pack.token_L[at_NL], 0)
    return token_NL, torch.where(inside_NL[..., None], pack.place_L3[at_NL], 0), length_N


def guesses(pack: Pack, most: int) -> Tensor:
    """Return the answers of a pack as tokens [N, A], up to `most` of each, END after the last."""
    at_NA = pack.answers_N.long()[:, None] + torch.arange(most, device=pack.token_L.device)
    inside_NA = at_NA < pack.edges_N2[1:-1, None]
    return torch.where(inside_NA, pack.token_L[at_NA.clamp(max=len(pack.token_L) - 1)], END)


@torch.inference_mode()
def write(
    writer: Writer,
    token_NL: Tensor,
    place_NL3: Tensor,
    length_N: Tensor,
    task_ND: Tensor,
    limit: int | Tensor = LONGEST_ANSWER,
    draft_NA: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return answers [N, A] to questions START, input, ANSWER of these lengths, END after the last token; and their
    log-probabilities, minus infinity for an answer that had not ended after `limit` tokens, its own or that of all.

    Drafts are guesses of the answers, END after the last token. Each is read in one pass: what the writer would have
    written as well is taken over, and it writes the rest. The answers are the same with any drafts.
    """
    writer = inference_copy(writer)
    (count, longest), device = token_NL.shape, token_NL.device
    past = Past(writer, longest - length_N, longest)
    logits_NV = read_questions(writer, past, token_NL, place_NL3, task_ND)

    limit_N = torch.as_tensor(limit, device=device).expand(count)
    most = int(limit_N.max())
    draft_NA = token_NL.new_full((count, 1), END) if draft_NA is None else draft_NA[:, :most]
    place_NB3, at_A = _places(draft_NA), torch.arange(draft_NA.shape[1], device=device)
    position_NA = (longest + at_A).expand(count, -1)
    read = past.attention(position_NA, position_NA, rounded(longest + len(at_A)))
    more_NAV = writer(draft_NA, place_NB3[:, :-1], place_NB3[:, 1:], task_ND[:, None], turned(read))
    logits_NBV = torch.cat([logits_NV[:, None], more_NAV], dim=1)  # of each token of the draft, and one more
    best_NB = logits_NBV.log_softmax(-1).max(-1)
    ends_NA = (draft_NA == END).long()
    same_NA = (best_NB.indices[:, :-1] == draft_NA) & (ends_NA.cumsum(1) == ends_NA) & (at_A < limit_N[:, None])
    same_NA = same_NA.long().cumprod(1).bool()

    number_N, written_N = torch.arange(count, device=device), same_NA.sum(1)  # of the answers in the batch
    answer_NA = torch.full((count, most), END, dtype=torch.uint8, device=device)
    answer_NA[:, : len(at_A)] = torch.where(same_NA, draft_NA, END).to(torch.uint8)
    sure_N = torch.where(same_NA, best_NB.values[:, :-1], 0.0).sum(1)
    ended_N = (same_NA & (draft_NA == END)).any(1)
    open_N = ~ended_N & (written_N < limit_N)  # which are still being written
    # Of the next token: its logits, where it will stand, and how many tokens are kept before it.
    logits_NV, place_N3, kept_N = logits_NBV[number_N, written_N], place_NB3[number_N, written_N], longest + written_N
    room = int(kept_N.max())
    look_every = LOOK_EVERY_CPU if device.type == "cpu" else LOOK_EVERY
    for step in range(most):
        if step % look_every == 0:
            still = int(open_N.sum())
            if still == 0:
                break
            if still < CROWDED * len(open_N):
                columns = (number_N, written_N, limit_N, kept_N, place_N3, task_ND, logits_NV)
                number_N, written_N, limit_N, kept_N, place_N3, task_ND, logits_NV = (one[open_N] for one in columns)
                past.keep(open_N)
                open_N, room = open_N[open_N], int(kept_N.max())
        best_N = logits_NV.log_softmax(-1).max(-1)
        token_N = best_N.indices
        at_N = (number_N, written_N.clamp(max=most - 1))
        answer_NA[at_N] = torch.where(open_N, token_N.to(torch.uint8), answer_NA[at_N])
        sure_N[number_N] += torch.where(open_N, best_N.values, 0.0)
        ended_N[number_N] |= open_N & (token_N == END)
        written_N = written_N + open_N
        open_N = open_N & (token_N != END) & (written_N < limit_N)
        after_N3 = place_after(token_N, place_N3)
        room += 1
        read = past.attention(kept_N[:, None], kept_N[:, None], rounded(room))
        asked = (token_N[:, None], place_N3[:, None], after_N3[:, None], task_ND[:, None])
        logits_NV, place_N3, kept_N = writer(*asked, turned(read))[:, -1], after_N3, kept_N + 1
    return answer_NA, torch.where(ended_N, sure_N, -math.inf)


def read_questions(writer: Writer, past: Past, token_NL: Tensor, place_NL3: Tensor, task_ND: Tensor) -> Tensor:
    """Read questions, whose keys and values `past` keeps; return the logits [N, V] of the answers' first tokens."""
    count, longest = token_NL.shape
    at_L = torch.arange(longest, device=token_NL.device)
    last_L = at_L if writer.config.reads == "forward" else torch.full_like(at_L, longest - 1)
    read = past.attention(at_L.expand(count, -1), last_L.expand(count, -1), longest)
    after_NL3 = F.pad(place_NL3[:, 1:], (0, 0, 0, 1), value=1)  # an answer begins at (1, 1, 1)
    newest = Last(lambda x_NLD: x_NLD[:, -1:], read)
    return writer(token_NL, place_NL3, after_NL3, task_ND[:, None], turned(read), newest)[:, -1]


def place_after(token_N: Tensor, place_N3: Tensor) -> Tensor:
    """Return where the tokens of answers are that follow these at these places."""
    row_N, column_N, part_N = place_N3.unbind(1)
    closes_N = token_N == BOUNDARY
    return torch.stack([row_N + closes_N, torch.where(closes_N, 1, column_N + 1), part_N], dim=1)


def _places(token_NA: Tensor) -> Tensor:
    """Return where each token of an answer is, and the one after the last: [N, A + 1, 3]."""
    closes_NB = F.pad((token_NA == BOUNDARY).long(), (1, 0))
    row_NB = 1 + closes_NB.cumsum(1)
    at_B = torch.arange(closes_NB.shape[1], device=token_NA.device)
    column_NB = at_B - torch.where(closes_NB == 1, at_B, 0).cummax(1).values + 1
    return torch.stack([row_NB, column_NB, torch.ones_like(row_NB)], dim=-1)


def inference_copy(writer: Writer) -> Writer:
    """Return a copy to ask: in eval mode, its maps cast once to the compute dtype. The writer itself if it is so.

    A GPU without bfloat16 answers in float16, in which it could not learn: small gradients would vanish.
    """
    dtype = torch.float16 if writer.on_old_gpu else writer.compute_dtype
    kept = ("head",) if "float32-head" in writer.config.recipe else ()
    maps = [part for name, part in writer.named_modules() if isinstance(part, Linear) and name not in kept]
    if not writer.training and all(part.weight.dtype == dtype for part in maps):
        return writer
    copied = deepcopy(writer).eval()
    copied.compute_dtype = dtype
    for name, part in copied.named_modules():
        if isinstance(part, Linear) and name not in kept:
            part.weight.data = part.weight.data.to(dtype)
    return copied


class Past:
    """Keys and values of every layer application for all tokens so far; nothing before a question is seen."""

    def __init__(self, writer: Writer, before_N: Tensor, longest: int) -> None:
        config = writer.config
        self.before_N, self.most = before_N, longest + LONGEST_ANSWER
        applications = config.recurrences * len(writer.layers)
        shape = (2, applications, len(before_N), config.heads, rounded(longest + 1), config.head_width)
        self.kept = torch.zeros(shape, dtype=writer.compute_dtype, device=before_N.device)

    def attention(self, position_NG: Tensor, last_NG: Tensor, room: int) -> Mix:
        """Return attention of new tokens, kept at these positions, to all tokens up to their last, and to themselves.

        No token is at a position beyond `room`.
        """
        have = self.kept.shape[4]
        if room > have:  # twice as much, or what the longest answer needs
            more = max(room, min(2 * have, self.most), have + ROOM)
            self.kept = F.pad(self.kept, (0, 0, 0, rounded(more) - have))
        at_R = torch.arange(room, device=position_NG.device)
        sees_NGR = (at_R >= self.before_N[:, None, None]) & (at_R <= last_NG[..., None])
        sees_NGR |= at_R == position_NG[..., None]  # a pad at the left, so that no row of the mask is empty
        # What attention adds to its scores, made once for all layers.
        mask = torch.zeros_like(sees_NGR[:, None], dtype=self.kept.dtype).masked_fill_(~sees_NGR[:, None], -math.inf)
        number_N1 = torch.arange(len(position_NG), device=position_NG.device)[:, None]

        def attend(q: Tensor, k: Tensor, v: Tensor, index: int) -> Tensor:
            for kept, new in zip(self.kept[:, index], (k, v), strict=True):
                kept[number_N1, :, position_NG] = new
            keys, values = self.kept[:, index, :, :, :room]
            q = q.transpose(1, 2)
            return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask[:, :, -q.shape[2] :]).transpose(1, 2)

        return attend

    def keep(self, open_N: Tensor) -> None:
        """Forget all questions but these; they may be numbers, and one may be kept several times."""
        self.kept, self.before_N = self.kept[:, :, open_N], self.before_N[open_N]


def rounded(tokens: int) -> int:
    return -(-tokens // ROOM) * ROOM
