import json
from dataclasses import replace
from inspect import signature
from pathlib import Path

import numpy as np
import pytest
import torch

from charm.commands import data as data_commands
from charm.errors import CharmError
from charm.tasks.augment import draw_views
from charm.tasks.batch import view_tokens
from charm.tasks.dataset import DataConfig, Dataset, TaskSet, answer_key, assemble, load_dataset, load_tasks
from charm.tasks.pairs_file import (
    WHOLE_PAIRS,
    WHOLE_TASKS,
    Manifest,
    read_manifest,
    write_manifest,
)
from charm.tasks.sources import load_source
from charm.tasks.task import Pair, Task
from charm.tasks.view import decode
from rearc2.workbench import commands as rearc2_commands
from rearc2.workbench.packages import package_ids
from rearc2.workbench.records import state
from tests.toy import batch
from tests.toy.pairs import key_at, write_pairs


def write_tasks(folder: Path, names: list[str], seed: int, longest: int = 9) -> Path:
    """A folder of random tasks, two demonstrations and one test each."""
    rng = np.random.default_rng(seed)

    def grid() -> list[list[int]]:
        return rng.integers(0, 10, rng.integers(2, longest + 1, 2)).tolist()

    folder.mkdir(parents=True)
    for name in names:
        task = {
            "train": [{"input": grid(), "output": grid()} for _ in range(2)],
            "test": [{"input": grid(), "output": grid()}],
        }
        (folder / f"{name}.json").write_text(json.dumps(task))
    return folder


@pytest.fixture
def config(tmp_path: Path) -> DataConfig:
    return DataConfig(
        train=(str(write_tasks(tmp_path / "train", ["a", "b"], 0)),),
        evaluate=(str(write_tasks(tmp_path / "evaluate", ["c", "d"], 1)),),
        auxiliary=(str(write_tasks(tmp_path / "auxiliary", ["e"], 2)),),
        views=20,
        data=tmp_path / "data",
    )


def content(data: Dataset) -> tuple[bytes, ...]:
    """Every byte that training can reach."""
    tensors = (data.bank.cells, data.bank.start, data.bank.shape, *vars(data.keys()).values())
    mixtures = [m.locate(np.arange(len(m))) for m in data.mixtures.values()]
    return (
        *(tensor.numpy().tobytes() for tensor in tensors),
        *(column.tobytes() for mixture in mixtures for column in mixture),
    )


def test_index_follows_the_papers_mixture(config: DataConfig) -> None:
    """Training tasks whole, evaluation demonstrations twice, auxiliary tasks whole and twice."""
    data = load_dataset(config)
    (mixture,) = data.mixtures.values()
    assert len(mixture) == 20 * (2 * 3 + 2 * 2 * 2 + 3 * 2)
    assert len(data.instances) == 1 + 5 * 20
    assert [(q.task_id, q.test_index) for q in data.questions] == [("c", 0), ("d", 0)]
    assert len(data.question_bank) == 2


def test_held_out_outputs_cannot_be_reached(config: DataConfig) -> None:
    """Replacing every held-out output changes nothing that training sees: pairs, views, rows, order, questions."""
    before = load_dataset(config)
    folder = Path(config.evaluate[0])
    truth = answer_key(config)
    for path in folder.glob("*.json"):
        task = json.loads(path.read_text())
        task["test"][0]["output"] = [[7] * 30] * 30
        path.write_text(json.dumps(task))
    after = load_dataset(config)
    assert content(after) == content(before)
    assert after.instances == before.instances
    assert torch.equal(after.question_bank.cells, before.question_bank.cells)
    assert after.question_bank.shape[:, 2:].eq(0).all()
    changed = answer_key(config)
    assert all(not np.array_equal(changed[question], truth[question]) for question in truth)
    cells = before.bank.cells.numpy().tobytes()
    for grid in truth.values():
        assert grid is not None
        assert grid.tobytes() not in cells


def test_tasks_are_blinded_as_they_are_loaded_and_again_as_they_are_assembled(config: DataConfig) -> None:
    """A task made in memory may contain its answer: here it would distinguish eight views of each recolouring."""
    assert all(pair.output is None for task in load_tasks(config).evaluate for pair in task.test)
    square, uneven = np.ones((3, 3), np.uint8), np.array([[1, 1, 0], [0, 0, 0]], np.uint8)
    task = Task("t", (Pair(square, square),), (Pair(square, uneven),))
    data = assemble(TaskSet(evaluate=(task,)), replace(config, views=1000))
    assert len(data.instances) == 1 + 9
    assert data.question_bank.pair(0).output is None
    assert len(assemble(TaskSet(train=(task,)), replace(config, views=1000)).instances) == 1 + 9 * 8


def test_a_pair_without_an_output_is_not_trained_on(config: DataConfig) -> None:
    """A task to be solved, in a folder to train on, has test inputs alone."""
    (task, *_) = load_source(config.train[0]).tasks
    data = assemble(TaskSet(train=(task.blind(),)), config)
    assert data.manifest["pairs"] == len(task.train) < len(task.pairs)
    whole = assemble(TaskSet(train=(task,)), config)
    assert whole.manifest["pairs"] == len(task.pairs)


def test_training_split_protocol_keeps_test_pairs_for_the_questions(config: DataConfig) -> None:
    split = replace(config, train=(), evaluate=config.train, auxiliary=(), evaluate_repeats=1)
    data = load_dataset(split)
    assert len(data.bank) == 4  # two demonstrations of each of two tasks
    assert len(data.questions) == 2


def test_order_of_sources_does_not_change_the_views(config: DataConfig) -> None:
    one = load_dataset(config).instances
    other = load_dataset(replace(config, train=config.auxiliary, auxiliary=config.train)).instances
    for puzzle in "abcde":
        assert np.array_equal(one.codes(puzzle), other.codes(puzzle))


def test_rows_stay_when_tasks_join(config: DataConfig, tmp_path: Path) -> None:
    base = load_dataset(replace(config, auxiliary=())).instances
    before = [key_at(base, row) for row in range(1, len(base))]
    more = (str(write_tasks(tmp_path / "more", ["z"], 9)),)
    grown = load_dataset(replace(config, train=more, auxiliary=()), base).instances
    assert [key_at(grown, row) for row in range(1, len(before) + 1)] == before
    assert "z" in grown.puzzles


def test_fit_canvases_share_out_the_same_index(config: DataConfig, tmp_path: Path) -> None:
    wide = (str(write_tasks(tmp_path / "wide", ["w"], 5, longest=25)),)
    full = replace(config, train=(*config.train, *wide))
    fit = load_dataset(replace(full, canvas="fit"))
    total = sum(len(mixture) for mixture in load_dataset(full).mixtures.values())
    assert sum(len(mixture) for mixture in fit.mixtures.values()) == total
    for side, mixture in fit.mixtures.items():
        pairs = np.concatenate([block.pairs for block in mixture.blocks])
        longest = fit.bank.shape.numpy()[pairs].max()
        assert longest < side or longest == side == 30


def test_a_question_decides_the_canvas_of_its_puzzle(config: DataConfig) -> None:
    """A puzzle under evaluation has one canvas for all its demonstrations and test inputs."""
    folder = Path(config.evaluate[0])
    task = json.loads((folder / "c.json").read_text())
    task["test"][0]["input"] = [[1] * 14] * 2
    (folder / "c.json").write_text(json.dumps(task))
    data = load_dataset(replace(config, canvas="fit"))
    assert data.question_sides == (16, 11)
    rows = set(data.instances.rows("c").tolist())
    for side, mixture in data.mixtures.items():
        here = {row for block in mixture.blocks for row in block.rows.tolist()}
        assert bool(rows & here) == (side == 16)


def test_synthetic_pairs_join_their_puzzle(config: DataConfig) -> None:
    rng = np.random.default_rng(0)
    pairs = [Pair(*(rng.integers(0, 10, (3, k + 2)).astype(np.uint8) for _ in range(2))) for k in range(3)]
    assert config.data is not None
    write_pairs(config.data / "rearc", {"a": pairs, "other": pairs})
    shared = load_dataset(replace(config, synthetic=("rearc",), partial=True, synthetic_view_count=5))
    plain = load_dataset(config)
    assert len(shared.instances) == len(plain.instances)
    assert sum(map(len, shared.mixtures.values())) == sum(map(len, plain.mixtures.values())) + 3 * 5
    own = load_dataset(
        replace(config, synthetic=("rearc",), partial=True, synthetic_view_count=5, synthetic_views="own")
    )
    assert len(own.instances) == len(plain.instances) + 4  # the original view keeps its row


def test_a_source_that_is_trained_on_and_evaluated_holds_its_test_pairs_out(config: DataConfig) -> None:
    """It keeps its generated pairs, which a source that is only evaluated never has."""
    pairs = [Pair(np.full((3, 3), color, np.uint8), np.zeros((2, 2), np.uint8)) for color in range(1, 4)]
    assert config.data is not None
    write_pairs(config.data / "rearc", {"a": pairs, "c": pairs})
    generated = replace(config, synthetic=("rearc",), partial=True)
    both = load_dataset(replace(generated, evaluate=(*config.train, *config.evaluate)))
    asked = load_dataset(replace(config, train=(), evaluate=(*config.train, *config.evaluate)))
    assert both.questions == asked.questions
    assert {question.task_id for question in both.questions} == {"a", "b", "c", "d"}
    assert len(both.bank) == len(asked.bank) + 3  # of task a, not of c
    assert both.manifest["synthetic_pairs"] == 3
    whole = load_dataset(generated)
    assert len(whole.bank) - len(both.bank) == 2  # the test pairs of a and b


def test_a_synthetic_pair_with_a_questions_input_is_not_trained_on(config: DataConfig) -> None:
    question = load_dataset(config).question_bank.pair(0).input
    fresh = np.ones((2, 2), np.uint8)
    assert config.data is not None
    write_pairs(config.data / "rearc", {"a": [Pair(question, fresh), Pair(fresh, question)]})
    data = load_dataset(replace(config, synthetic=("rearc",), partial=True))
    (mixture,) = data.mixtures.values()
    trained = np.unique(mixture.locate(np.arange(len(mixture)))[0])
    assert not any(np.array_equal(data.bank.pair(int(k)).input, question) for k in trained)


def test_all_missing_sets_are_named_at_once(config: DataConfig) -> None:
    wanted = replace(config, synthetic=("rearc", "rearc2"), auxiliary=("concept-arc",))
    with pytest.raises(CharmError) as refused:
        load_dataset(wanted)
    there = f"--data {config.data}"
    assert str(refused.value) == (
        f"rearc, rearc2, concept-arc are not in {config.data}; "
        f"run `charm data rearc {there}`, `charm rearc2 build {there}`, `charm data fetch concept-arc {there}`"
    )


def test_incomplete_synthetic_sets_are_refused_unless_wanted(config: DataConfig) -> None:
    assert config.data is not None
    folder = config.data / "rearc"
    pair = Pair(np.ones((2, 2), np.uint8), np.zeros((2, 2), np.uint8))
    write_pairs(folder, {"a": [pair]})
    manifest = read_manifest(folder)
    record = manifest.tasks["a"]
    others = {f"other{number}": record for number in range(WHOLE_TASKS["rearc"] - 1)}
    plan = replace(manifest.plan, pairs=WHOLE_PAIRS)
    command = f"`charm data rearc --data {config.data}`"

    def lacking(found: Manifest) -> str:
        """What is refused, and reported if partial data is allowed."""
        write_manifest(folder, found)
        with pytest.raises(CharmError) as refused:
            load_dataset(replace(config, synthetic=("rearc",)))
        (message,) = load_dataset(replace(config, synthetic=("rearc",), partial=True)).manifest["partial"]
        assert str(refused.value).startswith(f"{config.data}/{message}; ")
        assert str(refused.value).endswith(", or pass --data.partial to train on what is there")
        return str(refused.value)

    assert f"1 of 400 tasks; run {command} to build the rest" in lacking(replace(manifest, plan=plan))
    whole = Manifest(plan, [], {"a": record, **others})
    unfinished = Manifest(plan, ["other0"], {"a": record, **others})
    assert f"1 tasks are not built yet; run {command} to finish them" in lacking(unfinished)
    few = replace(whole, plan=replace(plan, pairs=10))
    assert f"has 10 pairs per task, expected 1,000; run {command} to add them" in lacking(few)
    write_manifest(folder, whole)
    assert load_dataset(replace(config, synthetic=("rearc",))).manifest["partial"] == []


def test_whole_sets_are_what_the_commands_build_by_default() -> None:
    for command in (data_commands.rearc, rearc2_commands.build):
        assert signature(command).parameters["pairs"].default == WHOLE_PAIRS
    assert WHOLE_TASKS["rearc"] == len(load_source("arc1/training").tasks)  # Re-ARC covers each of them
    assert WHOLE_TASKS["rearc2"] == sum(state(task) == "accepted" for task in package_ids())


def test_batches_are_the_same_in_every_process(config: DataConfig) -> None:
    """Two assemblies, as two processes would make them, give byte-identical batches."""
    batches = []
    for data in (load_dataset(config), load_dataset(config)):
        draw = batch(data.stream(30, 16), 5)
        chosen = (torch.from_numpy(c).long() for c in (draw.pair_N, draw.row_N, draw.top_N, draw.left_N))
        batches.append(view_tokens(data.bank, data.keys(), *chosen, 30))
    for one, other in zip(*batches, strict=True):
        assert one is not None
        assert torch.equal(one, other)


def test_bad_requests(config: DataConfig) -> None:
    with pytest.raises(CharmError, match="task id a appears twice"):
        load_dataset(replace(config, auxiliary=config.train))
    with pytest.raises(CharmError, match="task missing is not in the chosen sources"):
        load_dataset(replace(config, tasks=("a", "missing")))
    with pytest.raises(CharmError, match=r"data\.train, data\.evaluate and data\.auxiliary are all empty"):
        load_dataset(replace(config, train=(), evaluate=(), auxiliary=()))
    for partial in (False, True):
        with pytest.raises(CharmError, match=r"run `charm data rearc --data .*` to build them"):
            load_dataset(replace(config, synthetic=("rearc",), partial=partial))
    with pytest.raises(CharmError, match="views must be >= 1"):
        replace(config, views=0)


def entries(data: Dataset) -> dict[str, list[tuple[int, int]]]:
    """Every (pair, row) of the index, by the puzzle whose row it is."""
    found: dict[str, list[tuple[int, int]]] = {puzzle: [] for puzzle in data.instances.puzzles}
    owner = data.instances.table()[0]
    for mixture in data.mixtures.values():
        for pair, row in zip(*mixture.locate(np.arange(len(mixture))), strict=True):
            found[data.instances.puzzles[owner[row]]].append((int(pair), int(row)))
    return found


def test_each_role_has_its_own_number_of_repeats(config: DataConfig) -> None:
    """Three pairs of a trained task once, two demonstrations of an evaluated one and three auxiliary pairs often."""
    found = entries(load_dataset(replace(config, evaluate_repeats=3, auxiliary_repeats=5)))
    views = config.views
    assert {puzzle: len(here) for puzzle, here in found.items()} == {
        **{"a": 3 * views, "b": 3 * views},
        **{"c": 2 * 3 * views, "d": 2 * 3 * views},
        "e": 3 * 5 * views,
    }
    assert [len(set(found[puzzle])) for puzzle in "ace"] == [3 * views, 2 * views, 3 * views]


def test_questions_are_asked_under_the_first_views_of_their_puzzle(config: DataConfig) -> None:
    """A model may hold rows of more views than this dataset is about."""
    more = load_dataset(config).instances
    data = load_dataset(replace(config, views=6), more)
    question = data.questions[1]
    assert len(more.rows("d")) == 20
    assert data.question_rows(question).tolist() == more.rows("d")[:6].tolist()
    assert data.question_rows(question, 4).tolist() == more.rows("d")[:4].tolist()
    assert data.question_rows(question, 50).tolist() == more.rows("d")[:6].tolist()


def grids(*shapes: tuple[int, int], seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.integers(0, 10, shape).astype(np.uint8) for shape in shapes]


def test_a_synthetic_pair_has_a_canvas_for_its_longer_grid(config: DataConfig) -> None:
    """Input or output, height or width: each of the four decides once."""
    shapes = [((3, 3), (14, 2)), ((3, 3), (2, 19)), ((12, 3), (3, 3)), ((2, 25), (3, 3)), ((3, 3), (3, 3))]
    pairs = [Pair(*grids(*both, seed=number)) for number, both in enumerate(shapes)]
    assert config.data is not None
    write_pairs(config.data / "rearc", {"a": pairs})
    fit = replace(config, canvas="fit", synthetic=("rearc",), partial=True)
    plain, data = load_dataset(replace(fit, synthetic=())), load_dataset(fit)
    where: dict[int, set[int]] = {}
    for side, mixture in data.mixtures.items():
        data.stream(side, 4)  # refuses what does not fit
        numbers = mixture.locate(np.arange(len(mixture)))[0]
        for number in set(numbers.tolist()) - set(range(len(plain.bank))):
            where.setdefault(number - len(plain.bank), set()).add(side)
    assert where == {0: {16}, 1: {21}, 2: {16}, 3: {30}, 4: {11}}


def test_synthetic_pairs_stand_under_rows_of_their_own_puzzle(config: DataConfig) -> None:
    """All pairs, and no other's, under the puzzle's first views, or under views drawn for them with the seed."""
    made = {name: [Pair(*grids((3, 4), (2, 5), seed=10 * k + ord(name))) for k in range(9)] for name in "ab"}
    assert config.data is not None
    write_pairs(config.data / "rearc", made)
    for seed, style in ((0, "shared"), (0, "own"), (7, "own")):
        asked = replace(
            config,
            seed=seed,
            synthetic=("rearc",),
            partial=True,
            synthetic_view_count=5,
            synthetic_views=style,
        )  # type: ignore[arg-type]
        data = load_dataset(asked)
        first = len(load_dataset(replace(asked, synthetic=())).bank)
        found = entries(data)
        for name, pairs in made.items():
            generated = {(pair, row) for pair, row in found[name] if pair >= first}
            codes = draw_views(Task(name, tuple(pairs[:8]), ()), 5, seed + 1)  # eight pairs distinguish views
            rows = data.instances.rows(name)[:5] if style == "shared" else data.instances.add(name, codes)
            assert {row for _, row in generated} == set(rows.tolist())
            assert [data.bank.pair(pair) for pair in sorted({pair for pair, _ in generated})] == pairs
            assert len(generated) == 9 * 5


def test_a_questions_cells_in_another_shape_may_be_trained_on(config: DataConfig) -> None:
    folder = Path(config.evaluate[0])
    task = json.loads((folder / "c.json").read_text())
    task["test"][0]["input"] = [[1, 2, 3, 4]]
    (folder / "c.json").write_text(json.dumps(task))
    square, line = np.array([[1, 2], [3, 4]], np.uint8), np.array([[1, 2, 3, 4]], np.uint8)
    assert config.data is not None
    write_pairs(config.data / "rearc", {"a": [Pair(square, line), Pair(line, square)]})
    data = load_dataset(replace(config, synthetic=("rearc",), partial=True))
    trained = {pair for here in entries(data).values() for pair, _ in here}
    assert sum(data.bank.pair(pair) == Pair(square, line) for pair in trained) == 1
    assert sum(data.bank.pair(pair) == Pair(line, square) for pair in trained) == 0


def test_a_pool_bounds_the_colours_of_all_views(config: DataConfig) -> None:
    data = load_dataset(replace(config, color_pool=3))
    _, colors = decode(data.instances.table()[1])
    assert len(np.unique(colors, axis=0)) == 3
    assert len(np.unique(decode(load_dataset(config).instances.table()[1])[1], axis=0)) > 50


def test_chosen_tasks_have_their_questions_and_answers_alone(config: DataConfig) -> None:
    chosen = replace(config, tasks=("a", "d"))
    data = load_dataset(chosen)
    assert data.instances.puzzles == ["a", "d"]
    assert [question.task_id for question in data.questions] == ["d"]
    (question,) = answer_key(chosen)
    assert question == data.questions[0]


def test_a_stream_follows_its_seed_or_that_of_the_data(config: DataConfig) -> None:
    data = load_dataset(replace(config, seed=3))
    rows = {seed: batch(data.stream(30, 64, seed), 0).row_N.tolist() for seed in (None, 3, 4)}
    assert rows[None] == rows[3]
    assert rows[3] != rows[4]


def test_balanced_pairs_come_up_equally_often(config: DataConfig) -> None:
    black = {"input": [[0, 0]], "output": [[0, 0, 0]]}  # two distinct views: unchanged, and turned
    Path(config.train[0], "few.json").write_text(json.dumps({"train": [black], "test": [black]}))

    def entries(balanced: bool) -> dict[str, float]:
        """Entries of the index for each pair of a puzzle."""
        data = load_dataset(replace(config, views=40, balanced=balanced))
        names = {number: name for number, name in enumerate(data.instances.puzzles)}
        puzzle = data.instances.table()[0]
        blocks = [block for mixture in data.mixtures.values() for block in mixture.blocks]
        return {names[puzzle[block.rows[0]]]: len(block) / len(block.pairs) for block in blocks}

    assert entries(False)["few"] == 2
    assert entries(True)["few"] == entries(True)["a"] == entries(False)["a"] == 40
    assert entries(True)["c"] == 80  # under evaluation, twice


@pytest.mark.parametrize("views", [2, 16, 100])
def test_half_of_the_examples_have_original_colours(config: DataConfig, views: int) -> None:
    data = load_dataset(replace(config, augment="own-colors", views=views))
    plain = np.arange(10)
    for mixture in data.mixtures.values():
        _, row = mixture.locate(np.arange(len(mixture)))
        own = (data.keys().colors.numpy()[row] == plain).all(axis=1)
        assert own.mean() == pytest.approx(0.5, abs=0.03)
    for question in data.questions:  # both kinds vote from the second view on
        codes = data.instances.codes(question.task_id)
        assert len(codes) == views
        own = (decode(codes)[1] == plain).all(axis=1)
        assert own[: min(views, 16)].tolist() == [True, False] * (min(views, 16) // 2)
        assert own.sum() == min(8, views // 2)
        assert len(set(decode(codes)[0][own].tolist())) == own.sum()
