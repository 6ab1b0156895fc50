"""Pairs as sequences: the input row by row, then the answer row by row, each row closed by a line end.

    START  input rows  ANSWER  output rows  END

Tokens are the canvas's (line ends are its boundary token) and three more. Many sequences are concatenated in one pack
of fixed length, computed on the model's device. Every token has a place (row, column, part): corresponding cells of
input and answer differ in the part alone.

Dimension letters: N sequences, L tokens of a pack.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from charm.tasks.batch import PairBank, turned_reads
from charm.tasks.canvas import BOUNDARY, FIRST_COLOR, PAD, VOCABULARY
from charm.tasks.keyed import Numbers
from charm.tasks.keys import Keys

START, ANSWER, END = VOCABULARY, VOCABULARY + 1, VOCABULARY + 2
SEQUENCE_VOCABULARY = VOCABULARY + 3
LONGEST = 3 + 2 * 30 * 31  # of a pair of 30 x 30 grids
LONGEST_ANSWER = 30 * 31 + 1


@dataclass(frozen=True)
class Pack:
    """Concatenated sequences, then padding, which is a separate sequence."""

    token_L: Tensor  # int64
    place_L3: Tensor  # int64: row, column, part
    example_L: Tensor  # int64: which sequence
    wanted_L: Tensor  # bool: whether the next token belongs to the answer and is to be predicted
    edges_N2: Tensor  # int32 [N + 2]: where sequences begin, and the end of the padding
    answers_N: Tensor  # int32: where answers begin


def sequence_lengths(shapes_N4: npt.NDArray[np.integer], swaps_N: npt.NDArray[np.bool_]) -> Numbers:
    """Count the tokens of each pair's sequence; `swaps_N` says where the view exchanges height and width."""
    swapped = shapes_N4[:, [1, 0, 3, 2]]
    turned = np.where(swaps_N[:, None], swapped, shapes_N4).astype(np.int64)
    return 3 + turned[:, 0] * (turned[:, 1] + 1) + turned[:, 2] * (turned[:, 3] + 1)


def pack_pairs(bank: PairBank, keys: Keys, pair_N: Tensor, row_N: Tensor, ends_N: Tensor, length: int) -> Pack:
    """Pack the sequences of pairs under views, the n-th ending before `ends_N[n]`; never waits for the device.

    A pair whose end equals the one before takes no room, so packs of different numbers of pairs have one shape. A pair
    without an output gives START, input, ANSWER: a question.
    """
    height_N2, width_N2, *reads = turned_reads(bank, keys, pair_N, row_N)
    at_L = torch.arange(length, device=pair_N.device)
    example_L = torch.searchsorted(ends_N, at_L, right=True)
    inside_L = example_L < len(pair_N)
    example_L = example_L.clamp(max=len(pair_N) - 1)
    begins_N = torch.cat([ends_N.new_zeros(1), ends_N[:-1]])
    local_L = at_L - begins_N[example_L]

    length_N2 = height_N2 * (width_N2 + 1)
    input_L, answer_L = length_N2[example_L].unbind(1)
    part_L = (local_L > input_L).long()
    cell_L = torch.where(part_L == 1, local_L - input_L - 2, local_L - 1)
    flat_L = 2 * example_L + part_L
    columns_L = width_N2.view(-1)[flat_L]
    row_L = torch.div(cell_L, columns_L + 1, rounding_mode="floor")
    column_L = cell_L - row_L * (columns_L + 1)

    first_L, down_L, right_L = (part.view(-1)[flat_L] for part in reads)
    where_L = first_L + down_L * row_L + right_L * column_L  # the cell of the original that stands there
    color_L = bank.cells[where_L.clamp(0, len(bank.cells) - 1)].long()
    token_L = keys.colors[row_N][example_L, color_L.clamp(max=9)].long() + FIRST_COLOR

    token_L = torch.where(column_L == columns_L, BOUNDARY, token_L)
    is_start_L, is_answer_L = local_L == 0, local_L == input_L + 1
    is_end_L = local_L == input_L + answer_L + 2
    token_L = torch.where(is_start_L, START, token_L)
    token_L = torch.where(is_answer_L, ANSWER, token_L)
    token_L = torch.where(is_end_L, END, token_L)
    is_mark_L = is_start_L | is_answer_L  # neither has a row nor a column
    row_L, column_L = ((at_L + 1).masked_fill(is_mark_L, 0) for at_L in (row_L, column_L))
    place_L3 = torch.stack([row_L, column_L, part_L], dim=1)
    edges_N2 = torch.cat([begins_N[:1], ends_N, torch.full_like(ends_N[:1], length)]).int()
    return Pack(
        torch.where(inside_L, token_L, PAD),
        torch.where(inside_L[:, None], place_L3, 0),
        example_L,
        inside_L & (part_L == 1) & ~is_end_L & (answer_L > 0),
        edges_N2,
        torch.minimum(begins_N + length_N2[:, 0] + 2, ends_N).int(),
    )


def to_canvas(tokens_NA: Tensor, side: int) -> Tensor:
    """Turn written answers into token canvases uint8 [N, side * side] with the grid at the origin.

    An answer without an END, with rows of unequal length, or too large for the canvas gives an empty canvas.
    """
    count = len(tokens_NA)
    ended_NA = (tokens_NA == END).long().cumsum(1) > 0
    closes_NA = (tokens_NA == BOUNDARY) & ~ended_NA
    is_cell_NA = (tokens_NA >= FIRST_COLOR) & (tokens_NA < VOCABULARY) & ~ended_NA
    row_NA = closes_NA.long().cumsum(1) - closes_NA.long()
    cells_NA = is_cell_NA.long().cumsum(1)
    length_N = (~ended_NA).sum(1)
    rows_N = closes_NA.sum(1)
    first_N = closes_NA.long().argmax(1)  # cells of the first row, if it is closed
    width_N = torch.where(rows_N > 0, first_N, 0)
    column_NA = cells_NA - 1 - row_NA * width_N[:, None]
    regular_N = ended_NA.any(1) & (rows_N > 0) & (width_N > 0) & (rows_N <= side) & (width_N <= side)
    regular_N &= length_N == rows_N * (width_N + 1)
    regular_N &= (is_cell_NA | closes_NA | ended_NA).all(1)
    # A line end every width + 1 tokens: each must stand right after the last cell of its row.
    regular_N &= (~closes_NA | (cells_NA == (row_NA + 1) * width_N[:, None])).all(1)
    canvas_NT = tokens_NA.new_zeros(count, side * side + 1)
    spot_NA = torch.where(is_cell_NA & regular_N[:, None], row_NA * side + column_NA, side * side)
    canvas_NT.scatter_(1, spot_NA.clamp(0, side * side), tokens_NA)
    return canvas_NT[:, :-1].to(torch.uint8)
