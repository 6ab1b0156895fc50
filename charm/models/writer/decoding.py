"""Writing many answers on a GPU: some are in flight, and a new one begins where another has ended.

A step reads the newest token of every answer in flight and a few that may follow it, and takes over those that the
writer would have written as well, and one more. Keys and values before them are read once for all. Guesses are the
tokens of the guessed answer at the same place, or those of the row above: whichever was right more often lately.

A step touches only tensors that stay where they are and never waits for the device, so it is recorded as a CUDA graph,
one for each of a few numbers of answers, and replayed a few times between looks at which answers have ended. It
is some 200 kernels: launched one by one, they take the host far longer than the GPU.

Keys and values of all answers share one store. An answer has a stretch of it, long enough for the longest that it may
become. Answers begin in the order of their stretches, the longest first: each fits where an earlier one was. Questions
and guesses of their answers are read together, packed as in training.

Shapes: N answers, S slots of answers in flight and a spare one, B of them in a step, G tokens of each that it reads, L
tokens of a pack, M tokens of the longest stretch, H heads, K head width, R tokens for which there is room, F columns of
the table of slots.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from charm import progress
from charm.devices import undisturbed_capture
from charm.models.network import AskedBatch
from charm.models.writer.network import HAS_TRITON, Attend, Mix, Writer, _attend_within, turned
from charm.models.writer.writing import grid_tokens, guesses
from charm.tasks.canvas import BOUNDARY
from charm.tasks.keyed import Numbers
from charm.tasks.sequences import END, LONGEST, LONGEST_ANSWER, Pack, pack_pairs

LOOK_EVERY = 8  # steps between looks at which answers have ended
TOKENS = 8  # that a step reads of each answer: the newest and guesses
SIZES = (64, 256, 1024)  # answers of the recorded steps, and as many as there are slots
REFILL = 8  # new answers begin when an eighth of the slots are free
READ, READ_PADDED = 65_536, 8192  # tokens of questions and guesses in a pack
KERNEL_WIDTHS = (16, 32, 64, 128)  # of a head

# Columns of the table of slots: the newest token and where it is, tokens that are kept and written, the length of the
# answer's rows, 0 if no row has ended, and whether it is still being written.
TOKEN, ROW, COLUMN, LENGTH, WRITTEN, LIMIT, BASE, WIDTH, OPEN = range(9)


def needs(asked: AskedBatch, limit_N: Tensor) -> tuple[Numbers, Numbers]:
    """Return the tokens of each question and guess, and the room that its answer may need; wait for the device."""
    input_N, output_N = grid_tokens(asked.bank, asked.keys, asked.question_N, asked.row_N).T
    read_N = 3 + input_N + output_N
    stretch_N = torch.maximum(2 + input_N + limit_N, read_N) + TOKENS
    read, stretch = torch.stack([read_N, stretch_N]).cpu().numpy()
    return read, stretch


class Decoder:
    """Writes answers of an inference copy of a writer, up to `slots` at once, with room for `room` tokens.

    No answer may need a longer stretch than `longest`.
    """

    def __init__(self, writer: Writer, slots: int, room: int, longest: int) -> None:
        config, device = writer.config, writer.tokens.device
        self.writer, self.slots, self.room, self.longest = writer, slots, max(room, longest), longest
        applications = config.recurrences * len(writer.layers)
        # Behind all others is the room of the spare slot, which fills up a step.
        shape = (applications, 2, config.heads, self.room + TOKENS, config.head_width)
        self.kept = torch.zeros(shape, dtype=writer.compute_dtype, device=device)
        self.state = torch.zeros(slots + 1, OPEN + 1, dtype=torch.long, device=device)
        self.state[slots, BASE] = self.room
        self.sure = torch.zeros(slots + 1, device=device)
        # What is to be dropped is written behind the last token.
        self.answer = torch.full((slots + 1, LONGEST_ANSWER + 1), END, dtype=torch.uint8, device=device)
        self.guess = torch.full((slots + 1, LONGEST_ANSWER + TOKENS), END, dtype=torch.uint8, device=device)
        self.trust = torch.zeros(slots + 1, device=device)  # in the guess, more than in the row above
        self.task = torch.zeros(slots + 1, config.width, device=device)
        self.slot_B = torch.full((slots,), slots, device=device)
        self.records = on_gpu = device.type == "cuda"
        self.packed = on_gpu and writer.compute_dtype == torch.bfloat16
        possible = HAS_TRITON and on_gpu and config.head_width in KERNEL_WIDTHS
        self.has_kernel = possible and torch.cuda.get_device_capability(device) >= (8, 0)
        self.graphs: dict[int, torch.cuda.CUDAGraph] = {}
        self.pool = torch.cuda.graph_pool_handle() if on_gpu else None

    @torch.inference_mode()
    def write(self, asked: AskedBatch, limit_N: Tensor) -> tuple[Tensor, Tensor]:
        """Return answers [N, A], END after the last token; and their log-probabilities, minus infinity for an answer
        that had not ended after its limit. They are those of `charm.models.writer.writing.write`.

        Questions are paired with guesses of their answers.
        """
        read_N, stretch_N = needs(asked, limit_N)
        answer_NA = self.answer.new_full((len(read_N), LONGEST_ANSWER), END)
        sure_N = self.sure.new_full((len(read_N),), -math.inf)
        queue_N = np.argsort(-stretch_N, kind="stable")
        slots = _Slots(self.slots, self.room)
        while len(queue_N) or slots.writing:
            slots.add(stretch_N[queue_N])
            while len(queue_N) and slots.has_enough():
                ends_N = np.cumsum(read_N[queue_N[: len(slots.free)]])
                most = READ if self.packed else READ_PADDED
                count = max(1, int(np.searchsorted(ends_N, most, side="right")))
                chosen_N, queue_N = queue_N[:count], queue_N[count:]
                self._begin(asked, limit_N, np.stack([chosen_N, *slots.take(chosen_N), ends_N[:count]]))
                self._leave(slots, answer_NA, sure_N)
            if slots.writing:
                self._advance(np.array([*slots.writing]))
                self._leave(slots, answer_NA, sure_N)
        return answer_NA, sure_N

    def _begin(self, asked: AskedBatch, limit_N: Tensor, places: Numbers) -> None:
        """Take the first step of answers, whose newest token is the last of their questions: read all of these and
        all guesses, and choose what follows.

        `places` has their numbers, slots, where their stretches begin, and the ends of their sequences in a pack.
        """
        tokens, longest = int(places[3, -1]), int(np.diff(places[3], prepend=0).max())
        number_N, slot_N, base_N, ends_N = torch.from_numpy(places).to(self.kept.device)
        pack = pack_pairs(asked.bank, asked.keys, asked.question_N[number_N], asked.row_N[number_N], ends_N, tokens)
        example_L, task_ND = pack.example_L, asked.task_ND[number_N]
        at_L = torch.arange(tokens, device=ends_N.device)
        begins_N, answers_N = F.pad(ends_N[:-1], (1, 0)), pack.answers_N.long()
        read = self._reading(pack, at_L + (base_N - begins_N)[example_L])
        after_L3 = torch.roll(pack.place_L3, -1, 0)  # nothing is asked of a sequence's last token
        logits_LV = self.writer(pack.token_L, pack.place_L3, after_L3, F.embedding(example_L, task_ND), read)
        best_L = logits_LV.log_softmax(-1).max(-1)

        guess_NG = guesses(pack, min(longest, LONGEST_ANSWER))
        at_NG = (answers_N[:, None] + at_L[: guess_NG.shape[1]] - 1).clamp(max=tokens - 1)
        zeros_N = torch.zeros_like(slot_N)
        columns = (zeros_N, zeros_N, zeros_N, answers_N - begins_N - 1, zeros_N, limit_N[number_N], base_N, zeros_N)
        state_NF = torch.stack([*columns, torch.ones_like(slot_N)], dim=1)
        self.task[slot_N], self.trust[slot_N], self.sure[slot_N] = task_ND, 0.0, 0.0
        self.answer[slot_N] = self.guess[slot_N] = END
        self.guess[slot_N, : guess_NG.shape[1]] = guess_NG.to(torch.uint8)
        self._choose(slot_N, state_NF, [part[at_NG] for part in best_L], guess_NG[:, :-1], after_L3[at_NG])

    def _reading(self, pack: Pack, position_L: Tensor) -> Attend:
        """Return attention within a pack that keeps its keys and values at these positions of the store."""
        reads = self.writer.config.reads
        attend = _attend_within(pack, reads) if self.packed else _attend_padded(pack, reads == "whole")

        def read(q: Tensor, k: Tensor, v: Tensor, index: int) -> Tensor:
            for kept, new in zip(self.kept[index], (k, v), strict=True):
                kept.index_copy_(1, position_L, new.transpose(0, 1))
            return attend(q, k, v, index)

        return turned(read)

    def _advance(self, slot_B: Numbers) -> None:
        """Take a few steps with the answers in these slots."""
        count = min(size for size in (*SIZES, self.slots) if size >= len(slot_B))
        step = self._recorded(count) if self.records else partial(self._step, count)
        filled_B = np.full(count, self.slots)
        filled_B[: len(slot_B)] = slot_B
        self.slot_B[:count] = torch.from_numpy(filled_B).to(self.kept.device)
        for _ in range(LOOK_EVERY):
            step()

    def _recorded(self, count: int) -> Callable[[], None]:
        """Return a step of this many answers, recorded the first time."""
        if count not in self.graphs:
            self.slot_B.fill_(self.slots)
            self._step(count)  # builds kernels
            try:
                graph = torch.cuda.CUDAGraph()
                with undisturbed_capture(), torch.cuda.graph(graph, pool=self.pool):
                    self._step(count)
            except torch.OutOfMemoryError:
                raise
            except RuntimeError as error:
                self.records = False
                reason = str(error).splitlines()[0]
                progress.say(f"steps of answers cannot be CUDA graphs ({reason}); they are launched kernel by kernel")
                return partial(self._step, count)
            self.graphs[count] = graph
        return self.graphs[count].replay

    def _step(self, count: int) -> None:
        """Read the newest token of `count` answers and guesses, and choose the next; never waits for the device."""
        slot_B, at_G = self.slot_B[:count], torch.arange(TOKENS, device=self.slot_B.device)
        state_BF, trust_B = self.state[slot_B], self.trust[slot_B]
        token_B, row_B, column_B, length_B, written_B, _, base_B, width_B, open_B = state_BF.unbind(1)
        number_BG = written_B[:, None] + at_G  # in the answer, of the token after each
        same_BG = self.guess[slot_B[:, None], number_BG[:, :-1]].long()
        width_B1 = width_B.clamp(min=1)[:, None]
        above_BG = number_BG[:, :-1] - width_B1 * (at_G[:-1] // width_B1 + 1)  # the newest row that has this column
        above_BG = self.answer[slot_B[:, None], above_BG.clamp(min=0)].long()
        above_BG = torch.where((width_B == 0)[:, None], same_BG, above_BG)
        guess_BG = torch.where((trust_B >= 0)[:, None], same_BG, above_BG)
        token_BG = torch.cat([token_B[:, None], guess_BG], dim=1)

        closes_BG = token_BG == BOUNDARY
        closed_BG = torch.where(closes_BG, at_G, -1).cummax(1).values  # the last line end so far
        after_row_BG = row_B[:, None] + closes_BG.cumsum(1)
        after_column_BG = at_G + 1 + torch.where(closed_BG >= 0, -closed_BG, column_B[:, None])
        after_BG3 = torch.stack([after_row_BG, after_column_BG, torch.ones_like(after_row_BG)], dim=-1)
        place_B13 = torch.stack([row_B, column_B, torch.ones_like(row_B)], dim=1)[:, None]
        place_BG3 = torch.cat([place_B13, after_BG3[:, :-1]], dim=1)
        attend = self._writing(base_B, length_B, length_B * open_B)
        logits_BGV = self.writer(token_BG, place_BG3, after_BG3, self.task[slot_B][:, None], attend)
        best_BG = logits_BGV.log_softmax(-1).max(-1)
        chosen_BG = self._choose(slot_B, state_BF, best_BG, guess_BG, after_BG3)
        same_B, above_B = (
            ((part == best_BG.indices[:, :-1]) & chosen_BG[:, :-1]).cumprod(1).sum(1) for part in (same_BG, above_BG)
        )
        self.trust[slot_B] = (trust_B + (same_B - above_B) / chosen_BG.sum(1).clamp(min=1)) / 2

    def _choose(
        self, slot_B: Tensor, state_BF: Tensor, best: Sequence[Tensor], guess_BG: Tensor, after_BG3: Tensor
    ) -> Tensor:
        """Write the best next token of each answer, and those after as long as the guesses before are the best, too.

        `best` has the log-probability and the best token after each that was read, `after` where it would be. Return
        which tokens were chosen, [B, G].
        """
        _, _, _, length_B, written_B, limit_B, base_B, width_B, open_B = state_BF.unbind(1)
        sure_BG, next_BG = best
        number_BG = written_B[:, None] + torch.arange(next_BG.shape[1], device=slot_B.device)
        differs_BG, ends_BG = F.pad(next_BG[:, :-1] != guess_BG, (1, 0)).long(), (next_BG == END).long()
        goes_on_BG = differs_BG.cumsum(1) + ends_BG.cumsum(1) == ends_BG
        chosen_BG = goes_on_BG & (number_BG < limit_B[:, None]) & (open_B == 1)[:, None]
        spot_BG = torch.where(chosen_BG, number_BG, LONGEST_ANSWER)
        self.answer[slot_B[:, None], spot_BG] = next_BG.to(torch.uint8)
        self.sure[slot_B] = self.sure[slot_B] + torch.where(chosen_BG, sure_BG, 0.0).sum(1)

        more_B = chosen_BG.sum(1)
        last_B1 = (more_B - 1).clamp(min=0)[:, None]
        newest = (next_BG, after_BG3[..., 0], after_BG3[..., 1])
        newest_B3 = torch.cat([part.gather(1, last_B1) for part in newest], dim=1)
        newest_B3 = torch.where((open_B == 1)[:, None], newest_B3, state_BF[:, : COLUMN + 1])
        first_B = torch.where(chosen_BG & (next_BG == BOUNDARY), number_BG + 1, LONGEST).amin(1)
        width_B = torch.where((width_B == 0) & (first_B < LONGEST), first_B, width_B)
        written_B = written_B + more_B
        still_B = (open_B == 1) & (newest_B3[:, TOKEN] != END) & (written_B < limit_B)
        columns = (length_B + more_B, written_B, limit_B, base_B, width_B, still_B.long())
        self.state[slot_B] = torch.cat([newest_B3, torch.stack(columns, dim=1)], dim=1)
        return chosen_BG

    def _writing(self, base_B: Tensor, length_B: Tensor, seen_B: Tensor) -> Attend:
        """Return attention of new tokens to those up to themselves and to the first `seen_B` tokens of their answers.

        Their keys and values are kept behind the `length_B` tokens so far.
        """
        if self.has_kernel:
            from charm.models.writer.decode_kernel import attend_newest  # here alone: Triton is not everywhere

            about = base_B.contiguous(), length_B.contiguous(), seen_B
            return lambda qkv, turn, ahead, index: attend_newest(qkv, turn, ahead, self.kept[index], *about)

        at_M = torch.arange(self.longest, device=base_B.device)
        at_BM = (base_B[:, None] + at_M).clamp(max=self.room + TOKENS - 1)
        new_BG1 = (length_B[:, None] + torch.arange(TOKENS, device=base_B.device))[..., None]
        sees_BGM = (at_M < seen_B[:, None, None]) | ((at_M >= length_B[:, None, None]) & (at_M <= new_BG1))
        position_L = (base_B[:, None] + new_BG1[..., 0]).flatten()

        def write(q: Tensor, k: Tensor, v: Tensor, index: int) -> Tensor:
            for kept, new in zip(self.kept[index], (k, v), strict=True):
                kept.index_copy_(1, position_L, new.flatten(0, 1).transpose(0, 1))
            keys, values = (kept[:, at_BM].transpose(0, 1) for kept in self.kept[index])
            found = F.scaled_dot_product_attention(q.transpose(1, 2), keys, values, attn_mask=sees_BGM[:, None])
            return found.transpose(1, 2)

        return turned(write)

    def _leave(self, slots: _Slots, answer_NA: Tensor, sure_N: Tensor) -> None:
        """Take finished answers out of their slots; waits for the device."""
        open_S = self.state[:, OPEN].cpu().numpy()
        left = [slot for slot in slots.writing if not open_S[slot]]
        if left:
            moved = torch.tensor([left, [slots.leave(slot) for slot in left]]).to(answer_NA.device)
            slot_N, number_N = moved
            answer_NA[number_N] = self.answer[slot_N, :LONGEST_ANSWER]
            sure_N[number_N] = torch.where(self.state[slot_N, TOKEN] == END, self.sure[slot_N], -math.inf)


class _Slots:
    """Which answers are in flight, and where their stretches begin."""

    def __init__(self, count: int, room: int) -> None:
        self.count, self.room = count, room
        self.begins: list[int] = []  # of the stretch of each slot so far
        self.end = 0  # of all stretches
        self.free: list[int] = []  # slots in the order in which they are taken; each fits who takes it
        self.writing: dict[int, int] = {}  # number of the answer in each slot

    def add(self, stretch_N: Numbers) -> None:
        """Make slots for those waiting, who come with the longest stretch first, as far as there is room."""
        for stretch in stretch_N[len(self.free) :].tolist():
            if len(self.begins) == self.count or self.end + stretch > self.room:
                return
            self.free.append(len(self.begins))
            self.begins.append(self.end)
            self.end += stretch

    def has_enough(self) -> bool:
        """Return whether enough slots are free for new answers to begin."""
        return bool(self.free) and (not self.writing or len(self.free) * REFILL >= len(self.begins))

    def take(self, number_N: Numbers) -> tuple[Numbers, Numbers]:
        """Return slots for these answers, and where their stretches begin."""
        taken, self.free = self.free[: len(number_N)], self.free[len(number_N) :]
        self.writing |= zip(taken, number_N.tolist(), strict=True)
        slot_N = np.array(taken, np.int64)
        return slot_N, np.array(self.begins, np.int64)[slot_N]

    def leave(self, slot: int) -> int:
        """Free a slot; return the number of the answer that was in it."""
        self.free.append(slot)
        return self.writing.pop(slot)


def decodes(writer: Writer) -> bool:
    """Return whether this writer's answers are written by a `Decoder` where it is now."""
    return writer.tokens.device.type == "cuda" and writer.config.kernels != "plain"


def _attend_padded(pack: Pack, whole: bool) -> Mix:
    """Return attention within the sequences of a pack, padded to the longest; waits for the device once."""
    edges_N1 = pack.edges_N2[:-1].long()
    begins_N, longest = edges_N1[:-1], int(edges_N1.diff().max())
    local_M = torch.arange(longest, device=edges_N1.device)
    at_NM = (begins_N[:, None] + local_M).clamp(max=len(pack.token_L) - 1)
    first_N = pack.answers_N.long() - begins_N if whole else torch.zeros_like(begins_N)
    sees_NMM = local_M <= torch.maximum(local_M, first_N[:, None] - 1)[:, :, None]
    here_L = torch.arange(len(pack.token_L), device=edges_N1.device)
    here_L = here_L + (torch.arange(len(begins_N), device=here_L.device) * longest - begins_N)[pack.example_L]

    def attend(q: Tensor, k: Tensor, v: Tensor, index: int) -> Tensor:
        a, b, c = (part[at_NM].transpose(1, 2) for part in (q, k, v))
        found = F.scaled_dot_product_attention(a, b, c, attn_mask=sees_NMM[:, None])
        return found.transpose(1, 2).flatten(0, 1)[here_L]

    return attend
