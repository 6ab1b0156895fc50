"""Questions about the flagship that are answered on one GPU, several variants side by side.

python -m benchmarks.flagship NAME FOLDER --seconds 480    learn one variant and measure it
python -m benchmarks.flagship vote FOLDER --views 16       let its weights vote on the tasks, and score them;
                                                           with those of others: --others FOLDER2 FOLDER3;
                                                           also with a search: --search 0.1
python -m benchmarks.flagship gather FOLDER RECORD         make a record of all variants in a folder

A long training is made in pieces: `large P1 --rates 1 1`, then `large P2 --start P1/weights --rates 1 0.8`, and so on;
the last piece ends at 0. `solve FOLDER --start P2/weights` learns the evaluated tasks from a piece. The variants
`composed`, `changed` and `heavy` also learn rules of the data folder's `more-rules` (see benchmarks/more_rules.py).

Ways of learning the evaluated tasks from given weights, as `solve-to-end FOLDER --start P2/weights --seed 0`:
solve           as `charm solve`: 256 views, half of the updates rehearse real pairs until the rates fall
solve-to-end    rehearses while the rates fall, too
solve-16, -64   learn at most as many views of a task
mixed-50        the new tasks have half of the tokens, the rest are real and generated pairs of the base's rules
mixed-50-few    of these, at most 30 generated pairs of a rule: what could be shipped with the model
...-anchored    shared weights decay towards the start instead of zero; ...-held: ten times as fast

Variants of one question start at the same moment (`--at`, in seconds since 1970) and end after the same seconds, in
which they share the GPU, so their updates differ by their cost alone.

How unseen answers are measured without writing them: a test output is read once under a view. If every token is the
likeliest one, the writer would have written this answer. The mean over views is the chance that one view is right, and
"majority" the share of test outputs that at least half of the views would write.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from charm.arc.presets import preset
from charm.arc.run import arc_job
from charm.config import to_json
from charm.devices import Place, place
from charm.evaluation.predict import JUDGES, Request, contested, log_likelihoods, predict, search_answers
from charm.evaluation.protocols import ORDERS, Ballot
from charm.evaluation.ranking import Judgements, Opinion, pool_opinions, rank
from charm.evaluation.scoring import score_grids
from charm.files import read_sealed, write_atomically
from charm.models.model import TRAINING, CharmModel, read_model_config
from charm.models.writer.config import WriterConfig
from charm.models.writer.network import Writer
from charm.paths import data_dir, released_model
from charm.runs.settings import TrainConfig, solving_config
from charm.runs.votes import COLUMNS, merge
from charm.solving.options import SolveOptions, WriterRecipe
from charm.solving.solution import CANDIDATES
from charm.solving.solver import choose
from charm.solving.starts import NewVectors, rate_at
from charm.tasks.augment import draw_views
from charm.tasks.batch import PairBank
from charm.tasks.dataset import (
    DataConfig,
    Dataset,
    TaskSet,
    answers_of,
    assemble,
    load_dataset,
    load_task_set,
    output_only_colors,
)
from charm.tasks.instances import Instances
from charm.tasks.keyed import Numbers
from charm.tasks.keys import MemoryConfig
from charm.tasks.pairs_file import load_pairs, read_manifest
from charm.tasks.pairs_file import pack_pairs as pack_block
from charm.tasks.sampling import SWAPS, Mixture
from charm.tasks.sequences import pack_pairs, sequence_lengths
from charm.tasks.sources import load_source
from charm.tasks.task import COLORS, Pair, Task, questions_of
from charm.tasks.view import DIHEDRALS
from charm.training.adaptation import shared_parameters
from charm.training.forms import Form
from charm.training.learner import Learner
from charm.training.optimizers import OptimizerSet

EVALUATED = "arc1/evaluation"
PARTS = {"1-48": (0, 48), "49-100": (48, 52), "101-250": (100, 150), "251-400": (250, 150)}  # by hash: skipped, taken
ALL_TASKS = 400
PROBED = (0.25, 0.5, 0.75)  # of the time, and at its end
VIEWS = 16  # that a probe reads
READ_AT_ONCE = 65_536  # tokens
SOLVE_TOKENS = 32_768  # of an update
LEARNED_VIEWS = 256
FEW_PAIRS = 30
BASE_DATA = DataConfig(balanced=True, fixed_colors="output-only")

Line = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """Where and how large all variants are."""

    here: Place
    kernels: str
    tasks: list[Task]
    tokens: int
    """Of an update; 0: the variant's own."""
    views: int
    """That a probe reads."""
    start: Path | None = None
    """Weights to continue from; None: the released base's, or none for a base."""
    rates: tuple[float, float] | None = None
    """Share of the full rates at the start and at the end of the time; None: the variant's own."""
    seed: int = 0

    @property
    def begin(self) -> Path:
        return self.start or released_model()


@dataclass
class Variant:
    """What one variant does: an update at a share of the time, and what is measured."""

    model: CharmModel
    data: Dataset
    update: Callable[[float], dict[str, Tensor]]
    probe: Callable[[], Line]
    averaged: Callable[[], AbstractContextManager[None]] = nullcontext
    """Within it the model has the weights that are measured and saved."""


def writer_of(model: CharmModel) -> Writer:
    assert isinstance(model.reasoner, Writer)
    return model.reasoner


@torch.no_grad()
def read_answers(model: CharmModel, data: Dataset, bank: PairBank, pair_N: Numbers, row_N: Numbers) -> Tensor:
    """Return for each pair under the view of a row: mistakes, tokens and nats of its output, [3, N]."""
    writer, device = writer_of(model), model.reasoner.tokens.device
    training, keys = model.training, data.keys()
    model.eval()
    lengths_N = sequence_lengths(bank.shape.numpy()[pair_N], SWAPS[keys.dihedral.numpy()[row_N]])
    bank, keys = bank.to(device), keys.to(device)
    order = np.argsort(lengths_N, kind="stable")
    ends_N, found, first, done = np.cumsum(lengths_N[order]), torch.zeros(3, len(order)), 0, 0
    while first < len(order):
        last = int(np.searchsorted(ends_N, done + READ_AT_ONCE, side="right"))
        chosen = order[first:last]
        columns = (pair_N[chosen], row_N[chosen], ends_N[first:last] - done)
        pair, row, end = (torch.from_numpy(np.asarray(one, np.int64)).to(device) for one in columns)
        pack = pack_pairs(bank, keys, pair, row, end, int(ends_N[last - 1]) - done)
        read = writer._follow(pack, model.task(row))
        wrong = (read.logits.argmax(-1) != read.target) & read.wanted
        for number, values in enumerate((wrong, read.wanted, read.nll)):
            sums = torch.zeros(len(chosen), device=device).index_add(0, read.example, values.float())
            found[number, torch.from_numpy(chosen)] = sums.cpu()
        first, done = last, int(ends_N[last - 1])
    model.train(training)
    return found


def probe_unseen(model: CharmModel, data: Dataset, tasks: list[Task], views: int) -> Line:
    """Measure the test outputs of tasks under some views."""
    with_answers = [(task.id, pair) for task in tasks for pair in task.test]
    questions = questions_of(tasks)
    rows = [data.question_rows(question, views) for question in questions]
    pair_N = np.repeat(np.arange(len(questions)), [len(some) for some in rows])
    bank = PairBank.of([pair for _, pair in with_answers])
    wrong_N, tokens_N, nats_N = read_answers(model, data, bank, pair_N, np.concatenate(rows).astype(np.int64)).numpy()
    exact_Q, loss_Q = (
        np.array([values[pair_N == number].mean() for number in range(len(questions))])
        for values in (wrong_N == 0, nats_N / tokens_N)
    )
    line: Line = {"exact by output": [round(float(one), 4) for one in exact_Q]}
    parts = PARTS if len(tasks) == ALL_TASKS else {}
    for name, (skip, count) in {**parts, "all": (0, 0)}.items():
        chosen = {task.id for task in choose(tasks, count, skip=skip)}
        inside = np.array([task in chosen for task, _ in with_answers])
        line[f"{name}: a view"] = round(100 * float(exact_Q[inside].mean()), 2)
        line[f"{name}: majority"] = round(100 * float((exact_Q[inside] >= 0.5).mean()), 2)
        line[f"{name}: loss"] = round(float(loss_Q[inside].mean()), 4)
    return line


def probe_fresh(model: CharmModel, data: Dataset, fresh: dict[str, list[Pair]]) -> Line:
    """Measure fresh pairs of the rules that are learned, in original orientation and colours and under random views."""
    pairs = [(task, pair) for task, some in fresh.items() for pair in some]
    bank = PairBank.of([pair for _, pair in pairs])
    rng, line = np.random.default_rng(0), {}
    first = np.array([data.instances.rows(task)[0] for task, _ in pairs], np.int64)
    other = np.array([rng.choice(data.instances.rows(task)[:20]) for task, _ in pairs], np.int64)
    for name, row_N in {"original view": first, "random view": other}.items():
        wrong_N, tokens_N, nats_N = read_answers(model, data, bank, np.arange(len(pairs)), row_N).numpy()
        exact_N = wrong_N == 0
        by_task = [exact_N[np.array([task == one for one, _ in pairs])].mean() for task in fresh]
        line[f"{name}: exact"] = round(100 * float(exact_N.mean()), 2)
        line[f"{name}: loss"] = round(float(nats_N.sum() / tokens_N.sum()), 5)
        line[f"{name}: rules at zero"] = int((np.array(by_task) == 0).sum())
    return line


def token_totals(data: Dataset) -> dict[bool, float]:
    """Return the tokens of the index, of evaluated tasks and of others, by the length of unchanged pairs."""
    lengths = sequence_lengths(data.bank.shape.numpy(), np.zeros(len(data.bank), bool))
    puzzle = data.instances.table()[0]
    evaluated = {data.instances.number(question.task_id) for question in data.questions}
    totals = {True: 0.0, False: 0.0}
    for block in data.blocks:
        is_new = int(puzzle[block.rows[0]]) in evaluated
        totals[is_new] += float(lengths[block.pairs].mean()) * len(block)
    return totals


def mix(data: Dataset, share: float) -> None:
    """Repeat blocks so that evaluated tasks have this share of the index's tokens."""
    totals = token_totals(data)
    puzzle = data.instances.table()[0]
    evaluated = {data.instances.number(question.task_id) for question in data.questions}
    finer = 20
    times = round(finer * share / (1 - share) * totals[False] / totals[True])
    for side, mixture in data.mixtures.items():
        data.mixtures[side] = Mixture(
            replace(block, repeats=block.repeats * (times if int(puzzle[block.rows[0]]) in evaluated else finer))
            for block in mixture.blocks
        )
    totals = token_totals(data)
    print(f"evaluated tasks have {totals[True] / sum(totals.values()):.1%} of the tokens", flush=True)


def base_config(setting: Setting, name: str = "base") -> TrainConfig:
    """Return the recipe of a base without dropout, with shape and views of the weights that it continues from."""
    config = preset(name)
    if setting.start:
        found, _ = read_model_config(setting.start / "config.json")
        assert isinstance(found.memory, MemoryConfig)
        config = replace(config, reasoner=found.reasoner, memory=found.memory)
    assert isinstance(config.reasoner, WriterConfig)
    reasoner = replace(config.reasoner, dropout=0.0, kernels=setting.kernels)  # type: ignore[arg-type]
    augment = drawn_as(setting.start).augment if setting.start else config.data.augment
    data = replace(config.data, partial=True, synthetic_view_count=20, augment=augment)
    return replace(config, reasoner=reasoner, data=data)


def drawn_as(start: Path) -> DataConfig:
    """Return how the views were drawn that these weights were trained on."""
    path = start / TRAINING
    return solving_config(start, start, read_sealed(path)).data if path.exists() else BASE_DATA


def train_variant(
    config: TrainConfig, setting: Setting, warmup: int, cooldown: float, data: Dataset, held: float = 0.0
) -> Variant:
    """Return a run whose rates follow the clock."""
    job = arc_job(config, setting.here, lambda text: print(text, flush=True), data)
    recipe = WriterRecipe(warmup=warmup, cooldown=0.0 if setting.rates else cooldown)
    first, last = setting.rates or (1.0, 1.0)
    job.learner.rate = lambda update, passed: rate_at(recipe, update, passed) * (first + (last - first) * passed)
    if held:
        anchor(job.learner, held)
    job.compile()
    job.model.trained_by = {"domain": config.domain, **to_json(config)}
    return Variant(job.model, data, lambda passed: job.learner.update(passed), lambda: {}, job.average.applied)


class Anchor(Form):
    """Decoupled weight decay towards where shared weights start, instead of zero, `times` as fast."""

    def __init__(self, shared: Mapping[str, nn.Parameter], optimizers: OptimizerSet, times: float) -> None:
        super().__init__(shared)
        anchored = {id(parameter) for parameter in shared.values()}
        self.groups = []
        for group in (group for one in optimizers.all for group in one.param_groups):
            if not anchored >= {id(parameter) for parameter in group["params"]}:
                continue  # tasks' vectors
            starts = [parameter.detach().clone() for parameter in group["params"]]
            self.groups.append((group, times * group["weight_decay"], starts))
            group["weight_decay"] = 0.0

    @torch.no_grad()
    def after_step(self) -> None:
        for group, decay, starts in self.groups:
            away = torch._foreach_sub(group["params"], starts)
            torch._foreach_mul_(away, group["lr"] * decay)
            torch._foreach_sub_(group["params"], away)


def anchor(learner: Learner, times: float) -> None:
    learner.form = Anchor(shared_parameters(learner.model, "full"), learner.optimizers, times)


def mixed(
    share: float, lr: float = 5e-4, task_lr: float = 1e-2, cooldown: float = 0.4, held: float = 0.0, few: int = 0
) -> Any:
    """Continue a base on a mixture in which the new tasks have this share of the tokens, to the end.

    With `held` the shared weights are anchored to the base; `few` is the most generated pairs of a rule.
    """

    def make(setting: Setting) -> Variant:
        config = base_config(setting)
        data_config = replace(config.data, evaluate=(EVALUATED,), evaluate_repeats=1, views=LEARNED_VIEWS)
        optimizer = replace(config.optimizer, lr=lr, factor_lr=task_lr, ema=0.0)
        config = replace(config, data=data_config, optimizer=optimizer, start=str(setting.begin), seed=setting.seed)
        config = config.sized(tokens=setting.tokens or SOLVE_TOKENS)
        tasks = replace(load_task_set(data_config), evaluate=tuple(task.blind() for task in setting.tasks))
        if few:
            made = (
                (rule, pack_block(block.pairs()[:few], block.index[:few].tolist())) for rule, block in tasks.synthetic
            )
            tasks = replace(tasks, synthetic=tuple(made))
        data = assemble(tasks, data_config)
        mix(data, share)
        variant = train_variant(config, setting, 20, cooldown, data, held)
        variant.probe = lambda: probe_unseen(variant.model, data, setting.tasks, setting.views)
        return variant

    return make


def solved(views: int = LEARNED_VIEWS, to_end: bool = False, held: float = 0.0) -> Any:
    """Learn as `charm solve` does: half of the updates rehearse real pairs, none while rates fall unless `to_end`."""

    def make(setting: Setting) -> Variant:
        if setting.rates:
            raise SystemExit("--rates is for bases; a solve has its own")
        here, tasks = setting.here, setting.tasks
        model = CharmModel.from_pretrained(setting.begin, here.device)
        writer = writer_of(model)
        writer.config = replace(writer.config, kernels=setting.kernels)  # type: ignore[arg-type]
        compiled = "on" if here.device.type == "cuda" else "off"
        tokens = setting.tokens or SOLVE_TOKENS
        recipe = WriterRecipe(tokens=tokens, rehearse=0.5, compile=compiled, views=views)  # type: ignore[arg-type]
        options = SolveOptions(budget=480, writer=recipe, seed=setting.seed)
        start = NewVectors(model, drawn_as(setting.begin), options, here)
        data = start.prepare(tasks, 480)
        learning = start.adaptation()
        if to_end:
            focused = learning.focused
            learning.focused = lambda passed: focused(0.0)  # type: ignore[method-assign]
        if held:
            anchor(learning, held)
        start.model.trained_by = model.trained_by
        return Variant(
            start.model, data, learning.update, lambda: probe_unseen(start.model, data, tasks, setting.views)
        )

    return make


def cooked(more: str | None = None, base: str = "base", **changes: Any) -> Any:
    """Train the base of a preset with changes of the recipe; measured on fresh pairs of its rules.

    `more` is in the names of the made rules that it also learns: "" is in all, None is for no such rules.
    """

    def make(setting: Setting) -> Variant:
        config = base_config(setting, base)
        own = {name: changes[name] for name in ("reasoner", "memory", "optimizer", "data") if name in changes}
        for name, values in own.items():
            config = replace(config, **{name: replace(getattr(config, name), **values)})
        config = config.sized(tokens=setting.tokens or config.tokens)
        config = replace(config, start=str(setting.start or ""), seed=setting.seed)
        tasks = load_task_set(config.data)
        data = assemble(tasks, config.data) if more is None else with_rules(tasks, config.data, more)
        variant = train_variant(config, setting, 100, 0.4, data)
        fresh = fresh_pairs({task.id for task in tasks.train})
        variant.probe = lambda: probe_fresh(variant.model, data, fresh)
        return variant

    return make


def with_rules(tasks: TaskSet, config: DataConfig, more: str) -> Dataset:
    """Return the data of tasks, and of the made rules with `more` in their names, each a puzzle of its own.

    Rules of ARC-Heavy keep their colours, since many of them name one that inputs have.
    """
    folder = data_dir() / MORE_RULES
    made = load_pairs(folder, [rule for rule in read_manifest(folder).tasks if more in rule])
    instances = Instances()
    for rule, block in made.items():
        some = Task(rule, tuple(block.pairs()[:8]), ())
        if rule.startswith(HEAVY):
            views = draw_views(some, DIHEDRALS, config.seed, fixed=range(COLORS))
        else:
            views = draw_views(some, config.synthetic_view_count, config.seed, fixed=output_only_colors(some))
        instances.add(rule, views)
    data = assemble(replace(tasks, synthetic=(*tasks.synthetic, *made.items())), config, instances)
    print(f"{len(made):,} made rules", flush=True)
    return data


HEAVY = "heavy-"
MORE_RULES = "more-rules"  # below the data folder: what benchmarks/more_rules.py makes
FRESH = Path("fresh")  # below the data folder: pairs of another seed
FRESH_PAIRS = 8


def fresh_pairs(tasks: set[str]) -> dict[str, list[Pair]]:
    """Return a few pairs of each rule that no variant learns from."""
    found = {}
    for provider in ("rearc", "rearc2"):
        folder = data_dir() / FRESH / provider
        for task, block in load_pairs(folder, tasks & set(read_manifest(folder).tasks)).items():
            found[task] = [Pair(*block.pair(number)) for number in range(min(FRESH_PAIRS, len(block)))]
    return found


LARGE = {"width": 512, "heads": 8}
VARIANTS: dict[str, Any] = {
    "solve": solved(),
    "solve-16": solved(views=16),
    "solve-64": solved(views=64),
    "solve-to-end": solved(to_end=True),
    "solve-anchored": solved(held=1.0),
    "mixed-06": mixed(0.06),
    "mixed-14": mixed(0.14),
    "mixed-30": mixed(0.30),
    "mixed-50": mixed(0.50),
    "mixed-50-few": mixed(0.50, few=FEW_PAIRS),
    "mixed-50-anchored": mixed(0.50, held=1.0),
    "mixed-50-held": mixed(0.50, held=10.0),
    "mixed-30-slow-task": mixed(0.30, task_lr=3e-3),
    "mixed-30-fast": mixed(0.30, lr=1e-3),
    "mixed-30-long-fall": mixed(0.30, lr=1e-3, cooldown=0.8),
    "recipe": cooked(),
    "film": cooked(reasoner={"recipe": ("film",)}),
    "film-only": cooked(reasoner={"recipe": ("film-only",)}),
    "root-loss": cooked(reasoner={"recipe": ("root-loss",)}),
    "float32-head": cooked(reasoner={"recipe": ("float32-head",)}),
    "tiny": cooked(reasoner={"width": 32, "heads": 2, "layers": 1}),  # to try the commands on a CPU
    "narrow-task": cooked(memory={"task_width": 32}),
    "slow-task": cooked(optimizer={"factor_lr": 3e-3}),
    "flagged": cooked(memory={"colors": "flagged"}, data={"augment": "own-colors"}),
    "own-colors": cooked(data={"augment": "own-colors"}),
    "twice": cooked(reasoner={"layers": 4, "recurrences": 2}),
    "changed": cooked("~"),
    "composed": cooked("+"),
    "heavy": cooked("heavy-", memory={"task_width": 32}),
    "large": cooked(reasoner=LARGE),
    "large-more": cooked("", reasoner=LARGE),
    "large-flagged": cooked(base="large"),
    "large-flagged-more": cooked("", base="large"),
    # For ARC-AGI-2: with the rules of ARC-AGI-1's evaluation tasks, so never scored on these.
    "large-arc2-more": cooked("", base="large", data={"train": ("arc2/training",)}),
}


def learn(name: str, options: argparse.Namespace) -> None:
    """Learn a variant for some seconds, and write what was measured and its weights."""
    out = options.folder
    out.mkdir(parents=True, exist_ok=True)
    tasks = choose(list(load_source(EVALUATED).tasks), options.count, skip=options.skip)
    with place(options.device) as here:
        began = time.monotonic()
        how = (options.tokens, options.probe_views, options.start, options.rates, options.seed)
        variant: Variant = VARIANTS[name](Setting(here, options.kernels, tasks, *how))
        print(f"{name}: ready after {time.monotonic() - began:.0f} s", flush=True)
        for _ in range(6 if here.device.type == "cuda" else 1):  # kernels are built, and the update is recorded
            variant.update(0.0)
        if here.device.type == "cuda":
            torch.cuda.synchronize()
        time.sleep(max(0.0, options.at - time.time()))
        seconds = options.end - time.time() if options.end else options.seconds
        if seconds <= 0:
            raise SystemExit(f"{name}: --end had passed before learning could start")
        began, updates, probes, lines = time.monotonic(), 0, [*PROBED], []
        losses: list[Tensor] = []
        while (passed := (time.monotonic() - began) / seconds) < 1:
            metrics = variant.update(passed)
            updates += 1
            if updates % 20 == 0:
                losses.append(torch.stack([metrics["loss"], metrics["exact_accuracy"]]))
                if here.device.type == "cuda":
                    torch.cuda.synchronize()  # the clock counts work that is done
            if probes and passed >= probes[0]:
                probes = probes[1:]
                with variant.averaged():
                    lines.append(line_of(variant, passed, updates, losses))
                    variant.model.save(out / f"weights-{updates}", dtype=torch.bfloat16)
                show(name, lines[-1])
                losses = []
        if here.device.type == "cuda":
            torch.cuda.synchronize()
        took = time.monotonic() - began
        with variant.averaged():
            lines.append(line_of(variant, 1.0, updates, losses))
            variant.model.save(out / "weights", dtype=torch.bfloat16)
        show(name, lines[-1])
        record = {
            "variant": name,
            "seconds": round(took, 1),
            "updates": updates,
            "kernels": options.kernels,
            "seed": options.seed,
            "lines": lines,
        }
        write_atomically(out / "record.json", json.dumps(record) + "\n")
        print(f"{name}: written", flush=True)


def line_of(variant: Variant, passed: float, updates: int, losses: list[Tensor]) -> Line:
    loss, exact = torch.stack(losses[-20:]).mean(0).tolist() if losses else (float("nan"),) * 2
    return {"passed": round(passed, 3), "updates": updates, "loss": loss, "exact": exact, **variant.probe()}


def show(name: str, line: Line) -> None:
    short = {key: value for key, value in line.items() if not isinstance(value, list)}
    print(f"{name} {json.dumps(short)}", flush=True)


def vote(options: argparse.Namespace) -> None:
    """Score the votes of a variant's weights on evaluated tasks, ranked as `charm solve` ranks them.

    The weights in other folders vote as well, alone and together with them. With a search, the same votes are scored
    with and without it.
    """
    folder, views, least = options.folder, options.views, options.search
    tasks = choose(list(load_source(EVALUATED).tasks), options.count, skip=options.skip)
    config = replace(
        preset("base").data,
        train=(),
        synthetic=(),
        evaluate=(EVALUATED,),
        evaluate_repeats=1,
        views=max(views, 2),
        tasks=tuple(task.id for task in tasks),
        without=(),
    )
    folders = [folder, *options.others]
    with place(options.device) as here:
        began, searching, contested_tasks = time.monotonic(), 0.0, 0
        voters: list[tuple[CharmModel, Dataset, Opinion]] = []
        searched: list[Opinion] = []
        for each in folders:
            model = CharmModel.from_pretrained(each / "weights", here.device)
            data = load_dataset(replace(config, augment=drawn_as(each / "weights").augment), model.instances.copy())
            model.grow(data.instances)
            judgements: Judgements = {}
            (votes,) = predict(Request(model, data, (1,), views, judgements=judgements), here).values()
            judges = min(views, JUDGES)
            opinion = Opinion(votes, judgements, merge([]).candidates)
            keep(opinion, each / f"opinion_{views}.npz")
            score([opinion], data, tasks, views, each / f"votes_{views}.json", each.name, time.monotonic() - began)
            for other_model, other_data, other in voters:
                log_likelihoods(model, data, other.votes.candidates, judges, judgements)
                log_likelihoods(other_model, other_data, votes.candidates, judges, other.judgements)
            voters.append((model, data, opinion))
            opinions = [one for _, _, one in voters]
            if least:
                before = time.monotonic()
                open_Q = contested(pool_opinions(opinions)[0], len(data.questions))
                found = search_answers(model, data, open_Q, least)
                log_likelihoods(model, data, found, judges, judgements)
                for earlier in searched:
                    log_likelihoods(model, data, earlier.found, judges, judgements)
                searched.append(Opinion(votes, judgements, found))
                contested_tasks = max(contested_tasks, len({data.questions[n].task_id for n in open_Q.tolist()}))
                searching += time.monotonic() - before
        seconds = time.monotonic() - began
        names, with_others = "+".join(each.name for each in folders), "".join(f"_{one.name}" for one in options.others)
        if options.others:
            path = folder / f"votes_{views}{with_others}.json"
            score(opinions, data, tasks, views, path, names, seconds - searching)
        if least:
            print(f"{contested_tasks} contested tasks, {sum(len(one.found) for one in searched)} answers found")
            path = folder / f"votes_{views}{with_others}_searched.json"
            score(searched, data, tasks, views, path, f"{names}_searched", seconds)


def score(
    opinions: Sequence[Opinion], data: Dataset, tasks: list[Task], views: int, path: Path, name: str, seconds: float
) -> None:
    """Print the scores of pooled opinions by two rules, and write those of the usual one."""
    scores = {rule: scores_of(opinions, data, tasks, rule) for rule in ("likelihood", "likelihood alone")}
    for rule, (metrics, _) in scores.items():
        numbers = {f"pass@{k}": round(100 * metrics[f"pass@{k}"], 2) for k in (1, 2, 1000)}
        print(f"{name}, {rule}: {json.dumps(numbers)} after {seconds:.1f} s", flush=True)
    record = {"folder": name, "views": views, "seconds": seconds, **scores["likelihood"][1]}
    write_atomically(path, json.dumps(record) + "\n")


def keep(opinion: Opinion, path: Path) -> None:
    """Write votes and what the views think of candidates, so that they can be ranked again without a GPU."""
    judged = [(*name, likely) for name, likely in opinion.judgements.items()]
    question_J, hash_J, row_J, likely_J = zip(*judged, strict=True) if judged else ((), (), (), ())
    np.savez_compressed(
        path,
        **dict(zip(COLUMNS, opinion.votes.columns(), strict=True)),  # type: ignore[arg-type]
        judged_question=np.array(question_J, np.int32),
        judged_hash=np.array(hash_J, np.uint64),
        judged_row=np.array(row_J, np.int32),
        judged_likelihood=np.array(likely_J, np.float32),
    )


def scores_of(
    opinions: Sequence[Opinion], data: Dataset, tasks: list[Task], rule: str
) -> tuple[dict[str, float], Line]:
    """Return the metrics, and all scores, of pooled opinions ranked by votes x likelihood or by likelihood alone."""
    ORDERS["likelihood alone"] = lambda weight_K, confidence_K: confidence_K
    votes, found = pool_opinions(opinions)
    best = rank([Ballot(votes)], data.questions, rule, found).best(CANDIDATES + 1)
    grids = {question: [one.grid for one in some if one.grid.size] for question, some in best.items()}
    scores = score_grids(grids, answers_of(tasks))
    return scores.metrics, scores.to_json()


def gather(folder: Path, out: Path) -> None:
    """Make a record of the variants whose folders are in `folder`, which ran side by side."""
    numbers, runs = {}, {}
    for name in [name for name in VARIANTS if (folder / name / "record.json").is_file()]:
        run = json.loads((folder / name / "record.json").read_text())
        last = run["lines"][-1]
        numbers[f"{name}: updates"] = run["updates"]
        measured = ("a view", "majority", "loss", "exact")
        numbers |= {
            f"{name}: {key}": value for key, value in last.items() if key.split(": ")[-1] in measured and ":" in key
        }
        runs[name] = {
            **run,
            "lines": [{k: v for k, v in line.items() if not isinstance(v, list)} for line in run["lines"]],
        }
        for path in sorted((folder / name).glob("votes_*.json")):
            votes = json.loads(path.read_text())
            numbers |= {
                f"{votes['folder']}: pass@{k}": round(100 * votes["metrics"][f"pass@{k}"], 1) for k in (1, 2, 1000)
            }
            ranks = {task["task_id"]: [one["rank"] for one in task["outputs"]] for task in votes["tasks"]}
            runs[name].setdefault("votes", {})[votes["folder"]] = {
                "views": votes["views"],
                "ranks of the answers": ranks,
            }
    seconds = {run["seconds"] for run in runs.values()}
    record = {
        "what": "variants of learning, side by side on one GPU",
        "command": "python -m benchmarks.flagship, a process for each variant; then vote and gather",
        "size": f"{len(runs)} variants at once, {min(seconds):.0f} seconds",
        "machine": "NVIDIA H200, shared by the variants through CUDA's multi-process service",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "seeds": sorted({run["seed"] for run in runs.values()}),
        "numbers": numbers,
        "runs": runs,
    }
    write_atomically(out, json.dumps(record, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=[*VARIANTS, "vote", "gather"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("record", type=Path, nargs="?", help="file that gather writes")
    parser.add_argument("--seconds", type=float, default=480)
    parser.add_argument("--at", type=float, default=0.0, help="when learning starts, in seconds since 1970")
    parser.add_argument("--end", type=float, default=0.0, help="when it ends, likewise; replaces --seconds")
    parser.add_argument("--kernels", default="auto", choices=["auto", "plain", "fused"])
    parser.add_argument("--tokens", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=Path, help="weights to continue from")
    parser.add_argument("--rates", type=float, nargs=2, help="share of the full rates at the start and at the end")
    parser.add_argument("--probe-views", type=int, default=VIEWS)
    parser.add_argument("--views", type=int, default=32)
    parser.add_argument("--others", type=Path, nargs="*", default=[], help="weights that vote together with these")
    parser.add_argument("--search", type=float, default=0.0, help="least probability of answers that are searched for")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    if options.what == "vote":
        vote(options)
    elif options.what == "gather":
        gather(options.folder, options.record)
    else:
        learn(options.what, options)


if __name__ == "__main__":
    main()
