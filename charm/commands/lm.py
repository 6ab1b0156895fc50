"""`charm lm`: a GPT with n-gram memory (see docs/language.md)."""

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from charm.commands.parsing import Commands
from charm.commands.shared import Device, Json, Run, Switch, flag, output
from charm.config import check_seed, refuse_below
from charm.language.corpus import LEFT_OUT, gather
from charm.language.data import prepare as write
from charm.paths import data_dir
from charm.progress import bar, plain, status

app = Commands()


@app.command
def prepare(
    sources: Annotated[Positional[tuple[Path, ...]], flag("[PATH ...]")] = (),
    *,
    out: Annotated[Path | None, flag("DIR", "lm in CHARM_DATA or the user's cache folder")] = None,
    python: Switch = False,
    vocab: int = 32_768,
    tokenizer: Annotated[Path | None, flag("FILE", "one is trained")] = None,
    suffixes: Annotated[tuple[str, ...], flag("SUFFIX ...")] = (".txt", ".md", ".rst", ".py"),
    limit: Annotated[int | None, flag("INT", "all")] = None,
    validation: float = 0.05,
    json: Json = False,
) -> None:
    """Turn text into token files: train a tokenizer, tokenise, record hashes. Training needs only these files.

    Each parquet file with a column `text` becomes one shard, and the last one is for validation. Each text file, also
    from folders, is one document: duplicates are dropped, the order is shuffled, and the last ones are for validation.

    Example: charm lm prepare --python --vocab 2048

    Args:
        sources: parquet files, text files, or folders; in a folder with parquet files, only those are used.
        out: the folder to write.
        python: also use Python's own documentation and licence, so that nothing needs to be downloaded.
        vocab: vocabulary size, including 9 special tokens.
        tokenizer: use this tokenizer.json instead of training one.
        suffixes: suffixes of the text files to use from folders.
        limit: maximum number of characters from text files.
        validation: share of the text files' characters used for validation.
    """
    folder = out or data_dir() / "lm"
    with bar("gathering text") as line:
        shards, record = gather(sources, python, suffixes, limit, validation)
        line.update(total=sum(len(documents) for _, documents in shards))
        manifest = write(shards, record, folder, vocab, tokenizer, line.advance)
    lines = [f"{folder}: {manifest['vocab']:,} tokens, {manifest['canonical_ids']:,} of them distinct to n-grams"]
    for number, shard in enumerate(manifest["shards"]):
        split = "validation" if number == len(manifest["shards"]) - 1 else "training"
        sizes = f"{shard['documents']:,} documents, {shard['tokens']:,} tokens, {shard['bytes'] / 1e6:.1f} MB of text"
        lines.append(f"{shard['name']} ({split}): {sizes}")
    left_out = {name: count for name in LEFT_OUT if (count := manifest["source"].get(name))}
    if left_out:
        counts = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in left_out.items())
        lines.append(f"left out of {manifest['source']['files']:,} files: {counts}")
    output(json, {"folder": str(folder), **manifest}, *lines)


@app.command
def sample(
    run: Run,
    *,
    prompt: Annotated[str, flag("TEXT")] = "",
    tokens: int = 200,
    temperature: float = 0.8,
    top_k: int = 50,
    seed: int = 0,
    device: Device = "auto",
) -> None:
    """Continue a text with a run's newest checkpoint.

    Example: charm lm sample runs/tiny --prompt "Return a list of"

    Args:
        run: the run folder of a language model.
        prompt: start of the text; empty for the start of a document.
        tokens: maximum number of tokens to add; stops earlier at the end of the document.
        temperature: sampling temperature; 0 always takes the likeliest token.
        top_k: sample from this many likeliest tokens; 0 for all.
        seed: seed for sampling.
    """
    import torch

    from charm.devices import place
    from charm.language.run import load_model, sample_tokens
    from charm.language.tokenizer import bos_id, load_tokenizer

    refuse_below(1, {"tokens": tokens})
    refuse_below(0, {"temperature": temperature, "top_k": top_k})
    check_seed(seed)
    tokenizer = load_tokenizer(run / "tokenizer.json")
    tokenizer.encode_special_tokens = True
    bos = bos_id(tokenizer)
    with place(device) as here, status("sampling"):
        model, _ = load_model(run, here.device)
        ids = [bos, *tokenizer.encode(prompt).ids]
        random = torch.Generator().manual_seed(seed)
        for token in sample_tokens(model, ids, tokens, temperature, top_k, random):
            if token == bos:
                break
            ids.append(token)
    print(plain(tokenizer.decode(ids[1:])))
