import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from charm.automata.benchmark import (
    HELD_OUT,
    Benchmark,
    BenchmarkConfig,
    build,
    initial_grids,
    make_examples,
    pack,
    read_benchmark,
    unpack,
    viable_runs,
    write_benchmark,
)
from charm.automata.rules import FAMILIES, evolve, parse_rule
from charm.errors import CharmError

TINY = BenchmarkConfig(rules=4, examples=12)


@pytest.fixture(scope="module")
def tiny() -> Benchmark:
    return build(TINY)


def test_every_example_is_the_exact_future_of_its_input_and_viable(tiny: Benchmark) -> None:
    every = slice(None)
    assert len(tiny.rules) == len(set(tiny.rules)) == 12
    assert [rule.family for rule in tiny.rules] == [family for family in FAMILIES for _ in range(4)]
    for rule in tiny.rules:
        inputs = tiny.inputs(rule, every)
        assert inputs.shape == (HELD_OUT + 12, 16, 16)
        assert len({grid.tobytes() for grid in inputs}) == len(inputs)
        outputs = np.stack([tiny.outputs(rule, horizon, every) for horizon in (1, 2, 4, 8)])
        assert np.array_equal(outputs, evolve(inputs, rule, (1, 2, 4, 8)))
        for grids in outputs:  # said again in plain words: both dead and live cells, and not the input
            for before, after in zip(inputs, grids, strict=True):
                assert 0 in after
                assert 1 in after
                assert (before != after).any()
    assert max(tiny.outputs(rule, 8, every).max() for rule in tiny.rules) > 1  # Generations decay


def test_the_same_seed_makes_the_same_benchmark_and_another_seed_another(tiny: Benchmark) -> None:
    assert build(TINY).manifest == tiny.manifest
    other = build(replace(TINY, seed=1))
    assert not set(other.rules) & set(tiny.rules)
    # The same on every machine and with every version of Python and NumPy.
    assert tiny.manifest["sha256"] == {
        "life": "3570d56c52610dc19deefbbdfb5f89ece29159ffd45df6ae2e8ce186e43e34aa",
        "generations": "042a1bd056315b54d1c4d5d800637162ab7cf77cacf6b1f0fb2a690a7409464b",
        "larger": "376f773fa5bcce1910c296e7aa8d20d84aa520d3bab7050861b2e6f35578475b",
    }


def test_a_smaller_benchmark_is_part_of_a_larger_one(tiny: Benchmark) -> None:
    wanted = BenchmarkConfig(families=("life", "larger"), rules=2, examples=5)
    assert tiny.part(wanted).manifest == build(wanted).manifest
    for change in ({"rules": 5}, {"examples": 13}, {"seed": 1}, {"horizons": (1, 2)}):
        with pytest.raises(CharmError, match="was requested"):
            tiny.part(replace(TINY, **change))


def test_written_and_read_it_is_the_same(tiny: Benchmark, tmp_path: Path) -> None:
    write_benchmark(tmp_path, tiny)
    again = read_benchmark(tmp_path)
    assert again.manifest == tiny.manifest
    assert again.rules == tiny.rules
    rule = tiny.rules[5]
    assert np.array_equal(again.outputs(rule, 4, slice(3)), tiny.outputs(rule, 4, slice(3)))
    # 17 grids of one bit, or four times three bits and one, in 32 bytes each
    assert sum(array.nbytes for array in again.arrays.values()) == 4 * 16 * 32 * (5 + 13 + 5)


def test_damage_is_told_in_one_sentence(tiny: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(CharmError, match=r"manifest.json is missing"):
        read_benchmark(tmp_path)
    write_benchmark(tmp_path, tiny)
    content = bytearray((tmp_path / "life.npy").read_bytes())
    content[-1] ^= 1
    (tmp_path / "life.npy").write_bytes(content)
    with pytest.raises(CharmError, match=r"life\.npy: does not match the manifest"):
        read_benchmark(tmp_path)
    (tmp_path / "life.npy").write_bytes(content[:500])
    with pytest.raises(CharmError, match="not a CAR benchmark"):
        read_benchmark(tmp_path)
    (tmp_path / "life.npy").unlink()
    with pytest.raises(CharmError, match=r"life\.npy is missing"):
        read_benchmark(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps({**manifest, "format": 9}))
    with pytest.raises(CharmError, match="expected format 1, got 9"):
        read_benchmark(tmp_path)
    for text in ('{"format": ' + "1" * 400 + "}", "[" * 100_000, json.dumps({**manifest, "rules": 5})):
        (tmp_path / "manifest.json").write_text(text)
        with pytest.raises(CharmError, match=r"not readable|not a CAR benchmark"):
            read_benchmark(tmp_path)


def test_densities_are_uniform_from_a_tenth_to_a_half() -> None:
    grids = initial_grids(parse_rule("B3/S23"), 0, 30, 0, 2000)
    density = grids.mean(axis=(1, 2))
    assert density.mean() == pytest.approx(0.3, abs=0.01)
    assert density.std() == pytest.approx(0.4 / 12**0.5, rel=0.05)
    assert density.min() > 0.1 - 0.05  # 900 cells give a density to 0.02
    assert density.max() < 0.5 + 0.06
    # Any grid can be made alone.
    assert np.array_equal(initial_grids(parse_rule("B3/S23"), 0, 30, 123, 1)[0], grids[123])


def test_runs_that_die_fill_up_or_stand_still_are_not_viable() -> None:
    start = np.zeros((4, 6, 6), np.uint8)
    start[:, 2, 2] = 1
    after = start.copy()[None].repeat(2, axis=0)
    after[:, :, 3, 3] = 1  # moved
    after[1, 1] = 0  # died later
    after[0, 2] = 1  # was full for a moment
    after[1, 3] = start[3]  # came back to the start
    assert viable_runs(start, after).tolist() == [True, False, False, False]


def test_rules_that_do_not_keep_alive_are_refused() -> None:
    assert make_examples(parse_rule("B8/S8"), TINY) is None  # everything dies at once
    assert make_examples(parse_rule("B12345678/S012345678"), TINY) is None  # everything fills up
    assert make_examples(parse_rule("B3/S23"), TINY) is not None


@pytest.mark.parametrize("side", [5, 16])
def test_packing_has_an_inverse(side: int) -> None:
    rng = np.random.default_rng(0)
    inputs = rng.integers(0, 2, (3, side, side)).astype(np.uint8)
    outputs = rng.integers(0, 8, (2, 3, side, side)).astype(np.uint8)
    planes = pack(inputs, outputs, bits=3)
    assert planes.shape == (3, 7, -(-side * side // 8))
    assert np.array_equal(unpack(planes[:, :1], side), inputs)
    assert np.array_equal(unpack(planes[:, 4:7], side), outputs[1])


def test_impossible_benchmarks_are_refused() -> None:
    for change, complaint in (
        ({"rules": 0}, "at least 1 rule"),
        ({"side": 4}, "side must be in 5..30, got 4"),
        ({"horizons": (2, 1)}, "increasing numbers"),
        ({"families": ("larger", "life")}, "in this order"),
    ):
        with pytest.raises(CharmError, match=complaint):
            replace(TINY, **change)
    benchmark = build(BenchmarkConfig(families=("life",), rules=1, examples=1))
    with pytest.raises(CharmError, match=r"B3/S23 is not in the benchmark"):
        benchmark.inputs(parse_rule("B3/S23"), slice(None))
    with pytest.raises(CharmError, match="got 3"):
        benchmark.outputs(benchmark.rules[0], 3, slice(None))
