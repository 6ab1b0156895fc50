"""Compare the writer's two ways of attention on a GPU: our kernels, and two passes of FlashAttention with a merge.

python -m benchmarks.writer_attention benchmarks/results/speed_writer.json --no-updates
python -m benchmarks.writer_attention benchmarks/results/speed_writer.json --no-blocks

1. Results and gradients of both against float64, on random packs. Stops if ours are worse.
2. Milliseconds of each of our kernels on a real pack, within a CUDA graph (calls timed alone are bound by launches),
   for many shapes of blocks, each of which is checked as well; and the lines of `kernels.py` for the fastest. They are
   compiled beforehand in as many processes as there are cores. `--before FILE` also times an earlier `kernels.py`.
3. Seconds of a whole update with either, in turns, three times, next to a large matrix product in the same minute.
   All updates are compiled beforehand, each in a separate process; compiled code on disk is what remains of them.

The first two parts take about a minute on one H200, the third about a minute and a half.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import torch
from torch import Tensor

from benchmarks.writer_solve import merge_into
from charm.arc.presets import preset
from charm.arc.run import arc_job
from charm.bench.training import RECORDED, product_tflops, seconds_each
from charm.devices import Place
from charm.errors import CharmError
from charm.models.writer.config import WriterConfig
from charm.models.writer.network import _attend_within, _rotate
from charm.models.writer.packs import Packs
from charm.runs.settings import TrainConfig
from charm.tasks.dataset import Dataset, load_dataset
from charm.tasks.sequences import Pack
from charm.training.job import ReasonerJob

Kernels = Literal["plain", "fused"]
BOTH: tuple[Kernels, ...] = ("plain", "fused")
NEW: tuple[Kernels, ...] = ("fused",)
UPDATES = {  # of each comparison: width and tokens of an update, and the ways that are timed
    "training width 256": (256, 65_536, BOTH),
    "training width 512": (512, 65_536, BOTH),
    "solve learning": (256, 32_768, BOTH),
    "training width 256, 131,072 tokens": (256, 131_072, NEW),
    "training width 512, 131,072 tokens": (512, 131_072, NEW),
}
COMPILING = 4  # updates at once: each takes its own memory of the GPU
REPEATS = 3
HEADS = {"width 256": 4, "width 512": 8}  # of 64 columns, whose blocks are timed
# Queries, keys, loops, warps, stages and, of some, the most registers of a thread.
BLOCKS: dict[str, list[tuple[int, ...]]] = {
    "FORWARD": [
        (128, 64, 1, 8, 2),
        (128, 64, 1, 8, 3),
        (128, 64, 1, 8, 4),
        (128, 64, 2, 8, 3),
        (128, 64, 1, 4, 3),
        (128, 128, 1, 8, 2),
        (128, 128, 2, 8, 2),
        (128, 32, 1, 4, 3),
        (64, 64, 1, 4, 2),
        (64, 64, 1, 4, 3),
        (64, 64, 2, 4, 3),
        (64, 128, 1, 4, 2),
        (64, 128, 2, 4, 2),
    ],
    "BACKWARD_QUERIES": [
        (128, 64, 1, 8, 2),
        (128, 64, 1, 8, 3),
        (128, 64, 2, 8, 2),
        (128, 64, 1, 4, 2),
        (128, 128, 1, 8, 2),
        (128, 32, 1, 8, 3),
        (64, 64, 1, 4, 2),
        (64, 64, 1, 4, 3),
        (64, 64, 1, 4, 2, 128),
        (64, 64, 2, 4, 2),
        (64, 128, 1, 4, 2),
        (64, 128, 2, 4, 2),
    ],
    "BACKWARD_KEYS": [
        (64, 64, 1, 4, 2),
        (64, 64, 1, 4, 3),
        (64, 64, 2, 4, 2),
        (32, 64, 1, 4, 2),
        (32, 64, 1, 4, 3),
        (32, 64, 2, 4, 3),
        (64, 128, 1, 8, 2),
        (64, 128, 1, 8, 3),
        (64, 128, 2, 8, 2),
        (32, 128, 1, 8, 2),
        (32, 128, 1, 8, 3),
        (64, 64, 1, 4, 2, 168),
        (128, 64, 1, 8, 2),
    ],
}
CALLS = 20  # in a recorded graph
Options = dict[str, int]


@cache
def base_and_data() -> tuple[TrainConfig, Dataset]:
    config = preset("base")
    config = replace(config, data=replace(config.data, synthetic=(), views=10))
    return config, load_dataset(config.data)


def whole_update(width: int, tokens: int, kernels: Kernels, place: Place) -> ReasonerJob:
    """Return the training of `base` at this width, with heads of 64 columns."""
    config, data = base_and_data()
    assert isinstance(config.reasoner, WriterConfig)
    reasoner = replace(config.reasoner, width=width, heads=width // 64, kernels=kernels)
    config = replace(config, reasoner=reasoner).sized(tokens=tokens)
    return arc_job(config, place, print, data)


def real_pack(tokens: int, place: Place) -> Pack:
    packs = whole_update(256, tokens, "plain", place).learner.examples
    assert isinstance(packs, Packs)
    return packs.prepare(0).pack


def exactly(qkv: Tensor, turn: Tensor, pack: Pack) -> Tensor:
    """Compute attention within each sequence from what its tokens see; zero for padding."""
    q, k, v = _rotate(qkv[:, 0], turn), _rotate(qkv[:, 1], turn), qkv[:, 2]
    edges, mixed = pack.edges_N2.tolist(), torch.zeros_like(v)
    for begin, end, answer in zip(edges[:-2], edges[1:-1], pack.answers_N.tolist(), strict=True):
        at = torch.arange(begin, end, device=qkv.device)
        sees = at <= at.clamp(min=answer - 1)[:, None]
        scores = torch.einsum("qhk,jhk->hqj", q[begin:end], k[begin:end]) * v.shape[-1] ** -0.5
        weights = scores.masked_fill(~sees, -torch.inf).softmax(-1)
        mixed[begin:end] = torch.einsum("hqj,jhk->qhk", weights, v[begin:end])
    return mixed


def old(qkv: Tensor, turn: Tensor, pack: Pack) -> Tensor:
    q, k, v = qkv.unbind(1)
    return _attend_within(pack, "whole")(_rotate(q, turn), _rotate(k, turn), v, 0)


def new(qkv: Tensor, turn: Tensor, pack: Pack) -> Tensor:
    from charm.models.writer.kernels import attend_packed, tables

    return attend_packed(qkv, turn, *tables(pack.edges_N2, pack.answers_N, len(qkv)))[0]


def random_inputs(tokens: int, heads: int, width: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Draw queries, keys and values, turns, and a gradient of the result."""
    generator = torch.Generator("cuda").manual_seed(seed)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(*shape, device="cuda", generator=generator)

    angle = 5 * drawn(tokens, width // 2)
    turn = torch.stack([angle.cos(), angle.sin()]).bfloat16()
    return drawn(tokens, 3, heads, width).bfloat16(), turn, drawn(tokens, heads, width).bfloat16()


def errors(pack: Pack, heads: int, width: int, seed: int) -> dict[str, list[float]]:
    """Return relative errors of result and gradient against float64, without padding."""
    real = int(pack.edges_N2[-2])
    qkv, turn, dout = random_inputs(len(pack.token_L), heads, width, seed)
    dout[real:] = 0
    found = {}
    for name, attend, dtype in (
        ("exact", exactly, torch.float64),
        ("old", old, torch.bfloat16),
        ("new", new, torch.bfloat16),
    ):
        x = qkv.to(dtype, copy=True).requires_grad_()  # a separate leaf: gradients add up
        mixed = attend(x, turn.to(dtype), pack)
        mixed.backward(dout.to(dtype))
        assert x.grad is not None
        found[name] = [part[:real].double() for part in (mixed.detach(), x.grad)]
    exact = found.pop("exact")
    return {
        name: [float((a - b).norm() / b.norm()) for a, b in zip(both, exact, strict=True)]
        for name, both in found.items()
    }


def options_of(shape: tuple[int, ...]) -> Options:
    return dict(zip(("QUERIES", "KEYS", "LOOPS", "num_warps", "num_stages", "maxnreg"), shape, strict=False))


def line_of(name: str, options: Options) -> str:
    """Return a kernel's line of `kernels.py`."""
    return f"{name} = {json.dumps(options)}"


def build(name: str, options: Options, heads: int, width: int, tokens: int) -> str:
    """Compile a kernel for this process's GPU, into the cache on disk; return why that failed, if it did."""
    from charm.models.writer import kernels

    half, full, whole = torch.bfloat16, torch.float32, torch.int32
    sizes = (tokens, kernels._scale(width), heads, width)
    arguments: dict[str, tuple[Any, ...]] = {
        "TURN": (half, half, half, tokens, heads, width // 2, kernels.TURN_TOKENS),
        "FORWARD": (half, half, whole, half, full, *sizes),
        "BACKWARD_QUERIES": (half, half, half, whole, half, full, half, full, half, *sizes),
        "BACKWARD_KEYS": (half, half, half, whole, full, half, half, *sizes),
    }
    try:
        getattr(kernels, f"_{name.lower()}_kernel").warmup(*arguments[name], grid=(1,), **options)
    except Exception as error:  # the timing meets it again, and reports it
        return f"{name} {options}: {type(error).__name__}: {error}"
    return ""


def build_all(pool: ProcessPoolExecutor, tokens: int) -> list[Future[str]]:
    """Start compiling every kernel that will be timed."""
    import charm.models.writer.kernels  # noqa: F401  # before the processes are forked

    wanted: list[tuple[str, Options]] = [("TURN", {})]
    wanted += [(name, options_of(shape)) for name, shapes in BLOCKS.items() for shape in shapes]
    return [pool.submit(build, *one, heads, 64, tokens) for heads in HEADS.values() for one in wanted]


def graph_ms(work: Callable[[], object], replays: int = 5) -> float:
    """Return the median milliseconds of a call among many in a CUDA graph."""
    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            work()
    graph.replay()
    found = []
    for _ in range(replays):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end) / CALLS)
    return statistics.median(found)


class Stages:
    """The kernels' parts on one pack, each with its blocks, and what they should give."""

    def __init__(self, pack: Pack, heads: int, exact: bool) -> None:
        from charm.models.writer import kernels

        self.k, self.tokens, self.real = kernels, len(pack.token_L), int(pack.edges_N2[-2])
        self.qkv, self.turn, self.dout = random_inputs(self.tokens, heads, 64, 7)
        self.dout[self.real :] = 0
        self.sequences = kernels.longest_first(pack.edges_N2, pack.answers_N)
        self.turned = kernels.turn_parts(self.qkv, self.turn)
        table = self.table("FORWARD", kernels.FORWARD)
        self.out, self.lse = kernels.forward_pass(self.turned, self.qkv, table, kernels.FORWARD)
        self.read = kernels.BackwardInputs(self.turned, self.qkv, self.turn, self.dout, torch.empty_like(self.qkv))
        table = self.table("BACKWARD_QUERIES", kernels.BACKWARD_QUERIES)
        self.sums = kernels.backward_queries(self.read, table, self.out, self.lse, kernels.BACKWARD_QUERIES)
        if exact:
            x = self.qkv.double().requires_grad_()
            mixed = exactly(x, self.turn.double(), pack)
            (gradient,) = torch.autograd.grad(mixed, x, self.dout.double())
            self.exact = {
                "FORWARD": mixed.detach(),
                "BACKWARD_QUERIES": gradient[:, :1],
                "BACKWARD_KEYS": gradient[:, 1:],
            }

    def table(self, name: str, options: Options) -> Tensor:
        return self.k.blocks_of(self.sequences, self.tokens, options["KEYS" if name == "BACKWARD_KEYS" else "QUERIES"])

    def work(self, name: str, options: Options, table: Tensor) -> Callable[[], Tensor]:
        """Return a call of one kernel with these blocks, which returns what it wrote."""

        def run() -> Tensor:
            if name == "FORWARD":
                return self.k.forward_pass(self.turned, self.qkv, table, options)[0]
            if name == "BACKWARD_QUERIES":
                self.k.backward_queries(self.read, table, self.out, self.lse, options)
                return self.read.dqkv[:, :1]
            self.k.backward_keys(self.read, table, self.sums, options)
            return self.read.dqkv[:, 1:]

        return run

    def error(self, name: str, options: Options) -> float:
        """Return the relative error against float64, of memory that held something else before."""
        self.read.dqkv.fill_(torch.nan)
        found = self.work(name, options, self.table(name, options))().double()
        if found[self.real :].any():
            return float("nan")
        return float((found - self.exact[name]).norm() / self.exact[name].norm())


def sweep(packs: Mapping[int, Pack], small: Pack, failed: Callable[[str], None]) -> dict[str, Any]:
    """Time every kernel with every shape of blocks, by heads; leave the fastest for both in `kernels`."""
    from charm.models.writer import kernels

    found: dict[str, dict[str, dict[str, float]]] = {name: {} for name in BLOCKS}
    wrong: dict[str, float] = {}
    stages = {name: Stages(packs[heads], heads, exact=False) for name, heads in HEADS.items()}
    judge = Stages(small, HEADS["width 256"], exact=True)
    for name, shapes in BLOCKS.items():
        for options in map(options_of, shapes):
            line = line_of(name, options)
            try:
                off = judge.error(name, options)
                if not off < 1e-2:
                    wrong[line] = off
                    failed(f"WRONG by {off}: {line}")
                    continue
                times = {
                    width: graph_ms(stage.work(name, options, stage.table(name, options)))
                    for width, stage in stages.items()
                }
            except RuntimeError as error:  # too much shared memory, for example
                failed(f"{line}: {str(error).splitlines()[0]}")
                continue
            found[name][line] = times
    best = {}
    for name, lines in found.items():
        if not lines:
            raise CharmError(f"no shape of blocks of {name} works")
        least = {width: min(times[width] for times in lines.values()) for width in HEADS}
        ratio = {line: sum(ms / least[width] for width, ms in times.items()) for line, times in lines.items()}
        for line, times in sorted(lines.items(), key=lambda item: ratio[item[0]]):
            print(f"  {line:<100} " + "  ".join(f"{width} {ms:.4f} ms" for width, ms in times.items()), flush=True)
        best[name] = min(ratio, key=ratio.__getitem__)
        setattr(kernels, name, json.loads(best[name].split(" = ")[1]))
    print("the fastest of both widths, lines of kernels.py:", *best.values(), sep="\n", flush=True)
    unsorted = {}
    for name in BLOCKS:  # what the order of the blocks is worth
        stage, options = stages["width 256"], getattr(kernels, name)
        table = stage.table(name, options)
        in_order = table[(table[:, 0] + (table[:, 3] == 0) * stage.tokens).argsort(stable=True)]
        unsorted[name] = graph_ms(stage.work(name, options, in_order))
    turning = {width: graph_ms(partial(kernels.turn_parts, one.qkv, one.turn)) for width, one in stages.items()}
    print(f"  blocks in the order of tokens, width 256: {unsorted}; turning: {turning}", flush=True)
    return {"best": best, "ms": found, "wrong": wrong, "in the order of tokens": unsorted, "turning": turning}


def earlier(path: Path) -> ModuleType:
    """Load an earlier `kernels.py` next to the one in use; its operations get another name."""
    folder = Path(tempfile.mkdtemp())
    (folder / "kernels_before.py").write_text(path.read_text().replace('"charm::', '"before::'))
    spec = importlib.util.spec_from_file_location("kernels_before", folder / "kernels_before.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["kernels_before"] = module
    spec.loader.exec_module(module)
    return module


def pairs_of(pack: Pack) -> int:
    """Count the pairs of a query and a key it sees."""
    edges_N1, answers_N = pack.edges_N2[:-1].long(), pack.answers_N.long()
    length_N, asked_N = edges_N1.diff(), answers_N - edges_N1[:-1]
    answer_N = length_N - asked_N
    return int((asked_N * length_N + answer_N * (answer_N + 1) // 2).sum())


def time_whole(pack: Pack, heads: int, module: ModuleType, pairs: int) -> dict[str, float]:
    """Time a layer's attention as an update computes it: turning, forward and backward, in graphs."""
    qkv, turn, dout = random_inputs(len(pack.token_L), heads, 64, 0)
    blocks = module.tables(pack.edges_N2, pack.answers_N, len(qkv))
    with torch.no_grad():
        out, *kept = module.attend_packed(qkv, turn, *blocks)
        forward = graph_ms(lambda: module.attend_packed(qkv, turn, *blocks))
        backward = graph_ms(lambda: module.attend_packed_backward(dout, qkv, turn, *blocks[1:], out, *kept))
    rate = 12 * 64 * heads * pairs / (forward + backward) / 1e9
    return {"forward ms": forward, "backward ms": backward, "needed TFLOP/s": rate}


def time_attention(builds: list[Future[str]], small: Pack, place: Place, before: Path | None) -> dict[str, Any]:
    """Time kernels by themselves, then whole layers with the fastest blocks, and with an earlier version."""
    from charm.models.writer import kernels

    notes: list[str] = []

    def note(text: str) -> None:
        notes.append(text)
        print(f"  {text}", flush=True)

    pack = real_pack(65_536, place)
    began = time.monotonic()
    for one in builds:
        if text := one.result():
            note(text)
    print(f"  compiled after {time.monotonic() - began:.0f} more seconds", flush=True)
    found = sweep(dict.fromkeys(HEADS.values(), pack), small, note)
    pairs, layers = pairs_of(pack), {}
    versions = {"new": kernels} if before is None else {"new": kernels, "before": earlier(before)}
    for width, heads in HEADS.items():
        for version, module in versions.items():
            layers[f"{width}, {version}"] = time_whole(pack, heads, module, pairs)
    for name, times in layers.items():
        print(f"  a layer, {name}: " + ", ".join(f"{what} {value:.3f}" for what, value in times.items()), flush=True)
    return {**found, "layers": layers, "notes": notes, "pairs": pairs}


def compile_update(name: str, kernels: Kernels) -> None:
    """Compile and make one update; what remains is compiled code on disk."""
    width, tokens, _ = UPDATES[name]
    job = whole_update(width, tokens, kernels, Place(torch.device("cuda", 0)))
    job.compile()
    job.update(0)
    torch.cuda.synchronize()
    job.close()


def compile_updates(names: list[str]) -> None:
    """Compile the updates of these comparisons, each in a separate process."""
    began = time.monotonic()

    def compile_one(name: str, kernels: Kernels) -> None:
        command = [sys.executable, "-m", "benchmarks.writer_attention", "--compile", name, kernels]
        environment = {**os.environ, "OMP_NUM_THREADS": "2", "TORCHINDUCTOR_COMPILE_THREADS": "4"}
        if subprocess.run(command, env=environment, check=False).returncode:
            print(f"  {name}, {kernels}: the process that compiles it failed; it is compiled again", flush=True)

    with ThreadPoolExecutor(COMPILING) as pool:
        done = [pool.submit(compile_one, name, kernels) for name in names for kernels in UPDATES[name][2]]
    for one in done:
        one.result()
    print(f"  updates compiled after {time.monotonic() - began:.0f} s", flush=True)


def compare_updates(name: str, place: Place) -> dict[str, Any]:
    """Time whole updates with either attention in turns."""
    width, tokens, ways = UPDATES[name]
    jobs = {kernels: whole_update(width, tokens, kernels, place) for kernels in ways}
    steps = count()

    def update(kernels: Kernels) -> None:
        jobs[kernels].update(next(steps))

    for kernels, job in jobs.items():
        job.compile()
        if not job.model.reasoner.compiled:
            raise CharmError(f"{name}: the update is not compiled")
        seconds_each(partial(update, kernels), 0.1, RECORDED)
    seconds: dict[Kernels, list[float]] = {kernels: [] for kernels in jobs}
    ceilings = []
    for _ in range(REPEATS):
        ceilings.append(product_tflops(place.device, "bfloat16"))
        for kernels, found in seconds.items():
            found.append(seconds_each(partial(update, kernels), 0.6, 1))
    for job in jobs.values():
        job.close()
    each = {kernels: statistics.median(found) for kernels, found in seconds.items()}
    (work,) = jobs["fused"].learner.examples.workloads(jobs["fused"].model)
    tflops = work.size()[2] / each["fused"] / 1e12
    run: dict[str, Any] = {"new tokens/s": tokens / each["fused"], "TFLOP/s": tflops, "seconds": seconds}
    run["ceiling TFLOP/s"] = ceilings
    if "plain" in each:
        run |= {"ratio": each["plain"] / each["fused"], "old tokens/s": tokens / each["plain"]}
    print(f"  {name}: " + ", ".join(f"{way} {1e3 * one:.2f} ms" for way, one in each.items()), end="; ")
    print(f"{run['new tokens/s']:,.0f} tokens/s, ratio {run.get('ratio', 'not measured')}", flush=True)
    return run


def run(options: argparse.Namespace, builds: list[Future[str]], began: float) -> None:
    if not torch.cuda.is_available():
        raise SystemExit("this compares kernels for NVIDIA GPUs, and torch sees none")
    place = Place(torch.device("cuda", torch.cuda.current_device()))
    found: list[tuple[int, dict[str, list[float]]]] = []
    attention: dict[str, Any] = {}
    if not options.no_blocks:
        small = real_pack(8_192, place)
        found = [(width, errors(small, 256 // width, width, seed)) for width in (32, 64) for seed in range(2)]
        for width, both in found:
            print(f"  heads of {width}: errors of result and gradient, old {both['old']}, new {both['new']}")
            if not all(ours < 1.5 * theirs for ours, theirs in zip(both["new"], both["old"], strict=True)):
                raise CharmError(f"our attention is wrong at heads of {width} columns: {both}")
        print(f"  {time.monotonic() - began:.0f} s until errors were known", flush=True)
        attention = time_attention(builds, small, place, options.before)
        print(f"  {time.monotonic() - began:.0f} s until attention was timed", flush=True)
    names = [] if options.no_updates else options.updates
    if names:
        compile_updates(names)
    runs: dict[str, Any] = {}
    numbers: dict[str, float] = {}
    for name in names:
        runs[name] = compare_updates(name, place)
        numbers |= {f"{name}: ratio": round(runs[name]["ratio"], 3)} if "ratio" in runs[name] else {}
        numbers[f"{name}: tokens/s"] = round(runs[name]["new tokens/s"])
        write(options.record, place, numbers, {**runs, **({"attention": attention, "errors": found} if found else {})})
    if not names:
        write(options.record, place, {}, {"attention": attention, "errors": found})
    print(f"{options.record} written after {time.monotonic() - began:.0f} s")


def write(path: Path, place: Place, numbers: dict[str, float], runs: dict[str, Any]) -> None:
    record = {
        "what": "a writer's updates with our attention kernel (new) and with FlashAttention twice (old)",
        "command": "python -m benchmarks.writer_attention",
        "size": f"whole updates of base at its width and at 512, in turns, median of {REPEATS}",
        "machine": f"{place.describe()}, torch {torch.__version__}",
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "seeds": [],
        "numbers": numbers,
        "runs": runs,
    }
    merge_into(path, record)


def main() -> None:
    if sys.argv[1:2] == ["--compile"]:
        compile_update(sys.argv[2], "plain" if sys.argv[3] == "plain" else "fused")
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path, help="file to write")
    parser.add_argument("--no-blocks", action="store_true", help="do not time attention alone")
    parser.add_argument("--no-updates", action="store_true", help="do not time whole updates")
    parser.add_argument("--updates", nargs="+", choices=[*UPDATES], default=[*UPDATES])
    parser.add_argument("--before", type=Path, help="an earlier kernels.py, timed as well")
    options, began = parser.parse_args(), time.monotonic()
    # The processes are forked before CUDA starts in this one: each has its own context.
    with ProcessPoolExecutor(max(1, (os.cpu_count() or 2) - 1), get_context("fork")) as pool:
        run(options, [] if options.no_blocks else build_all(pool, 65_536), began)


if __name__ == "__main__":
    main()
