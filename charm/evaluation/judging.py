"""Judging: how likely a network finds each candidate under many views of its question.

A view that would not have written an answer can still judge how likely it is, by reading it once. Views err
in different ways, so the candidate that all of them find likely is right more often than the one most of them wrote.

    K  candidates      J  views of a question that judge
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from charm.models.model import CharmModel
from charm.runs.votes import Candidates, Votes
from charm.tasks.batch import PairBank
from charm.tasks.dataset import Dataset
from charm.tasks.task import Pair

JUDGES = 16  # views that judge, at most

# Log-probability by question, hash of the candidate and row of the judge.
Judgements = dict[tuple[int, int, int], float]


def judge_votes(
    model: CharmModel,
    data: Dataset,
    votes: Votes,
    views: int | None,
    known: Judgements | None = None,
) -> Votes:
    """Return the votes with their candidates' likelihood in place of what each view thought of its own answer.

    It is the geometric mean over the judges, as log-odds. What is in `known` is not judged again.
    """
    views = min(views or JUDGES, JUDGES)
    likely_KJ = log_likelihoods(model, data, votes.candidates, views, known)
    mean_K = np.minimum(np.nanmean(likely_KJ.astype(np.float64), axis=1), -1e-12)
    with np.errstate(divide="ignore"):
        logit_K = mean_K - np.log(-np.expm1(mean_K))
    return replace(votes, logit_V=logit_K.astype(np.float32)[votes.candidate_V])


def log_likelihoods(
    model: CharmModel,
    data: Dataset,
    candidates: Candidates,
    views: int,
    known: Judgements | None = None,
) -> npt.NDArray[np.float32]:
    """Return log-probabilities [K, J] of candidates under the first `views` views of their questions.

    Minus infinity for a 0 x 0 candidate, and not a number where a question has fewer views. Those in `known` are not
    computed again, and new ones join them.
    """
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
    likely_N = model.reasoner.log_likelihoods(model, PairBank.of(pairs), data.keys(), candidate_N, row_N)
    found[candidate_N, judge_N] = likely_N
    known.update(zip(names, likely_N.tolist(), strict=True))
    return found
