"""Measures of continual learning as the field defines them: pure functions of the matrix R.

R[i, j] is the accuracy on task j after stage i; row 0 is the model before the stream. `learned[j]` is the stage that
learned task j: 1, 2, ... for a stream, 0 for the base's own tasks. NaN is what was not measured. Tasks without
answers, whose column is all NaN, do not count. A measure that lacks a number it needs is None.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Stages = npt.NDArray[np.int64]


def acc(r: Matrix, learned: Stages) -> float | None:
    """Return ACC: the mean accuracy over all tasks at the end."""
    return _mean(r[-1])


def average_incremental_accuracy(r: Matrix, learned: Stages) -> float | None:
    """Average the accuracy on the tasks so far over the stages after which all of these were evaluated."""
    rows = [row[learned <= stage] for stage, row in enumerate(r) if stage >= 1]
    return _mean(np.array([row.mean() for row in rows if len(row) and not np.isnan(row).any()]))


def backward_transfer(r: Matrix, learned: Stages) -> float | None:
    """Return BWT (Lopez-Paz and Ranzato 2017): accuracy at the end minus right after learning, but for the last."""
    earlier = np.flatnonzero(learned < len(r) - 1)
    return _mean(r[-1, earlier] - r[learned[earlier], earlier])


def forward_transfer(r: Matrix, learned: Stages) -> float | None:
    """Return FWT (same paper): accuracy right before learning minus that before the stream, but for the first task."""
    later = np.flatnonzero(learned >= 2)
    return _mean(r[learned[later] - 1, later] - r[0, later])


def forgetting(r: Matrix, learned: Stages) -> float | None:
    """Return the best earlier accuracy minus the one at the end, but for the last task (Chaudhry et al. 2018)."""
    earlier = np.flatnonzero(learned < len(r) - 1)
    past = r[min(1, int(learned.min(initial=1))) : -1, earlier]
    if not past.size or np.isnan(r[learned[earlier], earlier]).any():
        return None
    return _mean(np.nanmax(past, axis=0) - r[-1, earlier])


def worst_case_accuracy(r: Matrix, learned: Stages) -> float | None:
    """Return WC-ACC (De Lange et al. 2023): each task at its worst after it was learned, the last one at the end."""
    last = len(r) - 1
    worst = np.empty(len(learned))
    for j, stage in enumerate(learned):
        after = r[min(stage + 1, last) :, j]  # of the last task only the end itself
        worst[j] = np.nan if np.isnan(after).all() else np.nanmin(after)
    return _mean(worst)


MEASURES: dict[str, Callable[[Matrix, Stages], float | None]] = {
    "ACC": acc,
    "AIA": average_incremental_accuracy,
    "BWT": backward_transfer,
    "FWT": forward_transfer,
    "forgetting": forgetting,
    "WC-ACC": worst_case_accuracy,
}


def measures(r: Matrix, learned: Stages) -> dict[str, float | None]:
    """Return all measures of a finished stream, by name."""
    scored = ~np.isnan(r).all(axis=0)
    r, learned = r[:, scored], learned[scored]
    return {name: measure(r, learned) if scored.any() else None for name, measure in MEASURES.items()}


def _mean(values: Matrix) -> float | None:
    return float(values.mean()) if len(values) and not np.isnan(values).any() else None
