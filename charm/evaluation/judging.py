"""Judging: how likely a writer finds each candidate under many views of its question.

A view that would not have written an answer can still judge how likely it is, by reading it once. Views err
in different ways, so the candidate that all of them find likely is right more often than the one most of them wrote.

    K  candidates      J  views of a question that judge
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import torch

from charm.models.model import CharmModel
from charm.models.writer.network import Writer
from charm.models.writer.writing import to_ask
from charm.runs.votes import Candidates, Votes
from charm.tasks.batch import PairBank
from charm.tasks.dataset import Dataset
from charm.tasks.sampling import SWAPS
from charm.tasks.sequences import pack_pairs, sequence_lengths
from charm.tasks.task import Pair
from charm.tasks.view import decode

TOKENS = 65_536  # read at once
TOKENS_CPU = 4096  # more take up to a gigabyte and are no faster
JUDGES = 16  # views that judge, at most

# Log-probability by question, hash of the candidate and row of the judge.
Judgements = dict[tuple[int, int, int], float]


def judged(
    model: CharmModel,
    data: Dataset,
    votes: Votes,
    views: int | None,
    device: torch.device,
    known: Judgements | None = None,
) -> Votes:
    """The votes with their candidates' likelihood in place of what each view thought of its own answer.

    It is the geometric mean over the judges, as log-odds. What is in `known` is not judged again.
    """
    views = min(views or JUDGES, JUDGES)
    likely_KJ = log_likelihoods(model, data, votes.candidates, views, device, known)
    mean_K = np.minimum(np.nanmean(likely_KJ.astype(np.float64), axis=1), -1e-12)
    with np.errstate(divide="ignore"):
        logit_K = mean_K - np.log(-np.expm1(mean_K))
    return replace(votes, logit_V=logit_K.astype(np.float32)[votes.candidate_V])


@torch.inference_mode()
def log_likelihoods(
    model: CharmModel,
    data: Dataset,
    candidates: Candidates,
    views: int,
    device: torch.device,
    known: Judgements | None = None,
) -> npt.NDArray[np.float32]:
    """Log-probabilities [K, J] of candidates under the first `views` views of their questions.

    Minus infinity for a 0 x 0 candidate, and not a number where a question has fewer views. Those in `known` are not
    computed again, and new ones join them.
    """
    assert isinstance(model.reasoner, Writer)
    writer = to_ask(model.reasoner)
    known = {} if known is None else known
    found = np.full((len(candidates), views), np.nan, np.float32)
    found[candidates.area_K == 0] = -np.inf
    rows = [data.question_rows(data.questions[q], views) for q in range(len(data.questions))]
    asked, names = [], []
    for k, (question, content) in enumerate(
        zip(candidates.question_K.tolist(), candidates.hash_K.tolist(), strict=True)
    ):
        if not candidates.area_K[k]:
            continue
        for j, row in enumerate(rows[question].tolist()):
            name = (question, content, row)
            if name in known:
                found[k, j] = known[name]
            else:
                asked.append((k, j, row))
                names.append(name)
    if not asked:
        return found
    candidate_N, judge_N, row_N = np.array(asked, np.int64).T

    inputs = [data.question_bank.pair(q).input for q in range(len(data.questions))]
    pairs = [Pair(inputs[q], candidates.grid(k)) for k, q in enumerate(candidates.question_K.tolist())]
    bank = PairBank.of(pairs)
    dihedral = decode(data.instances.table()[1])[0]
    length_N = sequence_lengths(bank.shape.numpy()[candidate_N], SWAPS[dihedral[row_N]])
    order = np.argsort(length_N, kind="stable")
    end_N = np.cumsum(length_N[order])
    bank, keys = bank.to(device), data.keys().to(device)
    at_once = TOKENS_CPU if device.type == "cpu" else TOKENS
    first = done = 0  # sequences and tokens
    while first < len(order):
        last = int(np.searchsorted(end_N, done + at_once, side="right"))
        chosen = order[first:last]
        pair, row, end = (
            torch.from_numpy(column).to(device)
            for column in (candidate_N[chosen], row_N[chosen], end_N[first:last] - done)
        )
        pack = pack_pairs(bank, keys, pair, row, end, int(end_N[last - 1]) - done)
        likely_N = writer.log_likelihood(pack, model.task(row))
        found[candidate_N[chosen], judge_N[chosen]] = likely_N.float().cpu().numpy()
        first, done = last, int(end_N[last - 1])
    known.update(zip(names, found[candidate_N, judge_N].tolist(), strict=True))
    return found
