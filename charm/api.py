"""CHARM as a library: load a model, solve a task, train, evaluate. See docs/api.md."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from charm import hub, progress
from charm.config import from_json, is_number, to_json
from charm.devices import choose_device, place
from charm.domains import DOMAINS, domain_of, domain_of_preset
from charm.errors import ODD_VALUES, CharmError, charm_errors
from charm.files import read_sealed
from charm.models.model import CharmModel
from charm.paths import example_at, model_at, path_given
from charm.runs.checkpoint import newest_checkpoint
from charm.solving import solver
from charm.solving.options import BUDGET, CPU_BUDGET, SolveOptions
from charm.solving.solution import Say, Solution, Solutions
from charm.tables import Table
from charm.tasks.task import Task, check_unique, task_from_json

T = TypeVar("T")
AnyTask = Task | Mapping[str, Any] | str | Path
AnyModel = CharmModel | str | Path
SayLine = Callable[[str], None] | Literal["bar"] | None


class Evaluated(dict[str, Any]):
    """The scores of a run as `charm eval --json` prints them; a notebook shows them as tables."""

    def __init__(self, found: Mapping[str, Any], tables: tuple[Table, ...]) -> None:
        super().__init__(found)
        self.tables = tables

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self.tables)


def load(model: str | Path | None = None, device: str = "auto", revision: str | None = None) -> CharmModel:
    """Load a trained model.

    Arguments:
        model: a run folder (its newest checkpoint), a saved model, "owner/name" on the Hugging Face hub, or None for
            the model that comes with CHARM.
        device: "cuda", "xpu", "mps", "cpu", or "auto" for the best available.
        revision: branch, tag or commit, for a model on the hub.
    """
    if revision is not None and not isinstance(revision, str):
        raise CharmError(f"revision must be the name of a branch, tag or commit, got {revision!r}")
    chosen, run = choose_device(device), _model_path(model, revision)
    folder = newest_checkpoint(run)
    loaded = CharmModel.from_pretrained(folder, chosen)
    if folder != run:
        loaded.trained_by = read_sealed(run / "config.json")
    return loaded


@overload
def solve(
    task: AnyTask,
    model: AnyModel | Sequence[AnyModel] | None = ...,
    budget: float | None = ...,
    device: str = ...,
    say: SayLine = ...,
    options: SolveOptions | None = ...,
    **changes: Any,
) -> Solution: ...
@overload
def solve(
    task: list[Any] | tuple[Any, ...],
    model: AnyModel | Sequence[AnyModel] | None = ...,
    budget: float | None = ...,
    device: str = ...,
    say: SayLine = ...,
    options: SolveOptions | None = ...,
    **changes: Any,
) -> Solutions: ...
def solve(
    task: AnyTask | list[Any] | tuple[Any, ...],
    model: AnyModel | Sequence[AnyModel] | None = None,
    budget: float | None = None,
    device: str = "auto",
    say: SayLine = "bar",
    options: SolveOptions | None = None,
    **changes: Any,
) -> Solution | Solutions:
    """Answer the test inputs of a task within a time budget; test outputs are ignored.

    Several tasks in a list are learned together if the model can, and share the budget. They return `Solutions`, a
    dictionary by task id. Ctrl-C returns the answers so far, if there are any.

    Arguments:
        task: a Task, the content of an ARC task file, the path of one, or the id of a public task; or a list of these,
            of files and folders with several tasks, and of public sets.
        model: a loaded model, which is not changed, or anything that `load` accepts; or a list of these, which share
            the budget and vote together.
        budget: seconds from the first update; None is that of `options`, or else 60, and 180 on a CPU.
        device: "cuda", "xpu", "mps", "cpu", or "auto" for the best available.
        say: called with each line of progress; "bar" shows a progress bar, None nothing.
        options: how to solve; by default `SolveOptions()`.
        changes: fields of `SolveOptions` to change, such as `views`, `steps`, `mode`, or `seed`: several let each model
            learn several times, as in seed=(0, 1).
    """
    several = isinstance(task, list | tuple)
    tasks = _tasks(task if several else [task], "task{}" if several else "task")  # type: ignore[arg-type]
    if not several and len(tasks) > 1:
        raise CharmError(f"{task} has {len(tasks)} tasks, expected one; charm.solve([{str(task)!r}]) solves them all")
    given = SolveOptions() if options is None else options
    if not isinstance(given, SolveOptions):
        raise CharmError(f"options must be SolveOptions, got {type(options).__name__}")
    if budget is None:
        short = given.budget == BUDGET and choose_device(device).type == "cpu"
        budget = CPU_BUDGET if short else given.budget
    if not is_number(budget) or budget <= 0:
        raise CharmError(f"budget must be a positive number of seconds, got {budget!r}")
    chosen = _options(SolveOptions, {**to_json(given), **changes, "budget": budget}, "charm.solve")
    found: dict[str, Solution] = {}
    problems: dict[str, str] = {}

    def ended(group: solver.Group, problem: str | None) -> None:
        problems.update({one.id: problem for one in group if problem})

    with tempfile.TemporaryDirectory() as folder:
        try:
            paths = _on_disk(model, Path(folder))
            with _progress(say) as tell:
                solver.solve(tasks, paths, chosen, [device], tell, found.update, ended, retry=False)
        except KeyboardInterrupt:
            late = "stopped before it had an answer"
            if not found:
                raise KeyboardInterrupt(f"charm.solve was {late}") from None
            problems = dict.fromkeys((one.id for one in tasks), late) | problems
            if say is not None:
                (say if callable(say) else progress.say)("stopped; these are the answers so far")
    return Solutions(tasks, found, problems) if several else found[tasks[0].id]


def _tasks(given: Sequence[Any], name: str) -> list[Task]:
    """Return the tasks that a caller gave in any way: names as `charm solve` takes them, dictionaries under `name`."""
    tasks, names = [], []
    for number, one in enumerate(given):
        if isinstance(one, Task):
            tasks.append(_checked(one))
        elif isinstance(one, Mapping):
            tasks.append(task_from_json(dict(one), name.format(number), "the task"))
        else:
            names.append(example_at(path_given(one, "a task that is neither a Task nor a dictionary")))
    loaded, skipped = solver.load_tasks(names) if names else ([], {})
    if skipped:
        raise CharmError(next(iter(skipped.values())))
    if not (tasks or loaded):
        raise CharmError("charm.solve needs at least one task, got an empty list")
    return [*check_unique([*tasks, *loaded], "charm.solve")]


def _checked(task: Task) -> Task:
    """Check a task that may be made of anything, as one from a file is."""
    with charm_errors("charm.solve: not a Task of an id and pairs of grids", *ODD_VALUES):
        parts = {"train": task.train, "test": task.test}
        content = {part: [vars(pair) for pair in pairs] for part, pairs in parts.items()}
        return task_from_json(content, task.id, "charm.solve")


@contextmanager
def _progress(say: SayLine) -> Iterator[Say]:
    """Return what passes progress on to `say`."""
    if say == "bar":
        with progress.bar("preparing", 1.0, counts=False) as line:
            yield lambda used, text: line.update(min(used, 1.0), text=text)
    elif say is None:
        yield lambda used, text: None
    elif callable(say):
        yield lambda used, text: say(text)
    else:
        raise CharmError(f'say must be a function, "bar" or None, got {say!r}')


def _on_disk(model: AnyModel | Sequence[AnyModel] | None, folder: Path) -> list[Path]:
    """Return the paths of models for solvers; a loaded one is saved to `folder`, since solvers change their copy."""
    found: list[Path] = []
    models: Sequence[Any] = model if isinstance(model, list | tuple) else [model]
    for one in models:
        if isinstance(one, CharmModel):
            found.append(folder / str(len(found)))
            one.save(found[-1])
        else:
            found.append(_model_path(one))
    if not found:
        raise CharmError("charm.solve needs at least one model, got an empty list")
    return found


def _model_path(model: str | Path | None, revision: str | None = None) -> Path:
    """Return the folder of a run or of a saved model, downloaded if it is on the hub."""
    if model is not None and hub.is_hub_name(model):
        return hub.download(str(model), revision)
    return model_at(None if model is None else path_given(model, "a model"))


def _options(kind: type[T], given: Mapping[str, Any], where: str) -> T:
    """Return the typed record of these options; one of the wrong name or type is an error."""
    return from_json(kind, {name: to_json(value) for name, value in given.items()}, where)


def preset(name: str) -> Any:
    """The configuration of a preset, to be changed with `dataclasses.replace` and given to `train`."""
    if not isinstance(name, str):
        raise CharmError(f"a preset must be a name, got {type(name).__name__}")
    return domain_of_preset(name).configuration(name)


def train(
    config: Any,
    out: str | Path | None = None,
    resume: bool = False,
    say: Callable[[str], None] = print,
    **changes: Any,
) -> Path:
    """Train and return the run folder, which `load`, `solve` and `evaluate` accept.

    Arguments:
        config: the name of a preset, such as "quickstart", or a configuration (see `preset`).
        out: the run folder; by default "runs/NAME" for a preset.
        resume: continue from the newest intact checkpoint in the run folder.
        say: called with each line of progress.
        changes: fields of the configuration to change, such as `steps=100`.
    """
    if isinstance(config, str):
        out = Path("runs") / config if out is None else out
        config = preset(config)
    if not is_dataclass(config) or isinstance(config, type) or getattr(config, "domain", "") not in DOMAINS:
        raise CharmError(f"expected the name of a preset or a configuration, got {type(config).__name__}")
    if out is None:
        raise CharmError("name the run folder: train(config, out=...)")
    out = path_given(out, "the run folder")
    if changes:
        config = _options(type(config), {**to_json(config), **changes}, "charm.train")
    with place(config.device) as here:
        engine = DOMAINS[config.domain].get("train")(config, out, here, resume, say)
    if not engine.finished:
        raise engine.interrupt
    return out


def evaluate(run: str | Path, device: str = "auto", **options: Any) -> Evaluated:
    """Score a run: make missing votes, rank all votes, write scores and a submission to the run folder.

    Arguments:
        run: a run folder.
        device: "cuda", "xpu", "mps", "cpu", or "auto" for the best available.
        options: the options of `charm eval`, such as `protocol="continual"`, `views=16`, `loops=(2,)`.
    """
    run = path_given(run, "a run")
    domain = domain_of(run)
    chosen = _options(domain.get("evaluate_options"), options, "charm.evaluate")
    with place(device) as here:
        found = domain.get("evaluate")(run, chosen, here)
    if found is None:
        raise CharmError("scores are on the main process only")
    scores, *tables = found
    return Evaluated(scores, tuple(tables))
