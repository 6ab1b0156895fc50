import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from charm.accounting import account
from charm.arc.presets import preset
from charm.arc.run import train
from charm.cli import main
from charm.devices import Place
from charm.models.model import CharmModel
from charm.paper.runs import VARIANTS
from charm.paths import data_dir
from charm.tasks.audit import audit
from charm.tasks.dataset import TaskSet, assemble, load_tasks
from charm.tasks.keys import ArcKey
from charm.tasks.sources import Source, load_source
from charm.tasks.task import Pair
from tests.toy import toy_config, write_toy_tasks
from tests.toy.pairs import write_pairs


def test_arc2_means_the_same_whatever_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHARM_DATA", str(tmp_path))
    without = preset("arc2")
    write_pairs(tmp_path / "rearc2", {"a": [Pair(np.ones((2, 2), np.uint8), np.zeros((2, 2), np.uint8))]})
    assert preset("arc2") == without
    assert (without.data.synthetic, without.data.synthetic_views) == (("rearc", "rearc2"), "own")
    rearc = VARIANTS["arc2.cose-rearc"].full()
    assert (rearc.data.synthetic, rearc.data.synthetic_views) == (("rearc",), "shared")
    assert replace(without, data=rearc.data) == rearc


def test_missing_data_are_named_with_the_command_that_builds_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = tmp_path / "some data"
    flags = ["--data.data", str(where), "--device", "cpu", "--out", str(tmp_path / "run")]
    there = f"--data '{where}'`"
    rearc, rearc2, concepts = "`charm data rearc", "`charm rearc2 build", "`charm data fetch concept-arc"
    pair = Pair(np.ones((2, 2), np.uint8), np.zeros((2, 2), np.uint8))
    for built, remedy in (
        ("", f"; run {rearc} {there}, {rearc2} {there}, {concepts} {there}"),
        ("rearc", f"; run {rearc2} {there}, {concepts} {there}"),
        ("concept-arc", f"; run {rearc2} {there} to build them"),
    ):
        if built == "rearc":
            write_pairs(where / built, {"00576224": [pair]})
        elif built:
            (where / built).mkdir()
        with pytest.raises(SystemExit) as stopped:
            main(["train", "arc2", "--data.partial", *flags])
        assert stopped.value.code not in (None, 0)
        assert remedy in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_training_on_partial_data_is_printed_and_recorded(tmp_path: Path) -> None:
    config = toy_config(write_toy_tasks(tmp_path / "asked", 1), steps=2)
    learned = write_toy_tasks(tmp_path / "learned", 2)
    (learned / "toy0.json").rename(learned / "toy9.json")
    (learned / "toy1.json").unlink()
    write_pairs(tmp_path / "rearc", {"toy9": [Pair(np.ones((2, 2), np.uint8), np.zeros((2, 2), np.uint8))]})
    data = replace(config.data, train=(str(learned),), synthetic=("rearc",), partial=True, data=tmp_path)
    said: list[str] = []
    train(replace(config, data=data), tmp_path / "run", Place(torch.device("cpu")), say=said.append)
    lacking = "rearc: has pairs for 1 of 400 tasks"
    assert f"training on part of the data: {lacking}" in said
    assert json.loads((tmp_path / "run" / "data.json").read_text())["partial"] == [lacking]


# The paper's tables of backbones as (L, U, R, layers with gradients, step), copied from its rows.
SCALING = """
12 2 6 6 67588, 12 3 4 6 67588, 12 4 3 6 67588, 12 6 2 6 67588,
24 2 12 12 33794, 24 3 8 12 33794, 24 4 6 12 33794, 24 6 4 12 33794, 24 8 3 12 33794, 24 12 2 12 33794,
48 2 24 24 16897, 48 4 12 24 16897, 48 6 8 24 16897, 48 8 6 24 16897, 48 12 4 24 16897, 48 24 2 24 16897
"""
HORIZON = """
24 2 12 6 67588, 24 2 12 12 67588, 24 2 12 18 67588, 24 2 12 24 67588,
24 3 8 3 67588, 24 3 8 6 67588, 24 3 8 12 67588, 24 3 8 18 67588, 24 3 8 24 67588,
24 4 6 4 67588, 24 4 6 8 67588, 24 4 6 12 67588,
24 6 4 6 50691, 24 6 4 12 50691, 24 6 4 18 50691, 24 6 4 24 50691,
24 12 2 12 33794, 24 12 2 16 33794, 24 12 2 20 33794, 24 12 2 24 33794
"""


@pytest.mark.parametrize(
    ("rows", "start", "name"),
    [(SCALING, "L", "sweep.L{0}-U{1}"), (HORIZON, "U", "sweep.U{1}-H{3}")],
    ids=["tab:scaling", "tab:scaling-tbptt"],
)
def test_the_sweeps_are_the_papers(rows: str, start: str, name: str) -> None:
    table = [tuple(map(int, row.split())) for row in rows.replace("\n", " ").split(",")]
    assert {name.format(*row) for row in table} == {one for one in VARIANTS if one.startswith(f"sweep.{start}")}
    for row in table:
        config = VARIANTS[name.format(*row)].full()
        shape = config.reasoner
        depth = shape.layers * shape.recurrences
        assert (depth, shape.layers, shape.recurrences, shape.learning_layers, config.steps) == row
        evaluated = [16897 * n for n in range(1, row[-1] // 16897 + 1)]  # so that families share their steps
        assert [step for step in range(config.steps + 1) if config.evaluates_at(step)] == evaluated
        assert config.logs_at(row[-1] - 50)  # each update around a reported step has its own line
        assert config.logs_at(row[-1] - 51)


# The seven bases of continual learning with the millions that the paper updates for a task of the training stream: all
# weights (tab:cose-cl-core), and of one base the composition alone (tab:cose-cl-baselines).
BASES = {
    "bases.cose-r0-t32": 14.733,
    "bases.cose-r0": 14.717,
    "bases.cose-r32-t32": 14.781,
    "bases.cose-r32": 14.765,
    "bases.cose-r512": 15.217,
    "bases.table-r32": 13.710,
    "bases.table-r512": 14.163,
}


def test_the_bases_of_continual_learning_are_the_papers() -> None:
    assert {name for name in VARIANTS if name.startswith("bases.")} == BASES.keys()
    arc1 = preset("arc1")
    for name, millions in BASES.items():
        config = VARIANTS[name].full()
        assert replace(config, memory=arc1.memory) == arc1
        # Built with one task of 976.42 rows on average: 227,506 rows of 233 tasks.
        found = account(config.model, 233, 227_506)
        private = (found.puzzles + found.table) / 233
        assert round((found.reasoner + found.shared + private) / 1e6, 3) == millions, name
        if name == "bases.cose-r32":
            assert round((found.shared + private) / 1e6, 3) == 1.102


def test_baselines_have_the_optimizer_of_their_own_code() -> None:
    """HRM's, TRM's and URM's: Adam-atan2 at 1e-4, betas 0.9 and 0.95, decay 0.1, 2,000 updates of warm-up."""
    for name, ema in (("hrm-arc1", 0.0), ("trm-arc1", 0.999), ("urm-arc1", 0.999)):
        found = preset(name).optimizer
        assert (found.dense, found.lr, found.betas, found.weight_decay) == (
            "adam-atan2",
            1e-4,
            (0.9, 0.95),
            0.1,
        )
        assert (found.row_lr, found.row_weight_decay, found.warmup, found.ema) == (1e-2, 0.1, 2000, ema)

    assert preset("urm-arc2").optimizer == replace(preset("urm-arc1").optimizer, dense="urm-muon")
    for name in ("hrm", "trm"):
        assert preset(f"{name}-arc2").optimizer == preset(f"{name}-arc1").optimizer


CONCEPT_PAIRS = 427 + 480  # of ConceptARC's 160 tasks


@pytest.mark.parametrize(("number", "each"), [(1, (0.43, 0.34, 0.23)), (2, (0.77, 0.06, 0.16))])
def test_hrm_trm_and_urm_take_every_task_once_an_epoch(number: int, each: tuple[float, ...]) -> None:
    """The shares of training, evaluation and ConceptARC, and the updates of 100,000 or 200,000 epochs."""
    train, evaluate = (load_source(f"arc{number}/{name}").tasks for name in ("training", "evaluation"))
    pairs = (
        sum(len(task.pairs) for task in train),
        sum(len(task.train) for task in evaluate),
        CONCEPT_PAIRS,
    )
    assert [round(count / sum(pairs), 2) for count in pairs] == list(each)
    for name, epochs in (("hrm", 100_000), ("trm", 100_000), ("urm", 200_000)):
        config = preset(f"{name}-arc{number}")
        assert config.steps == round(epochs * sum(pairs) / config.batch, -3)
        assert config.data == preset(f"hrm-arc{number}").data
    # ConceptARC itself may not be there to be counted.
    assert (config.data.auxiliary, config.data.auxiliary_repeats) == (("concept-arc",), 1)
    assert config.data.balanced  # so that tasks with few views are not rarer
    data = assemble(TaskSet(train, evaluate), replace(config.data, views=1))
    assert [len(block) for block in data.blocks] == [
        *(len(task.pairs) for task in train),
        *(len(task.train) for task in evaluate),
    ]


def test_varc_is_not_trained_on_the_pairs_that_choose_its_checkpoint() -> None:
    config = preset("varc-arc1").data
    tasks = load_tasks(config)
    assert (len(tasks.train), len(tasks.evaluate), len(tasks.auxiliary)) == (0, 400, 0)
    data = assemble(tasks, config)
    assert (len(data.bank), len(data.questions), len(data.instances)) == (1302, 416, 401)


def test_varc_and_loopvit_have_their_published_settings() -> None:
    """VARC's offline stage: the demonstrations of training tasks and Re-ARC, 100 epochs of batch 256, ten of them
    warm-up."""
    config = preset("varc-arc1")
    data, vit, optimizer = config.data, config.reasoner, config.optimizer
    assert (data.train, data.synthetic, data.auxiliary) == (("arc1/training",), ("rearc",), ())
    assert (data.evaluate, data.evaluate_repeats) == (("arc1/training",), 1)
    assert (data.canvas, data.scales, data.augment, data.views) == ("large", 0, "pseudo-tasks", 1)
    assert (vit.layers, vit.width, vit.heads, vit.inner_width, vit.dropout) == (10, 512, 8, 512, 0.1)
    assert vit.placements * 51 == 510
    assert config.evaluate_loops == tuple(range(1, 11))
    pairs = sum(len(task.train) for task in load_source("arc1/training").tasks) + 400 * 1000
    assert round(100 * pairs / config.batch, -3) == config.steps
    assert optimizer.warmup == config.steps / 10
    assert (optimizer.dense, optimizer.rows) == ("adamw", "dense-adamw")
    assert (optimizer.lr, optimizer.row_lr) == (3e-4, 3e-4)
    assert (optimizer.weight_decay, optimizer.row_weight_decay, optimizer.clip, optimizer.ema) == (0, 0, 1, 0)
    assert (optimizer.decay, optimizer.cooldown) == ("cosine", 0.9)
    for name in ("loopvit-arc1", "loopvit-medium-arc1", "loopvit-small-arc1"):
        loops = preset(name)
        shape = loops.reasoner
        assert (shape.layers, shape.recurrences) == (6, 6)
        assert replace(loops, reasoner=vit, memory=config.memory) == config


def test_the_base_learns_nothing_that_it_is_measured_on() -> None:
    """No pair of its sources is, up to symmetry and recolouring, in an evaluation set.

    ConceptARC (if the data folder has it) has one such task: two demonstrations of ExtendToBoundary5 are those of
    ea786f4a once colour 0 is recoloured, too.
    """
    data = preset("base").data
    assert data.evaluate == ()
    tasks = load_tasks(replace(data, synthetic=()))
    learned = [*tasks.train, *tasks.auxiliary]
    assert len(learned) == 400 + 233 - 2
    measured = [load_source("arc1/evaluation"), load_source("arc2/evaluation")]
    if (data_dir() / "concept-arc").is_dir():
        measured.append(load_source("concept-arc"))
    mixture = Source("the mixture", "", tuple(learned))
    report = audit([mixture, *measured])
    found = [match for match in report.matches if "the mixture" in match.sources]
    shared = [match.ids for match in found if len(set(match.sources)) == 2]
    assert shared == [("ea786f4a", "ExtendToBoundary5")] * (len(measured) == 3)
    # The two that are left out do share pairs, and generated pairs belong to trained tasks alone.
    left_out = [task for task in load_source("arc1/training").tasks if task.id in data.without]
    found = audit([Source("left out", "", tuple(left_out)), measured[0]]).matches
    assert {match.ids[0] for match in found} == set(data.without)


def test_a_base_is_small() -> None:
    config = preset("base")
    data = assemble(load_tasks(config.data), replace(config.data, views=1))
    model = CharmModel(config.reasoner, config.memory, ArcKey(data.instances))
    assert sum(parameter.numel() for parameter in model.parameters()) == 6_593_792
