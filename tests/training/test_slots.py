"""Slots one by one: whose turn it is, what they meet, what chance decides, and HRM's further loss."""

import math
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from charm.arc.run import arc_job
from charm.devices import Place
from charm.models.canvas.training import Slots, pick_slots, refinement_loss
from charm.runs.settings import TrainConfig
from tests.toy import refine, toy_config, write_toy_tasks, write_wide_task

HERE = Place(torch.device("cpu"))


def quiet(text: str) -> None:
    pass


@pytest.fixture
def two_sizes(tmp_path: Path) -> TrainConfig:
    folder = write_toy_tasks(tmp_path / "tasks")
    write_wide_task(folder)
    return toy_config(folder)


def some_slots(**entries: int) -> dict[int, Slots]:
    """Slots of each side as far as choosing among them needs: how many examples they stand for."""
    groups = {
        int(side[1:]): SimpleNamespace(side=int(side[1:]), stream=SimpleNamespace(mixture=range(count)))
        for side, count in entries.items()
    }
    return groups  # type: ignore[return-value]


def test_canvas_sizes_come_up_by_their_share_of_the_examples() -> None:
    steps, counts = 4000, {11: 100, 16: 250, 30: 650}
    slots = some_slots(s11=100, s16=250, s30=650)
    picked = [pick_slots(slots, 0, step).side for step in range(steps)]
    found = Counter(picked)
    for side, count in counts.items():
        share = count / 1000
        assert abs(found[side] - steps * share) < 4 * math.sqrt(steps * share * (1 - share))
    assert picked[:40] == [pick_slots(slots, 0, step).side for step in range(40)]
    assert picked[:40] != [pick_slots(slots, 1, step).side for step in range(40)]
    # No pattern from one step to the next: a size follows itself as often as its share says.
    again = sum(one == next_one == 30 for one, next_one in pairwise(picked))
    assert abs(again / steps - 0.65**2) < 0.03


def test_every_size_of_a_run_is_trained(two_sizes: TrainConfig, tmp_path: Path) -> None:
    job = arc_job(two_sizes, HERE, quiet)
    assert sorted(job.learner.examples.groups) == [11, 16]
    # Nine small pairs and three wide ones, each under six views.
    wide = sum(pick_slots(job.learner.examples.groups, two_sizes.seed, step).side == 16 for step in range(400))
    assert 0.15 < wide / 400 < 0.35


def test_a_slot_meets_no_example_twice_however_often_a_run_is_interrupted(
    two_sizes: TrainConfig, tmp_path: Path
) -> None:
    """Saved and restored after every single step, slots still walk through their own streams."""
    job = arc_job(two_sizes, HERE, quiet)
    slots = job.learner.examples.groups[11]
    bank, keys = job.data.bank, job.data.keys()
    met: list[list[tuple[int, ...]]] = [[] for _ in range(len(slots))]
    for step in range(12):
        halted = slots.halted_B.clone()
        refine(job.model, slots, job.learner.examples.size, step, two_sizes.seed)
        job.model.zero_grad(set_to_none=True)
        for slot in torch.nonzero(halted).flatten().tolist():
            met[slot].append((int(slots.row_B[slot]), *slots.inputs_BT[slot].tolist()))
        saved = {name: tensor.clone() for name, tensor in slots.state().items()}
        slots = Slots(job.model.reasoner, slots.stream, bank, keys, (0, two_sizes.batch))
        slots.restore(saved)
        assert slots.turn.tolist() == list(map(len, met))
    assert min(map(len, met)) >= 4  # three refinement steps at most
    fresh = Slots(job.model.reasoner, slots.stream, bank, keys, (0, two_sizes.batch))
    for turn in range(4):
        for slot in range(len(fresh)):
            expected = (int(fresh.next_row_B[slot]), *fresh.next_inputs_BT[slot].tolist())
            assert met[slot][turn] == expected
        fresh.turn += 1
        fresh._lay_out(np.arange(len(fresh)))


def test_chance_is_decided_by_seed_step_slot_and_size(two_sizes: TrainConfig, tmp_path: Path) -> None:
    """No two of these share a number, the same ask gives the same, and a share of slots gets its part of all."""
    job = arc_job(two_sizes, HERE, quiet)

    def drawn(slots: Slots, step: int, seed: int) -> list[list[float]]:
        slots.prepare(step, seed)
        return slots.exploration_B2.tolist()

    numbers = [
        number
        for slots in job.learner.examples.groups.values()
        for seed in (0, 1)
        for step in (0, 1, 7)
        for pair in drawn(slots, step, seed)
        for number in pair
    ]
    assert len(numbers) == len(set(numbers)) == 2 * 2 * 3 * two_sizes.batch * 2
    assert 0 <= min(numbers) < 0.1
    assert 0.9 < max(numbers) < 1
    stream, bank, keys = job.learner.examples.groups[16].stream, job.data.bank, job.data.keys()
    shares = ((0, two_sizes.batch), (2, 6))
    whole, part = (Slots(job.model.reasoner, stream, bank, keys, share) for share in shares)
    assert drawn(part, 5, 3) == drawn(whole, 5, 3)[2:6]
    assert torch.equal(part.next_inputs_BT, whole.next_inputs_BT[2:6])


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_exploration_forbids_a_model_that_is_sure_to_halt(share: float, tmp_path: Path) -> None:
    """Step by step as the definition says: a minimum of 2 or 3 steps, with this share of chance."""
    config = toy_config(write_toy_tasks(tmp_path / "tasks"), batch=8)
    config = replace(config, reasoner=replace(config.reasoner, exploration=share))
    job = arc_job(config, HERE, quiet)
    with torch.no_grad():
        job.model.reasoner.halt_bias.fill_(50.0)
    (slots,) = job.learner.examples.groups.values()
    limit = config.reasoner.refinement_steps
    halted = []
    for step in range(6):
        refine(job.model, slots, job.learner.examples.size, step, config.seed)
        for slot, (explore, where) in enumerate(slots.exploration_B2.tolist()):
            made, minimum = int(slots.steps_B[slot]), 2 + int(2 * where) if explore < share else 0
            assert bool(slots.halted_B[slot]) == (made >= min(minimum, limit))
            halted.append(bool(slots.halted_B[slot]))
    assert 0 < sum(halted) <= len(halted)
    assert all(halted) == (share == 0)


def test_hrm_foresees_the_halt_logit_at_its_last_step_only(tmp_path: Path) -> None:
    """The loss of every step, put together slot by slot from the definition: after steps 1 and 2 of 3 the continue
    logit should foresee the larger of the next step's logits, after step 3 the next halt logit.
    """
    config = toy_config(write_toy_tasks(tmp_path / "tasks"), batch=4)
    config = replace(config, reasoner=replace(config.reasoner, kind="hrm", halt_outputs=2, exploration=0.0, inner=1))
    job = arc_job(config, HERE, quiet)
    model = job.model
    with torch.no_grad():  # continue is larger, so that it matters which one is foreseen, and no slot halts early
        model.reasoner.halt_bias.copy_(torch.tensor([-1.0, 2.0]))
    (slots,) = job.learner.examples.groups.values()
    previous = slots.state_SBLD
    for step in range(7):
        made = step % 3 + 1  # refinement steps of every slot, this one included
        assert slots.halted_B.tolist() == [made == 1] * 4
        # Takes examples: slots now have this step's.
        found = refine(model, slots, job.learner.examples.size, step, config.seed)
        model.zero_grad(set_to_none=True)
        after = slots.state_SBLD.clone()
        before = model.reasoner.initial_state(4, slots.side**2) if made == 1 else previous
        with torch.no_grad():
            _, logits, halt = model(before, slots.inputs_BT, slots.row_B, slots.side)
            _, _, following = model(after, slots.inputs_BT, slots.row_B, slots.side)
            plain, _ = refinement_loss(logits, halt, slots.targets_BT, 4, config.halt_weight)
        further = 0.0
        for slot in range(4):
            halting, going_on = following[slot].tolist()
            target = halting if made == 3 else max(halting, going_on)
            further += float(F.binary_cross_entropy_with_logits(halt[slot, 1], torch.tensor(target).sigmoid()))
        expected = float(plain) + config.halt_weight * further / 4
        assert float(found["loss"]) == pytest.approx(expected, rel=1e-5)
        previous = after
