"""A small run folder, written with the code that writes real ones, and the page that is made of it."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from shutil import rmtree

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from charm.accounting import account
from charm.arc.presets import preset
from charm.arc.run import train
from charm.config import to_json
from charm.devices import Place
from charm.domains import PageOptions
from charm.drawing.grids import PALETTE
from charm.errors import CharmError
from charm.evaluation import scoring
from charm.evaluation.evaluate import evaluate_run, evaluate_votes, write_evaluation
from charm.evaluation.predict import Request, predict_votes
from charm.evaluation.protocols import Protocol, protocol_named
from charm.evaluation.scoring import OutputResult, Scores, TaskResult
from charm.files import read_sealed, write_sealed
from charm.models.canvas.config import CanvasConfig
from charm.models.model import CharmModel
from charm.report.answers import affordable
from charm.report.comparison import write_comparison
from charm.report.curves import BOTTOM, HEIGHT, LEFT, POINTS, RIGHT, TOP, WIDTH, curves_svg, ticks
from charm.report.film import in_turn, refinement_film
from charm.report.page import ranked, write_report
from charm.report.pages import write_pages
from charm.runs.archive import read_pass
from charm.runs.settings import TrainConfig, read_config
from charm.tasks.dataset import DataConfig, answer_key, load_dataset
from charm.tasks.instances import Instances
from charm.tasks.keys import ArcKey, MemoryConfig, build_memory
from charm.tasks.task import Question, digits
from charm.tasks.view import View
from tests.toy import toy_config, write_toy_tasks
from tests.toy.hand import cast, grid, predict, voters
from tests.toy.pages import (
    HOSTILE,
    OUTCOMES,
    PREDICTIONS,
    QUESTIONS,
    TESTS,
    TURNED,
    loads_nothing,
    read,
    write_config,
    write_tasks,
)
from tests.toy.pairs import key_at


def test_every_task_is_there_with_its_outcome(run: Path) -> None:
    path = write_report(run)
    assert path == run / "report.html"
    assert not list(run.glob("*.tmp"))
    page = read(path)
    assert [task["id"] for task in page.data["tasks"]] == list(TESTS)
    assert [task["outcome"] for task in page.data["tasks"]] == OUTCOMES
    assert "The tasks need JavaScript." in page.text
    assert page.data["palette"] == list(PALETTE[2:])


def test_a_page_explains_what_its_confidence_is(run: Path) -> None:
    data = read(write_report(run)).data
    assert data["confidences"]["halting"].startswith("how sure the halt head is that the answer is right")
    assert data["confidences"]["likelihood"].startswith("how probable the model finds the whole grid")


def test_the_headline_is_what_scoring_says(run: Path) -> None:
    text = " ".join(" ".join(read(write_report(run)).text).split())
    # By hand: "near" passes one of two tests, first candidate; "solved" passes; 3 others fail; "blind" is out.
    assert "pass@2 30.00% right in two attempts pass@1 30.00% right in one attempt tasks solved 1 of 5, all " in text
    assert "pass@1 to pass@2 30.00% 33.33% pass@5 to" in text  # over tasks, over outputs
    assert "Step 200; protocol: standard (all views, at most 10 checkpoints, 16 refinement steps)" in text
    assert "2 checkpoints voted" in text
    assert "1 test outputs have no known answer and do not count." in text


def test_candidates_carry_their_voters(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number of every candidate against the slow way, one candidate at a time."""
    monkeypatch.setattr("charm.report.answers.BUDGET", 0)
    monkeypatch.setattr("charm.report.answers.LEAST", 2)
    page = read(write_report(run)).data
    config = DataConfig((), (str(run.parent / "tasks.json"),), ())
    ranking = evaluate_votes(run / "votes", protocol_named("standard"), config).ranking
    assert page["steps"] == [200, 100]
    tests = [test for task in page["tasks"] for test in task["tests"]]
    for q, (question, test) in enumerate(zip(QUESTIONS, tests, strict=True)):
        given, truth = TESTS[question.task_id][question.test_index]
        assert (test["input"], test["truth"]) == (given, truth)
        total = sum(entry[0] == q for entries in PREDICTIONS.values() for entry in entries)
        # The right answer of the second test of "near" ranks third: it is shown besides the best two.
        assert [shown["rank"] for shown in test["candidates"]] == [1, 2, 3][
            : 3 if q == 2 else min(2, len(ranking.span(q)))
        ]
        assert test["more"] == len(ranking.span(q)) - len(test["candidates"])
        for place, shown in zip(ranking.span(q), test["candidates"], strict=False):
            who = voters(ranking, place)
            assert np.array_equal(grid(shown["grid"]), ranking.grid(place))
            assert shown["votes"] == len(who)
            assert shown["share"] == round(len(who) / total, 4)
            assert shown["weight"] is None
            assert shown["confidence"] == pytest.approx(np.mean([v.confidence for v in who]), abs=1e-4)
            assert shown["views"] == len({v.row for v in who})
            assert shown["by"] == [sum(v.step == step for v in who) for step in page["steps"]]
    assert tests[0]["candidates"][0] | {"confidence": 0} == {
        "rank": 1,
        "grid": "21/43",
        **{"votes": 3, "share": 0.75, "weight": None, "confidence": 0, "views": 2, "by": [2, 1]},
    }
    assert [tests[3]["none"], tests[5]["none"], tests[5]["candidates"]] == [1, 0, []]


def test_candidates_name_the_views_that_voted(run: Path) -> None:
    """With a checkpoint's index of rows, every view against the slow way: one voter, one row, one view at a time."""
    known = Instances()
    owners = ("solved", "solved", "near", "near", "near", HOSTILE, HOSTILE, "size", "blind")
    views = (View(), TURNED, View(), TURNED, View(5), View(), TURNED, View(), View())
    for owner, view in zip(owners, views, strict=True):
        known.add(owner, np.array([view.code]))
    newest = run / "checkpoints" / "step_000000200"
    newest.mkdir(parents=True)
    save_file({"reasoner.head.weight": torch.zeros(1)}, newest / "model.safetensors")
    known.save(newest / "instances.npz")
    path = write_report(run)
    page = read(path)
    config = DataConfig((), (str(run.parent / "tasks.json"),), ())
    ranking = evaluate_votes(run / "votes", protocol_named("standard"), config).ranking
    tests = [test for task in page.data["tasks"] for test in task["tests"]]
    for q, test in enumerate(tests):
        for place, shown in zip(ranking.span(q), test["candidates"], strict=False):
            voted = [key_at(known, row)[1] for row in sorted({voter.row for voter in voters(ranking, place)})]
            digits = [test["views"][10 * n : 10 * n + 10] for n in shown["which"]]
            assert digits == [f"{view.dihedral}{''.join(map(str, view.colors[1:]))}" for view in voted]
    assert tests[0]["views"] == "01234567891312948576"
    assert tests[0]["candidates"][0]["which"] == [0, 1]
    assert page.data["turns"][1] == "rotate 90 ccw"
    # The accounting is that of the configuration with as many puzzles and rows as the index has.
    counts = account(TrainConfig().model, 5, 10)
    assert f"task memory {counts.memory:,}" in " ".join(page.text)
    few = Instances()
    few.add("solved", np.array([View().code]))
    few.save(newest / "instances.npz")
    with pytest.raises(CharmError, match="memory rows that are not in the newest checkpoint"):
        write_report(run)


def test_a_page_keeps_as_many_candidates_as_it_can_hold(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight candidates for one question, the right one the seventh."""
    write_tasks(tmp_path / "one.json", {"a": [("12", "77")]})
    made = tmp_path / "one"
    write_config(made, tmp_path / "one.json")
    ranks = [rank for rank in range(1, 9) for _ in range(9 - rank)]
    votes = predict([(0, grid(f"7{rank}"), View(), row, 0.5) for row, rank in enumerate(ranks, start=1)])
    cast(made, 1, (Question("a", 0),), votes)

    def kept() -> tuple[list[int], int]:
        test = read(write_report(made)).data["tasks"][0]["tests"][0]
        return [one["rank"] for one in test["candidates"]], test["more"]

    assert kept() == ([1, 2, 3, 4, 5, 6, 7, 8], 0)
    evaluation = ranked(made, None, None)[2]
    assert evaluation is not None
    # By hand: 120 characters, a grid of 1 x 2, one checkpoint, and each view once.
    total = sum(120 + 3 + 4 + 5 * (9 - rank) for rank in range(1, 7))
    for budget, count in ((total, 6), (total - 1, 5), (0, 5)):
        monkeypatch.setattr("charm.report.answers.BUDGET", budget)
        assert affordable(evaluation.ranking) == count
    assert kept() == ([1, 2, 3, 4, 5, 7], 2)


def test_weights_show_under_a_half_life(run: Path) -> None:
    page = read(write_report(run, Protocol(half_life=1.0)))
    assert page.data["tasks"][0]["tests"][0]["candidates"][0]["weight"] == 2.5
    assert "Step 200; protocol: all views, at most 10 checkpoints, half-life 1 checkpoints" in " ".join(page.text)


def test_hostile_names_stay_text(run: Path) -> None:
    page = read(write_report(run))
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"img", "iframe", "object", "link", "form"}
    assert "a" not in tags
    assert sum(tag == "script" for tag, _ in page.elements) == 2
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert "<b>run & co" in page.text
    assert "<" not in page.scripts[0]


def test_nothing_is_loaded_and_no_other_script_may_run(run: Path) -> None:
    path = write_report(run)
    page = read(path)
    content = path.read_text()
    loads_nothing(content)
    assert not any("src" in attributes for _, attributes in page.elements)
    assert all((attributes.get("href") or "#").startswith("#") for _, attributes in page.elements)
    policy = next(a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    digest = b64encode(hashlib.sha256(page.scripts[1].encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    assert str(run.parent) not in content.replace(str(run.parent / "tasks.json"), "")


def test_the_script_finds_what_it_looks_for(run: Path) -> None:
    page = read(write_report(run))
    wanted = set(re.findall(r'getElementById\("(\w+)"\)', page.scripts[1]))
    made = set(re.findall(r'\.id = "(\w+)"', page.scripts[1]))
    ids = {str(attributes["id"]) for _, attributes in page.elements if "id" in attributes}
    assert ids == {"data", "list"}
    assert wanted == ids | made - {"tasks", "examples"}  # these two are for the style and the tests
    outcomes = page.scripts[1].partition("const OUTCOMES = {")[2].partition("};")[0]
    assert tuple(re.findall(r'^  "(.+?)":', outcomes, re.M)) == scoring.OUTCOMES


def test_a_run_whose_name_is_not_unicode(tmp_path: Path) -> None:
    write_tasks(tmp_path / "tasks.json", TESTS)
    run = tmp_path / "half \udcff"
    try:
        write_config(run, tmp_path / "tasks.json")
    except OSError:
        pytest.skip("this file system has Unicode names only")
    assert "Not evaluated yet" in " ".join(read(write_report(run)).text)


def test_without_votes_and_metrics(tmp_path: Path) -> None:
    write_tasks(tmp_path / "tasks.json", TESTS)
    write_config(tmp_path / "run", tmp_path / "tasks.json")
    page = read(write_report(tmp_path / "run"))
    text = " ".join(page.text)
    assert "Not evaluated yet" in text
    assert text.count("nothing logged yet") == 3
    assert page.data["tasks"] == []
    with pytest.raises(CharmError, match=r"is not a run folder"):
        write_report(tmp_path)


def test_a_run_without_questions_is_not_sent_to_eval(run: Path, tmp_path: Path) -> None:
    """A fine-tuned writer: it has neither tasks to evaluate nor refinement steps, and no table of rows."""
    config = replace(preset("base"), data=DataConfig((str(tmp_path / "tasks.json"),), (), ()))
    tuned = tmp_path / "tuned"
    folder = tuned / "checkpoints" / "step_000000012"
    folder.mkdir(parents=True)
    (tuned / "config.json").write_text(json.dumps({"domain": config.domain, **to_json(config)}))
    (tuned / "metrics.jsonl").write_text('{"step": 12, "loss": 2.1, "exact_accuracy": 0.1}\n')
    known = Instances()
    known.add("solved", np.arange(4, dtype=np.uint32))
    known.save(folder / "instances.npz")
    page = read(write_report(tuned))
    text = " ".join(page.text)
    assert "This run has no tasks to evaluate. To score it on yours: charm solve TASKS --checkpoint RUN --score" in text
    assert "charm eval" not in text
    assert "Exact accuracy" in text
    assert "Refinement steps" not in text
    assert "task vectors" in page.text
    assert not {"composer", "table", "gate"} & set(page.text)  # of which it has none
    assert "tuned no tasks to evaluate" in " ".join(read(write_comparison([run, tuned], tmp_path / "both.html")).text)


def test_blank_memory_stands_beside(run: Path) -> None:
    config = DataConfig((), (str(run.parent / "tasks.json"),), ())
    write_evaluation(run, "blank", evaluate_votes(run / "votes", Protocol(window="current"), config))
    text = " ".join(read(write_report(run)).text)
    # By hand: of the votes of step 200 alone only "solved" is right, one puzzle in five.
    assert "pass@2 30.00%" in text
    assert "memory zeroed 20.00% pass@2 without it" in text
    assert "pass@5 to pass@1000 40.00% 50.00% 20.00% 16.67%" in text
    protocol = "continual (all views, the newest checkpoint, 16 refinement steps)"
    assert f"memory zeroed {protocol} 200 20.00% 20.00% 5" in text
    path = run / "eval" / "blank.json"
    write_sealed(path, {**read_sealed(path), "step": 1500})
    assert "memory zeroed 20.00% pass@2 without it at step 1,500" in " ".join(read(write_report(run)).text)
    path.write_text('{"metrics": {"pass@2": "high"}}')
    with pytest.raises(CharmError, match=r"blank\.json: not an evaluation"):
        write_report(run)


def test_metrics_cut_short(run: Path) -> None:
    path = run / "metrics.jsonl"
    whole = path.read_text()
    path.write_text(whole + '{"step": 300, "lo')
    assert len(svg_points(write_report(run).read_text())) == 20
    path.write_text('{"step"\n' + whole)
    with pytest.raises(CharmError, match=r"metrics\.jsonl: line 1: not readable"):
        write_report(run)


def test_a_page_that_cannot_be_written(run: Path) -> None:
    (run / "report.html").mkdir()
    with pytest.raises(CharmError, match=r"report\.html cannot be written"):
        write_report(run)
    assert not list(run.glob("*.tmp"))


def test_parameters_come_from_the_newest_checkpoint(run: Path) -> None:
    for step, views in ((100, 20), (200, 1000)):
        folder = run / "checkpoints" / f"step_{step:09d}"
        folder.mkdir(parents=True)
        instances = Instances()
        instances.add("solved", np.arange(views, dtype=np.uint32))
        instances.save(folder / "instances.npz")
    config = read_config(run)
    with torch.device("meta"):
        reasoner, memory = config.reasoner.build(), build_memory(config.memory, 512, 1, 1001)
    dense, inside = (sum(one.numel() for one in part.state_dict().values()) for part in (reasoner, memory))
    rows = memory.get_parameter("residual.rows.weight").numel()
    text = " ".join(read(write_report(run)).text)
    assert f" backbone {dense:,} " in text
    assert f" table of 1,001 rows {rows:,} " in text
    assert f" task memory {inside:,} everything {dense + inside:,} " in text
    (folder / "instances.npz").write_bytes(b"not an index")
    with pytest.raises(CharmError, match=r"instances\.npz"):
        write_report(run)


def test_films_go_with_their_question(run: Path) -> None:
    film = [grid(""), grid("11"), grid("21/43")]
    page = read(write_report(run, films={QUESTIONS[0]: film})).data
    assert page["tasks"][0]["tests"][0]["film"] == ["", "11", "21/43"]
    assert "film" not in page["tasks"][1]["tests"][0]
    still = read(write_report(run, films={QUESTIONS[0]: film[-1:] * 3})).data  # nothing changes in it
    assert "film" not in still["tasks"][0]["tests"][0]
    write_report(run, films={QUESTIONS[0]: film})
    with pytest.raises(CharmError, match=r"films include solved test 7"):
        write_report(run, films={Question("solved", 7): film})
    # They stay with the run, and a film that was refused does not.
    again = read(write_report(run)).data
    assert again["tasks"][0]["tests"][0]["film"] == ["", "11", "21/43"]
    (run / "films.json").write_text('[{"task": "solved", "test": 0, "frames": [[[12]]]}]')
    with pytest.raises(CharmError, match=r"films\.json: not a record of films \(colours must be in 0\.\.9, got 12\)"):
        write_report(run)


def test_a_page_of_400_tasks_stays_small(tmp_path: Path) -> None:
    """Grids of the greatest size everywhere, far beyond ARC's: half of the bound for 400 tasks on 200 of them."""
    rng = np.random.default_rng(0)
    row = "0123456789" * 3
    names = [f"task{n}" for n in range(200)]
    big = "/".join([row] * 30)
    write_tasks(tmp_path / "tasks.json", {name: [(big, big)] for name in names})
    run = tmp_path / "run"
    config = write_config(run, tmp_path / "tasks.json")
    predictions = [(q, rng.integers(0, 10, (30, 30), np.uint8), View(), 1, 0.5) for q in range(200)]
    questions = tuple(answer_key(config.data))
    for step in range(5):
        votes = predict([(q, np.roll(cells, step), view, row, sure) for q, cells, view, row, sure in predictions])
        cast(run, step, questions, votes)
    film = [cells for _, cells, *_ in predictions[:16]]
    path = write_report(run, films={question: film for question in questions})
    assert len(read(path).data["tasks"][7]["tests"][0]["candidates"]) == 5
    assert path.stat().st_size < 15e6


# Curves


def svg_points(svg: str) -> list[tuple[float, float]]:
    """The (step, value) of a curve's points, read back through the positions of its tick labels."""
    first = svg[svg.index('<svg class="curve"') :].partition("</svg>")[0]

    def scale(kind: str, position: str) -> tuple[float, float]:
        labels = re.findall(rf'<text class="{kind}"[^>]* {position}="([\d.]+)"[^>]*>([^<]+)</text>', first)
        (a, low), (b, high) = ((float(place), number(text)) for place, text in (labels[0], labels[-1]))
        slope = (high - low) / (b - a)
        return slope, low - slope * a

    def number(text: str) -> float:
        units = {"%": 0.01, "k": 1e3, "M": 1e6}
        return float(text.rstrip("%kM")) * units.get(text[-1], 1)

    (x_slope, x_zero), (y_slope, y_zero) = scale("x", "x"), scale("y", "y")
    path = re.search(r'<path class="line" d="M([^"]+)"', first)
    assert path is not None
    corners = [corner.split() for corner in path[1].split("L")]
    # Labels sit 3.5 below the middle of their line.
    return [(float(x) * x_slope + x_zero, (float(y) + 3.5) * y_slope + y_zero) for x, y in corners]


@pytest.mark.parametrize(
    ("points", "percent"),
    [
        ([(10.0, 0.5), (20.0, 0.25), (400.0, 0.9)], True),
        ([(1000.0, 12.0), (50_000.0, 3.5), (600_000.0, 0.0)], False),
        ([(1.0, -2.0), (2.0, 700.0), (3.0, 41.0)], False),
    ],
)
def test_a_curve_reads_back(points: list[tuple[float, float]], percent: bool) -> None:
    width = max(step for step, _ in points)
    height = max(value for _, value in points) - min(0, *(value for _, value in points))
    svg = curves_svg("a", [points], percent)
    path = re.search(r'class="line" d="M([^"]+)"', svg)
    assert path is not None
    for corner in path[1].split("L"):
        x, y = map(float, corner.split())
        assert LEFT <= x <= WIDTH - RIGHT
        assert TOP <= y <= HEIGHT - BOTTOM
    for (step, value), (x, y) in zip(points, svg_points(svg), strict=True):
        assert x == pytest.approx(step, abs=0.002 * width)
        assert y == pytest.approx(value, abs=0.002 * height)


def test_a_long_curve_is_averaged_over_its_range() -> None:
    values = np.random.default_rng(0).random(POINTS * 10)
    svg = curves_svg("a", [[(step, value) for step, value in enumerate(values.tolist())]])
    drawn = svg_points(svg)
    means = values.reshape(POINTS, 10).mean(axis=1)
    np.testing.assert_allclose([y for _, y in drawn], means, atol=0.003)
    assert svg.count('class="band"') == 1


def test_flat_and_single_curves_have_axes() -> None:
    for points in ([], [(5.0, 0.0)], [(1.0, 0.0), (2.0, 0.0)], [(0.0, 1.0)]):
        svg = curves_svg("<t>", [points])
        assert "nan" not in svg
        assert "&lt;t&gt;" in svg


@pytest.mark.parametrize("high", [1e-4, 0.03, 0.82, 1.0, 7.0, 19.0, 600_000.0])
def test_ticks_are_few_and_round(high: float) -> None:
    found = ticks(0, high)
    assert 3 <= len(found) <= 5
    assert found[0] == 0
    assert high - found[1] <= found[-1] <= high
    assert all(len(f"{tick:.12e}".split("e")[0].rstrip("0")) <= 4 for tick in found)  # such as 2.5 or 17.5


# Films


def test_a_film_is_what_the_model_votes_at_each_depth(tmp_path: Path) -> None:
    """The archive's own path of prediction, asked at depths 1, 2 and 3, is the film frame by frame."""
    write_tasks(tmp_path / "tasks.json", {"a": [("12/34", "21/43")], "b": [("1", "111"), ("2", "222")]})
    data = load_dataset(DataConfig((), (str(tmp_path / "tasks.json"),), (), views=3, canvas="fit"))
    shape = CanvasConfig(width=16, heads=2, layers=1, recurrences=1, horizon=1, compute_dtype="float32")
    model = CharmModel(shape, MemoryConfig(rank=4), ArcKey(data.instances))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():  # an untrained model predicts one colour everywhere
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    predict_votes(Request(model, data, (1, 2, 3), 1), Place(torch.device("cpu")), tmp_path / "votes", 1)
    frames = []
    for q, question in enumerate(data.questions):
        film = refinement_film(model, data, question, 3, "cpu")
        frames += film
        for depth, frame in enumerate(film, start=1):
            votes = read_pass(tmp_path / "votes", 1, depth).votes
            (vote,) = np.flatnonzero(votes.question_V == q)
            assert np.array_equal(votes.candidates.grid(int(votes.candidate_V[vote])), frame)
    assert len({frame.tobytes() for frame in frames}) > 3
    with pytest.raises(CharmError, match=r"c test 0 is not a question"):
        refinement_film(model, data, Question("c", 0), 3, "cpu")


def test_films_are_chosen_and_made_from_the_newest_checkpoint(tmp_path: Path) -> None:
    write_tasks(tmp_path / "tasks.json", {"a": [("12/34", "21/43")], "b": [("1", "111"), ("2", "222")]})
    shape = CanvasConfig(width=16, heads=2, layers=1, recurrences=1, horizon=1, compute_dtype="float32")
    config = TrainConfig(
        reasoner=shape,
        memory=MemoryConfig(rank=4),
        data=DataConfig((), (str(tmp_path / "tasks.json"),), (), views=3, canvas="fit"),
        evaluate_loops=(3,),
    )
    run = tmp_path / "run"
    run.mkdir()
    (run / "config.json").write_text(json.dumps(to_json(config)))
    data = load_dataset(config.data)
    generator = torch.Generator().manual_seed(0)
    for step in (1, 2):
        model = CharmModel(config.reasoner, config.memory, ArcKey(data.instances), seed=step)
        with torch.no_grad():  # an untrained model predicts the same at every step, which is no film
            for parameter in model.parameters() if step == 2 else ():
                parameter.copy_(torch.randn(parameter.shape, generator=generator))
        model.save_pretrained(run / "checkpoints" / f"step_{step:09d}")
    predict_votes(Request(model, data, (3,), 1), Place(torch.device("cpu")), run / "votes", 2)
    assert write_pages([run], options=PageOptions(films=1, device="cpu")) == run / "report.html"
    tests = [test for task in read(run / "report.html").data["tasks"] for test in task["tests"]]
    films = [test["film"] for test in tests if "film" in test]
    expected = refinement_film(model, data, data.questions[0], 3, "cpu")
    assert films == [[digits(frame) for frame in expected]]
    for step in (1, 2):
        rmtree(run / "checkpoints" / f"step_{step:09d}")
    with pytest.raises(CharmError, match="films need a checkpoint"):
        write_pages([run], options=PageOptions(films=1, device="cpu"))


def test_a_run_that_was_evaluated_by_hand_is_shown_at_the_depths_that_voted(tmp_path: Path) -> None:
    config = toy_config(write_toy_tasks(tmp_path / "tasks"), evaluate_every=6, evaluate_views=2)
    run, here = tmp_path / "run", Place(torch.device("cpu"))
    train(config, run, here, say=lambda text: None)
    assert ranked(run, None, None)[1].loops == (3,)
    rmtree(run / "votes" / "step_12")
    evaluate_run(run, "continual", Protocol(views=2, window=1, loops=(2,)), here)
    _, protocol, evaluation = ranked(run, None, None)  # step 6 has voted at depth 3 only
    assert protocol.loops == (2,)
    assert evaluation is not None
    assert {ballot.step for ballot in evaluation.ranking.ballots} == {12}


def test_films_take_outcomes_in_turn() -> None:
    def task(name: str, outcome: str) -> TaskResult:
        return TaskResult(name, outcome, (OutputResult(0, outcome, None, 1, 0),))

    names = {
        "s1": "solved",
        "s2": "solved",
        "w1": "wrong size",
        "n1": "near miss",
        "s3": "solved",
        "w2": "wrong size",
    }
    scores = Scores({}, 6, 6, 0, 0, tuple(task(name, outcome) for name, outcome in names.items()))
    assert [question.task_id for question in in_turn(scores)] == ["s1", "n1", "w1", "s2", "w2", "s3"]
