"""`charm lm`: a GPT with n-gram memory (see docs/language.md)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from charm.commands.flags import Device, Json, Run, Switch, flag
from charm.commands.output import output
from charm.commands.parsing import Commands

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
    """Turn text into token files: train a tokenizer, tokenise, record hashes. Training needs nothing else.

    Parquet files with a column `text` are shards as they are, and the last one validates. Text files, from folders
    too, are a document each: duplicates go, the order is mixed, and the last ones validate.

    Example: charm lm prepare --python --vocab 2048

    Args:
        sources: parquet files, text files, or folders of either; of a folder with parquet files, only those.
        out: the folder to write.
        python: also take Python's own documentation and licence: nothing to download.
        vocab: tokens, 9 specials included.
        tokenizer: a tokenizer.json to use.
        suffixes: of text files to look for in folders.
        limit: characters of text files at most.
        validation: share of text files' characters that validates.
    """
    from charm.language.corpus import LEFT_OUT, gather
    from charm.language.data import default_folder
    from charm.language.data import prepare as write
    from charm.progress import bar

    folder = out or default_folder()
    with bar("gathering text") as line:
        shards, record = gather(sources, python, suffixes, limit, validation)
        line.update(total=sum(len(shard.documents) for shard in shards))
        manifest = write(shards, record, folder, vocab, tokenizer, line.advance)
    lines = [
        f"{folder}: {manifest['vocab']:,} tokens, {manifest['canonical_ids']:,} of them distinct to n-grams"
    ]
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
    """Let a run's newest checkpoint go on with a text.

    Example: charm lm sample runs/tiny --prompt "Return a list of"

    Args:
        run: the run folder of a language model.
        prompt: what the text begins with; nothing is a document's beginning.
        tokens: how many to add; it stops earlier where the document ends.
        temperature: 0 takes the likeliest token always.
        top_k: the likeliest tokens to choose from; 0 is all.
        seed: of the choice.
    """
    import torch

    from charm.devices import place
    from charm.errors import CharmError
    from charm.language.run import load_model, sample_tokens
    from charm.language.tokenizer import bos_id, load_tokenizer
    from charm.progress import status

    if tokens < 1 or temperature < 0 or top_k < 0:
        raise CharmError(
            f"tokens must be >= 1, temperature and top_k must be >= 0; got {tokens}, {temperature} and {top_k}"
        )
    tokenizer = load_tokenizer(run / "tokenizer.json")
    tokenizer.encode_special_tokens = True
    bos = bos_id(tokenizer)
    with place(device) as here, status("sampling"):
        model, _ = load_model(run, here.device)
        ids = [bos, *tokenizer.encode(prompt).ids]
        for token in sample_tokens(
            model, ids, tokens, temperature, top_k, torch.Generator().manual_seed(seed)
        ):
            if token == bos:
                break
            ids.append(token)
    print(tokenizer.decode(ids[1:]))
