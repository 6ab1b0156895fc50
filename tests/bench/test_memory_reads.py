"""The longer runs of memories differ from the paper's small ones in what they say, and in nothing else."""

from dataclasses import replace

from benchmarks.intervals import reads_of_a_row
from benchmarks.memory_reads import RATES, longer
from charm.paper.runs import VARIANTS


def test_longer_runs_differ_in_updates_and_rates_alone() -> None:
    assert len({longer(name).home("small") for name in RATES}) == len(RATES)
    for name, rate in RATES.items():
        variant = VARIANTS[name.split(",")[0]]
        short, long = variant.at("small", 3), longer(name).at("small", 3)
        assert longer(name).home("small") != variant.home("small")
        assert (short.steps, long.steps) == (1000, 5000)
        assert long.optimizer.row_lr == rate * short.optimizer.row_lr
        assert replace(long, steps=short.steps, optimizer=short.optimizer) == short
    assert round(reads_of_a_row(long.steps, long.batch)) == 335
