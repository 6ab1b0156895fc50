"""Every flag of a preset acts or is refused: a changed value changes the first updates, the schedule or the votes."""

import io
import json
import re
from collections.abc import Callable, Container, Iterator
from contextlib import redirect_stdout
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from charm.arc.presets import PRESETS, preset
from charm.arc.run import arc_job
from charm.automata.run import car_job
from charm.commands.train import parse_preset
from charm.config import from_json, to_json
from charm.devices import place
from charm.domains import DOMAINS, domain_of_preset
from charm.errors import CharmError
from charm.language.config import LMConfig, NgramConfig
from charm.language.run import LMJob
from charm.models.vit.config import VitConfig
from charm.models.writer.config import RecipePart, WriterConfig
from charm.runs.settings import TrainConfig
from charm.tasks.keys import MemoryConfig
from charm.tasks.sequences import LONGEST
from charm.training.engine import Job
from tests.toy import automata, language, toy_config, write_toy_tasks
from tests.toy.pairs import random_pairs, write_pairs

# Flags that a few updates of one process on a CPU cannot show to act: why, and the test that does.
ELSEWHERE = {
    "device": ("another device is another machine", "tests/test_devices.py"),
    "compile": ("compiling takes a minute, and compiled code computes the same", "tests/training/test_loop.py"),
    "graphs": ("CUDA graphs need a GPU, and compute the same", "tests/training/test_graphs.py"),
    "log_to": ("only writes a log", "tests/training/test_logs.py"),
    "keep_checkpoints": ("only removes files of a run", "tests/faults/test_checkpoints.py"),
    "shard_tables": ("one process has all rows", "tests/training/test_loop.py"),
    "start": ("needs a trained model", "tests/training/test_writer_job.py"),
    "reasoner.exploration": ("a new model never halts early: nothing to forbid", "tests/training/test_slots.py"),
    "reasoner.kernels": ("computes the same, faster on a GPU", "tests/models/writer/test_kernels.py"),
}
# Values that differ enough for runs this small.
OTHERS: dict[str, Any] = {
    "reasoner.expansion": 12.0,
    "reasoner.inner_multiple": 128,
    "reasoner.horizon_layers": 2,
    "memory.composer": "add",
    "optimizer.betas": (0.5, 0.6),
    "evaluate_loops": (2,),
    "gpt.width": 64,
    "gpt.vocab": 800,
    "ngram.rows": 100,
    "ngram.heads": 4,
    "ngram.width": 768,
    "ngram.layers": (0, 2),
    "device_rows": 8,
}
VIT_DATA = ("data.canvas", "data.scales", "data.augment")
ROOT = Path(__file__).parents[1]


def flags_of(config: Any, start: str = "") -> Iterator[tuple[str, Any, Any]]:
    """The flags of a configuration: dotted name, type and value."""
    hints = get_type_hints(type(config))
    for one in fields(config):
        name, kind, value = f"{start}{one.name}", hints[one.name], getattr(config, one.name)
        if is_dataclass(value):
            yield from flags_of(value, f"{name}.")
        elif get_origin(kind) is not Literal or len(get_args(kind)) > 1:
            yield name, kind, value


def active(config: Any) -> dict[str, tuple[Any, Any]]:
    """The flags that the configuration says are read: type and value by name."""
    silent = {*getattr(config, "unused", ()), *getattr(config, "idle", ())}
    return {name: (kind, value) for name, kind, value in flags_of(config) if name not in silent}


def shown(name: str, config: Any) -> set[str]:
    """The fields whose flags are in a preset's help."""
    printed = io.StringIO()
    with redirect_stdout(printed), pytest.raises(SystemExit):
        parse_preset(name, config, ["--help"])
    found = re.findall(r"^[│| ]+ *--(?:no-)?([a-z][\w.-]+)", re.sub(r"\x1b\[[\d;]*m", "", printed.getvalue()), re.M)
    plain = {one.replace("-", "_") for one in found} - {"out", "resume", "restart", "gpus", "help"}
    # `--data.no-balanced` switches off `data.balanced`.
    return {one.replace(".no_", ".") for one in plain}


@pytest.mark.parametrize("name", [*PRESETS, "car-single", "car-small-low-rank", "lm-d12", "lm-tiny-cose"])
def test_help_has_the_flags_that_act(name: str) -> None:
    config = domain_of_preset(name).configuration(name)
    assert shown(name, config) == set(active(config))


def test_presets_of_writers_have_at_most_sixty_flags() -> None:
    for name in ("base", "writer"):
        assert len(shown(name, preset(name))) + len(("out", "resume", "restart", "gpus")) <= 60


@pytest.mark.parametrize("name", ["base", "varc-arc1", "arc1", "car-small-low-rank", "lm-d12"])
def test_flags_without_effect_are_refused(name: str) -> None:
    config = domain_of_preset(name).configuration(name)
    every = {one: (kind, value) for one, kind, value in flags_of(config)}
    for one in sorted(set(every) - set(active(config))):
        kind, value = every[one]
        if kind is bool:
            words = [] if value else [f"--{one}".replace("_", "-")]
        else:
            words = [f"--{one}".replace("_", "-"), *as_words(others(one, kind, value)[0])]
        with pytest.raises(CharmError, match=r"would have no effect|unknown option|needs|cannot|multiple of"):
            parse_preset(name, config, words or [f"--no-{one}"])


def test_a_flag_acts_with_the_one_that_it_depends_on() -> None:
    words = ["--memory.rank", "16", "--optimizer.row-lr", "0.003"]
    found = parse_preset("base", preset("base"), words).config
    assert (found.memory.rank, found.optimizer.row_lr) == (16, 0.003)
    with pytest.raises(CharmError, match=r"^--optimizer\.row-lr 0\.003 would have no effect: memory\.rank is 0$"):
        parse_preset("base", preset("base"), words[2:])


def test_fields_that_follow_from_others() -> None:
    """Files of earlier runs state them, and are read."""
    config = preset("varc-arc1")
    fewer = replace(config, reasoner=replace(config.reasoner, placements=3))
    assert fewer.evaluate_loops == (1, 2, 3)
    written = to_json(fewer)
    assert "evaluate_loops" not in written
    earlier = {**written, "evaluate_loops": [1, 2, 3]}
    earlier["optimizer"] = {**written["optimizer"], "momentum": 0.95}
    earlier["memory"] = {**written["memory"], "sparse_puzzles": False}
    assert from_json(TrainConfig, earlier) == from_json(TrainConfig, written) == fewer


def as_words(value: Any) -> list[str]:
    return [str(one) for one in value] if isinstance(value, tuple) else [str(value)]


def others(name: str, kind: Any, value: Any) -> list[Any]:
    """Other values of a field."""
    if kind is bool:
        return [not value]
    if get_origin(kind) is Literal:
        return [one for one in get_args(kind) if one != value]
    if name in OTHERS:
        return [OTHERS[name]]
    if kind is int:
        doubled = name.startswith("reasoner.") or name in (
            "tokens",
            "batch",
            "accumulate",
            "checkpoint_every",
        )
        return [2 * value if doubled and value else value + 1]
    if kind is float:
        return [value / 2 if value else 0.25]
    raise NotImplementedError(name)


def traced(config: Any, make: Callable[..., Job], updates: int = 3) -> str:
    """A hash of what a run does: its data, its first updates, its schedule, and how it will be evaluated."""
    with place("cpu") as here:
        job: Any = make(config, here, lambda text: None)
        found = sha256()
        for step in range(updates):
            for name, number in sorted(job.update(step).items()):
                found.update(f"{name} {float(number)!r}".encode())
        average = job.average.average if hasattr(job, "average") else ()
        for weight in (*job.model.state_dict().values(), *average):
            found.update(weight.detach().float().numpy().tobytes())
        marks = [(config.logs_at(n), config.saves_at(n), config.evaluates_at(n)) for n in range(config.steps + 1)]
        if isinstance(config, LMConfig):
            asked: Any = job.validation.tolist()
        else:
            asked = (job.examiner.loops, job.examiner.views, len(job.data.questions))
        found.update(repr((marks, asked)).encode())
        return found.hexdigest()


def changed(config: Any, name: str, value: Any) -> Any:
    head, _, rest = name.partition(".")
    return replace(config, **{head: changed(getattr(config, head), rest, value) if rest else value})


def toy(network: str, folder: Path) -> TrainConfig:
    """A run in which as many fields act as possible."""
    sources = [str(write_toy_tasks(folder / name, 2, seed)) for seed, name in enumerate("abc")]
    for number, source in enumerate(sources):  # ids differ
        for path in list(Path(source).iterdir()):
            path.rename(path.with_name(f"{number}{path.name}"))
    plain = {"input": [[1, 1], [1, 1]], "output": [[5, 5], [5, 5]]}  # a colour of outputs only
    black = {"input": [[0, 0], [0, 0]], "output": [[0, 0], [0, 0]]}
    for name, pair in {"plain": plain, "black": black}.items():
        (folder / "a" / f"{name}.json").write_text(json.dumps({"train": [pair, pair], "test": [pair]}))
    base = toy_config(folder / "b")
    data = replace(base.data, train=(sources[0],), evaluate=(sources[1],), auxiliary=(sources[2],), auxiliary_repeats=1)
    optimizer = replace(base.optimizer, warmup=2, cooldown=0.9)
    made = random_pairs(np.random.default_rng(0), 4, longest=4)
    write_pairs(folder / "data" / "rearc", {"0toy0": made, "plain": made})
    data = replace(data, synthetic=("rearc",), partial=True, synthetic_view_count=3, data=folder / "data")
    canvas = replace(base, data=data, optimizer=optimizer, evaluate_every=6, steps=6)
    if network == "writer":
        return replace(
            canvas,
            data=replace(data, canvas="full"),
            batch=TrainConfig.batch,
            reasoner=WriterConfig(width=32, heads=2, layers=2, inner_multiple=16, dropout=0.1, compute_dtype="float32"),
            tokens=LONGEST,
        )
    if network == "vit":
        shape = {"width": 16, "heads": 2, "layers": 1, "inner_multiple": 16, "compute_dtype": "float32"}
        return replace(
            canvas,
            data=replace(data, canvas="large", scales=2),
            reasoner=VitConfig(**shape),
            memory=MemoryConfig(rank=4),
            batch=2,
        )
    return canvas


def walk(
    config: Any, make: Callable[..., Job], values: dict[str, list[Any]], skip: Container[str] = (), updates: int = 3
) -> set[tuple[str, Any]]:
    """Change the flags of a run one by one; return those that are accepted and change nothing."""
    before = traced(config, make, updates)
    assert traced(config, make, updates) == before
    idle = set()
    for name, (kind, value) in active(config).items():
        if name in ELSEWHERE or name in skip:
            continue
        for other in values.get(name) or others(name, kind, value):
            try:
                one = changed(config, name, other)
                silent = name in getattr(one, "idle", ())  # it changed what it depends on
                after = traced(one, make, updates)
            except CharmError:
                continue  # refused
            if after == before and not silent:
                idle.add((name, other))
    return idle


@pytest.mark.parametrize("network", ["canvas", "writer", "vit"])
def test_every_flag_acts_or_is_refused(network: str, tmp_path: Path) -> None:
    config = toy(network, tmp_path)
    again = str(write_toy_tasks(tmp_path / "d", 3, 9))
    ids = sorted(path.stem for source in config.data.train for path in Path(source).iterdir())
    values: dict[str, list[Any]] = {f"data.{role}": [(again,)] for role in ("train", "evaluate", "auxiliary")}
    values |= {"data.tasks": [(ids[0],)], "data.without": [(ids[0],)], "data.synthetic": [()]}
    values["data.data"] = [tmp_path / "nowhere"]
    values["reasoner.recipe"] = [(one,) for one in get_args(RecipePart)]
    read_alike = {name for name in active(config) if name.startswith(("optimizer.", "data.", "memory."))}
    skip = read_alike - {*VIT_DATA} if network == "vit" else ()  # read by the same lines as for the others
    assert not walk(config, arc_job, values, skip, 2 if network == "vit" else 3)


@pytest.mark.parametrize("design", ["table", "separate", "cose"])
@pytest.mark.parametrize("network", ["canvas", "writer"])
def test_fields_that_are_no_flags_have_no_effect(network: str, design: Any, tmp_path: Path) -> None:
    """Printed commands leave them out, so another value must make the same run."""
    config = toy(network, tmp_path)
    if network == "canvas":
        config = replace(config, reasoner=replace(config.reasoner, horizon_layers=1, refinement_steps=1))
    memory = replace(config.memory, design=design, rank=0 if design == "cose" else config.memory.rank)
    data = replace(config.data, auxiliary=(), synthetic=(), partial=False)
    optimizer = replace(config.optimizer, cooldown=0.0)
    config = replace(config, memory=memory, data=data, optimizer=optimizer)
    before = traced(config, arc_job, 2)
    tried, acting = set(), set()
    for name, kind, value in flags_of(config):
        if name not in config.idle or name in ELSEWHERE:
            continue
        for other in others(name, kind, value):
            try:
                one = changed(config, name, other)
                if name in active(one):  # it switches itself on
                    continue
                after = traced(one, arc_job, 2)
            except CharmError:
                continue  # refused
            tried.add(name)
            if after != before:
                acting.add((name, other))
    assert not acting
    assert len(tried) >= 8, tried


def test_every_flag_of_automata_acts_or_is_refused(tmp_path: Path) -> None:
    config = automata.toy_config(automata.write_toy_benchmark(tmp_path), evaluate_every=6)
    config = replace(config, optimizer=replace(config.optimizer, cooldown=0.9))
    values: dict[str, list[Any]] = {
        "data.benchmark.families": [("life",)],
        "data.benchmark.horizons": [(1,)],
        "data.horizons": [(2,)],
        "data.data": [tmp_path / "nowhere"],
        "evaluate_loops": [(1,)],
    }
    assert not walk(config, car_job, values)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("tokenizers")
    return language.prepare_toy(tmp_path_factory.mktemp("language"))


@pytest.mark.parametrize("memory", ["cose", "composition only", "stock"])
def test_every_flag_of_language_models_acts_or_is_refused(memory: str, text: Path) -> None:
    ngram = language.MEMORIES[memory] if memory != "stock" else NgramConfig("none", 50, 16)
    config = language.toy_config(text, ngram=ngram)
    assert not walk(config, LMJob, {"data": [text / "nowhere"]})


def test_the_other_tests_name_their_flags() -> None:
    for name, (reason, path) in ELSEWHERE.items():
        assert reason
        assert name.rpartition(".")[2] in (ROOT / path).read_text(), name


@pytest.mark.parametrize("name", [name for domain in DOMAINS.values() for name in domain.get("presets")])
def test_help_says_what_a_preset_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_preset(name, domain_of_preset(name).configuration(name), ["--help"])
    assert re.search(r"^Train (?!a model of this)", capsys.readouterr().out, re.MULTILINE)
