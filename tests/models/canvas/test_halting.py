import torch

from charm.models.canvas.training import halt_logit, halt_now, minimum_steps, wants_to_halt

NONE = torch.zeros(5, dtype=torch.int64)


def test_halts_on_a_positive_logit_or_at_the_last_step() -> None:
    halt = torch.tensor([0.1, 0.0, -3.0, -3.0, 2.0])
    steps = torch.tensor([1, 1, 15, 16, 16])
    assert halt_now(halt, steps, 16, NONE).tolist() == [True, False, False, True, True]


def test_a_minimum_delays_halting_but_not_the_last_step() -> None:
    halt = torch.tensor([1.0, 1.0, 1.0, 1.0, -1.0])
    steps = torch.tensor([1, 6, 7, 16, 16])
    minimum = torch.tensor([2, 7, 7, 16, 16])
    assert halt_now(halt, steps, 16, minimum).tolist() == [False, False, True, True, True]


def test_two_outputs_are_compared_by_hrm_only() -> None:
    halt = torch.tensor([[1.0, 2.0], [-2.0, -3.0], [1.0, 0.0], [-1.0, 0.0], [1.0, 1.0]])
    one = torch.ones(5, dtype=torch.int64)
    assert halt_now(halt, one, 16, NONE, kind="hrm").tolist() == [False, True, True, False, False]
    assert halt_now(halt, one, 16, NONE, kind="trm").tolist() == [True, False, True, False, True]
    assert wants_to_halt(halt[:, 0], kind="hrm").tolist() == [True, False, True, False, True]
    assert halt_logit(halt).tolist() == halt_logit(halt[:, 0]).tolist() == [1, -2, 1, -1, 1]


def test_minimum_on_hand_written_draws() -> None:
    draws = torch.tensor([[0.0999, 0.0], [0.1, 0.0], [0.0, 0.5], [0.05, 1 - 2**-24], [0.9, 0.9]])
    assert minimum_steps(draws, 0.1, 16).tolist() == [2, 0, 2 + 7, 16, 0]
    assert minimum_steps(draws, 0.0, 16).tolist() == [0] * 5
    assert minimum_steps(draws, 1.0, 1).tolist() == [1] * 5


def test_minimum_is_uniform_over_2_to_16() -> None:
    draws = torch.rand(300_000, 2, generator=torch.Generator().manual_seed(0))
    counts = torch.bincount(minimum_steps(draws, 0.1, 16), minlength=17)
    assert counts[1] == 0
    assert len(counts) == 17
    explored = counts[2:].double()
    assert abs(float(explored.sum()) / 300_000 - 0.1) < 4 * (0.1 * 0.9 / 300_000) ** 0.5
    expected = explored.sum() / 15
    chi_square = float(((explored - expected) ** 2 / expected).sum())
    assert chi_square < 36.1  # 14 degrees of freedom, one in a thousand
