"""The commands, from text to a sample."""

import json
import shutil
from pathlib import Path

import pytest

from charm.cli import main

SMALL = "--gpt.depth 2 --gpt.width 32 --gpt.head-width 8 --gpt.vocab 300 --gpt.length 16 --steps 4 --batch 64"
SMALL += " --evaluate-tokens 32 --evaluate-every 0 --ngram.rows 50 --ngram.width 8 --ngram.layers 1 --device cpu"


def charm(*words: str) -> None:
    main(list(words))


def test_from_text_to_a_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tokenizers")
    texts = tmp_path / "texts"
    texts.mkdir()
    for number in range(20):
        (texts / f"{number}.txt").write_text(
            f"This is document number {number}. It says that {number} is a number. " * 3
        )
    data, run = tmp_path / "data", tmp_path / "run"
    charm("lm", "prepare", str(texts), "--vocab", "300", "--out", str(data), "--validation", "0.2", "--json")
    prepared = json.loads(capsys.readouterr().out)
    assert prepared["vocab"] == 300
    assert [shard["documents"] for shard in prepared["shards"]] == [16, 4]
    charm("train", "lm-tiny-cose", "--data", str(data), "--out", str(run), *SMALL.split())
    capsys.readouterr()
    charm("eval", str(run), "--json")
    scores = json.loads(capsys.readouterr().out)
    assert scores["step"] == 4
    assert 0 < scores["bpb"] < 10
    charm("lm", "sample", str(run), "--prompt", "This is", "--tokens", "5", "--device", "cpu")
    assert capsys.readouterr().out.startswith("This is")
    # A damaged checkpoint is reported on stderr, not in the JSON.
    shutil.copytree(run, tmp_path / "damaged")
    weights = tmp_path / "damaged" / "checkpoints" / "step_000000004" / "model.safetensors"
    shutil.copytree(weights.parent, weights.parent.with_name("step_000000005"))
    (weights.parent.with_name("step_000000005") / weights.name).write_bytes(b"")
    charm("eval", str(tmp_path / "damaged"), "--json")
    shown = capsys.readouterr()
    assert json.loads(shown.out) == scores
    assert "skipped" in shown.err
    charm("train", "lm-tiny-cose", "--data", str(data), "--out", str(run), "--resume", *SMALL.split())
    assert "resumed at step 4" in capsys.readouterr().out


def test_params(capsys: pytest.CaptureFixture[str]) -> None:
    charm("params", "lm-d12-cose-x5", "--json")
    assert json.loads(capsys.readouterr().out)["memory"] == 257_816_064
    charm("params", "lm-d12")
    assert "286,261,730" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("params lm-nothing", "there is no preset lm-nothing"),
        ("train lm-nothing", "there is no preset lm-nothing"),
        ("eval nowhere", "not a run folder"),
        ("lm sample nowhere", "no such tokenizer file"),
        ("lm prepare", "name parquet files"),
        ("bench lm-tiny --seconds 0", "must be positive"),
    ],
)
def test_bad_input_is_one_sentence(words: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        charm(*words.split())
    assert stopped.value.code == 2
    shown = capsys.readouterr().err
    assert sentence in shown
    assert "Traceback" not in shown
