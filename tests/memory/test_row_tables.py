"""Row tables: sparse gradients against dense ones, the reserved row, growth; the hashed table against loops."""

import math

import pytest
import torch

from charm.errors import CharmError
from charm.memory import KeyedTable, RowTable


def filled(table: RowTable | KeyedTable, seed: int = 0):
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in table.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=rng))
    return table


def test_full_rank_has_no_projection_and_low_rank_a_bias_free_one():
    full, low = filled(RowTable(6, 4)), filled(RowTable(6, 4, rank=2))
    key = {"row": torch.tensor([5, 0, 5])}
    assert full.up is None
    assert RowTable(6, 4, rank=4).up is None
    assert torch.equal(full(key), full.rows.weight[[5, 0, 5]])
    expected = torch.stack([low.up.weight.double() @ low.rows.weight[i].double() for i in (5, 0, 5)])
    torch.testing.assert_close(low(key).double(), expected, rtol=1e-6, atol=1e-6)
    assert torch.equal(RowTable(6, 4, rank=2)(key), torch.zeros(3, 4))


def test_gradients_of_duplicates_over_micro_batches_equal_the_dense_ones():
    """Two backward passes before a step: each credits the rows it read itself."""
    table = filled(RowTable(9, 4, rank=3))
    dense = table.rows.weight.detach().double().requires_grad_()
    up = table.up.weight.detach().double()
    for seed, rows in enumerate(([1, 5, 1, 1], [5, 2, 0, 2])):
        weights = torch.randn(4, 4, generator=torch.Generator().manual_seed(seed))
        (table({"row": torch.tensor(rows)}) * weights).square().sum().backward()
        ((dense[rows] @ up.T) * weights.double()).square().sum().backward()
    gradient = table.rows.weight.grad
    assert gradient.is_sparse
    torch.testing.assert_close(gradient.to_dense().double(), dense.grad, rtol=1e-5, atol=1e-5)


def test_reserved_row_reads_zero_and_gets_no_gradient():
    table = filled(RowTable(4, 3, reserved_row=True))
    key = {"row": torch.tensor([0, 2, 0])}
    out = table(key)
    assert torch.equal(out[[0, 2]], torch.zeros(2, 3))
    assert torch.equal(out[1], table.rows.weight[2])
    (out - 1).square().sum().backward()
    gradient = table.rows.weight.grad.to_dense()
    assert torch.equal(gradient[0], torch.zeros(3))
    assert gradient[2].abs().min() > 0


def test_growth_keeps_old_outputs_bit_for_bit_and_training_goes_on():
    table = filled(RowTable(4, 3, rank=2))
    parameter = table.rows.weight
    key = {"row": torch.arange(4)}
    before = table(key)  # its graph stays alive across the growth
    before.sum().backward(retain_graph=True)
    assert table.grow(3) == 4
    assert table.rows.weight is parameter
    assert parameter.grad is None
    assert torch.equal(table(key), before)
    assert torch.equal(table({"row": torch.tensor([4, 5, 6])}), torch.zeros(3, 3))
    table({"row": torch.tensor([6, 6])}).sum().backward()
    assert parameter.grad.shape == (7, 2)
    assert parameter.grad.to_dense()[6].abs().min() > 0
    assert parameter.grad.to_dense()[:6].abs().max() == 0


def keyed(**changes) -> KeyedTable:
    settings = {
        "rows": 100,
        "width": 10,
        "rank": 8,
        "fields": {"puzzle": 1, "dihedral": 1, "colors": 3},
        "keys": [("puzzle", "dihedral"), ("puzzle", "colors"), ("puzzle", "dihedral", "colors")],
    }
    return KeyedTable(**(settings | changes))


def slow_address(table: KeyedTable, example: dict[str, list[int]], number: int) -> int:
    """Python's whole numbers have no limit, so wrapping to 64 bits is spelled out."""
    multipliers = iter(table.multipliers.tolist())
    own = {field: [next(multipliers) for _ in range(columns)] for field, columns in table.fields.items()}
    hashed = 0
    for field in table.keys[number // table.heads]:
        for value, multiplier in zip(example[field], own[field], strict=True):
            hashed ^= ((value + 1) * multiplier) % 2**64
    signed = hashed - 2**64 if hashed >= 2**63 else hashed
    return signed % table.sizes[number]


def test_keyed_table_equals_the_slow_version():
    table = filled(keyed())
    rng = torch.Generator().manual_seed(3)
    examples = [
        {"puzzle": [p], "dihedral": [g], "colors": torch.randperm(3, generator=rng).tolist()}
        for p in (0, 7, 10**6)
        for g in (0, 5)
    ]
    key = {
        "puzzle": torch.tensor([e["puzzle"][0] for e in examples]),
        "dihedral": torch.tensor([e["dihedral"][0] for e in examples]),
        "colors": torch.tensor([e["colors"] for e in examples]),
    }
    composed = torch.randn(6, 10, generator=rng)
    out = table(key, composed)
    match, up = table.match.weight.double(), table.up.weight.double()
    for b, example in enumerate(examples):
        read = [t.weight[slow_address(table, example, n)].double() for n, t in enumerate(table.tables)]
        values = torch.cat(read)
        k, q = match @ values, composed[b].double()
        k, q = (v / math.sqrt((v**2).mean().item() + 1e-5) for v in (k, q))
        gate = 1 / (1 + math.exp(-(k @ q).item() / math.sqrt(10)))
        torch.testing.assert_close(out[b].double(), gate * (up @ values), rtol=1e-5, atol=1e-5)


def test_keyed_table_sizes_are_distinct_primes_that_share_the_rank():
    table = keyed()
    assert table.sizes == [101, 103, 107, 109, 113, 127]
    assert [t.weight.shape[1] for t in table.tables] == [2, 2, 1, 1, 1, 1]
    assert len(table.row_parameters()) == 6
    with torch.device("meta"):
        large = keyed(rows=876_705, width=512, rank=32)
    assert sum(p.numel() for p in large.row_parameters()) == pytest.approx(28_054_560, rel=1e-4)


def test_keyed_table_ignores_what_a_sub_key_leaves_out_and_spreads_the_rest():
    table = keyed(rows=5000)
    one = {
        "puzzle": torch.arange(1000),
        "dihedral": torch.zeros(1000).long(),
        "colors": torch.arange(3).expand(1000, 3),
    }
    other = one | {"colors": torch.tensor([2, 0, 1]).expand(1000, 3)}
    first, second = table.addresses(one), table.addresses(other)
    assert torch.equal(first[0], second[0])  # (puzzle, dihedral) does not see colours
    assert (first[2] != second[2]).float().mean() > 0.99
    for address in first:
        # 1000 balls thrown into about 5000 boxes at random occupy 5000 (1 - e^-0.2) = 906 of them.
        assert 850 < len(address.unique()) <= 1000


def test_keyed_table_hash_is_fixed_by_the_seed_and_saved():
    assert torch.equal(keyed(seed=4).multipliers, keyed(seed=4).multipliers)
    assert not torch.equal(keyed(seed=4).multipliers, keyed(seed=5).multipliers)
    assert "multipliers" in keyed().state_dict()


def test_keyed_table_learns_from_zero():
    table = keyed()
    key = {"puzzle": torch.tensor([1]), "dihedral": torch.tensor([2]), "colors": torch.tensor([[0, 2, 1]])}
    out = table(key, torch.zeros(1, 10))
    assert torch.equal(out, torch.zeros(1, 10))
    (out - 1).square().sum().backward()
    assert all(t.weight.grad.is_sparse and t.weight.grad.to_dense().abs().sum() > 0 for t in table.tables)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: RowTable(4, 3, rank=4), "rank must be in 1..3, got 4"),
        (lambda: RowTable(4, 3, rank=0), "rank must be in 1..3, got 0"),
        (lambda: RowTable(0, 3), "got 0 and 3"),
        (lambda: RowTable(4, 3)({"rwo": torch.tensor([0])}), "no field 'row'"),
        (lambda: RowTable(4, 3)({"row": torch.tensor([4])}), "must be in 0..3, got 4"),
        (lambda: keyed(keys=[("puzle",)]), "no field 'puzle'"),
        (lambda: keyed(rank=5), "rank 5 cannot be split over 6 tables"),
        (lambda: keyed(rank=11), "within width 10"),
        (lambda: keyed(keys=[]), "0 tables"),
    ],
)
def test_impossible_tables_are_refused(build, message: str):
    with pytest.raises(CharmError, match=message):
        build()
