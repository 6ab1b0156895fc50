"""CoSE: the paper's equations and counts, persistence, growth, and the looking glass."""

import copy
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from charm.errors import CharmError
from charm.memory import (
    Add,
    CoSE,
    Film,
    KeyedTable,
    Lookup,
    MemoryModule,
    RowTable,
    SlotPermutation,
    Sum,
    TableMemory,
    dense_parameters,
    factor_parameters,
    row_parameters,
)
from charm.memory.inspect import reads, tables

WIDTH = 12


def arc(
    residual: RowTable | KeyedTable | None = None, gate: bool = False, puzzles: int = 5, width: int = WIDTH
) -> CoSE:
    modifiers = [Lookup("dihedral", 8, width), SlotPermutation("colors", 9, width)]
    return CoSE(Lookup("puzzle", puzzles, width), modifiers, Film(width), residual, gate)


def car(base, combinations: int | None) -> CoSE:
    residual = None if combinations is None else RowTable(combinations * 8 + 1, 256, 16, reserved_row=True)
    return CoSE(base, [Lookup("dihedral", 8, 256)], Film(256, modifiers=1), residual)


def keys(count: int = 7, rows: int = 20, seed: int = 0) -> dict[str, torch.Tensor]:
    rng = torch.Generator().manual_seed(seed)
    return {
        "puzzle": torch.randint(5, (count,), generator=rng),
        "dihedral": torch.randint(8, (count,), generator=rng),
        "colors": torch.stack([torch.randperm(9, generator=rng) for _ in range(count)]),
        "row": torch.randint(1, rows, (count,), generator=rng),
    }


def randomized(memory: MemoryModule, seed: int = 0) -> MemoryModule:
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in memory.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=rng) / 2)
    return memory


def count(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize("gate", [False, True])
def test_cose_equals_its_equation(gate: bool):
    memory = randomized(arc(RowTable(20, WIDTH, rank=4), gate=gate))
    key = keys()
    out = memory(key)
    weights = {name: value.double() for name, value in memory.state_dict().items()}
    for b in range(7):
        p = weights["base.rows.weight"][key["puzzle"][b]]
        u = weights["modifiers.0.rows.weight"][key["dihedral"][b]]
        slots = [weights["modifiers.1.slots"][symbol] for symbol in key["colors"][b].tolist()]
        a = torch.cat([u, weights["modifiers.1.base"], *slots])
        gamma = weights["composer.scale.0.weight"] @ a + weights["composer.scale.0.bias"]
        beta = weights["composer.shift.0.weight"] @ a + weights["composer.shift.0.bias"]
        composed = (1 + gamma) * p + beta
        rho = weights["residual.up.weight"] @ weights["residual.rows.weight"][key["row"][b]]
        m = 1 / (1 + torch.exp(-(weights["gate.weight"] @ composed + weights["gate.bias"]))) if gate else 1
        torch.testing.assert_close(out[b].double(), composed + m * rho, rtol=1e-5, atol=1e-5)


def test_without_a_residual_and_with_zero_rows_only_composition_remains():
    memory = randomized(arc(RowTable(20, WIDTH, rank=4)))
    torch.nn.init.zeros_(memory.residual.rows.weight)
    plain = arc()
    plain.load_state_dict(memory.state_dict(), strict=False)
    assert torch.equal(memory(keys()), plain(keys()))
    assert torch.equal(memory(keys()), memory.compose(keys()))


def test_the_gate_starts_half_open():
    memory = arc(RowTable(20, WIDTH), gate=True)
    torch.nn.init.normal_(memory.residual.rows.weight, generator=torch.Generator().manual_seed(0))
    assert torch.equal(memory(keys()), memory.residual(keys()) / 2)  # the factors are still zero


def test_an_unseen_combination_reads_composition_alone():
    memory = randomized(arc(RowTable(20, WIDTH, rank=4, reserved_row=True)))
    blank = keys() | {"row": torch.zeros(7, dtype=torch.long)}
    assert torch.equal(memory(blank), memory.compose(blank))
    assert not torch.equal(memory(keys()), memory.compose(keys()))


def test_three_separate_tables_are_cose_with_addition():
    memory = CoSE(
        Lookup("puzzle", 5, WIDTH),
        [Lookup("dihedral", 8, WIDTH), Lookup("permutation", 1000, WIDTH, sparse=True)],
        Add(),
    )
    randomized(memory)
    key = keys() | {"permutation": torch.arange(7) * 100}
    parts = [memory.base, *memory.modifiers]
    expected = sum(part.rows.weight[key[part.field]] for part in parts)
    torch.testing.assert_close(memory(key), expected)
    assert [p.shape for p in memory.row_parameters()] == [(1000, WIDTH)]


def test_keyed_residual_is_gated_by_the_composed_vector():
    fields = {"puzzle": 1, "dihedral": 1, "colors": 9}
    table = KeyedTable(50, WIDTH, 4, fields, [("puzzle", "dihedral"), ("puzzle", "colors")], heads=2)
    memory = randomized(arc(table))
    composed = memory.compose(keys())
    torch.testing.assert_close(memory(keys()), composed + table(keys(), composed))
    assert len(memory.row_parameters()) == 4


def test_paper_counts_for_arc():
    rows, width = 876_705, 512
    with torch.device("meta"):
        composition = arc(puzzles=960, width=width)
        low = RowTable(rows, width, 32)
        gated = arc(low, gate=True, puzzles=960, width=width)
        full = TableMemory(RowTable(rows, width))
        composed_full = arc(RowTable(rows, width, 512), puzzles=960, width=width)
        arc2 = arc(RowTable(1_190_624, width, 32), puzzles=1280, width=width)
        corners = CoSE(
            Lookup("puzzle", 960, width),
            [SlotPermutation("corners", 4, width), SlotPermutation("colors", 9, width)],
            Film(width),
        )
        reduced = CoSE(
            Lookup("puzzle", 960, width, reduced=32),
            [Lookup("dihedral", 8, width), SlotPermutation("colors", 9, width)],
            Film(width),
        )
    assert count(composition) == 1_545_728
    assert count(gated.gate) == 262_656
    assert count(low.up) == 16_384
    assert low.rows.weight.numel() == 28_054_560
    assert count(TableMemory(low)) == 28_054_560 + 16_384
    assert count(gated) == 1_824_768 + 28_054_560
    assert count(full) == 448_872_960
    assert count(composed_full) == 1_545_728 + 448_872_960
    assert sum(p.numel() for p in arc2.dense_parameters()) == 1_725_952
    assert sum(p.numel() for p in arc2.row_parameters()) == 38_099_968
    assert count(corners) == 1_545_728 - 7 * width
    assert count(reduced) == 1_545_728 - 960 * 480 + 32 * 512
    # What all tasks share in the continual-learning study: everything but the puzzle rows.
    assert count(composition) - 960 * width == 1_054_208


def test_paper_counts_for_cellular_automata():
    with torch.device("meta"):
        two = Lookup("combination", 1500, 256)
        three = Sum(Lookup("rule", 1500, 256), Lookup("horizon", 4, 256))
        assert count(car(two, None)) == 517_632
        assert count(car(three, None)) == 518_656
        assert count(car(two, 1500)) == 517_632 + 196_112  # prints as 0.714M
        assert count(car(three, 1500)) == 518_656 + 196_112  # 0.715M
        assert count(car(three, 6000)) == 518_656 + 772_112  # 1.291M
        assert count(car(Lookup("combination", 6000, 256), None)) == 1_669_632  # 1.670M
        assert count(TableMemory(RowTable(12_001, 256, reserved_row=True))) == 3_072_256  # 3.072M


def test_row_dense_and_factor_parameters_split_a_whole_model():
    memory = arc(RowTable(20, WIDTH, 4), gate=True)
    model = torch.nn.ModuleDict({"memory": memory, "head": torch.nn.Linear(WIDTH, 1)})
    rows, dense = row_parameters(model), dense_parameters(model)
    assert len(rows) == 1
    assert {id(p) for p in rows} | {id(p) for p in dense} == {id(p) for p in model.parameters()}
    assert len(rows) + len(dense) == len(list(model.parameters()))
    factors = factor_parameters(model)
    expected = [memory.base.rows.weight, memory.modifiers[0].rows.weight, *memory.modifiers[1].parameters()]
    assert [id(p) for p in factors] == [id(p) for p in expected]
    memory.base.rows.sparse = True
    assert [p.shape for p in row_parameters(model)] == [(5, WIDTH), (20, 4)]
    assert len(factor_parameters(model)) == 3


def test_growing_a_puzzle_and_its_rows_keeps_old_outputs():
    memory = randomized(arc(RowTable(20, WIDTH, 4), gate=True))
    before = memory(keys())
    assert memory.base.grow(1) == 5
    assert memory.residual.grow(10) == 20
    assert torch.equal(memory(keys()), before)
    new = {
        "puzzle": torch.tensor([5]),
        "dihedral": torch.tensor([0]),
        "colors": torch.arange(9)[None],
        "row": torch.tensor([29]),
    }
    memory(new).sum().backward()
    assert memory.residual.rows.weight.grad.to_dense()[29].abs().sum() > 0


@pytest.mark.parametrize("grown", [False, True])
def test_save_and_load_give_the_same_bits(tmp_path: Path, grown: bool):
    fields = {"puzzle": 1, "dihedral": 1, "colors": 9}
    for residual in (
        RowTable(20, WIDTH, 4),
        KeyedTable(50, WIDTH, 4, fields, [("puzzle", "colors")], seed=1),
    ):
        memory = randomized(arc(residual, gate=True))
        if grown:
            memory.base.grow(2)
        save_file(memory.state_dict(), tmp_path / "memory.safetensors")
        again = copy.deepcopy(memory)
        randomized(again, seed=9)
        assert not torch.equal(again(keys()), memory(keys()))
        again.load_state_dict(load_file(tmp_path / "memory.safetensors"))
        assert torch.equal(again(keys()), memory(keys()))


def test_a_deep_copy_is_independent():
    memory = randomized(arc(RowTable(20, WIDTH, 4)))
    memory(keys()).sum().backward()
    twin = copy.deepcopy(memory)
    before = memory(keys())
    randomized(twin, seed=3)
    assert torch.equal(memory(keys()), before)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: CoSE(Lookup("a", 2, 4), [Lookup("b", 2, 3)], Add()),
            "modifier 0 must have the base's width 4, got 3",
        ),
        (
            lambda: CoSE(Lookup("a", 2, 4), [Lookup("b", 2, 4)], Film(5, 1)),
            "composer must have the base's width 4, got 5",
        ),
        (lambda: CoSE(Lookup("a", 2, 4), [Lookup("b", 2, 4)], Film(4)), "expects 2 modifiers, got 1"),
        (lambda: CoSE(Lookup("a", 2, 4), [], Add()), "at least one modifier"),
        (lambda: CoSE(Lookup("a", 2, 4), [Lookup("b", 2, 4)], Add(), gate=True), "a gate needs a residual"),
        (lambda: arc(RowTable(5, WIDTH + 1)), "residual must have the base's width 12, got 13"),
    ],
)
def test_impossible_memories_are_refused(build, message: str):
    with pytest.raises(CharmError, match=message):
        build()


@pytest.mark.parametrize("field", ["dihedral", "row"])
def test_a_field_of_another_length_is_refused(field: str):
    key = keys()
    with pytest.raises(CharmError, match=r"different batch sizes: \[1, 7\]"):
        arc(RowTable(20, WIDTH))(key | {field: key[field][:1]})


def test_inspection_finds_untrained_rows_and_norms():
    memory = arc(RowTable(6, WIDTH, 2, reserved_row=True))
    with torch.no_grad():
        memory.residual.rows.weight[2] = torch.tensor([3.0, 4.0])
        memory.residual.rows.weight[4] = torch.tensor([0.0, 1.0])
    by_name = {summary.name: summary for summary in tables(memory)}
    rows = by_name["residual.rows"]
    assert (rows.rows, rows.columns, rows.untrained) == (5, 2, 3)
    assert (rows.mean_norm, rows.max_norm) == (3.0, 5.0)
    assert by_name["base.rows"].untrained == 5
    assert by_name["base.rows"].mean_norm == 0.0
    assert set(by_name) == {
        "base.rows",
        "modifiers.0.rows",
        "modifiers.1.base",
        "modifiers.1.slots",
        "residual.rows",
    }


def test_inspection_averages_reads_over_batches_of_unequal_size():
    memory = randomized(arc(RowTable(20, WIDTH, 4), gate=True))
    whole = keys(10)
    parts = [{f: v[:3] for f, v in whole.items()}, {f: v[3:] for f, v in whole.items()}]
    seen = reads(memory, parts)
    composed = memory.compose(whole)
    gate = torch.sigmoid(composed @ memory.gate.weight.T + memory.gate.bias)
    assert seen.examples == 10
    assert seen.gate_share == pytest.approx(gate.mean().item(), abs=1e-6)
    residual = gate * memory.residual(whole)
    assert seen.norms["residual"] == pytest.approx(residual.norm(dim=1).mean().item(), abs=1e-5)
    assert seen.norms["composed"] == pytest.approx(composed.norm(dim=1).mean().item(), abs=1e-5)
    assert seen.norms["memory"] == pytest.approx(memory(whole).norm(dim=1).mean().item(), abs=1e-5)
    assert seen.norms["base"] == pytest.approx(memory.base(whole).norm(dim=1).mean().item(), abs=1e-5)
    assert "modifier 1" in seen.norms


def test_inspection_of_fresh_ungated_and_plain_memories():
    assert reads(arc(RowTable(20, WIDTH), gate=True), [keys()]).gate_share == 0.5
    assert reads(arc(RowTable(20, WIDTH)), [keys()]).gate_share == 1.0
    assert reads(arc(), [keys()]).gate_share == 0.0
    assert reads(TableMemory(RowTable(20, WIDTH)), [keys()]).norms == {"memory": 0.0}
    with pytest.raises(CharmError, match="no key"):
        reads(arc(), [])


def test_a_composer_for_another_number_of_modifiers_says_what_to_write() -> None:
    base, one = (Lookup(name, 3, 4) for name in ("user", "item"))
    with pytest.raises(CharmError, match=r"expects 2 modifiers, got 1; write Film\(4, modifiers=1\)"):
        CoSE(base, [one], Film(4))
    assert CoSE(base, [one], Film(4, modifiers=1))({"user": [0], "item": [1]}).shape == (1, 4)
