import numpy as np
import pytest
import torch

from charm.tasks.batch import PairBank, view_tokens
from charm.tasks.canvas import place
from charm.tasks.instances import Instances
from charm.tasks.keys import Keys
from charm.tasks.task import Pair
from charm.tasks.view import VIEWS
from tests.toy.pairs import key_at, random_pairs

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("side", [30, 16])
def test_batch_equals_the_plain_path_cell_by_cell(side: int, device: str) -> None:
    rng = np.random.default_rng(side)
    pairs = random_pairs(rng, 40, side, absent=0.2)
    instances = Instances()
    codes = np.append(rng.choice(VIEWS, 99, replace=False), 0).astype(np.uint32)
    rows = rng.choice(instances.add("p", codes), 300)
    chosen = rng.integers(0, len(pairs), 300)
    tops, lefts, expected_inputs, expected_outputs = [], [], [], []
    for number, row in zip(chosen, rows, strict=True):
        view = key_at(instances, int(row))[1]
        grids = [view.apply(grid) for grid in pairs[number].grids()]
        top = int(rng.integers(0, side - max(grid.shape[0] for grid in grids) + 1))
        left = int(rng.integers(0, side - max(grid.shape[1] for grid in grids) + 1))
        tops.append(top)
        lefts.append(left)
        canvases = [place(grid, side, top, left) for grid in grids] + [np.zeros((side, side), np.uint8)]
        expected_inputs.append(canvases[0].ravel())
        expected_outputs.append(canvases[1].ravel())
    inputs, outputs = view_tokens(
        PairBank.of(pairs).to(device),
        Keys.of(instances).to(device),
        *(torch.as_tensor(np.asarray(x), device=device).long() for x in (chosen, rows, tops, lefts)),
        side,
    )
    assert outputs is not None
    assert np.array_equal(inputs.cpu().numpy(), np.stack(expected_inputs))
    assert np.array_equal(outputs.cpu().numpy(), np.stack(expected_outputs))


def test_bank_gives_back_its_pairs_and_joins() -> None:
    rng = np.random.default_rng(0)
    first, second = random_pairs(rng, 20, absent=0.2), random_pairs(rng, 10, absent=0.2)
    bank = PairBank.join([PairBank.of(first), PairBank.of(second)])
    assert len(bank) == 30
    assert [bank.pair(k) for k in range(30)] == first + second


def test_the_hash_of_pairs_follows_cells_shapes_and_order() -> None:
    """The same cells in a row, read in other shapes or in another order, are other pairs."""
    cells = np.arange(6, dtype=np.uint8)
    high, wide = cells.reshape(3, 2), cells.reshape(2, 3)
    banks = [
        [Pair(high, wide), Pair(wide, wide)],
        [Pair(high, high), Pair(wide, wide)],
        [Pair(wide, wide), Pair(wide, wide)],
        [Pair(wide, wide), Pair(high, wide)],
        [Pair(high, wide + np.uint8(1)), Pair(wide, wide)],
        [Pair(high, wide)],
        [Pair(high, None), Pair(wide, wide)],
    ]
    hashes = [PairBank.of(pairs).sha256() for pairs in banks]
    assert len(set(hashes)) == len(banks)
    assert PairBank.of(banks[0]).sha256() == hashes[0]
