import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from charm.arc.presets import PRESETS, preset
from charm.arc.run import ArcEvaluation, evaluate, train
from charm.devices import Place
from charm.errors import CharmError
from charm.evaluation import predict
from charm.evaluation.evaluate import VoteOptions, evaluate_run, evaluate_votes, scores_table
from charm.evaluation.predict import Request, jobs, predict_votes
from charm.evaluation.protocols import PROTOCOLS, Ballot, Protocol, first_views, load_ballots
from charm.evaluation.ranking import rank as rank_ballots
from charm.models.canvas.answers import refine
from charm.models.canvas.training import halt_logit
from charm.models.model import CharmModel
from charm.report.folder import evaluation, find_evaluation, headline
from charm.report.page import ranked, write_report
from charm.runs.archive import (
    forget_later_votes,
    is_finished,
    pass_folder,
    passes,
    read_pass,
    read_votes,
)
from charm.runs.checkpoint import folder_of, steps_of
from charm.tasks.canvas import crop, place
from charm.tasks.dataset import Dataset, load_dataset
from charm.tasks.keys import ArcKey
from charm.tasks.task import Grid
from tests.toy import toy_config, write_toy_tasks
from tests.toy.models import shake
from tests.toy.pairs import key_at

HERE = Place(torch.device("cpu"))


@pytest.fixture
def setting(tmp_path: Path) -> tuple[CharmModel, Dataset]:
    config = toy_config(write_toy_tasks(tmp_path / "tasks"))
    data = load_dataset(config.data)
    return shake(CharmModel(config.reasoner, config.memory, ArcKey(data.instances))), data


def candidates(folder: Path, loops: int) -> dict[tuple[int, int], bytes]:
    """(question, row) -> the grid that was voted for."""
    votes = read_pass(folder, 0, loops).votes
    found = {}
    for v in range(len(votes)):
        grid = votes.candidates.grid(votes.candidate_V[v])
        found[int(votes.question_V[v]), int(votes.row_V[v])] = bytes(grid.shape) + grid.tobytes()
    return found


def test_votes_equal_one_prediction_at_a_time(setting: tuple[CharmModel, Dataset], tmp_path: Path) -> None:
    """Against the plain path: view of the input on a canvas, refine, crop, invert the view; at both depths."""
    model, data = setting
    predict_votes(Request(model, data, (2, 3), batch=5), HERE, tmp_path, 0)
    for depth in (2, 3):
        found = candidates(tmp_path, depth)
        votes = read_pass(tmp_path, 0, depth).votes
        logit_of = dict(
            zip(zip(votes.question_V.tolist(), votes.row_V.tolist(), strict=True), votes.logit_V, strict=True)
        )
        assert len(found) == sum(len(data.question_rows(question)) for question in data.questions)
        for (question, row), grid_bytes in found.items():
            puzzle, view = key_at(data.instances, row)
            assert puzzle == data.questions[question].task_id
            seen = place(view.apply(data.question_bank.pair(question).input), 11)
            tokens = torch.from_numpy(seen).reshape(1, -1)
            with torch.no_grad():
                task = model.task(torch.tensor([row]))
            logits, halt = list(refine(model.reasoner, tokens, task, depth))[-1]
            assert logit_of[question, row] == pytest.approx(halt_logit(halt).item(), abs=1e-4)
            answer: Grid = crop(logits.argmax(-1).reshape(11, 11).numpy().astype(np.uint8))
            grid = view.invert(answer) if answer.size else answer
            assert grid_bytes == bytes(grid.shape) + grid.tobytes()


def test_ranks_share_the_work(setting: tuple[CharmModel, Dataset], tmp_path: Path) -> None:
    model, data = setting
    predict_votes(Request(model, data, (3,)), HERE, tmp_path / "one", 0)
    for rank in range(3):
        predict_votes(Request(model, data, (3,)), Place(torch.device("cpu"), rank, 3), tmp_path / "three", 0)
    assert candidates(tmp_path / "one", 3) == candidates(tmp_path / "three", 3)
    assert read_pass(tmp_path / "three", 0, 3).missing == ()


def test_a_killed_evaluation_goes_on(
    setting: tuple[CharmModel, Dataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, data = setting
    predict_votes(Request(model, data, (2, 3), batch=4), HERE, tmp_path / "whole", 0)
    monkeypatch.setattr(predict, "SAVE_SECONDS", 0.0)

    def dies(done: int, total: int) -> None:
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        predict_votes(Request(model, data, (2, 3), batch=4, advance=dies), HERE, tmp_path / "parts", 0)
    assert read_pass(tmp_path / "parts", 0, 3).missing == (0,)
    seen: list[int] = []
    request = Request(model, data, (2, 3), batch=4, advance=lambda done, total: seen.append(done))
    predict_votes(request, HERE, tmp_path / "parts", 0)
    assert seen[0] > 0
    for depth in (2, 3):
        assert candidates(tmp_path / "parts", depth) == candidates(tmp_path / "whole", depth)
    assert read_pass(tmp_path / "parts", 0, 3).missing == ()


def test_more_views_are_added_and_fewer_change_nothing(setting: tuple[CharmModel, Dataset], tmp_path: Path) -> None:
    model, data = setting
    predict_votes(Request(model, data, (3,), 4), HERE, tmp_path / "four", 0)
    seen: list[int] = []
    for views in (2, 4, 3):
        seen.clear()
        request = Request(model, data, (3,), views, advance=lambda done, total: seen.append(done))
        predict_votes(request, HERE, tmp_path / "more", 0)
        assert seen[:1] == {2: [0], 4: [2 * len(data.questions)], 3: []}[views]
    assert candidates(tmp_path / "more", 3) == candidates(tmp_path / "four", 3)
    assert read_pass(tmp_path / "more", 0, 3).header.views == 4


def test_votes_in_memory_are_those_of_the_archive(setting: tuple[CharmModel, Dataset], tmp_path: Path) -> None:
    """The same votes rank alike, and more views are added to those that are there."""
    model, data = setting
    predict_votes(Request(model, data, (2, 3), batch=5), HERE, tmp_path, 0)
    two = predict.predict(Request(model, data, (2, 3), views=2, batch=5), HERE)
    made: list[int] = []
    request = Request(model, data, (2, 3), batch=5, advance=lambda done, total: made.append(done))
    votes = predict.predict(request, HERE, two)
    assert made[0] == 2 * len(data.questions)
    protocol = Protocol(window="current", loops=(2, 3))
    questions, archived = load_ballots(tmp_path, protocol)
    assert questions == data.questions
    rankings = [rank_ballots(some, questions) for some in ([*map(Ballot, votes.values())], archived)]
    for number in range(len(questions)):
        ours, theirs = ([(one.votes, one.grid.tolist()) for one in ranking.top(number, 10)] for ranking in rankings)
        assert ours == theirs
    assert [len(first_views(votes[depth], 2)) for depth in (2, 3)] == [len(two[depth]) for depth in (2, 3)]


def test_other_processes_go_on_with_an_evaluation(setting: tuple[CharmModel, Dataset], tmp_path: Path) -> None:
    """Three start, one of them is killed, two continue, one is killed, and one finishes: every vote is there once."""
    model, data = setting
    predict_votes(Request(model, data, (3,)), HERE, tmp_path / "one", 0)
    folder, made = tmp_path / "many", []
    for ranks, alive in ((3, (0, 2)), (2, (0,)), (1, (0,))):
        for rank in alive:
            request = Request(model, data, (3,), advance=lambda *at: made.append(at))
            predict_votes(request, Place(torch.device("cpu"), rank, ranks), folder, 0)
        assert is_finished(folder, 0, (3,)) == (ranks == 1)
    assert candidates(folder, 3) == candidates(tmp_path / "one", 3)
    assert len(read_pass(folder, 0, 3).votes) == len(read_pass(tmp_path / "one", 0, 3).votes)
    assert [path.name for path in pass_folder(folder, 0, 3).iterdir()] == ["rank_0.npz"]
    assert made[-1][0] == made[-1][1]


def test_votes_of_later_checkpoints_are_forgotten(tmp_path: Path) -> None:
    for step in (5, 10, 20):
        (tmp_path / f"step_{step}" / "loops_16").mkdir(parents=True)
    forget_later_votes(tmp_path, 10)
    assert {path.name for path in tmp_path.iterdir()} == {"step_5", "step_10"}


def test_a_damaged_votes_file_is_made_again(setting: tuple[CharmModel, Dataset], tmp_path: Path) -> None:
    model, data = setting
    predict_votes(Request(model, data, (3,), 2), HERE, tmp_path, 0)
    file = pass_folder(tmp_path, 0, 3) / "rank_0.npz"
    before = candidates(tmp_path, 3)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(CharmError):
        read_votes(file)
    predict_votes(Request(model, data, (3,), 2), HERE, tmp_path, 0)
    assert candidates(tmp_path, 3) == before


def test_views_are_the_first_of_each_puzzle(setting: tuple[CharmModel, Dataset]) -> None:
    _, data = setting
    question, row, side = jobs(data, 2)
    assert len(row) == 2 * len(data.questions)
    for number, one in enumerate(data.questions):
        assert row[question == number].tolist() == data.instances.rows(one.task_id)[:2].tolist()
    assert set(side.tolist()) == {11}


def test_a_run_is_evaluated_ranked_again_and_without_its_memory(tmp_path: Path) -> None:
    config = toy_config(write_toy_tasks(tmp_path / "tasks"), evaluate_every=6, evaluate_views=4, keep_checkpoints=0)
    run = tmp_path / "run"
    train(config, run, HERE, say=lambda text: None)
    assert passes(run / "votes") == {6: (3,), 12: (3,)}
    assert (run / "eval" / "step_000000012.json").is_file()
    wider = Protocol(views=6, window="all", loops=(2, 3))
    found = evaluate_run(run, "mine", wider, HERE)
    assert found is not None
    assert found["puzzles"] == 3
    assert found["protocol"]["window"] == "all"
    assert passes(run / "votes") == {6: (2, 3), 12: (2, 3)}
    for step, loops in product((6, 12), (2, 3)):  # those that four views had cast while training, and the others'
        assert len(read_pass(run / "votes", step, loops).votes) == 3 * 6
    again = evaluate_votes(run / "votes", replace(wider, window="current"), config.data)
    assert again.step == 12
    blank = evaluate_run(run, "mine", wider, HERE, VoteOptions(blank_memory=True))
    assert blank is not None
    assert blank["protocol"]["name"] == "blank"
    some = evaluate_run(run, "mine", wider, HERE, VoteOptions(blank_memory=True, tasks=("toy0",)))
    assert some is not None
    assert (some["protocol"]["name"], some["puzzles"]) == ("blank_tasks", 1)  # not scores with the memory
    assert not (run / "eval" / "tasks.json").exists()
    assert find_evaluation(run) == evaluation(run, "mine")
    with pytest.raises(CharmError, match="batch must be >= 1, got 0"):
        VoteOptions(batch=0)
    model = CharmModel.from_pretrained(folder_of(run, 12), HERE.device)
    data = load_dataset(config.data, model.instances)
    kept, without = (read_pass(run / name, 12, 3).votes.logit_V for name in ("votes", "votes_blank"))
    for logit_V, is_blank in ((kept, False), (without, True)):
        asked = predict.predict(Request(model, data, (3,), 6, blank_memory=is_blank), HERE)[3]
        np.testing.assert_allclose(np.sort(logit_V), np.sort(asked.logit_V), atol=1e-5)
    assert np.abs(np.sort(kept) - np.sort(without)).max() > 1e-3
    with pytest.raises(CharmError, match="no votes for step 12 with 7 loops"):
        evaluate_run(run, "deep", replace(wider, loops=(7,)), HERE, VoteOptions(rank_only=True))
    narrow = Protocol(views=2, window="current", loops=(1,))
    evaluate_run(run, "narrow", narrow, HERE)
    with pytest.raises(CharmError, match="needs votes from 6 views but only 2 have them"):
        evaluate_run(run, "mine", replace(wider, loops=(1,), window="current"), HERE, VoteOptions(rank_only=True))


def test_every_evaluated_source_has_its_own_scores(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = toy_config(write_toy_tasks(tmp_path / "few", 1), steps=6)
    more = write_toy_tasks(tmp_path / "more", 3)
    (more / "toy0.json").unlink()
    few = config.data.evaluate[0]
    config = replace(config, data=replace(config.data, evaluate=(few, str(more))))
    run = tmp_path / "run"
    train(config, run, HERE, say=lambda text: None)
    evaluate_run(run, "mine", Protocol(views=2, window="current", loops=(2,)), HERE)
    found = json.loads((run / "eval" / "mine.json").read_text())
    table = scores_table(found)
    assert table.rows[-1][0] == f"mean over 2 puzzles of {more}"
    assert table.title == "step 6, mine: at most 2 views, the newest checkpoint, 2 refinement steps"
    parts = found["by_source"]
    assert {name: part["puzzles"] for name, part in parts.items()} == {few: 1, str(more): 2}
    for name, mean in found["metrics"].items():
        assert 3 * mean == pytest.approx(sum(part["puzzles"] * part["metrics"][name] for part in parts.values()))


def test_a_run_is_evaluated_at_its_own_depths_and_every_number_names_its_protocol(tmp_path: Path) -> None:
    """Unless other depths are given: the protocols' 16 and 24 steps are the paper's runs' own."""
    config = toy_config(write_toy_tasks(tmp_path / "tasks", 2), steps=6, evaluate_every=6, evaluate_loops=(2, 3))
    run = tmp_path / "run"
    train(config, run, HERE, say=lambda text: None)
    in_training = json.loads((run / "eval" / "step_000000006.json").read_text())
    for options, loops in (
        (ArcEvaluation(), (2,)),
        (ArcEvaluation("extra"), (2, 3)),
        (ArcEvaluation("continual", loops=(1,)), (1,)),
    ):
        evaluated = evaluate(run, options, HERE)
        assert evaluated is not None
        found, table = evaluated
        assert found["protocol"]["loops"] == loops
        assert table.title.startswith(f"step 6, {options.protocol}: all views, ")
        if options.protocol == "standard":
            assert found["metrics"] == in_training["metrics"]
    for name in ("standard", "extra"):
        ranking = ranked(run, name, None)[2]
        assert ranking is not None
        assert ranking.scores.metrics == json.loads((run / "eval" / f"{name}.json").read_text())["metrics"]
    text = write_report(run).read_text()
    assert "Step 6; protocol: standard (all views, at most 10 checkpoints, 2 refinement steps)" in text
    assert "continual (all views, the newest checkpoint)" in text
    half = "extra (all views, the newer half of the checkpoints, half-life 10 checkpoints, 2 and 3 refinement steps)"
    assert half in text
    shown = headline(run)
    assert shown is not None
    assert shown["protocol"] == "standard (all views, at most 10 checkpoints, 2 refinement steps)"


def test_tasks_without_known_answers_are_counted_and_their_answers_named(tmp_path: Path) -> None:
    tasks = write_toy_tasks(tmp_path / "tasks", 2)
    for path in tasks.glob("*.json"):
        task = json.loads(path.read_text())
        path.write_text(json.dumps({**task, "test": [{"input": one["input"]} for one in task["test"]]}))
    run = tmp_path / "run"
    train(toy_config(tasks, steps=6), run, HERE, say=lambda text: None)
    evaluated = evaluate(run, ArcEvaluation("continual", views=2, loops=(2,)), HERE)
    assert evaluated is not None
    assert [row[-1] for row in evaluated[1].rows] == ["2", "2"]
    assert evaluated[1].caption == f"answers in {run}/eval/continual.submission.json"
    assert (run / "eval" / "continual.submission.json").is_file()


def test_a_checkpoint_that_is_gone_does_not_vote_with_less_than_was_asked(tmp_path: Path) -> None:
    config = toy_config(write_toy_tasks(tmp_path / "tasks"), evaluate_every=6, evaluate_views=4, keep_checkpoints=1)
    run = tmp_path / "run"
    train(config, run, HERE, say=lambda text: None)
    for protocol in (Protocol(loops=(3,)), Protocol(views=6, loops=(3,)), Protocol(views=2, loops=(2,))):
        with pytest.raises(CharmError, match=r"votes for step 6 are incomplete .* --window 1 uses"):
            evaluate_run(run, "mine", protocol, HERE)
        assert evaluate_run(run, "mine", replace(protocol, window=1), HERE) is not None
    assert evaluate_run(run, "mine", Protocol(views=4, loops=(3,)), HERE) is not None


def test_scores_in_training_name_the_views_that_voted(tmp_path: Path) -> None:
    """Also where a resumed run asks more views, or other depths, than its older checkpoints were asked."""
    config = toy_config(write_toy_tasks(tmp_path / "tasks"), steps=6, evaluate_every=6, evaluate_views=2)
    run, quiet = tmp_path / "run", lambda text: None
    train(config, run, HERE, say=quiet)
    train(replace(config, steps=12, evaluate_views=4), run, HERE, resume=True, say=quiet)
    train(replace(config, steps=18, evaluate_loops=(1, 3)), run, HERE, resume=True, say=quiet)
    for step, views, loops in ((6, 2, [3]), (12, 4, [3]), (18, 2, [1])):
        found = json.loads((run / "eval" / f"step_{step:09d}.json").read_text())
        assert (found["protocol"]["views"], found["protocol"]["loops"]) == (views, loops)
    alone = evaluate_votes(run / "votes", Protocol(views=4, loops=(3,)), config.data, [12])
    found = json.loads((run / "eval" / "step_000000012.json").read_text())
    assert found["metrics"] == alone.scores.to_json()["metrics"]


def test_a_run_configured_as_in_the_paper_has_the_votes_of_every_protocol(tmp_path: Path) -> None:
    """Also those of checkpoints that are gone; the standard protocol counts 16 steps alone, while training too."""
    paper = preset("arc1")
    config = toy_config(
        write_toy_tasks(tmp_path / "tasks"),
        steps=18,
        evaluate_every=6,
        evaluate_loops=paper.evaluate_loops,
        keep_checkpoints=paper.keep_checkpoints,
    )
    run = tmp_path / "run"
    train(config, run, HERE, say=lambda text: None)
    assert steps_of(run) == [12, 18]
    found = {name: evaluate_run(run, name, protocol, HERE) for name, protocol in PROTOCOLS.items()}
    assert found["urm"] is not None
    assert found["urm"]["checkpoints"] == [6, 12, 18]
    in_training = json.loads((run / "eval" / "step_000000018.json").read_text())
    assert in_training["protocol"]["loops"] == [16]
    assert found["standard"] is not None
    assert in_training["metrics"] == found["standard"]["metrics"]
    assert ranked(run, None, None)[1].loops == (16,)  # so does the page of the run


def test_the_papers_presets_take_votes_at_the_depths_of_every_protocol() -> None:
    own = ("base", "large", "quickstart", "speedrun", "writer", "varc", "loopvit")
    depths = {depth for protocol in PROTOCOLS.values() for depth in protocol.loops}
    for name in PRESETS:
        loops = preset(name).evaluate_loops
        assert name.startswith(own) or (set(loops) == depths and loops[0] == 16), name


def test_some_tasks_are_scored_beside_the_run(tmp_path: Path) -> None:
    """From the run's votes where they suffice, else from separate votes; the run's are left alone."""
    config = toy_config(write_toy_tasks(tmp_path / "tasks"))
    run, protocol = tmp_path / "run", Protocol(views=2, window="current", loops=(3,))
    train(config, run, HERE, say=lambda text: None)
    evaluate_run(run, "mine", protocol, HERE)
    before = (pass_folder(run / "votes", 12, 3) / "rank_0.npz").read_bytes()
    for views in (2, 4):
        found = evaluate_run(run, "mine", replace(protocol, views=views), HERE, VoteOptions(tasks=("toy1",)))
        assert found is not None
        assert (found["puzzles"], found["protocol"]["name"]) == (1, "tasks")
        assert json.loads((run / "eval" / "tasks.submission.json").read_text()).keys() == {"toy1"}
        assert (run / "votes_tasks").exists() == (views == 4)
    assert (pass_folder(run / "votes", 12, 3) / "rank_0.npz").read_bytes() == before
    newest = find_evaluation(run)
    assert newest is not None
    assert newest["protocol"]["name"] == "mine"


def test_an_evaluation_of_a_run_goes_on_after_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = toy_config(write_toy_tasks(tmp_path / "tasks"))
    run, protocol = tmp_path / "run", Protocol(views="all", window="current", loops=(3,))
    train(config, run, HERE, say=lambda text: None)
    with monkeypatch.context() as patch:
        patch.setattr(predict, "SAVE_SECONDS", 0.0)
        patch.setattr(predict, "collect", _twice(predict.collect))
        with pytest.raises(KeyboardInterrupt):
            evaluate_run(run, "mine", protocol, HERE, VoteOptions(batch=4))
    assert passes(run / "votes") == {}
    found = evaluate_run(run, "mine", protocol, HERE)
    assert found is not None
    assert len(read_pass(run / "votes", 12, 3).votes) == 3 * 6


def _twice(function: Callable[..., Any]) -> Callable[..., Any]:
    """Works twice, then interrupts."""
    calls = count()

    def work(*arguments: Any, **named: Any) -> Any:
        if next(calls) == 2:
            raise KeyboardInterrupt
        return function(*arguments, **named)

    return work


def test_blank_memory_forgets_the_task(setting: tuple[CharmModel, Dataset], tmp_path: Path) -> None:
    """Without memory all rows are alike: views differ only in their input."""
    model, data = setting
    predict_votes(Request(model, data, (3,), 1, blank_memory=True), HERE, tmp_path, 0)
    votes = candidates(tmp_path, 3)
    for question in range(len(data.questions)):
        tokens = torch.from_numpy(place(data.question_bank.pair(question).input, 11)).reshape(1, -1)
        logits, _ = list(refine(model.reasoner, tokens, torch.zeros(1, 32), 3))[-1]
        grid = crop(logits.argmax(-1).reshape(11, 11).numpy().astype(np.uint8))
        row = int(data.question_rows(data.questions[question])[0])
        assert votes[question, row] == bytes(grid.shape) + grid.tobytes()
