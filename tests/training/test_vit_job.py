"""A vit is trained, resumed, evaluated, shown and adapted by the same commands as every reasoner."""

import shutil
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from charm.arc.presets import preset
from charm.arc.run import arc_job, train
from charm.bench.training import measure_job
from charm.devices import place
from charm.domains import PageOptions
from charm.errors import CharmError
from charm.evaluation.evaluate import evaluate_run
from charm.evaluation.predict import Request, predict
from charm.evaluation.protocols import protocol_named
from charm.models.model import CharmModel
from charm.models.vit.config import LOOPVIT, VARC, VitConfig
from charm.models.vit.network import Vit
from charm.report.film import refinement_film
from charm.report.page import ranked
from charm.report.pages import write_arc_page
from charm.runs.checkpoint import folder_of, newest_checkpoint
from charm.solving.group import Solver
from charm.solving.options import SolveOptions
from charm.solving.solution import Clock, Solution
from charm.tasks.dataset import load_dataset
from charm.tasks.sources import load_source
from charm.tasks.task import Task
from charm.training.adaptation import Adaptation, Recipe, recipe_for
from tests.toy import toy_config, write_toy_tasks
from tests.toy.vit import vit_config


def quiet(text: str) -> None:
    pass


def solved(solver: Solver, task: Task) -> Solution:
    found: dict[str, Solution] = {}
    solver.work([task], Clock(600.0), lambda used, text: None, found.update)
    return found[task.id]


def test_a_resumed_vit_ends_with_the_same_bits(tmp_path: Path) -> None:
    config = vit_config(tmp_path, replace(LOOPVIT, recurrences=2))
    with place("cpu") as here:
        train(config, tmp_path / "whole", here, say=quiet)
        train(config, tmp_path / "parts", here, say=quiet)
        shutil.rmtree(folder_of(tmp_path / "parts", 4))
        train(config, tmp_path / "parts", here, resume=True, say=quiet)
    whole, parts = (
        CharmModel.from_pretrained(folder_of(tmp_path / name, 4)).state_dict() for name in ("whole", "parts")
    )
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    assert whole["memory.residual.rows.weight"].shape == (1 + 2 * 51, 16)


def test_a_compiled_vit_begins_as_a_plain_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling learns from nothing, and one graph serves all layers and updates."""
    plain = Vit.compile_parts
    monkeypatch.setattr(Vit, "compile_parts", lambda self: plain(self, backend="eager"))
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    config = vit_config(tmp_path, replace(VARC, dropout=0.0))
    config = replace(config, reasoner=replace(config.reasoner, layers=2))
    losses = []
    with place("cpu") as here:
        for compile_ in ("off", "on"):
            job = arc_job(replace(config, compile=compile_), here, say=quiet)
            job.compile()
            assert all(parameter.grad is None for parameter in job.model.parameters())
            losses.append([job.update(step)["loss"].item() for step in range(2)])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


def test_training_lowers_the_loss_and_510_votes_answer_each_question(tmp_path: Path) -> None:
    config = vit_config(tmp_path, steps=30)
    with place("cpu") as here:
        job = arc_job(config, here, say=quiet)
        losses = [job.update(step)["loss"].item() for step in range(30)]
        assert sum(losses[-5:]) < 0.8 * sum(losses[:5])
        data = load_dataset(replace(config.data, tasks=("toy1",)), job.data.instances)
        request = Request(job.model, data, config.evaluate_loops, batch=51)
        votes = predict(request, here)
    assert sorted(votes) == list(range(1, 11))
    assert sum(map(len, votes.values())) == 510
    assert all(len(np.unique(one.row_V)) == 51 for one in votes.values())
    assert all(np.isfinite(votes[draw].logit_V).all() for draw in votes)
    # Other placements, other answers.
    assert any(not np.array_equal(votes[1].candidates.hash_K, votes[draw].candidates.hash_K) for draw in range(2, 11))


def test_a_perfect_answer_is_read_back_through_all_views_and_placements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that copies its input, with the boundary of an output."""
    config = vit_config(tmp_path)

    def copy(self, state, tokens, task, side):  # type: ignore[no-untyped-def]
        canvas = tokens.view(-1, side, side).long()
        edge = torch.zeros_like(canvas)
        edge[:, 1:] |= canvas[:, :-1]
        edge[:, :, 1:] |= canvas[:, :, :-1]
        answer = torch.where(canvas > 0, canvas, (edge > 0).long())
        return state, 9.0 * torch.nn.functional.one_hot(answer.flatten(1), 12), torch.zeros(len(tokens))

    monkeypatch.setattr("charm.models.vit.network.Vit.forward", copy)
    with place("cpu") as here:
        data = load_dataset(config.data)
        model = arc_job(config, here, say=quiet, data=data).model
        votes = predict(Request(model, data, (1, 2, 3), batch=60), here)
    inputs = [pair.input for task in load_source(str(tmp_path / "tasks")).tasks for pair in task.test]
    for one in votes.values():
        assert len(one.candidates) == 2
        for number, grid in enumerate(inputs):
            (place_,) = np.flatnonzero(one.candidates.question_K == number)
            assert np.array_equal(one.candidates.grid(int(place_)), grid)


def test_eval_and_the_page_serve_a_vit(tmp_path: Path) -> None:
    run, config = tmp_path / "run", vit_config(tmp_path, replace(VARC, placements=2))
    config = replace(config, data=replace(config.data, views=6))
    with place("cpu") as here:
        train(config, run, here, say=quiet)
        found = evaluate_run(run, "standard", protocol_named("standard"), here)
    assert found is not None
    assert found["protocol"]["loops"] == (1, 2)
    assert found["puzzles"] == 2
    _, used, shown = ranked(run, None, None)
    assert {"name": "standard", **asdict(used)} == found["protocol"]
    assert shown is not None
    assert shown.scores.to_json() == {name: found[name] for name in shown.scores.to_json()}
    page = write_arc_page([run], tmp_path / "page.html", PageOptions(films=1, device="cpu"))
    assert "toy0" in Path(page).read_text()


def test_solving_trains_a_copy_of_all_weights_and_puts_them_back(tmp_path: Path) -> None:
    run, config = tmp_path / "run", vit_config(tmp_path, replace(VARC, placements=2))
    with place("cpu") as here:
        train(config, run, here, say=quiet)
        task = load_source(str(tmp_path / "tasks" / "toy0.json")).tasks[0]
        task = replace(task, id="new")
        for saved in (run, newest_checkpoint(run)):  # a saved model alone shows no configuration of data
            solver = Solver(saved, SolveOptions(steps=3, batch=4, views=51, mode="full"), here)
            base = {name: value.clone() for name, value in solver.start.base.items()}
            table = solver.model.memory.residual.rows
            known = table.weight.detach().clone()
            data = solver.start.prepare([task])
            assert data.question_sides == (64,)
            assert len(data.instances.rows("new")) == 51
            solution = solved(solver, task)
            assert solution.updates == 3
            assert solution.views == 51
            (candidates,) = solution.answers.values()
            assert 0 < sum(one.votes for one in candidates) <= solution.cast == 2 * 51
            assert "of 102 votes" in solution._repr_html_()
            moved = {name for name, value in solver.start.shared.items() if not torch.equal(value, base[name])}
            assert {"reasoner.positions", "reasoner.head.weight"} <= moved
            assert torch.equal(table.weight[: len(known)], known)  # vectors of trained tasks never move
            assert table.weight[solver.model.instances.rows("new")].any()
            solver.start.prepare([task])
            assert all(torch.equal(value, base[name]) for name, value in solver.start.shared.items())


def test_a_compiled_vit_is_asked_in_one_shape_and_answers_as_a_plain_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes: list[tuple[int, bool]] = []
    compile_parts, forward = Vit.compile_parts, Vit.forward

    def counted(self: Vit, state: torch.Tensor, tokens: torch.Tensor, *rest: Any) -> Any:
        shapes.append((len(tokens), torch.is_grad_enabled()))
        return forward(self, state, tokens, *rest)

    monkeypatch.setattr(Vit, "compile_parts", lambda self: compile_parts(self, backend="eager"))
    monkeypatch.setattr(Vit, "forward", counted)
    torch._dynamo.reset()
    run, config = tmp_path / "run", vit_config(tmp_path, replace(VARC, placements=2, dropout=0.0))
    options = SolveOptions(steps=3, batch=4, views=51)
    found = []
    with place("cpu") as here:
        train(config, run, here, say=quiet)
        task = load_source(str(tmp_path / "tasks" / "toy0.json")).tasks[0]
        for compiled in (False, True):
            solver = Solver(run, options, here)
            if compiled:
                solver.compile("on")
                assert all(parameter.grad is None for parameter in solver.model.parameters())
            assert solver.model.reasoner.compiled is compiled
            shapes.clear()
            found.append(solved(solver, replace(task, id="new")))
    assert set(shapes) == {(4, True), (VitConfig.solving.filled, False)}
    plain, as_compiled = (
        [(one.grid.tolist(), one.votes) for ranked in solution.answers.values() for one in ranked] for solution in found
    )
    assert plain == as_compiled
    assert len(plain) > 1


def test_adaptation_follows_varcs_published_rates(tmp_path: Path) -> None:
    recipe = recipe_for(VARC, Recipe(steps=50, batch=4), "full")
    assert (recipe.shared_lr, recipe.row_lr) == (3e-4, 3e-4)
    assert (recipe.shared_decay, recipe.row_decay, recipe.rows) == (0.0, 0.0, "dense-adamw")
    assert recipe_for(VARC, Recipe(), "rows").row_lr == Recipe().row_lr
    with pytest.raises(CharmError, match=r"row_decay must be 0, got 0\.1"):
        Recipe(rows="dense-adamw")
    assert recipe_for(preset("arc1").reasoner, Recipe(), "full") == Recipe()
    config = vit_config(tmp_path)
    with place("cpu") as here:
        job = arc_job(config, here, say=quiet)
        adaptation = Adaptation(job.model, job.data, recipe, "full", here)
        rates = []
        for passed in (0.0, 0.05, 0.0, 0.1, 0.55, 1.0):
            adaptation.update(passed)
            rates.append([group["lr"] for one in adaptation.optimizers.all for group in one.param_groups])
    # Up over a tenth of the time or of the updates, then down along half a cosine.
    assert np.allclose(rates, [2 * [rate * 3e-4] for rate in (1 / 5, 1 / 2, 3 / 5, 1, 1 / 2, 0)])


def test_adaptation_of_a_vit_clips_all_gradients_together(tmp_path: Path) -> None:
    """The first moments of one update hold a tenth of its gradient: of weights and of task vectors."""
    config = vit_config(tmp_path)
    norms = {}
    with place("cpu") as here:
        for clip in (0.0, 1e-3):
            recipe = recipe_for(VARC, Recipe(batch=4), "full")
            assert recipe.clip == 1.0
            job = arc_job(config, here, say=quiet)
            adaptation = Adaptation(job.model, job.data, replace(recipe, clip=clip), "full", here)
            adaptation.update(0.1)
            moments = [
                [state["exp_avg"].flatten() / 0.1 for state in one.state.values()] for one in adaptation.optimizers.all
            ]
            assert [len(some) for some in moments] == [1, len(list(job.model.reasoner.parameters()))]
            norms[clip] = torch.stack([torch.cat(some).norm() for some in moments])
    assert norms[1e-3].norm() == pytest.approx(1e-3, rel=1e-3)
    torch.testing.assert_close(norms[1e-3], norms[0.0] * 1e-3 / norms[0.0].norm(), rtol=1e-3, atol=1e-8)
    assert norms[0.0].min() > 0


def test_speed_is_measured_in_flops_of_its_shape(tmp_path: Path) -> None:
    config = vit_config(tmp_path)
    with place("cpu") as here:
        found = measure_job("tiny", "large", config, arc_job, here, 0.01)
    assert [side["side"] for side in found["sides"]] == [64]
    assert found["training"] > 0
    forward, training = VARC.flops(64)
    # Ten layers, 1,025 positions: maps of 4 x 512 x 512 and 2 x 512 x 512, and attention; symbols in and out.
    assert forward == 10 * (2 * 1025 * 6 * 512**2 + 4 * 1025**2 * 512) + 4 * 1024 * 48 * 512
    assert training == 3 * forward - 2 * 1024 * 48 * 512


@pytest.mark.parametrize("canvas", ["fit", "large"])
def test_a_reasoner_can_learn_from_enlarged_grids(tmp_path: Path, canvas: str) -> None:
    """The canvas and the scales are options of every reasoner: it trains, votes and is filmed with them."""
    config = toy_config(write_toy_tasks(tmp_path / "tasks", 1), batch=2, steps=2, checkpoint_every=2)
    reasoner = replace(config.reasoner, width=16, refinement_steps=1, recurrences=1, horizon=1)
    data = replace(config.data, canvas=canvas, scales=0, views=2)
    config = replace(config, data=data, reasoner=reasoner, evaluate_loops=(1,))
    with place("cpu") as here:
        job = arc_job(config, here, say=quiet)
        losses = [job.update(step)["loss"].item() for step in range(2)]
        assert np.isfinite(losses).all()
        votes = predict(Request(job.model, job.data, (1,)), here)[1]
        assert len(votes) == 2
        film = refinement_film(job.model, job.data, job.data.questions[0], 1, "cpu")
    assert len(film) == 1
    assert max(film[0].shape) <= 30
