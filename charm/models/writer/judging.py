"""Judging: a writer reads candidates once to say how likely they are, many in one pass.

Dimension letters: N candidates under views.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from charm.models.writer.network import Writer
from charm.models.writer.writing import inference_copy
from charm.tasks.batch import PairBank
from charm.tasks.keyed import Numbers
from charm.tasks.keys import Keys
from charm.tasks.sampling import SWAPS
from charm.tasks.sequences import pack_pairs, sequence_lengths

if TYPE_CHECKING:
    from charm.models.model import CharmModel

TOKENS = 65_536  # read at once
TOKENS_CPU = 4096  # more take up to a gigabyte and are no faster


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
    at_once = TOKENS_CPU if device.type == "cpu" else TOKENS
    found_N = np.empty(len(pair_N), np.float32)
    first = done = 0  # sequences and tokens
    while first < len(order):
        last = int(np.searchsorted(end_N, done + at_once, side="right"))
        chosen = order[first:last]
        pair, row, end = (
            torch.from_numpy(column).to(device)
            for column in (pair_N[chosen], row_N[chosen], end_N[first:last] - done)
        )
        pack = pack_pairs(pairs, keys, pair, row, end, int(end_N[last - 1]) - done)
        found_N[chosen] = writer.log_likelihood(pack, model.task(row)).float().cpu().numpy()
        first, done = last, int(end_N[last - 1])
    return found_N
