"""A writer is trained, resumed, saved and asked by the same engine and the same votes as every reasoner."""

from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

from charm.arc.run import arc_job, train
from charm.commands.train import train_preset
from charm.config import from_json, to_json
from charm.devices import Place, place
from charm.errors import CharmError
from charm.evaluation.evaluate import evaluate_run
from charm.evaluation.predict import Request, predict
from charm.evaluation.protocols import protocol_named, protocol_text
from charm.models.model import CharmModel
from charm.report.page import ranked, write_report
from charm.runs.checkpoint import folder_of
from charm.runs.settings import TrainConfig
from charm.runs.votes import Votes, merge
from charm.tasks.dataset import load_dataset
from charm.tasks.keys import MemoryConfig
from tests.toy import toy_config, write_toy_tasks
from tests.toy.writer import writer_config


def weights(run: Path, step: int) -> dict[str, torch.Tensor]:
    return CharmModel.from_pretrained(folder_of(run, step)).state_dict()


def test_a_resumed_writer_ends_with_the_same_bits(tmp_path: Path) -> None:
    config = writer_config(tmp_path)
    with place("cpu") as here:
        train(config, tmp_path / "whole", here, say=lambda text: None)
        train(replace(config, steps=3), tmp_path / "parts", here, say=lambda text: None)
        train(config, tmp_path / "parts", here, resume=True, say=lambda text: None)
    whole, parts = weights(tmp_path / "whole", 6), weights(tmp_path / "parts", 6)
    assert all(torch.equal(whole[name], parts[name]) for name in whole)


def ballot(votes: Votes) -> dict[tuple[int, int], tuple[int, float]]:
    """The candidate's hash and its log-odds, by question and view."""
    hashes = votes.candidates.hash_K[votes.candidate_V]
    columns = (votes.question_V.tolist(), votes.row_V.tolist(), hashes.tolist(), votes.logit_V.tolist())
    return {(q, row): (grid, pytest.approx(logit)) for q, row, grid, logit in zip(*columns, strict=True)}


def test_training_lowers_the_loss_and_the_model_votes(tmp_path: Path) -> None:
    config = writer_config(tmp_path, steps=30)
    with place("cpu") as here:
        job = arc_job(config, here, say=lambda text: None)
        losses = [job.update(step)["loss"].item() for step in range(30)]
        assert sum(losses[-5:]) < 0.8 * sum(losses[:5])
        request = Request(job.model, load_dataset(config.data), (1,), views=3)
        votes = predict(request, here)[1]
        assert len(votes) == 2 * 3
        again = predict(request, here)[1]
        assert votes.candidate_V.tolist() == again.candidate_V.tolist()  # nothing is dropped when asked
        shares = [predict(request, Place(here.device, rank, 2))[1] for rank in range(2)]
        assert [len(share) for share in shares] == [3, 3]
        assert ballot(merge(shares)) == ballot(votes)  # candidates are judged alike by however many processes
        with pytest.raises(CharmError, match="loops must be 1, got 2"):
            predict(replace(request, loops=(2,)), here)


def test_eval_asks_a_writer_once_and_adapt_refuses_it(tmp_path: Path) -> None:
    run, config = tmp_path / "run", writer_config(tmp_path)
    with place("cpu") as here:
        train(config, run, here, say=lambda text: None)
        found = evaluate_run(run, "standard", protocol_named("standard"), here)
        assert found is not None
        assert found["protocol"]["loops"] == (1,)
        assert found["puzzles"] == 2
        for protocol in (None, protocol_named("standard")):  # its page ranks the same votes in the same order
            _, used, shown = ranked(run, protocol, None)
            assert {"name": "standard", **asdict(used)} == found["protocol"]
            assert shown is not None
            assert shown.scores.to_json() == {name: found[name] for name in shown.scores.to_json()}
        text = "standard (all views, at most 10 checkpoints, ranked by votes x likelihood)"
        assert protocol_text(used) == text
        page = write_report(run).read_text()
        assert '"likelihood":"how probable the model finds the whole grid' in page
        assert text in page


def test_a_base_without_evaluated_tasks_names_what_comes_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, config = tmp_path / "run", writer_config(tmp_path)
    config = replace(config, data=replace(config.data, train=config.data.evaluate, evaluate=()))
    train_preset("toy", config, ["--out", str(run)])
    assert f"finished; next: charm solve TASKS --checkpoint {run}\n" in capsys.readouterr().out
    with place("cpu") as here, pytest.raises(CharmError, match=r"no tasks to evaluate; `charm solve TASKS"):
        evaluate_run(run, "standard", protocol_named("standard"), here)


def test_what_cannot_be_trained_is_refused(tmp_path: Path) -> None:
    config = writer_config(tmp_path / "c")
    enlarged = replace(config.data, scales=2)
    with pytest.raises(CharmError, match=r"does not use data\.scales: it must stay 1, got 2"):
        replace(config, data=enlarged)
    for name, value in {"accumulate": 2, "batch": 4, "halt_weight": 0.1, "shard_tables": True}.items():
        with pytest.raises(CharmError, match=f"kind writer does not use {name}: it must stay"):
            replace(config, **{name: value})
    assert not {"batch", "halt_weight", "accumulate", "shard_tables"} & set(to_json(config))
    assert not {"canvas", "scales"} & set(to_json(config)["data"])
    assert from_json(TrainConfig, to_json(config)) == config
    with place("cpu") as here, pytest.raises(CharmError, match="longest pair"):
        arc_job(writer_config(tmp_path / "b", tokens=20), here)


def test_the_loss_can_be_traced_for_compilation(tmp_path: Path) -> None:
    with place("cpu") as here:
        job = arc_job(writer_config(tmp_path), here, say=lambda text: None)
        packs, writer = job.learner.examples.prepare(0), job.model.reasoner
        job.model.eval()
        task_ND = job.model.task(packs.row_N)
        plain, _ = writer.loss(packs.pack, task_ND)
        traced, _ = torch.compile(writer.loss, backend="eager")(packs.pack, task_ND)
        assert traced.item() == pytest.approx(plain.item(), rel=1e-5)


def test_compiling_learns_nothing_and_takes_no_sequence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = []

    def eager(loss, dynamic):  # type: ignore[no-untyped-def]
        compiled.append(loss)
        return lambda *given: loss(*given)

    monkeypatch.setattr(torch, "compile", eager)
    with place("cpu") as here:
        job = arc_job(writer_config(tmp_path, compile="on"), here, say=lambda text: None)
        job.update(0)
        packs, writer = job.learner.examples, job.model.reasoner
        taken, before = packs.taken.copy(), {n: t.clone() for n, t in job.model.state_dict().items()}
        job.compile()
        assert compiled == [writer.loss]
        assert writer.compiled
        assert writer.learned_loss != writer.loss
        assert packs.taken == taken
        assert taken[0] > 0
        assert all(parameter.grad is None for parameter in job.model.parameters())
        assert all(torch.equal(tensor, before[n]) for n, tensor in job.model.state_dict().items())
        off = arc_job(writer_config(tmp_path, compile="off"), here, say=lambda text: None)
        off.compile()
        assert not off.model.reasoner.compiled
        assert off.model.reasoner.learned_loss == off.model.reasoner.loss


def test_a_run_starts_from_the_weights_of_another(tmp_path: Path) -> None:
    """Shared weights and the vectors of tasks that both have are the same to the bit; other tasks start at the mean."""
    first = writer_config(tmp_path)
    more = write_toy_tasks(tmp_path / "more", 3)
    data = replace(first.data, evaluate=(str(more),))
    second = replace(first, data=data, start=str(tmp_path / "first"), steps=3)
    with place("cpu") as here:
        train(first, tmp_path / "first", here, say=lambda text: None)
        started = arc_job(second, here, say=lambda text: None).model
        other = CharmModel.from_pretrained(folder_of(tmp_path / "first", 6))
        known = set(other.instances.puzzles)
        assert known < set(started.instances.puzzles)
        theirs = other.state_dict()
        for name, tensor in started.state_dict().items():
            if name != "memory.base.rows.weight":
                assert torch.equal(tensor, theirs[name])
        for puzzle in started.instances.puzzles:
            row = started.state_dict()["memory.base.rows.weight"][started.instances.number(puzzle)]
            if puzzle in known:
                assert torch.equal(row, theirs["memory.base.rows.weight"][other.instances.number(puzzle)])
            else:
                assert torch.equal(row, theirs["memory.base.rows.weight"].mean(0))
                assert row.any()
        # As many tasks, but none in common: all start at the mean.
        write_toy_tasks(tmp_path / "others", 2)
        for path in (tmp_path / "others").iterdir():
            path.rename(path.with_name(f"other_{path.name}"))
        apart = replace(second, data=replace(data, evaluate=(str(tmp_path / "others"),)))
        vectors = arc_job(apart, here, say=lambda text: None).model.state_dict()["memory.base.rows.weight"]
        assert len(vectors) == len(known)
        assert torch.equal(vectors, theirs["memory.base.rows.weight"].mean(0).expand_as(vectors))
        # A resumed run has its own weights: the model that it started from may be gone.
        train(second, tmp_path / "second", here, say=lambda text: None)
        (tmp_path / "first").rename(tmp_path / "gone")
        train(replace(second, steps=6), tmp_path / "second", here, resume=True, say=lambda text: None)
        with pytest.raises(CharmError, match="neither a saved model nor a run"):
            arc_job(second, here)
        wide = replace(second, reasoner=replace(second.reasoner, layers=2), start=str(tmp_path / "gone"))
        with pytest.raises(CharmError, match="another shape"):
            arc_job(wide, here)
        canvas = replace(toy_config(more), start=str(tmp_path / "gone"))
        with pytest.raises(CharmError, match=r"^--start needs a network of this run's kind, urm; .* of kind writer$"):
            arc_job(canvas, here)
        apart = replace(second, memory=replace(second.memory, rank=4), start=str(tmp_path / "gone"))
        rank = f"--memory.rank {second.memory.rank}, now 4"
        with pytest.raises(CharmError, match=rf"this run's memory; that model has another \({rank}\)$"):
            arc_job(apart, here)


def test_a_canvas_reasoner_starts_with_the_rows_of_the_views_that_both_have(tmp_path: Path) -> None:
    first = toy_config(write_toy_tasks(tmp_path / "tasks", 2), checkpoint_every=12)
    second = replace(first, data=replace(first.data, views=9), start=str(tmp_path / "first"))
    with place("cpu") as here:
        train(first, tmp_path / "first", here, say=lambda text: None)
        started = arc_job(second, here, say=lambda text: None).model
    other = CharmModel.from_pretrained(folder_of(tmp_path / "first", 12))
    name = "memory.residual.rows.weight"
    here_rows, there_rows = started.state_dict()[name], other.state_dict()[name]
    assert len(here_rows) > len(there_rows)
    assert there_rows.any()
    for puzzle in other.instances.puzzles:
        places = dict(zip(started.instances.codes(puzzle), started.instances.rows(puzzle), strict=True))
        for code, row in zip(other.instances.codes(puzzle), other.instances.rows(puzzle), strict=True):
            assert torch.equal(here_rows[places[code]], there_rows[row])
    with place("cpu") as here, pytest.raises(CharmError, match="this run's memory"):
        arc_job(replace(second, memory=MemoryConfig(rank=4)), here)


def test_a_flag_says_whether_colours_are_the_original_ones(tmp_path: Path) -> None:
    config = writer_config(tmp_path)
    config = replace(
        config,
        data=replace(config.data, augment="own-colors", views=16),
        memory=replace(config.memory, colors="flagged"),
    )
    with place("cpu") as here:
        train(config, tmp_path / "run", here, say=lambda text: None)
        model, data = CharmModel.from_pretrained(folder_of(tmp_path / "run", 6)), load_dataset(config.data)
        votes = predict(Request(model, data, (1,), views=16), here)[1]
    rows = data.instances.rows(data.questions[0].task_id)
    assert set(rows.tolist()) <= set(votes.row_V.tolist())
    keys, task_RD = data.keys(), model.task(torch.from_numpy(rows).long())
    own = (keys.colors[rows] == torch.arange(10)).all(1)
    assert own.tolist() == [True, False] * 8
    kinds: dict[tuple[int, bool], torch.Tensor] = {}
    for row, mine, vector in zip(rows.tolist(), own.tolist(), task_RD, strict=True):
        assert torch.equal(kinds.setdefault((int(keys.dihedral[row]), mine), vector), vector)
    assert len({tuple(vector.tolist()) for vector in kinds.values()}) == len(kinds) > 8
    with pytest.raises(CharmError, match="colors 'flagged' needs design 'cose' and dihedral 'lookup'"):
        MemoryConfig(colors="flagged", dihedral="slots")
