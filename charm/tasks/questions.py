"""A question is one test input of one task; in arrays it is an index into an ordered tuple."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from charm.tasks.task import Task


@dataclass(frozen=True, order=True)
class Question:
    task_id: str
    test_index: int

    def __str__(self) -> str:
        return f"{self.task_id} test {self.test_index}"


def questions_of(tasks: Iterable[Task]) -> tuple[Question, ...]:
    """Every test input of the tasks, in the order of the tasks and of their tests."""
    return tuple(Question(task.id, index) for task in tasks for index in range(len(task.test)))
