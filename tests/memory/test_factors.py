"""Factors against slow float64 loops, and the widths and counts the paper states."""

from itertools import permutations

import numpy as np
import pytest
import torch

from charm.errors import CharmError
from charm.memory import Lookup, SlotPermutation, Sum, factor_parameters
from charm.memory.parts import linear


def randomize(module: torch.nn.Module, seed: int = 0) -> None:
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=rng))


def test_lookup_starts_at_zero_and_reads_rows():
    lookup = Lookup("user", size=5, width=3)
    key = {"user": torch.tensor([4, 0, 4])}
    assert torch.equal(lookup(key), torch.zeros(3, 3))
    randomize(lookup)
    assert torch.equal(lookup(key), torch.stack([lookup.rows.weight[i] for i in (4, 0, 4)]))


def test_reduced_lookup_projects():
    lookup = Lookup("user", size=5, width=7, reduced=3)
    randomize(lookup)
    out = lookup({"user": torch.tensor([2, 1])})
    table, up = lookup.rows.weight.double(), lookup.up.weight.double()
    for b, user in enumerate((2, 1)):
        for d in range(7):
            expected = sum(up[d, c] * table[user, c] for c in range(3))
            assert out[b, d].item() == pytest.approx(expected.item(), abs=1e-6)


def test_reduced_lookup_adds_exactly_one_projection():
    with torch.device("meta"):
        lookup = Lookup("puzzle", size=960, width=512, reduced=32)
    assert sum(p.numel() for p in lookup.parameters()) == 960 * 32 + 32 * 512


@pytest.mark.parametrize(("symbols", "width", "base", "slot"), [(9, 512, 53, 51), (4, 512, 104, 102), (4, 17, 5, 3)])
def test_slot_permutation_reads_slots_in_permuted_order(symbols: int, width: int, base: int, slot: int):
    factor = SlotPermutation("colors", symbols, width)
    assert torch.equal(factor({"colors": torch.arange(symbols)[None]}), torch.zeros(1, width))
    randomize(factor)
    assert factor.base.shape == (base,)
    assert factor.slots.shape == (symbols, slot)
    assert sum(p.numel() for p in factor.parameters()) == width
    rng = torch.Generator().manual_seed(1)
    order = torch.stack([torch.randperm(symbols, generator=rng) for _ in range(6)])
    out = factor({"colors": order})
    for b in range(6):
        expected = factor.base.tolist()
        for symbol in order[b].tolist():
            expected += factor.slots[symbol].tolist()
        assert out[b].tolist() == expected


def test_slot_permutation_tells_all_permutations_apart():
    factor = SlotPermutation("corners", 4, 10)
    randomize(factor)
    out = factor({"corners": torch.tensor(list(permutations(range(4))))})
    assert len({tuple(row) for row in out.tolist()}) == 24


def test_sum_adds_its_factors():
    rule, horizon = Lookup("rule", 6, 4), Lookup("horizon", 3, 4)
    total = Sum(rule, horizon)
    randomize(total)
    key = {"rule": torch.tensor([5, 2]), "horizon": torch.tensor([0, 2])}
    assert torch.equal(total(key), rule(key) + horizon(key))
    assert len(list(total.parameters())) == 2


def test_sparse_lookup_gets_the_dense_gradient_in_sparse_form():
    dense, sparse = Lookup("user", 6, 4), Lookup("user", 6, 4, sparse=True)
    key = {"user": torch.tensor([1, 3, 1])}
    weights = torch.randn(3, 4, generator=torch.Generator().manual_seed(1))
    for lookup in (dense, sparse):
        (lookup(key) * weights).sum().backward()
    assert sparse.rows.weight.grad.is_sparse
    assert torch.equal(sparse.rows.weight.grad.to_dense(), dense.rows.weight.grad)
    assert dense.row_parameters() == []
    assert [p is sparse.rows.weight for p in sparse.row_parameters()] == [True]
    assert sparse.dense_parameters() == []
    assert factor_parameters(sparse) == []
    assert [p is dense.rows.weight for p in factor_parameters(dense)] == [True]


@pytest.mark.parametrize("reduced", [None, 2])
def test_lookup_grows_without_touching_old_rows(reduced: int | None):
    lookup = Lookup("user", 4, 3, reduced=reduced)
    randomize(lookup)
    key = {"user": torch.arange(4)}
    before = lookup(key)
    assert lookup.grow(2) == 4
    assert torch.equal(lookup(key), before)
    assert torch.equal(lookup({"user": torch.tensor([4, 5])}), torch.zeros(2, 3))


def test_linear_has_the_promised_spread():
    torch.manual_seed(0)
    layer = linear(400, 2000)
    assert layer.weight.std().item() == pytest.approx(1 / 20, rel=0.005)
    # The cut is at two standard deviations of the uncut normal, whose spread is larger than the promised one.
    assert layer.weight.abs().max().item() == pytest.approx(2 / 0.8796 / 20, rel=0.01)
    assert torch.equal(layer.bias, torch.zeros(2000))


def test_small_integer_types_are_read():
    lookup = Lookup("user", 4, 3)
    randomize(lookup)
    assert torch.equal(lookup({"user": torch.tensor([3], dtype=torch.uint8)})[0], lookup.rows.weight[3])


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ({"usr": torch.tensor([1])}, "no field 'user', only usr"),
        ({}, "only none at all"),
        ({"user": torch.tensor([4])}, "must be in 0..3, got 4"),
        ({"user": torch.tensor([-1])}, "must be in 0..3, got -1"),
        ({"user": torch.tensor([1.0])}, "must contain integers"),
        ({"user": torch.tensor([[1]])}, r"shape \[B\], got \[1, 1\]"),
    ],
)
def test_bad_keys_are_named(key: dict[str, torch.Tensor], message: str):
    with pytest.raises(CharmError, match=message):
        Lookup("user", 4, 3)(key)


def test_bad_permutations_are_named():
    with pytest.raises(CharmError, match=r"shape \[B, 4\], got \[1, 3\]"):
        SlotPermutation("corners", 4, 10)({"corners": torch.tensor([[0, 1, 2]])})
    with pytest.raises(CharmError, match=r"must be in 0\.\.3, got 4"):
        SlotPermutation("corners", 4, 10)({"corners": torch.tensor([[1, 2, 3, 4]])})


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SlotPermutation("colors", 9, 9), "width 9 is too small for 9 slots"),
        (lambda: SlotPermutation("colors", 0, 9), "too small for 0 slots"),
        (lambda: Lookup("user", 4, 3, reduced=4), "reduced width must be in 1..3, got 4"),
        (lambda: Lookup("user", 4, 3, reduced=0), "reduced width must be in 1..3, got 0"),
        (lambda: Lookup("user", 0, 3), "got 0 and 3"),
        (lambda: Sum(Lookup("a", 2, 3), Lookup("b", 2, 4)), r"equal width, got \[3, 4\]"),
        (lambda: Sum(), "equal width"),
        (lambda: Lookup("user", 4, 3).grow(-1), "rows, got -1"),
    ],
)
def test_impossible_factors_are_refused(build, message: str):
    with pytest.raises(CharmError, match=message):
        build()


def test_ids_may_be_lists_or_arrays() -> None:
    lookup = Lookup("item", 5, 4)
    with torch.no_grad():
        lookup.rows.weight.normal_()
    wanted = lookup({"item": torch.tensor([4, 0, 4])})
    assert torch.equal(lookup({"item": [4, 0, 4]}), wanted)
    assert torch.equal(lookup({"item": np.array([4, 0, 4], np.uint8)}), wanted)
    with pytest.raises(CharmError, match=r"field 'item' must contain integers, got torch\.float32"):
        lookup({"item": [0.5]})
    with pytest.raises(CharmError, match="field 'item' must be an array of integers"):
        lookup({"item": [[1], [2, 3]]})
    with pytest.raises(CharmError, match=r"field 'item' must be in 0\.\.4, got 5"):
        lookup({"item": [5]})
