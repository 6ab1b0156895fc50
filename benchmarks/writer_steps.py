"""Time what writing votes on a GPU consists of: the attention of a step, whole recorded steps, and reading questions.

python -m benchmarks.writer_steps

1. The kernel of a step's attention for several shapes: gigabytes per second of keys and values.
2. A recorded step for several numbers of answers in flight, with and without tokens before.
3. Tokens per second of reading questions and guesses.

The released model's weights; half a minute on one H200.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch

from charm.devices import Place
from charm.models.network import AskedBatch
from charm.models.writer import decode_kernel
from charm.models.writer.asking import drafts
from charm.models.writer.decoding import BASE, LENGTH, LIMIT, OPEN, TOKENS, Decoder, needs
from charm.models.writer.network import Writer
from charm.models.writer.writing import inference_copy
from charm.paths import released_model
from charm.solving.group import Solver
from charm.solving.options import SolveOptions
from charm.tasks.sequences import END
from charm.tasks.sources import load_source

CONTEXT = 750  # tokens that a token of an answer to ARC-AGI-1's evaluation tasks sees, on average
SPARE = 600  # tokens that steps may add to it
SHAPES = [(64, 4, 3), (64, 4, 2), (32, 4, 3), (32, 2, 3), (64, 2, 3), (128, 4, 2), (32, 1, 3)]  # keys, warps, stages
IN_FLIGHT = (64, 256, 1024, 2048, 4096)


def milliseconds(work: Callable[[], object], repeats: int = 20) -> float:
    """Return the mean time of a call by CUDA events, after a warm-up."""
    for _ in range(3):
        work()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(repeats):
        work()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / repeats


def main() -> None:
    if not torch.cuda.is_available():
        raise SystemExit("this times kernels for NVIDIA GPUs, and torch sees none")
    place = Place(torch.device("cuda", torch.cuda.current_device()))
    solver = Solver(released_model(), SolveOptions(), place)
    data = solver.start.prepare(load_source("arc1/training").tasks[:400])
    assert isinstance(solver.model.reasoner, Writer)
    writer = inference_copy(solver.model.reasoner)
    writer.head.weight.data[END] = 0  # no answer ends while it is timed
    config = writer.config
    room = max(IN_FLIGHT) * (CONTEXT + SPARE)
    decoder = Decoder(writer, max(IN_FLIGHT), room, 2000)

    def begin(context: int) -> None:
        """Put an answer of this length into every slot, which never ends."""
        number = torch.arange(decoder.slots, device=place.device)
        decoder.state[:-1] = 0
        decoder.state[:-1, BASE] = number * (CONTEXT + SPARE)
        decoder.state[:-1, LENGTH] = context
        decoder.state[:-1, LIMIT] = 10**6
        decoder.state[:-1, OPEN] = 1
        decoder.slot_B[:] = number

    with torch.inference_mode():
        kept = decoder.kept[0]
        for count in (256, 2048):
            begin(CONTEXT)
            base_B, length_B = decoder.state[:count, BASE].contiguous(), decoder.state[:count, LENGTH].contiguous()
            shape = (count, TOKENS, 3, config.heads, config.head_width)
            qkv = torch.randn(shape, device=place.device).to(writer.compute_dtype)
            turn = torch.randn(2, count, TOKENS, config.head_width // 2, device=place.device).to(writer.compute_dtype)
            size = 2 * count * CONTEXT * config.width * kept.element_size()
            before = decode_kernel.SHAPE
            for keys, warps, stages in SHAPES:
                decode_kernel.SHAPE = {"KEYS": keys, "num_warps": warps, "num_stages": stages}
                took = milliseconds(
                    lambda: decode_kernel.attend_newest(qkv, turn, turn, kept, base_B, length_B, length_B)  # noqa: B023
                )
                rate = size / took / 1e6
                shape_text = f"{keys} keys, {warps} warps, {stages} stages"
                print(f"attention of {count} answers, {shape_text}: {took:.3f} ms, {rate:,.0f} GB/s")
            decode_kernel.SHAPE = before
        for count in IN_FLIGHT:
            took = []
            for context in (0, CONTEXT):
                replay = decoder._recorded(count)
                begin(context)
                took.append(milliseconds(replay, 30))
            print(f"a step of {count}: {took[0]:.3f} ms without context, {took[1]:.3f} ms with {CONTEXT}")
        decoder.graphs.clear()

    rows = [data.question_rows(question, 8) for question in data.questions]
    questions = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
    question_N = torch.from_numpy(questions).to(place.device)
    row_N = torch.from_numpy(np.concatenate(rows)).long().to(place.device)
    limit_N = torch.zeros_like(question_N)  # nothing is written
    with torch.inference_mode():
        task_ND = solver.model.task(row_N)
    pairs, keys_ = drafts(data, {}).to(place.device), data.keys().to(place.device)
    asked = AskedBatch(pairs, keys_, question_N, row_N, task_ND)
    decoder = Decoder(writer, 2048, 2048 * 1000, 3000)
    for _ in range(2):
        torch.cuda.synchronize()
        began = time.perf_counter()
        decoder.write(asked, limit_N)
        took_s = time.perf_counter() - began
    tokens = int(needs(asked, limit_N)[0].sum())
    print(f"reading {tokens:,} tokens of questions and guesses: {took_s:.2f} s, {tokens / took_s:,.0f} tokens/s")


if __name__ == "__main__":
    main()
