"""Build, write and read the CAR benchmark: rules that stay alive, initial grids, and the exact grids after updates.

The seed determines everything: candidate rules are drawn and tested in order, and so are the initial grids of
each. A benchmark with fewer rules or examples is therefore a part of a larger one with the same seed.

On disk: manifest.json (the configuration, the rules, a hash of each array) and <family>.npy, a uint8 array
[rules, examples, planes, bytes]. A plane is one bit of every cell of a grid, packed; the first is the initial grid, and
each horizon follows with as many planes as the family's states need.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from charm.automata.rules import FAMILIES, STATES, Family, Grids, Rule, draw_rule, evolve, parse_rule
from charm.config import check_seed, from_json, to_json
from charm.errors import ODD_VALUES, CharmError, charm_errors
from charm.files import parse_json, write_atomically
from charm.tasks import keyed
from charm.tasks.task import MAX_SIDE

FORMAT = 1
MANIFEST = "manifest.json"
HELD_OUT = 4  # held-out examples of each rule: the first ones
DENSITIES = (0.1, 0.5)  # of live cells in initial grids; the upper end is not reached
RUNS, VIABLE_RUNS = 64, 8  # a rule is kept if VIABLE_RUNS of its first RUNS runs are viable
MAX_CANDIDATES = 20  # drawn per rule; nearly all are viable
MAX_ATTEMPTS = 16_384  # initial grids tried per rule, four times what barely viable rules need
Rules = dict[Family, tuple[Rule, ...]]
BITS = {family: (max(STATES) - 1).bit_length() if family == "generations" else 1 for family in FAMILIES}


@dataclass(frozen=True)
class BenchmarkConfig:
    """Settings of a benchmark; the defaults are the paper's."""

    seed: int = 0
    """Seed for rules and grids."""
    families: tuple[Family, ...] = FAMILIES
    """Families of rules."""
    rules: int = 500
    """Rules per family."""
    examples: int = 500
    """Initial grids per rule for training; four more are held out."""
    side: int = 16
    """Side of the torus."""
    horizons: tuple[int, ...] = (1, 2, 4, 8)
    """Numbers of updates after which to ask for the grid."""

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.rules < 1 or self.examples < 1:
            given = f"got {self.rules} and {self.examples}"
            raise CharmError(f"a benchmark needs at least 1 rule per family and 1 example per rule; {given}")
        if not self.families or list(self.families) != [one for one in FAMILIES if one in self.families]:
            raise CharmError(f"families must be a subset of {', '.join(FAMILIES)}, in this order; got {self.families}")
        if not 5 <= self.side <= MAX_SIDE:
            raise CharmError(f"the torus side must be in 5..{MAX_SIDE}, got {self.side}")
        if not self.horizons or min(self.horizons) < 1 or sorted(set(self.horizons)) != list(self.horizons):
            raise CharmError(f"horizons must be increasing numbers >= 1, got {self.horizons}")

    def describe(self) -> str:
        return (
            f"{self.rules} rules each of {', '.join(self.families)} with {self.examples} examples, seed {self.seed}, "
            f"torus {self.side}, horizons {', '.join(map(str, self.horizons))}"
        )


def initial_grids(rule: Rule, seed: int, side: int, first: int, number: int) -> Grids:
    """Draw the rule's initial grids `first`, `first` + 1, ..., [N, side, side] of 0 and 1, each of its own density."""
    numbers = np.arange(first, first + number)
    low, high = DENSITIES
    density_N = low + (high - low) * keyed.uniform(keyed.key_of("car density", seed, str(rule)), numbers)
    words = -(-side * side // 4)  # of 64 random bits; 16 for a cell are finer than what 256 cells can show
    counters = numbers[:, None] * words + np.arange(words)
    drawn = keyed.bits(keyed.key_of("car cells", seed, str(rule)), counters).astype("<u8").view("<u2")
    live = drawn[:, : side * side] < (density_N * 2**16)[:, None]
    return live.view(np.uint8).reshape(number, side, side)


def viable_runs(inputs_NHW: Grids, outputs_TNHW: Grids) -> npt.NDArray[np.bool_]:
    """Return which grids have both dead and live cells at every horizon, and differ from their initial grid."""
    dead, live = ((outputs_TNHW == state).any(axis=(2, 3)) for state in (0, 1))
    moved = (outputs_TNHW != inputs_NHW).any(axis=(2, 3))
    return (dead & live & moved).all(axis=0)


def make_examples(rule: Rule, config: BenchmarkConfig) -> Grids | None:
    """Make distinct, viable examples of the rule, packed as [examples, planes, bytes]; None if it is not viable."""
    wanted = HELD_OUT + config.examples
    chosen: dict[bytes, Grids] = {}  # packed initial grid -> all its planes
    first, number = 0, RUNS
    while len(chosen) < wanted:
        inputs_NHW = initial_grids(rule, config.seed, config.side, first, number)
        outputs_TNHW = evolve(inputs_NHW, rule, config.horizons)
        good_N = viable_runs(inputs_NHW, outputs_TNHW)
        if (first == 0 and good_N.sum() < VIABLE_RUNS) or first + number > MAX_ATTEMPTS:
            return None
        for planes in pack(inputs_NHW[good_N], outputs_TNHW[:, good_N], BITS[rule.family]):
            chosen.setdefault(planes[0].tobytes(), planes)
        first, number = first + number, 512
    return np.stack(list(chosen.values())[:wanted])


def pack(inputs_NHW: Grids, outputs_TNHW: Grids, bits: int) -> Grids:
    """Pack grids into planes [N, 1 + T * bits, bytes], the lowest bit of a state first."""
    planes = [inputs_NHW] + [(output >> bit) & 1 for output in outputs_TNHW for bit in range(bits)]
    return np.stack([np.packbits(plane.reshape(len(plane), -1), axis=1) for plane in planes], axis=1)


def unpack(planes_NPB: Grids, side: int) -> Grids:
    """Unpack grids [N, side, side] from their planes: the inverse of `pack` for one grid of each example."""
    cells_NPC = np.unpackbits(planes_NPB, axis=2, count=side * side)
    weights = (1 << np.arange(planes_NPB.shape[1], dtype=np.uint8))[:, None]
    return (cells_NPC * weights).sum(axis=1, dtype=np.uint8).reshape(-1, side, side)


class Benchmark:
    """Rules by family, and their examples; arrays are read from disk on demand."""

    def __init__(self, config: BenchmarkConfig, rules: Rules, arrays: dict[Family, Grids]) -> None:
        self.config, self.by_family, self.arrays = config, rules, arrays
        self.rules = [rule for family in config.families for rule in rules[family]]
        self._place = {rule: (rule.family, n) for some in rules.values() for n, rule in enumerate(some)}

    def inputs(self, rule: Rule, examples: slice) -> Grids:
        """Return initial grids of the rule, [N, side, side]; the first HELD_OUT are never trained on."""
        return unpack(self._planes(rule)[examples, :1], self.config.side)

    def outputs(self, rule: Rule, horizon: int, examples: slice) -> Grids:
        """Return the same grids `horizon` updates later."""
        if horizon not in self.config.horizons:
            raise CharmError(f"horizon must be one of {self.config.horizons}, got {horizon}")
        bits = BITS[rule.family]
        at = 1 + bits * self.config.horizons.index(horizon)
        return unpack(self._planes(rule)[examples, at : at + bits], self.config.side)

    def part(self, config: BenchmarkConfig) -> Benchmark:
        """Cut out the smaller benchmark of `config`, identical to one built from scratch."""
        have = self.config
        same = (have.seed, have.side, have.horizons) == (config.seed, config.side, config.horizons)
        enough = have.rules >= config.rules and have.examples >= config.examples
        if not (same and enough and set(config.families) <= set(have.families)):
            raise CharmError(f"the benchmark has {have.describe()}, but {config.describe()} was requested")
        rules = {family: self.by_family[family][: config.rules] for family in config.families}
        examples = slice(HELD_OUT + config.examples)
        arrays = {family: self.arrays[family][: config.rules, examples] for family in config.families}
        return Benchmark(config, rules, arrays)

    def _planes(self, rule: Rule) -> Grids:
        if rule not in self._place:
            raise CharmError(f"rule {rule} is not in the benchmark; its manifest lists those that are")
        family, number = self._place[rule]
        return self.arrays[family][number]

    @property
    def manifest(self) -> dict[str, Any]:
        """The record that identifies the benchmark, stored alongside the arrays."""
        return {
            "format": FORMAT,
            "config": to_json(self.config),
            "rules": {family: list(map(str, self.by_family[family])) for family in self.config.families},
            "sha256": {family: _hash(array) for family, array in self.arrays.items()},
        }


def build(config: BenchmarkConfig, advance: Callable[[Family, int], None] = lambda family, kept: None) -> Benchmark:
    """Build a benchmark; `advance` is called for every rule that is kept."""
    rules: Rules = {}
    arrays: dict[Family, Grids] = {}
    for family in config.families:
        kept: dict[Rule, Grids] = {}
        for number in range(MAX_CANDIDATES * config.rules):
            rule = draw_rule(family, config.seed, number, config.side)
            if rule not in kept and (examples := make_examples(rule, config)) is not None:
                kept[rule] = examples
                advance(family, len(kept))
            if len(kept) == config.rules:
                break
        else:
            raise CharmError(f"only {len(kept)} of {config.rules} {family} rules stay alive on this torus")
        rules[family], arrays[family] = tuple(kept), np.stack(list(kept.values()))
    return Benchmark(config, rules, arrays)


def build_in(folder: Path, config: BenchmarkConfig, replace: bool, advance: Callable[[Family, int], None]) -> Benchmark:
    """Return the benchmark in the folder, built if missing; refuse a different one unless `replace` is set."""
    if (folder / MANIFEST).is_file() and not replace:
        found = read_benchmark(folder)
        if found.config != config:
            there = f"another benchmark ({found.config.describe()})"
            raise CharmError(f"{folder} contains {there}; use --replace to overwrite it")
        return found
    made = build(config, advance)
    write_benchmark(folder, made)
    return made


def write_benchmark(folder: Path, benchmark: Benchmark) -> None:
    """Write the arrays, then the manifest with their hashes; each file is written whole."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)  # no manifest while arrays are being replaced
    for family, array in benchmark.arrays.items():
        write_atomically(folder / f"{family}.npy", partial(np.save, arr=array))
    write_atomically(folder / MANIFEST, json.dumps(benchmark.manifest, indent=1) + "\n")


def read_benchmark(folder: Path) -> Benchmark:
    """Read the benchmark in a folder; refused unless its arrays match the manifest."""
    path = folder / MANIFEST
    rules: Rules = {}
    arrays: dict[Family, Grids] = {}
    try:
        with charm_errors(f"{folder}: not a CAR benchmark", *ODD_VALUES, EOFError):
            data = parse_json(path.read_bytes(), path)
            if data["format"] != FORMAT:
                raise CharmError(f"{path}: expected format {FORMAT}, got {data['format']}; build the benchmark again")
            config = from_json(BenchmarkConfig, data["config"], str(path))
            for family in config.families:
                file = folder / f"{family}.npy"
                rules[family] = tuple(map(parse_rule, data["rules"][family]))
                arrays[family] = np.load(file, mmap_mode="r", allow_pickle=False)
                if data["sha256"][family] != _hash(arrays[family]):
                    raise CharmError(f"{file}: does not match the manifest (SHA-256 differs)")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise CharmError(f"{folder}: no CAR benchmark here ({Path(error.filename).name} is missing)") from None
    return Benchmark(config, rules, arrays)


def _hash(array: Grids) -> str:
    digest = hashlib.sha256(json.dumps(array.shape).encode())
    digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
