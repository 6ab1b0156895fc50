"""Large canvases and enlarged grids, held against loops over cells; VARC's 51 views."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from charm.errors import CharmError
from charm.tasks.augment import pseudo_tasks
from charm.tasks.batch import PairBank, view_tokens
from charm.tasks.canvas import LARGE_SIDE, most_scale
from charm.tasks.dataset import DataConfig, load_dataset, load_tasks
from charm.tasks.instances import Instances
from charm.tasks.keys import Keys
from charm.tasks.sampling import IndexBlock, Mixture, Stream
from charm.tasks.task import Task
from charm.tasks.view import VIEWS, View
from tests.toy import write_toy_tasks
from tests.toy.pairs import key_at, random_pairs, slow_place


@pytest.mark.parametrize("side", [LARGE_SIDE, 30, 16])
def test_enlarged_grids_under_views_equal_the_slow_version(side: int) -> None:
    rng = np.random.default_rng(side)
    pairs = random_pairs(rng, 12, min(side - 2, 30), absent=0.2)
    instances = Instances()
    rows = instances.add("p", np.append(rng.choice(VIEWS, 29, replace=False), 0).astype(np.uint32))
    chosen, rows = rng.integers(0, len(pairs), 40), rng.choice(rows, 40)
    where, expected = [], []
    for number, row in zip(chosen, rows, strict=True):
        grids = [key_at(instances, int(row))[1].apply(grid) for grid in pairs[number].grids()]
        extent = np.max([grid.shape for grid in grids], axis=0)
        scale = int(rng.integers(1, most_scale(extent.max(), side) + 1))
        top, left = (int(rng.integers(0, side - length * scale + 1)) for length in extent)
        where.append((top, left, scale))
        canvases = [slow_place(grid, side, top, left, scale, is_output=n == 1).ravel() for n, grid in enumerate(grids)]
        expected.append([*canvases, np.zeros(side**2, np.uint8)][:2])
    chosen, rows, (tops, lefts, scales) = (
        torch.as_tensor(np.asarray(x)).long() for x in (chosen, rows, np.array(where).T)
    )
    made = view_tokens(PairBank.of(pairs), Keys.of(instances), chosen, rows, tops, lefts, side, scale_N=scales)
    assert made[1] is not None
    assert np.array_equal(torch.stack(made, dim=1).numpy(), np.array(expected))


def stream_of(shapes: np.ndarray, side: int, scales: int, dihedral: int = 0) -> Stream:
    block = IndexBlock(np.arange(len(shapes), dtype=np.int32), np.array([1], np.int32), repeats=4000)
    return Stream(Mixture([block]), shapes, np.array([0, dihedral]), side, 1, 0, scales)


def test_large_canvases_have_every_scale_that_fits_and_every_place_inside_the_margin() -> None:
    shapes = np.array([[20, 7, 3, 15]])
    draw = stream_of(shapes, LARGE_SIDE, 0).draw(np.zeros(4000, int), np.arange(4000))
    assert set(draw.scale_N.tolist()) == {1, 2, 3}  # 62 // 20
    for scale in (1, 2, 3):
        chosen = draw.scale_N == scale
        assert abs(chosen.mean() - 1 / 3) < 0.03
        # The last row and column are left to the boundary.
        assert (draw.top_N[chosen].min(), draw.top_N[chosen].max()) == (1, 63 - 20 * scale)
        assert (draw.left_N[chosen].min(), draw.left_N[chosen].max()) == (1, 63 - 15 * scale)
    turned = stream_of(shapes, LARGE_SIDE, 0, dihedral=1).draw(np.zeros(4000, int), np.arange(4000))
    assert turned.left_N[turned.scale_N == 3].max() == 63 - 60
    largest = stream_of(np.array([[30, 30, 30, 30]]), LARGE_SIDE, 0).draw(np.zeros(500, int), np.arange(500))
    assert set(largest.scale_N.tolist()) == {1, 2}


@pytest.mark.parametrize("side", [30, 16])
def test_plain_canvases_can_be_enlarged_too(side: int) -> None:
    shapes = np.array([[5, 4, 2, 6]])
    draw = stream_of(shapes, side, 3).draw(np.zeros(4000, int), np.arange(4000))
    assert set(draw.scale_N.tolist()) == set(range(1, 1 + min(3, (side - 1) // 6)))
    at_origin = (draw.top_N == 0) & (draw.left_N == 0)
    assert at_origin.mean() > 0.19  # as evaluation sees it
    assert (draw.top_N + 5 * draw.scale_N < side).all()
    assert (draw.left_N + 6 * draw.scale_N < side).all()
    plain = stream_of(shapes, side, 1).draw(np.zeros(4000, int), np.arange(4000))
    alone = draw.scale_N == 1
    assert np.array_equal(plain.top_N[alone], draw.top_N[alone])  # the other draws are unchanged
    assert (plain.scale_N == 1).all()


def toy_task(folder: Path) -> Task:
    config = DataConfig(train=(), evaluate=(str(write_toy_tasks(folder, 1)),), auxiliary=())
    return load_tasks(config).evaluate[0]


def test_the_51_views(tmp_path: Path) -> None:
    task = toy_task(tmp_path)
    codes = pseudo_tasks(task, 1000, seed=0)
    assert len(codes) == len(set(codes.tolist())) == 51
    views = [View.from_code(int(code)) for code in codes]
    own = tuple(range(10))
    assert views[0] == View()
    assert [(view.dihedral, view.colors) for view in views[1:6]] == [(symmetry, own) for symmetry in range(1, 6)]
    for symmetry in range(1, 6):
        colorings = {view.colors for view in views[1:] if view.dihedral == symmetry}
        assert len(colorings) == 10
        assert own in colorings
    assert pseudo_tasks(task, 8, seed=0).tolist() == codes[:8].tolist()
    assert pseudo_tasks(task, 51, seed=1).tolist() != codes.tolist()
    assert pseudo_tasks(replace(task, id="other"), 51, seed=0).tolist() != codes.tolist()
    kept = pseudo_tasks(task, 51, seed=0, fixed=(3, 5))
    assert all(View.from_code(int(code)).colors[3] == 3 for code in kept)
    # Two colours that may change places leave two colourings for each symmetry.
    assert len(pseudo_tasks(task, 51, seed=0, fixed=(1, 2, 3, 4, 5, 6, 7))) == 1 + 5 * 2


def test_trained_tasks_have_one_view_and_evaluated_ones_51(tmp_path: Path) -> None:
    learned, asked = write_toy_tasks(tmp_path / "learned", 2), write_toy_tasks(tmp_path / "asked", 1, seed=1)
    for number in range(2):
        (learned / f"toy{number}.json").rename(learned / f"old{number}.json")
    config = DataConfig(
        train=(str(learned),),
        evaluate=(str(asked),),
        auxiliary=(),
        augment="pseudo-tasks",
        evaluate_repeats=0,
        canvas="large",
        scales=0,
    )
    data = load_dataset(config)
    assert [len(data.instances.rows(name)) for name in ("old0", "old1", "toy0")] == [1, 1, 51]
    assert data.question_sides == (LARGE_SIDE,)
    assert data.question_bounds == (3,)
    trained = {int(row) for block in data.mixtures[LARGE_SIDE].blocks for row in block.rows}
    assert trained == {1, 2}  # nothing of the task under evaluation
    assert len(data.mixtures[LARGE_SIDE]) == 2 * 4
    with pytest.raises(CharmError, match="scales must be >= 0, got -1"):
        replace(config, scales=-1)
