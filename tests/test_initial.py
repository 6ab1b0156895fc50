import math

import torch

from charm.initial import CUT_STD, truncated_normal_


def test_truncated_normal_has_the_asked_standard_deviation() -> None:
    density, inside = math.exp(-2) / math.sqrt(2 * math.pi), math.erf(math.sqrt(2))
    assert math.isclose(CUT_STD, math.sqrt(1 - 4 * density / inside), rel_tol=1e-14)
    sample = truncated_normal_(torch.empty(1_000_000), 0.5, torch.Generator().manual_seed(0))
    # Four standard errors of the standard deviation: the kurtosis of the cut normal is 2.35.
    assert abs(float(sample.std()) / 0.5 - 1) < 4 * math.sqrt((2.35 - 1) / 4e6)
    assert float(sample.abs().max()) <= 2 * 0.5 / CUT_STD


def test_a_seed_means_the_same_weights_whatever_the_release_of_torch() -> None:
    """Normal numbers one by one, those outside replaced by the numbers of another round in the same places."""
    found = truncated_normal_(torch.empty(200), CUT_STD, torch.Generator().manual_seed(7))
    generator = torch.Generator().manual_seed(7)
    expected, rounds = torch.empty(200).normal_(generator=generator).tolist(), 0
    while any(abs(x) > 2 for x in expected):
        others, rounds = torch.empty(200).normal_(generator=generator).tolist(), rounds + 1
        expected = [other if abs(x) > 2 else x for x, other in zip(expected, others, strict=True)]
    assert rounds >= 1
    assert found.tolist() == expected
