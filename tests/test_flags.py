"""Every flag of a preset acts or is refused: a changed value changes the first updates, the schedule or the votes."""

import io
import json
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import fields, is_dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from charm.arc.presets import PRESETS, preset
from charm.arc.run import arc_job
from charm.commands.presets import parse_preset
from charm.config import from_json, to_json
from charm.devices import place
from charm.domains import domain_of_preset
from charm.errors import CharmError
from charm.models.vit.config import VitConfig
from charm.models.writer.config import WriterConfig
from charm.runs.settings import OptimizerConfig, TrainConfig
from charm.tasks.keys import MemoryConfig
from charm.tasks.sequences import LONGEST
from tests.toy import toy_config, write_toy_tasks

# Flags that these short runs on a CPU cannot show to act, and the tests that do.
ELSEWHERE = {
    "device": "tests/test_devices.py",
    "compile": "tests/training/test_loop.py",
    "graphs": "tests/training/test_graphs.py",
    "tensorboard": "tests/training/test_logs.py",
    "wandb": "tests/training/test_logs.py",
    "keep_checkpoints": "tests/training/test_resume.py",
    "shard_tables": "tests/training/test_loop.py",
    "start": "tests/training/test_writer_job.py",
    "accumulate": "tests/training/test_loop.py",
    "reasoner.exploration": "tests/training/test_slots.py",
    "reasoner.kernels": "tests/models/writer/test_kernels.py",
    "data.data": "tests/tasks/test_dataset.py",
    "data.partial": "tests/tasks/test_dataset.py",
    "data.synthetic_view_count": "tests/tasks/test_dataset.py",
    "data.synthetic_views": "tests/tasks/test_dataset.py",
}
# Values that differ enough for runs this small.
OTHERS: dict[str, Any] = {
    "reasoner.expansion": 12.0,
    "reasoner.inner_multiple": 128,
    "reasoner.horizon_layers": 2,
    "memory.composer": "add",
    "optimizer.betas": (0.5, 0.6),
    "evaluate_loops": (2,),
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
        parse_preset("charm train", name, config, ["--help"])
    found = re.findall(
        r"^[│| ]+ *--(?:no-)?([a-z][\w.-]+)", re.sub(r"\x1b\[[\d;]*m", "", printed.getvalue()), re.M
    )
    plain = {one.replace("-", "_") for one in found} - {"out", "resume", "restart", "help"}
    # `--data.no-balanced` switches off `data.balanced`.
    return {one.replace(".no_", ".") for one in plain}


@pytest.mark.parametrize("name", [*PRESETS, "car-single", "car-small-low-rank", "lm-d12", "lm-tiny-cose"])
def test_help_has_the_flags_that_act(name: str) -> None:
    config = domain_of_preset(name).configuration(name)
    assert shown(name, config) == set(active(config))


def test_presets_of_writers_have_at_most_sixty_flags() -> None:
    for name in ("base", "writer"):
        assert len(shown(name, preset(name))) + len(("out", "resume", "restart")) <= 60


@pytest.mark.parametrize("name", ["base", "varc-arc1", "arc1", "car-small-low-rank"])
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
            parse_preset("charm train", name, config, words or [f"--no-{one}"])


def test_a_flag_acts_with_the_one_that_it_depends_on() -> None:
    words = ["--memory.rank", "16", "--optimizer.row-lr", "0.003"]
    found = parse_preset("charm train", "base", preset("base"), words).config
    assert (found.memory.rank, found.optimizer.row_lr) == (16, 0.003)
    with pytest.raises(
        CharmError, match=r"^--optimizer\.row-lr 0\.003 would have no effect: memory\.rank is 0$"
    ):
        parse_preset("charm train", "base", preset("base"), words[2:])


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
    by_row = replace(preset("base"), optimizer=OptimizerConfig(factors="rows"))
    assert by_row.memory.sparse_base
    assert from_json(TrainConfig, to_json(by_row)) == by_row


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


def traced(config: TrainConfig, updates: int = 3) -> str:
    """A hash of what a run does: its data, its first updates, its schedule, and how it will vote."""
    with place("cpu") as here:
        job = arc_job(config, here, lambda text: None)
        found = sha256()
        for step in range(updates):
            for name, number in sorted(job.update(step).items()):
                found.update(f"{name} {float(number)!r}".encode())
        for weight in (*job.model.state_dict().values(), *job.average.average):
            found.update(weight.detach().numpy().tobytes())
        marks = [
            (config.logs_at(n), config.saves_at(n), config.evaluates_at(n)) for n in range(config.steps + 1)
        ]
        found.update(repr((marks, job.examiner.loops, job.examiner.views, len(job.data.questions))).encode())
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
    data = replace(
        base.data, train=(sources[0],), evaluate=(sources[1],), auxiliary=(sources[2],), auxiliary_repeats=1
    )
    optimizer = replace(base.optimizer, warmup=2, cooldown=0.9)
    canvas = replace(base, data=data, optimizer=optimizer, evaluate_every=6, steps=6)
    if network == "writer":
        return replace(
            canvas,
            data=replace(data, canvas="full"),
            batch=TrainConfig.batch,
            reasoner=WriterConfig(
                width=32, heads=2, layers=2, inner_multiple=16, dropout=0.1, compute_dtype="float32"
            ),
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


@pytest.mark.parametrize("network", ["canvas", "writer", "vit"])
def test_every_flag_acts_or_is_refused(network: str, tmp_path: Path) -> None:
    config = toy(network, tmp_path)
    again = str(write_toy_tasks(tmp_path / "d", 3, 9))
    ids = sorted(path.stem for source in config.data.train for path in Path(source).iterdir())
    sources: dict[str, list[Any]] = {
        f"data.{role}": [(again,)] for role in ("train", "evaluate", "auxiliary")
    }
    sources |= {"data.tasks": [(ids[0],)], "data.without": [(ids[0],)], "data.synthetic": [("rearc",)]}
    updates = 2 if network == "vit" else 3
    before = traced(config, updates)
    assert traced(config, updates) == before
    idle = set()
    for name, (kind, value) in active(config).items():
        if name in ELSEWHERE:
            continue
        if network == "vit" and name.startswith(("optimizer.", "data.", "memory.")) and name not in VIT_DATA:
            continue  # read by the same lines as for the others
        for other in sources.get(name) or others(name, kind, value):
            try:
                one = changed(config, name, other)
                silent = name in one.idle  # it changed what it depends on
                after = traced(one, updates)
            except CharmError:
                continue  # refused
            if after == before and not silent:
                idle.add((name, other))
    assert not idle


def test_the_other_tests_name_their_flags() -> None:
    for name, path in ELSEWHERE.items():
        assert name.rpartition(".")[2] in (ROOT / path).read_text(), name
