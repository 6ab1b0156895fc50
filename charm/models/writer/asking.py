"""Asking a writer: questions as sequences in, written answers as canvases out; and how likely it finds candidates.

Dimension letters: N questions or candidates under views, A tokens of an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from charm.errors import CharmError
from charm.models.network import AskedBatch, Asking, Together, log_odds
from charm.models.writer.decoding import SIZES, TOKENS, Decoder, decodes
from charm.models.writer.network import Writer
from charm.models.writer.searching import search
from charm.models.writer.writing import grid_tokens, guesses, inference_copy, questions, write
from charm.tasks.batch import PairBank
from charm.tasks.canvas import FULL_SIDE
from charm.tasks.dataset import Dataset
from charm.tasks.keyed import Numbers
from charm.tasks.keys import Keys
from charm.tasks.sampling import SWAPS
from charm.tasks.sequences import LONGEST_ANSWER, pack_pairs, sequence_lengths, to_canvas
from charm.tasks.task import Grid, Pair

if TYPE_CHECKING:
    from charm.models.model import CharmModel

ROUNDS = (1, 4)  # views of a question before the second and the third round of its answers
JUDGED, JUDGED_CPU = 65_536, 4096  # tokens of candidates read at once; more take up to a gigabyte and are no faster
IN_FLIGHT = 4  # answers being written on a GPU, as a multiple of the batch
TURNS_OF_ALL = 4  # answers that are written before the next look at the clock, as a multiple of these
SHORT = 32  # tokens by which answers may differ that a CPU writes together, however short they are


def likely_lengths(data: Dataset) -> Numbers:
    """Return the tokens of an answer to each question, judged by the longest output among its puzzle's training pairs.

    A puzzle without any is judged by its question. Puzzles with answers of about one length are written together.
    """
    outputs = _most_tokens(data.bank.shape[:, 2:].numpy()) + 1
    longest: dict[int, int] = {}
    puzzle = data.instances.table()[0]
    for block in data.blocks:
        number = int(puzzle[block.rows[0]])
        longest[number] = max(longest.get(number, 0), int(outputs[block.pairs].max()))
    of_inputs = zip(data.questions, question_lengths(data) - 1, strict=True)
    return np.array([longest.get(data.instances.number(one.task_id), tokens) for one, tokens in of_inputs], np.int64)


def answer_limit(likely_N: Numbers) -> Numbers:
    """Return the tokens after which an answer is given up: one that is far longer than expected hardly ever ends."""
    return np.minimum(2 * likely_N + 128, LONGEST_ANSWER)


def question_lengths(data: Dataset) -> Numbers:
    """Return the tokens of each question, under the view that makes it longest."""
    return 2 + _most_tokens(data.question_bank.shape[:, :2].numpy())


def _most_tokens(shape_N2: Numbers) -> Numbers:
    """Return the tokens of grids and their line ends, under the view with most lines."""
    return shape_N2.prod(1) + shape_N2.max(1)


def at_once(writer: Writer, likely_N: Numbers, device: torch.device, batch: int) -> int:
    """Return how many of these answers, in this order, can be written together: at most `batch`, at least one.

    Keys and values of all their tokens must fit into a share of the device's memory; questions count as the longest.
    """
    limit_N = answer_limit(np.maximum.accumulate(likely_N))
    tokens_N = (LONGEST_ANSWER + limit_N) * np.arange(1, len(likely_N) + 1)
    if device.type == "cpu":  # reading costs as much as writing there, and all are padded to the longest
        batch = min(batch, int(np.searchsorted(likely_N, 2 * likely_N[0] + SHORT, side="right")))
    return max(1, min(batch, int(np.searchsorted(tokens_N, kept_tokens(writer, device), side="right"))))


def kept_tokens(writer: Writer, device: torch.device) -> int:
    """Return the number of tokens whose keys and values may be kept at once."""
    config, memory = writer.config, 2**30 if device.type == "cpu" else 2**31
    if device.type == "cuda":
        memory = min(2**34, torch.cuda.get_device_properties(device).total_memory // 8)
    return memory // (2 * config.recurrences * len(writer.layers) * config.width * writer.compute_dtype.itemsize)


def rounds(question_N: Numbers) -> list[Numbers]:
    """Split jobs into rounds, so that later views of a question find answers of earlier ones: places in the order."""
    order = np.argsort(question_N, kind="stable")
    _, first, count = np.unique(question_N[order], return_index=True, return_counts=True)
    rank_N = np.empty(len(question_N), np.int64)
    rank_N[order] = np.arange(len(question_N)) - np.repeat(first, count)
    round_N = np.searchsorted(ROUNDS, rank_N, side="right")
    return [np.flatnonzero(round_N == number) for number in range(len(ROUNDS) + 1)]


def drafts(data: Dataset, guesses: Mapping[int, Grid]) -> PairBank:
    """Pair each question with the guess of its answer, or with its input if there is none."""
    inputs = [data.question_bank.pair(number).input for number in range(len(data.questions))]
    return PairBank.of([Pair(one, guesses.get(number, one)) for number, one in enumerate(inputs)])


class AskingWriter(Asking):
    """Answers of about one length are written together, and later views of a question begin with guesses.

    On a GPU `IN_FLIGHT` times `batch` answers are in flight, and a batch of jobs is `TURNS_OF_ALL` times as large.
    """

    def __init__(self, writer: Writer, data: Dataset, steps: int, batch: int, fill: bool = False) -> None:
        if steps != 1:
            raise CharmError(f"a writer answers in one step: loops must be 1, got {steps}")
        super().__init__(writer, data, steps, batch, fill)
        self.writer, self.lengths = inference_copy(writer), likely_lengths(data)
        self.limits = answer_limit(self.lengths)
        self.guessed: PairBank | None = None
        self.decoder: Decoder | None = None

    def rounds(self, question_N: Numbers, side_N: Numbers) -> list[list[Together]]:
        if decodes(self.writer):
            self._prepare(question_N)
        order = np.argsort(self.lengths[question_N], kind="stable")
        return [self._batches(question_N, order[at]) for at in rounds(question_N[order]) if len(at)]

    def _prepare(self, question_N: Numbers) -> None:
        """Make room for the answers to these questions."""
        asked_N = question_lengths(self.data)[question_N]
        stretch_N = np.sort(asked_N + self.limits[question_N])[::-1] + TOKENS
        slots = max(SIZES[0], min(IN_FLIGHT * self.batch, len(question_N)))
        room = min(kept_tokens(self.writer, self.device), int(stretch_N[:slots].sum()))
        longest = int(asked_N.max(initial=0)) + LONGEST_ANSWER + TOKENS  # a guess may have any length
        self.decoder = Decoder(self.writer, slots, room, longest)

    def _batches(self, question_N: Numbers, job_N: Numbers) -> list[Together]:
        found = []
        while len(job_N):
            likely_N = self.lengths[question_N[job_N]]
            if self.decoder is None:
                size = at_once(self.writer, likely_N[: self.batch], self.device, self.batch)
            else:
                size = TURNS_OF_ALL * self.decoder.slots
            found.append(Together(job_N[:size], len(job_N[:size])))
            job_N = job_N[size:]
        return found

    def begin_round(self, leading: Callable[[], Mapping[int, Grid]]) -> None:
        self.guessed = drafts(self.data, leading()).to(self.device)

    def answers(self, asked: AskedBatch) -> Iterator[tuple[Tensor, Tensor]]:
        limit_N = torch.from_numpy(self.limits[asked.question_N.cpu().numpy()]).to(self.device)
        asked = asked if self.guessed is None else asked._replace(bank=self.guessed)
        if self.decoder is None:
            yield write_answers(self.writer, asked, limit_N)
        else:
            yield _as_canvases(*self.decoder.write(asked, limit_N))


@torch.inference_mode()
def write_answers(writer: Writer, asked: AskedBatch, limit: int | Tensor = LONGEST_ANSWER) -> tuple[Tensor, Tensor]:
    """Return token canvases uint8 [N, 900] of the answers to questions under views, and their log-odds to be right.

    Outputs in the bank are guesses (`drafts`); the answers are the same without.
    """
    bank, keys, question_N, row_N, task_ND, *_ = asked
    input_N, output_N = grid_tokens(bank, keys, question_N, row_N).T
    ends_N = (2 + input_N + output_N + (output_N > 0)).cumsum(0)
    pack = pack_pairs(bank, keys, question_N, row_N, ends_N, int(ends_N[-1]))
    return _as_canvases(*write(writer, *questions(pack), task_ND, limit, guesses(pack, int(output_N.max()) + 1)))


def _as_canvases(answer_NA: Tensor, sure_N: Tensor) -> tuple[Tensor, Tensor]:
    return to_canvas(answer_NA.long(), FULL_SIDE), log_odds(sure_N.clamp(max=0.0))


@torch.inference_mode()
def search_answers(
    writer: Writer,
    model: CharmModel,
    data: Dataset,
    question_N: Numbers,
    row_N: Numbers,
    least: float,
    stop: Callable[[], bool],
) -> Iterator[tuple[Numbers, Tensor, Tensor]]:
    """Yield all answers with at least this probability to questions under views, short ones first, until `stop()`.

    Each batch has room for as many prefixes as there can be at once.
    """
    writer, device = inference_copy(writer), writer.tokens.device
    likely_N = likely_lengths(data)[question_N]
    limit_N = answer_limit(likely_N)
    bank, keys = data.question_bank.to(device), data.keys().to(device)
    order = np.argsort(likely_N, kind="stable")
    while len(order) and not stop():
        size = max(1, int(at_once(writer, likely_N[order], device, len(order)) * least))
        chosen, order = order[:size], order[size:]
        about = (question_N[chosen], row_N[chosen], limit_N[chosen])
        question, row, limit = (torch.from_numpy(np.asarray(one, np.int64)).to(device) for one in about)
        ends_N = (2 + grid_tokens(bank, keys, question, row)[:, 0]).cumsum(0)
        pack = pack_pairs(bank, keys, question, row, ends_N, int(ends_N[-1]))
        number_M, answer_MA, likely_M = search(writer, *questions(pack), model.task(row), limit, least, stop)
        yield chosen[number_M.cpu().numpy()], *_as_canvases(answer_MA, likely_M)


@torch.inference_mode()
def log_likelihoods(
    writer: Writer, model: CharmModel, pairs: PairBank, keys: Keys, pair_N: Numbers, row_N: Numbers
) -> npt.NDArray[np.float32]:
    """Return the log-probabilities [N] of the outputs of pairs under the views of memory rows."""
    writer, device = inference_copy(writer), writer.tokens.device
    length_N = sequence_lengths(pairs.shape.numpy()[pair_N], SWAPS[keys.dihedral.numpy()[row_N]])
    order = np.argsort(length_N, kind="stable")
    end_N = np.cumsum(length_N[order])
    pairs, keys = pairs.to(device), keys.to(device)
    most = JUDGED_CPU if device.type == "cpu" else JUDGED
    found_N = np.empty(len(pair_N), np.float32)
    first = done = 0  # sequences and tokens
    while first < len(order):
        last = int(np.searchsorted(end_N, done + most, side="right"))
        chosen = order[first:last]
        pair, row, end = (
            torch.from_numpy(column).to(device) for column in (pair_N[chosen], row_N[chosen], end_N[first:last] - done)
        )
        pack = pack_pairs(pairs, keys, pair, row, end, int(end_N[last - 1]) - done)
        found_N[chosen] = writer.log_likelihood(pack, model.task(row)).float().cpu().numpy()
        first, done = last, int(end_N[last - 1])
    return found_N
