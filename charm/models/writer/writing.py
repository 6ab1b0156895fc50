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
from charm.models.writer.network import Last, Writer
from charm.tasks.canvas import BOUNDARY
from charm.tasks.sequences import END, LONGEST_ANSWER, Pack

LOOK_EVERY = 32  # tokens between looks at which answers are finished; looking waits for the device
LOOK_EVERY_CPU = 1
CROWDED = 0.75  # finished answers leave when less than this share is still being written
ROOM = 64  # room for tokens comes in multiples of this: attention is slow on odd lengths


def questions(pack: Pack) -> tuple[Tensor, Tensor, Tensor]:
    """Return a pack of questions as `write` takes them: tokens [N, L] and places, aligned right, and lengths."""
    edges = pack.edges_N2.long()
    begins_N, ends_N = edges[:-2], edges[1:-1]
    length_N = ends_N - begins_N
    longest = int(length_N.max())
    at_NL = ends_N[:, None] - longest + torch.arange(longest, device=edges.device)
    inside_NL = at_NL >= begins_N[:, None]
    at_NL = at_NL.clamp(min=0)
    token_NL = torch.where(inside_NL, pack.token_L[at_NL], 0)
    return token_NL, torch.where(inside_NL[..., None], pack.place_L3[at_NL], 0), length_N


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
    past = _Past(writer, count, longest, longest - length_N)
    after_NL3 = F.pad(place_NL3[:, 1:], (0, 0, 0, 1), value=1)  # an answer begins at (1, 1, 1)
    logits_NV = writer(token_NL, place_NL3, after_NL3, task_ND[:, None], past.read, Last(_newest, past.read))[:, -1]

    limit_N = torch.as_tensor(limit, device=device).expand(count)
    most = int(limit_N.max())
    answer_NA = torch.full((count, most), END, dtype=torch.uint8, device=device)
    sure_N = torch.zeros(count, device=device)
    ended_N = torch.zeros(count, dtype=torch.bool, device=device)
    number_N = torch.arange(count, device=device)  # of the answers in the batch
    written_N, row_N, column_N = torch.zeros_like(number_N), *torch.ones(2, count, device=device).long()
    if draft_NA is not None:
        draft_NA = draft_NA[:, :most]
        place_NB3 = _places(draft_NA)
        past.extend(draft_NA.shape[1])
        more_NAV = writer(draft_NA, place_NB3[:, :-1], place_NB3[:, 1:], task_ND[:, None], past.read_draft)
        logits_NBV = torch.cat([logits_NV[:, None], more_NAV], dim=1)  # of each token of the draft, and one more
        best_NB = logits_NBV.log_softmax(-1).max(-1)
        ends_NA = (draft_NA == END).long()
        same_NA = (best_NB.indices[:, :-1] == draft_NA) & (ends_NA.cumsum(1) == ends_NA)
        same_NA &= torch.arange(draft_NA.shape[1], device=device) < limit_N[:, None]
        same_NA = same_NA.long().cumprod(1).bool()
        written_N = same_NA.sum(1)
        answer_NA[:, : draft_NA.shape[1]] = torch.where(same_NA, draft_NA, END).to(torch.uint8)
        sure_N = torch.where(same_NA, best_NB.values[:, :-1], 0.0).sum(1)
        ended_N = (same_NA & (draft_NA == END)).any(1)
        logits_NV = logits_NBV[number_N, written_N]
        row_N, column_N = place_NB3[number_N, written_N, :2].T
        past.shorten(written_N)

    open_N = ~ended_N & (written_N < limit_N)  # which are still being written
    look_every = LOOK_EVERY_CPU if device.type == "cpu" else LOOK_EVERY
    for step in range(most):
        if step % look_every == 0:
            still = int(open_N.sum())
            if still == 0:
                break
            if still < CROWDED * len(open_N):
                columns = (number_N, written_N, limit_N, row_N, column_N, task_ND, logits_NV)
                number_N, written_N, limit_N, row_N, column_N, task_ND, logits_NV = (one[open_N] for one in columns)
                past.keep(open_N)
                open_N = open_N[open_N]
        best_N = logits_NV.log_softmax(-1).max(-1)
        token_N = best_N.indices
        at_N = (number_N, written_N.clamp(max=most - 1))
        answer_NA[at_N] = torch.where(open_N, token_N.to(torch.uint8), answer_NA[at_N])
        sure_N[number_N] += torch.where(open_N, best_N.values, 0.0)
        ended_N[number_N] |= open_N & (token_N == END)
        written_N = written_N + open_N
        open_N = open_N & (token_N != END) & (written_N < limit_N)
        place_N3 = torch.stack([row_N, column_N, torch.ones_like(row_N)], dim=1)
        closes_N = token_N == BOUNDARY
        row_N = torch.where(closes_N, row_N + 1, row_N)
        column_N = torch.where(closes_N, 1, column_N + 1)
        after_N3 = torch.stack([row_N, column_N, torch.ones_like(row_N)], dim=1)
        past.advance()
        asked = (token_N[:, None], place_N3[:, None], after_N3[:, None], task_ND[:, None])
        logits_NV = writer(*asked, past.read_one)[:, -1]
    return answer_NA, torch.where(ended_N, sure_N, -math.inf)


def _newest(x_NLD: Tensor) -> Tensor:
    return x_NLD[:, -1:]


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


class _Past:
    """Keys and values of every layer application for all tokens so far; nothing before a question is seen.

    Answers begin at one place; they may have different lengths, if parts of drafts were taken over.
    """

    def __init__(self, writer: Writer, count: int, longest: int, before_N: Tensor) -> None:
        config, device = writer.config, before_N.device
        applications = config.recurrences * len(writer.layers)
        self.longest, self.length, self.before_N = longest, longest, before_N
        self.length_N: Tensor | None = None  # where they differ; `length` is the largest then
        shape = (2, applications, count, config.heads, _rounded(longest + 1), config.head_width)
        self.kept = torch.zeros(shape, dtype=writer.compute_dtype, device=device)
        at_L = torch.arange(longest, device=device)
        # A pad at the left sees itself, so that no row of the mask is empty.
        sees_LL = (at_L[:, None] >= at_L) | (config.reads == "whole")
        sees_NLL = ((at_L >= before_N[:, None])[:, None] & sees_LL) | (at_L[:, None] == at_L)
        self.mask = self._hiding(sees_NLL[:, None])

    def read(self, q: Tensor, k: Tensor, v: Tensor, index: int) -> Tensor:
        """Attend within the questions, [N, L, H, K], or from their last tokens to all."""
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))
        self.kept[0, index, :, :, : self.longest] = k
        self.kept[1, index, :, :, : self.longest] = v
        mask = self.mask[:, :, -q.shape[2] :]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2)

    def extend(self, tokens: int) -> None:
        """Make room for drafts of this many tokens, each of which sees those before it."""
        self._grow(self.longest + tokens)
        at_R = torch.arange(_rounded(self.length), device=self.before_N.device)
        at_A = torch.arange(self.longest, self.length, device=at_R.device)
        sees_NAR = (at_R >= self.before_N[:, None])[:, None] & (at_R <= at_A[:, None])
        self.mask = self._hiding(sees_NAR[:, None])

    def read_draft(self, q: Tensor, k: Tensor, v: Tensor, index: int) -> Tensor:
        """Attend from the drafts to questions and themselves, [N, A, H, K]."""
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))
        self.kept[0, index, :, :, self.longest : self.length] = k
        self.kept[1, index, :, :, self.longest : self.length] = v
        keys, values = self.kept[:, index, :, :, : self.mask.shape[-1]]
        return F.scaled_dot_product_attention(q, keys, values, attn_mask=self.mask).transpose(1, 2)

    def shorten(self, written_N: Tensor) -> None:
        """Forget all but this many tokens of each draft."""
        self.length_N = self.longest + written_N
        self.length = int(self.length_N.max())

    def advance(self) -> None:
        """Make room for one more token."""
        self._grow(self.length + 1)
        at_R = torch.arange(_rounded(self.length), device=self.before_N.device)
        seen_NR = at_R >= self.before_N[:, None]
        if self.length_N is None:
            seen_NR &= at_R < self.length
        else:
            self.length_N = self.length_N + 1
            seen_NR &= at_R < self.length_N[:, None]
        self.mask = self._hiding(seen_NR[:, None, None])

    def _grow(self, length: int) -> None:
        self.length, have = length, self.kept.shape[4]
        if length > have:
            more = _rounded(max(length, min(2 * have, self.longest + LONGEST_ANSWER)))
            self.kept = F.pad(self.kept, (0, 0, 0, max(more - have, ROOM)))

    def read_one(self, q: Tensor, k: Tensor, v: Tensor, index: int) -> Tensor:
        """Attend from one new token to all before it and to itself, [N, 1, H, K]."""
        for kept, new in zip(self.kept[:, index], (k, v), strict=True):
            if self.length_N is None:
                kept[:, :, self.length - 1] = new[:, 0]
            else:
                kept[torch.arange(len(kept), device=kept.device), :, self.length_N - 1] = new[:, 0]
        keys, values = self.kept[:, index, :, :, : self.mask.shape[-1]]
        q = q.transpose(1, 2)
        return F.scaled_dot_product_attention(q, keys, values, attn_mask=self.mask).transpose(1, 2)

    def _hiding(self, sees: Tensor) -> Tensor:
        """Return what attention adds to its scores, made once for all layers."""
        return torch.zeros_like(sees, dtype=self.kept.dtype).masked_fill_(~sees, -math.inf)

    def keep(self, open_N: Tensor) -> None:
        """Forget all questions but these."""
        self.kept, self.before_N = self.kept[:, :, open_N], self.before_N[open_N]
        if self.length_N is not None:
            self.length_N = self.length_N[open_N]
            self.length = int(self.length_N.max())


def _rounded(tokens: int) -> int:
    return -(-tokens // ROOM) * ROOM
