"""Whole runs: exact resume, bits per byte by hand, several processes, sampling."""

import json
import math
import shutil
import sys
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from charm.config import to_json
from charm.devices import Place
from charm.errors import CharmError
from charm.files import lock_folder, read_sealed
from charm.language.config import LMConfig, LMOptimizerConfig
from charm.language.corpus import python_documents
from charm.language.data import Prepared, prepare, validation_rows
from charm.language.gpt import GPT
from charm.language.run import (
    LMEvaluation,
    LMJob,
    bits_per_byte,
    evaluate,
    load_model,
    read_part,
    sample_tokens,
    train_lm,
)
from charm.runs import checkpoint
from tests import forks
from tests.toy.language import MEMORIES, TOY_GPT, VOCAB, toy_config

HERE = Place(torch.device("cpu"))


def quiet(text: str) -> None:
    pass


def weights_of(run: Path, step: int, part: str = "model") -> dict[str, torch.Tensor]:
    return read_part(checkpoint.folder_of(run, step), part)


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def lines(run: Path) -> list[dict[str, Any]]:
    """Metrics without what depends on the clock."""
    found = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{k: v for k, v in line.items() if k not in ("time", "tokens_per_second")} for line in found]


@pytest.mark.parametrize("name", ["cose", "mixture"])
def test_a_resumed_run_is_bit_for_bit_the_whole_one(data: Path, tmp_path: Path, name: str) -> None:
    """Also when the last thing it wrote was cut short by a kill."""
    config = replace(toy_config(data, evaluate_every=3), ngram=MEMORIES[name])
    train_lm(config, tmp_path / "whole", HERE, say=quiet)
    train_lm(config, tmp_path / "parts", HERE, say=quiet)
    damaged = checkpoint.folder_of(tmp_path / "parts", 6) / "model.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with (tmp_path / "parts" / "metrics.jsonl").open("a") as file:
        file.write('{"step": 6, "lo')
    said: list[str] = []
    train_lm(config, tmp_path / "parts", HERE, resume=True, say=said.append)
    assert "damaged" in said[0]
    assert said[1] == "resumed at step 3"
    for part in ("model", "optimizer"):
        assert same(weights_of(tmp_path / "whole", 6, part), weights_of(tmp_path / "parts", 6, part))
    assert lines(tmp_path / "whole") == lines(tmp_path / "parts")
    assert [line["step"] for line in lines(tmp_path / "whole") if "evaluation/bpb" in line] == [0, 3, 6]


def test_training_lowers_bits_per_byte_and_seeds_share_the_data_order(data: Path, tmp_path: Path) -> None:
    config = toy_config(data, steps=30, evaluate_every=30, checkpoint_every=30)
    seen: list[list[Any]] = []
    for seed in (0, 1):
        job = LMJob(replace(config, seed=seed), HERE, quiet)
        seen.append([next(job.plan) for _ in range(20)])
    assert seen[0] == seen[1]
    train_lm(config, tmp_path / "run", HERE, say=quiet)
    scores = [line["evaluation/bpb"] for line in lines(tmp_path / "run") if "evaluation/bpb" in line]
    # 0.79 with AVX2, 0.80 without vector instructions; 1 without learning.
    assert scores[-1] < 0.9 * scores[0]
    # At the beginning the logits are almost equal: the loss is that of guessing.
    first = next(line["evaluation/loss"] for line in lines(tmp_path / "run"))
    assert first == pytest.approx(math.log(VOCAB), rel=0.01)


def test_the_loss_is_the_mean_over_tokens_however_many_rows_are_computed_at_once(data: Path, tmp_path: Path) -> None:
    config, gradients = toy_config(data), []
    for rows in (2, 8):
        job = LMJob(replace(config, device_rows=rows), HERE, quiet)
        job.optimizers.step = lambda: None  # type: ignore[method-assign]
        assert float(job.update(0)["loss"]) == pytest.approx(math.log(VOCAB), rel=0.01)
        gradients.append(job.model.head.weight.grad)
    torch.testing.assert_close(*gradients)


def test_bits_per_byte_by_hand(data: Path, tmp_path: Path) -> None:
    """Token by token: nats of targets that are text, over ln 2 times the bytes of their text."""
    texts = [line.strip()[:25] for text in python_documents(30_000) for line in text.splitlines() if len(line) > 40]
    shards = [("a", texts[:10]), ("b", [*texts, "Ünïcödé 🙂 日本"])]
    prepare(shards, {}, tmp_path, tokenizer=data / "tokenizer.json")
    prepared = Prepared.read(tmp_path)
    model = GPT(TOY_GPT, MEMORIES["cose"], 0, prepared.canonical, prepared.bos)
    with torch.no_grad():
        model.head.weight.normal_(0, 0.5, generator=torch.Generator().manual_seed(0))
    rows = validation_rows(prepared.documents("validation"), TOY_GPT.length, "keep", 8 * TOY_GPT.length)
    tokenizer = pytest.importorskip("tokenizers").Tokenizer.from_file(str(data / "tokenizer.json"))
    nats = size = skipped = 0.0
    for row in rows:
        logits = model(torch.from_numpy(row[None, :-1].astype(np.int64)))[0].detach().double()
        for t, target in enumerate(row[1:].tolist()):
            if target == prepared.bos:
                skipped += 1
                continue
            nats += float(torch.logsumexp(logits[t], 0) - logits[t, target])
            token = tokenizer.id_to_token(target)
            size += len(token)  # byte-level BPE writes a character for each byte
    assert skipped > 0
    for at_once in (3, 8):
        found = bits_per_byte(model, rows, prepared.token_bytes, HERE, at_once)
        assert found["bpb"] == pytest.approx(nats / math.log(2) / size, rel=1e-5)


def scores(run: Path, **options: Any) -> dict[str, Any]:
    found = evaluate(run, LMEvaluation(**options), HERE)
    assert found is not None
    return found[0]


def test_eval_and_load_give_what_training_ended_with(data: Path, tmp_path: Path) -> None:
    train_lm(toy_config(data), tmp_path, HERE, say=quiet)
    found = scores(tmp_path)
    assert found["bpb"] == pytest.approx(lines(tmp_path)[-1]["evaluation/bpb"], rel=1e-6)
    assert read_sealed(tmp_path / "eval" / "step_000000006.json") == found
    with pytest.raises(CharmError, match="multiple of the row length"):
        scores(tmp_path, tokens=25)


def test_other_text_is_evaluated_if_its_tokenizer_is_the_runs(data: Path, tmp_path: Path) -> None:
    train_lm(toy_config(data, steps=1), tmp_path / "run", HERE, say=quiet)
    texts = python_documents(40_000)
    shards = [("a", texts[:-1]), ("b", texts[-1:] * 20)]
    prepare(shards, {}, tmp_path / "same", tokenizer=tmp_path / "run" / "tokenizer.json")
    assert scores(tmp_path / "run", tokens=24, data=tmp_path / "same")["tokens"] == 24
    prepare(shards, {}, tmp_path / "other", VOCAB)
    with pytest.raises(CharmError, match="another tokenizer than"):
        scores(tmp_path / "run", tokens=24, data=tmp_path / "other")


def test_a_folder_takes_one_training_at_a_time(data: Path, tmp_path: Path) -> None:
    with lock_folder(tmp_path, "training run"), pytest.raises(CharmError, match="in use by another training run"):
        train_lm(toy_config(data), tmp_path, HERE, say=quiet)
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_sampling_follows_the_likeliest_token_and_the_seed(data: Path, tmp_path: Path) -> None:
    train_lm(toy_config(data), tmp_path, HERE, say=quiet)
    model, step = load_model(tmp_path, torch.device("cpu"))
    assert step == 6
    prompt = [Prepared.read(data).bos, 5, 6]
    greedy = list(sample_tokens(model, prompt, 30, 0, 0, torch.Generator()))  # beyond the length of a row
    ids = list(prompt)
    for token in greedy:
        assert token == int(model(torch.tensor([ids[-TOY_GPT.length :]]))[0, -1].argmax())
        ids.append(token)
    drawn = [list(sample_tokens(model, prompt, 10, 1.0, 5, torch.Generator().manual_seed(s))) for s in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_compiled_model_learns_the_same(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Traced, without generating code, which needs no compiler; and without the libraries that prepare text."""
    shallow = replace(TOY_GPT, depth=2)
    config = toy_config(data, steps=2, gpt=shallow, ngram=replace(MEMORIES["cose"], layers=(1,)))
    train_lm(config, tmp_path / "plain", HERE, say=quiet)
    for name in ("tokenizers", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="aot_eager", fullgraph=True))
    train_lm(replace(config, compile="on"), tmp_path / "compiled", HERE, say=quiet)
    plain, compiled = (weights_of(tmp_path / run, 2) for run in ("plain", "compiled"))
    for name in plain:
        torch.testing.assert_close(compiled[name], plain[name], rtol=1e-4, atol=1e-5)


def test_a_run_killed_before_its_first_checkpoint_begins_again(data: Path, tmp_path: Path) -> None:
    config = toy_config(data, steps=2)
    train_lm(config, tmp_path, HERE, say=quiet)
    expected = lines(tmp_path)
    shutil.rmtree(tmp_path / "checkpoints")
    train_lm(config, tmp_path, HERE, resume=True, say=quiet)
    assert lines(tmp_path) == expected


def two_processes(*jobs: tuple[LMConfig, Path, str]) -> str:
    """Run the jobs (configuration, run folder, new or resume) in two processes."""
    words = []
    for config, run, how in jobs:
        path = run.parent / f"{run.name}.json"
        path.write_text(json.dumps(to_json(config)))
        words += [str(path), str(run), how]
    group = forks.Group(2, "-m", "tests.language.run_toy", *words, env={"OMP_NUM_THREADS": "1"})
    assert group.wait() == 0
    return group.programs[0].stdout


def test_two_processes_with_sharded_tables_are_one_process(data: Path, tmp_path: Path) -> None:
    """Rows divided among processes, or repeated: the same weights, moments and bits per byte, but for rounding."""
    # At low rates: Muon makes each update as large as the last, however small the gradient, and rounding with it.
    slow = LMOptimizerConfig(warmup=2, matrix_lr=0.1)
    config = toy_config(data, steps=4, checkpoint_every=2, log_every=4, device_rows=2, optimizer=slow)
    train_lm(config, tmp_path / "one", HERE, say=quiet)
    sharded = replace(config, shard_tables=True)
    two_processes((sharded, tmp_path / "two", "new"), (config, tmp_path / "repeated", "new"))
    folder = checkpoint.folder_of(tmp_path / "two", 4)
    assert {file.name for file in folder.glob("rows_*")} == {"rows_0000.safetensors", "rows_0001.safetensors"}
    halves = [checkpoint.read_tensors(file) for file in sorted(folder.glob("rows_*"))]
    table = "model/memories.1.tables.rows.weight"
    assert abs(len(halves[0][table]) - len(halves[1][table])) <= 1
    for run, part in product(("two", "repeated"), ("model", "optimizer")):
        one, other = (weights_of(tmp_path / name, 4, part) for name in ("one", run))
        assert one.keys() == other.keys()
        for name in one:
            torch.testing.assert_close(
                other[name], one[name], rtol=2e-3, atol=2e-4, msg=lambda text, n=name: f"{n}: {text}"
            )
    assert lines(tmp_path / "one")[-1]["evaluation/bpb"] == pytest.approx(
        lines(tmp_path / "two")[-1]["evaluation/bpb"], rel=1e-4
    )
    # Resumed in two processes it is bit for bit what it was.
    before = {part: weights_of(tmp_path / "two", 4, part) for part in ("model", "optimizer")}
    metrics = lines(tmp_path / "two")
    (folder / "checkpoint.json").unlink()
    assert "resumed at step 2" in two_processes((sharded, tmp_path / "two", "resume"))
    for part, tensors in before.items():
        assert same(tensors, weights_of(tmp_path / "two", 4, part))
    again = lines(tmp_path / "two")
    assert [one["step"] for one in again] == [one["step"] for one in metrics]
    assert again[0]["loss"] == pytest.approx(metrics[0]["loss"], rel=1e-12)  # of steps on both sides of the kill
    # And one process can read what two wrote.
    evaluated = scores(tmp_path / "two")
    assert evaluated["bpb"] == pytest.approx(lines(tmp_path / "one")[-1]["evaluation/bpb"], rel=1e-4)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"gpt": replace(TOY_GPT, vocab=500)}, "train with --gpt.vocab 400"),
        ({"device_rows": 3}, "parts of 3"),
        ({"data": Path("nowhere")}, "charm lm prepare"),
        ({"batch": 100}, "multiple of the row length"),
        ({"steps": 0}, "must be >= 1"),
        ({"evaluate_tokens": 24 * 10**6, "evaluate_every": 0}, "ask for fewer"),
        ({"evaluate_every": -1}, "evaluate_every must be >= 0"),
        ({"keep_checkpoints": -1}, "keep_checkpoints must be >= 0"),
    ],
)
def test_impossible_runs_are_refused(data: Path, tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CharmError, match=sentence):
        train_lm(replace(toy_config(data, evaluate_every=3), **changes), tmp_path, HERE, say=quiet)
    assert list(tmp_path.iterdir()) == []  # before anything was computed or written


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LMOptimizerConfig(matrix_lr=-1), "matrix_lr must be >= 0"),
        (lambda: LMOptimizerConfig(weight_decay=math.nan), "weight_decay must be >= 0"),
    ],
)
def test_impossible_settings_are_refused(make: Any, sentence: str) -> None:
    with pytest.raises(CharmError, match=sentence):
        make()


def test_a_run_is_not_overwritten_or_resumed_as_another(data: Path, tmp_path: Path) -> None:
    config = toy_config(data, steps=1)
    with pytest.raises(CharmError, match="no run to resume"):
        train_lm(config, tmp_path, HERE, resume=True, say=quiet)
    train_lm(config, tmp_path, HERE, say=quiet)
    with pytest.raises(CharmError, match="use --resume to continue"):
        train_lm(config, tmp_path, HERE, say=quiet)
    with pytest.raises(CharmError, match=r"different settings \(--seed 0, now 1\)"):
        train_lm(replace(config, seed=1), tmp_path, HERE, resume=True, say=quiet)
    (tmp_path / "data.json").unlink()
    for use in (
        lambda: train_lm(config, tmp_path, HERE, resume=True, say=quiet),
        lambda: scores(tmp_path),
    ):
        with pytest.raises(CharmError, match=r"data\.json: not readable"):
            use()
    (tmp_path / "file").touch()
    with pytest.raises(CharmError, match="got a file"):
        train_lm(config, tmp_path / "file", HERE, say=quiet)
