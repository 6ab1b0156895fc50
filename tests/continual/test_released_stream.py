"""The stream from the released base: its tasks, and the settings of its trials. docs/adapt.md's command runs it."""

from pathlib import Path

from benchmarks.continual_released import LONGEST, SIZES, TRIALS, Trial, write_stream
from charm.continual.streams import load_stream
from charm.models.model import CharmModel
from charm.paths import released_model
from charm.solving.options import WriterRecipe


def test_the_tasks_of_the_stream_are_small_and_unknown_to_the_base(tmp_path: Path) -> None:
    known = CharmModel.from_pretrained(released_model()).instances
    path = write_stream("arc1/evaluation", SIZES["gpu"], tmp_path / "stream.json")
    orders = [load_stream(str(path), seed, known) for seed in range(2)]
    assert len(orders[0].tasks) == 24
    assert not orders[0].skipped
    sides = [max(g.shape) for task in orders[0].tasks for pair in task.blind().pairs for g in pair.grids()]
    assert max(sides) <= LONGEST
    assert sorted(orders[0].ids) == sorted(orders[1].ids)
    assert orders[0].ids != orders[1].ids


def test_a_trials_rate_is_that_of_what_moves() -> None:
    assert len({trial.name for trial in TRIALS}) == len(TRIALS)
    own, stream = WriterRecipe(), Path("stream.json")
    frozen = Trial("memory-only", 3.0, order=2).options(SIZES["gpu"], stream)
    assert (frozen.scope, frozen.recipe.task_lr, frozen.recipe.seed) == ("rows", 3 * own.task_lr, 2)
    free = Trial("naive", 0.1).options(SIZES["gpu"], stream)
    assert (free.scope, free.recipe.task_lr, free.recipe.shared_lr) == ("full", own.task_lr, 0.1 * own.lr)
