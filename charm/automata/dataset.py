"""A CAR benchmark as an ordinary dataset: a task is a rule and a horizon, its views are the 8 symmetries."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import torch

from charm.automata.benchmark import HELD_OUT, Benchmark, BenchmarkConfig, read_benchmark
from charm.automata.keys import CarKey, CarSizes
from charm.automata.rules import Rule
from charm.config import flags_between, to_json
from charm.errors import CharmError
from charm.paths import data_dir
from charm.tasks import keyed
from charm.tasks.batch import PairBank
from charm.tasks.canvas import FULL_SIDE
from charm.tasks.dataset import DataConfig, Dataset
from charm.tasks.instances import Instances
from charm.tasks.sampling import IndexBlock, Mixture
from charm.tasks.task import COLORS, Grid, Question
from charm.tasks.view import DIHEDRALS, encode

# A state means the same in every view, so colours never change.
CODES = encode(np.arange(DIHEDRALS), np.tile(np.arange(COLORS), (DIHEDRALS, 1)))
ALL_HELD_OUT = slice(0, HELD_OUT)


@dataclass(frozen=True)
class CarData:
    """Which part of the benchmark to train on, and how it is shown. The benchmark on disk may be larger."""

    benchmark: BenchmarkConfig = field(default_factory=BenchmarkConfig)
    split: Literal["single", "all"] = "single"
    """Train each rule at one horizon and evaluate it at all; or train every combination."""
    horizons: tuple[int, ...] = ()
    """Use only these of the benchmark's horizons; none given: all of them."""
    canvas: int = FULL_SIDE
    """Side of the canvas. On one larger than the torus, grids have a boundary and random positions; on one of the same
    size they have neither."""
    data: Path | None = None
    """Folder of generated data; by default CHARM_DATA or the user's cache folder."""

    def __post_init__(self) -> None:
        if not self.benchmark.side <= self.canvas <= FULL_SIDE:
            raise CharmError(f"the canvas side must be in {self.benchmark.side}..{FULL_SIDE}, got {self.canvas}")
        for horizon in self.horizons:
            if horizon not in self.benchmark.horizons:
                raise CharmError(f"horizon must be one of {self.benchmark.horizons}, got {horizon}")

    @property
    def asked_horizons(self) -> tuple[int, ...]:
        return self.horizons or self.benchmark.horizons

    @property
    def sizes(self) -> CarSizes:
        """Sizes of a memory for this data: a vector for each rule and horizon, rows for trained combinations."""
        rules, horizons = len(self.benchmark.families) * self.benchmark.rules, len(self.asked_horizons)
        trained = rules if self.split == "single" else rules * horizons
        return CarSizes(rules, horizons, trained, 1 + len(CODES) * trained)


@dataclass(frozen=True)
class Combination:
    """A rule and a number of updates: CAR's task."""

    rule: Rule
    horizon: int
    trained: bool

    @property
    def id(self) -> str:
        return f"{self.rule} T{self.horizon}"


def load_benchmark(config: CarData) -> Benchmark:
    """Load the requested part of the benchmark on disk."""
    folder = data_dir(config.data) / "car"
    try:
        return read_benchmark(folder).part(config.benchmark)
    except CharmError as error:
        command = " ".join(["charm car build", *flags_between(BenchmarkConfig(), config.benchmark)])
        raise CharmError(f"{error}; run `{command}` to build it") from None


def combinations_of(benchmark: Benchmark, config: CarData) -> list[Combination]:
    """List all combinations, the trained ones first. The split is balanced over horizons, also within each family."""
    horizons, rules = config.asked_horizons, benchmark.rules
    if config.split == "all":
        return [Combination(rule, horizon, True) for rule in rules for horizon in horizons]
    order: list[Rule] = []
    for family in benchmark.config.families:
        some = benchmark.by_family[family]
        key = keyed.key_of("car split", family, benchmark.config.seed)
        order += [some[place] for place in keyed.permute(key, np.arange(len(some)), len(some)).tolist()]
    chosen = {rule: horizons[place % len(horizons)] for place, rule in enumerate(order)}
    every = [Combination(rule, horizon, chosen[rule] == horizon) for rule in rules for horizon in horizons]
    return sorted(every, key=lambda one: not one.trained)  # stable: in the order of rules within both parts


def load_combinations(config: CarData, untrained: bool = True) -> tuple[Benchmark, list[Combination]]:
    """Load the benchmark of a run and the combinations that it asks about; `untrained` adds those never trained."""
    benchmark = load_benchmark(config)
    return benchmark, [one for one in combinations_of(benchmark, config) if untrained or one.trained]


def assemble_car(config: CarData, untrained: bool = True) -> tuple[Dataset, CarKey]:
    """Gather pairs, rows and questions of the benchmark; `untrained` adds those on untrained combinations."""
    benchmark, asked = load_combinations(config, untrained)
    trained = [one for one in asked if one.trained]
    instances = Instances()
    rows = [instances.add(one.id, CODES) for one in asked]
    examples = benchmark.config.examples
    numbers = np.arange(len(trained) * examples, dtype=np.int32).reshape(len(trained), examples)
    blocks = [IndexBlock(pairs, some) for pairs, some in zip(numbers, rows[: len(trained)], strict=True)]
    dataset = replace(
        question_set(benchmark, asked, instances, config.canvas),
        bank=_train_bank(benchmark, trained),
        mixtures={config.canvas: Mixture(blocks)},
        manifest={
            "benchmark": benchmark.manifest,
            "config": {**to_json(config), "data": None},
            "rules": len(benchmark.rules),
            "trained_combinations": len(trained),
            "asked_combinations": len(asked),
        },
    )
    place = {rule: n for n, rule in enumerate(benchmark.rules)}
    rule_P = np.array([place[one.rule] for one in asked], np.int64)
    horizon_P = np.array([config.asked_horizons.index(one.horizon) for one in asked], np.int64)
    return dataset, CarKey(instances, rule_P, horizon_P, len(trained))


def question_set(
    benchmark: Benchmark,
    combinations: Sequence[Combination],
    instances: Instances,
    canvas: int,
    held_out: slice = ALL_HELD_OUT,
) -> Dataset:
    """Ask about these combinations, without training data."""
    questions = tuple(Question(one.id, k) for one in combinations for k in range(held_out.start, held_out.stop))
    cells = np.concatenate([benchmark.inputs(one.rule, held_out).reshape(-1) for one in combinations])
    side = benchmark.config.side
    return Dataset(
        DataConfig(train=(), evaluate=(), auxiliary=(), views=DIHEDRALS),
        instances,
        PairBank.of(()),
        {},
        questions,
        PairBank.of_cells(cells, np.array([[side, side, 0, 0]]).repeat(len(questions), axis=0)),
        (canvas,) * len(questions),
    )


def answer_key(benchmark: Benchmark, combinations: Sequence[Combination]) -> dict[Question, Grid]:
    """Return the held-out outputs, for scoring only."""
    return {
        Question(one.id, k): grid
        for one in combinations
        for k, grid in enumerate(benchmark.outputs(one.rule, one.horizon, ALL_HELD_OUT))
    }


def _train_bank(benchmark: Benchmark, combinations: Sequence[Combination]) -> PairBank:
    """Store pairs in the order of combinations; a rule's initial grids are stored once for all of its horizons."""
    side, examples = benchmark.config.side, slice(HELD_OUT, None)
    grids: dict[tuple[Rule, int], npt.NDArray[np.uint8]] = {}  # by horizon, 0 for the initial ones
    for one in combinations:
        if (one.rule, 0) not in grids:
            grids[one.rule, 0] = benchmark.inputs(one.rule, examples)
        grids[one.rule, one.horizon] = benchmark.outputs(one.rule, one.horizon, examples)
    place = {key: number for number, key in enumerate(grids)}
    places = np.array([[place[one.rule, 0], place[one.rule, one.horizon]] for one in combinations], np.int64)
    numbers = np.arange(benchmark.config.examples)
    start = (places[:, None] * len(numbers) + numbers[:, None]).reshape(-1, 2) * side * side
    cells = np.concatenate([*(some.reshape(-1) for some in grids.values()), np.zeros(1, np.uint8)])
    shape = np.full((len(start), 4), side, np.int64)
    return PairBank(torch.from_numpy(cells), torch.from_numpy(start), torch.from_numpy(shape))
