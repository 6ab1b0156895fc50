"""Drawing pairs in a separate process."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from charm.errors import CharmError
from charm.synthesis.build import Rejected
from charm.synthesis.rearc import ReArc
from charm.web import api
from charm.web.api import Library
from charm.web.samples import Sampler
from rearc2.workbench.packages import ReArc2, load_package


@pytest.fixture(scope="module")
def sampler() -> Iterator[Sampler]:
    made = Sampler(time_limit=10.0)
    yield made
    made.close()


def rows_of(grid: object) -> str:
    return "/".join("".join(map(str, row)) for row in np.asarray(grid).tolist())


@pytest.mark.parametrize(("seed", "attempt"), [(0, 0), (0, 1), (7, 3)])
def test_a_sample_is_what_its_generator_makes(
    library: Library, sampler: Sampler, rearc_package: Path, seed: int, attempt: int
) -> None:
    for name, provider, task in (
        ("rearc", ReArc(rearc_package, seed), "00000001"),
        ("rearc2", ReArc2(seed=seed), "00576224"),
    ):
        query = {"generator": name, "task": task, "seed": str(seed), "attempt": str(attempt)}
        found = api.sample_json(library, sampler, query)
        expected = provider.make(task, attempt)
        assert not isinstance(expected, Rejected)
        assert found["pair"] == [rows_of(expected[0]), rows_of(expected[1])]
        assert found == api.sample_json(library, sampler, query)
    assert found["rule"] == load_package("00576224").rule


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        ("00000002", "attempt 0 produced no pair: verifier mismatch"),
        ("00000004", "attempt 0 produced no pair: generator exception"),
        ("00000005", "colours must be in 0..9, got 11"),
        ("00000006", "the generator's process died"),
        ("00000009", "no generator for task 00000009"),
        ("../00000001", "no generator"),
    ],
)
def test_what_goes_wrong_is_told_and_the_next_draw_works(
    library: Library, sampler: Sampler, task: str, sentence: str
) -> None:
    with pytest.raises(CharmError, match=sentence):
        api.sample_json(library, sampler, {"generator": "rearc", "task": task})
    assert api.sample_json(library, sampler, {"generator": "rearc", "task": "00000001"})["pair"]


def test_a_generator_that_never_ends_is_stopped(library: Library) -> None:
    sampler = Sampler(time_limit=1.0)
    with pytest.raises(CharmError, match="stopped after 1 seconds"):
        sampler.draw(library.generators["rearc"], "00000003", 0, 0)
    sampler.time_limit = 20.0
    assert sampler.draw(library.generators["rearc"], "00000001", 0, 0).output is not None
    sampler.close()
