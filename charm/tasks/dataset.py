"""A dataset: all training pairs and questions of a run, assembled from sources, without any held-out answer.

Answers come from `answer_key`, which training never calls: test outputs of evaluated tasks are removed when the tasks
are loaded, before a view is drawn or a pair is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from charm.config import MOST_VIEWS, at_least, at_most, check_seed
from charm.errors import CharmError
from charm.paths import data_dir
from charm.tasks.augment import Codes, Colors, color_pool, draw_views, own_color_views, pseudo_tasks
from charm.tasks.batch import PairBank
from charm.tasks.canvas import FIT_SIDES, FULL_SIDE, LARGE_SIDE, fitting_side
from charm.tasks.instances import Instances, RowNumbers
from charm.tasks.keyed import Numbers
from charm.tasks.keys import Keys
from charm.tasks.pairs_file import PairBlock, command_for, load_pairs, read_manifest, shortage
from charm.tasks.sampling import IndexBlock, Mixture, Stream
from charm.tasks.sources import CONCEPT_ARC, Source, load_source
from charm.tasks.task import Grid, Pair, Question, Task, check_unique, grid_bytes, grid_hash, questions_of
from charm.tasks.view import PERMUTATIONS


@dataclass(frozen=True)
class DataConfig:
    """What to train on and what to answer. Sources are names (see `charm data stats`) or paths."""

    train: tuple[str, ...] = ("arc1/training",)
    """Sources to train on, demonstrations and test pairs. One that is in `evaluate` too keeps its generated pairs, but
    its test pairs are held out."""
    evaluate: tuple[str, ...] = ("arc1/evaluation",)
    """Sources to evaluate: trained on their demonstrations only; their test inputs are the questions."""
    auxiliary: tuple[str, ...] = ("concept-arc",)
    """More sources to train on, like `train`, with a separate repeat count."""
    synthetic: tuple[Literal["rearc", "rearc2"], ...] = ()
    """Generated pairs for the tasks of `train`; no name after the flag: none."""
    tasks: tuple[str, ...] = ()
    """Use only the tasks with these ids; none given: all tasks."""
    without: tuple[str, ...] = ()
    """Skip the tasks with these ids and their synthetic pairs."""
    views: int = 1000
    """Maximum number of views per puzzle, including the original."""
    synthetic_view_count: int = 100
    """Views per puzzle for its synthetic pairs."""
    synthetic_views: Literal["shared", "own"] = "shared"
    """Whether synthetic pairs use the puzzle's first views, or views drawn for them."""
    partial: bool = False
    """Allow incomplete synthetic sets, which are refused otherwise."""
    augment: Literal["random", "own-colors", "pseudo-tasks"] = "random"
    """Random views; the same, with half of the examples in original colours; or VARC's: the original view for trained
    tasks; for evaluated ones also five symmetries with ten colourings each, 51 views in all."""
    evaluate_repeats: int = 2
    """How often the pairs of evaluated tasks are repeated in the index; 0 leaves them to `charm solve`."""
    auxiliary_repeats: int = 2
    """How often the pairs of auxiliary tasks are repeated in the index."""
    color_pool: int = 0
    """Draw colour permutations from a fixed pool of this size; 0 uses all 9!."""
    balanced: bool = False
    """Sample all pairs of a role equally often, even those with few distinct views."""
    fixed_colors: Literal["black", "output-only"] = "black"
    """Colours that recolouring keeps: only 0, or also those that occur in outputs but in no input of the task, since
    the rule itself names such a colour."""
    canvas: Literal["full", "fit", "large"] = "full"
    """Canvas size: always 30 x 30, the smallest of a few sizes that fits the example, or VARC's 64 x 64."""
    scales: int = 1
    """Enlarge the grids of training examples by a random whole factor, at most this one; 0 is any that fits."""
    seed: int = 0
    """Seed for the views and the order of examples."""
    data: Path | None = None
    """Folder of downloaded and generated data; by default CHARM_DATA or the user's cache folder."""

    def __post_init__(self) -> None:
        at_least(1, self, "views", "synthetic_view_count", "auxiliary_repeats")
        at_least(0, self, "evaluate_repeats", "scales", "color_pool")
        at_most(MOST_VIEWS, self, "views", "synthetic_view_count", "color_pool")
        check_seed(self.seed)

    @property
    def sides(self) -> tuple[int, ...]:
        return {"full": (FULL_SIDE,), "fit": FIT_SIDES, "large": (LARGE_SIDE,)}[self.canvas]


@dataclass
class Dataset:
    """Pairs, rows and the index over them; and the questions, without answers."""

    config: DataConfig
    instances: Instances
    bank: PairBank
    mixtures: dict[int, Mixture]  # canvas side -> training examples of that size
    questions: tuple[Question, ...]
    question_bank: PairBank  # the inputs of the questions, outputs absent
    question_sides: tuple[int, ...]
    question_bounds: tuple[int, ...] = ()  # the longest side of all that a solver may see of each question's task
    manifest: dict[str, Any] = field(default_factory=dict)

    def stream(self, side: int, slots: int, seed: int | None = None) -> Stream:
        seed = self.config.seed if seed is None else seed
        dihedrals = self.keys().dihedral.numpy()
        shapes = self.bank.shape.numpy()
        return Stream(self.mixtures[side], shapes, dihedrals, side, slots, seed, self.config.scales)

    def keys(self) -> Keys:
        return Keys.of(self.instances)

    @cached_property
    def asked(self) -> dict[Question, str]:
        """The questions in their order, each with the hash of its test input."""
        inputs = (self.question_bank.pair(number).input for number in range(len(self.questions)))
        return dict(zip(self.questions, map(grid_hash, inputs), strict=True))

    @property
    def blocks(self) -> list[IndexBlock]:
        """What is trained on, of all canvas sizes."""
        return [block for mixture in self.mixtures.values() for block in mixture.blocks]

    def question_rows(self, question: Question, views: int | None = None) -> RowNumbers:
        """Return the memory rows for a question: the first views of its puzzle."""
        return self.instances.rows(question.task_id)[: self.config.views][:views]


Role = Literal["train", "evaluate", "auxiliary"]
ROLES: tuple[Role, ...] = ("train", "evaluate", "auxiliary")


def task_data(config: DataConfig, views: int) -> DataConfig:
    """Configure the data of tasks in memory, to be learned from their demonstrations, with views drawn as here."""
    return replace(config, train=(), evaluate=(), auxiliary=(), synthetic=(), tasks=(), views=views, evaluate_repeats=1)


@dataclass(frozen=True, eq=False)
class TaskSet:
    """The tasks of a dataset by role, in memory. Test outputs of `evaluate` are never read."""

    train: tuple[Task, ...] = ()
    evaluate: tuple[Task, ...] = ()
    auxiliary: tuple[Task, ...] = ()
    synthetic: tuple[tuple[str, PairBlock], ...] = ()
    """Generated pairs, with the id of the task in `train` they belong to."""
    record: Mapping[str, Any] = field(default_factory=dict)  # sources of the tasks, for the dataset's manifest


def load_dataset(config: DataConfig, instances: Instances | None = None) -> Dataset:
    """Load the tasks that the configuration names and assemble them."""
    return assemble(load_task_set(config), config, instances)


def assemble(tasks: TaskSet, config: DataConfig, instances: Instances | None = None) -> Dataset:
    """Draw the views of the tasks and index every combination; loads nothing. Given instances keep their rows."""
    instances = Instances() if instances is None else instances
    pool = color_pool(config.color_pool, config.seed) if config.color_pool else None
    asked = tuple(task.blind() for task in tasks.evaluate)
    by_role = {"train": tasks.train, "evaluate": asked, "auxiliary": tasks.auxiliary}
    roles = [(role, task) for role in ROLES for task in by_role[role]]
    everything = check_unique((task for _, task in roles), "the chosen sources together")
    blocks: dict[int, list[IndexBlock]] = {side: [] for side in config.sides}
    side_for = np.array([fitting_side(longest, config.sides) for longest in range(FULL_SIDE + 1)])

    def index(task_id: str, rows: RowNumbers, first: int, sides_N: Numbers, repeats: int = 1) -> None:
        """Put pairs, numbered from `first`, into the index of their canvases."""
        for side in np.unique(sides_N[sides_N > 0]).tolist():
            numbers = (first + np.flatnonzero(sides_N == side)).astype(np.int32)
            blocks[side] += _blocks(config, instances, task_id, IndexBlock(numbers, rows, repeats))

    pairs: list[Pair] = []
    times = {"train": 1, "evaluate": config.evaluate_repeats, "auxiliary": config.auxiliary_repeats}
    for role, task in roles:
        rows = instances.add(task.id, _views(config, role, task, pool))
        visible = [pair for pair in task.pairs if pair.output is not None]  # `asked` has no outputs of tests
        repeats = times[role] * (max(1, round(config.views / len(rows))) if config.balanced else 1)
        # Each pair has the canvas it needs; all of a task that is asked have the task's.
        bound = longest_side(task) if role == "evaluate" else 0
        needed = [bound or max(max(grid.shape) for grid in pair.grids()) for pair in visible]
        sides_N = side_for[np.array(needed, np.int64)]
        order = np.argsort(sides_N, kind="stable")
        index(task.id, rows, len(pairs), sides_N[order], repeats)
        pairs += [visible[number] for number in order]
    banks, first = [PairBank.of(pairs)], len(pairs)
    forbidden = {grid_bytes(pair.input) for task in asked for pair in task.test}
    for task_id, made in tasks.synthetic:
        banks.append(PairBank.of_cells(made.cells, made.shapes))
        # A generator may happen to draw a question of this dataset, whose answer must not be trained on.
        allowed = [grid_bytes(made.pair(k)[0]) not in forbidden for k in range(len(made))]
        rows = _synthetic_rows(config, instances, task_id, made)
        index(task_id, rows, first, side_for[made.shapes.max(axis=1)] * allowed)
        first += len(made)

    questions, bounds = questions_of(asked), tuple(longest_side(task) for task in asked for _ in task.test)
    mixtures = {side: Mixture(some) for side, some in blocks.items() if some}
    manifest = {
        "config": {**asdict(config), "data": None},
        **tasks.record,
        "tasks": len(everything),
        "pairs": first,
        "synthetic_pairs": first - len(pairs),
        "rows": len(instances),
        "questions": len(questions),
        "index": {str(side): len(mixture) for side, mixture in mixtures.items()},
    }
    question_bank = PairBank.of(pair for task in asked for pair in task.test)
    question_sides = tuple(fitting_side(bound, config.sides) for bound in bounds)
    bank = PairBank.join(banks)
    return Dataset(config, instances, bank, mixtures, questions, question_bank, question_sides, bounds, manifest)


def _check_made(config: DataConfig) -> list[str]:
    """Refuse missing data, and incomplete synthetic sets unless they are allowed; then return what they lack."""
    fetched = {CONCEPT_ARC} & {*config.train, *config.evaluate, *config.auxiliary}
    folders = [data_dir(config.data) / name for name in (*config.synthetic, *fetched)]
    absent = [folder for folder in folders if not folder.exists()]
    if len(absent) > 1:  # all at once: each may take a while to make
        names = ", ".join(folder.name for folder in absent)
        commands = ", ".join(f"`{command_for(folder)}`" for folder in absent)
        raise CharmError(f"{names} are not in {data_dir(config.data)}; run {commands}")
    lacking = {folder: found for folder in folders[: len(config.synthetic)] if (found := shortage(folder))}
    if lacking and not config.partial:
        folder, (what, remedy) = next(iter(lacking.items()))
        raise CharmError(f"{folder}: {what}; {remedy}, or pass --data.partial to train on what is there")
    return [f"{folder.name}: {what}" for folder, (what, _) in lacking.items()]


def load_tasks(config: DataConfig) -> TaskSet:
    """Load the tasks of the named sources and a record of these; tasks to be evaluated come without test outputs."""
    chosen: dict[Role, list[Task]] = {role: [] for role in ROLES}
    sources = []
    for role, source, tasks in _chosen(config):
        chosen[role] += [task.blind() for task in tasks] if role == "evaluate" else tasks
        summary = source.summary()
        sources.append({"role": role, **{name: summary[name] for name in ("name", "version", "sha256", "tasks")}})
    if missing := set(config.tasks) - {task.id for some in chosen.values() for task in some}:
        raise CharmError(f"task {min(missing)} is not in the chosen sources")
    trained, asked, auxiliary = (tuple(chosen[role]) for role in ROLES)
    return TaskSet(trained, asked, auxiliary, record={"sources": sources})


def load_task_set(config: DataConfig) -> TaskSet:
    """Load the tasks and their generated pairs, with a record of both."""
    lacking = _check_made(config)
    tasks = load_tasks(config)
    if not (tasks.train or tasks.evaluate or tasks.auxiliary):
        raise CharmError("data.train, data.evaluate and data.auxiliary are all empty; name a source")
    synthetic: list[tuple[str, PairBlock]] = []
    both = tuple(name for name in config.evaluate if name in config.train)
    trained = {task.id for task in (*tasks.train, *evaluated_tasks(replace(config, evaluate=both)))}
    for provider in config.synthetic:
        folder = data_dir(config.data) / provider
        covered = load_pairs(folder, trained & set(read_manifest(folder).tasks))
        if not covered:
            raise CharmError(f"{folder}: has pairs for none of the {len(trained)} tasks that are trained on")
        synthetic += covered.items()
    return replace(tasks, synthetic=tuple(synthetic), record={**tasks.record, "partial": lacking})


def answers_of(tasks: Iterable[Task]) -> dict[Question, Grid | None]:
    """Return the test outputs of tasks, None where they are not known. For scoring only."""
    return {Question(task.id, n): answer for task in tasks for n, answer in enumerate(task.answers())}


def answer_key(config: DataConfig) -> dict[Question, Grid | None]:
    """Return the held-out outputs of a dataset, None where the source has none. For scoring only."""
    return answers_of(evaluated_tasks(config))


def asked_inputs(config: DataConfig) -> dict[Question, str]:
    """Return the questions of a dataset, each with the hash of its test input, without loading the rest."""
    tasks = evaluated_tasks(config)
    return {Question(task.id, n): grid_hash(pair.input) for task in tasks for n, pair in enumerate(task.test)}


def evaluated_tasks(config: DataConfig) -> list[Task]:
    return [task for role, _, tasks in _chosen(config) if role == "evaluate" for task in tasks]


def _chosen(config: DataConfig) -> Iterator[tuple[Role, Source, list[Task]]]:
    """Yield the sources with their roles, and the tasks that are chosen from each."""
    for role in ROLES:
        for name in getattr(config, role):
            if role != "train" or name not in config.evaluate:
                source = load_source(name, config.data)
                some = [task for task in source.tasks if not config.tasks or task.id in config.tasks]
                yield role, source, [task for task in some if task.id not in config.without]


def output_only_colors(task: Task) -> list[int]:
    """Return the colours of outputs that no input of the task has, but for 0: the rule names them."""
    inputs = {color for pair in task.pairs for color in pair.input.tobytes()}
    every = {color for pair in task.pairs for grid in pair.grids() for color in grid.tobytes()}
    return sorted(every - inputs - {0})


def _views(config: DataConfig, role: Role, task: Task, pool: Colors | None) -> Codes:
    fixed = output_only_colors(task) if config.fixed_colors == "output-only" else []
    if config.augment == "pseudo-tasks":
        return pseudo_tasks(task, config.views if role == "evaluate" else 1, config.seed, fixed)
    draw = own_color_views if config.augment == "own-colors" else draw_views
    return draw(task, config.views, config.seed, pool, fixed)


def _blocks(config: DataConfig, instances: Instances, task_id: str, block: IndexBlock) -> list[IndexBlock]:
    """Return a block unchanged, or in two: views in original colours, repeated to be half of it, and the others."""
    if config.augment != "own-colors":
        return [block]
    in_original_colors = instances.rows(task_id)[instances.codes(task_id) % PERMUTATIONS == 0]
    own = np.isin(block.rows, in_original_colors)
    times = max(1, round((~own).sum() / max(own.sum(), 1)))
    parts = (replace(block, rows=block.rows[own], repeats=block.repeats * times), replace(block, rows=block.rows[~own]))
    return [part for part in parts if len(part.rows)]


def longest_side(task: Task) -> int:
    """Return the longest side of all grids of the task that a solver may see."""
    return max(max(grid.shape) for pair in task.blind().pairs for grid in pair.grids())


def _synthetic_rows(config: DataConfig, instances: Instances, task_id: str, block: PairBlock) -> RowNumbers:
    if config.synthetic_views == "shared":
        return instances.rows(task_id)[: config.synthetic_view_count]
    # Views distinct in the content of the generated pairs; the original keeps the row that it has.
    some = Task(task_id, tuple(block.pairs()[:8]), ())
    return instances.add(task_id, draw_views(some, config.synthetic_view_count, config.seed + 1))
