"""Training, evaluating and sampling a language model.

charm train lm-d12-cose-x5 --out runs/cose
torchrun --nproc-per-node 8 -m charm train lm-d12-cose-x5 --out runs/cose
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor

from charm.config import read_run_config, refuse_below
from charm.devices import Place, to_device
from charm.errors import CharmError
from charm.files import read_sealed, write_atomically
from charm.language.config import LMConfig
from charm.language.data import Integers, Piece, Prepared, TokenIds, training_rows, validation_rows
from charm.language.gpt import GPT
from charm.language.optimizers import LMOptimizers, schedule
from charm.memory.parts import RowShard
from charm.memory.sharding import shard_rows, sharded_tables
from charm.progress import say, track
from charm.runs import checkpoint
from charm.runs.folder import write_result
from charm.runs.metrics import curve, read_metrics
from charm.tables import UNKNOWN, Table
from charm.training.engine import Engine, Exam, Job, LogEntry, compiles, train


class LMJob(Job):
    """The engine's job for a run on text."""

    def __init__(self, config: LMConfig, place: Place, say: Callable[[str], None] = print) -> None:
        self.config, self.place, self.say = config, place, say
        self.data = Prepared.read(config.data, config.gpt.vocab)
        self.manifest = self.data.manifest
        documents = self.data.documents("validation")
        self.validation = validation_rows(documents, config.gpt.length, config.tails, config.evaluate_tokens)
        place.share(len(self.validation))  # an impossible evaluation is reported now, not after the last update
        self.work = (config.batch, "tokens")
        self.rows = config.batch // config.gpt.length  # of an update
        first, last = place.share(self.rows)
        self.part = min(config.device_rows, last - first)
        if (last - first) % self.part:
            raise CharmError(f"the {last - first} rows of a process cannot be split into equal parts of {self.part}")
        self.model = GPT(config.gpt, config.ngram, config.seed, self.data.canonical, self.data.bos)
        if config.shard_tables:
            shard_rows(self.model.ngram_tables(), place.rank, place.world)
        self.model.to(place.device)
        self.optimizers = LMOptimizers(self.model, config)
        self.documents = self.data.documents("train")
        self.plan: Iterator[list[Piece]] = training_rows(self.documents, config.gpt.length, config.tails)

    def check(self, out: Path) -> None:
        if read_manifest(out) != self.manifest:
            raise CharmError(f"{out} was started with different data than {self.data.folder} has now")

    def begin(self, out: Path, step: int) -> None:
        """Find the position in the text, and compile the model if requested."""
        if self.place.is_main:  # the run can then be sampled without its data
            write_atomically(out / "tokenizer.json", (self.data.folder / "tokenizer.json").read_bytes())
        self.plan = islice(self.plan, step * self.rows, None)
        self.compile()

    def update(self, step: int) -> dict[str, Tensor]:
        """Update all weights on the next rows; returns the mean loss over this process's tokens, in nats."""
        config = self.config
        rows = list(islice(self.plan, self.rows))
        first, last = self.place.share(len(rows))
        total = torch.zeros((), device=self.place.device)
        for at in range(first, last, self.part):
            part = [self.documents.row(pieces) for pieces in rows[at : at + self.part]]
            ids, targets = inputs_and_targets(part, self.place.device)
            loss = self.model(ids, targets).sum() / config.batch
            loss.backward()
            total += loss.detach()
        self.optimizers.set_rates(step)
        self.optimizers.step()
        return {"loss": total * self.place.world}

    def line(self, step: int, means: dict[str, float]) -> LogEntry:
        share, momentum, _ = schedule(step - 1, self.config)
        return LogEntry({**means, "lr": share, "momentum": momentum}, f"loss {means['loss']:.4f}")

    def evaluate(self, exam: Exam) -> LogEntry | None:
        scores = bits_per_byte(self.model, self.validation, self.data.token_bytes, self.place, self.part)
        return LogEntry(scores, f"{scores['bpb']:.5f} bits per byte")

    def compile(self) -> None:
        """Compile the model if requested, and fall back to plain code where that fails."""

        def attempt() -> None:
            ids = torch.zeros(self.part, self.config.gpt.length, dtype=torch.long, device=self.place.device)
            self.model(ids, ids).sum().backward()

        compiles(self.model, attempt, self.config.compile, self.place, self.say)
        self.model.zero_grad(set_to_none=True)

    def save(self, folder: Path) -> None:
        """Write the weights and moments; sharded rows go to separate files."""
        parts = {"model": self.model.state_dict(), "optimizer": checkpoint.optimizer_tensors(self.optimizers.all)}
        own: dict[str, Tensor] = {}
        for part, tensors in parts.items():
            own |= {f"{part}/{name}": shard.used(tensors.pop(name)) for name, shard in self.shards(tensors).items()}
            if self.place.is_main:
                checkpoint.write_tensors(folder / f"{part}.safetensors", tensors)
        if own:
            checkpoint.write_tensors(folder / f"rows_{self.place.rank:04d}.safetensors", own)

    def restore(self, folder: Path, step: int) -> None:
        self.model.load_state_dict(read_part(folder, "model"))
        moments = read_part(folder, "optimizer")
        moments |= {name: shard.part(moments[name]) for name, shard in self.shards(moments).items()}
        checkpoint.restore_optimizers(self.optimizers.all, moments)

    def shards(self, tensors: Mapping[str, Tensor]) -> dict[str, RowShard]:
        """Return which rows of a checkpoint's tensors are ours: weights of sharded tables, and their moments."""
        weights = [[w for group in one.param_groups for w in group["params"]] for one in self.optimizers.all]
        places = {id(w): f"{n}/{k}/" for n, some in enumerate(weights) for k, w in enumerate(some)}
        found: dict[str, RowShard] = {}
        for name, table in sharded_tables(self.model).items():
            own = [one for one in tensors if one == name or one.startswith(places[id(table.weight)])]
            found |= {one: table.shard for one in own if tensors[one].dim() == 2 and table.shard is not None}
        return found


def inputs_and_targets(rows: list[TokenIds], device: torch.device) -> tuple[Tensor, Tensor]:
    """Split rows of T + 1 tokens into inputs [B, T] and targets [B, T] one token later."""
    tokens = to_device(np.stack(rows).astype(np.int32), device).long()
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


@torch.no_grad()
def bits_per_byte(
    model: GPT, rows: TokenIds, token_bytes: Integers, place: Place, at_once: int, show: bool = False
) -> dict[str, float]:
    """Compute nats / (ln 2 * bytes), both summed over the text targets of the rows [N, T + 1]; specials do not count.

    All processes share the work and get the same result; `show` draws a progress bar.
    """
    first, last = place.share(len(rows))
    bytes_of_V = torch.from_numpy(token_bytes).to(place.device)
    sums = torch.zeros(3, dtype=place.sum_dtype, device=place.device)
    parts = range(first, last, at_once)
    for at in track(parts, "evaluating", len(parts), show):
        ids, targets = inputs_and_targets(list(rows[at : min(at + at_once, last)]), place.device)
        nats = model(ids, targets)
        sizes = bytes_of_V[targets]
        is_text = sizes > 0
        sums += torch.stack([(nats.to(sums.dtype) * is_text).sum(), sizes.sum(), is_text.sum()])
    if place.world > 1:
        dist.all_reduce(sums)
    nats_sum, byte_sum, count = sums.tolist()
    return {"bpb": nats_sum / (math.log(2) * byte_sum), "loss": nats_sum / count}


def train_lm(
    config: LMConfig, out: Path, place: Place, resume: bool = False, say: Callable[[str], None] = print
) -> Engine[LMJob]:
    """Train a whole run in the folder `out`; see `charm.training.engine.train`."""
    return train(config, partial(LMJob, config, place, say), out, place, resume, say)


def load_model(run: Path, device: torch.device) -> tuple[GPT, int]:
    """Load the model of a run's newest intact checkpoint, and return it with its step."""
    config = read_run_config(run, LMConfig)
    found = checkpoint.last_good(run, say)
    if found is None:
        raise CharmError(f"{run} has no intact checkpoint")
    weights = read_part(checkpoint.folder_of(run, found[0]), "model")
    canonical = next((v.numpy() for name, v in weights.items() if name.endswith(".canonical")), None)
    model = GPT(config.gpt, config.ngram, None, canonical, read_manifest(run)["bos"])
    model.load_state_dict(weights)
    return model.to(device).eval(), found[0]


@dataclass(frozen=True)
class LMEvaluation:
    """Bits per byte of a run's newest checkpoint on the first tokens of the validation shard."""

    tokens: int | None = None
    """Tokens to evaluate on; by default as in training."""
    rows: int = 16
    """Rows computed at once."""
    data: Path | None = None
    """Prepared text; by default as in training."""

    def __post_init__(self) -> None:
        refuse_below(1, {"rows": self.rows, "tokens": self.tokens})


def evaluate(run: Path, options: LMEvaluation, place: Place) -> tuple[dict[str, Any], str] | None:
    """Compute bits per byte of a run's newest checkpoint, and write them to its folder eval."""
    config = read_run_config(run, LMConfig)
    model, step = load_model(run, place.device)
    prepared = Prepared.read(options.data or config.data, config.gpt.vocab)
    if read_manifest(run)["sha256"]["tokenizer.json"] != prepared.manifest["sha256"]["tokenizer.json"]:
        raise CharmError(
            f"{prepared.folder} was prepared with another tokenizer than {run}; prepare it again with --tokenizer "
            f"{run / 'tokenizer.json'}"
        )
    tokens = options.tokens or config.evaluate_tokens
    text = validation_rows(prepared.documents("validation"), config.gpt.length, config.tails, tokens)
    scores = bits_per_byte(model, text, prepared.token_bytes, place, options.rows, show=place.is_main)
    if not place.is_main:
        return None
    path = run / "eval" / f"step_{step:09d}.json"
    found = write_result(path, {"step": step, "tokens": tokens, **scores}, run, prepared.manifest)
    return found, f"step {step}: {found['bpb']:.5f} bits per byte over {tokens:,} tokens"


@torch.no_grad()
def sample_tokens(
    model: GPT, prompt: list[int], count: int, temperature: float, top_k: int, generator: torch.Generator
) -> Iterator[int]:
    """Generate tokens after the prompt, one by one; the model's context is its row length."""
    ids = list(prompt)
    device = model.head.weight.device
    for _ in range(count):
        context = torch.tensor([ids[-model.config.length :]], device=device)
        logits_V = model(context)[0, -1].float().cpu()
        if temperature == 0:
            chosen = int(logits_V.argmax())
        else:
            best = logits_V.topk(min(top_k, len(logits_V)) if top_k else len(logits_V))
            shares = torch.softmax(best.values / temperature, dim=-1)
            chosen = int(best.indices[torch.multinomial(shares, 1, generator=generator)])
        ids.append(chosen)
        yield chosen


def read_manifest(run: Path) -> dict[str, Any]:
    return read_sealed(run / "data.json")


def read_part(folder: Path, part: str) -> dict[str, Tensor]:
    """Read the full tensors of a checkpoint's model or optimizers, with sharded rows joined."""
    tensors = checkpoint.read_tensors(folder / f"{part}.safetensors")
    parts = [checkpoint.read_tensors(file) for file in sorted(folder.glob("rows_*.safetensors"))]
    for name in parts[0] if parts else []:
        if name.startswith(f"{part}/"):
            tensors[name.removeprefix(f"{part}/")] = torch.cat([one[name] for one in parts])
    return tensors


# Name in metrics.jsonl -> title, and whether it is a share.
LM_CURVES = {
    "loss": ("Loss, nats per token", False),
    "evaluation/bpb": ("Bits per byte", False),
    "tokens_per_second": ("Tokens per second", False),
}


def lm_tables(runs: Sequence[Path], names: Sequence[str]) -> list[Table]:
    """Lay out the memory of each run, and its newest bits per byte."""
    rows = []
    for name, run in zip(names, runs, strict=True):
        points = curve(read_metrics(run), "evaluation/bpb")
        ngram = read_sealed(run / "config.json").get("ngram", {})
        memory = [str(ngram.get(field, UNKNOWN)) for field in ("variant", "rows", "width")]
        last = [f"{points[-1][0]:,}", f"{points[-1][1]:.5f}"] if points else ["not evaluated yet", UNKNOWN]
        rows.append([name, *memory, *last])
    return [Table(["run", "n-gram memory", "rows", "width", "step", "bits per byte"], rows)]
