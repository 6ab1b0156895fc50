"""Packs hold the stream's examples, each once, in order; also over several processes and after a resume."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from charm.devices import Place
from charm.errors import CharmError
from charm.models.writer.config import WriterConfig
from charm.models.writer.packs import Packs, longest_sequence
from charm.tasks.dataset import Dataset, load_dataset
from charm.tasks.sequences import LONGEST, START
from tests.toy import toy_config, write_toy_tasks

CPU = Place(torch.device("cpu"))
WRITER = WriterConfig(width=16, heads=2, layers=1).build()


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    return load_dataset(toy_config(write_toy_tasks(tmp_path / "tasks")).data)


def taken(packs: Packs, updates: int, focused: bool = False) -> list[tuple[int, bytes]]:
    """Memory row and tokens of every sequence of the next packs."""
    found = []
    for _ in range(updates):
        packs.prepare(0, focused)
        edges = packs.pack.edges_N2.tolist()
        for number, (begin, end) in enumerate(pairwise(edges[:-1])):
            if begin < end:
                tokens = packs.pack.token_L[begin:end]
                assert tokens[0] == START
                found.append((int(packs.row_N[number]), tokens.numpy().tobytes()))
    return found


def test_packs_follow_the_stream_and_lose_nothing(data: Dataset) -> None:
    packs = Packs(WRITER, data, LONGEST, 3, CPU)
    found = taken(packs, 4)
    assert packs.taken == [len(found), 0]
    position = np.arange(len(found))
    draw = packs.streams[0].draw(np.zeros_like(position), position)
    assert [row for row, _ in found] == draw.row_N.tolist()


def test_two_processes_share_the_stream(data: Dataset) -> None:
    alone = taken(Packs(WRITER, data, LONGEST, 3, CPU), 6)
    parts = [taken(Packs(WRITER, data, LONGEST, 3, Place(CPU.device, rank, 2)), 2) for rank in range(2)]
    for rank, part in enumerate(parts):
        assert part == alone[rank::2][: len(part)]


def test_a_restored_position_continues(data: Dataset) -> None:
    packs = Packs(WRITER, data, LONGEST, 3, CPU)
    taken(packs, 2)
    again = Packs(WRITER, data, LONGEST, 3, CPU)
    again.restore([packs.state()])
    assert taken(again, 2) == taken(packs, 2)


def test_other_seeds_give_other_packs(data: Dataset) -> None:
    assert taken(Packs(WRITER, data, LONGEST, 3, CPU), 1) != taken(Packs(WRITER, data, LONGEST, 4, CPU), 1)


def test_a_pack_must_hold_the_longest_pair(data: Dataset) -> None:
    assert longest_sequence(data) == 3 + 2 * 3 * 4  # two grids of 3 x 3
    assert taken(Packs(WRITER, data, 27, 0, CPU), 2)
    with pytest.raises(CharmError, match="27 tokens; got 26"):
        Packs(WRITER, data, 26, 0, CPU)


def test_a_sequence_that_fills_a_pack_to_its_end_is_in_it(data: Dataset) -> None:
    """Every sequence of the toy has 27 tokens."""
    for tokens, sequences in ((2 * 27 - 1, 1), (2 * 27, 2), (2 * 27 + 1, 2)):
        packs = Packs(WRITER, data, tokens, 0, CPU)
        assert [len(taken(packs, 1)) for _ in range(3)] == [sequences] * 3


def test_focused_packs_hold_the_evaluated_tasks_alone(tmp_path: Path) -> None:
    tasks = write_toy_tasks(tmp_path / "tasks", 3)
    config = toy_config(tasks).data
    (tmp_path / "one").mkdir()
    (tasks / "toy1.json").rename(tmp_path / "one" / "toy1.json")
    data = load_dataset(replace(config, train=(str(tasks),), evaluate=(str(tmp_path / "one"),)))
    packs = Packs(WRITER, data, LONGEST, 3, CPU)
    puzzle = data.instances.table()[0]

    def learned(focused: bool) -> set[str]:
        return {data.instances.puzzles[puzzle[row]] for row, _ in taken(packs, 3, focused)}

    assert learned(False) == {"toy0", "toy1", "toy2"}
    before = packs.taken[0]
    assert learned(True) == {"toy1"}
    assert packs.taken[0] == before
    again = Packs(WRITER, data, LONGEST, 3, CPU)
    again.restore([packs.state()])
    assert again.taken == packs.taken
